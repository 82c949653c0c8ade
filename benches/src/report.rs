//! What was found, for people and for programs.

use std::fmt::Write as _;

use serde::Serialize;

/// All tables of a run.
#[derive(Debug, Default, Serialize)]
pub struct Report {
    /// In the order in which they were measured.
    pub tables: Vec<Table>,
    /// Remarks on the run: the machine, blocks repeated.
    pub notes: Vec<String>,
}

/// Rows that have their columns in common.
#[derive(Debug, Default, Serialize)]
pub struct Table {
    /// What it is about.
    pub title: String,
    /// What a figure means.
    pub unit: String,
    /// The rows.
    pub rows: Vec<Row>,
}

/// One situation, and how the contenders did in it.
#[derive(Debug, Default, Serialize)]
pub struct Row {
    /// The situation.
    pub name: String,
    /// A figure for each contender; the first one is ours.
    pub figures: Vec<Figure>,
}

/// One contender's figure.
#[derive(Debug, Default, Serialize)]
pub struct Figure {
    /// The contender.
    pub contender: String,
    /// The figure, in the table's unit.
    pub value: f64,
}

impl Table {
    /// A table without rows.
    pub fn new(title: impl Into<String>, unit: impl Into<String>) -> Self {
        Self {
            title: title.into(),
            unit: unit.into(),
            rows: Vec::new(),
        }
    }

    /// Adds a row, and shows it at once.
    pub fn row(
        &mut self,
        name: impl Into<String>,
        figures: impl IntoIterator<Item = (String, f64)>,
    ) {
        let row = Row {
            name: name.into(),
            figures: figures
                .into_iter()
                .map(|(contender, value)| Figure { contender, value })
                .collect(),
        };
        eprintln!("{}", row.line());
        self.rows.push(row);
    }
}

impl Row {
    /// The figure of others over that of ours: how many times better ours is, where less is better.
    fn ratio(&self, figure: &Figure) -> Option<f64> {
        let ours = self.figures.first()?;
        (ours.contender != figure.contender).then_some(figure.value / ours.value)
    }

    fn line(&self) -> String {
        let mut line = format!("{:<34}", self.name);
        for figure in &self.figures {
            let _ = write!(line, "  {} {:.1}", figure.contender, figure.value);
            if let Some(ratio) = self.ratio(figure) {
                let _ = write!(line, " ({ratio:.2}x)");
            }
        }
        line
    }
}

impl Report {
    /// The tables as Markdown, with ratios beside the figures.
    #[must_use]
    pub fn markdown(&self) -> String {
        let mut text = String::new();
        for table in &self.tables {
            table.write_markdown(&mut text);
        }
        for note in &self.notes {
            let _ = writeln!(text, "{note}\n");
        }
        text
    }
}

impl Table {
    fn write_markdown(&self, text: &mut String) {
        let mut contenders: Vec<&str> = Vec::new();
        for figure in self.rows.iter().flat_map(|row| &row.figures) {
            if !contenders.contains(&figure.contender.as_str()) {
                contenders.push(&figure.contender);
            }
        }
        let _ = writeln!(text, "### {}\n\nIn {}.\n", self.title, self.unit);
        let _ = writeln!(text, "| | {} |", contenders.join(" | "));
        let _ = writeln!(text, "|---|{}", "---:|".repeat(contenders.len()));
        for row in &self.rows {
            let _ = write!(text, "| {} |", row.name);
            for name in &contenders {
                let _ = match row.figures.iter().find(|one| one.contender == *name) {
                    None => write!(text, " |"),
                    Some(figure) => match row.ratio(figure) {
                        Some(ratio) => write!(text, " {:.1} ({ratio:.2}x) |", figure.value),
                        None => write!(text, " {:.1} |", figure.value),
                    },
                };
            }
            text.push('\n');
        }
        text.push('\n');
    }
}

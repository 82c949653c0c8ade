//! What was checked, as a table for people: long cells go on below themselves.

use super::report::{Checked, grouped};

/// Where a cell's text stands.
#[derive(Clone, Copy)]
enum Side {
    Left,
    Right,
}

struct Column {
    name: &'static str,
    side: Side,
    /// Wider cells are wrapped.
    most: usize,
    cell: fn(&Checked) -> String,
}

const COLUMNS: &[Column] = &[
    Column {
        name: "",
        side: Side::Left,
        most: 4,
        cell: |row| row.source.shown().to_owned(),
    },
    Column {
        name: "model",
        side: Side::Left,
        most: 24,
        cell: |row| row.model.clone(),
    },
    Column {
        name: "constants",
        side: Side::Left,
        most: 36,
        cell: |row| row.constants.clone(),
    },
    Column {
        name: "states",
        side: Side::Right,
        most: 11,
        cell: |row| row.states.map_or_else(|| "-".to_owned(), grouped),
    },
    Column {
        name: "verdict",
        side: Side::Left,
        most: 56,
        cell: Checked::verdict,
    },
    Column {
        name: "time",
        side: Side::Right,
        most: 12,
        cell: Checked::time,
    },
];

/// All rows under one header.
pub(super) fn table(rows: &[Checked]) -> String {
    let header: Vec<_> = COLUMNS
        .iter()
        .map(|column| wrap(column.name, column.most))
        .collect();
    let mut cells = vec![header];
    cells.extend(rows.iter().map(|row| {
        let cells = COLUMNS
            .iter()
            .map(|column| wrap(&(column.cell)(row), column.most));
        cells.collect()
    }));
    let widths: Vec<_> = (0..COLUMNS.len())
        .map(|index| width_of(&cells, index))
        .collect();
    let lines = cells.iter().flat_map(|row| lines_of(row, &widths));
    lines.collect::<Vec<_>>().join("\n")
}

/// The text in lines of at most `most` characters; a longer word stands alone.
fn wrap(text: &str, most: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let length = lines.last().map_or(0, |line| line.chars().count());
        match lines.last_mut() {
            Some(line) if length == 0 => line.push_str(word),
            Some(line) if length + 1 + word.chars().count() <= most => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

fn width_of(cells: &[Vec<Vec<String>>], index: usize) -> usize {
    let lines = cells.iter().filter_map(|row| row.get(index)).flatten();
    lines.map(|line| line.chars().count()).max().unwrap_or(0)
}

fn lines_of(row: &[Vec<String>], widths: &[usize]) -> Vec<String> {
    let height = row.iter().map(Vec::len).max().unwrap_or(0);
    let line = |number: usize| {
        let columns = row.iter().zip(widths).zip(COLUMNS);
        let padded = columns.map(|((cell, &width), column)| {
            let text = cell.get(number).map_or("", String::as_str);
            match column.side {
                Side::Left => format!("{text:<width$}"),
                Side::Right => format!("{text:>width$}"),
            }
        });
        padded.collect::<Vec<_>>().join("  ").trim_end().to_owned()
    };
    (0..height).map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::super::models::Expect;
    use super::super::report::Source;
    use super::*;

    fn row(surprise: Option<&str>) -> Checked {
        Checked {
            source: Source::Tlc,
            id: "a".to_owned(),
            model: "Leasing".to_owned(),
            constants: "N=2".to_owned(),
            claim: "a fleet of any size admits at most the limit, also with partial grants"
                .to_owned(),
            expect: Expect::Holds,
            surprise: surprise.map(str::to_owned),
            states: Some(1_215),
            max: None,
            seconds: 0.5,
            trace: Vec::new(),
        }
    }

    #[test]
    fn a_surprise_is_shown_in_place_of_the_claim() {
        let table = table(&[row(Some("6 states, recorded are 7\nmore"))]);
        let last = table.lines().last().unwrap_or_default();
        let expected = "TLC  Leasing  N=2         1,215  SURPRISE: 6 states, recorded are 7  0.5 s";
        assert_eq!(last, expected);
    }

    #[test]
    fn long_cells_go_on_below_themselves() {
        let table = table(&[row(None)]);
        let lines: Vec<_> = table.lines().collect();
        assert_eq!(lines.len(), 3, "{table}");
        assert!(lines[1].contains("proved: a fleet"), "{table}");
        assert!(
            lines[2].trim_start().starts_with("also with partial"),
            "{table}"
        );
    }
}

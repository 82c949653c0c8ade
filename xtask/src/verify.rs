//! `cargo xtask verify`: runs every model check and says what it has shown.
//!
//! A check is a row of `spec/models.json` (TLC on a module and a configuration) or a twin in Rust
//! over the shipping code. Each row says what must come out: that an invariant holds, with a count of
//! states, or that it is violated, since a bound is tight only if the next smaller one fails. The
//! command succeeds when nothing surprises: a check that must fail and passes is as bad as the
//! reverse, and so is a count that moved without anybody saying so.

pub(crate) mod config;
mod constants;
pub(crate) mod docs;
pub(crate) mod jar;
pub(crate) mod models;
mod output;
mod progress;
mod queue;
mod report;
mod table;
mod tlc;
mod twins;
mod verdict;

use std::path::PathBuf;

use anyhow::{Result, bail};
use clap::Args;

use crate::stopwatch::{self, Stopwatch};
use crate::workspace;
use models::{Model, RecordedTwin, Tier};
use progress::Progress;
use report::Checked;

#[derive(Args, Default)]
pub(crate) struct Options {
    /// The large configurations too.
    #[arg(long)]
    deep: bool,
    /// The twins alone, on a machine without Java.
    #[arg(long)]
    no_tlc: bool,
    /// Only checks whose id or model contains this.
    #[arg(long, value_name = "WORD", conflicts_with = "write_docs")]
    only: Option<String>,
    /// Where the rows go for programs to read [default: verify.json in the target directory].
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Write the recorded counts into docs/PROOFS.md once all checks agree with them.
    #[arg(long)]
    write_docs: bool,
}

impl Options {
    const fn tier(&self) -> Tier {
        if self.deep { Tier::Deep } else { Tier::Ci }
    }

    fn wants(&self, id: &str, model: &str, tier: Tier) -> bool {
        let in_tier = self.deep || tier == Tier::Ci;
        let named = |only: &String| id.contains(only) || model.contains(only);
        in_tier && self.only.as_ref().is_none_or(named)
    }
}

pub(crate) fn run(options: &Options) -> Result<()> {
    let watch = Stopwatch::start();
    let mut rows = Vec::new();
    if options.no_tlc {
        eprintln!("Without TLC: only the twins run.");
    } else {
        rows.extend(run_tlc(options)?);
    }
    rows.extend(run_twins(options)?);
    let time = watch.elapsed();

    println!("\n{}", table::table(&rows));
    let json = options
        .json
        .clone()
        .unwrap_or_else(|| workspace::target().join("verify.json"));
    report::write_json(&json, &rows, time)?;
    let surprises: Vec<_> = rows.iter().filter(|row| row.surprise.is_some()).collect();
    for row in &surprises {
        explain(row);
    }
    println!(
        "\n{} checks in {}, {}",
        rows.len(),
        stopwatch::shown(time),
        json.display()
    );
    if rows.is_empty() {
        bail!("nothing was checked");
    }
    if !surprises.is_empty() {
        bail!(
            "{} of {} checks are not as recorded",
            surprises.len(),
            rows.len()
        );
    }
    if options.write_docs {
        docs::rewrite()?;
    }
    Ok(())
}

fn run_tlc(options: &Options) -> Result<Vec<Checked>> {
    let models = models::load()?.into_iter();
    let mut models: Vec<(usize, Model)> = models
        .enumerate()
        .filter(|(_, model)| options.wants(&model.id, &model.module, model.tier))
        .collect();
    if models.is_empty() {
        return Ok(Vec::new());
    }
    // The longest first, so that the last one to end is a short one.
    models.sort_by(|(_, one), (_, other)| other.seconds.total_cmp(&one.seconds));
    let jar = jar::find()?;
    let progress = Progress::new(models.len());
    let mut rows = queue::two_at_a_time(&models, |(index, model)| {
        progress.found(&model.id, 0);
        let row = tlc::check(&jar, model, |states| progress.found(&model.id, states))?;
        progress.done(&row);
        Ok((*index, row))
    })?;
    rows.sort_by_key(|(index, _)| *index);
    Ok(rows.into_iter().map(|(_, row)| row).collect())
}

fn run_twins(options: &Options) -> Result<Vec<Checked>> {
    let recorded = models::load_twins()?;
    if !twins::exist()? {
        if recorded.is_empty() {
            return Ok(Vec::new());
        }
        bail!("twins are recorded, but the package tk-spec has no binary of that name");
    }
    let is_wanted = |twin: &&RecordedTwin| options.wants(&twin.id, &twin.model, twin.tier);
    let wanted = recorded.iter().filter(is_wanted).count();
    if wanted == 0 && options.only.is_some() {
        return Ok(Vec::new());
    }
    let progress = Progress::new(wanted);
    let rows = twins::check(&recorded, options.tier(), |row| progress.done(row))?;
    let is_wanted = |row: &Checked| options.wants(&row.id, &row.model, Tier::Ci);
    Ok(rows.into_iter().filter(is_wanted).collect())
}

/// A surprise in full, with the way to it.
fn explain(row: &Checked) {
    let surprise = row.surprise.as_deref().unwrap_or_default();
    println!(
        "\n{} {} ({}): {surprise}",
        row.source.shown(),
        row.id,
        row.constants
    );
    for (number, state) in row.trace.iter().enumerate() {
        println!("  {}. {}", number + 1, state.replace('\n', "\n     "));
    }
}

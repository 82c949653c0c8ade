//! Who may depend on whom: one table, and every exception in it with its reason.
//!
//! Arrows point down only and siblings never meet, so that a user who needs one crate compiles one
//! crate, and a reader of one crate reads one crate. Tests are held to it as well: what needs two
//! siblings is tested in the facade, which sees them all.

use super::house::House;
use crate::metadata::{Dependency, Package};

struct Layer {
    name: &'static str,
    /// Our crates that it may use.
    may_use: &'static [&'static str],
    /// Ours that it may use only where a user asks for it by a feature.
    if_asked: &'static [&'static str],
    /// Ours that its tests, examples and benches may use as well.
    in_tests: &'static [&'static str],
    /// All crates of others that it may use, or `None` where that is not a matter of layers.
    of_others: Option<&'static [&'static str]>,
    /// Those of others that it may use besides, where a user asks for them by a feature.
    of_others_if_asked: &'static [&'static str],
}

const NOTHING_ELSE: Layer = Layer {
    name: "",
    may_use: &[],
    if_asked: &[],
    in_tests: &[],
    of_others: None,
    of_others_if_asked: &[],
};

const LAYERS: &[Layer] = &[
    Layer {
        name: "tk-core",
        in_tests: &["tk-testkit"],
        // A bare target must be able to have every dependency of the core.
        of_others: Some(&["thiserror", "serde"]),
        // The clock that two siblings read by default needs it. A sibling cannot lend it to the other, so it lives in the core, behind a
        // feature that brings std along and that no bare target turns on.
        of_others_if_asked: &["quanta"],
        ..NOTHING_ELSE
    },
    Layer {
        name: "tk-testkit",
        may_use: &["tk-core"],
        // The simulated fleet leases with the ledger that ships, and only that feature pulls it in.
        if_asked: &["tk-twotier"],
        // Its own tests need one real store, to show that the suite passes what is right.
        in_tests: &["tk-store-memory"],
        ..NOTHING_ELSE
    },
    Layer {
        name: "tk-store-memory",
        may_use: &["tk-core"],
        in_tests: &["tk-testkit"],
        ..NOTHING_ELSE
    },
    Layer {
        name: "tk-store-redis",
        may_use: &["tk-core"],
        // `RedisRegionFairPool` implements the pool of tk-fair, for those who have both.
        if_asked: &["tk-fair"],
        in_tests: &["tk-testkit"],
        ..NOTHING_ELSE
    },
    Layer {
        name: "tk-twotier",
        may_use: &["tk-core"],
        in_tests: &["tk-testkit"],
        ..NOTHING_ELSE
    },
    Layer {
        name: "tk-fair",
        may_use: &["tk-core"],
        in_tests: &["tk-testkit"],
        ..NOTHING_ELSE
    },
    Layer {
        name: "throttlekit",
        may_use: &[
            "tk-core",
            "tk-store-memory",
            "tk-store-redis",
            "tk-twotier",
            "tk-fair",
        ],
        in_tests: &["tk-testkit"],
        ..NOTHING_ELSE
    },
    // The unpublished ones are users of the library and may see what a user sees.
    Layer {
        name: "tk-spec",
        may_use: &[
            "tk-core",
            "tk-store-memory",
            "tk-twotier",
            "tk-fair",
            "tk-testkit",
        ],
        ..NOTHING_ELSE
    },
    Layer {
        name: "tk-benches",
        may_use: &[
            "tk-core",
            "tk-store-memory",
            "tk-store-redis",
            "tk-twotier",
            "tk-fair",
            "tk-testkit",
            "throttlekit",
        ],
        ..NOTHING_ELSE
    },
    // The tasks must build fast, and build when the library does not.
    Layer {
        name: "xtask",
        ..NOTHING_ELSE
    },
];

pub(super) fn findings(house: &House) -> Vec<String> {
    let packages = &house.metadata.packages;
    packages
        .iter()
        .flat_map(|package| findings_in(package, packages))
        .collect()
}

fn findings_in(package: &Package, packages: &[Package]) -> Vec<String> {
    let Some(layer) = LAYERS.iter().find(|layer| layer.name == package.name) else {
        return vec![format!(
            "{} has no place in the table of layers",
            package.name
        )];
    };
    let is_ours = |name: &str| packages.iter().any(|package| package.name == name);
    let forbidden = package.dependencies.iter().filter(|dependency| {
        if is_ours(&dependency.name) {
            !layer.allows(dependency)
        } else {
            !layer.allows_of_others(dependency)
        }
    });
    let findings = forbidden.map(|Dependency { name, kind, .. }| {
        let kind = kind.as_deref().unwrap_or("ordinary");
        format!(
            "{} must not depend on {name} ({kind} dependency)",
            package.name
        )
    });
    findings.collect()
}

impl Layer {
    fn allows(&self, dependency: &Dependency) -> bool {
        let name = dependency.name.as_str();
        let is_for_tests = dependency.kind.as_deref() == Some("dev");
        self.may_use.contains(&name)
            || (self.if_asked.contains(&name) && (dependency.optional || is_for_tests))
            || (self.in_tests.contains(&name) && is_for_tests)
    }

    fn allows_of_others(&self, dependency: &Dependency) -> bool {
        let is_for_tests = dependency.kind.as_deref() == Some("dev");
        let name = dependency.name.as_str();
        is_for_tests
            || self.of_others.is_none_or(|allowed| allowed.contains(&name))
            || (self.of_others_if_asked.contains(&name) && dependency.optional)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn package(name: &str, dependencies: &[(&str, Option<&str>, bool)]) -> Package {
        let dependencies: Vec<_> = dependencies
            .iter()
            .map(|(name, kind, optional)| {
                serde_json::json!({"name": name, "kind": kind, "optional": optional})
            })
            .collect();
        let package = serde_json::json!({"name": name, "version": "0.1.0", "manifest_path": "",
            "features": {}, "dependencies": dependencies, "targets": []});
        serde_json::from_value(package).expect("the package is well formed")
    }

    fn check(name: &str, dependencies: &[(&str, Option<&str>, bool)]) -> Vec<String> {
        let packages = [
            package(name, dependencies),
            package("tk-core", &[]),
            package("tk-fair", &[]),
            package("tk-store-memory", &[]),
            package("tk-testkit", &[]),
        ];
        findings_in(&packages[0], &packages)
    }

    #[test]
    fn siblings_never_meet_not_even_in_tests() {
        assert_eq!(
            check("tk-twotier", &[("tk-core", None, false)]),
            Vec::<String>::new()
        );
        assert_eq!(
            check("tk-twotier", &[("tk-store-memory", None, false)]).len(),
            1
        );
        assert_eq!(
            check("tk-twotier", &[("tk-store-memory", Some("dev"), false)]).len(),
            1
        );
    }

    #[test]
    fn what_must_be_asked_for_is_optional() {
        assert_eq!(
            check("tk-store-redis", &[("tk-fair", None, true)]),
            Vec::<String>::new()
        );
        assert_eq!(
            check("tk-store-redis", &[("tk-fair", None, false)]).len(),
            1
        );
    }

    #[test]
    fn the_testkit_is_for_tests() {
        assert_eq!(
            check("tk-core", &[("tk-testkit", Some("dev"), false)]),
            Vec::<String>::new()
        );
        assert_eq!(check("tk-core", &[("tk-testkit", None, false)]).len(), 1);
    }

    #[test]
    fn the_core_takes_nothing_that_a_bare_target_cannot_have() {
        assert_eq!(check("tk-core", &[("tokio", None, true)]).len(), 1);
        assert_eq!(check("tk-core", &[("quanta", None, false)]).len(), 1);
        assert_eq!(
            check("tk-core", &[("quanta", None, true)]),
            Vec::<String>::new()
        );
        assert_eq!(
            check("tk-core", &[("quickcheck", Some("dev"), false)]),
            Vec::<String>::new()
        );
    }

    #[test]
    fn a_crate_without_a_place_is_a_finding() {
        assert_eq!(check("tk-new", &[]).len(), 1);
    }
}

//! What the specifications prove is cited where the code upholds it, and citations name what exists.
//!
//! A citation is a comment line `// SPEC: Module!Invariant` in Rust. Each invariant that some model check
//! shows to hold must have one; `TypeOK` is about the model and not about the code. Without this, a
//! proof and its program part ways and nobody notices.

use std::collections::BTreeSet;

use super::house::{File, House};
use crate::verify::config;
use crate::verify::models::{self, Expect, Model};

const MARK: &str = "// SPEC: ";

pub(super) fn findings(house: &House) -> Vec<String> {
    if house.file("spec/models.json").is_none() {
        return Vec::new();
    }
    // An unreadable list is a finding of the rule about model files.
    models::load().map_or_else(|_| Vec::new(), |models| compare(house, &models))
}

fn compare(house: &House, models: &[Model]) -> Vec<String> {
    let existing = invariants(house, models, |_| true);
    let proved = invariants(house, models, |model| model.expect == Expect::Holds);
    let citations = citations(house);
    let cited: BTreeSet<_> = citations.iter().map(|(_, name)| name.as_str()).collect();

    let uncited = proved.iter().filter(|name| !cited.contains(name.as_str()));
    let uncited = uncited.map(|name| format!("no Rust code cites {name}"));
    let unknown = citations
        .iter()
        .filter(|(_, name)| !existing.contains(name));
    let unknown = unknown.map(|(place, name)| format!("{place}: {name} is no invariant"));
    uncited.chain(unknown).collect()
}

/// `Module!Invariant` of every configuration that one of the chosen models runs.
fn invariants(house: &House, models: &[Model], choose: fn(&Model) -> bool) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for model in models.iter().filter(|model| choose(model)) {
        let Some(config) = house.file(&format!("spec/{}", model.config)) else {
            continue;
        };
        let invariants = config::checked(&config.text);
        for invariant in invariants.into_iter().filter(|name| name != "TypeOK") {
            let module = home(house, &model.module, &invariant);
            names.insert(format!("{module}!{invariant}"));
        }
    }
    names
}

/// The module that defines the invariant: the one named, or one that it extends.
fn home(house: &House, module: &str, invariant: &str) -> String {
    let mut pending = vec![module.to_owned()];
    let mut seen = BTreeSet::new();
    while let Some(name) = pending.pop() {
        let Some(file) = house.file(&format!("spec/{name}.tla")) else {
            continue;
        };
        if defines(file, invariant) {
            return name;
        }
        pending.extend(
            extended(file)
                .into_iter()
                .filter(|name| seen.insert(name.clone())),
        );
    }
    module.to_owned()
}

fn defines(module: &File, name: &str) -> bool {
    module.lines().any(|(_, line)| {
        line.strip_prefix(name)
            .is_some_and(|rest| rest.trim_start().starts_with("=="))
    })
}

fn extended(module: &File) -> Vec<String> {
    let lists = module.lines().filter_map(|(_, line)| {
        let line = line.trim_start();
        line.strip_prefix("EXTENDS ")
            .or_else(|| line.strip_prefix("INSTANCE "))
    });
    let names = lists.flat_map(|list| list.split([',', ' ']));
    names
        .filter(|name| !name.is_empty())
        .map(str::to_owned)
        .collect()
}

/// Every citation with its place.
fn citations(house: &House) -> Vec<(String, String)> {
    let mut citations = Vec::new();
    for file in house.ending(".rs") {
        for (number, line) in file.lines() {
            let Some(after) = line.trim_start().strip_prefix(MARK) else {
                continue;
            };
            let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '!');
            let names = after
                .split(", ")
                .map(|name| name.split(|c| !is_name(c)).next());
            let names = names.flatten().filter(|name| name.contains('!'));
            let place = format!("{}:{number}", file.path);
            citations.extend(names.map(|name| (place.clone(), name.to_owned())));
        }
    }
    citations
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(code: &str) -> Vec<String> {
        let house = House::of(&[
            ("spec/Base.tla", "---- MODULE Base ----\nBound == x <= 3\n"),
            ("spec/MC.tla", "EXTENDS Base, Naturals\nTight == x <= 2\n"),
            ("spec/MC.cfg", "INVARIANT TypeOK Bound"),
            ("spec/MCTight.cfg", "INVARIANT Tight"),
            ("a/src/lib.rs", code),
        ]);
        let model = |config: &str, expect: &str| {
            serde_json::json!({"id": config, "module": "MC", "config": config, "constants": "",
                "claim": "", "kind": "bound", "expect": expect, "invariant": "", "checks": [],
                "bound": null, "states": 4, "depth": null, "trace": null, "tier": "ci", "seconds": 1})
        };
        let models = [model("MC.cfg", "holds"), model("MCTight.cfg", "violated")];
        let models = serde_json::from_value::<Vec<Model>>(models.to_vec().into());
        compare(&house, &models.expect("the rows are well formed"))
    }

    #[test]
    fn what_is_proved_must_be_cited() {
        assert_eq!(check(""), ["no Rust code cites Base!Bound"]);
        assert_eq!(
            check(&format!("    {MARK}Base!Bound\n")),
            Vec::<String>::new()
        );
    }

    #[test]
    fn what_is_cited_must_exist() {
        let findings = check(&format!("{MARK}Base!Bound, MC!Tight\n{MARK}Base!Gone\n"));
        assert_eq!(findings, ["a/src/lib.rs:2: Base!Gone is no invariant"]);
    }
}

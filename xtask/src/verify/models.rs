//! The list of model checks: `spec/models.json`, and the recorded counts of the twins beside it.

use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use serde::{Deserialize, Serialize};

use super::constants;
use crate::workspace;

/// One run of TLC: a module under a configuration, and what must come out.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Model {
    pub(crate) id: String,
    pub(crate) module: String,
    /// The configuration's file name in `spec/`.
    pub(crate) config: String,
    #[serde(deserialize_with = "constants::as_text")]
    pub(crate) constants: String,
    pub(crate) claim: String,
    pub(crate) kind: Kind,
    pub(crate) expect: Expect,
    /// The invariant that the claim is about; it is this one that must hold or be violated.
    pub(crate) invariant: String,
    /// All invariants that the configuration lists.
    pub(crate) checks: Vec<String>,
    /// The number that the claim bounds the admitted units by.
    pub(crate) bound: Option<u64>,
    /// Distinct states; always recorded where the invariant holds.
    pub(crate) states: Option<u64>,
    /// States on the longest of the shortest paths.
    pub(crate) depth: Option<u64>,
    /// How many states the counterexample has. A breadth-first search finds the shortest, so it is
    /// as much a property of the model as a count.
    pub(crate) trace: Option<u64>,
    pub(crate) tier: Tier,
    /// About how long it takes, to start the longest first.
    pub(crate) seconds: f64,
}

/// What a row is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Kind {
    /// A bound that holds.
    Bound,
    /// The same bound less one, which must fail: the bound is reached.
    Tightness,
    /// The protocol with one of its rules broken, which must fail: the rule is needed.
    Fault,
}

/// What a twin of a model counted when it was last recorded: `spec/twins.json`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RecordedTwin {
    pub(crate) id: String,
    pub(crate) model: String,
    #[serde(deserialize_with = "constants::as_text")]
    pub(crate) constants: String,
    pub(crate) claim: String,
    pub(crate) kind: Kind,
    pub(crate) expect: Expect,
    pub(crate) states: u64,
    /// The highest value of what the claim bounds.
    pub(crate) max: Option<u64>,
    /// How many states the counterexample has, if there must be one.
    #[serde(default)]
    pub(crate) trace: Option<u64>,
    pub(crate) tier: Tier,
    /// The TLC row that explores the same system, if one does: the counts must be equal.
    #[serde(default)]
    pub(crate) same_as: Option<String>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Expect {
    Holds,
    Violated,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Tier {
    /// On every change.
    Ci,
    /// With `--deep` only.
    Deep,
}

/// The directory of the specifications.
pub(crate) fn directory() -> PathBuf {
    workspace::root().join("spec")
}

pub(crate) fn load() -> Result<Vec<Model>> {
    let models: Vec<Model> = load_rows("models.json")?;
    no_id_twice(models.iter().map(|model| model.id.as_str()))?;
    Ok(models)
}

/// None where none were ever recorded.
pub(crate) fn load_twins() -> Result<Vec<RecordedTwin>> {
    if !directory().join("twins.json").exists() {
        return Ok(Vec::new());
    }
    let twins: Vec<RecordedTwin> = load_rows("twins.json")?;
    no_id_twice(twins.iter().map(|twin| twin.id.as_str()))?;
    Ok(twins)
}

fn load_rows<Row: for<'a> Deserialize<'a>>(name: &str) -> Result<Vec<Row>> {
    let path = directory().join(name);
    let text = workspace::read(&path)?;
    serde_json::from_str(&text).with_context(|| format!("{} is not as it must be", path.display()))
}

fn no_id_twice<'a>(ids: impl Iterator<Item = &'a str>) -> Result<()> {
    let mut seen = std::collections::BTreeSet::new();
    for id in ids {
        if !seen.insert(id) {
            bail!("two rows have the id {id}");
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROW: &str = r#"{"id": "a", "module": "Lease", "config": "Lease.cfg", "constants": {"N": 2},
        "claim": "limit", "kind": "tightness", "expect": "violated", "invariant": "Bound",
        "checks": ["Bound"], "bound": 4, "states": null, "depth": null, "trace": 7, "tier": "deep",
        "seconds": 0.9}"#;

    #[test]
    fn a_row_is_read() {
        let model: Model = serde_json::from_str(ROW).expect("the row is well formed");
        assert_eq!(
            (model.kind, model.expect),
            (Kind::Tightness, Expect::Violated)
        );
        assert_eq!(
            (model.tier, model.states, model.trace),
            (Tier::Deep, None, Some(7))
        );
    }

    #[test]
    fn a_misspelt_field_is_an_error_and_not_a_default() {
        let row = ROW.replace("\"states\"", "\"state\"");
        assert!(serde_json::from_str::<Model>(&row).is_err());
    }

    #[test]
    fn ids_are_unique() {
        assert!(no_id_twice(["a", "b", "a"].into_iter()).is_err());
    }
}

//! `cargo xtask tidy`, and an ordinary test: the rules of the house that no compiler checks.
//!
//! Each rule is a function over what the house holds, in a file of its own whose header says why the
//! rule is there. A rule returns findings, so that one run shows all of them.

mod changelog;
mod commands;
mod crate_map;
mod house;
mod layering;
mod lengths;
mod licences;
mod links;
mod manifests;
mod markdown;
mod model_files;
mod modules;
mod paths;
mod proofs;
mod spec_links;
mod words;

use anyhow::{Result, bail};
use clap::Args;

use house::House;

#[derive(Args)]
pub(crate) struct Options {}

/// The rule's name, and the rule.
type Rule = (&'static str, fn(&House) -> Vec<String>);

const RULES: &[Rule] = &[
    ("layering", layering::findings),
    ("manifests", manifests::findings),
    ("modules", modules::findings),
    ("lengths", lengths::findings),
    ("words", words::findings),
    ("licences", licences::findings),
    ("changelog", changelog::findings),
    ("links", links::findings),
    ("paths", paths::findings),
    ("commands", commands::findings),
    ("crate map", crate_map::findings),
    ("model files", model_files::findings),
    ("spec links", spec_links::findings),
    ("proofs", proofs::findings),
];

pub(crate) fn run(_: &Options) -> Result<()> {
    let findings = all_findings()?;
    for finding in &findings {
        println!("{finding}");
    }
    if !findings.is_empty() {
        bail!("the house is not tidy: {} findings", findings.len());
    }
    println!("The house is tidy: {} rules.", RULES.len());
    Ok(())
}

fn all_findings() -> Result<Vec<String>> {
    let house = House::load()?;
    let findings = RULES.iter().flat_map(|(name, rule)| {
        rule(&house)
            .into_iter()
            .map(move |finding| format!("{name}: {finding}"))
    });
    Ok(findings.collect())
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_house_is_tidy() {
        let findings = super::all_findings().expect("the house can be read");
        assert!(findings.is_empty(), "\n{}", findings.join("\n"));
    }
}

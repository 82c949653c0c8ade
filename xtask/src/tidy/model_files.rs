//! The list of model checks and the files in `spec/` agree.
//!
//! A configuration that no row names is never run, whatever its author believes.

use std::collections::BTreeSet;

use super::house::House;
use crate::verify::models::{self, Model};

pub(super) fn findings(house: &House) -> Vec<String> {
    if house.file("spec/models.json").is_none() {
        return Vec::new();
    }
    match (models::load(), models::load_twins()) {
        (Ok(models), Ok(twins)) => {
            let mut findings = compare(house, &models);
            let paired = twins.iter().filter_map(|twin| {
                twin.same_as
                    .as_deref()
                    .map(|model| (twin, models.iter().find(|m| m.id == model)))
            });
            findings.extend(paired.filter_map(|(twin, model)| match model {
                None => Some(format!(
                    "twin {} is the same as no row of models.json",
                    twin.id
                )),
                Some(model) if model.states != Some(twin.states) => {
                    Some(format!("twin {} and its model count differently", twin.id))
                }
                Some(_) => None,
            }));
            findings
        }
        (models, twins) => {
            let errors = [models.err(), twins.err()];
            errors
                .into_iter()
                .flatten()
                .map(|error| format!("{error:#}"))
                .collect()
        }
    }
}

fn compare(house: &House, models: &[Model]) -> Vec<String> {
    let mut findings = Vec::new();
    for model in models {
        for name in [format!("{}.tla", model.module), model.config.clone()] {
            if house.file(&format!("spec/{name}")).is_none() {
                findings.push(format!("{} needs spec/{name}, which is not here", model.id));
            }
        }
    }
    let used: BTreeSet<_> = models
        .iter()
        .map(|model| format!("spec/{}", model.config))
        .collect();
    let configs = house
        .ending(".cfg")
        .filter(|file| file.path.starts_with("spec/"));
    let unused = configs.filter(|file| !used.contains(&file.path));
    findings.extend(unused.map(|file| format!("no row of models.json runs {}", file.path)));
    findings
}

//! The numbers in docs/PROOFS.md are the recorded ones, which `cargo xtask verify` holds to what runs.

use super::house::House;
use crate::verify::docs;
use crate::workspace;

pub(super) fn findings(house: &House) -> Vec<String> {
    let path = workspace::shown(&docs::path());
    let Some(page) = house.file(&path) else {
        return Vec::new();
    };
    let updated = docs::recorded_table().and_then(|table| docs::updated(&page.text, &table));
    match updated {
        Ok(updated) if updated == page.text => Vec::new(),
        Ok(_) => vec![format!(
            "{path} has other numbers than spec/; `cargo xtask verify --write-docs` writes them"
        )],
        Err(error) => vec![format!("{path}: {error:#}")],
    }
}

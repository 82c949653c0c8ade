//! The small twins, on every `cargo test`; `cargo xtask verify` explores all of them.

use std::collections::BTreeMap;

use serde_json::Value;
use tk_spec::catalog::{self, Kind, Row};

/// What a debug build explores in no time.
const SMALL: u64 = 3_000;

fn recorded(name: &str) -> BTreeMap<String, Value> {
    let path = format!("{}/{name}", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(path).expect("the records are beside the sources");
    let rows: Vec<Value> = serde_json::from_str(&text).expect("the records are JSON");
    rows.into_iter()
        .map(|row| (row["id"].as_str().unwrap_or("").to_owned(), row))
        .collect()
}

fn row(id: &str) -> Row {
    catalog::rows()
        .into_iter()
        .find(|row| row.id == id)
        .expect("the catalogue has it")
}

#[test]
fn every_small_row_is_as_recorded() {
    let records = recorded("twins.json");
    let mut explored = 0;
    for row in catalog::rows() {
        let record = &records[&row.id];
        if record["states"].as_u64() < Some(SMALL) {
            let found = row.explore();
            assert_eq!(found.violation.is_none(), row.must_hold(), "{}", row.id);
            assert_eq!(row.record(&found), *record);
            explored += 1;
        }
    }
    assert!(explored > 60, "only {explored} were small");
}

#[test]
fn what_is_recorded_is_what_there_is() {
    let mut records = recorded("twins.json");
    for row in catalog::rows() {
        assert!(
            records.remove(&row.id).is_some(),
            "{} is not recorded",
            row.id
        );
    }
    assert!(records.is_empty(), "nobody explores {:?}", records.keys());
}

#[test]
fn twins_of_the_same_system_count_what_tlc_counts() {
    let models = recorded("models.json");
    let twins = recorded("twins.json");
    let same = twins
        .values()
        .filter_map(|twin| Some((twin, models.get(twin["same_as"].as_str()?))));
    let mut compared = 0;
    for (twin, model) in same {
        assert_eq!(
            Some(&twin["states"]),
            model.map(|model| &model["states"]),
            "{}",
            twin["id"]
        );
        compared += 1;
    }
    assert!(compared >= 50, "only {compared} were the same");
}

/// Twins that are another system than TLC's, or ask another question; docs/PROOFS.md says how.
const OTHERWISE_LONG: &[&str] = &[
    "Amnesia/forgotten_2_4_2_tight",
    "AsyncLeasing/charged_on_wake_2_4_2",
    "AsyncLeasing/charged_on_wake_batches_2_4_2_tight",
];

#[test]
fn the_counterexample_of_a_twin_is_as_long_as_tlcs() {
    let models = recorded("models.json");
    let mut compared = 0;
    for (id, twin) in recorded("twins.json") {
        let Some(length) = models.get(&id).map(|model| &model["trace"]) else {
            continue;
        };
        let is_same = twin["trace"] == *length;
        assert_eq!(is_same, !OTHERWISE_LONG.contains(&id.as_str()), "{id}");
        compared += usize::from(!length.is_null());
    }
    assert!(compared > 90, "only {compared} were compared");
}

#[test]
fn every_bound_is_shown_to_be_reached() {
    let rows = catalog::rows();
    for bound in rows.iter().filter(|row| row.kind == Kind::Bound) {
        let tight = format!("{}_tight", bound.id);
        assert!(
            rows.iter().any(|row| row.id == tight),
            "nothing reaches {}",
            bound.id
        );
    }
}

fn is_caught(id: &str) {
    let found = row(id).explore();
    assert!(found.violation.is_some(), "{id} holds");
    assert!(!found.trace.is_empty());
}

#[test]
fn carry_over_in_coupled_mode_is_caught() {
    is_caught("WindowCoupledLeasing/carry_over_2_4_2");
    is_caught("AsyncLeasing/coupled_carry_2_4_2");
}

#[test]
fn expiry_since_receipt_is_caught() {
    is_caught("SkewedLeasing/since_receipt_2_4_2");
    is_caught("SkewedLeasing/carried_since_receipt_2_2_2");
}

#[test]
fn expiry_by_the_wall_clock_is_caught() {
    is_caught("SkewedLeasing/wall_clock_2_4_2");
}

#[test]
fn two_leases_in_flight_are_caught() {
    is_caught("AsyncLeasing/two_in_flight_2_4_2");
}

#[test]
fn a_hand_back_applied_twice_is_caught() {
    is_caught("CreditReturn/sent_twice_2_4_2");
    is_caught("CreditReturn/repeated_2_4_2");
}

#[test]
fn a_hand_back_after_a_reset_is_caught() {
    is_caught("CreditReturn/no_incarnation_1_4_2");
    is_caught("CreditReturn/kept_through_reset_1_4_2");
}

#[test]
fn a_grant_kept_after_its_window_is_caught() {
    is_caught("AsyncLeasing/late_kept_2_4_2");
    is_caught("AsyncLeasing/coupled_late_kept_2_4_2");
}

#[test]
fn waiters_charged_when_they_wake_are_caught() {
    is_caught("AsyncLeasing/charged_on_wake_2_4_2");
}

#[test]
fn a_regions_share_kept_after_its_window_is_caught() {
    is_caught("FederatedLeasing/shares_carried_2x2_8_4_2");
    is_caught("FederatedLeasing/shares_carried_coupled_2x2_8_4_2");
}

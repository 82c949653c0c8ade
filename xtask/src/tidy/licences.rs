//! Every crate that we build on may be used under a licence that asks no more than ours do.
//!
//! Who adds a dependency rarely reads its licence, and who ships the result must answer for it.

use super::house::House;

/// Permissive licences: they ask for their text to be kept, and for nothing else.
const ALLOWED: &[&str] = &[
    "0BSD",
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "BSL-1.0",
    "CC0-1.0",
    "ISC",
    "MIT",
    "MIT-0",
    "Unicode-3.0",
    "Unlicense",
    "Zlib",
];

pub(super) fn findings(house: &House) -> Vec<String> {
    let refused = house
        .licences
        .iter()
        .filter(|(_, licence)| !is_allowed(licence));
    refused
        .map(|(package, licence)| format!("{package} is under {licence:?}"))
        .collect()
}

/// Reads `MIT OR Apache-2.0`, `(MIT OR Apache-2.0) AND Unicode-3.0` and the old `MIT/Apache-2.0`.
///
/// `AND` binds closer than `OR`, and parentheses closer than both; a group is read first and stands
/// for a licence that is allowed or not.
fn is_allowed(expression: &str) -> bool {
    if let Some((before, rest)) = expression.rsplit_once('(') {
        let Some((group, after)) = rest.split_once(')') else {
            return false;
        };
        let stand_in = if is_allowed(group) { "MIT" } else { "refused" };
        return is_allowed(&format!("{before}{stand_in}{after}"));
    }
    let is_each_allowed = |all: &str| all.split(" AND ").all(|one| ALLOWED.contains(&one.trim()));
    expression
        .split(" OR ")
        .flat_map(|one| one.split('/'))
        .any(is_each_allowed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_allowed_choice_is_enough_and_every_part_must_be_allowed() {
        for good in [
            "MIT",
            "GPL-3.0 OR MIT",
            "(MIT OR GPL-3.0) AND Unicode-3.0",
            "Zlib/GPL-2.0",
        ] {
            assert!(is_allowed(good), "{good}");
        }
        for bad in [
            "GPL-3.0",
            "MIT AND GPL-3.0",
            "(GPL-3.0 OR AGPL-3.0) AND MIT",
            "",
            "(MIT",
        ] {
            assert!(!is_allowed(bad), "{bad}");
        }
    }
}

//! What a TLC configuration file says, as far as we must know it.

/// Names of the invariants and properties that TLC is told to check, in their order.
pub(crate) fn checked(text: &str) -> Vec<String> {
    let mut names = Vec::new();
    let mut is_checked = false;
    for word in words(text) {
        if is_keyword(word) {
            is_checked = CHECKED.contains(&word);
        } else if is_checked {
            names.push(word.to_owned());
        }
    }
    names
}

/// The words of the file without its comments (`\*` to the end of a line, and `(* *)`).
fn words(text: &str) -> impl Iterator<Item = &str> {
    let blocks = text.split("(*").enumerate().map(|(index, part)| {
        let rest = part.split_once("*)").map_or("", |(_, rest)| rest);
        if index == 0 { part } else { rest }
    });
    let lines = blocks.flat_map(str::lines);
    lines
        .map(|line| line.split_once("\\*").map_or(line, |(before, _)| before))
        .flat_map(str::split_whitespace)
}

const CHECKED: &[&str] = &["INVARIANT", "INVARIANTS", "PROPERTY", "PROPERTIES"];

fn is_keyword(word: &str) -> bool {
    const KEYWORDS: &[&str] = &[
        "CONSTANT",
        "CONSTANTS",
        "INIT",
        "NEXT",
        "SPECIFICATION",
        "INVARIANT",
        "INVARIANTS",
        "PROPERTY",
        "PROPERTIES",
        "CONSTRAINT",
        "CONSTRAINTS",
        "ACTION_CONSTRAINT",
        "ACTION_CONSTRAINTS",
        "SYMMETRY",
        "VIEW",
        "ALIAS",
        "POSTCONDITION",
        "CHECK_DEADLOCK",
    ];
    KEYWORDS.contains(&word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_checked_is_found_in_every_spelling() {
        let text = "\\* INVARIANT NotThis\nCONSTANTS N = 2\nINVARIANT TypeOK Bound \\* and why\n\
                    (* INVARIANT NorThis *) INVARIANTS\n  Reached\nNEXT Next\nPROPERTY Grows\n";
        assert_eq!(checked(text), ["TypeOK", "Bound", "Reached", "Grows"]);
    }

    #[test]
    fn a_configuration_may_have_none() {
        assert!(checked("INIT Init\nNEXT Next\n").is_empty());
    }
}

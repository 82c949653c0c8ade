//! What a TLC configuration file says, as far as we must know it.

/// Names under `INVARIANT` or `INVARIANTS`, in their order.
pub(crate) fn invariants(text: &str) -> Vec<String> {
    let mut names = Vec::new();
    let mut in_invariants = false;
    for word in words(text) {
        if is_keyword(word) {
            in_invariants = matches!(word, "INVARIANT" | "INVARIANTS");
        } else if in_invariants {
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
    fn invariants_are_found_in_every_spelling() {
        let text = "\\* INVARIANT NotThis\nCONSTANTS N = 2\nINVARIANT TypeOK Bound \\* and why\n\
                    (* INVARIANT NorThis *) INVARIANTS\n  Reached\nNEXT Next\n";
        assert_eq!(invariants(text), ["TypeOK", "Bound", "Reached"]);
    }

    #[test]
    fn a_configuration_may_have_none() {
        assert!(invariants("INIT Init\nNEXT Next\n").is_empty());
    }
}

//! Every source file is part of its crate.
//!
//! A file that no `mod` names is compiled by nobody: its tests pass by not running.

use super::house::{File, House};

pub(super) fn findings(house: &House) -> Vec<String> {
    let sources = house
        .ending(".rs")
        .filter(|file| file.path.contains("/src/"));
    let orphans = sources.filter(|file| !is_root(file) && !is_named(house, file));
    orphans
        .map(|file| format!("no `mod` names {}", file.path))
        .collect()
}

/// Files that cargo finds by itself.
fn is_root(file: &File) -> bool {
    let directory = file.directory();
    let is_top = directory.ends_with("/src");
    let is_main = stem(file) == "main" && (is_top || directory.contains("/src/bin/"));
    is_main || (is_top && stem(file) == "lib") || directory.ends_with("/src/bin")
}

fn is_named(house: &House, file: &File) -> bool {
    let directory = match stem(file) {
        // `x/mod.rs` is named where `x.rs` would be.
        "mod" => file
            .directory()
            .rsplit_once('/')
            .map_or("", |(above, _)| above),
        _ => file.directory(),
    };
    let name = match stem(file) {
        "mod" => file.directory().rsplit('/').next().unwrap_or_default(),
        stem => stem,
    };
    let parents = ["/lib.rs", "/main.rs", "/mod.rs", ".rs"].map(|end| format!("{directory}{end}"));
    let declaration = format!("mod {name};");
    let names_it = |parent: &String| {
        house.file(parent).is_some_and(|parent| {
            parent
                .lines()
                .any(|(_, line)| line.trim_end().ends_with(&declaration))
        })
    };
    parents.iter().any(names_it)
}

fn stem(file: &File) -> &str {
    let name = file.path.rsplit('/').next().unwrap_or_default();
    name.trim_end_matches(".rs")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_no_mod_names_is_found() {
        let house = House::of(&[
            ("a/src/lib.rs", "mod named;\npub(crate) mod deep;\n"),
            ("a/src/named.rs", ""),
            ("a/src/deep.rs", "mod down;\n"),
            ("a/src/deep/down.rs", ""),
            ("a/src/bin/tool.rs", ""),
            ("a/src/bin/other/main.rs", ""),
            ("a/src/orphan.rs", ""),
            ("a/src/deep/orphan.rs", ""),
        ]);
        let findings = findings(&house);
        let expected = [
            "no `mod` names a/src/orphan.rs",
            "no `mod` names a/src/deep/orphan.rs",
        ];
        assert_eq!(findings, expected);
    }
}

//! Every link within the repository leads somewhere, down to the heading.
//!
//! Links to the web are not followed: a check that needs the network fails for reasons of its own.

use super::house::{File, House};
use super::markdown;

pub(super) fn findings(house: &House) -> Vec<String> {
    house
        .ending(".md")
        .flat_map(|page| findings_in(house, page))
        .collect()
}

fn findings_in(house: &House, page: &File) -> Vec<String> {
    let links = markdown::links(&page.text);
    let local = links
        .into_iter()
        .filter(|(_, target)| !is_elsewhere(target));
    let dead = local.filter(|(_, target)| !resolves(house, page, target));
    dead.map(|(number, target)| format!("{}:{number}: {target} leads nowhere", page.path))
        .collect()
}

fn is_elsewhere(target: &str) -> bool {
    // Names of items in pages that are compiled into documentation are for rustdoc to check.
    target.contains("://") || target.contains("::") || target.starts_with("mailto:")
}

fn resolves(house: &House, page: &File, target: &str) -> bool {
    let (path, anchor) = target.split_once('#').unwrap_or((target, ""));
    let Some(path) = from(page, path) else {
        return false;
    };
    if anchor.is_empty() {
        let is_directory = |file: &File| file.path.starts_with(&format!("{path}/"));
        return house.file(&path).is_some()
            || house.files.iter().any(is_directory)
            || crate::workspace::root().join(&path).exists();
    }
    let Some(file) = house.file(&path) else {
        return false;
    };
    markdown::anchors(&file.text)
        .iter()
        .any(|one| one == anchor)
}

/// The path that a link means, from the page it stands on; `None` if it leaves the repository.
fn from(page: &File, path: &str) -> Option<String> {
    if path.is_empty() {
        return Some(page.path.clone());
    }
    let mut parts: Vec<_> = page
        .directory()
        .split('/')
        .filter(|part| !part.is_empty())
        .collect();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(target: &str) -> usize {
        let house = House::of(&[
            ("docs/a.md", &format!("# One\n[link]({target})\n")),
            ("docs/b.md", "# Two words\n"),
            ("README.md", ""),
        ]);
        findings(&house).len()
    }

    #[test]
    fn links_to_files_headings_and_directories_resolve() {
        for good in [
            "b.md",
            "b.md#two-words",
            "#one",
            "../README.md",
            "../docs/",
            "http://x.y/z",
        ] {
            assert_eq!(check(good), 0, "{good}");
        }
    }

    #[test]
    fn links_to_nothing_are_found() {
        for bad in ["c.md", "b.md#three", "#two", "../../out.md"] {
            assert_eq!(check(bad), 1, "{bad}");
        }
    }
}

//! As much of Markdown as the rules must read: headings, links, and code.

/// A piece of a page with the number of its line.
pub(super) type Placed<T> = (usize, T);

/// Lines outside of fenced code, and lines inside it.
fn split(page: &str) -> (Vec<Placed<&str>>, Vec<Placed<&str>>) {
    let (mut prose, mut code) = (Vec::new(), Vec::new());
    let mut in_code = false;
    for (index, line) in page.lines().enumerate() {
        if line.trim_start().starts_with("```") {
            in_code = !in_code;
        } else if in_code {
            code.push((index + 1, line));
        } else {
            prose.push((index + 1, line));
        }
    }
    (prose, code)
}

/// Targets of `[text](target)` and `[label]: target`.
pub(super) fn links(page: &str) -> Vec<Placed<String>> {
    let mut links = Vec::new();
    for (number, line) in split(page).0 {
        let line = without_code_spans(line);
        for rest in line.split("](").skip(1) {
            let target = rest.split([')', ' ']).next().unwrap_or_default();
            links.push((number, target.to_owned()));
        }
        if let Some((label, target)) = line.trim_start().split_once("]: ")
            && label.starts_with('[')
        {
            links.push((
                number,
                target.split(' ').next().unwrap_or_default().to_owned(),
            ));
        }
    }
    links
}

/// Lines of fenced code and the insides of code spans.
pub(super) fn code(page: &str) -> Vec<Placed<String>> {
    let (prose, fenced) = split(page);
    let spans = prose.into_iter().flat_map(|(number, line)| {
        line.split('`')
            .skip(1)
            .step_by(2)
            .map(move |span| (number, span.to_owned()))
    });
    let fenced = fenced
        .into_iter()
        .map(|(number, line)| (number, line.to_owned()));
    spans.chain(fenced).collect()
}

/// The anchors that a renderer gives to the headings, and those set by hand.
pub(super) fn anchors(page: &str) -> Vec<String> {
    let mut anchors: Vec<String> = Vec::new();
    for (_, line) in split(page).0 {
        if line.starts_with('#') {
            let slug = slug(line.trim_start_matches('#'));
            let before = anchors
                .iter()
                .filter(|anchor| is_nth(anchor, &slug))
                .count();
            anchors.push(if before == 0 {
                slug
            } else {
                format!("{slug}-{before}")
            });
        }
        for rest in line.split("<a id=\"").skip(1) {
            anchors.extend(rest.split('"').next().map(str::to_owned));
        }
    }
    anchors
}

/// `anchor` is `slug`, or `slug` with the number of a repetition.
fn is_nth(anchor: &str, slug: &str) -> bool {
    let Some(rest) = anchor.strip_prefix(slug) else {
        return false;
    };
    rest.is_empty()
        || rest
            .strip_prefix('-')
            .is_some_and(|number| number.parse::<u32>().is_ok())
}

fn slug(heading: &str) -> String {
    let kept = heading
        .trim()
        .chars()
        .filter_map(|character| match character {
            ' ' => Some('-'),
            '-' | '_' => Some(character),
            _ if character.is_alphanumeric() => Some(character.to_ascii_lowercase()),
            _ => None,
        });
    kept.collect()
}

fn without_code_spans(line: &str) -> String {
    line.split('`').step_by(2).collect::<Vec<_>>().join("code")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_in_prose_are_found_and_those_in_code_are_not() {
        let page = "See [a](a.md#x) and [`b`](b.md).\n```\n[c](c.md)\n```\nNot `[d](d.md)`.\n\n[e]: e.md\n";
        let targets: Vec<_> = links(page).into_iter().map(|(_, target)| target).collect();
        assert_eq!(targets, ["a.md#x", "b.md", "e.md"]);
    }

    #[test]
    fn anchors_are_those_a_renderer_makes() {
        let page = "# What `x` is: a test\n## Again\n## Again\n```\n# not this\n```\n";
        assert_eq!(anchors(page), ["what-x-is-a-test", "again", "again-1"]);
    }

    #[test]
    fn code_is_found_in_both_forms() {
        let page = "Run `one`, then\n```sh\ntwo\n```\n";
        assert_eq!(code(page), [(1, "one".to_owned()), (3, "two".to_owned())]);
    }
}

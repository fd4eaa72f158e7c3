//! The threat model in `docs/threat-model.md` names the tests that show its claims. Here each of them is looked for, so that a
//! test which is renamed or removed takes its claim with it.
//!
//! Only whether the tests are there: what they show is theirs. It needs nothing but the sources.

use std::collections::BTreeSet;
use std::path::Path;

/// The attackers that the document has a section on, by its headings.
const ATTACKERS: [&str; 5] = [
    "A confused model",
    "A prompt-injected model",
    "A malicious repository",
    "A malicious plugin",
    "Another user of the machine",
];

/// The header of the table that each of them has.
const TABLE: &str = "| Attack | Defence | Tests |";

/// The line before the attacks of each that succeed.
const REST: &str = "Not stopped:";

/// A test that the document names: the path of a file below the root, and a name in it.
type Reference<'a> = (&'a str, &'a str);

/// The references among the code spans of a text: what has two colons behind the name of a file.
fn references(text: &str) -> Vec<Reference<'_>> {
    let spans = text.split('`').skip(1).step_by(2);
    let split = spans.filter_map(|span| span.split_once("::"));
    split.filter(|(path, _)| path.contains('/') && path.contains('.')).collect()
}

/// The text below a heading of the second level, up to the next one.
fn section<'a>(document: &'a str, heading: &str) -> Option<&'a str> {
    let mut sections = document.split("\n## ").skip(1).filter_map(|section| section.split_once('\n'));
    sections.find(|(found, _)| *found == heading).map(|(_, text)| text)
}

/// The last cells of the rows of a table of attacks, and what stands before them.
fn rows(section: &str) -> Vec<(&str, &str)> {
    let table = section.lines().skip_while(|line| *line != TABLE).skip(2);
    let rows = table.take_while(|line| line.starts_with('|'));
    rows.map(|row| row.trim_end_matches([' ', '|']).rsplit_once('|').unwrap_or((row, ""))).collect()
}

/// Whether a source has a test of this name.
fn has_test(path: &str, source: &str, name: &str) -> bool {
    if !path.ends_with(".rs") {
        // A test of Node's has a sentence for its name.
        return source.contains(&format!("\"{name}\""));
    }
    let lines: Vec<&str> = source.lines().map(str::trim).collect();
    let named = |line: &str| {
        let rest =
            line.strip_prefix("async ").unwrap_or(line).strip_prefix("fn ").and_then(|line| line.strip_prefix(name));
        rest.is_some_and(|rest| rest.starts_with('('))
    };
    lines.iter().enumerate().filter(|(_, line)| named(line)).any(|(at, _)| {
        let above = lines[..at].iter().rev().take_while(|line| !line.is_empty() && !line.ends_with('}'));
        let mut attributes = above.filter(|line| line.starts_with("#["));
        attributes.any(|line| line.starts_with("#[test]") || line.starts_with("#[tokio::test"))
    })
}

/// What is wrong with a document, where `source` has the files that it names.
fn problems(document: &str, source: impl Fn(&str) -> Option<String>) -> Vec<String> {
    let mut problems = Vec::new();
    for attacker in ATTACKERS {
        let Some(text) = section(document, attacker) else {
            problems.push(format!("there is no section on {attacker:?}"));
            continue;
        };
        let rows = rows(text);
        if rows.is_empty() {
            problems.push(format!("{attacker:?} has no table that begins with {TABLE}"));
        }
        let unshown = rows.iter().filter(|(_, shown)| references(shown).is_empty());
        problems.extend(unshown.map(|(row, _)| format!("{attacker:?} has a claim that names no test: {row}")));
        let rest = text.split_once(REST).map(|(_, rest)| rest.trim_start());
        if !rest.is_some_and(|rest| rest.starts_with("- ")) {
            problems.push(format!("{attacker:?} has no list behind {REST:?}"));
        }
    }
    for (path, name) in references(document).into_iter().collect::<BTreeSet<_>>() {
        match source(path) {
            None => problems.push(format!("{path}::{name}: there is no such file")),
            Some(source) if !has_test(path, &source, name) => {
                problems.push(format!("{path}::{name}: there is no such test in it"));
            }
            Some(_) => {}
        }
    }
    problems
}

#[test]
fn every_claim_names_tests_that_are_there() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let document = std::fs::read_to_string(root.join("docs/threat-model.md")).expect("the threat model");
    let problems = problems(&document, |path| std::fs::read_to_string(root.join(path)).ok());
    assert!(problems.is_empty(), "docs/threat-model.md:\n{}", problems.join("\n"));
}

/// A document with a row in each section, and the source of the tests that it names.
fn sample() -> (String, &'static str) {
    let row = "| x | y | `a/b.rs::shows`, `a/b.rs::shows_later` |";
    let section = |name| format!("\n## {name}\n\nText.\n\n{TABLE}\n|---|---|---|\n{row}\n\n{REST}\n\n- z\n");
    let source =
        "#[test]\nfn shows() {}\n\n#[tokio::test]\n#[cfg(unix)]\nasync fn shows_later() {}\n\nfn helper() {}\n";
    (ATTACKERS.map(section).concat(), source)
}

#[test]
fn what_is_wrong_is_told() {
    let (good, source) = sample();
    // What is changed in a good document, and the problem that is told.
    #[rustfmt::skip]
    let cases = [
        ("nothing", "", ""),
        ("`a/b.rs::shows`", "`a/c.rs::shows`", "a/c.rs::shows: there is no such file"),
        ("`a/b.rs::shows`", "`a/b.rs::show`", "a/b.rs::show: there is no such test in it"),
        ("`a/b.rs::shows`", "`a/b.rs::helper`", "a/b.rs::helper: there is no such test in it"),
        ("Text.", "`a/b.rs::gone`", "a/b.rs::gone: there is no such test in it"),
        ("Text.", "`Gate::new` and `a/b.rs`", ""),
        ("`a/b.rs::shows`, `a/b.rs::shows_later`", "a test", "has a claim that names no test: | x | y "),
        ("| x | y |", "| `a/b.rs::shows` | y |", ""),
        ("- z", "none", "has no list behind"),
        (TABLE, "| Attack |", "has no table that begins with"),
        ("## A malicious plugin", "## A plugin", "there is no section on \"A malicious plugin\""),
    ];
    for (from, to, expected) in cases {
        let found = problems(&good.replace(from, to), |path| (path == "a/b.rs").then(|| source.to_owned()));
        let told = found.iter().any(|problem| problem.contains(expected)) && !expected.is_empty();
        assert!(told || expected.is_empty() && found.is_empty(), "{from:?} -> {to:?}: {found:#?}");
    }
}

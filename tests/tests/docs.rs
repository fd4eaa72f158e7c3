//! The README and the book in `docs`: every link and anchor leads somewhere, every page is in the book's summary, and the README
//! stays short. It needs no mdBook; the book itself is built by `just book`.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Component, Path, PathBuf};

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

/// Folders that hold no pages of ours: what is built, what others wrote, what is written for others.
const ELSEWHERE: [&str; 6] = ["target", "node_modules", "fixtures", "corpus", ".git", "templates"];

/// The files of the repository, as the book, which has only the pages below `docs`, has to name them.
const REPOSITORY: &str = concat!(env!("CARGO_PKG_REPOSITORY"), "/blob/main/");

const BOOK: &str = "docs/";
const SUMMARY: &str = "docs/SUMMARY.md";

/// Pages by their paths from the root.
type Pages = BTreeMap<String, String>;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize().expect("the workspace")
}

/// Every page of the repository.
fn pages() -> Pages {
    fn walk(root: &Path, folder: &Path, pages: &mut Pages) {
        for entry in std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry")) {
            let (path, name) = (entry.path(), entry.file_name());
            if entry.file_type().expect("a kind").is_dir() {
                if !ELSEWHERE.iter().any(|elsewhere| name == *elsewhere) {
                    walk(root, &path, pages);
                }
            } else if path.extension().is_some_and(|extension| extension == "md") {
                let text = std::fs::read_to_string(&path).expect("a page");
                pages.insert(path.strip_prefix(root).expect("below").to_str().expect("a path").to_owned(), text);
            }
        }
    }
    let mut pages = Pages::new();
    walk(&root(), &root(), &mut pages);
    pages
}

fn events(text: &str) -> Parser<'_> {
    Parser::new_ext(text, Options::ENABLE_TABLES)
}

fn links(text: &str) -> Vec<String> {
    let target = |event| match event {
        Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => Some(dest_url.to_string()),
        _ => None,
    };
    events(text).filter_map(target).collect()
}

/// The anchors of the headings, as GitHub and mdBook make them.
fn anchors(text: &str) -> BTreeSet<String> {
    let (mut anchors, mut seen) = (BTreeSet::new(), HashMap::<String, usize>::new());
    let mut heading: Option<String> = None;
    for event in events(text) {
        match event {
            Event::Start(Tag::Heading { .. }) => heading = Some(String::new()),
            Event::Text(text) | Event::Code(text) => {
                if let Some(heading) = &mut heading {
                    heading.push_str(&text);
                }
            }
            Event::End(TagEnd::Heading(_)) => {
                let name: String = heading.take().unwrap_or_default().chars().filter_map(of_anchor).collect();
                let before = seen.entry(name.clone()).or_default();
                anchors.insert(if *before == 0 { name } else { format!("{name}-{before}") });
                *before += 1;
            }
            _ => {}
        }
    }
    anchors
}

fn of_anchor(letter: char) -> Option<char> {
    match letter {
        '-' | '_' => Some(letter),
        _ if letter.is_alphanumeric() => letter.to_lowercase().next(),
        _ if letter.is_whitespace() => Some('-'),
        _ => None,
    }
}

/// A path from the root that a page means. None if it leads out of the repository.
fn resolved(page: &str, path: &str) -> Option<String> {
    let mut parts: Vec<&str> = page.split('/').collect();
    parts.pop();
    for part in Path::new(path).components() {
        match part {
            Component::Normal(part) => parts.push(part.to_str()?),
            Component::ParentDir => drop(parts.pop()?),
            Component::CurDir => {}
            Component::RootDir | Component::Prefix(_) => return None,
        }
    }
    Some(parts.join("/"))
}

/// Why a link of a page leads nowhere. `exists` knows files that are no pages.
fn broken(pages: &Pages, page: &str, link: &str, exists: &dyn Fn(&str) -> bool) -> Option<String> {
    let (path, anchor) = link.split_once('#').unwrap_or((link, ""));
    let target = match (path.strip_prefix(REPOSITORY), path) {
        (Some(path), _) => path.to_owned(),
        (None, "") => page.to_owned(),
        (None, path) if path.contains("://") || path.starts_with("mailto:") => return None,
        (None, path) => {
            let Some(target) = resolved(page, path) else { return Some("leads out of the repository".to_owned()) };
            if page.starts_with(BOOK) && !target.starts_with(BOOK) {
                return Some(format!("leads out of the book; as {REPOSITORY}{target} it would not"));
            }
            target
        }
    };
    match pages.get(&target) {
        None if exists(&target) => (!anchor.is_empty()).then(|| format!("{target} is no page, so it has no anchor")),
        None => Some(format!("there is no {target}")),
        Some(text) => {
            (!anchor.is_empty() && !anchors(text).contains(anchor)).then(|| format!("{target} has no heading {anchor}"))
        }
    }
}

/// What a page includes, from its own folder.
fn includes(text: &str) -> impl Iterator<Item = &str> {
    text.split("{{#include ").skip(1).filter_map(|rest| rest.split("}}").next())
}

/// Everything that is wrong with pages, one line each.
fn problems(pages: &Pages, exists: &dyn Fn(&str) -> bool) -> Vec<String> {
    let mut problems = Vec::new();
    for (page, text) in pages {
        for link in links(text) {
            problems.extend(broken(pages, page, &link, exists).map(|why| format!("{page}: {link}: {why}")));
        }
    }
    let book = || pages.iter().filter(|(page, _)| page.starts_with(BOOK) && *page != SUMMARY);
    let summary = pages.get(SUMMARY).map_or("", String::as_str);
    let listed: Vec<_> = links(summary).iter().filter_map(|link| resolved(SUMMARY, link)).collect();
    for (page, text) in book() {
        match listed.iter().filter(|listed| *listed == page).count() {
            1 => {}
            count => problems.push(format!("{page} is in {SUMMARY} {count} times")),
        }
        // `toolgate-docs` names its pages after those that introduce them.
        let name = page.rsplit('/').next().unwrap_or_default();
        let unknown = includes(text).filter(|include| *include != format!("generated/{name}"));
        problems.extend(unknown.map(|include| format!("{page} includes {include}, which nothing generates")));
    }
    problems
}

#[test]
fn every_link_leads_somewhere_and_every_page_is_in_the_book() {
    let (pages, root) = (pages(), root());
    for page in ["README.md", "CONTRIBUTING.md", "docs/README.md", "docs/threat-model.md", SUMMARY] {
        assert!(pages.contains_key(page), "{page} was not found");
    }
    let checked: usize = pages.values().map(|text| links(text).len()).sum();
    assert!(checked > 100, "{checked} links were found");
    let problems = problems(&pages, &|path| root.join(path).exists());
    assert!(problems.is_empty(), "{} problems:\n{}", problems.len(), problems.join("\n"));
}

#[test]
fn the_readme_is_short() {
    let readme = std::fs::read_to_string(root().join("README.md")).expect("the README");
    let (lines, bytes) = (readme.lines().count(), readme.len());
    assert!(lines <= 200 && bytes <= 10_000, "{lines} lines, {bytes} bytes; there is a book in docs for the rest");
}

#[test]
fn what_leads_nowhere_is_found() {
    let cases: &[(&str, &str, Option<&str>)] = &[
        ("README.md", "[x](docs/a.md)", None),
        ("README.md", "[x](docs/a.md#one-thing--two)", None),
        ("README.md", "[x](docs/a.md#same-1) <https://example.com/#x>", None),
        ("README.md", "[x](LICENSE)", None),
        ("README.md", "`[x](missing.md)`", None),
        ("README.md", "[x](docs/b.md)", Some("there is no docs/b.md")),
        ("README.md", "| a |\n|---|\n| [x](docs/b.md) |", Some("there is no docs/b.md")),
        ("README.md", "![x](docs/b.png)", Some("there is no docs/b.png")),
        ("README.md", "[x][1]\n\n[1]: docs/b.md", Some("there is no docs/b.md")),
        ("README.md", "[x](docs/a.md#two)", Some("docs/a.md has no heading two")),
        ("README.md", "[x](LICENSE#two)", Some("LICENSE is no page, so it has no anchor")),
        ("README.md", "[x](../a.md)", Some("leads out of the repository")),
        ("docs/c.md", "# C\n[x](a.md#same) [x](#c)", None),
        ("docs/c.md", "[x](#d)", Some("docs/c.md has no heading d")),
        ("docs/c.md", "[x](../LICENSE)", Some("leads out of the book")),
        ("docs/c.md", "[x](REPOSITORY/blob/main/LICENSE)", None),
        ("docs/c.md", "[x](REPOSITORY/blob/main/NOTICE)", Some("there is no NOTICE")),
        ("docs/c.md", "{{#include generated/c.md}}", None),
        ("docs/c.md", "{{#include generated/d.md}}", Some("docs/c.md includes generated/d.md")),
        ("docs/d.md", "", Some("docs/d.md is in docs/SUMMARY.md 0 times")),
    ];
    for (page, text, expected) in cases {
        let mut pages = Pages::from([
            (SUMMARY.to_owned(), "- [a](a.md)\n- [c](c.md)".to_owned()),
            ("docs/a.md".to_owned(), "# One `thing` & two\n## Same\n## Same".to_owned()),
            ("docs/c.md".to_owned(), String::new()),
        ]);
        pages.insert((*page).to_owned(), text.replace("REPOSITORY", env!("CARGO_PKG_REPOSITORY")));
        let found = problems(&pages, &|path| path == "LICENSE");
        match expected {
            None => assert!(found.is_empty(), "{page}: {text}: {found:?}"),
            Some(why) => assert!(found.len() == 1 && found[0].contains(why), "{page}: {text}: {found:?}"),
        }
    }
}

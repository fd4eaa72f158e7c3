//! Whoever embeds the crate finds an example at what they meet.

use std::collections::BTreeMap;
use std::path::Path;

/// Exported names without an example of their own, with the reason.
const WITHOUT: &[(&str, &str)] = &[
    ("Action", "one of `Finding` has it"),
    ("Addition", "the one of `Observer` has it"),
    ("Evidence", "the one of `Finding` has it"),
    ("Excerpt", "the one of `excerpt` has it"),
    ("Field", "the one of `ToolCall` has it"),
    ("Import", "read only"),
    ("MemoryImage", "for `toolgate-builtin`"),
    ("Level", "the one of `Diagnostic` has it"),
    ("Lines", "read only"),
    ("Question", "the one of `Person` has it"),
    ("Signal", "from a terminal, as it is"),
    ("Span", "read only"),
    ("Started", "the one of `Opened` has it"),
    ("ToolKind", "the one of `ToolCall` has it"),
    ("Truth", "read only"),
];

/// The names that `lib.rs` exports, but for modules and other crates' names.
fn exported(lib: &str) -> Vec<&str> {
    let ours = lib.split("\npub use ").skip(1).filter_map(|rest| rest.split_once(';')).map(|(path, _)| path);
    let ours = ours.filter(|path| !path.starts_with("toolgate_private"));
    let names = ours.flat_map(|path| path.rsplit_once("::").map_or(path, |(_, names)| names).split([',', '{', '}']));
    names.map(str::trim).filter(|name| !name.is_empty()).collect()
}

/// The lines above each public item of a file that belong to it, by its name.
fn documented(text: &str, into: &mut BTreeMap<String, String>) {
    let mut above = String::new();
    for line in text.lines() {
        if line.starts_with("///") || line.starts_with('#') || line.starts_with("    ") {
            above += line;
            continue;
        }
        let kinds = ["struct ", "enum ", "trait ", "type ", "fn ", "async fn "];
        if let Some(rest) =
            line.strip_prefix("pub ").and_then(|rest| kinds.iter().find_map(|kind| rest.strip_prefix(kind)))
        {
            let name = rest.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or_default();
            into.insert(name.to_owned(), std::mem::take(&mut above));
        }
        above.clear();
    }
}

fn read(folder: &Path, into: &mut BTreeMap<String, String>) {
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        match path.is_dir() {
            true => read(&path, into),
            false => documented(&std::fs::read_to_string(path).expect("a source"), into),
        }
    }
}

#[test]
fn what_is_exported_has_an_example() {
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let lib = std::fs::read_to_string(sources.join("lib.rs")).expect("a source");
    let names = exported(&lib);
    assert!(names.len() > 40, "{names:?}");
    let mut found = BTreeMap::new();
    read(&sources, &mut found);
    let has = |name: &str| found.get(name).unwrap_or_else(|| panic!("{name} is nowhere")).contains("```");
    let without: Vec<&str> = names.into_iter().filter(|name| !has(name)).collect();
    let mut listed: Vec<&str> = WITHOUT.iter().map(|(name, _)| *name).collect();
    listed.sort_unstable();
    let mut sorted = without.clone();
    sorted.sort_unstable();
    assert_eq!(sorted, listed, "left: exported without an example; right: those that may be");
}

//! The texts that people and agents read: no reason of a rule, message, help text or recorded screen has a word of
//! `texts/retired.jsonl`, and neither has the schema of rule files, the contract or the prose of the docs. Comments in code
//! are not read here.

use std::path::Path;

use fancy_regex::Regex;
use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};
use serde_json::Value;
use toolgate_guest::analysis;
use toolgate_rules::Guard;
use toolgate_tests::root;

/// The list: a pattern, what to write instead, and an example.
const RETIRED: &str = include_str!("../texts/retired.jsonl");

/// Folders with the product's crates.
const SOURCES: &[&str] = &["guest", "host"];

/// Folders in them that are not the product.
const NO_PRODUCT: &[&str] = &["tests", "examples", "benches", "target", "node_modules"];

/// Files without texts for users: tests, fuzzing, builds.
const NO_TEXTS: &[&str] = &["tests.rs", "fuzzing.rs", "build.rs"];

/// Pages beside those of the book. `CHANGELOG.md` is not among them, as it names things as they were called then.
const PAGES: &[&str] = &["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "SECURITY.md"];

/// The section that is about the list, and quotes what it retires.
const ABOUT_THE_LIST: (&str, &str) = ("CONTRIBUTING.md", "\n## Style of texts\n");

/// Fewer words than this are a key or a name, and no text.
const WORDS: usize = 3;

/// A retired word or phrase.
struct Retired {
    pattern: Regex,
    instead: String,
    example: String,
}

fn retired() -> Vec<Retired> {
    let text = |row: &Value, key: &str| row[key].as_str().unwrap_or_else(|| panic!("{row} has no {key}")).to_owned();
    let row = |line: &str| {
        let row: Value = serde_json::from_str(line).expect("JSON");
        let pattern = Regex::new(&format!("(?i){}", text(&row, "retired"))).expect("a pattern");
        Retired { pattern, instead: text(&row, "instead"), example: text(&row, "example") }
    };
    RETIRED.lines().map(row).collect()
}

/// A text, and where it is from.
type Text = (String, String);

/// One line for each text with a retired word.
fn violations(list: &[Retired], texts: &[Text]) -> Vec<String> {
    let mut found = Vec::new();
    for (place, text) in texts {
        for one in list {
            if let Some(part) = one.pattern.find(text).expect("few steps") {
                found.push(format!("{place}: {:?} in {text:?}; better: {}", part.as_str(), one.instead));
            }
        }
    }
    found
}

/// What the guard's own list has: reasons, alternatives, what packs are about.
fn rules() -> Vec<Text> {
    let answer = analysis::rules(r#"{"question": "list"}"#, &Guard::new()).expect("the list");
    let answer: Value = serde_json::from_str(&answer).expect("JSON");
    let mut texts = Vec::new();
    for (kind, keys) in [("rules", ["reason", "instead"].as_slice()), ("packs", &["about"])] {
        for one in answer[kind].as_array().expect("a list") {
            let own =
                keys.iter().filter_map(|key| Some((one["name"].as_str()?.to_owned(), one[*key].as_str()?.to_owned())));
            texts.extend(own);
        }
    }
    texts
}

/// Reasons in a pack's source. The list above has none of path rules.
fn reasons(source: &str) -> Vec<String> {
    let reason = Regex::new(r"(?m)\breason: (?:&\w+ )?'?([^*'}\n][^}\n]*?)'?(?:\}|$)").expect("a pattern");
    reason.captures_iter(source).map(|found| found.expect("few steps")[1].to_owned()).collect()
}

/// The part of a source that is not its tests.
fn product(source: &str) -> &str {
    source.split_once("\n#[cfg(test)]\nmod ").map_or(source, |(product, _)| product)
}

/// The string literals of Rust source that may be a text.
fn literals(source: &str) -> Vec<String> {
    let token = Regex::new(
        r##"(?sx) //[^\n]* | /\*.*?\*/ | '(?:\\(?:u\{[^}]*\}|.)|[^'\\])' | \b[bc]?r(\#*)"(?<raw>.*?)"\1 | "(?<text>(?:[^"\\]|\\.)*)" "##,
    )
    .expect("a pattern");
    let continued = Regex::new(r"\\\n\s*").expect("a pattern");
    let mut found = Vec::new();
    for token in token.captures_iter(source) {
        let token = token.expect("few steps");
        let text = match (token.name("raw"), token.name("text")) {
            (Some(raw), _) => raw.as_str().to_owned(),
            (None, Some(text)) => continued.replace_all(text.as_str(), "").replace("\\n", " ").replace("\\\"", "\""),
            (None, None) => continue,
        };
        if text.split_whitespace().count() >= WORDS {
            found.push(text.split_whitespace().collect::<Vec<_>>().join(" "));
        }
    }
    found
}

/// The comments that clap makes help of.
fn help(source: &str) -> Vec<String> {
    let (mut found, mut pending, mut inside) = (Vec::new(), Vec::new(), false);
    for line in source.lines() {
        let derives = ["Args", "Parser", "Subcommand", "ValueEnum"].iter().any(|one| line.contains(one));
        match line.trim_start().strip_prefix("///") {
            Some(text) => pending.push(text.trim().to_owned()),
            None if line.starts_with("#[derive(") && derives => inside = true,
            None if line.starts_with('#') => {}
            None => {
                let text = std::mem::take(&mut pending).join(" ");
                if inside && !text.is_empty() {
                    found.push(text);
                }
                inside &= line != "}";
            }
        }
    }
    found
}

/// The screens of a page: what a run of the command printed.
fn screens(page: &str) -> Vec<String> {
    let (mut found, mut block) = (Vec::new(), None::<String>);
    for line in page.lines() {
        match (&mut block, line.starts_with("```")) {
            (None, true) => block = Some(String::new()),
            (None, false) => {}
            (Some(_), true) => found.extend(block.take()),
            (Some(text), false) => {
                text.push_str(line);
                text.push('\n');
            }
        }
    }
    found.retain(|block| block.starts_with("$ toolgate"));
    found
}

/// The prose of Markdown, a text for each paragraph, heading and cell of a table. Code is a mere mark in it.
fn prose(page: &str) -> Vec<String> {
    let (mut found, mut text, mut code) = (Vec::new(), String::new(), false);
    for event in Parser::new_ext(page, Options::ENABLE_TABLES) {
        match event {
            Event::Start(Tag::CodeBlock(_)) => code = true,
            Event::End(TagEnd::CodeBlock) => code = false,
            Event::Text(part) if !code => text.push_str(&part),
            Event::Code(_) => text.push('`'),
            Event::SoftBreak | Event::HardBreak => text.push(' '),
            // A list inside an item ends the item's own text, which is no paragraph of its own.
            Event::Start(Tag::List(_))
            | Event::End(TagEnd::Paragraph | TagEnd::Heading(_) | TagEnd::Item | TagEnd::TableCell) => {
                found.push(std::mem::take(&mut text));
            }
            _ => {}
        }
    }
    found.retain(|text| !text.is_empty());
    found
}

/// The doc comments of WIT, which are Markdown.
fn contract(source: &str) -> Vec<String> {
    let lines = source.lines().map(|line| line.trim_start().strip_prefix("///").unwrap_or_default());
    let text: Vec<_> = lines.map(|line| line.strip_prefix(' ').unwrap_or(line)).collect();
    prose(&text.join("\n"))
}

/// The descriptions in a JSON Schema.
fn descriptions(schema: &str) -> Vec<String> {
    fn walk(value: &Value, found: &mut Vec<String>) {
        match value {
            Value::Array(items) => items.iter().for_each(|item| walk(item, found)),
            Value::Object(entries) => {
                found.extend(entries.get("description").and_then(Value::as_str).map(str::to_owned));
                entries.values().for_each(|entry| walk(entry, found));
            }
            _ => {}
        }
    }
    let mut found = Vec::new();
    walk(&serde_json::from_str(schema).expect("JSON"), &mut found);
    found
}

/// A page without the section that begins with this heading.
fn without_section(page: &str, heading: &str) -> String {
    let (before, section) = page.split_once(heading).expect("the section");
    let after = section.find("\n## ").map_or("", |end| &section[end..]);
    format!("{before}\n{after}")
}

/// Every page, apart from what is about the list.
fn pages() -> Vec<Text> {
    let mut pages = files("docs", ".md");
    for name in PAGES {
        let text = std::fs::read_to_string(root().join(name)).expect("a page");
        let (about, heading) = ABOUT_THE_LIST;
        let text = if *name == about { without_section(&text, heading) } else { text };
        pages.push(((*name).to_owned(), text));
    }
    pages
}

/// Every file below a folder with this ending, and its text.
fn files(folder: &str, ending: &str) -> Vec<Text> {
    fn walk(folder: &Path, ending: &str, found: &mut Vec<Text>) {
        for entry in std::fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            let name = path.file_name().and_then(|name| name.to_str()).expect("a name");
            if path.is_dir() {
                if !NO_PRODUCT.contains(&name) {
                    walk(&path, ending, found);
                }
            } else if name.ends_with(ending) && !NO_TEXTS.contains(&name) {
                found.push((path.display().to_string(), std::fs::read_to_string(&path).expect("a text")));
            }
        }
    }
    let mut found = Vec::new();
    walk(&root().join(folder), ending, &mut found);
    found
}

/// What is read of each file.
fn read(files: Vec<Text>, texts: fn(&str) -> Vec<String>) -> Vec<Text> {
    let each = |(place, source): Text| texts(&source).into_iter().map(move |text| (place.clone(), text));
    files.into_iter().flat_map(each).collect()
}

fn sources() -> Vec<Text> {
    let all = SOURCES.iter().flat_map(|folder| files(folder, ".rs"));
    all.map(|(place, source)| (place, product(&source).to_owned())).collect()
}

/// Fails where fewer texts are found than there are, as then they are no longer read right.
fn hold(what: &str, least: usize, texts: &[Text]) {
    assert!(texts.len() >= least, "only {} texts of {what}", texts.len());
    let found = violations(&retired(), texts);
    assert!(found.is_empty(), "{what}: {} texts\n{}", found.len(), found.join("\n"));
}

#[test]
fn reasons_of_rules_have_no_retired_word() {
    hold("rules", 800, &rules());
    hold("packs", 600, &read(files("guest/rules/src/packs", ".yaml"), reasons));
}

#[test]
fn messages_have_no_retired_word() {
    hold("sources", 1_500, &read(sources(), literals));
}

#[test]
fn help_has_no_retired_word() {
    hold("help", 100, &read(files("host/cli/src", ".rs"), help));
}

#[test]
fn screens_have_no_retired_word() {
    hold("screens", 10, &read(pages(), screens));
}

#[test]
fn docs_have_no_retired_word() {
    hold("docs", 2_500, &read(pages(), prose));
}

#[test]
fn the_contract_has_no_retired_word() {
    hold("the contract", 250, &read(files("wit", ".wit"), contract));
}

#[test]
fn descriptions_of_the_schema_have_no_retired_word() {
    hold("the schema", 100, &read(files("guest/rules", "rules.schema.json"), descriptions));
}

#[test]
fn each_retired_word_is_found_in_its_example() {
    let list = retired();
    for one in &list {
        assert!(one.pattern.is_match(&one.example).expect("few steps"), "{:?} {}", one.pattern, one.example);
        let planted = [("planted".to_owned(), format!("some text, {}", one.example))];
        assert!(!violations(&list, &planted).is_empty(), "{}", one.example);
    }
    let plain = [
        "wipes a partition table or filesystem signature",
        "syntax error on line 1: unexpected end of input",
        "there is no terminal here, and no longer a pane",
        "borg delete --dry-run --list shows what would be deleted",
        "it does not change the mode or owner of the filesystem root or a system path",
    ];
    for text in plain {
        assert_eq!(violations(&list, &[(String::new(), text.to_owned())]), [""; 0], "{text}");
    }
}

#[test]
fn planted_texts_are_read() {
    let source = r##"
// "a comment that is left"
/// Not help "as it says"
const A: char = '"';
fn a<'a>() { say("what is in \
        it, \"said\"\nagain", 'x'); say(r#"a raw "text" here"#, "two words"); }
#[cfg(test)]
mod tests { const B: &str = "a text of the tests"; }
"##;
    assert_eq!(literals(product(source)), [r#"what is in it, "said" again"#, r#"a raw "text" here"#]);
    let source = "/// The command.\n///\n/// More of it.\n#[derive(Parser)]\n#[command(version)]\nstruct A {\n    /// One\n    \
                  /// option\n    #[arg(long)]\n    one: u8,\n}\n\n/// A comment\nfn b() {}\n";
    assert_eq!(help(source), ["The command.  More of it.", "One option"]);
    assert_eq!(screens("a\n```console\n$ toolgate check x\npass\n```\nb ```\nls\n```"), ["$ toolgate check x\npass\n"]);
    let pack = "paths:\n  - {path: a, ask: true, reason: tmux runs it}\n  - reason: &prints prints: a\n  - reason: *prints\n  - reason: 'a: b'\n";
    assert_eq!(reasons(pack), ["tmux runs it", "prints: a", "a: b"]);
    let page = "# A *b*\n\nOne\n`code` [text](link).\n\n```sh\nls\n```\n\n- item\n  - inner\n\n| cell | other |\n|---|---|\n| last | |\n";
    assert_eq!(prose(page), ["A b", "One ` text.", "item", "inner", "cell", "other", "last"]);
    assert_eq!(without_section("a\n## B\nb\n## C\nc", "\n## B\n"), "a\n\n## C\nc");
    let source = "/// One\n/// text.\ninterface a {\n    /// Other\n    b: u8, // a comment\n}\n";
    assert_eq!(contract(source), ["One text.", "Other"]);
    let schema = r#"{"description": "a", "properties": {"description": {"anyOf": [{"description": "b"}]}}}"#;
    assert_eq!(descriptions(schema), ["a", "b"]);
}

//! What of a rule file can be read and never does anything: a pattern that matches no text, a path that no path is, an exemption
//! from a rule that there is not. Nothing is left out for it; whoever wrote it is told so when they ask.

use std::collections::BTreeMap;

use serde_saphyr::Spanned;

use super::problem::Problem;
use super::read::distance;
use super::rule_id::{Layer, RuleId};
use super::rules::Guard;
use super::yaml::{Node, line, parse};

/// Keys of a rule whose texts are for people, or commands.
const SAID: &[&str] = &["name", "reason", "instead", "about", "tests"];

/// Keys that hold regular expressions.
#[rustfmt::skip]
const PATTERNS: &[&str] = &[
    "pattern", "requires", "unless", "arguments", "no-argument", "unless-arguments", "text", "content", "cwd", "branch",
    "workspace",
];

/// Keys that hold names of programs.
const PROGRAMS: &[&str] = &["program", "via", "after", "before"];

/// Keys that hold paths, in rules and beside them.
const PATHS: &[&str] = &["zeroAccessPaths", "readOnlyPaths", "noDeletePaths", "noReadPaths", "paths", "not", "path"];

/// How far a name may be from one that is meant.
const NEAR: usize = 3;

impl Guard {
    /// What of a file that was loaded never does anything.
    pub fn lint(&self, file: &str, layer: Layer, content: &[u8]) -> Vec<Problem> {
        // What is no YAML was reported when it was loaded.
        let Ok(root) = parse(content) else { return Vec::new() };
        let Node::Map(sections) = root.value else { return Vec::new() };
        let mut linter = Linter { guard: self, layer, names: BTreeMap::new(), said: Vec::new() };
        for (key, section) in &sections {
            linter.section(key, section);
        }
        linter.said.sort();
        linter.said.dedup();
        let problem = |(line, message)| Problem { file: file.to_owned(), line, message, whole_file: false };
        linter.said.into_iter().map(problem).collect()
    }

    /// Every rule, in force or not, and whether it keeps the gate itself.
    pub(crate) fn every_rule(&self) -> impl Iterator<Item = (RuleId, bool)> {
        self.parts.iter().flat_map(|part| {
            let rules = part.rules.iter().map(|rule| (rule.id.clone(), rule.keeps_the_gate));
            rules.chain(part.paths.rules().iter().map(|rule| (rule.id(), rule.keeps_the_gate)))
        })
    }
}

struct Linter<'a> {
    guard: &'a Guard,
    layer: Layer,
    /// The names of rules so far, and where they stand.
    names: BTreeMap<String, Option<u32>>,
    said: Vec<(Option<u32>, String)>,
}

impl Linter<'_> {
    fn say(&mut self, at: Option<u32>, message: String) {
        self.said.push((at, message));
    }

    fn section(&mut self, key: &str, section: &Spanned<Node>) {
        match key {
            "rules" | "bashToolPatterns" | "observers" => {
                for item in items(section) {
                    if key != "observers" {
                        self.name(item);
                    }
                    self.values(key, item);
                }
            }
            "exemptions" if self.layer == Layer::User => items(section).iter().for_each(|item| self.exemption(item)),
            "overrides" if self.layer == Layer::User => {
                texts(section).into_iter().for_each(|(at, glob)| self.named(at, glob, "override"));
            }
            _ if PATHS.contains(&key) => items(section).iter().for_each(|item| self.values(key, item)),
            _ => {}
        }
    }

    /// Rules that are called the same count as one: the reason and the words of the first are shown for both.
    fn name(&mut self, rule: &Spanned<Node>) {
        let Some((at, name)) = entries(rule).iter().find(|(key, _)| key == "name").and_then(|(_, name)| text(name))
        else {
            return;
        };
        match self.names.get(name) {
            None => drop(self.names.insert(name.to_owned(), at)),
            Some(before) => {
                let before = before.map(|line| format!(" in line {line}")).unwrap_or_default();
                let message =
                    format!("there is a rule {name}{before} already; exemptions and the log take both for one");
                self.say(at, message);
            }
        }
    }

    /// What is said under a key, and below it.
    fn values(&mut self, key: &str, value: &Spanned<Node>) {
        if SAID.contains(&key) {
            return;
        }
        match &value.value {
            Node::Text(text) => self.value(line(value), key, text),
            Node::List(items) => items.iter().for_each(|item| self.values(key, item)),
            Node::Map(entries) => {
                for (own, value) in entries {
                    // Of what an observer watches the path is a pattern.
                    self.values(if key == "watch" && own == "path" { "pattern" } else { own }, value);
                }
            }
            Node::Bool(_) | Node::Null => {}
        }
    }

    fn value(&mut self, at: Option<u32>, key: &str, text: &str) {
        if let Some(control) = text.chars().find(|letter| letter.is_control() && !"\n\t".contains(*letter)) {
            let what = match control {
                '\u{8}' => "in double quotes \\b is a backspace to YAML; write it in single quotes: '\\b'".to_owned(),
                other => format!("it has the control character U+{:04X}; write it in single quotes", u32::from(other)),
            };
            self.say(at, format!("{key} never matches: {what}"));
        }
        match key {
            _ if PATTERNS.contains(&key) => self.pattern(at, key, text),
            _ if PROGRAMS.contains(&key) => self.program(at, text),
            _ if PATHS.contains(&key) => self.path(at, text),
            _ => {}
        }
    }

    fn pattern(&mut self, at: Option<u32>, key: &str, text: &str) {
        if let Some(name) = end_before_name(text) {
            let why = "in a pattern $ is the end of the text";
            self.say(at, format!("{key} never matches ${name}: {why}; write \\${name}, or what it stands for"));
        }
    }

    fn program(&mut self, at: Option<u32>, name: &str) {
        let words: Vec<&str> = name.split_whitespace().collect();
        if let [program, rest @ ..] = words.as_slice()
            && (!rest.is_empty() || name.trim() != name)
        {
            let rest = if rest.is_empty() { String::new() } else { format!(", subcommand: {}", rest.join(" ")) };
            self.say(at, format!("no program is called `{name}`; write program: {program}{rest}"));
        } else if let Some((_, own)) = name.rsplit_once('/').filter(|(_, own)| !own.is_empty()) {
            self.say(at, format!("a program is known by its name, whatever its folder; write program: {own}"));
        }
    }

    fn path(&mut self, at: Option<u32>, path: &str) {
        let variable = path.starts_with('$') || path.contains("/$") || path.contains("${") || path.starts_with('%');
        if variable {
            let rest = path.trim_start_matches("${HOME}").trim_start_matches("$HOME");
            let instead =
                if rest == path { "write the path itself, or a name".to_owned() } else { format!("write ~{rest}") };
            self.say(at, format!("variables are not looked up in rule files, so no path is {path}; {instead}"));
        } else if path.split('/').any(|part| part == "..") {
            self.say(
                at,
                format!("paths are compared without `..`, so no path is {path}; write the path itself, or a name"),
            );
        }
    }

    fn exemption(&mut self, exemption: &Spanned<Node>) {
        let entries = entries(exemption);
        let limits = |key: &str| entries.iter().any(|(own, _)| own == key);
        for (at, glob) in entries.iter().filter(|(key, _)| key == "rule").flat_map(|(_, rules)| texts(rules)) {
            self.named(at, glob, "exemption");
            let meant: Vec<RuleId> = self.meant(glob).into_iter().map(|(id, _)| id).collect();
            let all =
                |path: bool| !meant.is_empty() && meant.iter().all(|id| matches!(id, RuleId::Path { .. }) == path);
            let commands = entries.iter().any(|(key, _)| !["rule", "reason", "paths"].contains(&key.as_str()));
            if all(true) && commands && !limits("paths") {
                self.say(
                    at,
                    format!("{glob} is a path rule: an exemption from it has `paths`, or nothing beside the rule"),
                );
            }
        }
        entries.iter().filter(|(key, _)| key != "rule").for_each(|(key, value)| self.values(key, value));
    }

    /// A rule's name, or a glob for names, in an exemption or an override.
    fn named(&mut self, at: Option<u32>, glob: &str, what: &str) {
        let meant = self.meant(glob);
        let message = match meant.as_slice() {
            _ if glob.starts_with("host:") || glob.starts_with("plugin:") => {
                format!("{glob} is not a rule of the guard: no {what} lifts it")
            }
            // Of which project is not known.
            [] if glob.starts_with("project:") => return,
            [] => format!("no rule is called {glob}{}, so this {what} lifts nothing", self.near(glob)),
            all if all.iter().all(|(_, keeps_the_gate)| *keeps_the_gate) => {
                format!("{glob} protects Toolgate itself: no {what} lifts it")
            }
            all if what == "override" && all.iter().all(|(id, _)| matches!(id, RuleId::Path { .. })) => {
                format!("{glob} is a path rule: no comment lifts it, an exemption may")
            }
            _ => return,
        };
        self.say(at, message);
    }

    fn meant(&self, glob: &str) -> Vec<(RuleId, bool)> {
        let globs = [glob.to_owned()];
        self.guard.every_rule().filter(|(id, _)| id.is_meant_by(&globs)).collect()
    }

    /// The rule that may be meant.
    fn near(&self, glob: &str) -> String {
        let own = glob.rsplit_once(':').map_or(glob, |(_, own)| own).trim();
        let names = self.guard.every_rule().filter(|(_, keeps_the_gate)| !keeps_the_gate).map(|(id, _)| match id {
            RuleId::Rule { name, .. } => name,
            path @ RuleId::Path { .. } => path.to_string(),
        });
        let path = |name: &str| name.rsplit_once(": ").is_some_and(|(_, path)| path == own);
        let near = names.map(|name| (if path(&name) { 0 } else { distance(&name, own) }, name));
        let near = near.filter(|(far, _)| *far <= NEAR.min(own.chars().count() / 4)).min();
        near.map(|(_, name)| format!(" (perhaps {name}?)")).unwrap_or_default()
    }
}

/// The name behind a `$` that stands for the end of the text and has something behind it.
fn end_before_name(pattern: &str) -> Option<String> {
    let (mut escaped, mut class) = (false, false);
    for (at, letter) in pattern.char_indices() {
        match letter {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '[' => class = true,
            ']' => class = false,
            '$' if !class => {
                let rest = &pattern[at + 1..];
                let name: String = rest.chars().take_while(|one| one.is_alphanumeric() || *one == '_').collect();
                if !name.is_empty() {
                    return Some(name);
                }
            }
            _ => {}
        }
    }
    None
}

fn text(value: &Spanned<Node>) -> Option<(Option<u32>, &str)> {
    match &value.value {
        Node::Text(text) => Some((line(value), text)),
        _ => None,
    }
}

/// One text or a list of them.
fn texts(value: &Spanned<Node>) -> Vec<(Option<u32>, &str)> {
    match &value.value {
        Node::List(items) => items.iter().filter_map(text).collect(),
        _ => text(value).into_iter().collect(),
    }
}

fn items(value: &Spanned<Node>) -> &[Spanned<Node>] {
    match &value.value {
        Node::List(items) => items,
        _ => &[],
    }
}

fn entries(value: &Spanned<Node>) -> &[(String, Spanned<Node>)] {
    match &value.value {
        Node::Map(entries) => entries,
        _ => &[],
    }
}

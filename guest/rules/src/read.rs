//! Rule files: YAML to rules, tolerantly.
//!
//! The keys of damage-control mean what they always did:
//!
//! ```yaml
//! bashToolPatterns:
//!   - pattern: '\bgit\s+reset\s+--hard'   # a regular expression, look-around included
//!     reason: throws away what is not committed
//!     ask: true                           # optional: ask instead of block
//!     name: hard-reset                    # optional: how findings call it
//! zeroAccessPaths: ["~/.ssh/"]            # not read, not written, not named as an operand
//! readOnlyPaths: ["/etc/"]                # not changed
//! noDeletePaths: [".git/"]                # not removed or moved
//! ```
//!
//! Beside those there is `noReadPaths`, for files that may be written and not read.
//!
//! `rules` are the same and can say what they mean; the keys are [`RULE_KEYS`], and `guest/rules/rules.schema.json` describes them
//! for editors. What is wrong is left out and reported with its line; the rest stays. A file that is no YAML or no
//! mapping gives no rules at all, and one report. Keys that are not known are reported, as a typing error in
//! `zeroAccessPaths` would otherwise leave a secret open without a word.
//!
//! A project's file only forbids more: exemptions, overrides and packs taken away are reported there and left out.

mod events;
mod observers;

use std::rc::Rc;

use serde_saphyr::Spanned;
use toolgate_shell::EffectKind;

pub use self::events::MISSING_KEYS;
pub use self::observers::{OBSERVER_KEYS, WATCH_KEYS};
use super::events::written;
use super::fields::FieldOf;
use super::invocation::Grammar;
use super::native_rule::NativeRule;
use super::observer::Observer;
use super::path_rule::PathRule;
use super::path_rules::PathRules;
use super::path_zone::{PLACES, PathZone};
use super::pattern::Pattern;
use super::problem::Problem;
use super::rule::{Assigns, CommandMatcher, Condition, Conditions, EffectMatch, Exemption, Flag, IfUnset, Rule, Test};
use super::rule_id::{Layer, Policy, RuleId};
use super::severity::Severity;
use super::yaml::{Malformed, Node, line, parse};
use crate::call::Action;

/// The keys of a rule file.
pub const FILE_KEYS: &[&str] = &[
    "schema",
    "about",
    "packs",
    "rules",
    "bashToolPatterns",
    "zeroAccessPaths",
    "readOnlyPaths",
    "noDeletePaths",
    "noReadPaths",
    "observers",
    "exemptions",
    "overrides",
    "programs",
    "lens",
    "undo",
    "recoverable",
];

/// The keys of a rule.
pub const RULE_KEYS: &[&str] = &[
    "name",
    "reason",
    "instead",
    "ask",
    "no-override",
    "tool",
    "field",
    "pattern",
    "raw",
    "requires",
    "unless",
    "when",
    "tests",
    "program",
    "subcommand",
    "flags",
    "without",
    "arguments",
    "no-argument",
    "unless-arguments",
    "unless-test",
    "min-arguments",
    "max-arguments",
    "text",
    "content",
    "assigns",
    "effects",
    "via",
    "after",
    "before",
    "unseen",
    "not-in",
    "code",
    "recoverable",
];

/// The keys that only rules of packs have, beside those of every rule; their `code` says which code it is.
pub const PACK_KEYS: &[&str] = &["if-unset", "severity"];

/// The keys of a test that is more than a command.
pub const TEST_KEYS: &[&str] = &["command", "after"];

/// The keys of what happens to paths.
pub const EFFECT_KEYS: &[&str] = &["kinds", "paths", "not", "recursive", "existing", "exact", "shown", "elsewhere"];

/// The keys of conditions on the surroundings.
pub const WHEN_KEYS: &[&str] =
    &["cwd", "branch", "workspace", "env", "trackers", "predicates", "missing", "not", "on-unknown"];

/// The keys of an exemption beside those that say what a command is.
pub const EXEMPTION_KEYS: &[&str] = &["rule", "paths", "pattern", "when"];

/// The keys of what a program takes.
pub const PROGRAM_KEYS: &[&str] = &["values", "flags", "words", "abbreviates", "exact"];

const KINDS: &[(&str, &[EffectKind])] = &[
    ("read", &[EffectKind::Read]),
    ("write", &[EffectKind::Write]),
    ("append", &[EffectKind::Append]),
    ("create", &[EffectKind::Create]),
    ("delete", &[EffectKind::Delete]),
    ("move", &[EffectKind::Move]),
    ("link", &[EffectKind::Link]),
    ("hard-link", &[EffectKind::HardLink]),
    ("mode", &[EffectKind::Mode]),
    ("execute", &[EffectKind::Execute]),
    ("send", &[EffectKind::Send]),
    ("mention", &[EffectKind::Mention]),
    // Content is lost.
    ("lose", &[EffectKind::Delete, EffectKind::Move, EffectKind::Write, EffectKind::Link]),
    (
        "change",
        &[
            EffectKind::Delete,
            EffectKind::Move,
            EffectKind::Write,
            EffectKind::Append,
            EffectKind::Create,
            EffectKind::Link,
            EffectKind::HardLink,
            EffectKind::Mode,
        ],
    ),
];

/// What a rule file holds.
#[derive(Debug, Default)]
pub(crate) struct RuleFile {
    pub(crate) rules: Vec<Rule>,
    pub(crate) paths: Vec<PathRule>,
    pub(crate) exemptions: Vec<Exemption>,
    pub(crate) observers: Vec<Observer>,
    /// Names of rules that a comment may lift.
    pub(crate) overrides: Vec<String>,
    /// Packs to switch on, and off.
    pub(crate) packs: (Vec<String>, Vec<String>),
    pub(crate) programs: Vec<(String, Grammar)>,
    pub(crate) about: String,
    /// `undo: off`: nothing is saved before calls run.
    pub(crate) saves_nothing: bool,
    /// `recoverable: ask`: rules ask whatever was saved.
    pub(crate) always_asks: bool,
    pub(crate) problems: Vec<Problem>,
}

/// Reads a rule file's content.
pub(crate) fn read(file: &str, layer: Layer, content: &[u8]) -> RuleFile {
    let mut rules = RuleFile::default();
    let whole = |message: String, line| Problem { file: file.to_owned(), line, message, whole_file: true };
    let root = match parse(content) {
        Ok(root) => root,
        Err(Malformed { line, message }) => {
            rules.problems.push(whole(message, line));
            return rules;
        }
    };
    let at = line(&root);
    match root.value {
        Node::Null => {}
        Node::Map(sections) => {
            let mut reader = Reader { file, layer, rules: &mut rules };
            for (key, section) in sections {
                let at = line(&section);
                if let Err(message) = reader.section(&key, section.value) {
                    reader.problem(at, message);
                }
            }
        }
        other => {
            let message = format!("the file must be a mapping with keys like rules, not {}", other.kind());
            rules.problems.push(whole(message, at));
        }
    }
    rules
}

fn unknown_key(what: &str, key: &str, known: &[&str]) -> String {
    let near = known.iter().find(|one| distance(one, key) <= 2).map(|one| format!("; perhaps {one}?"));
    format!("{what} has no key {key}{}", near.unwrap_or_else(|| format!("; it has {}", known.join(", "))))
}

/// How many characters two short words differ in.
pub(crate) fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], i + 1);
        for (j, y) in b.iter().enumerate() {
            let cost = diagonal + usize::from(!x.eq_ignore_ascii_case(y));
            diagonal = row[j + 1];
            row[j + 1] = cost.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

struct Reader<'a> {
    file: &'a str,
    layer: Layer,
    rules: &'a mut RuleFile,
}

impl Reader<'_> {
    fn problem(&mut self, line: Option<u32>, message: String) {
        self.rules.problems.push(Problem { file: self.file.to_owned(), line, message, whole_file: false });
    }

    /// A project must not loosen anything.
    fn users_only(&self, what: &str) -> Result<(), String> {
        match self.layer {
            Layer::Project => Err(format!("{what} are only taken from your own file: a project must not lift rules")),
            Layer::BuiltIn | Layer::User => Ok(()),
        }
    }

    fn section(&mut self, key: &str, value: Node) -> Result<(), String> {
        match key {
            "schema" => match value.text("schema")?.as_str() {
                "1" => Ok(()),
                other => Err(format!("unknown schema {other}; this version reads schema 1")),
            },
            "about" => {
                self.rules.about = value.text("about")?;
                Ok(())
            }
            "packs" => {
                if matches!(value, Node::Null) {
                    return Ok(());
                }
                for name in value.texts("packs")? {
                    match name.strip_prefix('-') {
                        Some(name) => {
                            self.users_only("packs to turn off")?;
                            self.rules.packs.1.push(name.to_owned());
                        }
                        None => self.rules.packs.0.push(name),
                    }
                }
                Ok(())
            }
            "overrides" => {
                self.users_only("overrides")?;
                self.rules.overrides.extend(value.texts("overrides")?);
                Ok(())
            }
            "undo" => self.undo(value),
            // It only forbids more, so that a project may say it as well.
            "recoverable" => match value.text("recoverable")?.as_str() {
                "ask" => {
                    self.rules.always_asks = true;
                    Ok(())
                }
                other => Err(format!("recoverable must be ask, not {other}")),
            },
            "programs" => {
                for (name, entry) in value.map("programs")? {
                    let at = line(&entry);
                    match grammar(entry.value) {
                        Ok(grammar) => self.rules.programs.push((name, grammar)),
                        Err(message) => self.problem(at, message),
                    }
                }
                Ok(())
            }
            "exemptions" => {
                self.users_only("exemptions")?;
                self.each(value, key, |reader, _, item, _| {
                    let exemption = exemption(item)?;
                    reader.rules.exemptions.push(exemption);
                    Ok(())
                })
            }
            "observers" => self.each(value, key, |reader, index, item, _| {
                let observer = observers::read(reader.layer, index, item)?;
                reader.rules.observers.push(observer);
                Ok(())
            }),
            "rules" | "bashToolPatterns" => self.each(value, key, |reader, index, item, at| {
                let rule = reader.rule(key, index, item, at)?;
                reader.rules.rules.push(rule);
                Ok(())
            }),
            // For the lens, which reads it itself and says what is wrong with it.
            "lens" => Ok(()),
            "zeroAccessPaths" => self.paths(Policy::ZeroAccess, value, key),
            "readOnlyPaths" => self.paths(Policy::ReadOnly, value, key),
            "noDeletePaths" => self.paths(Policy::NoDelete, value, key),
            "noReadPaths" => self.paths(Policy::NoRead, value, key),
            other => Err(unknown_key("a rule file", other, FILE_KEYS)),
        }
    }

    /// Whether what calls change is saved.
    fn undo(&mut self, value: Node) -> Result<(), String> {
        if self.layer == Layer::Project {
            return Err("undo is only taken from your own file: a project must not turn saving off or on".to_owned());
        }
        self.rules.saves_nothing = match value.text("undo")?.as_str() {
            "off" => true,
            "on" => false,
            other => return Err(format!("undo must be on or off, not {other}")),
        };
        Ok(())
    }

    fn each(
        &mut self,
        value: Node,
        key: &str,
        mut read: impl FnMut(&mut Self, usize, Node, Option<u32>) -> Result<(), String>,
    ) -> Result<(), String> {
        let items = match value {
            Node::List(items) => items,
            Node::Null => return Ok(()),
            other => return Err(format!("{key} must be a list, not {}", other.kind())),
        };
        for (index, item) in items.into_iter().enumerate() {
            let at = line(&item);
            if let Err(message) = read(self, index, item.value, at) {
                self.problem(at, message);
            }
        }
        Ok(())
    }

    fn paths(&mut self, policy: Policy, value: Node, key: &str) -> Result<(), String> {
        let layer = self.layer;
        self.each(value, key, |reader, _, item, _| {
            let mut rule = match item {
                Node::Text(path) => PathRule::new(policy, &path)?,
                Node::Map(entries) => {
                    let (mut path, mut ask, mut reason) = (None, false, None);
                    for (key, value) in entries {
                        match key.as_str() {
                            "path" => path = Some(value.value.text(&key)?),
                            "ask" => ask = value.value.flag(&key)?,
                            "reason" => reason = Some(value.value.text(&key)?),
                            _ => return Err(unknown_key("a path rule", &key, &["path", "ask", "reason"])),
                        }
                    }
                    let mut rule = PathRule::new(policy, &path.ok_or("the path rule has no path")?)?;
                    (rule.ask, rule.reason) = (ask, reason);
                    rule
                }
                other => return Err(format!("a path must be a text, not {}", other.kind())),
            };
            rule.layer = layer;
            reader.rules.paths.push(rule);
            Ok(())
        })
    }

    fn rule(&mut self, section: &str, index: usize, item: Node, at: Option<u32>) -> Result<Rule, String> {
        let Node::Map(entries) = item else {
            return Err(format!("a rule must be a mapping with pattern and reason, not {}", item.kind()));
        };
        let (mut name, mut reason, mut instead, mut ask, mut no_override) = (None, None, None, false, false);
        let (mut pattern, mut raw, mut requires, mut unless, mut when) = (None, false, None, None, None);
        let (mut what, mut tests) = (CommandMatcher::default(), Vec::new());
        let (mut code, mut native, mut if_unset, mut severity) = (false, None, IfUnset::default(), None);
        let (mut tools, mut field, mut recoverable) = (Vec::new(), None, false);
        for (key, value) in entries {
            let key = key.as_str();
            match key {
                "name" => name = Some(value.value.text(key)?),
                "reason" => reason = Some(value.value.text(key)?),
                "instead" => instead = Some(value.value.text(key)?),
                "ask" => ask = value.value.flag(key)?,
                "no-override" | "noOverride" => no_override = value.value.flag(key)?,
                "tool" => tools = value.value.texts(key)?,
                "field" => field = Some(value.value.text(key)?),
                "pattern" => pattern = Some(value.value.text(key)?),
                "raw" => raw = value.value.flag(key)?,
                "requires" => requires = Some(Pattern::new(&value.value.text(key)?)?),
                "unless" => unless = Some(Pattern::new(&value.value.text(key)?)?),
                "when" => when = Some(condition_list(value.value, key, self.layer, 0)?),
                "tests" => tests = read_tests(self.layer, value.value)?,
                "code" if self.layer == Layer::BuiltIn => native = Some(native_rule(&value.value.text(key)?)?),
                "if-unset" if self.layer == Layer::BuiltIn => if_unset = unset(&value.value.text(key)?)?,
                "severity" if self.layer == Layer::BuiltIn => {
                    severity = Some(Severity::keyed(&value.value.text(key)?)?);
                }
                "code" => code = value.value.flag(key)?,
                "recoverable" => recoverable = value.value.flag(key)?,
                _ if read_what(&mut what, key, value)? => {}
                _ => return Err(unknown_key("a rule", key, RULE_KEYS)),
            }
        }
        if code {
            return Err("code is only for rules that came with Toolgate".to_owned());
        }
        if pattern.is_none() && what.is_empty() && native.is_none() {
            let message = match when {
                None => "the rule has no condition: give it a pattern or a program",
                Some(_) => "the rule says when, and not what it is about: give a pattern or a program",
            };
            return Err(message.to_owned());
        }
        let field = FieldOf::read(tools, field.as_deref())?;
        if field.is_some() && (pattern.is_none() || !what.is_empty() || native.is_some() || raw) {
            return Err(
                "a rule on the field of a file tool has a pattern, and nothing that is about commands".to_owned()
            );
        }
        let reason = reason.unwrap_or_else(|| match &pattern {
            Some(pattern) if field.is_some() => format!("the tool's input matches {pattern}"),
            Some(pattern) => format!("the command matches {pattern}"),
            None => "a rule forbids it".to_owned(),
        });
        let name = name.unwrap_or_else(|| format!("{section}[{index}]"));
        if recoverable && !ask {
            self.problem(at, "recoverable is only for rules that ask: give the rule ask: true".to_owned());
        }
        Ok(Rule {
            id: RuleId::Rule { layer: self.layer, name },
            keeps_the_gate: false,
            action: if ask { Action::Ask } else { Action::Block },
            reason,
            instead,
            no_override,
            what,
            pattern: pattern.as_deref().map(Pattern::new).transpose()?,
            raw,
            field,
            requires,
            unless,
            when,
            tests,
            line: at,
            native,
            if_unset,
            severity,
            recoverable: recoverable && ask,
        })
    }
}

/// The code that a rule of a pack is about.
fn native_rule(key: &str) -> Result<NativeRule, String> {
    NativeRule::keyed(key).ok_or_else(|| format!("the rule has the code {key}, which does not exist"))
}

/// What counts of a rule of a pack if variables are empty that nothing sets.
fn unset(text: &str) -> Result<IfUnset, String> {
    match text {
        "always" => Ok(IfUnset::Always),
        "default" => Ok(IfUnset::Default),
        "partial-name" => Ok(IfUnset::PartialName),
        "never" => Ok(IfUnset::Never),
        other => Err(format!("if-unset must be always, default, partial-name or never, not {other}")),
    }
}

fn patterns(value: Node, key: &str) -> Result<Vec<Pattern>, String> {
    value.texts(key)?.iter().map(|source| Pattern::new(source)).collect()
}

fn read_tests(layer: Layer, value: Node) -> Result<Vec<Test>, String> {
    let mut tests = Vec::new();
    for (key, list) in value.map("tests")? {
        let fires = match key.as_str() {
            "fires" => true,
            "passes" => false,
            other => return Err(unknown_key("tests", other, &["fires", "passes"])),
        };
        let Node::List(items) = list.value else { return Err(format!("{key} must be a list of commands")) };
        for item in items {
            let line = line(&item);
            let (command, after) = match item.value {
                Node::Map(_) => read_test(layer, item.value)?,
                text => (text.text(&key)?, None),
            };
            tests.push(Test { command, fires, after, line });
        }
    }
    Ok(tests)
}

/// Reads `{command: .., after: [EVENT]}`.
fn read_test(layer: Layer, value: Node) -> Result<(String, Option<Vec<String>>), String> {
    let (mut command, mut after) = (None, None);
    for (key, value) in value.map("a test")? {
        match key.as_str() {
            "command" => command = Some(value.value.text(&key)?),
            "after" => {
                let names = value.value.list().into_iter().map(|one| events::name(&key, one));
                after = Some(names.map(|name| Ok(written(layer, name?))).collect::<Result<_, String>>()?);
            }
            other => return Err(unknown_key("a test", other, TEST_KEYS)),
        }
    }
    Ok((command.ok_or("the test has no command")?, after))
}

/// Reads one key of what a command must be; whether it is one.
fn read_what(what: &mut CommandMatcher, key: &str, value: Spanned<Node>) -> Result<bool, String> {
    let value = value.value;
    match key {
        "program" => what.programs = value.texts(key)?,
        "subcommand" => {
            let texts = value.texts(key)?;
            what.subcommands = texts.iter().map(|text| text.split_whitespace().map(str::to_owned).collect()).collect();
        }
        "flags" => {
            // A list of lists has one option of each; a plain list is one such list.
            let all = value.list();
            what.flags = if all.iter().any(|one| matches!(one, Node::List(_))) {
                all.into_iter().map(|one| flags(one, key)).collect::<Result<_, _>>()?
            } else {
                let texts = all.into_iter().map(|one| one.text(key)).collect::<Result<Vec<_>, _>>()?;
                vec![texts.iter().map(|text| flag(text)).collect::<Result<_, _>>()?]
            };
        }
        "without" => what.without = flags(value, key)?,
        "arguments" => what.arguments = patterns(value, key)?,
        "no-argument" => what.no_argument = Some(Pattern::new(&value.text(key)?)?),
        "unless-arguments" => what.unless_arguments = Some(Pattern::new(&value.text(key)?)?),
        "unless-test" => what.unless_test = value.flag(key)?,
        "min-arguments" => what.count.0 = number(value, key)?,
        "max-arguments" => what.count.1 = Some(number(value, key)?),
        "text" => what.texts = patterns(value, key)?,
        "content" => what.content = Some(Pattern::new(&value.text(key)?)?),
        "assigns" => what.assigns = Some(Assigns::new(&value.text(key)?)?),
        "effects" => what.effects = value.list().into_iter().map(effect).collect::<Result<_, _>>()?,
        "via" => what.via = value.texts(key)?,
        "after" => what.after = value.texts(key)?,
        "before" => what.before = value.texts(key)?,
        "unseen" => what.unseen = value.flag(key)?,
        "not-in" => {
            let (places, paths) = places(value, key)?;
            if paths.is_some() {
                return Err(
                    "not-in takes places like @temporary; for other folders write when: {not: {cwd: ..}}".into()
                );
            }
            what.not_in = places;
        }
        _ => return Ok(false),
    }
    Ok(true)
}

fn number(value: Node, key: &str) -> Result<usize, String> {
    let text = value.text(key)?;
    text.parse().map_err(|_| format!("{key} must be a number, not {text}"))
}

fn flags(value: Node, key: &str) -> Result<Vec<Flag>, String> {
    value.texts(key)?.iter().map(|text| flag(text)).collect()
}

fn flag(text: &str) -> Result<Flag, String> {
    if !text.starts_with('-') || text.len() < 2 {
        return Err(format!("{text} is not an option: begin it with its dashes"));
    }
    match text.split_once('=') {
        Some((name, value)) => Ok(Flag { name: name.to_owned(), value: Some(Pattern::new(value)?) }),
        None => Ok(Flag { name: text.to_owned(), value: None }),
    }
}

/// Places and globs of a list of paths.
fn places(value: Node, key: &str) -> Result<(Vec<PathZone>, Option<Rc<PathRules>>), String> {
    let (mut places, mut rules) = (Vec::new(), Vec::new());
    for path in value.texts(key)? {
        match path.strip_prefix('@') {
            Some(name) => {
                let known = PLACES.iter().find(|(known, _)| *known == name);
                let names: Vec<&str> = PLACES.iter().map(|(name, _)| *name).collect();
                places.push(
                    known
                        .map(|(_, place)| *place)
                        .ok_or_else(|| format!("there is no place @{name}; there are {}", names.join(", ")))?,
                );
            }
            // Whether a name says that it is a sample is only of interest where it is about secrets.
            None => rules.push(PathRule::new(Policy::ReadOnly, &path)?),
        }
    }
    let rules = if rules.is_empty() { None } else { Some(Rc::new(PathRules::new(rules))) };
    Ok((places, rules))
}

fn effect(value: Node) -> Result<EffectMatch, String> {
    let mut found = EffectMatch::default();
    for (key, value) in value.map("effects")? {
        let value = value.value;
        match key.as_str() {
            "kinds" => {
                for name in value.texts(&key)? {
                    let names: Vec<&str> = KINDS.iter().map(|(name, _)| *name).collect();
                    let known = KINDS.iter().find(|(known, _)| *known == name);
                    let (_, kinds) =
                        known.ok_or_else(|| format!("{name} is not an effect; there are {}", names.join(", ")))?;
                    found.kinds.extend_from_slice(kinds);
                }
            }
            "paths" => (found.places, found.paths) = places(value, &key)?,
            "not" => (found.not_places, found.not) = places(value, &key)?,
            "recursive" => found.recursive = Some(value.flag(&key)?),
            "existing" => found.existing = value.flag(&key)?,
            "exact" => found.exact = value.flag(&key)?,
            "shown" => found.shown = value.flag(&key)?,
            "elsewhere" => found.elsewhere = value.flag(&key)?,
            other => return Err(unknown_key("effects", other, EFFECT_KEYS)),
        }
    }
    if found.kinds.is_empty() {
        return Err("effects has no kinds: name at least one, like delete".to_owned());
    }
    Ok(found)
}

/// How deep `not` may be inside `not`.
const DEEPEST: usize = 8;

fn condition_list(value: Node, key: &str, layer: Layer, depth: usize) -> Result<Conditions, String> {
    let mut when = Conditions { conditions: Vec::new(), on_unknown: true };
    if depth > DEEPEST {
        return Err(format!("{key} nests deeper than {DEEPEST} levels"));
    }
    for (key, value) in value.map(key)? {
        let value = value.value;
        let condition = match key.as_str() {
            "cwd" => place_patterns(value, &key, &mut when).map(Condition::Cwd)?,
            "branch" => place_patterns(value, &key, &mut when).map(Condition::Branch)?,
            "workspace" => place_patterns(value, &key, &mut when).map(Condition::Workspace)?,
            "env" => {
                for (name, value) in value.map(&key)? {
                    let patterns = patterns(value.value, &name)?;
                    when.conditions.push(Condition::Variable(name, patterns));
                }
                continue;
            }
            "trackers" => {
                for (name, value) in value.map(&key)? {
                    let patterns = patterns(value.value, &name)?;
                    when.conditions.push(Condition::Tracker(name, patterns));
                }
                continue;
            }
            "predicates" => {
                for (name, value) in value.map(&key)? {
                    when.conditions.push(Condition::Predicate(name, value.value.json().to_string()));
                }
                continue;
            }
            "missing" => Condition::Missing(events::missing(layer, value, &mut when.on_unknown)?),
            "not" => Condition::Not(condition_list(value, &key, layer, depth + 1)?),
            "on-unknown" | "onUnknown" => {
                when.on_unknown = on_unknown(value)?;
                continue;
            }
            other => return Err(unknown_key("when", other, WHEN_KEYS)),
        };
        when.conditions.push(condition);
    }
    if when.conditions.is_empty() {
        return Err("when has no condition".to_owned());
    }
    Ok(when)
}

fn on_unknown(value: Node) -> Result<bool, String> {
    match value.text("on-unknown")?.as_str() {
        "block" => Ok(true),
        "allow" => Ok(false),
        other => Err(format!("on-unknown must be block or allow, not {other}")),
    }
}

/// `cwd: P`, `cwd: [P, Q]` or `cwd: {pattern: P, on-unknown: allow}`.
fn place_patterns(value: Node, key: &str, when: &mut Conditions) -> Result<Vec<Pattern>, String> {
    let Node::Map(entries) = value else { return patterns(value, key) };
    let mut found = None;
    for (own, value) in entries {
        match own.as_str() {
            "pattern" => found = Some(patterns(value.value, &own)?),
            "on-unknown" | "onUnknown" => when.on_unknown = on_unknown(value.value)?,
            _ => return Err(unknown_key(key, &own, &["pattern", "on-unknown"])),
        }
    }
    found.ok_or_else(|| format!("{key} has no pattern"))
}

fn exemption(item: Node) -> Result<Exemption, String> {
    let mut found = Exemption::default();
    for (key, value) in item.map("an exemption")? {
        let key = key.as_str();
        match key {
            "rule" => found.rules = value.value.texts(key)?,
            "pattern" => found.pattern = Some(Pattern::new(&value.value.text(key)?)?),
            "paths" => {
                let rules = value.value.texts(key)?;
                let rules = rules.iter().map(|path| PathRule::new(Policy::ZeroAccess, path));
                found.paths = Some(PathRules::new(rules.collect::<Result<_, _>>()?));
            }
            "when" => {
                found.when =
                    Some(Conditions { on_unknown: false, ..condition_list(value.value, key, Layer::User, 0)? });
            }
            // For whoever reads the file.
            "reason" => drop(value.value.text(key)?),
            _ if read_what(&mut found.what, key, value)? => {}
            _ => return Err(unknown_key("an exemption", key, EXEMPTION_KEYS)),
        }
    }
    if found.rules.is_empty() {
        return Err("the exemption names no rule".to_owned());
    }
    if found.paths.is_some() && !(found.what.is_empty() && found.pattern.is_none() && found.when.is_none()) {
        return Err("an exemption with paths is for path rules: besides paths it takes only rule and reason".to_owned());
    }
    // A gate that lifts all of its rules is none.
    if found.is_whole() && found.rules.iter().any(|glob| glob.rsplit(':').next().is_some_and(is_any)) {
        return Err(
            "the exemption is for every rule: name one, or say for what; to switch a pack off, write it under packs"
                .to_owned(),
        );
    }
    Ok(found)
}

/// Whether a glob fits every name.
fn is_any(glob: &str) -> bool {
    glob.trim().chars().all(|letter| letter == '*')
}

fn grammar(value: Node) -> Result<Grammar, String> {
    let mut found = Grammar::default();
    let set = |text: String| text.split_whitespace().map(str::to_owned).collect();
    for (key, value) in value.map("programs")? {
        let value = value.value;
        match key.as_str() {
            "values" => found.values = set(value.text(&key)?),
            "flags" => found.flags = set(value.text(&key)?),
            "exact" => found.exact = set(value.text(&key)?),
            "words" => found.words = value.flag(&key)?,
            "abbreviates" => found.abbreviates = value.flag(&key)?,
            other => return Err(unknown_key("a program", other, PROGRAM_KEYS)),
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The problems of a rule file as `line: message`, and how many rules were kept.
    fn outcome(layer: Layer, content: &[u8]) -> (usize, Vec<String>) {
        let file = read("rules.yaml", layer, content);
        let problems =
            file.problems.iter().map(|problem| format!("{}: {}", problem.line.unwrap_or(0), problem.message));
        (file.rules.len() + file.paths.len() + file.exemptions.len() + file.overrides.len(), problems.collect())
    }

    #[test]
    fn a_wrong_rule_drops_alone_and_is_reported_with_its_line() {
        let cases: &[(&str, usize, &[&str])] = &[
            ("", 0, &[]),
            ("bashToolPatterns:\n", 0, &[]),
            ("zeroAccessPaths: ['~/.ssh/', a]", 2, &[]),
            ("zeroAccessPaths: [{path: a, ask: true, reason: r}]", 1, &[]),
            ("bashToolPatterns:\n- pattern: 'a(?!b)'\n  reason: r\n  ask: true", 1, &[]),
            ("bashToolPatterns:\n- pattern: '('\n- pattern: b", 1, &["2: the pattern ( is not a regular expression: "]),
            ("bashToolPatterns:\n- reason: x", 0, &["2: the rule has no condition"]),
            ("bashToolPatterns:\n- pattern: x\n  ask: maybe", 0, &["2: ask must be true or false, not a text"]),
            ("bashToolPatterns:\n- pattern: y\n  reason: no", 1, &[]),
            ("bashToolPatterns:\n- x\n- pattern: z", 1, &["2: a rule must be a mapping"]),
            ("zeroAccessPath:\n- x", 0, &["2: a rule file has no key zeroAccessPath; perhaps zeroAccessPaths?"]),
            (
                "readOnlyPaths:\n- ''\n- 'a[z-a]'\n- b",
                1,
                &["2: a path rule must not be empty", "3: the path a[z-a] is not a glob"],
            ),
            ("noDeletePaths: x", 0, &["1: noDeletePaths must be a list"]),
            ("- x", 0, &["1: the file must be a mapping"]),
            ("rules:\n- program: git\n  subcommand: push\n  flags: [--force, -f]", 1, &[]),
            ("rules:\n- program: rm\n  flags: [[-r, -R], [-f]]\n  without: -i", 1, &[]),
            ("rules:\n- program: rm\n  flags: force", 0, &["2: force is not an option"]),
            ("rules:\n- program: rm\n  flag: [-f]", 0, &["2: a rule has no key flag; perhaps flags?"]),
            ("rules:\n- {name: fork-bomb, code: true}", 0, &["2: code is only for rules that came with Toolgate"]),
            ("rules:\n- {program: rm, if-unset: always}", 0, &["2: a rule has no key if-unset; it has name, "]),
            ("rules:\n- program: []", 0, &["2: program must not be empty"]),
            ("rules:\n- effects: {kinds: [delete], paths: ['@outside', '~/x/']}", 1, &[]),
            ("rules:\n- effects: {kinds: [remove]}", 0, &["2: remove is not an effect; there are read"]),
            ("rules:\n- effects: {kinds: delete, paths: '@moon'}", 0, &["2: there is no place @moon"]),
            ("rules:\n- effects: {paths: a}", 0, &["2: effects has no kinds"]),
            ("rules:\n- pattern: x\n  when: {cwd: '^/a', branch: [main], env: {A: b}, not: {cwd: x}}", 1, &[]),
            ("rules:\n- pattern: x\n  when: {}", 0, &["2: when has no condition"]),
            ("rules:\n- pattern: x\n  when: {cwd: {on-unknown: Allow, pattern: x}}", 0, &["2: on-unknown must be"]),
            ("rules:\n- pattern: x\n  when: {cdw: x}", 0, &["2: when has no key cdw; perhaps cwd?"]),
            ("rules:\n- pattern: x\n  when: {predicates: {p: {a: [1, true, null]}}}", 1, &[]),
            ("rules:\n- when: {cwd: x}", 0, &["2: the rule says when"]),
            ("rules:\n- pattern: x\n  tests: {fires: [a], passes: [b]}", 1, &[]),
            ("rules:\n- pattern: x\n  tests: {fire: [a]}", 0, &["2: tests has no key fire; perhaps fires?"]),
            ("programs:\n  x: {values: '-a -b', words: true}\n  y: {value: -a}", 0, &["3: a program has no key value"]),
            ("schema: 2", 0, &["1: unknown schema 2"]),
        ];
        for (content, kept, problems) in cases {
            let (found, told) = outcome(Layer::Project, content.as_bytes());
            let same = told.len() == problems.len() && told.iter().zip(*problems).all(|(t, p)| t.starts_with(p));
            assert!(found == *kept && same, "{content}: {found} {told:?}");
        }
    }

    #[test]
    fn only_the_users_own_file_lifts_rules() {
        let cases = [
            ("exemptions: [{rule: a, program: b}]", 1, ""),
            ("overrides: [a]", 1, ""),
            ("packs: [-git]", 0, ""),
            ("packs: [cloud]", 0, ""),
            ("exemptions: [{rule: a}]", 1, ""),
            ("exemptions:\n- {rule: '*'}", 0, "2: the exemption is for every rule"),
            ("exemptions:\n- {rule: [a, 'builtin:*']}", 0, "2: the exemption is for every rule"),
            ("exemptions: [{rule: '*', program: b}]", 1, ""),
            ("exemptions:\n- {program: a}", 0, "2: the exemption names no rule"),
        ];
        for (content, kept, problem) in cases {
            let (found, told) = outcome(Layer::User, content.as_bytes());
            assert!(
                found == kept && told.iter().all(|told| told.starts_with(problem) && !problem.is_empty()),
                "{told:?}"
            );
            assert_eq!(told.is_empty(), problem.is_empty(), "{content}");
            if content.contains("cloud") {
                continue;
            }
            let (found, told) = outcome(Layer::Project, content.as_bytes());
            assert!(found == 0 && told[0].contains("only taken from your own file"), "{content}: {told:?}");
        }
    }

    #[test]
    fn what_is_no_yaml_gives_no_rules_and_one_report() {
        for content in [&b"a: [b"[..], b"\xff\xfe", b"a: 'b", b"x: &a [*a, *a]\n- y"] {
            let file = read("rules.yaml", Layer::Project, content);
            assert_eq!(file.rules.len() + file.paths.len(), 0);
            assert!(file.problems.len() == 1 && file.problems[0].whole_file, "{:?}", file.problems);
        }
    }
}

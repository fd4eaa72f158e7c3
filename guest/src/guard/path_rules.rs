//! Which rule a path falls under.
//!
//! A rule names a file or a folder, and covers everything below it. `/x` and `~/x` stand for one place; anything
//! else for that name at any depth, so `.env` is also `sub/.env` but never `.environment`. `*` stays within a
//! part of a path, `**` does not. Letters match whatever their case: on some file systems `.SSH` is `.ssh`.

use std::cell::RefCell;
use std::rc::Rc;

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use toolgate_shell::{Look, Presence, Value};

use super::rule::Layer;

/// What a path rule forbids.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Policy {
    ZeroAccess,
    ReadOnly,
    NoDelete,
    /// It may be written, but what is in it is not to be seen: a file of secrets that a project makes itself.
    NoRead,
}

impl Policy {
    /// As the rule file spells it.
    pub(crate) fn key(self) -> &'static str {
        match self {
            Policy::ZeroAccess => "zeroAccessPaths",
            Policy::ReadOnly => "readOnlyPaths",
            Policy::NoDelete => "noDeletePaths",
            Policy::NoRead => "noReadPaths",
        }
    }

    /// What it keeps a path from.
    pub(crate) fn describe(self) -> &'static str {
        match self {
            Policy::ZeroAccess => "is not to be accessed",
            Policy::ReadOnly => "is read-only",
            Policy::NoDelete => "is not to be deleted or moved",
            Policy::NoRead => "is not to be read, sent or handed to another program",
        }
    }
}

/// A path of a rule file.
#[derive(Clone, Debug)]
pub(crate) struct PathRule {
    pub(crate) policy: Policy,
    /// As it was written.
    pub(crate) source: String,
    /// Ask instead of block.
    pub(crate) ask: bool,
    pub(crate) reason: Option<String>,
    pub(crate) layer: Layer,
    /// The pack it is in; empty for one of the user or a project.
    pub(crate) pack: String,
    globs: Vec<globset::Glob>,
    /// The parts of its path, without a leading `**`.
    parts: Vec<String>,
    anchored: bool,
}

/// Names that a secret's name is part of and that hold none.
const SAMPLES: &[&str] = &["example", "sample", "template", "dist", "defaults"];

impl PathRule {
    pub(crate) fn new(policy: Policy, source: &str) -> Result<Self, String> {
        let path = source.trim().trim_end_matches('/').trim_start_matches("./");
        if path.is_empty() {
            return Err("a path rule must not be empty or `/`: it would stop everything".to_owned());
        }
        let anchored = path.starts_with('/') || path == "~" || path.starts_with("~/");
        let start = if anchored || path.starts_with("**/") { "" } else { "**/" };
        let globs = [format!("{start}{path}"), format!("{start}{path}/**")]
            .iter()
            .map(|glob| GlobBuilder::new(glob).literal_separator(true).case_insensitive(true).build())
            .collect::<Result<_, _>>()
            .map_err(|error| format!("the path {source} is not a glob: {}", error.kind()))?;
        let parts = path.trim_start_matches("**/").split('/').filter(|part| !part.is_empty());
        let parts = parts.map(str::to_owned).collect();
        let (ask, reason, layer, pack) = (false, None, Layer::BuiltIn, String::new());
        Ok(PathRule { policy, source: source.to_owned(), ask, reason, layer, pack, globs, parts, anchored })
    }

    /// How findings call it.
    pub(crate) fn name(&self) -> String {
        if self.keeps_the_gate() {
            return format!("builtin:self-{}: {}", self.policy.key(), self.source);
        }
        format!("{}: {}", self.policy.key(), self.source)
    }

    /// Whether a glob that may stand for this rule's name does, as far as the file system tells: `*.yml` is
    /// `toolgate.yml` only where there is one. `None` if it cannot be told, and the name is not much of the glob.
    pub(crate) fn is_meant(&self, pattern: &str, home: Option<&str>, look: Option<&dyn Look>) -> Option<bool> {
        if self.anchored {
            return Some(self.may_be_there(home, look));
        }
        let first = pattern.find(['*', '?', '[', '{']).unwrap_or(pattern.len());
        let rest = pattern.get(first..).unwrap_or_default();
        // Only what every name of a kind is, in one folder.
        if !rest.starts_with("*.") || rest.contains('/') || self.parts.len() != 1 {
            return Some(true);
        }
        let name = self.parts.first().filter(|name| !name.contains(['*', '?', '[']))?;
        let folder = pattern.get(..first).unwrap_or_default();
        match look?.look(&format!("{folder}{name}")) {
            Presence::Absent => Some(false),
            Presence::Unknown => None,
            _ => Some(true),
        }
    }

    /// Whether something may be at the place that this rule stands for.
    fn may_be_there(&self, home: Option<&str>, look: Option<&dyn Look>) -> bool {
        let place = format!("/{}", self.rooted(home).join("/"));
        let known = self.anchored && !place.contains(['*', '?', '[', '{', '~']);
        !known || look.is_none_or(|look| look.look(&place) != Presence::Absent)
    }

    /// Whether whoever reads a folder above its place reads what it keeps. Of the system's own files only the modes of
    /// files say that.
    pub(crate) fn is_for_reading(&self, home: Option<&str>, look: Option<&dyn Look>) -> bool {
        let users = self.layer != Layer::BuiltIn || matches!(self.parts[0].as_str(), "~" | "home" | "Users" | "root");
        users && self.may_be_there(home, look)
    }

    /// The parts of its path, with the home folder for `~`.
    fn rooted<'r>(&'r self, home: Option<&'r str>) -> Vec<&'r str> {
        match (self.parts[0].as_str(), home) {
            ("~", Some(home)) => parts_of(home).chain(self.parts[1..].iter().map(String::as_str)).collect(),
            _ => self.parts.iter().map(String::as_str).collect(),
        }
    }

    /// Whether nobody lifts it, as what it covers is the gate's own.
    pub(crate) fn keeps_the_gate(&self) -> bool {
        self.pack == super::packs::SELF
    }

    /// Whether a glob of the shell may stand for a path under this rule.
    fn may_cover(&self, glob: &[GlobPart], home: Option<&str>) -> bool {
        let from_root = self.rooted(home);
        let fits = |from: usize| {
            glob.len() >= from + from_root.len()
                && from_root.iter().zip(&glob[from..]).all(|(rule, part)| part.may_be(rule))
                // A name that may be anywhere needs more than a bare `*` to be meant.
                && (self.anchored || glob[from..].iter().take(from_root.len()).any(GlobPart::says_something))
        };
        if self.anchored { fits(0) } else { (0..glob.len()).any(fits) }
    }

    /// Whether a path of which only the end is known may be under this rule: a place in the home folder whose name
    /// is in that end. Those of the system, like `/etc`, are too common as parts of other paths.
    fn may_end(&self, end: &[&str]) -> bool {
        match self.parts.split_first() {
            Some((first, names)) if first == "~" && !names.is_empty() => {
                let same = |(a, b): (&&str, &String)| a.eq_ignore_ascii_case(b);
                end.windows(names.len()).any(|window| window.iter().zip(names).all(same))
            }
            _ => false,
        }
    }

    /// Whether this rule's place lies below a path, which may be a glob.
    fn lies_below(&self, path: &[GlobPart], home: Option<&str>) -> bool {
        let place = self.rooted(home);
        self.anchored && place.len() > path.len() && place.iter().zip(path).all(|(rule, part)| part.may_be(rule))
    }
}

/// All path rules, ready to be asked.
#[derive(Debug, Default)]
pub(crate) struct PathRules {
    rules: Vec<PathRule>,
    set: GlobSet,
    /// For each glob of the set, its rule.
    owner: Vec<usize>,
}

impl PathRules {
    /// Builds the set, or says that the globs are too large together.
    pub(crate) fn new(rules: Vec<PathRule>) -> Result<Self, String> {
        let mut builder = GlobSetBuilder::new();
        let mut owner = Vec::new();
        for (index, rule) in rules.iter().enumerate() {
            for glob in &rule.globs {
                builder.add(glob.clone());
                owner.push(index);
            }
        }
        let set = builder.build().map_err(|error| format!("the path rules are too large together: {error}"))?;
        Ok(PathRules { rules, set, owner })
    }

    pub(crate) fn rules(&self) -> &[PathRule] {
        &self.rules
    }

    pub(crate) fn len(&self) -> usize {
        self.rules.len()
    }

    /// The rules that a path falls under.
    pub(crate) fn covering(&self, path: &Value, home: Option<&str>) -> Vec<&PathRule> {
        let mut found = Vec::new();
        match path {
            Value::Known(text) => self.add_exact(text, home, &mut found),
            Value::Pattern(text) => {
                self.add_exact(text, home, &mut found);
                let parts = glob_parts(text);
                found.extend((0..self.rules.len()).filter(|index| self.rules[*index].may_cover(&parts, home)));
            }
            Value::Unknown { shape, .. } => {
                // What stands before the first unknown part is a folder above the path; what stands after the
                // last one is the path's end.
                if let Some((folder, _)) = shape.split(Value::HOLE).next().and_then(|start| start.rsplit_once('/')) {
                    self.add_exact(folder, home, &mut found);
                }
                if let Some((_, end)) = shape.rsplit(Value::HOLE).next().and_then(|end| end.split_once('/')) {
                    let mut named = Vec::new();
                    self.add_exact(&format!("/{end}"), None, &mut named);
                    found.extend(named.into_iter().filter(|index| !self.rules[*index].anchored));
                    let end: Vec<&str> = parts_of(end).collect();
                    found.extend((0..self.rules.len()).filter(|index| self.rules[*index].may_end(&end)));
                }
            }
        }
        found.sort_unstable();
        found.dedup();
        let sample = is_sample(path);
        let rules = found.into_iter().map(|index| &self.rules[index]);
        rules
            .filter(|rule| !(sample && matches!(rule.policy, Policy::ZeroAccess | Policy::NoRead) && !rule.anchored))
            .collect()
    }

    /// The rules whose place lies below a path, which may be a glob, so that they fall or are read with it. Of a path that
    /// is known in part there are none.
    pub(crate) fn below(&self, path: &str, home: Option<&str>) -> Vec<&PathRule> {
        if path.contains(Value::HOLE) {
            return Vec::new();
        }
        let parts = glob_parts(path);
        self.rules.iter().filter(|rule| rule.lies_below(&parts, home)).collect()
    }

    /// The rules on files of a name, which may be a glob, somewhere below a path.
    pub(crate) fn named_below(&self, path: &str, name: &str, home: Option<&str>) -> Vec<&PathRule> {
        let own = GlobPart::new(name);
        let mut found: Vec<&PathRule> = match own {
            GlobPart::Text(_) => self.covering(&Value::Known(format!("/{name}")), None),
            _ if own.says_something() => self.rules.iter().collect(),
            _ => Vec::new(),
        };
        found.retain(|rule| {
            !rule.anchored && (matches!(own, GlobPart::Text(_)) || rule.parts.len() == 1 && own.may_be(&rule.parts[0]))
        });
        found.extend(
            self.below(path, home).into_iter().filter(|rule| rule.parts.last().is_some_and(|last| own.may_be(last))),
        );
        found
    }

    fn add_exact(&self, path: &str, home: Option<&str>, found: &mut Vec<usize>) {
        for form in forms(path, home) {
            found.extend(self.set.matches(&form).into_iter().map(|glob| self.owner[glob]));
        }
    }
}

/// The path as it is, and with the home folder as `~`.
fn forms(path: &str, home: Option<&str>) -> Vec<String> {
    let mut forms = vec![path.to_owned()];
    let home = home.map(|home| home.trim_end_matches('/')).filter(|home| !home.is_empty());
    if let Some(rest) = home.and_then(|home| path.strip_prefix(home))
        && (rest.is_empty() || rest.starts_with('/'))
    {
        forms.push(format!("~{rest}"));
    }
    forms
}

/// `.env.example` and its like hold no secrets.
fn is_sample(path: &Value) -> bool {
    let (Value::Known(text) | Value::Pattern(text) | Value::Unknown { shape: text, .. }) = path;
    let name = text.rsplit('/').next().unwrap_or("");
    name.rsplit('.').next().is_some_and(|end| name.len() > end.len() && SAMPLES.contains(&end))
}

fn parts_of(path: &str) -> impl Iterator<Item = &str> {
    path.split('/').filter(|part| !part.is_empty())
}

thread_local! {
    // One path is put to the rules of every pack and file, one after the other, and compiling it costs most.
    static LAST: RefCell<Option<(String, Rc<Vec<GlobPart>>)>> = const { RefCell::new(None) };
}

/// The parts of a glob.
fn glob_parts(text: &str) -> Rc<Vec<GlobPart>> {
    LAST.with_borrow_mut(|last| match last {
        Some((known, parts)) if known == text => Rc::clone(parts),
        _ => {
            let parts = Rc::new(parts_of(text).map(GlobPart::new).collect::<Vec<_>>());
            *last = Some((text.to_owned(), Rc::clone(&parts)));
            parts
        }
    })
}

/// A part of a path with wildcards, compiled once for all rules.
#[derive(Debug)]
enum GlobPart {
    Text(String),
    Glob(String, globset::GlobMatcher),
    /// No glob that we understand: a character class by name, or a range that only the shell takes.
    Anything(String),
}

impl GlobPart {
    fn new(part: &str) -> Self {
        if !part.contains(['*', '?', '[', '\\']) {
            return GlobPart::Text(part.to_owned());
        }
        match GlobBuilder::new(part).backslash_escape(true).case_insensitive(true).build() {
            Ok(glob) if !part.contains("[:") => GlobPart::Glob(part.to_owned(), glob.compile_matcher()),
            _ => GlobPart::Anything(part.to_owned()),
        }
    }

    /// Whether the shell could expand it to this name. If the name has wildcards itself, only the same text does:
    /// both being open would make every `*` a match.
    fn may_be(&self, name: &str) -> bool {
        let (GlobPart::Text(part) | GlobPart::Glob(part, _) | GlobPart::Anything(part)) = self;
        if part.eq_ignore_ascii_case(name) {
            return true;
        }
        let hidden = name.starts_with('.') && part.starts_with(['*', '?', '[']);
        !hidden
            && !name.contains(['*', '?', '['])
            && match self {
                GlobPart::Text(_) => false,
                GlobPart::Glob(_, matcher) => matcher.is_match(name),
                GlobPart::Anything(_) => true,
            }
    }

    /// Whether it says anything about the name: a letter, or that it is a hidden one.
    fn says_something(&self) -> bool {
        let (GlobPart::Text(part) | GlobPart::Glob(part, _) | GlobPart::Anything(part)) = self;
        part.starts_with('.') || part.chars().any(char::is_alphanumeric)
    }
}

#[cfg(test)]
mod tests {
    use toolgate_shell::Why;

    use super::*;

    fn known(text: &str) -> Value {
        Value::Known(text.into())
    }

    #[test]
    fn a_rule_covers_its_place_and_what_is_below() {
        let cases = [
            ("~/.ssh/", known("/home/dev/.ssh"), true),
            ("~/.ssh/", known("/home/dev/.ssh/id_rsa"), true),
            ("~/.ssh/", known("/home/dev/.sshx"), false),
            ("~/.ssh/", known("/home/other/.ssh"), false),
            ("~/.ssh/", Value::Pattern("/home/dev/.ss*/id_rsa".into()), true),
            ("~/.ssh/", Value::Pattern("/home/dev/*/id_rsa".into()), false),
            ("~/.ssh/", Value::Pattern("/home/de?/.ssh/id_rsa".into()), true),
            ("~/.ssh/", Value::Pattern("/h*/dev/.ss[[:alpha:]]/id_rsa".into()), true),
            ("~/.ssh/", Value::Pattern("/home/dev/.ss[z-ah]/id_rsa".into()), true),
            ("~/.ssh/", Value::Unknown { why: Why::Directory, shape: "\0/.ssh/id_rsa".into() }, true),
            ("~/.ssh/", Value::Unknown { why: Why::Directory, shape: "\0/src/main.rs".into() }, false),
            ("/etc/", Value::Unknown { why: Why::Directory, shape: "\0/etc/x".into() }, false),
            (".env", Value::Pattern("/p/.*".into()), true),
            ("~/.ssh/", known("/home/dev/.ssh/x.example"), true),
            ("id_rsa", Value::Pattern("/p/id_*".into()), true),
            ("id_rsa", Value::Pattern("/p/*".into()), false),
            ("/etc/", Value::Pattern("/*".into()), true),
            (".env", known("/p/.env"), true),
            (".env", known("/p/sub/.env"), true),
            (".env", known("/p/.environment"), false),
            (".env", known("/p/my.env"), false),
            (".env*", known("/p/.env.local"), true),
            (".env*", known("/p/.env.example"), false),
            ("*.pem", known("/p/a/server.pem"), true),
            ("*.pem", Value::Pattern("/p/*.pem".into()), true),
            ("*.pem", Value::Pattern("/p/*".into()), false),
            ("dist/", known("/p/sub/dist/a.js"), true),
            ("dist/", known("/p/distant/a.js"), false),
            ("/etc/", known("/etc/passwd"), true),
            ("/etc/", known("/p/etc/passwd"), false),
            ("./a/b", known("/p/a/b"), true),
            (".env", Value::Unknown { why: Why::Expansion, shape: "\0/.env".into() }, true),
            ("/etc/", Value::Unknown { why: Why::Expansion, shape: "/etc/\0".into() }, true),
            ("/etc/", Value::Unknown { why: Why::Expansion, shape: "\0".into() }, false),
        ];
        for (rule, path, expected) in cases {
            let rules = PathRules::new(vec![PathRule::new(Policy::ZeroAccess, rule).unwrap()]).unwrap();
            assert_eq!(!rules.covering(&path, Some("/home/dev")).is_empty(), expected, "{rule} {path:?}");
        }
    }

    #[test]
    fn removing_a_folder_removes_what_is_protected_below_it() {
        let rules = PathRules::new(vec![PathRule::new(Policy::NoDelete, "~/.ssh/").unwrap()]).unwrap();
        let cases = [
            ("/home/dev", 1),
            ("/", 1),
            ("/home", 1),
            ("/home/d*", 1),
            ("/home/dev/.ssh", 0),
            ("/home/dev/x", 0),
            ("\0/x", 0),
        ];
        for (path, expected) in cases {
            assert_eq!(rules.below(path, Some("/home/dev")).len(), expected, "{path}");
        }
    }

    #[test]
    fn a_search_by_name_finds_what_is_protected_by_name() {
        let rules = [".env", ".env.*", "id_rsa", "~/.config/gh/hosts.yml", "~/.ssh/", "*.kdbx"];
        let rules = rules.map(|path| PathRule::new(Policy::ZeroAccess, path).unwrap());
        let rules = PathRules::new(rules.into()).unwrap();
        let cases: &[(&str, &str, &[&str])] = &[
            ("/p", ".env", &[".env"]),
            ("/p", ".env.local", &[".env.*"]),
            ("/p", ".env.example", &[]),
            ("/p", ".env*", &[".env"]),
            ("/p", "id_*", &["id_rsa"]),
            ("/p", "*", &[]),
            ("/p", "*.kdbx", &["*.kdbx"]),
            ("/p", "a.kdbx", &["*.kdbx"]),
            ("/p", "hosts.yml", &[]),
            ("/home/dev", "hosts.*", &["~/.config/gh/hosts.yml"]),
            ("/home/dev", "*.log", &[]),
        ];
        for (path, name, expected) in cases {
            let found = rules.named_below(path, name, Some("/home/dev"));
            let found: Vec<&str> = found.into_iter().map(|rule| rule.source.as_str()).collect();
            assert_eq!(found, *expected, "{path} {name}");
        }
    }
}

//! Which rule a path falls under.
//!
//! A rule names a file or a folder, and covers everything below it. `/x` and `~/x` stand for one place; anything
//! else for that name at any depth, so `.env` is also `sub/.env` but never `.environment`. `*` stays within a
//! part of a path, `**` does not. Letters match whatever their case: on some file systems `.SSH` is `.ssh`.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;

use toolgate_shell::{Look, Presence, Value};

use super::glob::{Segment, alternatives, fit, names, segments};
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
    /// The segments of its path, without a leading `**`; one list for each text that its braces stand for.
    alternatives: Vec<Vec<Segment>>,
    start: Start,
}

/// Where a path begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Start {
    Root,
    /// The home folder, as `~`.
    Home,
    Anywhere,
}

/// Names that a secret's name is part of and that hold none.
const SAMPLES: &[&str] = &["example", "sample", "template", "dist", "defaults"];

impl PathRule {
    pub(crate) fn new(policy: Policy, source: &str) -> Result<Self, String> {
        let path = source.trim().trim_end_matches('/').trim_start_matches("./");
        if path.is_empty() {
            return Err("a path rule must not be empty or `/`: it would stop everything".to_owned());
        }
        let (start, rest) = match path.strip_prefix('~') {
            Some(rest) if rest.is_empty() || rest.starts_with('/') => (Start::Home, rest),
            _ if path.starts_with('/') => (Start::Root, path),
            _ => (Start::Anywhere, path),
        };
        let alternatives = alternatives(rest).map_err(|error| format!("the path {source} is not a glob: {error}"))?;
        let (ask, reason, layer, pack) = (false, None, Layer::BuiltIn, String::new());
        Ok(PathRule { policy, source: source.to_owned(), ask, reason, layer, pack, alternatives, start })
    }

    /// How findings call it.
    pub(crate) fn name(&self) -> String {
        if self.keeps_the_gate() {
            return format!("builtin:self-{}: {}", self.policy.key(), self.source);
        }
        format!("{}: {}", self.policy.key(), self.source)
    }

    fn is_anchored(&self) -> bool {
        self.start != Start::Anywhere
    }

    /// Whether a glob that may stand for this rule's name does, as far as the file system tells: `*.yml` is
    /// `toolgate.yml` only where there is one. `None` if it cannot be told, and the name is not much of the glob.
    pub(crate) fn is_meant(&self, pattern: &str, home: Option<&str>, look: Option<&dyn Look>) -> Option<bool> {
        if self.is_anchored() {
            return Some(self.may_be_there(home, look));
        }
        let first = pattern.find(['*', '?', '[', '{']).unwrap_or(pattern.len());
        // Of a whole tree the top is looked at.
        let rest = pattern.get(first..).unwrap_or_default().trim_start_matches("**/");
        // Only what every name of a kind is, in one folder.
        let name = self.written().trim_start_matches("**/");
        if !rest.starts_with("*.") || rest.contains('/') || name.contains(['/', '{']) {
            return Some(true);
        }
        if name.contains(['*', '?', '[']) {
            return None;
        }
        let folder = pattern.get(..first).unwrap_or_default();
        match look?.look(&format!("{folder}{name}")) {
            Presence::Absent => Some(false),
            Presence::Unknown => None,
            _ => Some(true),
        }
    }

    /// As it was written, without what does not matter.
    fn written(&self) -> &str {
        self.source.trim().trim_end_matches('/').trim_start_matches("./")
    }

    /// Whether something may be at the place that this rule stands for.
    fn may_be_there(&self, home: Option<&str>, look: Option<&dyn Look>) -> bool {
        let place = match (self.start, home) {
            (Start::Root, _) => self.written().to_owned(),
            (Start::Home, Some(home)) => format!("{home}{}", &self.written()[1..]),
            _ => return true,
        };
        place.contains(['*', '?', '[', '{']) || look.is_none_or(|look| look.look(&place) != Presence::Absent)
    }

    /// Whether whoever reads a folder above its place reads what it keeps. Of the system's own files only the modes of
    /// files say that.
    pub(crate) fn is_for_reading(&self, home: Option<&str>, look: Option<&dyn Look>) -> bool {
        let personal = |path: &str| ["/home/", "/Users/", "/root/"].iter().any(|folder| path.starts_with(folder));
        let users = self.layer != Layer::BuiltIn || self.start == Start::Home || personal(self.written());
        users && self.may_be_there(home, look)
    }

    /// Whether nobody lifts it, as what it covers is the gate's own.
    pub(crate) fn keeps_the_gate(&self) -> bool {
        self.pack == super::packs::SELF
    }

    /// Whether it covers a path in one of its forms.
    fn covers(&self, forms: &[Form]) -> bool {
        let fits = |segments: &Vec<Segment>| match self.start {
            Start::Anywhere => {
                forms.iter().any(|form| (0..form.names.len()).any(|from| fit(segments, &form.names[from..])))
            }
            start => forms.iter().any(|form| form.start == start && fit(segments, &form.names)),
        };
        self.alternatives.iter().any(fits)
    }

    /// The segments from the root on of each of its texts, in two parts; none if they begin at a home folder that is not
    /// known.
    fn rooted<'r>(&'r self, home: Option<&'r [Segment]>) -> impl Iterator<Item = (&'r [Segment], &'r [Segment])> {
        let above = match (self.start, home) {
            (Start::Home, home) => home,
            _ => Some(&[][..]),
        };
        above.into_iter().flat_map(|above| self.alternatives.iter().map(move |own| (above, own.as_slice())))
    }

    /// Whether a glob of the shell may stand for a path under this rule.
    fn may_cover(&self, glob: &[Segment], home: Option<&[Segment]>) -> bool {
        self.rooted(home).any(|(above, own)| {
            let length = above.len() + own.len();
            let fits = |from: usize| {
                glob.len() >= from + length
                    && above.iter().chain(own).zip(&glob[from..]).all(|(rule, segment)| segment.may_be(rule))
                    // A name that may be anywhere needs more than a bare `*` to be meant.
                    && (self.is_anchored() || glob[from..].iter().take(length).any(|segment| segment.says_something(length > 1)))
            };
            if self.is_anchored() { fits(0) } else { (0..glob.len()).any(fits) }
        })
    }

    /// Whether a path of which only the end is known may be under this rule: a place in the home folder whose name
    /// is in that end. Those of the system, like `/etc`, are too common as segments of other paths.
    fn may_end(&self, end: &[String], home: Option<&[Segment]>) -> bool {
        // What stands between the unknown part and the name has to be the end of the home folder.
        let above = |at: usize| {
            home.is_none_or(|home| {
                at <= home.len() && home[home.len() - at..].iter().zip(end).all(|(segment, name)| segment.fits(name))
            })
        };
        self.start == Start::Home
            && self.alternatives.iter().any(|segments| {
                !segments.is_empty() && (0..end.len()).any(|from| above(from) && fit(segments, &end[from..]))
            })
    }

    /// Whether this rule's place lies below a path, which may be a glob.
    fn lies_below(&self, path: &[Segment], home: Option<&[Segment]>) -> bool {
        self.is_anchored()
            && self.rooted(home).any(|(above, own)| {
                above.len() + own.len() > path.len()
                    && above.iter().chain(own).zip(path).all(|(rule, segment)| segment.may_be(rule))
            })
    }
}

/// Several path rules, ready to be asked.
#[derive(Debug, Default)]
pub(crate) struct PathRules {
    rules: Vec<PathRule>,
    /// The rules whose texts begin with a plain name, sorted by where and with which.
    by_name: Vec<(Start, String, usize)>,
    /// Those that begin with any name of a kind, like `*.pem`, sorted by where and its ending.
    by_ending: Vec<(Start, String, usize)>,
    /// All others.
    others: Vec<usize>,
}

/// What the first name of a path has to be for a rule to cover it.
enum First<'r> {
    Name(&'r str),
    /// What it has from its last dot on.
    Ending(&'r str),
}

impl<'r> First<'r> {
    fn of(segments: &'r [Segment]) -> Option<Self> {
        match segments.first()? {
            Segment::Text(name) => Some(First::Name(name)),
            Segment::Around(before, behind) if before.is_empty() && behind.rfind('.') == Some(0) => {
                Some(First::Ending(behind))
            }
            _ => None,
        }
    }
}

impl PathRules {
    pub(crate) fn new(rules: Vec<PathRule>) -> Self {
        let (mut by_name, mut by_ending, mut others) = (Vec::new(), Vec::new(), Vec::new());
        for (index, rule) in rules.iter().enumerate() {
            let firsts: Option<Vec<First<'_>>> = rule.alternatives.iter().map(|segments| First::of(segments)).collect();
            let Some(firsts) = firsts else {
                others.push(index);
                continue;
            };
            for first in firsts {
                match first {
                    First::Name(name) => by_name.push((rule.start, name.to_owned(), index)),
                    First::Ending(ending) => by_ending.push((rule.start, ending.to_owned(), index)),
                }
            }
        }
        by_name.sort_unstable();
        by_ending.sort_unstable();
        PathRules { rules, by_name, by_ending, others }
    }

    pub(crate) fn rules(&self) -> &[PathRule] {
        &self.rules
    }

    pub(crate) fn len(&self) -> usize {
        self.rules.len()
    }

    /// Whether a path falls under any of them.
    pub(crate) fn cover(&self, path: &Value, home: Option<&str>) -> bool {
        !self.covering(path, home).is_empty()
    }

    /// The rules that a path falls under.
    pub(crate) fn covering(&self, path: &Value, home: Option<&str>) -> Vec<&PathRule> {
        if self.rules.is_empty() { Vec::new() } else { self.covering_asked(&Asked::of(path, home)) }
    }

    /// The same, of a path that was read before.
    pub(crate) fn covering_asked(&self, asked: &Asked) -> Vec<&PathRule> {
        let mut found = Vec::new();
        self.add_exact(&asked.exact, &mut found);
        if asked.is_glob {
            let home = asked.home.as_deref();
            found.extend((0..self.rules.len()).filter(|index| self.rules[*index].may_cover(&asked.segments, home)));
        }
        if !asked.end.is_empty() {
            let rules = self.rules.iter().enumerate();
            let end = [Form { start: Start::Root, names: asked.end.clone() }];
            let may = |rule: &PathRule| {
                if rule.is_anchored() { rule.may_end(&asked.end, asked.home.as_deref()) } else { rule.covers(&end) }
            };
            found.extend(rules.filter(|(_, rule)| may(rule)).map(|(index, _)| index));
        }
        found.sort_unstable();
        found.dedup();
        let sample = asked.sample;
        let rules = found.into_iter().map(|index| &self.rules[index]);
        rules
            .filter(|rule| {
                !(sample && matches!(rule.policy, Policy::ZeroAccess | Policy::NoRead) && !rule.is_anchored())
            })
            .collect()
    }

    /// The rules whose place lies below a path, which may be a glob, so that they fall or are read with it. Of a path that
    /// is known in part there are none.
    pub(crate) fn below(&self, path: &str, home: Option<&str>) -> Vec<&PathRule> {
        match Asked::above(path, home) {
            Some(asked) if !self.rules.is_empty() => self.below_asked(&asked).collect(),
            _ => Vec::new(),
        }
    }

    /// The same, of a path that was read before.
    pub(crate) fn below_asked<'r, 'a>(&'r self, asked: &'a Asked) -> impl Iterator<Item = &'r PathRule> + use<'r, 'a> {
        self.rules.iter().filter(|rule| rule.lies_below(&asked.segments, asked.home.as_deref()))
    }

    /// The rules on files of a name, which may be a glob, somewhere below a path.
    pub(crate) fn named_below(&self, path: &str, name: &str, home: Option<&str>) -> Vec<&PathRule> {
        let own = Segment::new(name);
        let is_name = matches!(own, Segment::Text(_));
        let mut found: Vec<&PathRule> = match own {
            Segment::Text(_) => self.covering(&Value::Known(format!("/{name}")), None),
            _ if own.says_something(false) => self.rules.iter().collect(),
            _ => Vec::new(),
        };
        let alone = |rule: &PathRule| {
            rule.alternatives.iter().any(|segments| matches!(segments.as_slice(), [one] if own.may_be(one)))
        };
        found.retain(|rule| !rule.is_anchored() && (is_name || alone(rule)));
        let last = |rule: &PathRule| {
            rule.alternatives.iter().any(|segments| segments.last().is_some_and(|last| own.may_be(last)))
        };
        found.extend(self.below(path, home).into_iter().filter(|rule| last(rule)));
        found
    }

    fn add_exact(&self, forms: &[Form], found: &mut Vec<usize>) {
        if forms.is_empty() {
            return;
        }
        let add = |index: &usize, found: &mut Vec<usize>| {
            if self.rules[*index].covers(forms) {
                found.push(*index);
            }
        };
        let anywhere = forms.first().into_iter().flat_map(|form| &form.names).map(|name| (Start::Anywhere, name));
        let anchored = forms.iter().filter_map(|form| Some((form.start, form.names.first()?)));
        let mut look_up = |sorted: &[(Start, String, usize)], start: Start, text: &str| {
            let first = sorted.partition_point(|(known, own, _)| (*known, own.as_str()) < (start, text));
            let same = sorted[first..].iter().take_while(|(known, own, _)| (*known, own.as_str()) == (start, text));
            same.for_each(|(_, _, index)| add(index, found));
        };
        for (start, name) in anywhere.chain(anchored) {
            look_up(&self.by_name, start, name);
            if let Some(dot) = name.rfind('.') {
                look_up(&self.by_ending, start, &name[dot..]);
            }
        }
        self.others.iter().for_each(|index| add(index, found));
    }
}

/// A path as rules are compared with it.
#[derive(Debug)]
struct Form {
    start: Start,
    /// In lower case.
    names: Vec<String>,
}

/// The path from the root, and from the home folder if it lies there.
fn forms(path: &str, home: Option<&str>) -> Vec<Form> {
    let form = |start, path: &str| Form { start, names: names(path).map(str::to_lowercase).collect() };
    let mut forms = vec![form(Start::Root, path)];
    let home = home.map(|home| home.trim_end_matches('/')).filter(|home| !home.is_empty());
    if let Some(rest) = home.and_then(|home| path.strip_prefix(home))
        && (rest.is_empty() || rest.starts_with('/'))
    {
        forms.push(form(Start::Home, rest));
    }
    forms
}

/// `.env.example` and its like hold no secrets, nor does the script that switches a virtual environment on.
fn is_sample(path: &Value) -> bool {
    let text = path.text();
    if text.ends_with("/bin/activate") {
        return true;
    }
    let name = text.rsplit('/').next().unwrap_or("");
    name.rsplit('.').next().is_some_and(|end| name.len() > end.len() && SAMPLES.contains(&end))
}

/// What is asked of path rules about a path.
#[derive(Debug)]
pub(crate) struct Asked {
    /// As it is written, or the folder that is known of it.
    exact: Vec<Form>,
    /// Of a path that is not only known in part.
    segments: Vec<Segment>,
    is_glob: bool,
    home: Option<Vec<Segment>>,
    /// What stands after the last unknown part.
    end: Vec<String>,
    sample: bool,
}

/// A path, the home folder, and what is asked about the path.
type Read = (Value, Option<String>, Rc<Asked>);

/// How many readings of paths are kept: a command has few, and each is put to the rules of every pack and file.
const KEPT: usize = 8;

thread_local! {
    // Reading a path, and above all compiling its globs, costs more than comparing it.
    static READ: RefCell<VecDeque<Read>> = const { RefCell::new(VecDeque::new()) };
}

impl Asked {
    pub(crate) fn of(path: &Value, home: Option<&str>) -> Rc<Asked> {
        READ.with_borrow_mut(|read| {
            let same = read.iter().find(|(known, at_home, _)| known == path && at_home.as_deref() == home);
            if let Some((_, _, asked)) = same {
                return Rc::clone(asked);
            }
            let asked = Rc::new(Asked::new(path, home));
            read.truncate(KEPT - 1);
            read.push_front((path.clone(), home.map(str::to_owned), Rc::clone(&asked)));
            asked
        })
    }

    /// A path, which may be a glob, below which something may lie. There is none if it is known in part only.
    pub(crate) fn above(path: &str, home: Option<&str>) -> Option<Rc<Asked>> {
        (!path.contains(Value::HOLE)).then(|| Asked::of(&Value::Pattern(path.to_owned()), home))
    }

    fn new(path: &Value, home: Option<&str>) -> Self {
        let sample = is_sample(path);
        let mut asked =
            Asked { exact: Vec::new(), segments: Vec::new(), is_glob: false, home: None, end: Vec::new(), sample };
        match path {
            Value::Known(text) => asked.exact = forms(text, home),
            Value::Pattern(text) => {
                asked.exact = forms(text, home);
                asked.segments = segments(text);
                asked.is_glob = true;
                asked.home = home.map(segments);
            }
            Value::Unknown { shape, .. } => {
                // What stands before the first unknown part is a folder above the path; what stands after the
                // last one is the path's end.
                if let Some((folder, _)) = shape.split(Value::HOLE).next().and_then(|start| start.rsplit_once('/')) {
                    asked.exact = forms(folder, home);
                }
                if let Some((_, end)) = shape.rsplit(Value::HOLE).next().and_then(|end| end.split_once('/')) {
                    asked.end = names(end).map(str::to_lowercase).collect();
                    asked.home = home.map(segments);
                }
            }
        }
        asked
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
            ("{*.pem,a}", known("/p/x.y.pem"), true),
            ("{*.pem,a}", known("/p/b/a"), true),
            ("{*.pem,a}", known("/p/pem"), false),
            ("~/*.pem", known("/home/dev/x.pem"), true),
            ("~/*.pem", known("/home/dev/b/x.pem"), false),
            ("*.tar.gz", known("/p/x.tar.gz"), true),
            ("*.d/x", known("/p/a.d/x/y"), true),
            ("*.d/x", known("/p/a.d/y"), false),
            (".env", known("/p/.env/bin/activate"), false),
            (".env", known("/p/.env/production"), true),
            ("*.pem", known("/p/a/server.pem"), true),
            ("*.pem", Value::Pattern("/p/*.pem".into()), true),
            ("*.pem", Value::Pattern("/p/*".into()), false),
            ("dist/", known("/p/sub/dist/a.js"), true),
            ("dist/", known("/p/distant/a.js"), false),
            ("/etc/", known("/etc/passwd"), true),
            ("/etc/", known("/p/etc/passwd"), false),
            ("./a/b", known("/p/a/b"), true),
            ("x/a.json", Value::Pattern("/p/**/*.json".into()), false),
            ("x/a.json", Value::Pattern("/p/*/a*.json".into()), true),
            ("x/a.json", Value::Pattern("/p/x/*.json".into()), true),
            ("~/bin/", Value::Unknown { why: Why::Expansion, shape: "\0/bin/x".into() }, true),
            ("~/bin/", Value::Unknown { why: Why::Expansion, shape: "\0/dev/bin/x".into() }, true),
            ("~/bin/", Value::Unknown { why: Why::Expansion, shape: "\0/usr/local/bin/x".into() }, false),
            (".env", Value::Pattern("/p/a[].name=x".into()), false),
            (".env", Value::Pattern("/p/.en[v]".into()), true),
            (".env", Value::Unknown { why: Why::Expansion, shape: "\0/.env".into() }, true),
            ("/etc/", Value::Unknown { why: Why::Expansion, shape: "/etc/\0".into() }, true),
            ("/etc/", Value::Unknown { why: Why::Expansion, shape: "\0".into() }, false),
        ];
        for (rule, path, expected) in cases {
            let rules = PathRules::new(vec![PathRule::new(Policy::ZeroAccess, rule).unwrap()]);
            assert_eq!(!rules.covering(&path, Some("/home/dev")).is_empty(), expected, "{rule} {path:?}");
        }
    }

    #[test]
    fn removing_a_folder_removes_what_is_protected_below_it() {
        let rules = PathRules::new(vec![PathRule::new(Policy::NoDelete, "~/.ssh/").unwrap()]);
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
        let rules = PathRules::new(rules.into());
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

//! Which rule a path falls under.
//!
//! A rule names a file or a folder, and covers everything below it. `/x` and `~/x` stand for one place; anything
//! else for that name at any depth, so `.env` is also `sub/.env` but never `.environment`. `*` stays within a
//! part of a path, `**` does not. Letters match whatever their case: on some file systems `.SSH` is `.ssh`.

use std::borrow::Cow;
use std::cell::OnceCell;

use toolgate_shell::{FileOracle, Presence, Value, Why};

use super::glob::{Segment, alternatives, fit, segments};
use super::path_index::{Index, covering_all};
use super::path_query::{Names, PathQuery};
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
            Policy::ZeroAccess => "must not be accessed",
            Policy::ReadOnly => "is read-only",
            Policy::NoDelete => "must not be deleted or moved",
            Policy::NoRead => "must not be read, sent or passed to another program",
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
    pub(super) alternatives: Vec<Vec<Segment>>,
    pub(super) start: Start,
}

/// Where a path begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Start {
    Root,
    /// The home folder, as `~`.
    Home,
    Anywhere,
}

impl PathRule {
    pub(crate) fn new(policy: Policy, source: &str) -> Result<Self, String> {
        let path = source.trim().trim_end_matches('/').trim_start_matches("./");
        if path.is_empty() {
            return Err("a path rule must not be empty or `/`: it would match everything".to_owned());
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

    pub(crate) fn is_anchored(&self) -> bool {
        self.start != Start::Anywhere
    }

    /// Whether a glob that may stand for this rule's name does, as far as the file system tells: `*.yml` is
    /// `toolgate.yml` only where there is one. `None` if it cannot be told, and the name is not much of the glob.
    pub(crate) fn is_meant(&self, pattern: &str, around: &Around<'_>) -> Option<bool> {
        let Around { home, look, .. } = *around;
        if self.is_anchored() {
            return Some(self.may_be_there(home, look));
        }
        let first = pattern.find(['*', '?', '[', '{']).unwrap_or(pattern.len());
        // Of a whole tree the top is looked at.
        let rest = pattern.get(first..).unwrap_or_default().trim_start_matches("**/");
        let name = self.written().trim_start_matches("**/");
        let kind = rest.starts_with("*.") && !rest.contains('/');
        // A secret may be in any of the folders, and where it is not, the text itself may put one.
        let secret = matches!(self.policy, Policy::ZeroAccess | Policy::NoRead);
        if secret && !kind || name.contains(['/', '{']) || name.contains(['*', '?', '[']) && !kind {
            return Some(true);
        }
        if name.contains(['*', '?', '[']) {
            return None;
        }
        let Some(look) = look else { return if kind { None } else { Some(true) } };
        // Where it lies is not known.
        let Some((folder, last)) = pattern.rsplit_once('/').filter(|_| pattern.starts_with('/')) else {
            return if kind { None } else { Some(true) };
        };
        let said = last.find(['*', '?', '[', '{']).unwrap_or(last.len());
        // Whoever says so much of a name means it.
        if said >= Self::SAID || last.contains(['[', '{', '\\']) {
            return Some(true);
        }
        let one = !folder.contains(['*', '?', '[', '{']);
        let mut places: Vec<String> = Vec::new();
        if kind || one {
            let folder = if kind { pattern.get(..first).unwrap_or_default().trim_end_matches('/') } else { folder };
            places.push(format!("{folder}/{name}"));
        }
        if !one {
            // Of many folders those in which it would count.
            let segments = segments(pattern);
            let counts = [around.workspace, home].into_iter().flatten().map(|folder| format!("{folder}/{name}"));
            places.extend(counts.filter(|path| fit(&segments, &Names::of(path, None).names)));
        }
        let mut meant = Some(false);
        for place in places {
            match look.look(&place) {
                Presence::Absent => {}
                Presence::Unknown => meant = None,
                _ => return Some(true),
            }
        }
        meant
    }

    /// How many letters of a name say which one is meant.
    const SAID: usize = 4;

    /// As it was written, without what does not matter.
    fn written(&self) -> &str {
        self.source.trim().trim_end_matches('/').trim_start_matches("./")
    }

    /// Whether something may be at the place that this rule stands for.
    fn may_be_there(&self, home: Option<&str>, look: Option<&dyn FileOracle>) -> bool {
        let place = match (self.start, home) {
            (Start::Root, _) => self.written().to_owned(),
            (Start::Home, Some(home)) => format!("{}{}", home.trim_end_matches('/'), &self.written()[1..]),
            _ => return true,
        };
        place.contains(['*', '?', '[', '{']) || look.is_none_or(|look| look.look(&place) != Presence::Absent)
    }

    /// Whether whoever reads a folder above its place reads what it keeps. Of the system's own files only the modes of
    /// files say that.
    pub(crate) fn is_for_reading(&self, home: Option<&str>, look: Option<&dyn FileOracle>) -> bool {
        let personal = |path: &str| ["/home/", "/Users/", "/root/"].iter().any(|folder| path.starts_with(folder));
        let users = self.layer != Layer::BuiltIn || self.start == Start::Home || personal(self.written());
        users && self.may_be_there(home, look)
    }

    /// Whether nobody lifts it, as what it covers is the gate's own.
    pub(crate) fn keeps_the_gate(&self) -> bool {
        self.pack == super::packs::SELF
    }

    /// Whether a glob may stand for its name only as for every other one: `ls -d .*`.
    pub(crate) fn is_any_name(&self, pattern: &str) -> bool {
        let last = pattern.rsplit('/').next().unwrap_or_default();
        !self.is_anchored() && !self.written().contains('/') && !last.contains(char::is_alphanumeric)
    }

    /// Whether it covers a path that is known.
    pub(super) fn covers(&self, path: &Names) -> bool {
        // A file of the gate's that may be anywhere is no folder of that name: `src/bin/toolgate/main.rs`.
        let is_file = self.keeps_the_gate() && !self.is_anchored() && !self.source.ends_with('/');
        let from = |at: usize, segments: &[Segment]| {
            let names = path.names.get(at..).unwrap_or_default();
            fit(segments, names) && (!is_file || names.len() == segments.len())
        };
        self.alternatives.iter().any(|segments| match self.start {
            Start::Anywhere => (0..path.names.len()).any(|at| from(at, segments)),
            Start::Root => from(0, segments),
            Start::Home => path.home.is_some_and(|at| from(at, segments)),
        })
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
        // A folder of everybody's name is not told by it: `bin/app` below a folder that is not known.
        let says_nothing = |segments: &[Segment]| matches!(segments, [Segment::Text(name)] if !name.starts_with('.'));
        self.start == Start::Home
            && self.alternatives.iter().any(|segments| {
                let first = usize::from(says_nothing(segments));
                !segments.is_empty() && (first..end.len()).any(|from| above(from) && fit(segments, &end[from..]))
            })
    }

    /// Whether a path that is not certain may be under this rule.
    pub(super) fn may_be_meant(&self, asked: &PathQuery) -> bool {
        let home = asked.home.as_deref();
        let by_end = || match self.is_anchored() {
            true => self.may_end(&asked.end, home),
            false => self.covers(&Names { names: asked.end.clone(), home: None }),
        };
        asked.is_glob && self.may_cover(&asked.segments, home)
            || !asked.end.is_empty() && (by_end() || self.fits_names(asked))
    }

    /// Whether a path of which whole names are not known fits this rule where it says no name: `/proc/$PPID/environ`.
    fn fits_names(&self, asked: &PathQuery) -> bool {
        let fits = |(segment, name): (&Segment, &Option<String>)| match name {
            Some(name) => segment.fits(name),
            None => !matches!(segment, Segment::Text(_)),
        };
        self.start == Start::Root
            && self
                .alternatives
                .iter()
                .any(|segments| segments.len() <= asked.names.len() && segments.iter().zip(&asked.names).all(fits))
    }

    /// Whether it is about more than secrets, which examples of them are not.
    pub(super) fn keeps_samples(&self) -> bool {
        !matches!(self.policy, Policy::ZeroAccess | Policy::NoRead) || self.is_anchored()
    }

    /// Whether this rule's place lies below a path, which may be a glob.
    pub(super) fn lies_below(&self, path: &[Segment], home: Option<&[Segment]>) -> bool {
        self.is_anchored()
            && self.rooted(home).any(|(above, own)| {
                above.len() + own.len() > path.len()
                    && above.iter().chain(own).zip(path).all(|(rule, segment)| segment.may_be(rule))
            })
    }
}

/// What is around a call, by which a glob is told from a name.
#[derive(Clone, Copy)]
pub(crate) struct Around<'a> {
    pub(crate) home: Option<&'a str>,
    pub(crate) workspace: Option<&'a str>,
    pub(crate) look: Option<&'a dyn FileOracle>,
}

/// What may be a glob's text: of what a loop goes through only the glob is known.
pub(crate) fn as_glob(path: &Value) -> Option<Cow<'_, str>> {
    match path {
        Value::Pattern(pattern) => Some(Cow::Borrowed(pattern)),
        Value::Unknown { why: Why::Glob, shape } => Some(Cow::Owned(shape.replace(Value::HOLE, "*"))),
        _ => None,
    }
}

/// Several path rules, ready to be asked.
#[derive(Clone, Debug, Default)]
pub(crate) struct PathRules {
    rules: Vec<PathRule>,
    /// Made when it is asked by itself; most lists are only asked with others.
    index: OnceCell<Index>,
    /// Its number among many lists that are asked together.
    pub(super) number: Option<usize>,
}

impl PathRules {
    pub(crate) fn new(rules: Vec<PathRule>) -> Self {
        PathRules { rules, index: OnceCell::new(), number: None }
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
        if self.rules.is_empty() { Vec::new() } else { self.covering_asked(&PathQuery::of(path, home)) }
    }

    pub(super) fn covering_asked(&self, asked: &PathQuery) -> Vec<&PathRule> {
        let index = self.index.get_or_init(|| {
            let mut index = Index::default();
            index.add(0, &self.rules);
            index
        });
        covering_all(index, |_| Some(self), 1, asked)
    }

    /// The rules whose place lies below a path, which may be a glob, so that they fall or are read with it. Of a path that
    /// is known in part there are none.
    pub(crate) fn below(&self, path: &str, home: Option<&str>) -> Vec<&PathRule> {
        match PathQuery::above(path, home) {
            Some(asked) if !self.rules.is_empty() => self.below_asked(&asked).collect(),
            _ => Vec::new(),
        }
    }

    /// The same, of a path that was read before.
    pub(crate) fn below_asked<'r, 'a>(
        &'r self,
        asked: &'a PathQuery,
    ) -> impl Iterator<Item = &'r PathRule> + use<'r, 'a> {
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
}

#[cfg(test)]
mod tests {
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
            (".env.*", known("/p/.env.d.ts"), false),
            (".env.*", known("/p/.env.schema"), false),
            (".env.*", known("/p/.env.keys"), true),
            (".env.*", known("/p/.env.ts.local"), true),
            ("*.pem", known("/p/ts.pem"), true),
            ("id_rsa*", known("/p/id_rsa.ts"), true),
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
            ("My.app\\ Data/", known("/p/my.app data/x"), true),
            ("*.sec\\ ret", known("/p/x.sec ret"), true),
            ("*-key.pem", known("/p/a-key.pem"), true),
            ("*private*.pem", known("/p/a.private.b.pem"), true),
            ("service*.json", known("/p/service.x.json"), true),
            ("*.[pk]em", known("/p/a.pem"), true),
            ("**/hooks/x", known("/p/q/hooks/x"), true),
            ("x/a.json", Value::Pattern("/p/**/*.json".into()), false),
            ("x/a.json", Value::Pattern("/p/*/a*.json".into()), true),
            ("x/a.json", Value::Pattern("/p/x/*.json".into()), true),
            ("~/bin/", Value::Unknown { why: Why::Expansion, shape: "\0/bin/x".into() }, false),
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
    fn a_folder_is_no_file_of_the_gate() {
        let mut rule = PathRule::new(Policy::ReadOnly, "bin/toolgate").unwrap();
        rule.pack = super::super::packs::SELF.to_owned();
        let rules = PathRules::new(vec![rule]);
        let cases = [
            (known("/usr/local/bin/toolgate"), true),
            (known("/p/src/bin/toolgate/main.rs"), false),
            (Value::Unknown { why: Why::Expansion, shape: "\0/bin/toolgate".into() }, true),
            (Value::Pattern("/usr/bin/toolg*".into()), true),
        ];
        for (path, expected) in cases {
            assert_eq!(rules.cover(&path, None), expected, "{path:?}");
        }
    }

    #[test]
    fn the_root_may_be_the_home_folder() {
        let rules = PathRules::new(vec![PathRule::new(Policy::ZeroAccess, "~/.kube/").unwrap()]);
        let cases = [("/.kube/config", true), ("/.kube", true), ("/x/.kube/config", false), ("/kube", false)];
        for (path, expected) in cases {
            assert_eq!(rules.cover(&known(path), Some("/")), expected, "{path}");
            assert!(!rules.cover(&known(path), Some("")), "{path}");
        }
        assert!(rules.cover(&Value::Pattern("/.kub*/config".into()), Some("/")));
        assert_eq!(rules.below("/", Some("/")).len(), 1);
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

//! A path rule, and which paths it covers.
//!
//! A rule names a file or a folder, and covers everything below it. `/x` and `~/x` stand for one place; anything
//! else for that name at any depth, so `.env` is also `sub/.env` but never `.environment`. `*` stays within a
//! part of a path, `**` does not. Letters match whatever their case: on some file systems `.SSH` is `.ssh`.

use std::borrow::Cow;

use toolgate_shell::{FileOracle, Presence, Value, Why};

use super::glob::{Segment, alternatives, fit, segments};
use super::path_query::{Names, PathQuery};
use super::rule_id::{Layer, Policy, RuleId};

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
    /// Whether nobody lifts it, as what it covers is the gate's own.
    pub(crate) keeps_the_gate: bool,
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
        let (ask, reason, layer, keeps_the_gate) = (false, None, Layer::BuiltIn, false);
        Ok(PathRule { policy, source: source.to_owned(), ask, reason, layer, keeps_the_gate, alternatives, start })
    }

    /// What tells it from others.
    pub(crate) fn id(&self) -> RuleId {
        RuleId::Path { policy: self.policy, path: self.source.clone(), keeps_the_gate: self.keeps_the_gate }
    }

    /// Whether it says that it is about worktrees.
    pub(crate) fn means_worktrees(&self) -> bool {
        self.source.contains("worktree")
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
        // `.[!.]*` stands for every hidden name.
        let says_nothing = !last.contains(char::is_alphanumeric) && !secret;
        // Whoever says so much of a name means it.
        if said >= Self::SAID || last.contains(['[', '{', '\\']) && !says_nothing {
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

    /// Whether a glob may stand for its name only as for every other one: `ls -d .*`.
    pub(crate) fn is_any_name(&self, pattern: &str) -> bool {
        let last = pattern.rsplit('/').next().unwrap_or_default();
        !self.is_anchored() && !self.written().contains('/') && !last.contains(char::is_alphanumeric)
    }

    /// Whether it covers a path that is known.
    pub(super) fn covers(&self, path: &Names) -> bool {
        // A file of the gate's that may be anywhere is no folder of that name: `src/bin/toolgate/main.rs`.
        let is_file = self.keeps_the_gate && !self.is_anchored() && !self.source.ends_with('/');
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

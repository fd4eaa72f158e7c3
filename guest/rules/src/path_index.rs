//! Which of very many path rules a path falls under, and which lie below it, looked up by what a rule's text has as a plain name.
//! What one rule covers is said in `path_rule`.

use std::cell::RefCell;
use std::rc::Rc;

use rustc_hash::FxHashMap;

use super::glob::Segment;
use super::path_query::{Names, PathQuery};
use super::path_rule::{PathRule, Start};

/// By what a path has to begin with, or to have somewhere, for a rule to cover it: a path is looked up once, however many
/// lists of rules there are.
#[derive(Clone, Debug, Default)]
pub(crate) struct Index {
    /// The rules whose texts begin with a plain name, or have one.
    by_name: FxHashMap<String, Vec<Entry>>,
    /// Those that begin with any name of a kind, like `*-key.pem`, by its ending.
    by_ending: FxHashMap<String, Vec<Entry>>,
    /// Those that begin with another glob.
    by_glob: Vec<Globbed>,
    /// Which of these a name fits, of the names that were asked about: most are those of the same few folders again.
    fitting: RefCell<FxHashMap<String, Rc<[usize]>>>,
    /// All others.
    others: Vec<Entry>,
}

/// A rule that begins with one of these globs.
#[derive(Clone, Debug)]
struct Globbed {
    entry: Entry,
    firsts: Vec<Segment>,
}

/// How many names are kept with what they fit.
const KEPT: usize = 1_024;

/// Longest of them, in bytes: file systems have no longer ones.
const LONGEST_KEPT: usize = 255;

/// A rule, by the number of its list and its own in that, and where a path has to have what it is found by.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    pub(super) list: usize,
    pub(super) rule: usize,
    start: Start,
}

impl Index {
    /// Adds the rules of a list.
    pub(crate) fn add(&mut self, list: usize, rules: &[PathRule]) {
        for (rule, one) in rules.iter().enumerate() {
            let entry = Entry { list, rule, start: one.start };
            let keys: Option<Vec<Key<'_>>> = one.alternatives.iter().map(|segments| Key::of(segments)).collect();
            let Some(keys) = keys else {
                let first = |segments: &Vec<Segment>| {
                    // A `**` fits nothing as well.
                    segments.first().filter(|first| !matches!(first, Segment::Deep)).cloned()
                };
                match one.alternatives.iter().map(first).collect() {
                    Some(firsts) => self.by_glob.push(Globbed { entry, firsts }),
                    None => self.others.push(entry),
                }
                self.fitting.get_mut().clear();
                continue;
            };
            for key in keys {
                let (known, start) = match key {
                    Key::First(name) => (self.by_name.entry(name.to_owned()), entry.start),
                    Key::Ending(ending) => (self.by_ending.entry(ending.to_owned()), entry.start),
                    Key::Inside(name) => (self.by_name.entry(name.to_owned()), Start::Anywhere),
                };
                known.or_default().push(Entry { start, ..entry });
            }
        }
    }

    /// The rules that a path falls under as far as it is certain, by the numbers of their lists and theirs in those.
    pub(super) fn covering<'r>(
        &self,
        path: &Names,
        rule: impl Fn(Entry) -> Option<&'r PathRule>,
    ) -> Vec<(usize, usize)> {
        let mut found = Vec::new();
        let mut add = |entry: &Entry| {
            if rule(*entry).is_some_and(|rule| rule.covers(path)) {
                found.push((entry.list, entry.rule));
            }
        };
        for (at, name) in path.names.iter().enumerate() {
            let ending = name.rfind('.').and_then(|dot| self.by_ending.get(&name[dot..]));
            let known = [self.by_name.get(name), ending].into_iter().flatten().flatten();
            let globbed = self.fitting(name);
            let globbed = globbed.iter().filter_map(|number| Some(&self.by_glob.get(*number)?.entry));
            for entry in known.chain(globbed) {
                let begins = match entry.start {
                    Start::Anywhere => true,
                    Start::Root => at == 0,
                    Start::Home => path.home == Some(at),
                };
                if begins {
                    add(entry);
                }
            }
        }
        self.others.iter().for_each(add);
        found
    }

    /// The numbers of those in `by_glob` that a name fits.
    fn fitting(&self, name: &str) -> Rc<[usize]> {
        if let Some(known) = self.fitting.borrow().get(name) {
            return Rc::clone(known);
        }
        let fits = |globbed: &Globbed| globbed.firsts.iter().any(|first| first.fits(name));
        let all = self.by_glob.iter().enumerate();
        let found: Rc<[usize]> = all.filter(|(_, globbed)| fits(globbed)).map(|(number, _)| number).collect();
        if name.len() <= LONGEST_KEPT {
            let mut fitting = self.fitting.borrow_mut();
            if fitting.len() >= KEPT {
                fitting.clear();
            }
            fitting.insert(name.to_owned(), Rc::clone(&found));
        }
        found
    }
}

/// The rules whose place is known from the root or the home folder on, by the first name of that: for what lies below a folder no
/// others are looked at.
#[derive(Clone, Debug, Default)]
pub(crate) struct Anchored {
    roots: FxHashMap<String, Vec<Numbers>>,
    homes: FxHashMap<String, Vec<Numbers>>,
    /// Those that begin with a glob.
    others: Vec<Numbers>,
}

/// A rule, by the number of its list and its own in that.
type Numbers = (usize, usize);

impl Anchored {
    /// Adds the rules of a list.
    pub(crate) fn add(&mut self, list: usize, rules: &[PathRule]) {
        for (number, rule) in rules.iter().enumerate() {
            let known = match rule.start {
                Start::Root => &mut self.roots,
                Start::Home => &mut self.homes,
                Start::Anywhere => continue,
            };
            let first = |segments: &Vec<Segment>| match segments.first() {
                Some(Segment::Text(name)) => Some(name.clone()),
                _ => None,
            };
            let Some(mut firsts) = rule.alternatives.iter().map(first).collect::<Option<Vec<String>>>() else {
                self.others.push((list, number));
                continue;
            };
            firsts.sort_unstable();
            firsts.dedup();
            for first in firsts {
                known.entry(first).or_default().push((list, number));
            }
        }
    }

    /// Those that may lie below a path, in their order; `None` if that may be any.
    fn may_lie_below(&self, path: &[Segment], home: Option<&[Segment]>) -> Option<Vec<Numbers>> {
        let Some(Segment::Text(first)) = path.first() else { return None };
        let mut found = self.others.clone();
        found.extend(self.roots.get(first).into_iter().flatten());
        if let Some(home) = home.filter(|home| path.iter().zip(*home).all(|(name, home)| name.may_be(home))) {
            match path.get(home.len()) {
                Some(Segment::Text(next)) => found.extend(self.homes.get(next).into_iter().flatten()),
                _ => return None,
            }
        }
        found.sort_unstable();
        Some(found)
    }

    /// The rules of those lists below `count` that there are whose place lies below a path that was read as [`PathQuery::above`] does,
    /// in their order.
    pub(crate) fn below<'r>(
        &self,
        lists: impl Fn(usize) -> Option<&'r [PathRule]>,
        count: usize,
        asked: &PathQuery,
    ) -> Vec<&'r PathRule> {
        let home = asked.home.as_deref();
        match self.may_lie_below(&asked.segments, home) {
            Some(numbers) => {
                let rules = numbers.into_iter().filter_map(|(list, rule)| lists(list)?.get(rule));
                rules.filter(|rule| rule.lies_below(&asked.segments, home)).collect()
            }
            None => (0..count).filter_map(lists).flat_map(|rules| lying_below(rules, asked)).collect(),
        }
    }
}

/// The rules that a path falls under, of those lists below `count` that there are, in their order. The index may have lists
/// that are left out.
pub(crate) fn covering_all<'r>(
    index: &Index,
    lists: impl Fn(usize) -> Option<&'r [PathRule]>,
    count: usize,
    asked: &PathQuery,
) -> Vec<&'r PathRule> {
    let exact = asked.exact.as_ref();
    let mut found = exact.map(|path| index.covering(path, |entry| lists(entry.list)?.get(entry.rule)));
    let found = found.get_or_insert_default();
    if asked.is_glob || !asked.end.is_empty() {
        for list in 0..count {
            let Some(rules) = lists(list) else { continue };
            let rules = rules.iter().enumerate();
            found.extend(rules.filter(|(_, rule)| rule.may_be_meant(asked)).map(|(rule, _)| (list, rule)));
        }
    }
    found.sort_unstable();
    found.dedup();
    let rules = found.iter().filter_map(|(list, rule)| lists(*list)?.get(*rule));
    rules.filter(|rule| !asked.sample || rule.keeps_samples()).collect()
}

/// The rules of a list whose place lies below a path that was read as [`PathQuery::above`] does.
pub(super) fn lying_below<'r, 'a>(
    rules: &'r [PathRule],
    asked: &'a PathQuery,
) -> impl Iterator<Item = &'r PathRule> + use<'r, 'a> {
    rules.iter().filter(|rule| rule.lies_below(&asked.segments, asked.home.as_deref()))
}

/// What a path has to have for a rule to cover it.
enum Key<'r> {
    /// This name as its first.
    First(&'r str),
    /// A first name that ends so, from its last dot on.
    Ending(&'r str),
    /// This name somewhere.
    Inside(&'r str),
}

impl<'r> Key<'r> {
    fn of(segments: &'r [Segment]) -> Option<Self> {
        let behind = match segments.first()? {
            Segment::Text(name) => return Some(Key::First(name)),
            Segment::Around(_, behind) => behind.as_str(),
            Segment::Glob(text, _) => text.rsplit(['*', '?', ']', '}']).next().unwrap_or_default(),
            Segment::Deep => "",
        };
        let inside = || {
            segments.iter().find_map(|segment| match segment {
                Segment::Text(name) => Some(Key::Inside(name)),
                _ => None,
            })
        };
        // What is escaped in a glob stands otherwise in a name.
        let dot = behind.rfind('.').filter(|_| !behind.contains('\\'));
        dot.map(|dot| Key::Ending(&behind[dot..])).or_else(inside)
    }
}

//! Which of very many path rules a path falls under, and which lie below it, looked up by what a rule's text has as a plain name.
//! What one rule covers is said in `path_rules`.

use std::cell::RefCell;
use std::rc::Rc;

use rustc_hash::FxHashMap;
use toolgate_shell::Value;

use super::glob::Segment;
use super::path_query::{Names, PathQuery};
use super::path_rules::{PathRule, PathRules, Start};

/// Many lists of path rules, each of which is asked whether it covers a path.
#[derive(Clone, Debug, Default)]
pub(crate) struct Lists {
    lists: Vec<Rc<PathRules>>,
    index: Index,
}

/// A path as lists are asked about it, one after the other.
#[derive(Debug)]
pub(crate) struct Answered {
    asked: Rc<PathQuery>,
    /// The numbers of those lists that cover it; `None` where globs or ends of paths have to be compared.
    lists: Option<Vec<usize>>,
}

impl Lists {
    /// Takes a list in.
    pub(crate) fn add(&mut self, rules: &mut Rc<PathRules>) {
        let number = self.lists.len();
        // One that somebody else holds already is asked by itself.
        if let Some(own) = Rc::get_mut(rules) {
            own.number = Some(number);
            self.index.add(number, own.rules());
            self.lists.push(Rc::clone(rules));
        }
    }

    /// Finds out which lists cover a path.
    pub(crate) fn ask(&self, path: &Value, home: Option<&str>) -> Answered {
        let asked = PathQuery::of(path, home);
        let certain = asked.exact.as_ref().filter(|_| !asked.is_glob && asked.end.is_empty());
        let lists = certain.map(|names| {
            let rule = |entry: Entry| {
                let rule = self.lists.get(entry.list)?.rules().get(entry.rule);
                rule.filter(|rule| !asked.sample || rule.keeps_samples())
            };
            self.index.covering(names, rule).into_iter().map(|(list, _)| list).collect()
        });
        Answered { asked, lists }
    }
}

impl Answered {
    /// Whether a list covers the path.
    pub(crate) fn is_under(&self, rules: &PathRules) -> bool {
        match (&self.lists, rules.number) {
            (Some(lists), Some(number)) => lists.contains(&number),
            _ => !rules.covering_asked(&self.asked).is_empty(),
        }
    }
}

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
struct Entry {
    list: usize,
    rule: usize,
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
    fn covering<'r>(&self, path: &Names, rule: impl Fn(Entry) -> Option<&'r PathRule>) -> Vec<(usize, usize)> {
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
        lists: impl Fn(usize) -> Option<&'r PathRules>,
        count: usize,
        asked: &PathQuery,
    ) -> Vec<&'r PathRule> {
        let home = asked.home.as_deref();
        match self.may_lie_below(&asked.segments, home) {
            Some(numbers) => {
                let rules = numbers.into_iter().filter_map(|(list, rule)| lists(list)?.rules().get(rule));
                rules.filter(|rule| rule.lies_below(&asked.segments, home)).collect()
            }
            None => (0..count).filter_map(lists).flat_map(|list| list.below_asked(asked)).collect(),
        }
    }
}

/// The rules that a path falls under, of those lists below `count` that there are, in their order. The index may have lists
/// that are left out.
pub(crate) fn covering_all<'r>(
    index: &Index,
    lists: impl Fn(usize) -> Option<&'r PathRules>,
    count: usize,
    asked: &PathQuery,
) -> Vec<&'r PathRule> {
    let exact = asked.exact.as_ref();
    let mut found = exact.map(|path| index.covering(path, |entry| lists(entry.list)?.rules().get(entry.rule)));
    let found = found.get_or_insert_default();
    if asked.is_glob || !asked.end.is_empty() {
        for list in 0..count {
            let Some(rules) = lists(list) else { continue };
            let rules = rules.rules().iter().enumerate();
            found.extend(rules.filter(|(_, rule)| rule.may_be_meant(asked)).map(|(rule, _)| (list, rule)));
        }
    }
    found.sort_unstable();
    found.dedup();
    let rules = found.iter().filter_map(|(list, rule)| lists(*list)?.rules().get(*rule));
    rules.filter(|rule| !asked.sample || rule.keeps_samples()).collect()
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

#[cfg(test)]
mod tests {
    use toolgate_shell::Why;

    use super::*;
    use crate::path_rules::Policy;

    fn known(text: &str) -> Value {
        Value::Known(text.into())
    }

    /// Whatever is looked up, the answer is that of each rule by itself.
    #[test]
    fn what_lies_below_a_path_is_what_each_rule_says() {
        let texts: &[&[&str]] = &[
            &["/etc/ssh/", "/home/*/.ssh/", "~/.aws/", "/*/x/y"],
            &["x", "**/y", "~/*/z", "~/a*", "/{etc,va?}/b", "/{etc,var}/b/c"],
            &["~/.AWS/b", "/home/dev/.aws/c", "/a*/b", "~/{q,r}/s", "~"],
        ];
        let list = |texts: &&[&str]| {
            PathRules::new(texts.iter().map(|text| PathRule::new(Policy::NoDelete, text).expect("a rule")).collect())
        };
        let lists: Vec<PathRules> = texts.iter().map(list).collect();
        let mut anchored = Anchored::default();
        lists.iter().enumerate().for_each(|(at, list)| anchored.add(at, list.rules()));
        let paths = [
            "/",
            "/etc",
            "/etc/ssh",
            "/etc/s*",
            "/ETC",
            "/var",
            "/home",
            "/home/dev",
            "/home/other",
            "/home/d*",
            "/h*/dev",
            "/home/dev/.aws",
            "/home/dev/.a*",
            "/home/dev/a",
            "/home/dev/q",
            "/home/dev/*",
            "/home/dev/**",
            "/a",
            "/ab",
            "/x",
            "/*",
            "/var/b",
            "/va?",
            "",
        ];
        let mut found = 0;
        for path in paths {
            for home in [Some("/home/dev"), Some("/"), Some("/root"), None] {
                let asked = PathQuery::above(path, home).expect("a path that is known");
                let told =
                    |rules: Vec<&PathRule>| rules.into_iter().map(|rule| rule.source.clone()).collect::<Vec<_>>();
                let together = told(anchored.below(|at| lists.get(at), lists.len(), &asked));
                let each = told(lists.iter().flat_map(|list| list.below_asked(&asked)).collect());
                assert_eq!(together, each, "{path} {home:?}");
                // One of the lists is not in force.
                let some = told(anchored.below(|at| lists.get(at).filter(|_| at != 1), lists.len(), &asked));
                let each = told([&lists[0], &lists[2]].into_iter().flat_map(|list| list.below_asked(&asked)).collect());
                assert_eq!(some, each, "{path} {home:?}");
                found += together.len();
            }
        }
        assert!(found > 100, "{found}");
    }

    /// Whether a list is asked with many or alone changes nothing.
    #[test]
    fn lists_that_are_asked_together_say_what_each_says() {
        let texts: &[&[&str]] = &[
            &[".env", "*.pem"],
            &["~/.ssh/", "/etc/", "~/*.pem"],
            &["**/hooks/", "*-key.json", "id_[rd]sa"],
            &["My\\ Data/", "~/Dropbox*/"],
            &["~/k*", "k*/**/x", "/a?/", "/*1/"],
            &["~/**/deep", "{k*,**/x}/deep"],
        ];
        let list = |texts: &&[&str]| {
            let rules = texts.iter().map(|text| PathRule::new(Policy::NoRead, text).expect("a rule")).collect();
            Rc::new(PathRules::new(rules))
        };
        let mut together = Lists::default();
        let mut lists: Vec<Rc<PathRules>> = texts.iter().map(list).collect();
        lists.iter_mut().for_each(|list| together.add(list));
        assert!(lists.iter().enumerate().all(|(at, list)| list.number == Some(at)));
        let unknown = |shape: &str| Value::Unknown { why: Why::Expansion, shape: shape.replace('?', "\0") };
        let paths = [
            known("/p/.env"),
            known("/p/.env.example"),
            known("/home/dev/.ssh/id_rsa"),
            known("/home/dev/x.pem"),
            known("/home/dev/dropbox-old/x"),
            known("/etc/passwd"),
            known("/p/q/hooks/x"),
            known("/p/my-key.json"),
            known("/p/My Data/x"),
            known("/p/id_rsa"),
            known("/"),
            known("/home/dev"),
            known("/home/dev/keys/a/deep/x"),
            known("/p/keys/deep/x"),
            known("/a1/x"),
            known("/p/a1"),
            known("/p/x"),
            Value::Pattern("/p/*.pem".into()),
            Value::Pattern("/home/dev/*".into()),
            unknown("/etc/?"),
            unknown("?/.ssh/x"),
            unknown("?"),
        ];
        for path in &paths {
            // The readings of one home folder are none of another's.
            for home in [Some("/home/dev"), Some("/home/other"), None] {
                let answered = together.ask(path, home);
                for (list, texts) in lists.iter().zip(texts) {
                    let alone = PathRules::new(list.rules().to_vec()).cover(path, home);
                    if let (Some(names), Value::Known(_)) = (&PathQuery::of(path, home).exact, path) {
                        // Without an index; `.env.example` is the one sample here.
                        let each = list.rules().iter().any(|rule| rule.covers(names));
                        let sample = path.text().ends_with(".example");
                        assert!(each == alone || sample && each, "{texts:?} {path:?} {home:?}: rule by rule");
                    }
                    assert_eq!(answered.is_under(list), alone, "{texts:?} {path:?} {home:?}");
                }
            }
        }
    }
}

//! Lists of path rules, asked alone or many together, whether a path falls under one of theirs.

use std::cell::OnceCell;
use std::rc::Rc;

use toolgate_shell::Value;

use super::glob::Segment;
use super::path_index::{Entry, Index, covering_all, lying_below};
use super::path_query::PathQuery;
use super::path_rule::PathRule;

/// Several path rules, ready to be asked.
#[derive(Clone, Debug, Default)]
pub(crate) struct PathRules {
    rules: Vec<PathRule>,
    /// Made when it is asked by itself; most lists are only asked with others.
    index: OnceCell<Index>,
    /// Its number among many lists that are asked together.
    number: Option<usize>,
}

impl PathRules {
    pub(crate) fn new(rules: Vec<PathRule>) -> Self {
        PathRules { rules, index: OnceCell::new(), number: None }
    }

    pub(crate) fn rules(&self) -> &[PathRule] {
        &self.rules
    }

    /// Whether one of them says that it is about worktrees.
    pub(crate) fn mean_worktrees(&self) -> bool {
        self.rules.iter().any(PathRule::means_worktrees)
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

    fn covering_asked(&self, asked: &PathQuery) -> Vec<&PathRule> {
        let index = self.index.get_or_init(|| {
            let mut index = Index::default();
            index.add(0, &self.rules);
            index
        });
        covering_all(index, |_| Some(self.rules()), 1, asked)
    }

    /// The rules whose place lies below a path, which may be a glob, so that they fall or are read with it. Of a path that
    /// is known in part there are none.
    pub(crate) fn below(&self, path: &str, home: Option<&str>) -> Vec<&PathRule> {
        match PathQuery::above(path, home) {
            Some(asked) if !self.rules.is_empty() => lying_below(&self.rules, &asked).collect(),
            _ => Vec::new(),
        }
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

#[cfg(test)]
mod tests {
    use toolgate_shell::Why;

    use super::*;
    use crate::path_index::Anchored;
    use crate::rule_id::Policy;

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
        rule.keeps_the_gate = true;
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
                let together = told(anchored.below(|at| lists.get(at).map(PathRules::rules), lists.len(), &asked));
                let each = told(lists.iter().flat_map(|list| lying_below(list.rules(), &asked)).collect());
                assert_eq!(together, each, "{path} {home:?}");
                // One of the lists is not in force.
                let some = told(anchored.below(
                    |at| lists.get(at).filter(|_| at != 1).map(PathRules::rules),
                    lists.len(),
                    &asked,
                ));
                let each = told(
                    [&lists[0], &lists[2]].into_iter().flat_map(|list| lying_below(list.rules(), &asked)).collect(),
                );
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

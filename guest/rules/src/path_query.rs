//! A path as path rules are asked about it: its names, or what is known of them. Reading one costs more than comparing it, so
//! what was read is kept.

use std::cell::RefCell;
use std::rc::Rc;

use rustc_hash::FxHashMap;
use toolgate_shell::{Value, Why, absolute};

use super::glob::{Segment, names, segments};

/// Names that a secret's name is part of and that hold none.
const SAMPLES: &[&str] = &["example", "sample", "template", "dist", "defaults"];

/// Endings of `.env.` that stand for source that reads the variables, for what says which there are, or for what only a key
/// opens.
const NO_VARIABLES: &[&str] = &["ts", "rs", "schema", "vault", "enc", "gpg", "age"];

/// The names of a path from the root on, in lower case.
#[derive(Debug)]
pub(super) struct Names {
    pub(super) names: Vec<String>,
    /// From which of them on it is in the home folder.
    pub(super) home: Option<usize>,
}

impl Names {
    pub(super) fn of(path: &str, home: Option<&str>) -> Self {
        // The root may be the home folder, as in many containers: nothing is left of it then, and everything is inside.
        let home = home.filter(|home| !home.is_empty()).map(|home| home.trim_end_matches('/'));
        let inside = |home: &&str| path.strip_prefix(home).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
        let home = home.filter(inside).map(|home| names(home).count());
        Names { names: names(path).map(str::to_lowercase).collect(), home }
    }
}

/// Names of a path without the steps up and what those leave again. What is above an unknown part is unknown as well.
fn settled<N>(all: impl Iterator<Item = N>, text: impl Fn(&N) -> &str) -> Vec<N> {
    let mut kept = Vec::new();
    for name in all {
        match text(&name) {
            "." => {}
            ".." => drop(kept.pop()),
            _ => kept.push(name),
        }
    }
    kept
}

fn said(name: &Option<String>) -> &str {
    name.as_deref().unwrap_or_default()
}

/// `.env.example` and its like hold no secrets, nor does the script that switches a virtual environment on.
pub(crate) fn is_sample(path: &Value) -> bool {
    let text = path.text();
    if text.ends_with("/bin/activate") {
        return true;
    }
    let name = text.rsplit('/').next().unwrap_or("");
    let is_env = name.starts_with(".env.");
    name.rsplit('.')
        .next()
        .is_some_and(|end| name.len() > end.len() && SAMPLES.contains(&end) || is_env && NO_VARIABLES.contains(&end))
}

/// What is asked of path rules about a path.
#[derive(Debug)]
pub(crate) struct PathQuery {
    /// As it is written, or the folder that is known of it.
    pub(super) exact: Option<Names>,
    /// Of a path that is not only known in part.
    pub(super) segments: Vec<Segment>,
    pub(super) is_glob: bool,
    pub(super) home: Option<Vec<Segment>>,
    /// What stands after the last unknown part.
    pub(super) end: Vec<String>,
    /// The names from the root on, without those that are known in part only, or not.
    pub(super) names: Vec<Option<String>>,
    pub(super) sample: bool,
}

/// What was asked of paths of one kind, by their texts.
type Read = FxHashMap<String, Rc<PathQuery>>;

/// How many readings of paths are kept of each kind: a command has few, and each is put to many rules.
const KEPT: usize = 256;

/// Longest path whose reading is kept, in bytes: what is longer is no path of a file.
const LONGEST_KEPT: usize = 4_096;

/// The readings of paths that are known, globs, and known in part, with the home folder that they were read for.
type CachedReadings = (Option<String>, [Read; 3]);

thread_local! {
    // Reading a path, and above all compiling its globs, costs more than comparing it.
    static READ: RefCell<CachedReadings> = RefCell::default();
}

/// Forgets the paths that were read so far. They are of no use to a session of somebody else.
pub(crate) fn forget() {
    READ.take();
}

/// What `mktemp` made up, by a name that no rule has: it has letters by chance in the place of what is not known first. What is
/// not known behind that is a glob's.
fn made_up(path: &Value) -> Option<Value> {
    let Value::Unknown { why: Why::Temporary, shape } = path else { return None };
    let named = || absolute(&shape.replacen(Value::HOLE, "XXXXXX", 1), "/");
    let path = shape.starts_with('/').then(named)?;
    let is_known = !path.contains(Value::HOLE);
    Some(if is_known { Value::Known(path) } else { Value::Pattern(path.replace(Value::HOLE, "*")) })
}

impl PathQuery {
    pub(crate) fn of(path: &Value, home: Option<&str>) -> Rc<PathQuery> {
        let made_up = made_up(path);
        let path = made_up.as_ref().unwrap_or(path);
        READ.with_borrow_mut(|(at_home, read)| {
            if at_home.as_deref() != home {
                *at_home = home.map(str::to_owned);
                read.iter_mut().for_each(Read::clear);
            }
            let read = match path {
                Value::Known(_) => &mut read[0],
                Value::Pattern(_) => &mut read[1],
                Value::Unknown { .. } => &mut read[2],
            };
            if let Some(asked) = read.get(path.text()) {
                return Rc::clone(asked);
            }
            let asked = Rc::new(PathQuery::new(path, home));
            if path.text().len() <= LONGEST_KEPT {
                if read.len() >= KEPT {
                    read.clear();
                }
                read.insert(path.text().to_owned(), Rc::clone(&asked));
            }
            asked
        })
    }

    /// A path, which may be a glob, below which something may lie. There is none if it is known in part only.
    pub(crate) fn above(path: &str, home: Option<&str>) -> Option<Rc<PathQuery>> {
        (!path.contains(Value::HOLE)).then(|| PathQuery::of(&Value::Pattern(path.to_owned()), home))
    }

    fn new(path: &Value, home: Option<&str>) -> Self {
        let sample = is_sample(path);
        let mut asked = PathQuery {
            exact: None,
            segments: Vec::new(),
            is_glob: false,
            home: None,
            end: Vec::new(),
            names: Vec::new(),
            sample,
        };
        match path {
            Value::Known(text) => asked.exact = Some(Names::of(text, home)),
            Value::Pattern(text) => {
                asked.exact = Some(Names::of(text, home));
                asked.segments = segments(text);
                asked.is_glob = true;
                asked.home = home.map(segments);
            }
            Value::Unknown { shape, .. } => {
                // What stands before the first unknown part is a folder above the path; what stands after the
                // last one is the path's end.
                if let Some((folder, _)) = shape.split(Value::HOLE).next().and_then(|start| start.rsplit_once('/')) {
                    asked.exact = Some(Names::of(folder, home));
                }
                if let Some((_, end)) = shape.rsplit(Value::HOLE).next().and_then(|end| end.split_once('/')) {
                    asked.end = settled(names(end).map(str::to_lowercase), String::as_str);
                    asked.home = home.map(segments);
                    let name = |name: &str| match name.contains(Value::HOLE) {
                        false => Some(name.to_lowercase()),
                        true => None,
                    };
                    let all = shape.strip_prefix('/').map(|path| names(path).map(name));
                    asked.names = all.map(|all| settled(all, said)).unwrap_or_default();
                }
            }
        }
        asked
    }
}

//! The shell engine's facts about paths, from what the host's `files` capability answers: remembered, and bounded, as
//! a text may name any number of paths and a hook makes only so many host calls.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;

use toolgate_shell::{FileOracle, Presence};

/// How often the host is asked for one text. A hook may make 1 000 host calls; whatever is asked for after this many
/// is unknown.
const QUESTIONS: u32 = 600;

/// How many folders above a path are asked for along with it: the engine wants to know of most of them as well.
const ABOVE: usize = 32;

/// Longest path that the system can have, in bytes. A longer one is not asked for.
const LONGEST: usize = 4_096;

/// What is at a path, links not followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PathKind {
    /// Nothing, or nothing that may be looked at.
    Nothing,
    /// A regular file.
    File,
    /// A directory.
    Folder,
    /// A symbolic link.
    Link,
    /// A device, a socket, a pipe.
    Other,
    /// Something that may not be looked at, or nothing.
    Hidden,
}

/// Answers for the file system. `None` is a refusal: nothing more is asked then.
pub trait Answers {
    /// What is at each of these paths, in their order.
    fn stat(&self, paths: &[String]) -> Option<Vec<PathKind>>;

    /// The path behind the links of this one, and whether there is anything. The inner `None` if it cannot be told.
    fn resolve(&self, path: &str) -> Option<Option<(String, bool)>>;

    /// The text of a file that is about to be run.
    fn script(&self, path: &str) -> Option<String>;
}

/// Facts for one text.
#[derive(Debug)]
pub struct Remembered<A> {
    answers: A,
    found: RefCell<HashMap<String, PathKind>>,
    behind: RefCell<HashMap<String, Presence>>,
    left: Cell<u32>,
}

impl<A: Answers> Remembered<A> {
    /// Facts of which none has been asked for.
    pub fn new(answers: A) -> Self {
        Remembered { answers, found: RefCell::default(), behind: RefCell::default(), left: Cell::new(QUESTIONS) }
    }

    /// Asks something, unless that was too often or once in vain.
    fn ask<T>(&self, question: impl FnOnce(&A) -> Option<T>) -> Option<T> {
        self.left.set(self.left.get().checked_sub(1)?);
        let answer = question(&self.answers);
        if answer.is_none() {
            self.left.set(0);
        }
        answer
    }

    fn found(&self, path: &str) -> Option<PathKind> {
        if let Some(found) = self.found.borrow().get(path) {
            return Some(*found);
        }
        let above = path.match_indices('/').map(|(at, _)| if at == 0 { "/" } else { &path[..at] });
        let mut paths = vec![path.to_owned()];
        for folder in above.collect::<Vec<_>>().into_iter().rev().take(ABOVE).filter(|folder| *folder != path) {
            match self.found.borrow().get(folder) {
                // A folder that is known says that those above it are there, and nothing is below what is no folder.
                Some(PathKind::Folder | PathKind::Link | PathKind::Hidden) => break,
                Some(_) => return Some(PathKind::Nothing),
                None => paths.push(folder.to_owned()),
            }
        }
        let answers = self.ask(|answers| answers.stat(&paths)).filter(|answers| answers.len() == paths.len())?;
        let first = answers.first().copied();
        self.found.borrow_mut().extend(paths.into_iter().zip(answers));
        first
    }
}

impl<A: Answers> FileOracle for Remembered<A> {
    fn look(&self, path: &str) -> Presence {
        if path.len() > LONGEST || !path.starts_with('/') {
            return Presence::Unknown;
        }
        match self.found(path) {
            None | Some(PathKind::Hidden) => Presence::Unknown,
            Some(PathKind::Nothing) => Presence::Absent,
            Some(PathKind::File) => Presence::File,
            Some(PathKind::Folder) => Presence::Folder,
            Some(PathKind::Other) => Presence::Other,
            Some(PathKind::Link) => {
                if let Some(presence) = self.behind.borrow().get(path) {
                    return *presence;
                }
                let presence = match self.ask(|answers| answers.resolve(path)) {
                    None | Some(None) => Presence::Unknown,
                    Some(Some((_, false))) => Presence::Absent,
                    Some(Some((real, true))) => match self.found(&real) {
                        Some(PathKind::File) => Presence::File,
                        Some(PathKind::Folder) => Presence::Folder,
                        Some(PathKind::Other) => Presence::Other,
                        // It has changed meanwhile.
                        None | Some(PathKind::Nothing | PathKind::Link | PathKind::Hidden) => Presence::Unknown,
                    },
                };
                self.behind.borrow_mut().insert(path.to_owned(), presence);
                presence
            }
        }
    }

    fn real(&self, path: &str) -> Option<String> {
        let known = path.starts_with('/') && path.len() <= LONGEST;
        let answer = known.then(|| self.ask(|answers| answers.resolve(path)))?;
        answer.flatten().map(|(real, _)| real)
    }

    fn script(&self, path: &str) -> Option<String> {
        let known = path.starts_with('/') && path.len() <= LONGEST && self.look(path) == Presence::File;
        self.left.set(self.left.get().checked_sub(u32::from(known))?);
        // A file that cannot be read is an answer about that file, and no refusal.
        known.then(|| self.answers.script(path)).flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A file system as a list, which counts how often it is asked.
    struct List(&'static [(&'static str, PathKind, &'static str)], Cell<u32>);

    impl Answers for &List {
        fn stat(&self, paths: &[String]) -> Option<Vec<PathKind>> {
            self.1.set(self.1.get() + 1);
            let found = |path: &String| self.0.iter().find(|(name, _, _)| name == path);
            Some(paths.iter().map(|path| found(path).map_or(PathKind::Nothing, |(_, found, _)| *found)).collect())
        }

        fn resolve(&self, path: &str) -> Option<Option<(String, bool)>> {
            self.1.set(self.1.get() + 1);
            let (_, _, to) = self.0.iter().find(|(name, _, _)| *name == path)?;
            if to.is_empty() {
                return Some(None);
            }
            Some(Some((String::from(*to), self.0.iter().any(|(name, _, _)| name == to))))
        }

        fn script(&self, path: &str) -> Option<String> {
            self.1.set(self.1.get() + 1);
            Some(format!("# {path}"))
        }
    }

    const FILES: &[(&str, PathKind, &str)] = &[
        ("/", PathKind::Folder, "/"),
        ("/p", PathKind::Folder, "/p"),
        ("/p/f", PathKind::File, "/p/f"),
        ("/p/link", PathKind::Link, "/p"),
        ("/p/dangling", PathKind::Link, "/p/none"),
        ("/p/round", PathKind::Link, ""),
        ("/dev", PathKind::Folder, "/dev"),
        ("/dev/null", PathKind::Other, "/dev/null"),
    ];

    #[test]
    fn links_are_followed() {
        let list = List(FILES, Cell::new(0));
        let facts = Remembered::new(&list);
        let cases = [
            ("/", Presence::Folder),
            ("/p", Presence::Folder),
            ("/p/f", Presence::File),
            ("/p/f/below", Presence::Absent),
            ("/p/none/below/this", Presence::Absent),
            ("/p/link", Presence::Folder),
            ("/p/dangling", Presence::Absent),
            ("/p/round", Presence::Unknown),
            ("/dev/null", Presence::Other),
            ("relative", Presence::Unknown),
        ];
        for (path, expected) in cases {
            assert_eq!(facts.look(path), expected, "{path}");
            let asked = list.1.get();
            assert_eq!(facts.look(path), expected, "{path} again");
            assert_eq!(list.1.get(), asked, "{path} is asked for once");
        }
        assert_eq!(facts.real("/p/link").as_deref(), Some("/p"));
        for (path, expected) in [("/p/f", Some("# /p/f")), ("/p/none", None), ("/p", None), ("/dev/null", None)] {
            assert_eq!(facts.script(path).as_deref(), expected, "{path}");
        }
    }

    #[test]
    fn folders_above_come_with_the_first_question() {
        let list = List(FILES, Cell::new(0));
        let facts = Remembered::new(&list);
        for path in ["/p/f", "/p", "/", "/p/f/x/y"] {
            facts.look(path);
        }
        assert_eq!(list.1.get(), 1);
    }

    #[test]
    fn questions_are_bounded() {
        let list = List(FILES, Cell::new(0));
        let facts = Remembered::new(&list);
        let last = (0..2_000).map(|n| facts.look(&format!("/p/{n}"))).last();
        assert_eq!((last, list.1.get()), (Some(Presence::Unknown), QUESTIONS));
        // What is known stays known.
        assert_eq!(facts.look("/p/0"), Presence::Absent);
        assert_eq!(facts.look(&format!("/{}", "x".repeat(LONGEST))), Presence::Unknown);
    }

    #[test]
    fn who_refuses_is_not_asked_again() {
        struct Denied(Cell<u32>);
        impl Answers for &Denied {
            fn stat(&self, _: &[String]) -> Option<Vec<PathKind>> {
                self.0.set(self.0.get() + 1);
                None
            }
            fn resolve(&self, _: &str) -> Option<Option<(String, bool)>> {
                None
            }

            fn script(&self, _: &str) -> Option<String> {
                None
            }
        }
        let denied = Denied(Cell::new(0));
        let facts = Remembered::new(&denied);
        assert!(["/a", "/b", "/c"].iter().all(|path| facts.look(path) == Presence::Unknown));
        assert_eq!((denied.0.get(), facts.real("/a")), (1, None));
    }
}

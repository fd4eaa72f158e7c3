//! What a text has made of files so far: which there are, what is in them, and where links lead.

use std::borrow::Cow;
use std::ops::Bound;
use std::rc::Rc;

use super::table::Table;
use crate::abstract_value::Text;
use crate::facts::{Facts, FileOracle, Presence};
use crate::shared::Shared;
use toolgate_shell_syntax::path::{absolute, is_within, parent};
use toolgate_shell_syntax::word::{Span, Value};

/// Most paths that are kept apart; more make all of them unknown.
const MAX_NAMES: usize = 400;

/// What is known of the things in a folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Inside {
    /// The text made it: only what the text put there is there.
    Fresh,
    /// As the facts have it.
    Facts,
    /// The same, and perhaps more.
    Added,
    Unknown,
}

/// The state in which the text leaves a file.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct FileState {
    pub(crate) presence: Presence,
    /// Of a folder.
    pub(crate) inside: Inside,
    /// What is in it, if that is known.
    pub(crate) content: Option<Rc<Text>>,
    /// The text wrote it, and what it wrote is not known.
    pub(crate) unread: bool,
    /// A script that was there before wrote it.
    pub(crate) preexisting: bool,
    /// The file that it is a link to.
    pub(crate) link: Option<String>,
    /// Others that it may be a link to instead.
    pub(crate) links: Vec<String>,
    /// The file that it is a copy of, as that was before the text.
    pub(crate) copy: Option<String>,
}

impl FileState {
    fn new(presence: Presence, inside: Inside) -> Self {
        FileState {
            presence,
            inside,
            content: None,
            unread: false,
            preexisting: false,
            link: None,
            links: Vec::new(),
            copy: None,
        }
    }
}

/// What the text has made of the files so far.
#[derive(Clone)]
pub(crate) struct Files {
    made: Table<FileState>,
    facts: Option<Rc<dyn FileOracle>>,
    /// Whether any of them is a link.
    linked: bool,
    /// The folders that were copied or moved, and where to.
    copies: Shared<Vec<(String, String)>>,
    /// Something that is not followed may have changed any file.
    doubt: bool,
    /// There are more files to be followed than can be.
    pub(crate) overrun: bool,
    /// How many names `mktemp` has made up.
    temporaries: usize,
    pub(super) stamp: u64,
}

/// How many names that `mktemp` makes up are told apart.
const MAX_TEMPORARIES: usize = 64;

impl Files {
    /// As the facts have them.
    pub(super) fn new(facts: &Facts) -> Self {
        // Facts that do not know the place itself speak of another machine.
        let knows = |files: &Rc<dyn FileOracle>| {
            facts.cwd.as_deref().is_some_and(|cwd| files.look(&absolute(cwd, "/")) == Presence::Folder)
        };
        let mut files = Files {
            made: Table::default(),
            linked: false,
            copies: Shared::default(),
            facts: facts.files.clone().filter(knows),
            doubt: false,
            overrun: false,
            temporaries: 0,
            stamp: 0,
        };
        if let Some(cwd) = &facts.cwd {
            files.put(absolute(cwd, "/"), FileState::new(Presence::Folder, Inside::Facts), 0);
        }
        files
    }

    /// The number of the next name that `mktemp` makes up, from one; none if they are too many.
    pub(crate) fn name_temporary(&mut self) -> Option<usize> {
        self.temporaries += 1;
        Some(self.temporaries).filter(|number| *number <= MAX_TEMPORARIES)
    }

    /// Whether `mktemp` has made any up.
    pub(crate) fn has_temporaries(&self) -> bool {
        self.temporaries > 0
    }

    /// The path that one leads to by the links that were there before.
    fn canonical<'p>(&self, path: &'p str) -> Cow<'p, str> {
        let facts = self.facts.as_ref().filter(|_| !path.contains(Value::HOLE));
        match facts.and_then(|facts| facts.real(path)) {
            Some(real) => Cow::Owned(real),
            None => Cow::Borrowed(path),
        }
    }

    /// Whether a link is on the way.
    pub(crate) fn is_linked(&self, path: &str) -> bool {
        self.canonical(path) != path
    }

    /// What the text made of a path, through its links and its copies of folders.
    pub(crate) fn made(&self, path: &str) -> Option<&FileState> {
        let path = self.canonical(path);
        self.made_at(&path).or_else(|| self.made_at(&self.origin(&path)?.0))
    }

    /// Where that comes from which is below a folder that the text copied, moved or linked, and whether the folder is
    /// still there under both names.
    fn origin(&self, path: &str) -> Option<(String, bool)> {
        let mut folder = parent(path);
        while let Some(above) = folder {
            let below = path.get(above.len()..)?;
            match self.made.get(above) {
                Some(FileState { link: Some(to), .. }) => return Some((format!("{to}{below}"), true)),
                Some(FileState { copy: Some(from), .. }) => return Some((format!("{from}{below}"), false)),
                _ => folder = parent(above),
            }
        }
        None
    }

    /// The file whose content, as it was before the text, is now that of a path: itself, or what it was copied from or
    /// leads to. None if the text made it anything else.
    pub(crate) fn before(&self, path: &str) -> Option<String> {
        let mut at = self.canonical(path).into_owned();
        let mut copied = false;
        for _ in 0..8 {
            at = match (self.made.get(&at), self.origin(&at)) {
                // What is gone from where it was is in the copy.
                (Some(FileState { presence: Presence::Absent, .. }), _) if copied => return Some(at),
                (Some(FileState { unread: true, .. } | FileState { content: Some(_), .. }), _) => return None,
                (Some(FileState { link: Some(to), .. }), _) => to.clone(),
                // A folder, or what may be one, is as the other is still, or it were unread.
                (Some(FileState { copy: Some(from), .. }), _) if self.copies.iter().any(|(_, to)| *to == at) => {
                    copied = true;
                    from.clone()
                }
                (Some(FileState { copy, .. }), _) => return copy.clone(),
                (None, Some((from, linked))) => {
                    copied |= !linked;
                    from
                }
                (None, None) => return Some(at),
            }
        }
        None
    }

    /// What is in a file for certain, as far as it is one of the text.
    pub(crate) fn read(&self, path: &str) -> Option<&Rc<Text>> {
        let made = self.made(path)?;
        // The working directory, where it is not known, may be another one than when it was written.
        let elsewhere = path.starts_with(Value::HOLE) && made.presence != Presence::File;
        made.content.as_ref().filter(|_| !elsewhere && !made.unread)
    }

    /// Whether the text wrote to a file that such a path may lead to.
    pub(crate) fn any_made(&self, path: &Value) -> bool {
        self.led_to(path).any(|(_, made)| matches!(made.presence, Presence::File | Presence::Unknown))
            || self.earlier_at(path).next().is_some()
    }

    /// What the session wrote to files that such a path may lead to, if they may be scripts where that does not say their names.
    pub(crate) fn texts_at(&self, path: &Value, span: Span) -> Vec<Rc<Text>> {
        let name = path.text().rsplit('/').next().unwrap_or_default();
        let is_said = !name.contains([Value::HOLE, '*', '?', '[']);
        let fits = |file: &str, text: &str| is_said || may_be_script(file, text);
        let text = |(file, made): (&String, &FileState)| made.content.clone().filter(|text| fits(file, &text.text));
        let earlier = self.earlier_at(path).filter_map(|file| {
            let text = self.script(&self.before(file)?)?;
            fits(file, &text).then(|| Rc::new(Text { text, span, at: None }))
        });
        self.led_to(path).filter_map(text).chain(earlier).collect()
    }

    /// The files of earlier texts of the session that such a path may lead to, the newest, if it says something of their name.
    fn earlier_at(&self, path: &Value) -> impl Iterator<Item = &str> {
        const MOST: usize = 32;
        let name = path.text().rsplit('/').next().unwrap_or_default();
        let says = name.chars().filter(|c| c.is_alphanumeric()).count() > 1;
        let files = self.of_session().filter(move |_| says).collect::<Vec<_>>();
        files.into_iter().rev().filter(|file| path.may_lead_to(file)).take(MOST)
    }

    fn led_to(&self, path: &Value) -> impl Iterator<Item = (&String, &FileState)> {
        let of_text = |(file, made): &(&String, &FileState)| !made.preexisting && !file.starts_with(Value::HOLE);
        self.made.map().iter().filter(of_text).filter(|(file, _)| path.may_lead_to(file))
    }

    /// The files that the text wrote itself.
    pub(crate) fn written(&self) -> impl Iterator<Item = &str> {
        self.made.map().iter().filter(|(_, made)| !made.preexisting).map(|(path, _)| path.as_str())
    }

    /// Another directory is the working one: those that are not known are no longer told apart.
    pub(crate) fn leave_folder(&mut self, stamp: u64) {
        let below = format!("{}/", Value::HOLE);
        let range = (Bound::Included(below.as_str()), Bound::Unbounded);
        let names = self.made.map().range::<str, _>(range).map(|(name, _)| name);
        let names: Vec<String> = names.take_while(|name| name.starts_with(&below)).cloned().collect();
        for name in names {
            if let Some(made) = self.made.get(&name).cloned() {
                self.made.insert(name, FileState { presence: Presence::Unknown, ..made });
                self.stamp = stamp;
            }
        }
    }

    /// Whether the text wrote a file, and what is in it is not known.
    pub(crate) fn is_unread(&self, path: &str) -> bool {
        let path = self.canonical(path);
        let unread = |made: &FileState| {
            made.unread && path != "/dev/null" && matches!(made.presence, Presence::File | Presence::Unknown)
        };
        match self.made_at(&path) {
            Some(made) => unread(made),
            // It may be gone from where it was. What is in a folder that was copied and then changed is not known.
            None => {
                self.origin(&path).and_then(|(from, _)| self.made_at(&from)).is_some_and(|made| made.unread)
                    || std::iter::successors(parent(&path), |folder| parent(folder))
                        .any(|folder| self.made.get(folder).is_some_and(|made| made.unread))
            }
        }
    }

    /// The file whose content, as it was before the text, a path has still, if nothing that is not followed may have changed it.
    pub(crate) fn as_before(&self, path: &str) -> Option<String> {
        self.before(path).filter(|path| !self.doubt && !path.contains(Value::HOLE))
    }

    /// Whether there was a file at a path before the text.
    pub(crate) fn was_there(&self, path: &str) -> bool {
        !path.contains(Value::HOLE) && self.facts.as_ref().is_some_and(|facts| facts.look(path) == Presence::File)
    }

    /// Whether an earlier text of the session wrote what is in a file.
    pub(crate) fn is_of_session(&self, path: &str) -> bool {
        let Some(facts) =
            self.facts.as_ref().filter(|facts| !facts.of_session().is_empty() || facts.is_of_session("/"))
        else {
            return false;
        };
        let of_session = |before: String| facts.is_of_session(path) || facts.is_of_session(&before);
        self.before(path).is_some_and(|before| self.was_there(&before) && of_session(before))
    }

    /// Whether the session may have written a file, by its path alone. Which file that is need not be asked for.
    pub(crate) fn may_be_written(&self, path: &str) -> bool {
        let made = self.made.map().iter().any(|(_, made)| made.content.is_some() || made.unread || made.link.is_some());
        made || self.facts.as_ref().is_some_and(|facts| facts.is_of_session(path))
    }

    /// Whether there are any files of the text or of earlier ones of the session.
    pub(crate) fn has_written(&self) -> bool {
        let earlier =
            || self.facts.as_ref().is_some_and(|facts| !facts.of_session().is_empty() || facts.is_of_session("/"));
        self.made.map().iter().any(|(_, made)| made.content.is_some() || made.unread) || earlier()
    }

    /// The files that earlier texts of the session wrote, as far as they are known and this one left them.
    pub(crate) fn of_session(&self) -> impl Iterator<Item = &str> {
        let all = self.facts.iter().flat_map(|facts| facts.of_session()).map(String::as_str);
        all.filter(|path| self.made.get(path).is_none())
    }

    /// The program of the system that a file is by another name: a link, or a copy that this text or an earlier one made. Empty
    /// if it is one that is not known.
    pub(crate) fn program(&self, path: &str) -> Option<String> {
        let (before, facts) = (self.before(path)?, self.facts.as_ref()?);
        let copied = Some(&before).filter(|before| crate::effect::is_system(before) && *before != path).cloned();
        copied.or_else(|| facts.program(path)).or_else(|| facts.program(&before))
    }

    /// Whether the text made links.
    pub(crate) fn has_links(&self) -> bool {
        self.linked
    }

    /// The links that the text made, and where they lead.
    pub(crate) fn links(&self) -> Vec<(String, String)> {
        // Every command asks, and most texts make none.
        if !self.linked {
            return Vec::new();
        }
        let links = self.made.map().iter().flat_map(|(path, made)| {
            let to = made.link.iter().chain(&made.links);
            to.map(|to| (path.clone(), to.clone()))
        });
        links.collect()
    }

    fn made_at(&self, path: &str) -> Option<&FileState> {
        let mut made = self.made.get(path)?;
        for _ in 0..8 {
            match &made.link {
                Some(to) => made = self.made.get(to)?,
                None => break,
            }
        }
        Some(made)
    }

    /// After a script that was there before, from this state on: what it writes is as little hidden as what a program does
    /// that cannot be read at all. If the text had hidden anything before, it may be that.
    pub(crate) fn credit(&mut self, before: &Files) {
        if before.made.map().iter().any(|(_, made)| made.unread) {
            return;
        }
        let of_text = |path: &String| before.made.get(path).is_some_and(|made| made.content.is_some());
        let own = self
            .made
            .map()
            .iter()
            .filter(|(path, made)| (made.unread || made.content.is_some() && !made.preexisting) && !of_text(path));
        for (path, made) in own.map(|(path, made)| (path.clone(), made.clone())).collect::<Vec<_>>() {
            self.made.insert(path, FileState { unread: false, preexisting: true, ..made });
        }
    }

    /// Something that is not followed may have changed any of them.
    pub(super) fn doubt(&mut self) {
        self.doubt = true;
    }

    /// Whether the same is known of them in both.
    pub(super) fn is_as(&self, other: &Files) -> bool {
        self.made == other.made && self.doubt == other.doubt
    }

    /// From here on only what the text itself did to files is known.
    pub(crate) fn forget_facts(&mut self) {
        self.facts = None;
    }

    /// Whether it is known at all which files exist.
    pub(crate) fn informed(&self) -> bool {
        self.facts.is_some()
    }

    fn put(&mut self, path: String, mut made: FileState, stamp: u64) {
        // What a program did to a file of the text.
        let lost = |before: &FileState| {
            before.presence != Presence::Absent
                && (before.content.is_some() || before.unread || before.copy.is_some() && made.copy.is_none())
        };
        let copied = || self.origin(&path).is_some_and(|(from, linked)| !linked && self.was_there(&from));
        let changed = match self.made.get(&path) {
            Some(before) => lost(before),
            None => made.presence != Presence::Absent && made.copy.is_none() && copied(),
        };
        made.unread |= made.content.is_none() && made.link.is_none() && changed;
        self.replace(path, made, stamp);
    }

    /// Notes what a path is now, whatever it was.
    fn replace(&mut self, path: String, made: FileState, stamp: u64) {
        if self.made.map().size() > MAX_NAMES {
            // What may be run, or lead somewhere, is not forgotten for the sake of many other files.
            let matters =
                |made: &FileState| made.content.is_some() || made.unread || made.link.is_some() || made.copy.is_some();
            let kept = self.made.map().iter().filter(|(_, made)| matters(made));
            let mut kept: Vec<_> = kept.map(|(path, made)| (path.clone(), made.clone())).collect();
            if kept.len() > MAX_NAMES / 2 {
                // The text is given up then; to sort them out again for each one more would take long.
                self.overrun = true;
                kept.clear();
            }
            self.made.clear();
            kept.into_iter().for_each(|(path, made)| self.made.insert(path, made));
            self.doubt = true;
        }
        self.linked |= made.link.is_some();
        self.outdate(&path);
        self.made.insert(path, made);
        self.stamp = stamp;
    }

    /// What is below a folder changes: its copies are as it was, which is not kept.
    fn outdate(&mut self, path: &str) {
        let outdated = self.copies.iter().filter(|(from, to)| is_within(path, from) && !is_within(path, to));
        let copies: Vec<String> = outdated.map(|(_, to)| to.clone()).collect();
        for to in copies {
            if let Some(made) = self.made.get(&to).cloned() {
                self.made.insert(to, FileState { unread: true, copy: None, ..made });
            }
        }
    }

    fn below(&mut self, folder: &str, presence: Presence, stamp: u64) {
        let prefix = format!("{}/", folder.trim_end_matches('/'));
        let range = (Bound::Included(prefix.as_str()), Bound::Unbounded);
        let names =
            self.made.map().range::<str, _>(range).map(|(name, _)| name).take_while(|name| name.starts_with(&prefix));
        let names: Vec<String> = names.cloned().collect();
        for name in names {
            self.put(name, FileState::new(presence, Inside::Unknown), stamp);
        }
    }

    /// What holds of them whichever of the two came to pass.
    pub(super) fn merge(&mut self, other: &Files, stamp: u64) {
        self.doubt |= other.doubt;
        self.overrun |= other.overrun;
        self.temporaries = self.temporaries.max(other.temporaries);
        if self.stamp == other.stamp {
            return;
        }
        self.linked |= other.linked;
        if self.copies != other.copies {
            let copies = self.copies.to_mut();
            let more: Vec<_> = other.copies.iter().filter(|copy| !copies.contains(copy)).cloned().collect();
            copies.extend(more);
        }
        for name in self.made.differences(&other.made) {
            let same = self.look(&name) == other.look(&name) && self.made(&name).is_some();
            let presence = if same { self.look(&name) } else { Presence::Unknown };
            // A content that may be there is kept: running the file may run it. So is where it may lead.
            let content = [&self.made, &other.made].iter().find_map(|made| made.get(&name)?.content.clone());
            let both = [&self.made, &other.made].into_iter().filter_map(|made| made.get(&name));
            let mut links: Vec<String> = both.flat_map(|made| made.link.iter().chain(&made.links)).cloned().collect();
            links.sort_unstable();
            links.dedup();
            let link = (!links.is_empty()).then(|| links.remove(0));
            let copy = [&self.made, &other.made].iter().find_map(|made| made.get(&name)?.copy.clone());
            let unread = [&self.made, &other.made].iter().any(|made| made.get(&name).is_some_and(|made| made.unread));
            // Which of two it is a copy of is not known.
            let copies = [&self.made, &other.made].map(|made| made.get(&name).and_then(|made| made.copy.as_ref()));
            let unread = unread || matches!(copies, [Some(one), Some(another)] if one != another);
            // Nor which of two was written: only one of them is looked at.
            let contents = [&self.made, &other.made].map(|made| made.get(&name).and_then(|made| made.content.as_ref()));
            let unread = unread || matches!(contents, [Some(one), Some(another)] if one.text != another.text);
            self.put(
                name,
                FileState { content, unread, link, links, copy, ..FileState::new(presence, Inside::Unknown) },
                stamp,
            );
        }
    }
}

impl Files {
    /// Whether all that is known of files goes for conditions as well.
    pub(crate) fn lasts(&self) -> bool {
        self.facts.as_ref().is_none_or(|facts| facts.lasts())
    }

    /// What a condition on a path goes by: what the text made itself, and facts that last.
    pub(crate) fn sure(&self, path: &str) -> Presence {
        self.presence(path, self.facts.as_ref().filter(|facts| facts.lasts()))
    }

    fn presence(&self, path: &str, facts: Option<&Rc<dyn FileOracle>>) -> Presence {
        // Where it is followed under is not where it is.
        if path.contains(Value::HOLE) {
            return Presence::Unknown;
        }
        let canonical = self.canonical(path);
        let path = canonical.as_ref();
        if let Some(made) = self.made_at(path) {
            return made.presence;
        }
        // What lies below a folder that the text removed or made is gone or not there yet.
        let mut above = parent(path);
        let mut added = false;
        while let Some(folder) = above {
            match self.made.get(folder).map(|made| (made.presence, made.inside)) {
                Some((Presence::Absent | Presence::File | Presence::Other, _)) => return Presence::Absent,
                Some((Presence::Folder, Inside::Fresh)) => return Presence::Absent,
                Some((Presence::Folder, Inside::Added)) => {
                    added = true;
                    above = parent(folder);
                }
                Some((Presence::Folder, Inside::Facts)) | None => above = parent(folder),
                Some((Presence::Folder | Presence::Unknown, _)) => return Presence::Unknown,
            }
        }
        match facts {
            Some(facts) if !self.doubt => match facts.look(path) {
                Presence::Absent if added => Presence::Unknown,
                presence => presence,
            },
            // Nothing said that the root is gone.
            _ if path == "/" => Presence::Folder,
            _ => Presence::Unknown,
        }
    }
}

impl FileOracle for Files {
    fn look(&self, path: &str) -> Presence {
        self.presence(path, self.facts.as_ref())
    }

    fn script(&self, path: &str) -> Option<String> {
        self.facts.as_ref()?.script(path)
    }

    fn held(&self, path: &str) -> Option<String> {
        let path = self.as_before(path)?;
        self.facts.as_ref()?.script(&path)
    }

    fn written(&self, path: &str) -> Option<String> {
        match self.made(path) {
            Some(made) => made.content.as_ref().map(|content| content.text.clone()),
            None if self.is_of_session(path) => self.script(&self.before(path)?),
            None => None,
        }
    }

    fn real(&self, path: &str) -> Option<String> {
        // What the text made may have put other links on the way.
        let facts = self.facts.as_ref().filter(|_| !self.doubt && !self.linked)?;
        facts.real(path)
    }
}

impl Files {
    /// A program that is not followed may have changed any file.
    pub(crate) fn doubt_all(&mut self, stamp: u64) {
        self.doubt = true;
        let doubted =
            |made: &FileState| FileState { presence: Presence::Unknown, inside: Inside::Unknown, ..made.clone() };
        let sure = |made: &FileState| match made.inside {
            // That a program takes away the place itself is not expected.
            Inside::Facts | Inside::Added => false,
            Inside::Fresh => true,
            Inside::Unknown => made.presence != Presence::Unknown,
        };
        let made = self.made.map().iter().filter(|(_, made)| sure(made));
        let made: Vec<(String, FileState)> = made.map(|(path, made)| (path.clone(), doubted(made))).collect();
        made.into_iter().for_each(|(path, made)| self.put(path, made, stamp));
    }

    /// Notes what the text makes of a path. A folder that was not there is fresh.
    pub(crate) fn set(&mut self, path: &str, presence: Presence, inside: Inside, stamp: u64) {
        let canonical = self.canonical(path).into_owned();
        let path = canonical.as_str();
        if presence != Presence::Folder {
            self.below(path, if presence == Presence::Unknown { presence } else { Presence::Absent }, stamp);
        }
        // A folder that is made again is what it was.
        let before = self.made.get(path).filter(|before| presence == Presence::Folder && !before.unread);
        let copy = before.filter(|before| before.presence != Presence::File).and_then(|before| before.copy.clone());
        self.put(path.to_owned(), FileState { copy, ..FileState::new(presence, inside) }, stamp);
    }

    /// Something below a folder is made, or may be gone, and it is not known what.
    pub(crate) fn change_below(&mut self, folder: &str, gone: bool, stamp: u64) {
        let canonical = self.canonical(folder).into_owned();
        let folder = canonical.as_str();
        let made = self.made.get(folder).cloned();
        let inside = match made.as_ref().map(|made| made.inside) {
            Some(Inside::Unknown) => Inside::Unknown,
            // Nothing was there but what the text made, which is in the table.
            Some(Inside::Fresh) => Inside::Unknown,
            _ if gone => Inside::Unknown,
            _ => Inside::Added,
        };
        if gone {
            self.below(folder, Presence::Unknown, stamp);
        }
        let made = made.unwrap_or_else(|| FileState::new(Presence::Folder, inside));
        self.replace(folder.to_owned(), FileState { inside, ..made }, stamp);
    }

    /// Notes what is in a file whose path is known in part, under what is known of it.
    pub(crate) fn put_content(&mut self, key: &str, content: Option<Rc<Text>>, copy: Option<String>, stamp: u64) {
        // It may be another file than the one that was written before, and that may be run still.
        let before = self.made.get(key).filter(|made| made.presence == Presence::Unknown);
        let before = before.filter(|_| key.starts_with(Value::HOLE));
        let unread = before.is_some_and(|made| made.content != content);
        let presence = if before.is_some() && content.is_none() { Presence::Unknown } else { Presence::File };
        let made = FileState { content, copy, unread, ..FileState::new(presence, Inside::Unknown) };
        self.put(key.to_owned(), made, stamp);
    }

    /// Notes what is in a file that the text may have added to: what was in it before is a part of that.
    pub(crate) fn may_append(&mut self, path: &str, before: &Rc<Text>, content: Rc<Text>, stamp: u64) {
        let path = self.canonical(path).into_owned();
        match self.made.get(&path) {
            Some(made) if made.content.as_ref() == Some(before) && !made.unread => {
                let made = FileState { content: Some(content), ..made.clone() };
                self.put(path, made, stamp);
            }
            _ => self.set_unread(&path, stamp),
        }
    }

    /// Notes what is in a file that the text may have written.
    pub(crate) fn may_write(&mut self, path: &str, content: Option<&Rc<Text>>, stamp: u64) {
        let path = self.canonical(path).into_owned();
        match (self.made.get(&path), content) {
            (Some(made), _) if made.content.as_ref() == content && content.is_some() => {}
            (Some(made), Some(content)) if made.content.is_none() && !made.unread => {
                let made = FileState { content: Some(Rc::clone(content)), ..made.clone() };
                self.put(path, made, stamp);
            }
            (None, Some(content)) => {
                let made = FileState::new(Presence::Unknown, Inside::Unknown);
                self.put(path, FileState { content: Some(Rc::clone(content)), ..made }, stamp);
            }
            _ => self.set_unread(&path, stamp),
        }
    }

    /// Notes what is in a file that the text wrote.
    pub(crate) fn set_content(&mut self, path: &str, content: Option<Rc<Text>>, stamp: u64) {
        if path.starts_with(Value::HOLE) {
            return self.put_content(path, content, None, stamp);
        }
        let canonical = self.canonical(path).into_owned();
        if let Some(made) = self.made.get(&canonical).cloned() {
            let unread = made.unread && content.is_none();
            self.put(canonical, FileState { content, unread, preexisting: false, copy: None, ..made }, stamp);
        }
    }

    /// Notes that a file now has the content that another had before the text, or a folder what another has.
    pub(crate) fn set_copy(&mut self, path: &str, from: String, folder: bool, stamp: u64) {
        let canonical = self.canonical(path).into_owned();
        if let Some(made) = self.made.get(&canonical).cloned() {
            // Into a folder that is a copy already: which of them a file in it is from is not known.
            let mixed = folder && made.unread;
            let copy = Some(from.clone()).filter(|_| !mixed);
            self.replace(
                canonical.clone(),
                FileState { content: None, unread: mixed, link: None, links: Vec::new(), copy, ..made },
                stamp,
            );
            if folder {
                self.copies.to_mut().push((from, canonical));
            }
        }
    }

    /// Notes what a file has in it if that which makes it works in another way than is likely.
    pub(crate) fn may_copy(&mut self, path: &str, content: Option<Rc<Text>>, from: Option<String>, stamp: u64) {
        let path = self.canonical(path).into_owned();
        if self.made.get(&path).is_none() {
            self.put(
                path,
                FileState { content, copy: from, ..FileState::new(Presence::Unknown, Inside::Unknown) },
                stamp,
            );
        }
    }

    /// Notes that the text wrote to a file what is not known.
    pub(crate) fn set_unread(&mut self, path: &str, stamp: u64) {
        let canonical = self.canonical(path).into_owned();
        let made = self.made.get(&canonical).cloned();
        let made = made.unwrap_or_else(|| FileState::new(Presence::Unknown, Inside::Unknown));
        self.put(canonical, FileState { content: None, unread: true, preexisting: false, copy: None, ..made }, stamp);
    }

    /// It may be a link now.
    pub(crate) fn may_link(&mut self, path: &str, to: String, stamp: u64) {
        self.link(path, to, stamp);
        let path = self.canonical(path).into_owned();
        if let Some(made) = self.made.get(&path).cloned() {
            self.put(path, FileState { presence: Presence::Unknown, ..made }, stamp);
        }
    }

    pub(crate) fn link(&mut self, path: &str, to: String, stamp: u64) {
        let presence = self.look(&to);
        // A program is known by the name that it is given, which may lead on: `/usr/bin/vim` to `/usr/bin/vim.basic`.
        let to = if crate::effect::is_system(&to) { to } else { self.canonical(&to).into_owned() };
        let path = self.canonical(path).into_owned();
        self.put(path, FileState { link: Some(to), ..FileState::new(presence, Inside::Unknown) }, stamp);
    }
}

/// Whether a file may be meant to be run, by its name or its first line.
fn may_be_script(file: &str, text: &str) -> bool {
    const ENDINGS: &[&str] = &[
        "ash", "bash", "bats", "cjs", "command", "cts", "dash", "js", "ksh", "mjs", "mts", "php", "pl", "py", "rb",
        "run", "sh", "ts", "zsh",
    ];
    let name = file.rsplit('/').next().unwrap_or_default();
    let ending = name.trim_start_matches('.').rsplit_once('.').map(|(_, ending)| ending.to_lowercase());
    text.starts_with("#!") || ending.is_none_or(|ending| ENDINGS.contains(&ending.as_str()))
}

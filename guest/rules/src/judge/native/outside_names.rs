//! What a text changes and does not name, where a file of the session that it runs or reads names something outside the workspace:
//! a script that removes what a table says, and the table says `/home/dev/Documents`.
//!
//! Neither of them is enough by itself. Scripts change files whose names they compute, and files speak of other places. A name
//! counts only if something is there, and the rule is tried after all others, as it asks what is there.

use std::cell::Cell;
use std::collections::BTreeSet;

use toolgate_shell::{Command, Effect, EffectKind, FileOracle, Presence, Runs, Value, Why, Word, absolute, is_within};

use super::search_results::is_listing;
use crate::call::Field;
use crate::judge::{Evaluation, evidence};
use crate::matching::{MatchInput, folder_above};
use crate::native_rule::NativeRule;
use crate::path_zone::{Map, PathZone, is_made_again};
use crate::world::GuardHost;

/// Most files that are read for one text.
const FILES: usize = 24;

/// Most bytes of a file that are looked at.
const LONGEST: usize = 48 << 10;

/// Most names of a file that are looked at.
const NAMES: usize = 400;

/// How often it is asked what is at a path, for one text.
const LOOKS: u32 = 200;

/// What goes to a folder around the workspace or to the home folder. A line without it names what is below the workspace.
const UPWARD: &[&str] = &[
    "../",
    "..'",
    "..\"",
    "parent",
    "dirname",
    "updir",
    "home",
    "HOME",
    "with_name",
    "PWD",
    "toplevel",
    ".dir",
    "(dir",
];

/// Files that people read, and no program.
const PROSE: &[&str] = &[".md", ".rst", ".adoc"];

impl Evaluation<'_> {
    /// Files that are changed, and that only a file of the session names.
    pub(in crate::judge) fn changes_named_outside(
        &mut self,
        subjects: &[MatchInput<'_>],
        field: &Field,
        world: &mut dyn GuardHost,
        look: Option<&dyn FileOracle>,
    ) {
        let Some(look) = look else { return };
        let runs = |subject: &&MatchInput<'_>| subject.command.runs != Runs::Never && !subject.command.elsewhere;
        let unnamed = || subjects.iter().filter(runs).filter(|subject| changes_unnamed(subject));
        let Some(first) = unnamed().next() else { return };
        let search = Search { map: self.map, look, subjects, left: Cell::new(LOOKS) };
        // What a program may run is one of many things, so that only what it is told to read speaks of it.
        let reads_any = unnamed().any(|subject| !runs_unnamed(subject.command));
        let files = self.files_of_session(subjects, reads_any, look);
        let is_named = files.iter().any(|file| search.names_outside(&file.path, &file.text))
            || unnamed().any(|subject| self.is_given_outside(subjects, subject, &search));
        if is_named {
            let evidence = vec![evidence(field, first.command.span)];
            self.coded_on(NativeRule::ChangesNamedOutside, first, &field.value, world, evidence);
        }
    }

    /// Whether a script of the session removes what it does not name, and is given something outside the workspace.
    fn is_given_outside(&self, subjects: &[MatchInput<'_>], subject: &MatchInput<'_>, search: &Search<'_, '_>) -> bool {
        let takes_away = |effect: &Effect| matches!(effect.kind, EffectKind::Delete | EffectKind::Move);
        let earlier = &self.call.earlier;
        let runs_own = |outer: &&MatchInput<'_>| {
            let mut run = outer.command.effects.iter().filter(|effect| effect.kind == EffectKind::Execute);
            subject.command.span.is_inside(outer.command.span)
                && run.any(|effect| effect.path.known().is_some_and(|path| earlier.has_written(path)))
        };
        let is_named = |outer: &MatchInput<'_>| {
            let cwd = outer.command.cwd.as_deref().unwrap_or("/");
            let words = outer.command.words.iter().skip(1).filter_map(Word::known);
            let values = words.map(|word| word.rsplit_once('=').map_or(word, |(_, value)| value));
            values.filter(|word| word.contains('/')).any(|word| search.is_outside(&absolute(word, cwd)))
        };
        let takes_any = || subject.command.preexisting && subject.command.effects.iter().any(takes_away);
        (runs_unnamed(subject.command) || takes_any()) && subjects.iter().filter(runs_own).any(is_named)
    }

    /// The files of the session that a text runs, reads or names. Where it runs a script and `reads_any` is true, that may read any
    /// other.
    fn files_of_session(
        &self,
        subjects: &[MatchInput<'_>],
        reads_any: bool,
        look: &dyn FileOracle,
    ) -> Vec<SessionFile> {
        let earlier = &self.call.earlier;
        let mut found: Vec<SessionFile> = Vec::new();
        let mut add = |path: &str| {
            if found.len() == FILES || found.iter().any(|file| file.path == path) {
                return;
            }
            let held = || earlier.has_written(path).then(|| look.script(path)).flatten();
            if let Some(mut text) = look.written(path).or_else(held) {
                text.truncate(text.floor_char_boundary(LONGEST));
                found.push(SessionFile { path: path.to_owned(), text });
            }
        };
        let known = |path: &&str| path.starts_with('/') && earlier.has_written(path);
        for subject in subjects {
            let cwd = subject.command.cwd.as_deref().unwrap_or("/");
            let effects = &subject.command.effects;
            let used = effects.iter().filter(|effect| matches!(effect.kind, EffectKind::Execute | EffectKind::Read));
            for effect in used {
                match effect.path.known() {
                    Some(path) => add(path),
                    // `glob("config/tasks.*")`
                    None if effect.path.text().trim_matches(['/', '*', Value::HOLE]).is_empty() => {}
                    None => {
                        earlier.written.iter().filter(|path| effect.path.may_lead_to(path)).for_each(|path| add(path));
                    }
                }
            }
            let words = subject.command.words.iter().skip(1).filter_map(Word::known);
            let named: Vec<String> = words.map(|word| absolute(word, cwd)).collect();
            named.iter().map(String::as_str).filter(known).for_each(&mut add);
        }
        if reads_any && subjects.iter().any(|subject| subject.command.preexisting) {
            let is_data = |path: &&String| !path.ends_with('/') && !PROSE.iter().any(|end| path.ends_with(end));
            earlier.written.iter().rev().filter(is_data).take(FILES).for_each(|path| add(path));
        }
        found
    }
}

/// A file that the session has written.
struct SessionFile {
    path: String,
    text: String,
}

/// Whether a command changes a file of which no part of the path is known that says where it is, or runs what is not known. What a
/// script changes that makes temporary files is most likely those.
fn changes_unnamed(subject: &MatchInput<'_>) -> bool {
    let command = subject.command;
    let is_unnamed = |path: &Value| match path {
        Value::Unknown { why: Why::Temporary | Why::Number, .. } => false,
        Value::Unknown { shape, .. } => shape.starts_with(Value::HOLE),
        _ => false,
    };
    let changes = |effect: &Effect| {
        matches!(effect.kind, EffectKind::Delete | EffectKind::Move | EffectKind::Write) && is_unnamed(&effect.path)
    };
    let is_temporary = || command.preexisting && subject.makes_temporary();
    runs_unnamed(command) || command.effects.iter().any(changes) && !is_temporary()
}

/// Whether a command of a script runs what is not known.
fn runs_unnamed(command: &Command) -> bool {
    let is_unknown = || command.words.first().is_some_and(|word| word.known().is_none());
    command.preexisting && (command.opaque || command.unseen_script || is_unknown())
}

/// Looks for names in texts.
struct Search<'s, 'a> {
    map: &'s Map<'s>,
    look: &'s dyn FileOracle,
    subjects: &'s [MatchInput<'a>],
    /// How often it may be asked yet what is at a path.
    left: Cell<u32>,
}

impl Search<'_, '_> {
    /// What is at a path; unknown if that was asked too often.
    fn at(&self, path: &str) -> Presence {
        let Some(left) = self.left.get().checked_sub(1) else { return Presence::Unknown };
        self.left.set(left);
        self.look.look(path)
    }

    /// Whether a file names something outside the workspace.
    fn names_outside(&self, file: &str, text: &str) -> bool {
        let folder = folder_above(file).unwrap_or("/");
        let mut tried = BTreeSet::new();
        let has_mark = |text: &str| UPWARD.iter().any(|mark| text.contains(mark));
        let anywhere = has_mark(text);
        let lines = text.lines().flat_map(|line| {
            let here = anywhere && has_mark(line);
            // What a variable has may come from any line.
            let climbs =
                move |name: &Name<'_>| here || anywhere && (name.is_behind_dollar || name.text.starts_with('/'));
            names(line).map(move |name| (name, climbs(&name)))
        });
        let tells = |name: &Name<'_>| name.text.contains('/') || name.is_value;
        let lines = lines.filter(|(name, climbs)| tells(name) && tried.insert((name.text, *climbs)));
        lines.take(NAMES).any(|(name, climbs)| {
            let in_home = name.text.strip_prefix("~/").or_else(|| name.text.strip_prefix("HOME/"));
            let own = match (in_home, self.map.home()) {
                (Some(rest), Some(home)) => Some(absolute(rest, home)),
                _ if name.text.starts_with('/') => Some(absolute("", name.text)),
                _ if name.text.starts_with("../") => Some(absolute(name.text, folder)),
                _ => None,
            };
            own.is_some_and(|path| self.is_outside(&path)) || climbs && self.is_beside(name, folder)
        })
    }

    /// Whether something lies in a folder around the workspace under this name, or in the home folder, and not in the workspace.
    fn is_beside(&self, name: Name<'_>, folder: &str) -> bool {
        let Some(workspace) = self.map.workspace() else { return false };
        let text = name.text.rsplit_once("../").map_or(name.text, |(_, rest)| rest);
        // `$BASE/Documents`
        let text = text.split_once('/').filter(|_| name.is_behind_dollar).map_or(text, |(_, rest)| rest);
        let rest = text.trim_matches('/');
        let has_letters = rest.chars().filter(|one| one.is_alphabetic()).count() > 2;
        let is_here = |folder: &str| self.at(&absolute(rest, folder)) != Presence::Absent;
        if !has_letters || rest.starts_with('.') || [workspace, folder].into_iter().any(is_here) {
            return false;
        }
        let around = std::iter::successors(folder_above(workspace), |folder| folder_above(folder));
        let mut folders = self.map.home().into_iter().chain(around);
        folders.any(|folder| self.is_outside(&absolute(rest, folder)))
    }

    /// Whether something is there that is of the user: no program or what programs keep, and no file that a command of the text is known
    /// to read.
    fn is_outside(&self, path: &str) -> bool {
        let path = path.trim_end_matches('/');
        let is_users = matches!(self.map.place(path), PathZone::Account | PathZone::Outside);
        let (above, _) = path.rsplit_once('/').unwrap_or_default();
        let is_tools = || path.ends_with("/bin") || above.split('/').any(|part| part.starts_with('.') || part == "bin");
        let holds_workspace = || self.map.workspace().is_some_and(|workspace| is_within(workspace, path));
        let reads = |effect: &Effect| {
            let is_of_file = effect.kind == EffectKind::Read && !is_listing(effect);
            is_of_file && effect.path.known().is_some_and(|read| is_within(read, path))
        };
        let is_read = || self.subjects.iter().any(|subject| subject.command.effects.iter().any(reads));
        is_users
            && !is_tools()
            && !is_made_again(path)
            && !holds_workspace()
            && matches!(self.at(path), Presence::File | Presence::Folder)
            && !is_read()
    }
}

/// A run of characters in a text that may be a path.
#[derive(Clone, Copy)]
struct Name<'t> {
    text: &'t str,
    /// Whether it is all that stands between quotes, or goes on behind a value.
    is_value: bool,
    /// Whether it begins with the name of a variable.
    is_behind_dollar: bool,
}

fn names(text: &str) -> impl Iterator<Item = Name<'_>> {
    let is_of_path = |one: char| one.is_alphanumeric() || matches!(one, '/' | '.' | '_' | '-' | '~' | '+' | '@');
    let mut at = 0;
    std::iter::from_fn(move || {
        let rest = &text[at..];
        let start = rest.find(is_of_path)?;
        let found = &rest[start..];
        let length = found.find(|one| !is_of_path(one)).unwrap_or(found.len());
        let (before, behind) = (text[..at + start].chars().next_back(), found[length..].chars().next());
        let is_value = match before {
            Some('"' | '\'' | '`') => before == behind,
            before => matches!(before, Some(')' | '}')),
        };
        at += start + length;
        Some(Name { text: &found[..length], is_value, is_behind_dollar: before == Some('$') })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_told_from_what_is_around_them() {
        let text = "a = \"../x\"; rm -rf /home/dev/$(1)y `b`+'c d'";
        let found: Vec<_> = names(text).map(|name| (name.text, name.is_value)).collect();
        let expected = [
            ("a", false),
            ("../x", true),
            ("rm", false),
            ("-rf", false),
            ("/home/dev/", false),
            ("1", false),
            ("y", true),
            ("b", true),
            ("+", false),
            ("c", false),
            ("d", false),
        ];
        assert_eq!(found, expected);
    }
}

//! What is read along with a folder: `grep -r key ~` reads `~/.ssh`, though no word names it.
//!
//! This goes by rules that stand for one place, `~/.ssh/` or `/srv/keys/`, and asks; where the content then leaves the
//! machine it blocks. A rule for a name at any depth, as `.env` is, is left out: such files lie in most workspaces, and
//! searching or packing one of those is everyday work. It counts where a search picks files by that name.

use toolgate_shell::{Command, Effect, EffectKind, FileAction, FileOracle, Runs, Span, Value, Word};

use super::path_access::{Access, Below, Touched};
use super::rule_match::RuleMatch;
use super::{Evaluation, evidence};
use crate::call::{Action, Field};
use crate::find_expression;
use crate::matching::MatchInput;
use crate::path_query::PathQuery;
use crate::path_rule::PathRule;
use crate::path_zone::PathZone;
use crate::rule_id::Policy;

/// Programs that tell names, sizes and sums of what lies below a folder, and nothing of its content.
const LISTS: &[&str] = &[
    "ls",
    "find",
    "fd",
    "fdfind",
    "tree",
    "du",
    "df",
    "dust",
    "ncdu",
    "exa",
    "eza",
    "lsd",
    "broot",
    "stat",
    "file",
    "wc",
    "locate",
    "plocate",
    "mlocate",
    "realpath",
    "readlink",
    "dirname",
    "basename",
    "echo",
    "printf",
    "test",
    "[",
    "[[",
    "chmod",
    "chown",
    "chgrp",
    "touch",
    "getfacl",
    "lsattr",
    "cksum",
    "sum",
    "md5sum",
    "sha1sum",
    "sha224sum",
    "sha256sum",
    "sha384sum",
    "sha512sum",
    "b2sum",
    "xxhsum",
    "xargs",
    "rm",
    "rmdir",
    "restorecon",
];

/// Programs that pack whole folders and of which the shell engine only knows the operands.
const PACKS: &[&str] =
    &["pax", "restic", "borg", "duplicity", "rdiff-backup", "mksquashfs", "genisoimage", "mkisofs", "xorriso"];

/// The same for programs that copy to the last of their operands, which may be on another machine.
const COPIES: &[&str] = &["rclone", "aws", "gsutil", "gcloud", "s3cmd", "s5cmd", "azcopy", "b2", "unison"];

/// Programs that read the files whose names they get from standard input, and the options that make others do so.
const LISTED: &[(&str, &[&str])] = &[
    ("cpio", &[]),
    ("pax", &[]),
    ("tar", &["-T", "--files-from"]),
    ("bsdtar", &["-T", "--files-from"]),
    ("zip", &["-@"]),
    ("rsync", &["--files-from"]),
    ("7z", &["-i@"]),
    ("wc", &["--files0-from"]),
    ("sort", &["--files0-from"]),
];

/// Programs that leave out names that begin with a dot, unless they are told otherwise.
const SKIP_HIDDEN: &[&str] = &["rg", "ag", "ack"];

/// What a command reads with a folder; `None` if nothing that it gives away.
pub(super) fn read_below(subject: &MatchInput<'_>, effect: &Effect) -> Option<Below> {
    if let Some(action) = subject.command.action {
        let reads = action != FileAction::List && effect.kind == EffectKind::Read && effect.recursive;
        return reads.then(Below::default);
    }
    let program = subject.command.program()?;
    if effect.kind == EffectKind::Mention {
        let last = subject.command.words.last().filter(|word| word.span != effect.span);
        return match last {
            _ if PACKS.contains(&program) => Some(Below::default()),
            Some(to) if COPIES.contains(&program) => Some(Below::new(&[], to.value.text().contains(':'))),
            _ => None,
        };
    }
    if effect.kind != EffectKind::Read || !effect.recursive {
        return None;
    }
    if LISTS.contains(&program) || SKIP_HIDDEN.contains(&program) && !takes_hidden(subject.command) {
        return None;
    }
    Some(Below::new(&included(subject.command), subject.sends()))
}

/// Whether `-u`, `-.` or `--hidden` is given.
fn takes_hidden(command: &Command) -> bool {
    command.words.iter().skip(1).any(|word| {
        let text = word.value.text();
        let letters = text.strip_prefix('-').filter(|letters| !letters.starts_with('-'));
        matches!(text, "--hidden" | "--unrestricted") || letters.is_some_and(|letters| letters.contains(['u', '.']))
    })
}

/// The globs of files that a search of contents is limited to. Those that leave files out do not say which are meant.
fn included(command: &Command) -> Vec<&str> {
    let (attached, apart): (&[&str], &[&str]) = match command.program() {
        Some("grep" | "egrep" | "fgrep" | "zgrep" | "ugrep") => (&["--include="], &["--include"]),
        Some("rg") => (&["--glob=", "-g="], &["--glob", "-g"]),
        _ => return Vec::new(),
    };
    let mut globs = Vec::new();
    let mut words = command.words.iter().skip(1).map(|word| word.value.text());
    while let Some(word) = words.next() {
        match apart.contains(&word) {
            true => globs.extend(words.next()),
            false => globs.extend(attached.iter().find_map(|option| word.strip_prefix(option))),
        }
    }
    globs.retain(|glob| !glob.starts_with('!'));
    globs
}

impl Evaluation<'_> {
    /// Files that a search finds, and whose content something then reads: `find ~ -name id_rsa -exec cat {} +`.
    pub(super) fn reads_found(&mut self, subjects: &[MatchInput<'_>], field: &Field) {
        let running = || subjects.iter().filter(|subject| subject.command.runs != Runs::Never);
        let reads = |subject: &&MatchInput<'_>| {
            let mut effects = subject.command.effects.iter().zip(subject.places());
            takes_list(subject)
                || subject.command.program().is_some_and(|program| !LISTS.contains(&program))
                    && effects.any(|(effect, place)| {
                        let unnamed = effect.path.text().trim_matches(['/', Value::HOLE]).is_empty();
                        let found = matches!(place, PathZone::Found | PathZone::Unknown) && unnamed;
                        matches!(effect.kind, EffectKind::Read | EffectKind::Send) && found
                    })
        };
        let readers: Vec<&MatchInput<'_>> = running().filter(reads).collect();
        if readers.is_empty() {
            return;
        }
        let mut places: Vec<(usize, usize)> =
            readers.iter().map(|reader| (reader.command.span.start, reader.command.span.end)).collect();
        places.sort_unstable();
        // With each the first end of it and of all behind it.
        let mut first = usize::MAX;
        for (_, end) in places.iter_mut().rev() {
            first = first.min(*end);
            *end = first;
        }
        let holds_reader = |outer: Span| {
            let from = places.partition_point(|(start, _)| *start < outer.start);
            places.get(from).is_some_and(|(_, end)| *end <= outer.end)
        };
        // What a wrapper runs prints where the wrapper prints.
        let leaves = running().any(|subject| holds_reader(subject.command.span) && subject.sends());
        for search in running() {
            let Some(names) = names_found(search.command) else { continue };
            for effect in
                search.command.effects.iter().filter(|effect| effect.kind == EffectKind::Read && effect.recursive)
            {
                let mut touched = Touched::new(Access::Read, effect.path.clone(), evidence(field, effect.span));
                touched.below = Some(Below::new(&names, leaves));
                self.touched.push(touched);
            }
        }
    }

    /// What is not to be read and lies below a folder that is read: one finding, however much it is.
    pub(super) fn read_with(&mut self, touched: &Touched, real: Option<&str>, look: Option<&dyn FileOracle>) {
        let Some(below) = &touched.below else { return };
        let home = self.call.home.as_deref();
        let paths = || [Some(touched.path.text()), real].into_iter().flatten();
        let unread = |rule: &&PathRule| matches!(rule.policy, Policy::ZeroAccess | Policy::NoRead);
        let mut held: Vec<&PathRule> = Vec::new();
        for path in paths() {
            let asked = if below.names.is_empty() { PathQuery::above(path, home) } else { None };
            if let Some(asked) = &asked {
                let rules = self.guard.below(asked).into_iter().filter(unread);
                held.extend(rules.filter(|rule| rule.is_for_reading(home, look)));
            }
            for part in self.guard.active() {
                for name in &below.names {
                    held.extend(part.paths.named_below(path, name, home).into_iter().filter(|rule| unread(rule)));
                }
            }
        }
        held.retain(|rule| !self.path_exempt(rule, touched, real));
        let Some(first) = held.first() else { return };
        let mut others: Vec<&str> = held.iter().map(|rule| rule.source.as_str()).collect();
        others.sort_unstable();
        others.dedup();
        let others = match others.len() - 1 {
            0 => String::new(),
            count => format!(" and {count} more protected paths"),
        };
        let sent = if below.leaves { " and sent to another machine" } else { "" };
        let reason = format!(
            "{} contains {}{others}, which would be read with it{sent}; instead: name the files or folders you mean",
            touched.evidence.text, first.source
        );
        let action = if below.leaves && !touched.possible { Action::Block } else { Action::Ask };
        self.add(RuleMatch::of_path(first, action, reason, touched.evidence.clone()));
    }
}

/// Whether a command reads the files that the one before it in its pipeline names.
fn takes_list(subject: &MatchInput<'_>) -> bool {
    let program = subject.command.program();
    let Some((_, options)) = LISTED.iter().find(|(name, _)| Some(*name) == program) else { return false };
    let given = |option: &&str| subject.command.words.iter().any(|word| word.value.text().starts_with(*option));
    (options.is_empty() || options.iter().any(given)) && !subject.pipeline().0.is_empty()
}

/// The globs by which a search picks the files that it prints; none for all of them. `None` if it is no search.
fn names_found(command: &Command) -> Option<Vec<&str>> {
    match command.program()? {
        "find" => find_expression::names(command),
        "fd" | "fdfind" if takes_hidden(command) || command.words.iter().any(is_hidden_flag) => Some(Vec::new()),
        _ => None,
    }
}

fn is_hidden_flag(word: &Word) -> bool {
    word.known().is_some_and(|text| text.starts_with("-H"))
}

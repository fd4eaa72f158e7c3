//! What is done to files whose names come from a file that was not read: `xargs rm < list`, `rm $(cat list)`. What a small file
//! holds, the shell engine knows.

use toolgate_shell::{Command, Effect, EffectKind, RedirectKind, Runs, SUBSTITUTION, Span, Value, Why, Word};

use super::search_results::{REMOVERS, SEARCHES};
use crate::call::Field;
use crate::flow;
use crate::judge::{Evaluation, evidence};
use crate::matching::MatchInput;
use crate::native_rule::NativeRule;
use crate::path_zone::PathZone;
use crate::world::GuardHost;

/// Programs that print lines or parts of the files that they are given.
const READERS: &[&str] = &[
    "awk", "cat", "cut", "egrep", "fgrep", "gawk", "grep", "head", "jq", "mawk", "perl", "sed", "sort", "sqlite3",
    "tac", "tail", "tr", "uniq", "xmllint", "yq", "zcat",
];

/// Those that decode a text to lines, with an option that says so.
const DECODERS: &[&str] = &["base32", "base64", "basenc", "openssl", "xxd"];

/// Options by which grep prints names of files.
const LISTING: &[&str] = &["--files-with-matches", "--files-without-match", "--recursive"];

/// Programs that run others for what they read.
const FANS: &[&str] = &["parallel", "xargs"];

impl Evaluation<'_> {
    /// Files that are removed or emptied because a file names them that was not read.
    pub(in crate::judge) fn removes_unread(
        &mut self,
        subjects: &[MatchInput<'_>],
        field: &Field,
        world: &mut dyn GuardHost,
    ) {
        let runs = |subject: &&MatchInput<'_>| subject.command.runs != Runs::Never && !subject.command.preexisting;
        for subject in subjects.iter().filter(runs) {
            let hit = subject.command.effects.iter().zip(subject.places()).find_map(|(effect, place)| {
                let unnamed = matches!(place, PathZone::Found | PathZone::Unknown);
                let moves = is_whole_move(effect);
                if !unnamed || !(loses(subject.command, effect) || moves) {
                    return None;
                }
                let list = unread_list(subjects, subject, effect, &field.value)?;
                // Nobody encodes the names of files that are only moved.
                (!moves || is_decoded(subjects, list)).then_some([effect.span, list])
            });
            if let Some(spans) = hit {
                let evidence = spans.map(|span| evidence(field, span)).to_vec();
                self.coded_on(NativeRule::RemoveUnread, subject, &field.value, world, evidence);
            }
        }
    }
}

/// Whether the command that reads a list decodes it.
fn is_decoded(subjects: &[MatchInput<'_>], list: Span) -> bool {
    let decodes = |command: &Command| {
        command.program().is_some_and(|name| DECODERS.contains(&name)) && is_told_to_decode(command)
    };
    let reads = |command: &Command| {
        command.effects.iter().any(|effect| effect.span == list)
            || command.redirects.iter().any(|redirect| redirect.target.span == list)
    };
    subjects.iter().any(|one| decodes(one.command) && reads(one.command))
}

fn is_told_to_decode(command: &Command) -> bool {
    let says = |word: &Word| matches!(word.text(), "-d" | "-D" | "-di" | "-r" | "-r -p" | "--decode" | "-rp");
    command.words.iter().any(says)
}

/// Whether an effect moves a file that nothing is known of.
fn is_whole_move(effect: &Effect) -> bool {
    effect.kind == EffectKind::Move && !effect.alternative && is_unnamed(effect)
}

fn is_unnamed(effect: &Effect) -> bool {
    matches!(&effect.path, Value::Unknown { shape, .. } if shape.trim_matches(['/', Value::HOLE]).is_empty())
}

/// Whether an effect takes away what is in a file that nothing is known of.
fn loses(command: &Command, effect: &Effect) -> bool {
    let empties = || {
        let removes = command.program().is_some_and(|name| REMOVERS.contains(&name));
        removes || command.redirects.iter().any(|redirect| redirect.target.span == effect.span)
    };
    is_unnamed(effect)
        && !effect.alternative
        && (effect.kind == EffectKind::Delete || effect.kind == EffectKind::Write && empties())
}

/// Where the file is named that an unknown path comes from.
fn unread_list(subjects: &[MatchInput<'_>], subject: &MatchInput<'_>, effect: &Effect, source: &str) -> Option<Span> {
    let Value::Unknown { why, .. } = &effect.path else { return None };
    match why {
        Why::Argument => {
            let (before, _) = subject.pipeline();
            match before.first() {
                Some(first) => reads_file(subjects, first),
                None => given_to_fan(subjects, subject).or_else(|| own_list(subject.command)),
            }
        }
        Why::CommandOutput => substituted(subjects, subject, effect.span, source),
        why => {
            let name = why.variable()?;
            let takes = |word: &Word| word.known() == Some(name);
            let is_reader = |other: &&MatchInput<'_>| {
                flow::takes_lines(other.command) && other.command.words.iter().skip(1).any(takes)
            };
            // `a=($(< list)); rm "${a[@]}"`
            let Some(reader) = subjects.iter().take(subject.index).rfind(is_reader) else {
                return substituted(subjects, subject, effect.span, source);
            };
            match reader.pipeline().0.first() {
                Some(first) => reads_file(subjects, first),
                None => given_to_reader(subjects, reader),
            }
        }
    }
}

/// The commands of the script up to one.
fn before<'s, 'a>(subjects: &'s [MatchInput<'a>], index: usize) -> impl DoubleEndedIterator<Item = &'a Command> + 's {
    subjects.iter().take(index).map(|subject| subject.command)
}

/// What xargs reads that runs a command, where that is no pipe.
fn given_to_fan(subjects: &[MatchInput<'_>], subject: &MatchInput<'_>) -> Option<Span> {
    let depth = subject.command.via.iter().rposition(|via| FANS.contains(&via.as_str()))?;
    let is_fan =
        |other: &&Command| other.via.len() == depth && other.program() == Some(subject.command.via[depth].as_str());
    let fan = before(subjects, subject.index).rfind(is_fan)?;
    let named = |word: &Word| {
        let text = word.value.text();
        text == "-a" || text == "::::" || text.starts_with("--arg-file")
    };
    read_by(subjects, fan).or_else(|| fan.words.iter().find(|word| named(word)).map(|word| word.span))
}

/// The list that a command reads itself: `tar --remove-files -T LIST`.
fn own_list(command: &Command) -> Option<Span> {
    let listed = |effect: &&Effect| effect.kind == EffectKind::Read && !effect.recursive;
    command.effects.iter().find(listed).filter(|_| command.program() == Some("tar")).map(|effect| effect.span)
}

/// What `read` takes its lines from, where that is no pipe: its own redirect, or that of the loop around it.
fn given_to_reader(subjects: &[MatchInput<'_>], reader: &MatchInput<'_>) -> Option<Span> {
    let own = reader.command;
    if own.redirects.iter().any(|redirect| redirect.kind == RedirectKind::Read) {
        return read_by(subjects, own);
    }
    let is_loop = |other: &&Command| {
        other.words.is_empty() && other.via == own.via && other.span.start > own.span.end && !other.redirects.is_empty()
    };
    match before(subjects, reader.index).rfind(is_loop) {
        Some(around) => read_by(subjects, around),
        None => opened(subjects, reader),
    }
}

/// The file that a descriptor stands for, from which `read` may take its lines: `exec 3< list; read -r f <&3`.
fn opened(subjects: &[MatchInput<'_>], reader: &MatchInput<'_>) -> Option<Span> {
    let opens = |other: &&Command| {
        let mut redirects = other.redirects.iter();
        let reads = redirects.any(|redirect| redirect.kind == RedirectKind::Read && redirect.fd != Some(0));
        other.program() == Some("exec") && other.words.len() == 1 && reads
    };
    read_by(subjects, before(subjects, reader.index).rfind(opens)?)
}

/// The file that is a command's input, or that which a process substitution reads.
fn read_by(subjects: &[MatchInput<'_>], command: &Command) -> Option<Span> {
    let redirect = command.redirects.iter().rfind(|redirect| redirect.kind == RedirectKind::Read)?;
    let target = &redirect.target;
    match &target.value {
        Value::Unknown { why: Why::ProcessSubstitution, .. } => {
            let first = before(subjects, subjects.len()).find(|other| is_substituted(other, target.span))?;
            reads_file(subjects, first)
        }
        Value::Known(path) if path.starts_with("/dev/") => None,
        _ if is_listed_here(subjects, command, target.span) => None,
        _ => Some(target.span),
    }
}

fn is_substituted(command: &Command, within: Span) -> bool {
    command.via.last().is_some_and(|via| via == SUBSTITUTION)
        && command.span.is_inside(within)
        && command.span != within
}

/// The file that a substitution prints: the one in a word, or that whose output is the value of the variable in it.
fn substituted(subjects: &[MatchInput<'_>], subject: &MatchInput<'_>, word: Span, source: &str) -> Option<Span> {
    let inside = |span: Span| before(subjects, subjects.len()).find(|other| is_substituted(other, span));
    if let Some(first) = inside(word) {
        return reads_file(subjects, first);
    }
    let name = source.get(word.start..word.end)?.trim_matches(['"', '$', '{', '}']);
    let name = name.split(['[', ':', '%', '#']).next().unwrap_or_default();
    let assigned = before(subjects, subject.index).rev().find_map(|other| {
        let value = other.assignments.iter().rfind(|(own, _)| own == name).map(|(_, value)| value.span)?;
        Some(inside(value))
    });
    let first = match assigned {
        Some(first) => first?,
        None => {
            // What a loop goes over.
            let mut all =
                before(subjects, subject.index).filter(|other| other.via.last().is_some_and(|via| via == SUBSTITUTION));
            all.next().filter(|_| all.next().is_none())?
        }
    };
    reads_file(subjects, first)
}

/// The file of which a command prints lines or parts.
fn reads_file(subjects: &[MatchInput<'_>], command: &Command) -> Option<Span> {
    if command.words.is_empty() {
        return read_by(subjects, command);
    }
    let decodes = |name: &str| DECODERS.contains(&name) && (name != "openssl" || is_told_to_decode(command));
    let program = command.program().filter(|name| READERS.contains(name) || decodes(name))?;
    let lists = |word: &Word| {
        let text = word.value.text();
        let short = text.starts_with('-') && !text.starts_with("--") && text.contains(['l', 'L', 'r', 'R']);
        short || LISTING.contains(&text)
    };
    if program.ends_with("grep") && command.words.iter().any(lists) {
        return None;
    }
    if let Some(read) = read_by(subjects, command) {
        return Some(read);
    }
    // What may change a database reads it as well.
    let kinds = [EffectKind::Read, if program == "sqlite3" { EffectKind::Write } else { EffectKind::Read }];
    let reads = |effect: &&Effect| kinds.contains(&effect.kind) && !effect.recursive && !effect.folder;
    let read = command.effects.iter().find(reads)?;
    (!is_listed_here(subjects, command, read.span)).then_some(read.span)
}

/// Whether the text itself wrote a file that a command reads, as the list of what a search found: that is judged by the search.
fn is_listed_here(subjects: &[MatchInput<'_>], command: &Command, named: Span) -> bool {
    let Some(read) = command.effects.iter().find(|effect| effect.span == named && effect.kind == EffectKind::Read)
    else {
        return false;
    };
    let writes = |other: &&Command| {
        let kinds = [EffectKind::Write, EffectKind::Append];
        other.effects.iter().any(|effect| kinds.contains(&effect.kind) && effect.path == read.path)
    };
    let lists = |other: &Command| other.program().is_some_and(|name| name == "git" || SEARCHES.contains(&name));
    before(subjects, subjects.len()).take_while(|other| !std::ptr::eq(*other, command)).find(writes).is_some_and(lists)
}

//! The rules of which no key of a rule file can say when they fire: what a text runs unseen, what a search finds, what cannot
//! be judged. Some have keys, and code agrees last: that git holds what is lost, or that something answers what git asks.

use std::collections::BTreeMap;

use rustc_hash::FxHashSet;
use toolgate_shell::{Command, Effect, Kind as Deed, Look, Runs, Script, Span, Value, Why, Word, absolute};

use super::commands::reason;
use super::{Inquiry, evidence, held, refs};
use crate::call::{Action, Evidence, Field, Source};
use crate::guard::flow;
use crate::guard::matching::{Miss, Reach, Scene, Subject};
use crate::guard::place::{Place, is_elsewhere};
use crate::guard::rule::Rule;
use crate::guard::search;
use crate::guard::world::World;

/// Programs whose output names files.
const SEARCHES: &[&str] =
    &["find", "fd", "fdfind", "ls", "locate", "plocate", "tree", "grep", "rg", "du", "printf", "echo"];

/// Programs that do away with the files that they are given.
const REMOVERS: &[&str] = &["rm", "unlink", "shred", "truncate"];

/// What commands are found inside of whose output the shell takes.
const SUBSTITUTION: &str = "$()";

/// After how many rounds a loop counts as one that does not end: nearly as many as are followed one by one.
const ENDLESS: usize = 200;

/// The rules that are in code. Each has a row in a pack, with `code: true`, for everything else.
#[derive(Clone, Copy, Debug, Hash, PartialEq, Eq)]
pub(crate) enum Coded {
    NoCommand,
    Unparsed,
    TooMuch,
    Links,
    RemovePiped,
    RemoveListed,
    ChangeFound,
    ForkBomb,
    UnknownProgram,
    DownloadAndRun,
    DownloadVouched,
    RunDownloaded,
    DecodeAndRun,
    UnseenScript,
    TypedUnseen,
    StopFitting,
    ForcePushFetched,
    PipedAnswers,
    DeleteTag,
    DiscardPaths,
    DiscardFile,
    Restore,
    RestoreBoth,
    DeleteBranch,
    DeleteBranchForce,
}

impl Coded {
    pub(crate) const ALL: &[Coded] = &[
        Coded::NoCommand,
        Coded::Unparsed,
        Coded::TooMuch,
        Coded::Links,
        Coded::RemovePiped,
        Coded::RemoveListed,
        Coded::ChangeFound,
        Coded::ForkBomb,
        Coded::UnknownProgram,
        Coded::DownloadAndRun,
        Coded::DownloadVouched,
        Coded::RunDownloaded,
        Coded::DecodeAndRun,
        Coded::UnseenScript,
        Coded::TypedUnseen,
        Coded::StopFitting,
        Coded::ForcePushFetched,
        Coded::PipedAnswers,
        Coded::DeleteTag,
        Coded::DiscardPaths,
        Coded::DiscardFile,
        Coded::Restore,
        Coded::RestoreBoth,
        Coded::DeleteBranch,
        Coded::DeleteBranchForce,
    ];

    /// As the row has it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Coded::NoCommand => "no-command",
            Coded::Unparsed => "unparsed",
            Coded::TooMuch => "too-much",
            Coded::Links => "links",
            Coded::RemovePiped => "remove-piped",
            Coded::RemoveListed => "remove-listed",
            Coded::ChangeFound => "change-found",
            Coded::ForkBomb => "fork-bomb",
            Coded::UnknownProgram => "unknown-program",
            Coded::DownloadAndRun => "download-and-run",
            Coded::DownloadVouched => "download-from-known",
            Coded::RunDownloaded => "run-downloaded",
            Coded::DecodeAndRun => "decode-and-run",
            Coded::UnseenScript => "unseen-script",
            Coded::TypedUnseen => "typed-unseen",
            Coded::StopFitting => "self-stop-fitting",
            Coded::ForcePushFetched => "git-force-push-fetched",
            Coded::PipedAnswers => "git-piped-answers",
            Coded::DeleteTag => "git-delete-tag",
            Coded::DiscardPaths => "git-discard-paths",
            Coded::DiscardFile => "git-discard-file",
            Coded::Restore => "git-restore",
            Coded::RestoreBoth => "git-restore-both",
            Coded::DeleteBranch => "git-delete-branch",
            Coded::DeleteBranchForce => "git-delete-branch-force",
        }
    }

    /// Whether a rule fires where all its keys say so.
    pub(super) fn agrees(
        rule: &Rule,
        subject: &Subject<'_>,
        source: &str,
        held: &mut held::Answers,
        world: &mut dyn World,
    ) -> Result<(), Miss<'static>> {
        if !rule.code {
            return Ok(());
        }
        // It goes by what stands around a command, and by what git says.
        subject.reaches(Reach::Text);
        let own = rule.name.strip_prefix("builtin:");
        match Coded::ALL.iter().find(|coded| own == Some(coded.name())) {
            Some(Coded::DeleteTag) if refs::made_here(subject) => Err(Miss::Code),
            Some(Coded::PipedAnswers) if !refs::is_answered(subject, source) => Err(Miss::Code),
            Some(Coded::DiscardPaths | Coded::DiscardFile | Coded::Restore | Coded::RestoreBoth)
                if held.hold(subject, source, world) =>
            {
                Err(Miss::Held)
            }
            Some(Coded::DeleteBranch | Coded::DeleteBranchForce) if held.keep(subject, source, world) => {
                Err(Miss::Held)
            }
            _ => Ok(()),
        }
    }
}

impl<'a> Inquiry<'a> {
    /// A rule in code fires, unless its pack is off.
    pub(super) fn coded(&mut self, coded: Coded, about: &str, evidence: Vec<Evidence>) {
        if let Some(rule) = self.row(coded) {
            self.consider(&rule.name, None, None);
            self.finding(&rule.name, rule.action, &reason(rule, about), evidence);
        }
    }

    /// The same on a command, from which the user's own file may lift it.
    pub(super) fn coded_on(
        &mut self,
        coded: Coded,
        subject: &Subject<'_>,
        source: &str,
        world: &mut dyn World,
        evidence: Vec<Evidence>,
    ) {
        self.coded_at_most(coded, Action::Block, subject, source, world, evidence);
    }

    /// The same with no weightier an action than this one. Whether it fires.
    fn coded_at_most(
        &mut self,
        coded: Coded,
        most: Action,
        subject: &Subject<'_>,
        source: &str,
        world: &mut dyn World,
        evidence: Vec<Evidence>,
    ) -> bool {
        let Some(rule) = self.row(coded) else { return false };
        let lifted = self.not_exempt(rule, subject, source, world).err();
        self.consider(&rule.name, Some(subject.index), lifted.as_ref());
        if lifted.is_none() {
            // The first reason is the one that is kept.
            let reason = if self.has(&rule.name) { String::new() } else { reason(rule, "") };
            self.finding(&rule.name, rule.action.min(most), &reason, evidence);
        }
        lifted.is_none()
    }

    fn row(&mut self, coded: Coded) -> Option<&'a Rule> {
        let guard = self.guard;
        *self.rows.entry(coded).or_insert_with(|| {
            let own = |rule: &&Rule| rule.code && rule.name.strip_prefix("builtin:") == Some(coded.name());
            guard.active().flat_map(|part| &part.rules).find(own)
        })
    }

    /// Tells of the rules in code that found nothing to fire on.
    pub(super) fn consider_code(&mut self) {
        let Some(considered) = &self.considered else { return };
        let told = |rule: &Rule| considered.iter().any(|one| one.rule == rule.name);
        let rows = self.guard.active().flat_map(|part| &part.rules);
        let silent: Vec<&Rule> = rows.filter(|rule| rule.code && !told(rule)).collect();
        for rule in silent {
            self.consider(&rule.name, None, Some(&Miss::Code));
        }
    }

    /// Files that a search outside the workspace finds, and that something unnamed is done to.
    pub(super) fn found_elsewhere(&mut self, subjects: &[Subject<'_>], field: &Field, world: &mut dyn World) {
        let searches = |subject: &&Subject<'_>| {
            let lists = subject.command.program().is_some_and(|program| SEARCHES.contains(&program));
            let places = subject.command.effects.iter().zip(subject.places());
            // `echo "// text"` prints no path.
            let named = |word: &&str| *word == "/" || word.contains(char::is_alphanumeric);
            let words = || {
                let known = subject.command.words.iter().skip(1).filter_map(Word::known);
                known.flat_map(str::split_whitespace).filter(named)
            };
            let printed = matches!(subject.command.program(), Some("printf" | "echo"));
            lists
                && (places.into_iter().any(|(effect, place)| effect.kind == Deed::Read && is_elsewhere(*place))
                    || printed && words().any(|word| word.starts_with('/') && is_elsewhere(self.map.place(word))))
        };
        let running = || subjects.iter().filter(|subject| subject.command.runs != Runs::Never);
        let Some(search) = running().find(searches) else { return };
        let search = search.command.span;
        let mut hit = Vec::new();
        for subject in running() {
            for (effect, place) in subject.command.effects.iter().zip(subject.places()) {
                let unnamed = match &effect.path {
                    Value::Unknown { shape, .. } => {
                        matches!(place, Place::Found | Place::Unknown)
                            && shape.trim_matches(['/', Value::HOLE]).is_empty()
                    }
                    _ => false,
                };
                let loses = matches!(effect.kind, Deed::Delete | Deed::Move | Deed::Write | Deed::Mode | Deed::Link);
                if unnamed && loses {
                    hit.push((subject, effect.span));
                }
            }
        }
        for (subject, span) in hit {
            let evidence = vec![evidence(field, span), evidence(field, search)];
            self.coded_on(Coded::ChangeFound, subject, &field.value, world, evidence);
        }
    }

    /// Files that are removed because a command lists all that is there: `rm $(git ls-files)`.
    pub(super) fn removes_listed(&mut self, subjects: &[Subject<'_>], field: &Field, world: &mut dyn World) {
        let running = || subjects.iter().filter(|subject| subject.command.runs != Runs::Never);
        let lists: Vec<&Subject<'_>> = running().filter(|subject| self.lists_all(subject)).collect();
        if lists.is_empty() {
            return;
        }
        let removes = |subject: &&Subject<'_>| subject.command.program().is_some_and(|name| REMOVERS.contains(&name));
        for subject in running().filter(removes) {
            let hit = subject.command.effects.iter().zip(subject.places()).find_map(|(effect, place)| {
                let unnamed = matches!(place, Place::Found | Place::Unknown);
                if !unnamed || !matches!(effect.kind, Deed::Delete | Deed::Write) {
                    return None;
                }
                printed_by(subjects, &lists, subject, effect).map(|list| [effect.span, list.command.span])
            });
            if let Some(spans) = hit {
                let evidence = spans.map(|span| evidence(field, span)).to_vec();
                self.coded_on(Coded::RemoveListed, subject, &field.value, world, evidence);
            }
        }
    }

    /// Whether a command prints the names of all files of the workspace, or of a folder that people write in.
    fn lists_all(&self, subject: &Subject<'_>) -> bool {
        let command = subject.command;
        let whole = |path: &Value| matches!(self.map.of(path, true), Place::WorkspaceRoot | Place::Source);
        if let Some(names) = search::names(command) {
            let prints_other =
                |word: &Word| ["-exec", "-ok"].iter().any(|action| word.value.text().starts_with(action));
            return names.is_empty()
                && !command.words.iter().any(prints_other)
                && command
                    .effects
                    .iter()
                    .any(|effect| effect.kind == Deed::Read && effect.recursive && whole(&effect.path));
        }
        let found = Some(subject).filter(|subject| subject.may_be("git")).and_then(Subject::invocation);
        let Some(found) = found.filter(|found| found.program == "git") else { return false };
        let Some((_, paths)) = found.operands.split_first().filter(|(first, _)| first.text == Some("ls-files")) else {
            return false;
        };
        let is_given =
            |names: &[&str]| found.options.iter().any(|given| names.iter().any(|name| found.is(given, name)));
        if is_given(&["-o", "--others", "-m", "--modified"]) {
            return true;
        }
        // Those are gone.
        if is_given(&["-d", "--deleted"]) {
            return false;
        }
        let Some(cwd) = &command.cwd else { return true };
        if paths.is_empty() {
            return !matches!(self.map.place(cwd), Place::Temporary | Place::Cache);
        }
        paths.iter().any(|path| {
            path.text.is_none_or(|text| {
                let path = absolute(text, cwd);
                let is_glob = text.contains(['*', '?', '[']);
                text == ":/" || whole(&if is_glob { Value::Pattern(path) } else { Value::Known(path) })
            })
        })
    }

    /// What is run without anyone having seen it.
    pub(super) fn runs(
        &mut self,
        scene: &Scene<'_>,
        subjects: &[Subject<'_>],
        field: &Field,
        world: &mut dyn World,
        look: Option<&dyn Look>,
    ) {
        let script = scene.script();
        if script.unparsed.is_some() {
            return;
        }
        let (runs, memory) = flow::unseen(script, &field.value, look, &self.call.earlier);
        // A text that is judged twice leaves behind what it does the first time.
        if self.memory.is_none() {
            self.memory = memory;
        }
        let explains = self.considered.is_some();
        let mut told = FxHashSet::default();
        for run in runs {
            let coded = match (run.source, run.file) {
                (Source::Downloaded, false) if run.vouched => Coded::DownloadVouched,
                (Source::Downloaded, false) => Coded::DownloadAndRun,
                (Source::Downloaded, true) => Coded::RunDownloaded,
                (Source::Decoded, _) => Coded::DecodeAndRun,
                (Source::Unseen, _) => Coded::UnseenScript,
            };
            // It says the same of the same place, as of a loop in each round.
            if !told.insert((coded, run.span)) && !explains {
                continue;
            }
            let evidence = vec![evidence(field, run.span)];
            // The command that runs it, and not one around that. In a computed text all have the same place.
            let closest = scene.around().closest(run.span);
            if closest.is_empty() {
                self.coded(coded, "", evidence);
                continue;
            }
            for subject in closest.into_iter().filter_map(|number| subjects.get(number)) {
                let fires = self.coded_at_most(coded, Action::Block, subject, &field.value, world, evidence.clone());
                // The others would add nothing.
                if fires && !explains {
                    break;
                }
            }
        }
    }

    /// A function that calls itself and nothing else decides whether it does.
    pub(super) fn endless(&mut self, subject: &Subject<'_>, field: &Field, world: &mut dyn World) {
        let found = subject.command;
        let Some(program) = found.program() else { return };
        // The engine gives up after so many calls; a shell that runs a script of another one's is no call of its own.
        const ROUNDS: usize = 3;
        let rounds = found.via.iter().filter(|via| *via == program).count();
        if found.opaque && found.runs == Runs::Certainly && rounds >= ROUNDS {
            let evidence = vec![evidence(field, found.span)];
            let most = if may_end(subject, program, &field.value) { Action::Ask } else { Action::Block };
            self.coded_at_most(Coded::ForkBomb, most, subject, &field.value, world, evidence);
        }
    }

    /// A loop that never ends, and in each round starts something beside itself and waits for nothing.
    pub(super) fn endless_loop(&mut self, subjects: &[Subject<'_>], field: &Field, world: &mut dyn World) {
        // What waits for nothing.
        const QUICK: &[&str] = &["true", ":", "[", "test", "echo", "printf", "let"];
        if subjects.len() < ENDLESS {
            return;
        }
        let mut rounds: BTreeMap<(usize, usize), (usize, &Subject<'_>)> = BTreeMap::new();
        let sure = |found: &Command| found.runs == Runs::Certainly && found.via.is_empty();
        for subject in subjects.iter().filter(|subject| sure(subject.command)) {
            let span = subject.command.span;
            rounds.entry((span.start, span.end)).or_insert((0, subject)).0 += 1;
        }
        rounds.retain(|_, (count, _)| *count >= ENDLESS);
        let beside = |subject: &Subject<'_>| {
            let after = field.value.get(subject.command.span.end..).unwrap_or_default();
            let after = after.trim_start_matches([' ', '\t', '\n', ';', ')', '}']);
            after.starts_with('&') && !after.starts_with("&&")
        };
        let (started, waited): (Vec<&Subject<'_>>, Vec<&Subject<'_>>) =
            rounds.values().map(|(_, subject)| *subject).partition(|subject| beside(subject));
        let quick = |subject: &&Subject<'_>| subject.command.program().is_some_and(|program| QUICK.contains(&program));
        if !waited.iter().all(quick) {
            return;
        }
        for subject in started {
            let evidence = vec![evidence(field, subject.command.span)];
            self.coded_on(Coded::ForkBomb, subject, &field.value, world, evidence);
        }
    }

    /// A program that is not known, with options that only programs that remove or force something have.
    pub(super) fn forced(&mut self, subject: &Subject<'_>, field: &Field, world: &mut dyn World) {
        let found = subject.command;
        const TELLING: &[&str] = &[
            "-delete",
            "-exec",
            "-execdir",
            "-rf",
            "-fr",
            "-Rf",
            "-fR",
            "-rfv",
            "--hard",
            "--force",
            "--recursive",
            "--no-preserve-root",
            "-ffdxq",
            "-fdx",
            "-ffdx",
            "-xdf",
        ];
        if found.words.first().is_none_or(|word| word.known().is_some()) {
            return;
        }
        let texts = || found.words.windows(2).filter(|pair| pair[0].known() == Some("-c"));
        let text = texts().map(|pair| &pair[1]).find(|word| word.value.text().contains(char::is_whitespace));
        let telling = found.words.iter().skip(1).find(|word| word.known().is_some_and(|text| TELLING.contains(&text)));
        let telling = telling.or(text);
        if let Some(word) = telling {
            let evidence = vec![evidence(field, word.span)];
            self.coded_on(Coded::UnknownProgram, subject, &field.value, world, evidence);
        }
    }

    /// What could not be read to its end.
    pub(super) fn uncertain(&mut self, script: &Script, command: &Field) {
        if let Some(why) = &script.unparsed {
            let whole = evidence(command, Span { start: 0, end: command.value.len() });
            self.coded(Coded::Unparsed, why, vec![whole]);
        }
        // A stored script that cannot be followed is one that cannot be read.
        for word in script.commands.iter().filter(|found| !found.stored).flat_map(|found| &found.words) {
            if let Value::Unknown { why: why @ Why::TooMuch, .. } = &word.value {
                self.coded(Coded::TooMuch, &why.to_string(), vec![evidence(command, word.span)]);
            }
        }
        // What is removed or replaced is one of more than are followed: any of them may be what must not be.
        for found in &script.commands {
            let lost = found.effects.iter().find_map(|effect| match &effect.path {
                Value::Unknown { why: why @ Why::Values(_), shape }
                    if shape.starts_with(Value::HOLE)
                        && matches!(effect.kind, Deed::Delete | Deed::Move | Deed::Write | Deed::Mode | Deed::Link) =>
                {
                    Some(why)
                }
                _ => None,
            });
            if let Some(why) = lost.filter(|_| found.runs != Runs::Never) {
                self.coded(Coded::TooMuch, &why.to_string(), vec![evidence(command, found.span)]);
            }
        }
    }
}

/// Whether a function that calls itself may come to an end: with other arguments each time, below a condition, and nothing
/// in the text runs beside it.
fn may_end(subject: &Subject<'_>, program: &str, source: &str) -> bool {
    let found = subject.command;
    let within = |via: &String| via == program || via == SUBSTITUTION;
    if !found.via.iter().all(within) {
        return false;
    }
    let signs = [">&", "<&", "&>", "&&", "||"];
    let beside = signs.into_iter().fold(source.to_owned(), |text, sign| text.replace(sign, ""));
    if beside.contains(['&', '|']) || beside.contains("coproc") {
        return false;
    }
    let before = &subject.script().commands[..subject.index];
    let outer = |other: &Command| other.program() == Some(program) && other.via.len() < found.via.len();
    let Some(at) = before.iter().rposition(outer) else { return false };
    let words = |command: &Command| -> Option<Vec<String>> {
        command.words.iter().map(|word| word.known().map(str::to_owned)).collect()
    };
    let (Some(own), Some(theirs)) = (words(found), words(&before[at])) else { return false };
    let tests = |command: &Command| {
        matches!(command.program(), Some("[" | "test"))
            && command.words.iter().any(|word| theirs[1..].iter().any(|known| word.known() == Some(known.as_str())))
    };
    let text = source.get(..found.span.start).unwrap_or_default();
    let body = text.rfind(&format!("{program}()")).map_or("", |at| &text[at..]);
    let decides = ["[[ ", " ((", "case "].into_iter().any(|sign| body.contains(sign));
    own != theirs && (decides || before[at + 1..].iter().any(tests))
}

/// Which of the commands that list files prints the path that an effect is on, if that is all there is of the path.
fn printed_by<'s, 'a>(
    subjects: &'s [Subject<'a>],
    lists: &[&'s Subject<'a>],
    subject: &Subject<'a>,
    effect: &Effect,
) -> Option<&'s Subject<'a>> {
    const READERS: &[&str] = &["read", "mapfile", "readarray"];
    let Value::Unknown { why, shape } = &effect.path else { return None };
    if !shape.trim_matches(['/', Value::HOLE]).is_empty() {
        return None;
    }
    // All that a substitution comes to.
    let substituted = |list: &&&'s Subject<'a>| {
        list.command.via.last().is_some_and(|via| via == SUBSTITUTION) && list.pipeline().1.is_empty()
    };
    let mut all = lists.iter();
    let found = match why {
        Why::Argument => {
            // What stands between may choose among them.
            let (before, _) = subject.pipeline();
            all.find(|list| before.last().is_some_and(|nearest| std::ptr::eq(*nearest, list.command)))
        }
        Why::CommandOutput => {
            let inside = |span: Span| span.is_inside(effect.span) && span != effect.span;
            // Where it is a variable's, any that came before.
            let direct = subjects.iter().any(|other| inside(other.command.span));
            all.filter(substituted).find(|list| match direct {
                true => inside(list.command.span),
                false => list.index < subject.index,
            })
        }
        why => {
            let name = why.variable()?;
            let is_reader = |other: &&Subject<'a>| {
                other.command.program().is_some_and(|program| READERS.contains(&program))
                    && other.command.words.iter().skip(1).any(|word| word.known() == Some(name))
            };
            subjects.iter().take(subject.index).filter(is_reader).find_map(|reader| {
                let (before, _) = reader.pipeline();
                match before.as_slice() {
                    [] => lists.iter().find(substituted),
                    [only] => lists.iter().find(|list| std::ptr::eq(*only, list.command)),
                    _ => None,
                }
            })
        }
    };
    found.copied()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::guard::Guard;

    #[test]
    fn every_rule_in_code_has_one_row() {
        let guard = Guard::new();
        let rows = guard.parts.iter().flat_map(|part| &part.rules).filter(|rule| rule.code);
        let mut rows: Vec<&str> = rows.filter_map(|rule| rule.name.strip_prefix("builtin:")).collect();
        let mut coded: Vec<&str> = Coded::ALL.iter().map(|coded| coded.name()).collect();
        rows.sort_unstable();
        coded.sort_unstable();
        assert_eq!(rows, coded);
    }
}

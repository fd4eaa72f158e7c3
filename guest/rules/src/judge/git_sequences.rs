//! What git commands of one text mean for each other.

use std::collections::HashSet;

use toolgate_shell::{Command, Effect, EffectKind, Joiner, Presence, RedirectKind, Runs, Word, absolute};

use super::{Evaluation, evidence};
use crate::call::Field;
use crate::invocation::Invocation;
use crate::matching::{MatchInput, is_change, is_implied, names_repository};
use crate::native_rule::NativeRule;
use crate::path_zone::PathZone;
use crate::rule::Rule;
use crate::worktree;
use crate::world::GuardHost;

/// After these what was fetched is part of what is pushed, or was looked at as such.
const TAKES_OVER: &[&str] = &["am", "checkout", "cherry-pick", "merge", "pull", "rebase", "reset", "switch"];

/// The words of a git command that are no options: its subcommand, then what that is about.
fn operands<'a>(found: &Invocation<'a>) -> Vec<Option<&'a str>> {
    found.operands.iter().map(|operand| operand.text).collect()
}

/// Whether a push takes for what is replaced whatever is known of the remote, and nothing else.
fn leans_on_what_is_known(found: &Invocation<'_>) -> bool {
    let lease = |value: Option<&str>| value.is_none_or(|value| !value.contains(':'));
    let leases = found.options.iter().any(|given| found.is(given, "--force-with-lease") && lease(given.value));
    leases && !found.options.iter().any(|given| found.is(given, "--force-if-includes"))
}

/// Whether all tags that a command removes were made by one that succeeded just before, so that nothing is lost.
pub(super) fn made_here(subject: &MatchInput<'_>, source: &str) -> bool {
    // `! git tag v1 && ..` goes on where the tag was there before. The sign of `[ ! -f x ]` is another one.
    let mut before = "";
    for word in source.split_ascii_whitespace() {
        if word.trim_start_matches(['(', '{']) == "!" && !matches!(before, "[" | "[[" | "test") {
            return false;
        }
        before = word;
    }
    let Some(removes) = subject.invocation() else { return false };
    let removed = operands(removes);
    if removed.len() < 2 || names_repository(subject.command) {
        return false;
    }
    let here =
        |before: &&Command| before.cwd.is_some() && before.cwd == subject.command.cwd && !names_repository(before);
    // There may be very many before it, and few of them make a tag.
    let tags = |before: &&Command| before.words.get(1).and_then(Word::known) == Some("tag");
    let made = subject.succeeded().map(|at| subject.run_by(at)).filter(tags).filter(here);
    let made = made.filter_map(|before| subject.read(before));
    let made = made.filter(|made| made.program == "git" && made.options.is_empty());
    let made = made.filter_map(|made| match operands(&made).as_slice() {
        [Some("tag"), Some(tag), ..] => Some(*tag),
        _ => None,
    });
    let made: HashSet<&str> = made.collect();
    removed.iter().skip(1).all(|tag| tag.is_some_and(|tag| made.contains(tag)))
}

/// Whether something in the text may answer what a command asks. What stands in a loop or a function is given what that is,
/// so that any pipe before it counts.
pub(super) fn is_answered(subject: &MatchInput<'_>, source: &str) -> bool {
    let nobody = |word: &Word| matches!(word.known(), Some("/dev/null" | "/dev/tty"));
    let reads = |command: &Command| {
        command.redirects.iter().any(|redirect| {
            matches!(redirect.kind, RedirectKind::Read | RedirectKind::ReadWrite) && !nobody(&redirect.target)
        })
    };
    // `exec < answers` is for all that comes after it.
    let wide = |command: &&Command| command.words.is_empty() || command.program() == Some("exec");
    let commands = &subject.script().commands;
    // What a here-document says is not always known.
    let documents = source.contains("<<");
    documents
        || commands.iter().take(subject.index + 1).any(|command| command.joiner == Joiner::Pipe)
        || commands.iter().filter(wide).any(reads)
        || reads(subject.command)
        || subject.command.input().is_some_and(|input| !input.is_empty())
}

/// Whether all that a rule on effects sees is what the shell writes to, and no word of the program.
pub(super) fn is_redirected(rule: &Rule, subject: &MatchInput<'_>) -> bool {
    let mut effects = rule.what.effects.iter().flat_map(|wanted| subject.effects(wanted)).map(|(effect, _)| effect);
    effects.all(|effect| subject.command.redirects.iter().any(|redirect| redirect.target.span == effect.span))
}

/// What git keeps in its folder, or another program that has something there which is nowhere else.
const OWN: &[&str] = &[
    "annex",
    "branches",
    "branchless",
    "commondir",
    "common",
    "config",
    "config.worktree",
    "description",
    "git-crypt",
    "gitbutler",
    "gitdir",
    "head",
    "hooks",
    "index",
    "info",
    "jj",
    "lfs",
    "logs",
    "modules",
    "objects",
    "packed-refs",
    "rebase-apply",
    "rebase-merge",
    "refs",
    "reftable",
    "rr-cache",
    "sequencer",
    "shallow",
    "sl",
    "svn",
    "worktrees",
];

/// Whether a name below `.git` is git's own. Files of its states have large letters: `MERGE_HEAD`.
fn is_own(name: &str) -> bool {
    let is_state = name.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'_');
    let small = name.to_ascii_lowercase();
    is_state || OWN.contains(&small.as_str()) || small.starts_with("sharedindex.") || small.starts_with("config")
}

/// Whether all that is removed is what other programs keep below `.git`, beside git's own.
pub(super) fn is_others(rule: &Rule, subject: &MatchInput<'_>) -> bool {
    let is_others = |effect: &Effect| {
        let path = effect.path.known().filter(|_| matches!(effect.kind, EffectKind::Delete | EffectKind::Move));
        let name =
            path.and_then(|path| path.split_once("/.git/")).map(|(_, rest)| rest.split('/').next().unwrap_or(rest));
        name.is_some_and(|name| !name.is_empty() && !is_own(name))
    };
    rule.what.effects.iter().flat_map(|wanted| subject.effects(wanted)).all(|(effect, _)| is_others(effect))
}

/// What git has in its folder while it is about something that can be aborted.
const STATES: &[&str] = &["MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD", "rebase-merge", "rebase-apply", "sequencer"];

/// Whether nothing was begun before the text ran, and the text itself resolves nothing, so that what is aborted is what it has
/// begun itself.
pub(super) fn begun_here(subject: &MatchInput<'_>, world: &mut dyn GuardHost) -> bool {
    let (Some(look), Some(cwd)) = (world.look(), subject.command.cwd.as_deref()) else { return false };
    let Some(folder) = worktree::own_folder(cwd, look.as_ref()) else { return false };
    let idle = |state: &&str| look.look(&format!("{folder}/{state}")) == Presence::Absent;
    if names_repository(subject.command) || !STATES.iter().all(idle) {
        return false;
    }
    let before = subject.script().commands.iter().take(subject.index).filter(|command| command.runs != Runs::Never);
    let mut since = before.rev();
    let found = since.find(|command| begins(subject, command) || !only_looks(command));
    found.is_some_and(|command| begins(subject, command))
}

/// Whether a command begins what can be aborted, in the folder of another one.
fn begins<'a>(subject: &MatchInput<'a>, command: &'a Command) -> bool {
    const BEGINS: &[&str] = &["am", "cherry-pick", "merge", "pull", "rebase", "revert"];
    command.cwd == subject.command.cwd && !names_repository(command) && is_git_of(subject, command, BEGINS)
}

/// Whether a command is git with one of these subcommands.
fn is_git_of<'a>(subject: &MatchInput<'a>, command: &'a Command, names: &[&str]) -> bool {
    let found = subject.read(command).filter(|found| found.program == "git");
    let name = found.and_then(|found| operands(&found).first().copied().flatten());
    name.is_some_and(|name| names.contains(&name))
}

/// Whether a command changes no file but temporary ones, and nothing that git knows.
fn only_looks(command: &Command) -> bool {
    const LOOKS: &[&str] = &[
        ":", "[", "cat", "echo", "exit", "false", "grep", "head", "ls", "printf", "sleep", "sort", "tail", "test",
        "true", "wc",
    ];
    const OF_GIT: &[&str] = &["diff", "fetch", "log", "ls-files", "merge-base", "rev-parse", "show", "status"];
    let looks = match command.program() {
        None => command.words.is_empty(),
        Some("git") => command.words.get(1).and_then(Word::known).is_some_and(|name| OF_GIT.contains(&name)),
        Some(program) => LOOKS.contains(&program),
    };
    let harmless = |effect: &Effect| {
        let path = effect.path.text();
        !is_change(effect.kind) || is_implied(command, effect) || path.starts_with("/tmp/") || path.starts_with("/dev/")
    };
    looks && !command.opaque && !command.unseen_script && command.effects.iter().all(harmless)
}

/// Whether no remote has the commit that is amended: it is on the branch that is checked out, and on no other. Git is asked
/// before the text runs, so what the text does before must be no push.
pub(super) fn is_only_here(subject: &MatchInput<'_>, world: &mut dyn GuardHost) -> bool {
    let command = subject.command;
    let Some(cwd) = command.cwd.as_deref().filter(|_| !command.elsewhere && !command.other_folders) else {
        return false;
    };
    let before = subject.script().commands.iter().take(subject.index).filter(|other| other.runs != Runs::Never);
    if names_repository(command) || !before.into_iter().all(|other| stays(subject, other)) {
        return false;
    }
    let Some(Some(branch)) = world.branch(cwd) else { return false };
    world.is_only_on(cwd, &branch)
}

/// Whether a command gives no remote a commit and goes to no other one. A script may do both.
fn stays<'a>(subject: &MatchInput<'a>, command: &'a Command) -> bool {
    const STAY: &[&str] = &["add", "commit", "diff", "log", "mv", "rm", "show", "stage", "status"];
    match command.program() {
        Some("git") => is_git_of(subject, command, STAY),
        _ => {
            !command.opaque && !command.unseen_script && command.words.first().is_none_or(|word| word.known().is_some())
        }
    }
}

impl Evaluation<'_> {
    /// A push that would stop at what others have pushed, had it not been fetched just before.
    pub(super) fn fetched(&mut self, subjects: &[MatchInput<'_>], field: &Field, world: &mut dyn GuardHost) {
        let mut fetched = false;
        for subject in subjects.iter().filter(|subject| subject.command.runs != Runs::Never) {
            let found = Some(subject).filter(|subject| subject.may_be("git")).and_then(MatchInput::invocation);
            let Some(found) = found.filter(|found| found.program == "git") else { continue };
            match operands(found).as_slice() {
                [Some("fetch"), ..] | [Some("remote"), Some("update"), ..] => fetched = true,
                [Some("push"), ..] if fetched && leans_on_what_is_known(found) => {
                    let evidence = vec![evidence(field, subject.command.span)];
                    self.coded_on(NativeRule::ForcePushFetched, subject, &field.value, world, evidence);
                }
                [Some(subcommand), ..] if TAKES_OVER.contains(subcommand) => fetched = false,
                _ => {}
            }
        }
    }
}
/// Whether a git command changes files of a repository that is not the workspace's, and no temporary one.
pub(super) fn is_of_other_repository(subject: &MatchInput<'_>) -> bool {
    let spent = |place: PathZone| matches!(place, PathZone::Temporary | PathZone::TemporaryRoot);
    let effects = subject.command.effects.iter().zip(subject.places());
    let written = effects.filter(|(effect, place)| effect.kind == EffectKind::Write && !spent(**place));
    let roots = written.filter_map(|(effect, _)| {
        let root = effect.path.text().strip_suffix("/**")?;
        (!root.ends_with("/.git") && root.starts_with('/')).then_some(root)
    });
    // With an option that no table lists, what stands behind it is read otherwise.
    let cwd = subject.command.shell_cwd.as_deref().unwrap_or_default();
    let pairs = subject.command.words.windows(2).filter(|pair| pair[0].known() == Some("-C"));
    let named = pairs.filter_map(|pair| pair[1].known()).map(|folder| absolute(folder, cwd));
    let named = named.filter(|folder| !spent(subject.zone(folder)));
    let folders = roots.map(str::to_owned).chain(named);
    folders.into_iter().any(|root| !subject.is_of_workspace(&root) && !subject.is_own_tree(&root))
}

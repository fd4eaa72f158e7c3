//! Git commands that take away the files of a project that have an agent ask Toolgate, or that hold rules.
//!
//! Such a file is often in the project: `.claude/settings.json` with the hook, `.toolgate.yaml`. `git stash -u` removes it
//! where git does not know it, `git checkout OLD` where an older commit does not have it, and the next calls of the session
//! run unjudged. What a merge or a pull brings is not known before, and is not looked at.

use toolgate_shell::{FileOracle, Presence, Runs, absolute};

use super::hook_files::AGENTS;
use super::{Evaluation, evidence};
use crate::call::Field;
use crate::invocation::{Given, Invocation};
use crate::matching::MatchInput;
use crate::native_rule::NativeRule;
use crate::worktree;
use crate::world::{GuardHost, Tracked};

/// Files with rules below a project's root.
const RULES: &[&str] = &[".toolgate.yaml", ".toolgate.yml", "toolgate.yaml", "damage-control-rules.yaml"];

/// Settings of an agent that has its hooks in a file of another one's form.
const FOREIGN_SETTINGS: &[&str] = &[".qwen/settings.json"];

/// Files below a project's root, and whether they only count where Toolgate is named in them.
fn all() -> impl Iterator<Item = (&'static str, bool)> {
    let hooks = AGENTS.iter().flat_map(|agent| agent.project).chain(FOREIGN_SETTINGS);
    RULES.iter().map(|file| (*file, false)).chain(hooks.map(|file| (*file, true)))
}

/// Most commits of one command that git is asked about: each takes some 10 ms.
const COMMITS: usize = 4;

/// What a git command does to files that are the same in the last commit, or unknown to git.
#[derive(Debug, PartialEq, Eq)]
enum Takes<'a> {
    /// Changes go away, and with them files that git does not know, or that it ignores.
    Changes {
        untracked: bool,
        ignored: bool,
    },
    /// The files become those of one of these commits.
    Commits(Vec<&'a str>),
    /// What these commits did is done, or undone.
    Steps(Vec<&'a str>),
    /// Only what is below these folders stays.
    Only(Vec<&'a str>),
    /// All that git knows.
    All,
    /// Git does not know the files any more.
    Forgets,
    Nothing,
}

/// What a git command takes, and the paths to which it keeps; all if there are none.
fn takes<'a>(found: &Invocation<'a>) -> (Takes<'a>, Vec<&'a str>) {
    let has = |names: &[&str]| found.has(names);
    let texts = |from: usize| -> Vec<&'a str> {
        found.operands.iter().skip(from).filter_map(|operand| operand.text).filter(|text| *text != "--").collect()
    };
    let named = |at: usize| found.operands.get(at).and_then(|operand| operand.text);
    let nothing = || (Takes::Nothing, Vec::new());
    match named(0) {
        Some("stash") => match named(1) {
            // It goes to the commit on which the stash was made.
            Some("branch") => (Takes::Commits(vec!["stash@{0}^"]), Vec::new()),
            None | Some("push" | "save") => {
                let all = has(&["-a", "--all"]);
                let untracked = all || has(&["-u", "--include-untracked"]);
                let paths = if named(1) == Some("push") { texts(2) } else { Vec::new() };
                (Takes::Changes { untracked, ignored: all }, paths)
            }
            _ => nothing(),
        },
        Some("clean") if has(&["-f", "--force"]) && !has(&["-n", "--dry-run"]) && has(&["-x", "-X"]) => {
            (Takes::Changes { untracked: !has(&["-X"]), ignored: true }, texts(1))
        }
        // It takes all away that git knows.
        Some("switch") if has(&["--orphan"]) => (Takes::All, Vec::new()),
        Some("checkout" | "switch") => {
            const CREATE: &[&str] = &["-b", "-B", "-c", "-C", "--create", "--force-create", "--orphan"];
            // The name of a new branch stands before where it starts.
            let named = |given: &&Given<'_>| given.value.is_none() && CREATE.iter().any(|name| found.is(given, name));
            let mut rest = texts(1);
            if found.options.iter().any(|given| named(&given)) && !rest.is_empty() {
                rest.remove(0);
            }
            match rest.split_first() {
                Some((commit, paths)) => (Takes::Commits(vec![commit]), paths.to_vec()),
                None => nothing(),
            }
        }
        Some("read-tree") if has(&["-u", "--reset"]) => (Takes::Commits(texts(1)), Vec::new()),
        Some("restore") => {
            let source = found.options.iter().find(|given| found.is(given, "--source") || found.is(given, "-s"));
            match source.and_then(|given| given.value) {
                Some(commit) => (Takes::Commits(vec![commit]), texts(1)),
                None => nothing(),
            }
        }
        Some("bisect") if matches!(named(1), Some("start" | "good" | "bad" | "old" | "new")) => {
            (Takes::Commits(texts(2)), Vec::new())
        }
        Some("rebase") => {
            let onto = found.options.iter().find(|given| found.is(given, "--onto")).and_then(|given| given.value);
            (Takes::Commits(onto.into_iter().collect()), Vec::new())
        }
        Some("revert" | "cherry-pick") => (Takes::Steps(texts(1)), Vec::new()),
        Some("sparse-checkout") if matches!(named(1), Some("init" | "set")) => (Takes::Only(texts(2)), Vec::new()),
        Some("rm") if has(&["--cached"]) => (Takes::Forgets, texts(1)),
        _ => nothing(),
    }
}

/// The files of a worktree that have an agent ask Toolgate, or that hold rules.
fn carriers(root: &str, look: &dyn FileOracle) -> Vec<&'static str> {
    let carries = |(file, named): &(&str, bool)| {
        let path = absolute(file, root);
        look.look(&path) == Presence::File
            && (!named || look.script(&path).is_none_or(|text| text.contains("toolgate")))
    };
    all().filter(carries).map(|(file, _)| file).collect()
}

impl<'a> Evaluation<'a> {
    /// Git commands that take away what has an agent ask Toolgate.
    pub(super) fn settings(
        &mut self,
        subjects: &[MatchInput<'_>],
        field: &Field,
        world: &mut dyn GuardHost,
        look: Option<&dyn FileOracle>,
    ) {
        let Some(look) = look else { return };
        for subject in subjects.iter().filter(|subject| subject.command.program() == Some("git")) {
            if subject.command.runs == Runs::Never || subject.command.elsewhere {
                continue;
            }
            let Some(found) = subject.invocation() else { continue };
            let (takes, paths) = takes(found);
            if takes == Takes::Nothing {
                continue;
            }
            let folder = subject.command.cwd.as_deref().unwrap_or(&self.call.cwd);
            let Some(root) = worktree::top(folder, look) else { continue };
            let within = |file: &str| {
                let file = absolute(file, &root);
                let covers = |path: &&str| {
                    let path = absolute(path, folder);
                    path == "/" || file == path || file.strip_prefix(&path).is_some_and(|rest| rest.starts_with('/'))
                };
                // Other magic, and globs, may mean any file.
                let any = |path: &&&str| path.contains([':', '*', '?', '[']) || covers(path);
                let mut included = paths.iter().filter(|path| excluded(path).is_none()).peekable();
                !paths.iter().filter_map(|path| excluded(path)).any(|path| covers(&path))
                    && (included.peek().is_none() || included.any(|path| any(&path)))
            };
            let taken = carriers(&root, look).into_iter().filter(|file| within(file));
            let taken = taken.into_iter().find(|file| is_taken(&takes, &root, file, world));
            if let Some(file) = taken {
                self.native(NativeRule::SettingsTaken, file, vec![evidence(field, subject.command.span)]);
            }
        }
    }
}

/// What a pathspec leaves out.
fn excluded(pathspec: &str) -> Option<&str> {
    pathspec.strip_prefix(":!").or_else(|| pathspec.strip_prefix(":^"))
}

/// Whether the last commit or the index has a file of that name.
fn is_known(tracked: Option<Tracked>) -> bool {
    matches!(tracked, Some(Tracked::Held | Tracked::Changed))
}

/// Whether a command takes a file away that is there now.
fn is_taken(takes: &Takes<'_>, root: &str, file: &str, world: &mut dyn GuardHost) -> bool {
    let mut tracked = || world.tracked(&absolute(file, root));
    match takes {
        Takes::Changes { untracked, ignored } => match tracked() {
            Some(Tracked::Held) | None => false,
            Some(Tracked::Changed) => true,
            Some(Tracked::Untracked) => *untracked,
            Some(Tracked::Ignored) => *ignored,
        },
        Takes::Commits(commits) => {
            commits.len() > COMMITS && is_known(tracked())
                || commits.iter().take(COMMITS).any(|commit| {
                    let commit = if *commit == "-" { "@{-1}" } else { commit };
                    // A name that is no commit is a path, or an error of git's; one of two commits is what they have in common.
                    world.differs(root, commit, file).unwrap_or(false)
                        || commit.contains("..") && is_known(world.tracked(&absolute(file, root)))
                })
        }
        Takes::Steps(commits) => {
            // Ranges, and more than git is asked about.
            let many = commits.len() > COMMITS
                || commits.iter().any(|commit| commit.contains("..") || commit.starts_with('^'));
            many && is_known(tracked())
                || commits.iter().take(COMMITS).any(|commit| {
                    let before = world.differs(root, &format!("{commit}^"), file);
                    let after = world.differs(root, commit, file);
                    matches!((before, after), (Some(one), Some(other)) if one != other)
                })
        }
        Takes::Only(folders) => {
            let tracked = is_known(tracked());
            // Files of the root stay.
            let stays = |folder: &str| {
                let folder = folder.trim_matches('/');
                file.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'))
            };
            tracked && file.contains('/') && !folders.iter().any(|folder| stays(folder))
        }
        Takes::All => is_known(tracked()),
        Takes::Forgets => true,
        Takes::Nothing => false,
    }
}

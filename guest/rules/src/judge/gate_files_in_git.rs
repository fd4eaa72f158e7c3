//! Git commands that take away the files of a project that have an agent ask Toolgate, or that hold rules.
//!
//! Such a file is often in the project: `.claude/settings.json` with the hook, `.toolgate.yaml`. `git stash -u` removes it
//! where git does not know it, `git checkout OLD` where an older commit does not have it, and the next calls of the session
//! run unjudged. So does a patch that makes the files those of another commit. What a merge or a pull brings is not known before,
//! and is not looked at.

use toolgate_shell::{Command, EffectKind, FileOracle, Presence, Runs, SUBSTITUTION, Word, absolute};

use super::hook_files::AGENTS;
use super::{Evaluation, evidence};
use crate::call::Field;
use crate::invocation::{Invocation, Operand, ParsedOption};
use crate::matching::{MatchInput, git_subcommand};
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

/// How a git command updates the worktree: what it does to files that are the same in the last commit, or unknown to
/// git.
#[derive(Debug, PartialEq, Eq)]
enum WorktreeUpdate<'a> {
    /// Changes go away, and with them files that git does not know, or that it ignores.
    Changes {
        untracked: bool,
        ignored: bool,
    },
    /// The files become those of one of these commits.
    Commits(Vec<&'a str>),
    /// The files become those of the index.
    Index,
    /// What these commits did is done, or undone.
    Steps(Vec<&'a str>),
    /// Only what is below these folders stays.
    Only(Vec<&'a str>),
    /// Only what these patterns name stays.
    Patterns(Vec<&'a str>),
    /// All that git knows.
    All,
    /// Git does not know the files any more.
    Forgets,
    Nothing,
}

/// What a git command takes, and the paths to which it keeps; all if there are none. `dashes` is the number of the word `--`.
fn takes<'a>(found: &Invocation<'a>, dashes: Option<usize>) -> (WorktreeUpdate<'a>, Vec<&'a str>) {
    let has = |names: &[&str]| found.has(names);
    let texts = |from: usize| -> Vec<&'a str> {
        found.operands.iter().skip(from).filter_map(|operand| operand.text).filter(|text| *text != "--").collect()
    };
    let named = |at: usize| found.operands.get(at).and_then(|operand| operand.text);
    let nothing = || (WorktreeUpdate::Nothing, Vec::new());
    match named(0) {
        Some("stash") => match named(1) {
            // It goes to the commit on which the stash was made.
            Some("branch") => (WorktreeUpdate::Commits(vec!["stash@{0}^"]), Vec::new()),
            None | Some("push" | "save") => {
                let all = has(&["-a", "--all"]);
                let untracked = all || has(&["-u", "--include-untracked"]);
                let paths = if named(1) == Some("push") { texts(2) } else { Vec::new() };
                (WorktreeUpdate::Changes { untracked, ignored: all }, paths)
            }
            _ => nothing(),
        },
        Some("clean") if has(&["-f", "--force"]) && !has(&["-n", "--dry-run"]) => {
            (WorktreeUpdate::Changes { untracked: !has(&["-X"]), ignored: has(&["-x", "-X"]) }, texts(1))
        }
        // It takes all away that git knows.
        Some("switch") if has(&["--orphan"]) => (WorktreeUpdate::All, Vec::new()),
        // A list of paths that is not read may name any.
        Some("update-index") if has(&["--stdin", "--index-info", "-z"]) => (WorktreeUpdate::Forgets, Vec::new()),
        Some("update-index") if has(&["--force-remove", "--remove", "--cacheinfo"]) => {
            let entry = |given: &&ParsedOption<'_>| found.is(given, "--cacheinfo");
            let entries = found.options.iter().filter(entry).filter_map(|given| given.value);
            let entries = entries.filter_map(|value| value.rsplit(',').next());
            (WorktreeUpdate::Forgets, texts(1).into_iter().chain(entries).collect())
        }
        Some("reset") if has(&["--hard", "--keep", "--merge"]) => (WorktreeUpdate::Commits(texts(1)), Vec::new()),
        // Of these paths in the index.
        Some("reset") if found.operands.len() > 2 => match texts(1).split_first() {
            Some((commit, paths)) => (WorktreeUpdate::Commits(vec![commit]), paths.to_vec()),
            None => nothing(),
        },
        Some("checkout" | "switch") => {
            const CREATE: &[&str] = &["-b", "-B", "-c", "-C", "--create", "--force-create", "--orphan"];
            // The name of a new branch stands before where it starts.
            let named =
                |given: &&ParsedOption<'_>| given.value.is_none() && CREATE.iter().any(|name| found.is(given, name));
            let mut rest = texts(1);
            if found.options.iter().any(|given| named(&given)) && !rest.is_empty() {
                rest.remove(0);
            }
            let from_index = found.operands.get(1).is_some_and(|first| dashes.is_some_and(|at| at < first.word));
            match rest.split_first() {
                Some(_) if from_index => (WorktreeUpdate::Index, rest),
                Some((commit, paths)) => (WorktreeUpdate::Commits(vec![commit]), paths.to_vec()),
                None => nothing(),
            }
        }
        Some("read-tree") if has(&["-u", "--reset"]) => (WorktreeUpdate::Commits(texts(1)), Vec::new()),
        Some("restore") => {
            let source = found.options.iter().find(|given| found.is(given, "--source") || found.is(given, "-s"));
            match source.and_then(|given| given.value) {
                Some(commit) => (WorktreeUpdate::Commits(vec![commit]), texts(1)),
                None if has(&["-S", "--staged"]) && !has(&["-W", "--worktree"]) => nothing(),
                None => (WorktreeUpdate::Index, texts(1)),
            }
        }
        Some("bisect") if matches!(named(1), Some("start" | "good" | "bad" | "old" | "new" | "reset")) => {
            (WorktreeUpdate::Commits(texts(2)), Vec::new())
        }
        Some("rebase") => {
            let onto = found.options.iter().find(|given| found.is(given, "--onto")).and_then(|given| given.value);
            // Whoever writes the list of what is done again may leave commits out.
            let steps = || if has(&["-i", "--interactive"]) { named(1) } else { None };
            // The second is checked out first.
            let branch = texts(1).get(if has(&["--root"]) { 0 } else { 1 }).copied();
            (WorktreeUpdate::Commits(onto.into_iter().chain(branch).chain(steps()).collect()), Vec::new())
        }
        Some("revert" | "cherry-pick") => (WorktreeUpdate::Steps(texts(1)), Vec::new()),
        Some("sparse-checkout") if matches!(named(1), Some("init" | "set")) => match has(&["--no-cone", "--stdin"]) {
            true => (WorktreeUpdate::Patterns(texts(2)), Vec::new()),
            false => (WorktreeUpdate::Only(texts(2)), Vec::new()),
        },
        Some("rm") if has(&["--cached"]) => (WorktreeUpdate::Forgets, texts(1)),
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
        let mut staged = Staged::default();
        // Commits are named by what another command prints.
        let prints = || subjects.iter().any(|subject| prints_commits(subject.command));
        for subject in subjects.iter().filter(|subject| !subject.command.elsewhere) {
            if subject.command.runs == Runs::Never {
                continue;
            }
            self.patched(subject, field, world, look);
            let is_git = subject.command.program() == Some("git");
            let Some(found) = subject.invocation().filter(|_| is_git) else { continue };
            let dashes = subject.command.words.iter().position(|word| word.known() == Some("--"));
            let (mut takes, paths) = takes(found, dashes);
            staged.name(&mut takes);
            let is_given = || goes(found) && dashes.is_none() && is_given_commits(subject);
            let is_open = (takes_commits(found) || staged.names_unknown(found)) && prints() || is_given();
            if takes != WorktreeUpdate::Nothing || is_open {
                let folder = subject.command.cwd.as_deref().unwrap_or(&self.call.cwd);
                let Some(root) = worktree::top(folder, look) else { continue };
                let taken = carriers(&root, look).into_iter().filter(|file| covers(&paths, &root, folder, file));
                let taken = taken.into_iter().find(|file| {
                    is_open && is_known(world.tracked(&absolute(file, &root)))
                        || is_taken(&takes, &root, file, world)
                        || staged.makes_taken(&takes, &root, folder, file, world)
                });
                if let Some(file) = taken {
                    self.native(NativeRule::SettingsTaken, file, vec![evidence(field, subject.command.span)]);
                }
            }
            staged.follow(found);
        }
    }

    /// A patch that takes such a file away.
    fn patched(&mut self, subject: &MatchInput<'_>, field: &Field, world: &mut dyn GuardHost, look: &dyn FileOracle) {
        let command = subject.command;
        if !applies(command) {
            return;
        }
        let described = descriptions(subject);
        let folder = command.cwd.as_deref().unwrap_or(&self.call.cwd);
        let Some(root) = worktree::top(folder, look).filter(|_| !described.is_empty()) else { return };
        let taken = |file: &&str| described.iter().any(|patch| patch_takes(patch, &root, file, world));
        if let Some(file) = carriers(&root, look).into_iter().find(taken) {
            self.native(NativeRule::SettingsTaken, file, vec![evidence(field, command.span)]);
        }
    }
}

/// Whether a command does what a patch says.
fn applies(command: &Command) -> bool {
    const LOOKS: &[&str] = &["--check", "--dry-run", "--numstat", "--stat", "--summary"];
    let applies = match command.program() {
        Some("git") => matches!(git_subcommand(command).as_deref(), Some("am" | "apply")),
        program => matches!(program, Some("patch" | "gpatch")),
    };
    applies && !command.words.iter().filter_map(Word::known).any(|word| LOOKS.contains(&word))
}

/// The commands that print what a command is given as a patch: by a pipe, a substitution, or a file that the text has written.
fn descriptions<'a>(subject: &MatchInput<'a>) -> Vec<&'a Command> {
    let command = subject.command;
    let reads = |other: &Command| {
        let written = other.effects.iter().filter(|effect| effect.kind == EffectKind::Write);
        let read = || command.effects.iter().filter(|effect| effect.kind == EffectKind::Read);
        let mut written = written.filter(|effect| effect.path.known().is_some());
        written.any(|effect| read().any(|read| read.path == effect.path))
    };
    let is_inside =
        |other: &Command| other.via.last().is_some_and(|via| via == SUBSTITUTION) && other.span.is_inside(command.span);
    let commands = &subject.script().commands;
    let earlier = commands[..subject.index].iter().filter(|other| reads(other));
    let inside = commands.iter().filter(|other| is_inside(other));
    subject.pipeline().0.into_iter().chain(earlier).chain(inside).collect()
}

/// Whether a patch that a command prints makes a file another one.
fn patch_takes(patch: &Command, root: &str, file: &str, world: &mut dyn GuardHost) -> bool {
    let Some(folder) = patch.cwd.as_deref() else { return false };
    let words = || patch.words.iter().skip(1).filter_map(Word::known);
    // It is named beside what it is compared with.
    let is_named = || words().any(|word| absolute(word, folder) == absolute(file, root));
    match git_subcommand(patch).as_deref() {
        Some("diff") if words().any(|word| word == "--no-index") => is_named(),
        Some(name @ ("diff" | "diff-index" | "diff-tree" | "format-patch" | "log" | "show")) => {
            let rest: Vec<&str> = words().skip_while(|word| *word != name).skip(1).collect();
            // One commit tells of what it did itself.
            let alone = matches!(name, "format-patch" | "log" | "show");
            tells_of(&rest, alone, root, folder, file, world)
        }
        None => matches!(patch.program(), Some("diff" | "gdiff")) && is_named(),
        _ => false,
    }
}

/// Whether commits that are compared, or what they did themselves if each stands `alone`, have another file of a name than the last
/// one.
fn tells_of(words: &[&str], alone: bool, root: &str, folder: &str, file: &str, world: &mut dyn GuardHost) -> bool {
    let dashes = words.iter().position(|word| *word == "--");
    let (before, behind) = words.split_at(dashes.unwrap_or(words.len()));
    let mut paths: Vec<&str> = behind.iter().skip(1).copied().collect();
    let mut tells = false;
    for word in before.iter().filter(|word| !word.starts_with('-')).take(COMMITS) {
        let ends = word.split("..").map(|end| end.trim_matches('.')).filter(|end| !end.is_empty());
        let known: Vec<bool> = ends.filter_map(|commit| world.differs(root, commit, file)).collect();
        match known.as_slice() {
            // What is no commit is a path.
            [] => paths.push(word),
            [after] if alone && !word.contains("..") => {
                let earlier = world.differs(root, &format!("{word}^"), file);
                tells |= earlier.is_some_and(|earlier| earlier != *after);
            }
            known => tells |= known.contains(&true),
        }
    }
    tells && covers(&paths, root, folder, file)
}

/// What earlier commands of a text did to the index, and to the commit that changes are told by; and the names that they gave.
#[derive(Default)]
struct Staged<'a> {
    /// The paths of each `git add`; all if there are none.
    added: Vec<Vec<&'a str>>,
    commits: Vec<&'a str>,
    /// Branches and tags, and the commit of each if it is known.
    named: Vec<(&'a str, Option<&'a str>)>,
}

impl<'a> Staged<'a> {
    /// Puts commits in the place of the names that the text has given them.
    fn name(&self, takes: &mut WorktreeUpdate<'a>) {
        let (WorktreeUpdate::Commits(commits) | WorktreeUpdate::Steps(commits)) = takes else { return };
        for commit in commits {
            let named = self.named.iter().rev().find(|(name, _)| name == commit);
            *commit = named.and_then(|(_, to)| *to).unwrap_or(commit);
        }
    }

    /// Whether git goes to a name that the text has given to a commit which is not known.
    fn names_unknown(&self, found: &Invocation<'_>) -> bool {
        let unknown = |text: &str| self.named.iter().any(|(name, commit)| *name == text && commit.is_none());
        goes(found) && found.operands.iter().skip(1).filter_map(|operand| operand.text).any(unknown)
    }

    /// Notes the names that a command gives to commits.
    fn follow_names(&mut self, found: &Invocation<'a>) {
        let operands = found.operands.as_slice();
        let bare =
            |name: &'a str| ["refs/heads/", "refs/tags/"].iter().find_map(|at| name.strip_prefix(at)).unwrap_or(name);
        match operands.first().and_then(|first| first.text) {
            Some("branch" | "tag" | "update-ref") if !found.has(&["-d", "-D", "--delete"]) => {
                let named = operands.get(1).and_then(|name| name.text).zip(operands.get(2));
                self.named.extend(named.map(|(name, commit)| (bare(name), commit.text)));
            }
            // `git fetch . COMMIT:refs/heads/NAME`
            Some("fetch") if operands.get(1).and_then(|from| from.text) == Some(".") => {
                let given = |operand: &Operand<'a>| {
                    let (commit, name) = operand.shape.rsplit_once(':')?;
                    let commit = operand.text.map(|_| commit.trim_start_matches('+'));
                    Some((bare(name), commit))
                };
                self.named.extend(operands.iter().skip(2).filter_map(given));
            }
            _ => {}
        }
    }

    fn follow(&mut self, found: &Invocation<'a>) {
        self.follow_names(found);
        let mut texts = found.operands.iter().filter_map(|operand| operand.text).filter(|text| *text != "--");
        match texts.next() {
            Some("add" | "stage") if !found.has(&["-u", "--update", "-n", "--dry-run"]) => {
                self.added.push(texts.collect());
            }
            Some("reset") if !found.has(&["--hard", "--keep", "--merge"]) => self.commits.extend(texts.next()),
            Some("read-tree") => self.commits.extend(texts),
            Some("update-ref" | "symbolic-ref") => self.commits.extend(texts.nth(1)),
            _ => {}
        }
    }

    /// Whether that makes a command take a file away which would else stay.
    fn makes_taken(
        &self,
        takes: &WorktreeUpdate<'_>,
        root: &str,
        folder: &str,
        file: &str,
        world: &mut dyn GuardHost,
    ) -> bool {
        let changes = matches!(takes, WorktreeUpdate::Changes { .. });
        let is_added = || self.added.iter().any(|paths| covers(paths, root, folder, file));
        changes && is_added() && world.tracked(&absolute(file, root)) == Some(Tracked::Untracked)
            || (changes || *takes == WorktreeUpdate::Index)
                && self.commits.iter().take(COMMITS).any(|commit| world.differs(root, commit, file) == Some(true))
    }
}

/// Whether pathspecs that are given in a folder mean a file of the project; no pathspecs mean all.
fn covers(paths: &[&str], root: &str, folder: &str, file: &str) -> bool {
    let file = absolute(file, root);
    let covers = |path: &&str| {
        let path = absolute(path, folder);
        path == "/" || file == path || file.strip_prefix(&path).is_some_and(|rest| rest.starts_with('/'))
    };
    // Other magic, and globs, may mean any file.
    let any = |path: &&&str| path.contains([':', '*', '?', '[']) || covers(path);
    let mut included = paths.iter().filter(|path| excluded(path).is_none()).peekable();
    !paths.iter().filter_map(|path| excluded(path)).any(|path| covers(&path))
        && (included.peek().is_none() || included.any(|path| any(&path)))
}

/// Whether git goes to commits that it is given.
fn goes(found: &Invocation<'_>) -> bool {
    const GOES: &[&str] = &[
        "bisect",
        "checkout",
        "cherry-pick",
        "merge",
        "pull",
        "read-tree",
        "rebase",
        "reset",
        "restore",
        "revert",
        "switch",
    ];
    found.operands.first().and_then(|first| first.text).is_some_and(|name| GOES.contains(&name))
}

/// Whether git goes to commits that it is given, and one of them is not known.
fn takes_commits(found: &Invocation<'_>) -> bool {
    goes(found)
        && (found.operands.iter().any(|operand| operand.text.is_none())
            || found.options.iter().any(|given| given.value.is_none() && found.is(given, "--source")))
}

/// Whether more words are added to a command, and another one prints commits to it: `git log --format=%H | xargs git revert`.
fn is_given_commits(subject: &MatchInput<'_>) -> bool {
    subject.command.more_words && subject.pipeline().0.into_iter().any(prints_commits)
}

/// Whether a command of git prints commits other than the one that is checked out.
fn prints_commits(command: &Command) -> bool {
    let older = |word: &Word| word.value.text().contains(['~', '^', '@', ':']);
    match git_subcommand(command).as_deref() {
        Some("rev-list" | "log" | "reflog" | "merge-base" | "commit-tree" | "fsck") => true,
        Some("rev-parse") => command.words.iter().skip(1).any(older),
        _ => false,
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

/// Whether a commit has another file of a name than the last one. Git makes a branch of a name that only a remote has.
fn differs(root: &str, commit: &str, file: &str, world: &mut dyn GuardHost) -> bool {
    let own = world.differs(root, commit, file);
    own.or_else(|| world.differs(root, &format!("origin/{commit}"), file)).unwrap_or(false)
}

/// Whether a command takes a file away that is there now.
fn is_taken(takes: &WorktreeUpdate<'_>, root: &str, file: &str, world: &mut dyn GuardHost) -> bool {
    let mut tracked = || world.tracked(&absolute(file, root));
    match takes {
        WorktreeUpdate::Changes { untracked, ignored } => match tracked() {
            Some(Tracked::Held) | None => false,
            Some(Tracked::Changed) => true,
            Some(Tracked::Untracked) => *untracked,
            Some(Tracked::Ignored) => *ignored,
        },
        WorktreeUpdate::Commits(commits) => {
            commits.len() > COMMITS && is_known(tracked())
                || commits.iter().take(COMMITS).any(|commit| {
                    let commit = if *commit == "-" { "@{-1}" } else { commit };
                    // A name that is no commit is a path, or an error of git's; one of two commits is what they have in common.
                    differs(root, commit, file, world)
                        || commit.contains("..") && is_known(world.tracked(&absolute(file, root)))
                })
        }
        WorktreeUpdate::Steps(commits) => {
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
        WorktreeUpdate::Only(folders) => {
            let tracked = is_known(tracked());
            // Files of the root stay.
            let stays = |folder: &str| {
                let folder = folder.trim_matches('/');
                file.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'))
            };
            tracked && file.contains('/') && !folders.iter().any(|folder| stays(folder))
        }
        // The last one that fits decides.
        WorktreeUpdate::Patterns(patterns) => {
            let fits = |given: &str| {
                let pattern = given.trim_start_matches('!').trim_matches('/');
                // What a pattern leaves out with wildcards, or without a folder, may be this one.
                let open = pattern.contains(['*', '?', '[']) || !pattern.contains('/') && file.contains(pattern);
                pattern == "*"
                    || given.starts_with('!') && open
                    || file == pattern
                    || file.strip_prefix(pattern).is_some_and(|rest| rest.starts_with('/'))
            };
            let last = patterns.iter().rev().find(|pattern| fits(pattern));
            last.is_none_or(|pattern| pattern.starts_with('!')) && is_known(tracked())
        }
        WorktreeUpdate::All => is_known(tracked()),
        // Told by what was done to the index before.
        WorktreeUpdate::Index => false,
        WorktreeUpdate::Forgets => true,
        WorktreeUpdate::Nothing => false,
    }
}

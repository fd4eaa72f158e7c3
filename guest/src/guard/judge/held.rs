//! Whether git holds all that a git command overwrites, so that nothing is lost: `git restore --source=HEAD~3 FILE` where
//! nobody has changed FILE.
//!
//! Git is asked before the text runs, and for what it will find then the text must leave things as they are: beside the
//! command stand only others that do no more to files than their effects say, none of it to a repository's own files.

use toolgate_shell::{Command, absolute};

use crate::guard::invocation::Invocation;
use crate::guard::matching::{Subject, World, is_change};

/// Most files that git is asked about.
const FILES: usize = 8;

/// Programs whose effects are all that they do, and those whose own commands are listed.
const PLAIN: &[&str] = &[
    ".", ":", "[", "[[", "bash", "cat", "cd", "chmod", "command", "dash", "echo", "env", "eval", "exec", "exit",
    "false", "grep", "head", "ls", "mkdir", "nice", "nohup", "printf", "pwd", "sh", "source", "stdbuf", "tail", "test",
    "time", "timeout", "touch", "true", "wc",
];

/// What git only tells.
const TELLING: &[&str] = &["diff", "log", "ls-files", "rev-parse", "show", "status"];

/// Options with which git overwrites the files that are named, and no others.
const OPTIONS: &[&str] =
    &["-q", "--quiet", "--progress", "--no-progress", "-s", "--source", "-S", "--staged", "-W", "--worktree"];

/// Characters by which a path means others to git than the one that it says.
const MAGIC: &[char] = &['*', '?', '[', ']', '\\', ':'];

/// Files that decide what git does with all others.
const OWN: &[&str] = &[".git", ".gitattributes", ".gitconfig", ".gitmodules"];

/// Whether git holds what this command overwrites. It is asked last, as it takes a few milliseconds.
pub(super) fn by_git(subject: &Subject<'_>, world: &mut dyn World) -> bool {
    let Some(files) = overwritten(subject) else { return false };
    subject.others().all(|other| is_plain(subject, other)) && files.iter().all(|file| world.holds(file))
}

/// The files that it overwrites, if it says each by its name. What it takes them from makes no difference.
fn overwritten(subject: &Subject<'_>) -> Option<Vec<String>> {
    let command = subject.command;
    let folder =
        command.cwd.as_deref().filter(|_| !command.other_folders && !command.elsewhere && !command.more_words)?;
    let is_own = |name: &str| name.starts_with("GIT_");
    let is_set =
        command.env.iter().any(|(name, _)| is_own(name)) || command.assignments.iter().any(|(name, _)| is_own(name));
    if is_set || command.env.wild() || command.via.iter().any(|via| !PLAIN.contains(&via.as_str())) {
        return None;
    }
    let found = subject.invocation()?;
    let files = named(command, found)?;
    let is_fit =
        |file: &&str| !file.contains(MAGIC) && !file.split('/').any(|part| part == "..") && !file.ends_with('/');
    let files: Option<Vec<String>> =
        files.into_iter().map(|file| file.filter(is_fit).map(|file| absolute(file, folder))).collect();
    files.filter(|files| !files.is_empty() && files.len() <= FILES)
}

/// The words that are paths: of `git checkout` those after `--` if there is one, of `git restore` all.
fn named<'a>(command: &'a Command, found: &Invocation<'a>) -> Option<Vec<Option<&'a str>>> {
    // Before the subcommand stand options that have git look elsewhere.
    let (subcommand, rest) = found.operands.split_first().filter(|(first, _)| first.word == 1)?;
    if found.program != "git" || found.options.iter().any(|given| !OPTIONS.contains(&given.name.as_str())) {
        return None;
    }
    let from = match subcommand.text? {
        "restore" => 2,
        // Without `--` a commit may be among them, which is no file that git holds.
        "checkout" => command.words.iter().position(|word| word.known() == Some("--")).unwrap_or(2),
        _ => return None,
    };
    let (before, paths): (Vec<_>, Vec<_>) = rest.iter().partition(|operand| operand.word < from);
    // A commit, or nothing.
    (before.len() <= 1).then(|| paths.into_iter().map(|operand| operand.text).collect())
}

/// Whether another command of the text leaves the repository, and what git goes by, as they are.
fn is_plain<'a>(subject: &Subject<'a>, command: &'a Command) -> bool {
    let names_own = |text: &str| text.split('/').any(|part| OWN.iter().any(|own| part.eq_ignore_ascii_case(own)));
    let is_kept = |path: Option<&str>| path.is_some_and(|path| !names_own(path));
    let mut changes = command.effects.iter().filter(|effect| is_change(effect.kind));
    let says_git = |text: &str| text.contains("GIT_");
    if command.opaque
        || command.unseen_script
        || command.more_words
        || command.assignments.iter().any(|(name, _)| says_git(name))
        || !command.words.iter().all(|word| word.known().is_some_and(|text| !says_git(text)))
    {
        return false;
    }
    match command.program() {
        None => command.words.is_empty() && changes.all(|effect| is_kept(effect.path.known())),
        // Its effects are on its own files, too.
        Some("git") => subject.read(command).is_some_and(|found| {
            let first = found.operands.first().filter(|first| first.word == 1).and_then(|first| first.text);
            first.is_some_and(|first| TELLING.contains(&first)) || named(command, &found).is_some()
        }),
        Some(program) => PLAIN.contains(&program) && changes.all(|effect| is_kept(effect.path.known())),
    }
}

//! Whether git holds all that a git command overwrites or removes, so that nothing is lost: `git restore --source=HEAD~3
//! FILE` where nobody has changed FILE, `git branch -D NAME` where NAME is merged.
//!
//! Git is asked before the text runs, and has to be asked about what the text will change, in bash as in zsh. Only
//! a text of which that is certain is looked at: this one command, perhaps after `cd FOLDER &&` in words that every shell
//! takes as they are written, or run by few wrappers, beside commands that do nothing.

use std::collections::HashMap;

use toolgate_shell::{Command, Joiner, Presence, absolute};

use crate::invocation::Invocation;
use crate::matching::{MatchInput, names_repository};
use crate::world::GuardHost;

/// Most files that git is asked about for one call: each takes some 15 ms.
const FILES: usize = 16;

/// Options with which git overwrites the files that are named, and no others.
const OPTIONS: &[&str] =
    &["-q", "--quiet", "--progress", "--no-progress", "-s", "--source", "-S", "--staged", "-W", "--worktree"];

/// What git was asked for one call.
#[derive(Debug, Default)]
pub(super) struct Answers(HashMap<String, bool>);

impl Answers {
    /// Whether git holds the commits of the branch that this command of a text removes. Asked last, as it takes a while.
    pub(super) fn keep(&mut self, subject: &MatchInput<'_>, source: &str, world: &mut dyn GuardHost) -> bool {
        let removed = alone(subject, source, is_beside_branches)
            .and_then(|folder| Some((folder, removed_branch(subject.invocation()?)?)));
        let Some((folder, name)) = removed else { return false };
        // No path has this in it.
        let key = format!("{folder}\0{name}");
        if let Some(held) = self.0.get(&key) {
            return *held;
        }
        let held = self.0.len() < FILES && world.merged(folder, name);
        self.0.insert(key, held);
        held
    }

    /// Whether git holds what this command of a text overwrites. Asked last, as it takes a while.
    pub(super) fn hold(&mut self, subject: &MatchInput<'_>, source: &str, world: &mut dyn GuardHost) -> bool {
        let Some((folder, files)) = overwritten(subject, source) else { return false };
        let from_index = is_from_index(subject, files.len());
        // To git it is what the system calls it.
        let Some(folder) = real(folder, world) else { return false };
        files.iter().all(|file| self.holds(&folder, file, from_index, world))
    }

    fn holds(&mut self, folder: &str, file: &str, from_index: bool, world: &mut dyn GuardHost) -> bool {
        let path = absolute(file, folder);
        if let Some(held) = self.0.get(&path) {
            return *held;
        }
        if self.0.len() == FILES {
            return false;
        }
        let held = is_below(folder, file, world) && (world.holds(&path) || from_index && is_unchanged(&path, world));
        self.0.insert(path, held);
        held
    }
}

/// Whether what a command overwrites becomes what the index has, so that no file comes to be that git does not hold now.
fn is_from_index(subject: &MatchInput<'_>, files: usize) -> bool {
    subject.invocation().is_some_and(|found| !found.has(&["-s", "--source"]) && found.operands.len() == files + 1)
}

/// Whether a path is a folder in which git knows of no change. A link to one is a file to git.
fn is_unchanged(path: &str, world: &mut dyn GuardHost) -> bool {
    let is_folder = world.look().is_some_and(|look| look.look(path) == Presence::Folder);
    let mut is_link = || {
        let (folder, name) = path.rsplit_once('/').unwrap_or_default();
        real(path, world) != real(folder, world).map(|folder| format!("{folder}/{name}"))
    };
    is_folder && !is_link() && world.changed_below(path).is_some_and(|changed| changed.is_empty())
}

/// Where a path leads, if it is there.
fn real(path: &str, world: &mut dyn GuardHost) -> Option<String> {
    world.resolve(&[path.to_owned()]).ok()?.pop().flatten()
}

/// Whether the path leads through no link from a directory without any: git replaces a link that stands where it knows a folder.
fn is_below(folder: &str, file: &str, world: &mut dyn GuardHost) -> bool {
    let above = absolute(file.rsplit_once('/').map_or("", |(above, _)| above), folder);
    real(&above, world).is_some_and(|real| real == above)
}

/// The directory, and the files in it or below that a text overwrites. What it takes them from makes no difference.
fn overwritten<'a>(subject: &MatchInput<'a>, source: &str) -> Option<(&'a str, Vec<&'a str>)> {
    let folder = alone(subject, source, |_| false)?;
    let files = named(subject.command, subject.invocation()?)?;
    (!files.is_empty() && files.iter().all(|file| is_name(file))).then_some((folder, files))
}

/// The directory that a git command works in which is all that a text does, but for what may stand beside it.
fn alone<'a>(subject: &MatchInput<'a>, source: &str, beside: fn(&Command) -> bool) -> Option<&'a str> {
    let command = subject.command;
    let commands = subject.script().commands.as_slice();
    let certain = match commands {
        [first, second] if is_cd(first) => {
            let (before, after) = source.split_once(" && ")?;
            let says = |text: &str, program: &str| {
                let mut words = text.split(' ');
                words.next() == Some(program) && words.all(is_literal)
            };
            // No keyword, assignment or redirect stands before or behind.
            second.joiner == Joiner::And && second.via.is_empty() && says(before, "cd") && says(after, "git")
        }
        _ => {
            // A loop may wait for another call to change what git sees, and set any variable.
            let loops =
                |text: &str| ["while", "until", "select", "HOME", "[[", "(("].iter().any(|mark| text.contains(mark));
            let same = |other: &Command| is_git(other) && texts(other).eq(texts(command));
            let waits = |other: &Command| texts(other).flatten().any(loops);
            !loops(source)
                && commands.iter().all(|other| same(other) || (is_idle(other) || beside(other)) && !waits(other))
        }
    };
    let says_nothing = |name: &str| is_plain_variable(name) || matches!(name, "HOME" | "OLDPWD" | "PWD");
    let certain = certain && command.env.iter().all(|(name, _)| says_nothing(name));
    let certain = certain && !command.elsewhere && !command.other_folders && !names_repository(command);
    command.cwd.as_deref().filter(|_| certain)
}

fn texts(command: &Command) -> impl Iterator<Item = Option<&str>> {
    command.words.iter().map(|word| word.known().filter(|_| !word.several))
}

fn is_git(command: &Command) -> bool {
    texts(command).next() == Some(Some("git"))
        && texts(command).all(|word| word.is_some())
        && command.assignments.iter().all(|(name, _)| is_plain_variable(name))
        && command.redirects.iter().all(|redirect| redirect.target.known() == Some("/dev/null"))
}

/// Whether a command does nothing, or nothing but to run another one that is listed. No shell has to be known for it, and
/// it takes no time in which something else might change.
fn is_idle(command: &Command) -> bool {
    const RUNNERS: &[&str] = &["bash", "dash", "env", "nohup", "sh", "timeout"];
    let Some(words) = texts(command).collect::<Option<Vec<&str>>>() else { return false };
    let number = |word: &str| word.bytes().all(|byte| byte.is_ascii_digit());
    // What stands before the command that it runs.
    let before = || words.iter().skip(1).take_while(|word| **word != "git" && !RUNNERS.contains(word));
    let idle = match words.first() {
        None | Some(&(":" | "true")) => true,
        Some(&"echo") => words.iter().skip(1).all(|word| is_name(word)),
        Some(&("bash" | "dash" | "sh")) => {
            let letters = words.get(1).and_then(|word| word.strip_prefix('-'));
            words.len() == 3 && letters.is_some_and(|letters| letters.chars().all(|letter| "ceu".contains(letter)))
        }
        Some(&"env") => sets_plainly(before().copied()),
        Some(&"nohup") => before().next().is_none(),
        Some(&"timeout") => before().all(|word| *word == "-k" || number(word)),
        Some(_) => false,
    };
    idle && command.assignments.iter().all(|(name, word)| is_plain_variable(name) && word.known().is_some())
        && command.redirects.iter().all(|redirect| redirect.target.known() == Some("/dev/null"))
        && !(command.opaque || command.unseen_script || command.more_words || command.elsewhere)
}

/// Whether words before what `env` runs change nothing that git or a shell goes by.
fn sets_plainly<'w>(mut words: impl Iterator<Item = &'w str>) -> bool {
    const LEADING: &[&str] = &["HOME", "OLDPWD", "PATH", "PWD", "XDG_CONFIG_HOME"];
    let may_be_unset = |name: &str| is_name(name) && !name.starts_with("GIT") && !LEADING.contains(&name);
    while let Some(word) = words.next() {
        let plain = match word.split_once('=') {
            Some((name, value)) => is_plain_variable(name) && is_name(value),
            None => word == "-u" && words.next().is_some_and(may_be_unset),
        };
        if !plain {
            return false;
        }
    }
    true
}

/// Whether a command moves no branch: it goes to another one, or looks.
fn is_beside_branches(command: &Command) -> bool {
    let words: Option<Vec<&str>> = texts(command).collect();
    let is_branch = |name: &&str| is_name(name) && !name.starts_with('-');
    let fits = match words.as_deref() {
        Some(["git", "checkout" | "switch", name]) => is_branch(name),
        Some(["git", "checkout" | "switch", "-q", name]) => is_branch(name),
        Some(["git", "status", options @ ..]) => options.iter().all(|word| matches!(*word, "-s" | "--short" | "-b")),
        _ => false,
    };
    fits && is_git(command) && command.via.is_empty() && !names_repository(command)
}

/// Whether a variable of this name says nothing to git or to a shell. Those of shells have several large letters or, in zsh,
/// more than one of any.
fn is_plain_variable(name: &str) -> bool {
    const OF_ZSH: &[&str] = &["argv", "aliases", "cdpath", "commands", "fpath", "functions", "options", "path"];
    let small = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_lowercase()) && !OF_ZSH.contains(&name);
    let single = matches!(name.as_bytes(), [letter] if letter.is_ascii_uppercase());
    small || single || matches!(name, "LANG" | "LC_ALL" | "TZ")
}

/// Whether a word is the same in every shell. Those of zsh expand `=` and `~` at its beginning.
fn is_literal(word: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._/-+@~^=".contains(&byte);
    !word.is_empty() && !word.starts_with(['=', '~', '^']) && word.bytes().all(is_plain)
}

/// Whether a word is the name of a file below the directory, to shells and to git.
fn is_name(word: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._/-+@".contains(&byte);
    word.bytes().all(is_plain) && word.split('/').all(|part| !matches!(part, "" | "." | ".."))
}

fn is_cd(command: &Command) -> bool {
    let words: Vec<_> = command.words.iter().map(|word| word.known()).collect();
    command.via.is_empty()
        && matches!(words.as_slice(), [Some("cd"), Some(folder)] if is_name(folder) && !folder.starts_with('-'))
}

/// The local branch that `git branch -D` removes. `None` for what does anything else, or may: of several, one may hold
/// what another has.
fn removed_branch<'a>(found: &Invocation<'a>) -> Option<&'a str> {
    const FIT: &[&str] = &["-D", "-d", "--delete", "-f", "--force", "-q", "--quiet"];
    let [subcommand, branch] = found.operands.as_slice() else { return None };
    let fits = subcommand.word == 1 && subcommand.text == Some("branch");
    let name = branch.text.filter(|name| is_name(name))?;
    (fits && found.options.iter().all(|given| FIT.contains(&&*given.name))).then_some(name)
}

/// The words that are paths: of `git checkout` those after `--` if there is one, of `git restore` all. `None` for what does
/// anything else, or may.
fn named<'a>(command: &'a Command, found: &Invocation<'a>) -> Option<Vec<&'a str>> {
    let (subcommand, rest) = found.operands.split_first()?;
    let is_fit = |name: &str| OPTIONS.contains(&name);
    // Options before the subcommand may say another folder, repository or configuration.
    if command.words.first()?.known()? != "git"
        || subcommand.word != 1
        || !found.options.iter().all(|given| is_fit(&given.name))
    {
        return None;
    }
    let from = match subcommand.text? {
        "restore" => 2,
        // Without `--` a commit may be among them, which is no file that git holds.
        "checkout" => command.words.iter().position(|word| word.known() == Some("--")).unwrap_or(2),
        _ => return None,
    };
    let before = rest.iter().filter(|operand| operand.word < from).count();
    // A commit, or nothing.
    let paths = (before <= 1).then(|| rest.iter().skip(before).map(|operand| operand.text));
    paths?.collect()
}

//! Whether git holds all that a git command overwrites, so that nothing is lost: `git restore --source=HEAD~3 FILE` where
//! nobody has changed FILE.
//!
//! Git is asked before the text runs, and is to find the same when it does. So beside such commands the text has only
//! others that change nothing, in a shell without options or variables that could have another directory, program or
//! repository meant than the one that was asked about.

use std::collections::HashMap;

use toolgate_shell::{Command, Joiner, Redirect, RedirectKind, Runs, Script, Word, absolute};

use crate::guard::invocation::{Grammars, Invocation};
use crate::guard::matching::{Subject, World, is_change, names_repository};

/// Most files that git is asked about for one call: each takes some 15 ms.
const FILES: usize = 16;

/// Programs that change nothing but what they are redirected to, and wrappers whose own commands are listed. Each with
/// the options that it may have here, where not any.
const CHANGES_NOTHING: &[(&str, Option<&[&str]>)] = &[
    (":", None),
    ("bash", SHELL),
    ("cat", None),
    ("cd", Some(&[])),
    ("command", Some(&[])),
    ("dash", SHELL),
    ("echo", None),
    ("eval", Some(&[])),
    ("false", None),
    ("grep", None),
    ("head", None),
    ("ls", None),
    ("nohup", Some(&[])),
    ("printf", Some(&[])),
    ("pwd", None),
    ("sh", SHELL),
    ("stdbuf", None),
    ("tail", None),
    ("time", Some(&[])),
    ("timeout", None),
    ("true", None),
    ("wc", None),
];

const SHELL: Option<&[&str]> = Some(&["-c", "-e", "-ec", "-eu", "-euc", "-ex", "-exc", "-u", "-uc", "-x", "-xc"]);

/// Variables that a text may set.
const HARMLESS: &[&str] = &["LANG", "LC_ALL", "LC_CTYPE", "LC_MESSAGES"];

/// Where these are the system's own.
const FOLDERS: &[&str] = &["/bin/", "/usr/bin/"];

/// What git only tells, if it is not told to write that somewhere.
const ONLY_TELLS: &[&str] = &["diff", "log", "ls-files", "rev-parse", "show", "status"];

/// Options with which git overwrites the files that are named, and no others.
const OPTIONS: &[&str] =
    &["-q", "--quiet", "--progress", "--no-progress", "-s", "--source", "-S", "--staged", "-W", "--worktree"];

/// Characters by which a path means others to git than the one that it says.
const MAGIC: &[char] = &['*', '?', '[', ']', '\\', ':'];

/// What was found out for one call.
#[derive(Debug, Default)]
pub(super) struct Answers {
    /// Whether the text leaves things as they are.
    plain: Option<bool>,
    /// Whether git holds a file.
    files: HashMap<String, bool>,
}

impl Answers {
    /// Another reading of the text is judged.
    pub(super) fn reread(&mut self) {
        self.plain = None;
    }

    /// Whether git holds what this command overwrites. Asked last, as it takes a while.
    pub(super) fn hold(&mut self, subject: &Subject<'_>, world: &mut dyn World) -> bool {
        let Some((folder, files)) = overwritten(subject) else { return false };
        let plain = *self.plain.get_or_insert_with(|| is_plain(subject.script, subject.grammars));
        plain && files.iter().all(|file| self.holds(folder, file, world))
    }

    fn holds(&mut self, folder: &str, file: &str, world: &mut dyn World) -> bool {
        let path = absolute(file, folder);
        if let Some(held) = self.files.get(&path) {
            return *held;
        }
        if self.files.len() == FILES {
            return false;
        }
        let held = is_below(folder, file, world) && world.holds(&path);
        self.files.insert(path, held);
        held
    }
}

/// Whether the directory and the path lead through no link: the shell may take `..` in another way, and git replaces a
/// link that stands where it knows a folder.
fn is_below(folder: &str, file: &str, world: &mut dyn World) -> bool {
    let above = absolute(file.rsplit_once('/').map_or("", |(above, _)| above), folder);
    let resolved = world.resolve(&[folder.to_owned(), above.clone()]);
    matches!(resolved.as_deref(), Ok([Some(real), Some(real_above)]) if *real == folder && *real_above == above)
}

/// The directory, and the files in it or below that a command overwrites, if it says each by its name. What it takes them
/// from makes no difference.
fn overwritten<'a>(subject: &Subject<'a>) -> Option<(&'a str, Vec<&'a str>)> {
    let command = subject.command;
    let is_here = !command.other_folders && !command.elsewhere && !command.more_words && !command.env.wild();
    let folder = command.cwd.as_deref().filter(|_| is_here && !is_redirected(command))?;
    if command.via.iter().any(|via| CHANGES_NOTHING.iter().all(|(name, _)| name != via)) {
        return None;
    }
    let files = named(command, subject.invocation()?)?;
    let is_name = |file: &&str| {
        !file.contains(MAGIC) && !file.starts_with('/') && file.split('/').all(|part| !matches!(part, "" | ".."))
    };
    (!files.is_empty() && files.iter().all(is_name)).then_some((folder, files))
}

/// Whether variables tell git to work on something else than what is in its directory.
fn is_redirected(command: &Command) -> bool {
    names_repository(command) || command.env.iter().any(|(name, _)| name.starts_with("GIT_"))
}

/// The words that are paths: of `git checkout` those after `--` if there is one, of `git restore` all. `None` for what does
/// anything else, or may.
fn named<'a>(command: &'a Command, found: &Invocation<'a>) -> Option<Vec<&'a str>> {
    let (subcommand, rest) = subcommand(command, found)?;
    // What is not certain may be several words.
    let known = command.words.iter().all(|word| word.known().is_some());
    if !known || found.options.iter().any(|given| !OPTIONS.contains(&given.name.as_str())) {
        return None;
    }
    let from = match subcommand {
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

/// What git is to do, and the words after that, if nothing has it look elsewhere.
fn subcommand<'a, 'f>(
    command: &Command,
    found: &'f Invocation<'a>,
) -> Option<(&'a str, &'f [crate::guard::invocation::Operand<'a>])> {
    let (first, rest) = found.operands.split_first()?;
    // Options before it may say another folder, repository or configuration.
    (is_systems(command) && found.program == "git" && first.word == 1).then_some((first.text?, rest))
}

/// Whether a program is the one that goes by its name, as far as the `PATH` is what it should be.
fn is_systems(command: &Command) -> bool {
    let name = command.words.first().and_then(|word| word.known());
    name.is_some_and(|name| {
        let bare = FOLDERS.iter().find_map(|folder| name.strip_prefix(folder)).unwrap_or(name);
        !bare.contains('/')
    })
}

/// Whether a text changes nothing but what git commands put back.
fn is_plain(script: &Script, grammars: &Grammars) -> bool {
    let running = || script.commands.iter().filter(|command| command.runs != Runs::Never);
    // Shells differ in whether the last command of a pipeline is run in them.
    let moves = || running().any(|command| command.program() == Some("cd"));
    let pipes = || running().any(|command| command.joiner == Joiner::Pipe);
    script.unparsed.is_none() && running().all(|command| leaves(command, grammars)) && !(moves() && pipes())
}

fn leaves(command: &Command, grammars: &Grammars) -> bool {
    let is_certain = !command.opaque && !command.unseen_script && !command.more_words;
    let is_harmless = |(name, _): &(String, Word)| HARMLESS.contains(&name.as_str());
    let is_lost =
        |redirect: &Redirect| redirect.kind == RedirectKind::Read || redirect.target.known() == Some("/dev/null");
    let known: Option<Vec<&str>> = command.words.iter().map(Word::known).collect();
    let Some(words) = known.filter(|_| is_certain) else { return false };
    if !command.assignments.iter().all(is_harmless) || !command.redirects.iter().all(is_lost) {
        return false;
    }
    let changes_nothing =
        || command.effects.iter().all(|effect| !is_change(effect.kind) || effect.path.known() == Some("/dev/null"));
    let Some((program, arguments)) = words.split_first() else { return changes_nothing() };
    let name = program.rsplit('/').next().unwrap_or(program);
    if name == "git" {
        return Invocation::read(&command.words, grammars).is_some_and(|found| {
            // `--output` and what it may be cut to.
            let writes =
                |option: &str| option.starts_with("--o") || option.starts_with("-o") || option.starts_with("-O");
            let tells = subcommand(command, &found).is_some_and(|(first, _)| ONLY_TELLS.contains(&first));
            tells && changes_nothing() && !found.options.iter().any(|given| writes(&given.name))
                || named(command, &found).is_some()
        });
    }
    let row = CHANGES_NOTHING.iter().find(|(known, _)| *known == name);
    let Some((_, options)) = row.filter(|_| is_systems(command) && changes_nothing()) else { return false };
    let fits = |options: &&[&str]| {
        // What comes after the first operand is that one's.
        let mut given = arguments.iter().take_while(|word| word.starts_with(['-', '+']));
        given.all(|word| options.contains(word))
    };
    let is_in_sight = |word: &&str| !word.split('/').any(|part| part == "..") && *word != "-";
    options.as_ref().is_none_or(fits) && (name != "cd" || matches!(arguments, [folder] if is_in_sight(folder)))
}

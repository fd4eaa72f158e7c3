//! Programs that run other programs: what a command runs besides itself.
//!
//! What is known of the programs are the specs of `toolgate-commands`. A spec says which options take a value and what
//! that value means, how many operands are the program's own and what the rest is: a command, a text for a shell, a
//! program in another language. What a spec cannot say is code in the files beside this one, which `unwrap` finds; `nested`
//! has what they share. Nothing here follows the commands that come out; the walk does, and asks again for each.

mod argv_edit;
mod fan_out;
mod git;
mod inline;
mod nested;
mod options;
mod remote;
mod shells;
mod table;
mod terminals;
#[cfg(test)]
mod tests;
mod tools;
mod unwrap;
mod xargs;

use crate::foreign::ForeignShell;
use options::ScannedOptions;
use table::Row;
pub(crate) use toolgate_commands::Language;
use toolgate_commands::OptionRun;
use toolgate_shell_syntax::path::basename;
use toolgate_shell_syntax::word::Word;

pub(crate) use argv_edit::cut;
pub(crate) use git::is_git_subcommand;
pub(crate) use tools::unbundled;
pub(crate) use xargs::{xargs, xargs_file};

/// One text out of several words, a blank between them.
pub(crate) fn joined(words: &[Word]) -> Word {
    argv_edit::join(words, " ")
}

/// A command, text or file that another command runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NestedCommand {
    /// What it is.
    pub kind: NestedKind,
    /// How its surroundings differ.
    pub change: ContextChange,
}

/// What is run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum NestedKind {
    /// These words are an argv. `more`: further words are added when it runs.
    Command { words: Vec<Word>, more: bool },
    /// Text for a shell of its own; `args` are `$0`, `$1` and so on.
    Text { text: Word, args: Vec<Word> },
    /// Text for the shell that runs now.
    Here { text: Word },
    /// Text for this shell, when one of these signals comes.
    Trap { text: Word, signals: Vec<Word> },
    /// A program in another language, given in the words.
    Inline { language: Language, text: Word, args: Vec<Word> },
    /// A file in another language.
    Script { language: Language, path: Word, args: Vec<Word> },
    /// A file in another language that a program loads besides its script.
    Loaded { language: Language, path: Word },
    /// A shell script and its arguments. `here`: this shell reads it.
    File { path: Word, args: Vec<Word>, here: bool },
    /// The program comes from standard input: a shell's if there is no language. `args` are `$1` and so on.
    Stdin { language: Option<Language>, args: Vec<Word> },
    /// Text for a shell outside the Bourne family.
    Foreign { shell: ForeignShell, text: Word },
    /// It runs something that is not in the words.
    Unseen,
}

/// How the surroundings of what is run differ from those of the command that runs it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ContextChange {
    /// The directory, if another one.
    pub cwd: Option<Directory>,
    /// The environment is emptied first.
    pub clear_env: bool,
    /// Variables that are set, in this order.
    pub set: Vec<(String, Word)>,
    /// Variables that are taken away.
    pub unset: Vec<String>,
    /// It acts on the shell that runs now: `command cd x` changes its directory.
    pub same_shell: bool,
    /// The shell is replaced: nothing after it runs.
    pub replaces: bool,
    /// Another machine, container or root folder.
    pub elsewhere: bool,
    /// That is a container which is made for it, is given no folder and goes with it.
    pub fresh: bool,
    /// `~` and `$HOME` are not this user's.
    pub other_user: bool,
    /// It stands in a file that was there before the text.
    pub stored: bool,
    /// Whether it runs for certain.
    pub times: Times,
    /// Its standard input is not the outer one's.
    pub own_input: bool,
}

/// A directory to run in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Directory {
    /// This one, relative to the outer command's.
    Word(Word),
    /// The home folder of the user it runs as.
    Home,
    /// The top of git's worktree.
    Top,
    /// One that the words do not tell.
    Unknown,
}

/// How often something runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Times {
    /// Once, if the outer command does.
    #[default]
    Once,
    /// Never, once or often.
    Perhaps,
}

/// Whether a program of this name runs others.
pub(crate) fn knows(program: &str) -> bool {
    table::find(program).is_some()
}

/// Whether a program of this name or path is a shell.
pub(crate) fn is_shell(program: &str) -> bool {
    toolgate_commands::is_shell(basename(program))
}

/// The commands that this one runs, in the order of its words.
pub(crate) fn inner(words: &[Word]) -> Vec<NestedCommand> {
    let Some(path) = words.first().and_then(Word::known) else { return Vec::new() };
    if let Some(own) = own_name(path) {
        let own = own.into_iter().map(|name| Word { at: None, ..Word::new(name, words[0].span) });
        let kind = NestedKind::Command { words: own.chain(words[1..].iter().cloned()).collect(), more: false };
        return vec![NestedCommand { kind, change: ContextChange::default() }];
    }
    table::find(basename(path)).map(|row| Call::new(row, words).open()).unwrap_or_default()
}

/// The usual words for a program that is named by a path of its own: `/usr/lib/git-core/git-stash`, the shell's own file in `/proc`.
fn own_name(path: &str) -> Option<Vec<&str>> {
    if let Some(subcommand) = basename(path).strip_prefix("git-").filter(|name| is_git_subcommand(name)) {
        return Some(vec!["git", subcommand]);
    }
    let process = path.strip_prefix("/proc/")?.strip_suffix("/exe")?;
    (!process.contains('/')).then(|| vec!["bash"])
}

/// The folders that options of git or make name to work in, each as seen from the one before. None if a word among the
/// options may be another one.
pub(crate) fn folders(words: &[Word]) -> Option<Vec<Word>> {
    let row = words.first().and_then(Word::known).map(basename).and_then(table::find)?;
    let scan = options::scan(row, words, 1);
    let (options, operands) = words.split_at(scan.end);
    let open = |word: &Word| word.several || word.known().is_none();
    let unclear = scan.unclear || options.iter().any(|word| word.several) || operands.first().is_some_and(open);
    (!unclear).then(|| scan.values(OptionRun::Folder).cloned().collect())
}

/// A command whose program has a row.
struct Call<'a> {
    row: Row,
    words: &'a [Word],
    /// Where the arguments that the row speaks of begin.
    from: usize,
    /// What the words before them change.
    change: ContextChange,
    /// Whether a word among those before may be an option or not.
    unclear: bool,
}

impl<'a> Call<'a> {
    fn new(row: Row, words: &'a [Word]) -> Self {
        Call { row, words, from: 1, change: ContextChange::default(), unclear: false }
    }

    /// What it runs. Code for a program that stands before another one of the table asks for that in turn.
    fn open(self) -> Vec<NestedCommand> {
        unwrap::open(self)
    }

    /// Reads the options; what they change is in the second part.
    fn scan(&self) -> (ScannedOptions, ContextChange) {
        let scan = options::scan(self.row, self.words, self.from);
        let change = scan.change(self.row, self.change.clone());
        (scan, change)
    }
}

impl NestedCommand {
    fn new(kind: NestedKind, change: &ContextChange) -> Self {
        NestedCommand { kind, change: change.clone() }
    }

    /// As it is, but nobody knows whether or how often it runs.
    fn perhaps(mut self) -> Self {
        self.change.times = Times::Perhaps;
        self
    }
}

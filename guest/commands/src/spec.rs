//! The types of a spec. Their values are made by the build script.

use crate::{FileCode, Language, OptionRun, RunCode, Trait};

/// A program, or a subcommand of one.
#[derive(Debug, PartialEq, Eq)]
pub struct Spec {
    /// Its names. All of them mean the same.
    pub names: &'static [&'static str],
    /// The options that stand behind the name and before a subcommand.
    pub options: &'static [Opt],
    /// What the first operand may name.
    pub subcommands: &'static [Spec],
    /// How it runs other programs, if it does.
    pub runs: Option<Runs>,
    /// What it does to files, if that is known.
    pub files: Option<Files>,
    /// How it waits for text at a terminal, if it may.
    pub terminal: Option<Terminal>,
    /// How rules see its words. Without it they do not rely on the options that are listed: of a family of programs that
    /// share a spec, one may take an option otherwise.
    pub rules: Option<Rules>,
    /// Which files it runs a part of besides its script.
    pub loads: Option<Loads>,
    /// That it is the client of a database, and its options whose values are files of statements.
    pub statements: Option<&'static [&'static str]>,
    /// Long options have one dash.
    pub one_dash: bool,
    /// Whether it only reads or computes: it changes no file but those that its options say, ends nothing, sets nothing up and
    /// changes nothing elsewhere.
    pub reads_only: ReadsOnly,
}

/// When a program only reads or computes.
#[derive(Debug, PartialEq, Eq)]
pub enum ReadsOnly {
    /// Nobody has said that it ever does.
    Never,
    /// However it is run.
    Always,
    /// Under these of its names.
    Named(&'static [&'static str]),
    /// By its words, if all of its options are listed.
    If {
        /// With one of these options, by the names that handlers ask for.
        with: &'static [&'static str],
        /// Or with so many operands at most.
        operands: Option<u8>,
        /// Or with one of these as the first operand.
        words: &'static [&'static str],
        /// And with none of these options.
        without: &'static [&'static str],
    },
}

/// How rules see the words of a program, whose options are listed for them.
#[derive(Debug, PartialEq, Eq)]
pub struct Rules {
    /// Long options may be cut short: `--forc`.
    pub abbreviates: bool,
    /// Long options have one dash: `find -delete`.
    pub words: bool,
    /// Options before a subcommand are never the subcommand's, whatever they are called: `git -p restore`.
    pub own_options: bool,
    /// Options with their dashes that are none of a longer one's abbreviations.
    pub unabbreviated: &'static [&'static str],
}

/// Which files a program runs a part of besides its script.
#[derive(Debug, PartialEq, Eq)]
pub struct Loads {
    /// How they are read.
    pub reads: LoadedAs,
    /// Names of the options whose values are such files.
    pub options: &'static [&'static str],
    /// How files are called that it looks for in the folder where it works.
    pub names: &'static [&'static str],
    /// Whether it looks for tests.
    pub tests: Tests,
}

/// How a file that a program loads is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoadedAs {
    /// As a program in a language.
    Language(Language),
    /// Line by line, each as if it were the value of this option, which has its dashes.
    Lines(&'static str),
    /// As commands of cmake.
    Cmake,
}

/// Whether a program loads files whose names say that they are tests, from the folders and files among its operands, else from
/// the folder where it works.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tests {
    /// It does.
    Always,
    /// It does with this option. Without it, it runs what a folder among its operands has for its beginning.
    With(&'static str),
    /// It does not.
    Never,
}

/// An option.
#[derive(Debug, PartialEq, Eq)]
pub struct Opt {
    /// The name that handlers ask for, without dashes.
    pub name: &'static str,
    /// All names. Dashes are left out, but for a word of several letters after one dash in a program whose other long
    /// options have two (`-ddd`), and for a long option of one letter (`--v`).
    pub names: &'static [&'static str],
    /// What it takes from the words.
    pub takes: Takes,
    /// What it means for what the program runs.
    pub run: Option<OptionRun>,
    /// With it the program runs nothing: help, version, a list.
    pub help: bool,
    /// It ends the options.
    pub last: bool,
    /// What the value, or the option itself, is in terms of files.
    pub file: FileUse,
}

/// What an option takes from the words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Takes {
    /// Nothing.
    Nothing,
    /// So many values, the first attached or in the next word, the others in words behind it.
    Next(u8),
    /// A value only if it is attached.
    Attached,
    /// A value that is attached, or in the next word unless that looks like an option.
    Loose,
    /// Digits that may be attached; more options may follow in the same word.
    Digits,
}

impl Takes {
    /// How many of the next words may be values where none is attached.
    #[must_use]
    pub fn words(self) -> usize {
        match self {
            Takes::Nothing | Takes::Attached | Takes::Digits => 0,
            Takes::Loose => 1,
            Takes::Next(count) => usize::from(count),
        }
    }

    /// Whether what follows in the same word is a value, and not further options.
    #[must_use]
    pub fn rest(self) -> bool {
        matches!(self, Takes::Next(_) | Takes::Loose | Takes::Attached)
    }
}

/// What an option has to do with files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileUse {
    /// Nothing: a flag, or a value that is no path.
    Plain,
    /// Nobody has said whether the value is a path.
    MayBePath,
    /// No operand is the script or pattern.
    NoScript,
    /// The value is a text that is printed, stored or searched for.
    Data,
    /// Such a text, or a file after an `@`, for the handler.
    Body,
    /// Such a text, which stands for the operand that would have been it.
    DataScript,
    /// A program, which stands for that operand, and which may do something.
    Script,
    /// A file with it.
    ScriptFile,
    /// A file that is read.
    Read,
    /// A file with a secret, which the program uses and does not show: a key to log in with.
    Key,
    /// A file that is written.
    Write,
    /// A file that is appended to.
    Append,
    /// A folder below which files are written.
    Below,
    /// A path, and nothing is known of what happens to it.
    Mention,
    /// A file that is run.
    Execute,
    /// A place in the network.
    Send,
    /// The folder in which the program works.
    Base,
    /// For the handler.
    Target,
}

/// How a program runs others.
#[derive(Debug, PartialEq, Eq)]
pub struct Runs {
    /// What the words after the options are.
    pub what: RunForm,
    /// How many words of its own stand between the options and the command.
    pub operands: u8,
    /// How what it runs differs, and how it reads its words.
    pub traits: &'static [Trait],
}

/// What the words after the options are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunForm {
    /// A command.
    Command,
    /// A text for a shell, once they are joined by blanks.
    Text,
    /// A text for a shell if it is one word, a command if they are more.
    Either,
    /// A text for a shell, each of them.
    Texts,
    /// Nothing that runs; only options do.
    Options,
    /// The first of them names a subcommand.
    Subcommand,
    /// A program in this language, or a file that holds one.
    Language(Language),
    /// The handler of this name knows.
    Code(RunCode),
}

/// An option whose value is a secret under a name that does not say so.
#[derive(Debug, PartialEq, Eq)]
pub struct Secret {
    /// The programs that have it.
    pub programs: &'static [&'static str],
    /// Subcommands of which one comes before it: `docker run -p` is a port. None if it is the program's own.
    pub after: &'static [&'static str],
    /// The option, with its dashes.
    pub option: &'static str,
    /// `-pSECRET`
    pub attached: bool,
    /// `-p SECRET`
    pub separate: bool,
    /// The secret is what follows this in the value: `user:secret`.
    pub before: &'static str,
}

/// How a program that may wait for text at a terminal is told from one that does not. Its words are read from the left;
/// the first that says something decides.
#[derive(Debug, PartialEq, Eq)]
pub struct Terminal {
    /// What the operands say if no word has decided.
    pub operands: Waits,
    /// Words with which it waits: options with their dashes, or subcommands.
    pub waits: &'static [&'static str],
    /// Words with which it does something and ends.
    pub ends: &'static [&'static str],
}

/// Whether a program waits for text, by how many operands it has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Waits {
    /// However many.
    Any,
    /// With so many at most: a host, a database. With more it runs something and ends, and what follows is not its own.
    UpTo(u8),
    /// With none.
    Never,
}

/// What a program does to files.
#[derive(Debug, PartialEq, Eq)]
pub struct Files {
    /// What it does to its operands. Options speak for themselves.
    pub does: OperandUse,
    /// How it reads its words.
    pub syntax: Syntax,
    /// How many operands stand before the paths: a script, a pattern, a mode.
    pub leading: u8,
    /// Whether those are a script or pattern, which is data.
    pub pattern: bool,
    /// It may change files that its words do not name.
    pub wild: bool,
    /// It reads or writes folders with all that is in them, and the current one without operands.
    pub recursive: bool,
    /// Without a subcommand it is the first of them.
    pub bare: bool,
    /// All its options are listed: another one is a usage error.
    pub complete: bool,
}

/// How a program uses its operands. What a tool does to files is `FileAction`, in `toolgate-shell` and, on the host's
/// side of the contract, in `toolgate-host`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OperandUse {
    /// All its words are text.
    Data,
    /// No operand is a path.
    Nothing,
    /// Operands may be anything; it runs them, or nothing is known.
    Mentions,
    /// It reads them.
    Reads,
    /// They are keys that it uses and does not show.
    Uses,
    /// It writes them.
    Writes,
    /// It writes them if one of the first options is there (or there are none) and none of the others; else reads.
    Formats {
        /// Options with which it writes.
        with: &'static [&'static str],
        /// Options with which it does not.
        without: &'static [&'static str],
    },
    /// It writes these globs below its folder, and may do anything with its operands.
    Makes(&'static [&'static str]),
    /// The first operand names a subcommand.
    Subcommand,
    /// The handler of this name knows.
    Code(FileCode),
}

/// How a program reads its words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Syntax {
    /// Short options in clusters, long ones after two dashes, anywhere.
    Gnu,
    /// The same, and the first operand ends them.
    Posix,
    /// Whole words after one dash; those of one letter may have the value attached.
    Joined,
    /// Whole words after one dash or two, the value in the next word or after `=`.
    Go,
    /// By rules of its own.
    Raw,
}

impl Opt {
    /// Whether this is one of its names, which has no dashes but where [`Opt::names`] keeps them.
    #[must_use]
    pub fn is(&self, name: &str) -> bool {
        self.names.contains(&name)
    }
}

impl Spec {
    /// Whether this is one of its names.
    #[must_use]
    pub fn is(&self, name: &str) -> bool {
        self.names.contains(&name)
    }

    /// Whether this is a start of one of its names.
    #[must_use]
    pub fn starts(&self, name: &str) -> bool {
        self.names.iter().any(|listed| listed.starts_with(name))
    }

    /// The subcommand of this name.
    #[must_use]
    pub fn subcommand(&self, name: &str) -> Option<&'static Spec> {
        self.subcommands.iter().find(|spec| spec.is(name))
    }

    /// The option of this letter.
    #[must_use]
    pub fn letter(&self, letter: char) -> Option<&'static Opt> {
        let mut buffer = [0; 4];
        self.exact(letter.encode_utf8(&mut buffer))
    }

    /// The option of exactly this name.
    #[must_use]
    pub fn exact(&self, name: &str) -> Option<&'static Opt> {
        self.options.iter().find(|option| option.is(name))
    }

    /// The option of this long name; a start of it is enough where no other option starts so.
    #[must_use]
    pub fn long(&self, name: &str) -> Option<&'static Opt> {
        if name.len() == 1
            && let Some(option) = self.exact(&format!("--{name}"))
        {
            return Some(option);
        }
        // A letter is no long option: `xargs --s` is `--show-limits`.
        let is_long = |listed: &str| listed.len() > 1 && !listed.starts_with('-');
        let long = |option: &&Opt| option.names.iter().any(|listed| is_long(listed) && listed.starts_with(name));
        let exact = self.exact(name).filter(|_| is_long(name));
        exact.or_else(|| {
            if name.is_empty() {
                return None;
            }
            let mut found = self.options.iter().filter(long);
            found.next().filter(|_| found.next().is_none())
        })
    }
}

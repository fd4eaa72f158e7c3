//! Scripts given inline to another language: `python -c`, `node -e`, `perl -e`, `ruby -e`, `php -r`, awk, sed.
//!
//! It finds the calls that touch files, start processes or use the network, with their literal arguments. It is not
//! an interpreter: values flow through plain assignments, concatenations, imports, loops over literal lists and calls
//! of the script's own functions, and are unknown otherwise. Names in strings and comments are never taken for calls.
//! Code that the script evaluates in turn is handed back as [`ScriptEffectKind::Eval`] and not followed here.
//!
//! | File | For |
//! |---|---|
//! | `tokens`, `cursor` | tokens; a place in them |
//! | `value`, `sequences` | values, and what is done with texts and lists: joining paths, decoding, formatting |
//! | `lex` | text to tokens, for the five languages that have expressions in common |
//! | `tables` | what a call does, as tables: one row a function |
//! | `classes` | the classes of a script, as far as they were read |
//! | `evaluator` | the state of a script that is read: what it has done, and what it may still cost |
//! | `arguments`, `script_args` | what a call is given; the script's own arguments, as the script sees them |
//! | `names` | what a name means in its language, and under which one the tables have it |
//! | `documents` | what files of settings hold, as values |
//! | `files`, `processes`, `code`, `network`, `pure` | what a row cannot say |
//! | `dispatch` | which of that a row means |
//! | `methods` | calls on values: texts, lists, path objects |
//! | `calls` | a call is looked up in the tables and done |
//! | `variables`, `functions`, `objects` | what names stand for; calls of the script's own functions; what objects hold |
//! | `statements`, `expressions`, `brackets`, `postfix` | which call is made with which values |
//! | `assigned` | which names have more than one value |
//! | `unused` | which functions nothing can call |
//! | `reader` | a script is read from its start to its end, and looked at as a whole |
//! | `awk`, `sed` | those two languages |
//!
//! The files call each other through the methods of the evaluator, which each of them adds to, and import only what is above
//! them here.

pub use toolgate_commands::Language;

use std::ops::Range;
use std::rc::Rc;

mod arguments;
mod assigned;
mod awk;
mod brackets;
mod calls;
mod classes;
mod code;
mod cursor;
mod dispatch;
mod documents;
mod evaluator;
mod expressions;
mod files;
mod functions;
mod lex;
mod methods;
mod names;
mod network;
mod objects;
mod postfix;
mod processes;
mod pure;
mod reader;
mod script_args;
mod sed;
mod sequences;
mod statements;
mod tables;
#[cfg(test)]
mod tests;
mod tokens;
mod unused;
mod value;
mod variables;

/// What a script does, as far as it is plain.
#[derive(Debug, PartialEq, Eq)]
pub struct Script {
    /// In the order in which they stand, calls of the script's own functions where they are called.
    pub effects: Vec<ScriptEffect>,
    /// Everything that touches files or processes was understood. An argument that is not known leaves this true: it
    /// is a hole in its effect.
    pub complete: bool,
    /// What it prints, if all of that is known.
    pub printed: Option<String>,
}

/// One call and what it does.
#[derive(Debug, PartialEq, Eq)]
pub struct ScriptEffect {
    /// What it does.
    pub what: ScriptEffectKind,
    /// Bytes of the script: the argument, or the name of the call if it has none.
    pub at: Range<usize>,
}

/// What a call does.
///
/// A path that begins with `~` is below the home directory: that is how `os.path.expanduser`, `Path.home()`,
/// `process.env.HOME` and their kin are given. A literal `~/x`, which only a shell would expand, looks the same. The
/// working directory (`os.getcwd()`, `Dir.pwd`) is given as `.`, so that such paths stay relative.
///
/// A call with a directory of its own (`subprocess.run(.., cwd="d")`) is [`ScriptEffectKind::Shell`] with a `cd` in front, or
/// [`ScriptEffectKind::In`]: a program with a part that is not known, or either where the directory is not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ScriptEffectKind {
    /// The content of a file is read.
    Read(Path),
    /// The names in a folder are read.
    List(Path),
    /// A file is written; what was in it is gone.
    Write(Path),
    /// Something is added to a file.
    Append(Path),
    /// A file or folder is made.
    Create {
        /// Its path.
        path: Path,
        /// It is a folder.
        folder: bool,
    },
    /// A file or folder is deleted.
    Delete {
        /// Its path.
        path: Path,
        /// With all that is in it.
        recursive: bool,
    },
    /// All that is in a folder is deleted, one after the other.
    Empty(Path),
    /// A file or folder is moved.
    Move {
        /// Its path before.
        from: Path,
        /// Its path after.
        to: Path,
    },
    /// A file or folder is copied.
    Copy {
        /// Its path.
        from: Path,
        /// The path of the copy.
        to: Path,
    },
    /// It gets another name, by which its content can be changed: a hard link.
    HardLink(Path),
    /// A file's mode is changed.
    Mode {
        /// Its path.
        path: Path,
        /// As `chmod` takes it, if it is known.
        mode: Option<String>,
    },
    /// The script goes to a folder.
    Chdir(Path),
    /// It goes back to the folder before the last [`ScriptEffectKind::Chdir`].
    Return,
    /// Text for a shell. The home directory is `$HOME` in it.
    Shell(Text),
    /// A program and its arguments. A last part that is one hole can be any number of arguments.
    Run(Vec<Text>),
    /// [`ScriptEffectKind::Shell`] or [`ScriptEffectKind::Run`] in a directory of its own.
    In {
        /// The directory.
        folder: Path,
        /// What runs there.
        what: Box<ScriptEffectKind>,
    },
    /// Code in the same language that is evaluated.
    Eval(Text),
    /// A file in the same language that is run or imported, perhaps without its ending. A package of Node's begins with [`PACKAGES`].
    Load(Path),
    /// Something goes over the network: the URL or host.
    Send(Text),
}

impl ScriptEffectKind {
    /// Its texts: paths, commands, words, addresses.
    pub fn texts(&mut self) -> Vec<&mut Text> {
        match self {
            ScriptEffectKind::Read(text)
            | ScriptEffectKind::List(text)
            | ScriptEffectKind::Empty(text)
            | ScriptEffectKind::Write(text)
            | ScriptEffectKind::Append(text)
            | ScriptEffectKind::HardLink(text)
            | ScriptEffectKind::Chdir(text)
            | ScriptEffectKind::Shell(text)
            | ScriptEffectKind::Eval(text)
            | ScriptEffectKind::Load(text)
            | ScriptEffectKind::Send(text)
            | ScriptEffectKind::Create { path: text, .. }
            | ScriptEffectKind::Delete { path: text, .. }
            | ScriptEffectKind::Mode { path: text, .. } => vec![text],
            ScriptEffectKind::Return => Vec::new(),
            ScriptEffectKind::Move { from, to } | ScriptEffectKind::Copy { from, to } => vec![from, to],
            ScriptEffectKind::Run(words) => words.iter_mut().collect(),
            ScriptEffectKind::In { folder, what } => std::iter::once(folder).chain(what.texts()).collect(),
        }
    }
}

/// What the path of a package of Node's begins with.
pub const PACKAGES: &str = "node_modules/";

/// Whether a module that is loaded is one of which the tables have all that it does, by the name that
/// [`ScriptEffectKind::Load`] has for it.
pub fn is_known_module(language: Language, module: &str) -> bool {
    let listed = |name: &str| tables::HARMLESS.contains(&name) || tables::STRICT.contains(&name);
    match language {
        Language::Python => module.split('/').next().is_some_and(listed),
        Language::Perl => listed(&module.replace('/', "::")),
        _ => listed(module.strip_prefix(PACKAGES).unwrap_or(module)),
    }
}

/// A text that the script computes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Text {
    /// All of it.
    Known(String),
    /// The known parts, with `'\0'` for each unknown part.
    Shape(String),
}

/// A text that names a file, see [`ScriptEffectKind`] for `~`.
pub type Path = Text;

/// Where a script stands, which it can ask for: `__dirname`, `__file__`, `__DIR__`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// In no file: on a command line, or in what is read.
    Text,
    /// In the file with this absolute path.
    File(String),
    /// In a file; which is not known.
    Unknown,
}

/// What a script can ask about how it was started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting {
    /// Where it stands.
    pub origin: Origin,
    /// Its arguments, if anything is known of them.
    pub arguments: Option<Arguments>,
    /// What is around it.
    pub surroundings: Rc<Surroundings>,
}

/// What a script can read, as far as it is known.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Surroundings {
    /// Files by the paths that its effects have.
    pub files: Vec<StoredFile>,
    /// What its standard input gives.
    pub input: Option<String>,
    /// Variables of the environment.
    pub variables: Vec<(String, String)>,
    /// The script may change these variables before it reads them.
    pub variables_may_change: bool,
}

/// A file that a script can read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredFile {
    /// As the script names it.
    pub path: String,
    /// What it holds before the script runs.
    pub text: String,
    /// The script may change it before it reads it.
    pub may_change: bool,
}

/// What a script is given behind its name: `sys.argv`, `process.argv`, `@ARGV`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Arguments(pub Vec<Text>);

impl Setting {
    /// Of a script of which nothing is known but where it stands.
    pub fn of(origin: Origin) -> Self {
        Setting { origin, arguments: None, surroundings: Rc::default() }
    }
}

/// Reads a script. Any input has an answer. What that may cost is linear in its length; what would cost more is unknown.
pub fn read(language: Language, script: &str, setting: Setting) -> Script {
    match language {
        Language::Awk => awk::read(script, &setting),
        Language::Sed => sed::read(script),
        language => reader::read(language, script, setting, true),
    }
}

/// Reads a script whose functions another one may call: a module, or code that is evaluated.
pub fn read_part(language: Language, script: &str, setting: Setting) -> Script {
    match language {
        Language::Awk | Language::Sed => read(language, script, setting),
        language => reader::read(language, script, setting, false),
    }
}

//! What a shell text does, as the host has analysed it.

use std::collections::BTreeMap;

use serde::Deserialize;

/// The commands of a shell text, those inside others included.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct Analysis {
    /// In the order in which they stand.
    pub commands: Vec<Command>,
    /// Why the text does not parse; the commands are a guess then.
    pub unparsed: Option<String>,
}

/// A command. `None` always stands for what is not known before it runs.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct Command {
    /// The program as written, quotes and variables resolved.
    pub name: Option<String>,
    /// Its arguments.
    pub args: Vec<Option<String>>,
    /// Those before the program.
    pub assignments: BTreeMap<String, Option<String>>,
    /// The directory in which the program works.
    pub cwd: Option<String>,
    /// The directory of the shell that runs it.
    pub shell_cwd: Option<String>,
    /// Every variable that is set or may be.
    pub env: Option<BTreeMap<String, Option<String>>>,
    /// Where its words stand, in bytes of the text.
    pub span: Span,
    /// The program and its arguments, each as written and with its value.
    pub words: Vec<Word>,
    /// The values of trackers at the command.
    pub tracked: BTreeMap<String, Option<String>>,
    /// The operator before it; none for the first of a list.
    pub joiner: Option<String>,
    /// The programs that it was found inside of, outermost first.
    pub via: Vec<String>,
    /// Whether it runs.
    pub runs: Runs,
    /// Whether it runs on another machine, in a container or below another root.
    pub elsewhere: bool,
    /// What it does to files and who it sends to.
    pub effects: Vec<Effect>,
    /// What is not known, and why.
    pub unknown: Vec<Unknown>,
}

impl Command {
    /// The program's name without its folder.
    pub fn program(&self) -> Option<&str> {
        self.name.as_deref().map(|name| name.rsplit('/').next().unwrap_or(name))
    }

    /// The first argument that is no option, as far as everything before it is known.
    pub fn subcommand(&self) -> Option<&str> {
        self.args.iter().find(|word| word.as_deref().is_none_or(|word| !word.starts_with('-')))?.as_deref()
    }

    /// Whether this is certainly one of its arguments.
    pub fn has(&self, argument: &str) -> bool {
        self.args.iter().any(|word| word.as_deref() == Some(argument))
    }

    /// Whether it may run.
    pub fn may_run(&self) -> bool {
        self.runs != Runs::Never
    }

    /// The value of a tracker at the command; none if it is unknown, or nobody follows it.
    pub fn tracked(&self, tracker: &str) -> Option<&str> {
        self.tracked.get(tracker)?.as_deref()
    }
}

/// Bytes of a text, the end not included.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct Span {
    /// The first.
    pub start: u32,
    /// The first after it.
    pub end: u32,
}

/// A word of a command.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct Word {
    /// As written; none if it is not written anywhere.
    pub text: Option<String>,
    /// Where it stands.
    pub span: Span,
    /// What it stands for; none if that is unknown, or none or several words may come of it.
    pub value: Option<String>,
    /// Why the value is unknown.
    pub why: Option<String>,
}

/// Whether a command runs when the text does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Runs {
    /// It does.
    Certainly,
    /// It depends.
    #[default]
    Possibly,
    /// It does not.
    Never,
}

/// Something that a command does.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct Effect {
    /// `read`, `write`, `append`, `create`, `delete`, `move`, `link`, `mode`, `execute` or `send`.
    pub kind: String,
    /// Absolute; of what is sent to, as written.
    pub path: Option<String>,
    /// What is known of a path that is not known as a whole, with `*` for the rest.
    pub glob: Option<String>,
    /// Whether it happens if the command runs.
    pub certain: bool,
}

/// Something that is not known.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct Unknown {
    /// What: `name`, `args[0]`, `cwd`, `env.NAME`, `effects[0].path` and the like.
    pub at: String,
    /// Why, as a sentence.
    pub why: String,
}

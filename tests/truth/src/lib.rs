//! The ground truth of the shell engine: runs shell text in real bash, watches what happens and compares that with
//! what was predicted. Only [`engine`] knows the engine: it fills a [`Prediction`].
//!
//! ```no_run
//! use toolgate_truth::Harness;
//!
//! let mut harness = Harness::open()?;
//! let text = "cd dir && touch new";
//! let prediction = toolgate_truth::engine::predict(text);
//! let report = harness.run(text, &prediction)?;
//! for mismatch in &report.mismatches {
//!     eprintln!("{mismatch}");
//! }
//! # Ok::<(), toolgate_truth::Error>(())
//! ```
//!
//! What a prediction may rely on: the script starts in [`tree::WORK`] with [`tree::ENVIRONMENT`] and nothing else in
//! its environment, finds [`tree::TREE`] below [`tree::ROOT`], and `/dev/null` as standard input.
//!
//! The witnesses: system calls ([`watch`]), bash's own word on each command ([`trap`]), and the tree before and after
//! ([`tree::snapshot`]), which checks the first two.

use std::collections::{BTreeMap, BTreeSet};

pub mod compare;
pub mod drive;
pub mod engine;
pub mod generate;
pub mod mirror;
pub mod paths;
pub mod report;
pub mod sandbox;
pub mod scripts;
pub mod trap;
pub mod tree;
pub mod watch;

pub use report::{Check, Mismatch, Report, Table};
pub use sandbox::{Error, Sandbox};

/// What the engine says about a text, before it runs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Prediction {
    /// Every command, in the order of the walk.
    pub commands: Vec<Predicted>,
    /// The text was not understood: only what is known is checked, nothing can be missing.
    pub unparsed: bool,
}

/// One command. Environment and folders are those at the command, before its own prefix assignments.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Predicted {
    /// The words; `None` for one that is not known.
    pub argv: Vec<Option<String>>,
    /// An unknown word may be any number of words, or more words follow (xargs).
    pub open_ended: bool,
    /// It runs something that the engine cannot see (a script file, a program text in a variable), so that programs
    /// and effects beyond the predicted ones count as unknown, not as missed.
    pub opaque: bool,
    /// The folder of the shell.
    pub shell_cwd: Option<String>,
    /// The folder of the program: `git -C`, `env -C`.
    pub cwd: Option<String>,
    /// Variables that are set; `None` if the value is not known.
    pub env: BTreeMap<String, Option<String>>,
    /// Variables known to be unset.
    pub unset: BTreeSet<String>,
    /// Bytes of the outermost text.
    pub span: (usize, usize),
    /// The wrappers it came through, outermost first.
    pub via: Vec<String>,
    /// Whether it runs.
    pub runs: Runs,
    /// What it does.
    pub effects: Vec<PredictedEffect>,
}

/// Whether a command runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Runs {
    /// At least once.
    Certainly,
    /// Any number of times.
    #[default]
    Possibly,
    /// Not at all.
    Never,
}

/// One effect of a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PredictedEffect {
    /// What it does.
    pub kind: Kind,
    /// To what.
    pub path: Place,
    /// It happens if the command runs.
    pub certain: bool,
    /// To everything below, too.
    pub recursive: bool,
}

/// Where an effect is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// An absolute path.
    Known(String),
    /// An absolute pattern.
    Glob(String),
    /// Known parts, with `\0` for each unknown one.
    Shape(String),
}

/// What is done to a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// Content is read.
    Read,
    /// Content or time is replaced.
    Write,
    /// Content is added.
    Append,
    /// It is made.
    Create,
    /// It is removed.
    Delete,
    /// It is gone afterwards, and elsewhere.
    Move,
    /// A link of this name is made.
    Link,
    /// Mode or owner.
    Mode,
    /// It is executed.
    Execute,
    /// Something goes over the network.
    Send,
    /// An operand of a program that nothing is known of.
    Mention,
}

/// What really happened.
#[derive(Clone, Debug, Default)]
pub struct Observation {
    /// Programs and effects.
    pub watched: watch::Watched,
    /// The shell's own steps.
    pub steps: Vec<trap::Step>,
    /// The tree before the script.
    pub before: BTreeMap<String, tree::Seen>,
    /// The tree after it.
    pub after: BTreeMap<String, tree::Seen>,
    /// Standard output and error, mixed, for the reader of a report.
    pub output: String,
    /// The exit code.
    pub exit: Option<i32>,
    /// It was killed at the deadline; what should have happened is then not asked.
    pub timed_out: bool,
}

/// A sandbox with its witnesses. One per thread.
#[derive(Debug)]
pub struct Harness {
    sandbox: Sandbox,
}

impl Harness {
    /// Finds a way to run scripts safely on this machine.
    pub fn open() -> Result<Self, Error> {
        Ok(Self { sandbox: Sandbox::open()? })
    }

    /// Like [`Harness::open`]; `None`, with a word to standard error, if there is no way and `TOOLGATE_TRUTH=skip`.
    pub fn open_or_skip() -> Result<Option<Self>, Error> {
        match Self::open() {
            Err(error) if std::env::var("TOOLGATE_TRUTH").is_ok_and(|value| value == "skip") => {
                drive::say(&format!("ground truth skipped (TOOLGATE_TRUTH=skip): {error}\n"));
                Ok(None)
            }
            other => other.map(Some),
        }
    }

    /// The sandbox that is used.
    pub const fn sandbox(&self) -> &Sandbox {
        &self.sandbox
    }

    /// Runs the text and returns what happened. `names` are the variables to follow.
    pub fn observe(&mut self, text: &str, names: &[String]) -> Result<Observation, Error> {
        let raw = self.sandbox.run(text, &trap::script(names))?;
        let watched = watch::Watched::parse(&raw.calls);
        let steps = trap::parse(&raw.trap, names, &watched);
        Ok(Observation {
            steps,
            watched,
            before: tree::pristine(),
            after: tree::snapshot(&self.sandbox.tree()),
            output: String::from_utf8_lossy(&raw.output).into_owned(),
            exit: raw.exit,
            timed_out: raw.timed_out,
        })
    }

    /// Runs the text and compares what happened with the prediction.
    pub fn run(&mut self, text: &str, prediction: &Prediction) -> Result<Report, Error> {
        let predicted = prediction.commands.iter().flat_map(|command| command.env.keys().chain(&command.unset));
        let names = trap::names(text, predicted.map(String::as_str));
        let observation = self.observe(text, &names)?;
        Ok(compare::compare(text, prediction, &observation))
    }
}

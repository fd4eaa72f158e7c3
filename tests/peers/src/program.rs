//! The programs: what they are called, how each is set up for Claude Code, and how Claude Code then calls it.
//!
//! | Program | Set up by | Called as |
//! |---|---|---|
//! | `toolgate` | nothing: without a configuration it judges by its built-in rules | `toolgate hook claude` |
//! | destructive_command_guard | nothing: `dcg install` only writes the call into Claude Code's settings | `dcg` |
//! | apohara-agentguard | nothing: `init` only writes the call, too | `apohara-agentguard hook` |
//! | bashguard | `bashguard profiles install-builtins` and `bashguard init`, with the profile that they switch on | `bashguard check --json` |
//! | cc-safety-net | nothing; its plugin goes through `npx`, which is left out in its favour | `cc-safety-net hook --claude-code` |

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use crate::Error;
use crate::place::{NODE, PEERS, TOOLGATE};

/// A program that is run as a hook.
#[derive(Debug)]
pub struct Program {
    /// What it is called in arguments.
    pub name: &'static str,
    /// What it is called in tables. That of a package gets its version behind it.
    pub title: &'static str,
    /// Where it comes from.
    pub maker: Maker,
    /// How it is called.
    pub line: &'static [&'static str],
    /// What is run once before, in the workspace.
    pub setup: &'static [&'static [&'static str]],
    /// What has to serve meanwhile.
    pub host: Option<&'static [&'static str]>,
    /// Its environment, beside what all have.
    pub environment: &'static [(&'static str, &'static str)],
}

/// Where a program comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Maker {
    /// It decides nothing, and shows what a process costs.
    System,
    /// It is ours.
    Toolgate,
    /// The package of that name, which `.ci/peers` installs.
    Package,
}

/// In the order of the table.
pub const ALL: &[Program] = &[
    Program { title: "`/bin/sh -c true`", ..plain("floor", Maker::System, &["/bin/sh", "-c", "true"]) },
    Program {
        title: "Toolgate {version}, cold",
        environment: &[("TOOLGATE_NO_SERVE", "1")],
        ..plain("cold", Maker::Toolgate, &[TOOLGATE, "hook", "claude"])
    },
    Program {
        title: "Toolgate {version} with its resident host",
        host: Some(&[TOOLGATE, "serve"]),
        ..plain("resident", Maker::Toolgate, &[TOOLGATE, "hook", "claude"])
    },
    plain("bashguard", Maker::Package, &["{peers}/bin/bashguard", "check", "--json"])
        .after(&[&["{peers}/bin/bashguard", "profiles", "install-builtins"], &["{peers}/bin/bashguard", "init"]]),
    plain("apohara-agentguard", Maker::Package, &["{peers}/bin/apohara-agentguard", "hook"]),
    plain("destructive_command_guard", Maker::Package, &["{peers}/bin/dcg"]),
    plain(
        "cc-safety-net",
        Maker::Package,
        &[NODE, "{peers}/node_modules/cc-safety-net/dist/bin/cc-safety-net.js", "hook", "--claude-code"],
    ),
];

/// The one that the others are held against.
pub const MEASURE: &str = "cold";

const fn plain(name: &'static str, maker: Maker, line: &'static [&'static str]) -> Program {
    Program { name, title: name, maker, line, setup: &[], host: None, environment: &[] }
}

impl Program {
    const fn after(self, setup: &'static [&'static [&'static str]]) -> Program {
        Program { setup, ..self }
    }

    /// A command line of it, with the paths of the place.
    pub fn words(line: &[&str]) -> Vec<String> {
        line.iter().map(|word| word.replace("{peers}", PEERS)).collect()
    }

    /// Whether it needs Node.
    pub fn on_node(&self) -> bool {
        self.line.first() == Some(&NODE)
    }

    /// Whether it judges at all.
    pub fn judges(&self) -> bool {
        self.maker != Maker::System
    }
}

/// What `.ci/peers` has left.
#[derive(Clone, Debug)]
pub struct Installed {
    /// Where.
    pub folder: PathBuf,
    versions: BTreeMap<String, String>,
    left_out: BTreeMap<String, String>,
}

impl Installed {
    /// Reads what is there and what is not.
    ///
    /// # Errors
    /// If it was never run.
    pub fn at(folder: &Path) -> Result<Installed, Error> {
        let read = |name: &str, between: &str| {
            let text = fs::read_to_string(folder.join(name)).map_err(|_| Error::NotInstalled(folder.join(name)))?;
            let pairs = text.lines().filter_map(|line| line.split_once(between));
            Ok::<_, Error>(pairs.map(|(name, rest)| (name.into(), rest.into())).collect())
        };
        let (versions, left_out) = (read("installed", " ")?, read("left-out", ": ")?);
        Ok(Installed { folder: folder.canonicalize()?, versions, left_out })
    }

    /// The version of a package, or why it is not there.
    ///
    /// # Errors
    /// The reason.
    pub fn version(&self, package: &str) -> Result<&str, &str> {
        let reason = || self.left_out.get(package).map_or("`.ci/peers` does not know it", String::as_str);
        self.versions.get(package).map(String::as_str).ok_or_else(reason)
    }
}

//! `toolgate plugin`: components that others wrote, added by a person, and in force from then on.
//!
//! | Module | For |
//! |---|---|
//! | `add` | a new plugin, or a newer version of one |
//! | `dev` | the author's loop: build, test, wait for a change |
//! | `grant` | what a plugin may do: given, taken back, removed |
//! | `list` | what is installed |
//! | `live` | newer versions while a host runs |
//! | `loaded` | components ready for use |
//! | `new` | a start for a plugin of one's own |
//! | `source` | where a component comes from |
//! | `store` | what is kept of an installed plugin |
//! | `test` | cases that a plugin has to get right |
//! | `words` | what a plugin does and asks for, for a person |

mod add;
mod dev;
mod grant;
mod list;
pub(crate) mod live;
pub(crate) mod loaded;
mod new;
pub(crate) mod source;
pub(crate) mod store;
mod test;
pub(crate) mod words;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::builder::PossibleValuesParser;
use clap::{Args, Subcommand};
use toolgate_host::Capability;

use crate::{Failure, exit, inspect};
use store::named;

#[derive(Args)]
#[command(after_help = "\
A plugin is a WebAssembly component. It reaches nothing but what you grant it, and it can only add
restrictions and advice: the guard judges every call as well, and the strictest verdict holds. What
you grant may do more: with journal it notes events, which lift rules that wait for them. The guard
comes first, then the installed plugins in the order of their names, then those of --plugin; the
order changes no verdict.

Plugins are added, granted something, removed, and what they may do is taken back only at a terminal
of yours: not below an agent.")]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Show what a component does and asks for, and install it if you agree
    #[command(after_help = "\
FILE is a component. FOLDER has a plugin.toml (name = \"..\", component = \"PATH\"), or exactly one
.wasm file in itself, in dist, or in target/wasm32-unknown-unknown/release or
target/wasm32-wasip1/release.

The component is copied; what becomes of the file later does not matter. One with the name of an
installed plugin is a new version of it: what was granted stays granted, and what it asks for beyond
that is shown. If you do not agree to that, the new version is held back and the old one stays in
force.

Exit codes: 0 added, 2 refused or not confirmed; 64 wrong arguments, 65 not a component, 66 no such
file, 70 and above a fault of Toolgate's own.")]
    Add(Add),
    /// List what is installed, and what it may do
    #[command(after_help = "Exit codes: 0 all can be used, 1 one cannot, 65 it is not known which there are.")]
    List(Shown),
    /// Show what a component exports and asks for, its digests, and what it may do if it is installed
    Inspect(Inspect),
    /// Grant a plugin more of what it asks for, and let a version in force that was held back
    #[command(after_help = "\
Exit codes: 0 granted, 2 refused or not confirmed; 64 it does not ask for that, 65 wrong data, 66 no
such plugin.")]
    Grant(Grant),
    /// Take back what a plugin may do; it stays installed, and judges without it
    #[command(after_help = "\
Exit codes: 0 taken back, 2 refused, 65 wrong data, 66 no such plugin, or it was not granted that.")]
    Revoke(Revoke),
    /// Remove a plugin
    #[command(after_help = "Exit codes: 0 removed, 2 refused or not confirmed, 65 wrong data, 66 no such plugin.")]
    Remove(Named),
    /// Run the cases of a plugin, without an agent
    #[command(after_help = test::HELP)]
    Test(test::Arguments),
    /// Build a plugin and run its cases whenever one of its files changes
    #[command(after_help = dev::HELP)]
    Dev(dev::Arguments),
    /// Write a plugin to start from
    New(new::Arguments),
}

#[derive(Args)]
struct Add {
    /// The component, or a plugin's folder
    #[arg(value_name = "FILE|FOLDER")]
    from: PathBuf,

    /// What to call it [default: what its plugin.toml or the file's name says]
    #[arg(long)]
    name: Option<String>,

    /// Grant only these of the capabilities that it asks for; an empty text for none [default: all]
    #[arg(long, value_name = "NAMES", value_delimiter = ',', value_parser = named_or_empty)]
    only: Option<Vec<Option<Capability>>>,

    #[command(flatten)]
    limits: Limits,

    /// Print what was added as JSON
    #[arg(long)]
    json: bool,
}

/// What is granted besides capabilities.
#[derive(Args)]
struct Limits {
    /// Let it look at files below this folder only; may be given several times
    #[arg(long = "folder", value_name = "DIR")]
    folders: Vec<PathBuf>,

    /// Let it rewrite calls; what it makes of one is judged again
    #[arg(long)]
    rewrite: bool,
}

impl Limits {
    /// The folders, with links resolved; none if none are named.
    fn folders(&self) -> Result<Option<Vec<PathBuf>>, Failure> {
        let real = |folder: &PathBuf| {
            let real = folder.canonicalize();
            real.map_err(|error| Failure::new(exit::NO_INPUT, format!("{}: {error}", folder.display())))
        };
        let folders = self.folders.iter().map(real).collect::<Result<Vec<_>, _>>()?;
        Ok((!folders.is_empty()).then_some(folders))
    }
}

#[derive(Args)]
struct Shown {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Args)]
struct Inspect {
    /// An installed plugin, or a component's file
    #[arg(value_name = "NAME|FILE")]
    what: String,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Args)]
struct Named {
    /// The plugin
    name: String,
}

#[derive(Args)]
struct Grant {
    /// The plugin
    name: String,

    /// What it is to have [default: all that it asks for]
    #[arg(value_name = "CAPABILITY", value_parser = named)]
    capabilities: Vec<Capability>,

    #[command(flatten)]
    limits: Limits,
}

#[derive(Args)]
struct Revoke {
    /// The plugin
    name: String,

    /// What is taken back, `rewrite` included [default: everything]
    #[arg(value_name = "CAPABILITY", value_parser = PossibleValuesParser::new(revocable()))]
    capabilities: Vec<String>,
}

/// The grant that is no capability.
const REWRITE: &str = "rewrite";

fn revocable() -> impl Iterator<Item = &'static str> {
    Capability::ALL.into_iter().map(Capability::name).chain([REWRITE])
}

fn named_or_empty(text: &str) -> Result<Option<Capability>, String> {
    if text.is_empty() { Ok(None) } else { named(text).map(Some) }
}

pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode, Failure> {
    match &arguments.command {
        Command::Add(arguments) => add::run(arguments),
        Command::List(arguments) => list::run(arguments.json),
        Command::Inspect(arguments) => inspect_one(arguments),
        Command::Grant(arguments) => grant::grant(arguments),
        Command::Revoke(arguments) => grant::revoke(arguments),
        Command::Remove(arguments) => grant::remove(&arguments.name),
        Command::Test(arguments) => test::run(arguments),
        Command::Dev(arguments) => dev::run(arguments),
        Command::New(arguments) => new::run(arguments),
    }
}

/// An installed plugin if there is one of that name, else a file.
fn inspect_one(arguments: &Inspect) -> Result<ExitCode, Failure> {
    let store = store::Store::of_user()?;
    match store.list()?.into_iter().find(|one| one.name == arguments.what) {
        Some(one) => {
            let bytes = store.component(&one.name, &one.version)?;
            let plugin = loaded::compile(&one.name, &bytes).map_err(|error| Failure::new(exit::DATA, error))?;
            inspect::show(plugin.description(), Some(&one), arguments.json)
        }
        None => {
            let path = PathBuf::from(&arguments.what);
            if !path.try_exists().unwrap_or(true) {
                let message = format!("no plugin named {} is installed, and there is no such file", arguments.what);
                return Err(Failure::new(exit::NO_INPUT, message));
            }
            inspect::file(&path, arguments.json)
        }
    }
}

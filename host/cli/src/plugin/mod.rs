//! `toolgate plugin`: components that others wrote, added by a person, and in force from then on.
//!
//! | Module | For |
//! |---|---|
//! | `add` | a new plugin, or a newer version of one |
//! | `component_file` | where a component comes from |
//! | `dev` | the author's loop: build, test, wait for a change |
//! | `grant` | what a plugin may do: given, taken back, removed |
//! | `list` | what is installed |
//! | `live` | newer versions while a host runs |
//! | `new` | a start for a plugin of one's own |
//! | `test` | cases that a plugin has to get right |
//! | `words` | what a plugin does and asks for, for a person |

mod add;
pub(crate) mod component_file;
mod dev;
mod grant;
mod list;
pub(crate) mod live;
mod new;
mod test;
pub(crate) mod words;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::builder::PossibleValuesParser;
use clap::{Args, Subcommand};
use toolgate_agents::{Failure, exit};
use toolgate_gatekeeper::plugin::loaded;
use toolgate_gatekeeper::plugin::store::{self, named};
use toolgate_host::Capability;

use crate::inspect;

#[derive(Args)]
#[command(after_help = "\
A plugin is a WebAssembly component with only the capabilities that you grant. It can only add
restrictions and advice: the guard evaluates every call as well, and the strictest verdict wins. The
journal capability is an exception: a plugin with it can record events, which lift rules that wait
for them. The guard runs first, then the installed plugins by name, then those of --plugin; the order
changes no verdict.

Adding, removing, granting and revoking require a terminal that no agent controls.")]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Show what a component does and needs, and install it if you agree
    #[command(after_help = "\
FILE is a component. FOLDER has a plugin.toml (name = \"..\", component = \"PATH\"), or exactly one
.wasm file in itself, in dist, or in target/wasm32-unknown-unknown/release or
target/wasm32-wasip1/release.

The component is copied, so later changes of the file have no effect. A component with the name of an
installed plugin is a new version of it: it keeps its grants, and new requests are shown. If you do not
agree, the new version is held back and the old one stays active.

Exit codes: 0 added, 2 refused or not confirmed; 64 invalid arguments, 65 not a component, 66 no such
file, 70 and above internal errors.")]
    Add(Add),
    /// List installed plugins and their grants
    #[command(after_help = "Exit codes: 0 all plugins are usable, 1 one is not, 65 the list is damaged.")]
    List(Shown),
    /// Show a component's exports, imports, digests and, if it is installed, its grants
    Inspect(Inspect),
    /// Grant a plugin more capabilities, and activate a version that was held back
    #[command(after_help = "\
Exit codes: 0 granted, 2 refused or not confirmed; 64 not requested by the plugin, 65 invalid data, 66 no
such plugin.")]
    Grant(Grant),
    /// Revoke a plugin's grants; it stays installed
    #[command(after_help = "\
Exit codes: 0 revoked, 2 refused, 65 invalid data, 66 no such plugin or grant.")]
    Revoke(Revoke),
    /// Remove a plugin
    #[command(after_help = "Exit codes: 0 removed, 2 refused or not confirmed, 65 invalid data, 66 no such plugin.")]
    Remove(Named),
    /// Run a plugin's test cases, without an agent
    #[command(after_help = test::HELP)]
    Test(test::Arguments),
    /// Rebuild a plugin and run its test cases whenever a file changes
    #[command(after_help = dev::HELP)]
    Dev(dev::Arguments),
    /// Create a plugin from a template
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

    /// Print the added plugin as JSON
    #[arg(long)]
    json: bool,
}

/// Grants besides capabilities.
#[derive(Args)]
struct Limits {
    /// Let it look at files below this folder only; may be given several times
    #[arg(long = "folder", value_name = "DIR")]
    folders: Vec<PathBuf>,

    /// Allow it to rewrite calls; the result is evaluated again
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

    /// The capabilities [default: all that it requests]
    #[arg(value_name = "CAPABILITY", value_parser = named)]
    capabilities: Vec<Capability>,

    #[command(flatten)]
    limits: Limits,
}

#[derive(Args)]
struct Revoke {
    /// The plugin
    name: String,

    /// The grants to revoke, including `rewrite` [default: all]
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

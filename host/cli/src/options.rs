//! `--packs`, and `--plugin` with what goes with it.

use std::path::PathBuf;

use clap::Args;
use toolgate_gatekeeper::packs::Packs;
use toolgate_gatekeeper::plugin::store::named;
use toolgate_gatekeeper::plugins::Plugins;
use toolgate_host::Capability;

/// The packs that a command line names.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct PackOptions {
    /// Turn packs of built-in rules on, or off with a leading dash: `cloud,ci`, `all`, `-git`
    #[arg(long = "packs", value_name = "NAMES", value_delimiter = ',', allow_hyphen_values = true)]
    names: Vec<String>,
}

impl PackOptions {
    /// Every pack.
    pub(crate) fn all() -> Self {
        PackOptions { names: vec!["all".to_owned()] }
    }

    /// What they say.
    pub(crate) fn packs(&self) -> Packs {
        Packs::new(self.names.clone())
    }
}

/// The components that a command line names.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct PluginOptions {
    /// Use this plugin as well as the installed ones; repeatable
    #[arg(long = "plugin", value_name = "FILE")]
    files: Vec<PathBuf>,

    /// Allow these plugins to rewrite calls; the result is evaluated again
    #[arg(long, requires = "files")]
    rewrite: bool,

    /// Grant these plugins more capabilities than clock and log: files, git, ...
    #[arg(long = "grant", value_name = "NAMES", value_delimiter = ',', requires = "files", value_parser = named)]
    grants: Vec<Capability>,
}

impl PluginOptions {
    /// What they say.
    pub(crate) fn plugins(&self) -> Plugins {
        Plugins::new(self.files.clone(), self.rewrite, self.grants.clone())
    }
}

//! `serve --watch`: newer versions of plugins take the place of those in use when their files change.
//!
//! That is for whoever writes a plugin: who can write its file decides what judges beside the guard. An installed plugin is
//! replaced in the store, so that every process has the new version; one of `--plugin`, in this process. A build that cannot
//! be used leaves the one before it in force, and one that asks for more than it was granted is held back.

use std::collections::HashMap;
use std::io::Write;
use std::path::{Path, PathBuf};

use toolgate_agents::{Failure, exit};
use toolgate_capabilities::reload::{Watching, watch};
use toolgate_gatekeeper::plugin::store::{Installed, Store, installed};
use toolgate_gatekeeper::plugin::{component, loaded, watched};
use toolgate_host::{Granted, HotSwap, SwapError, plain};

use super::component_file::Source;

/// A plugin whose file is watched.
struct Author {
    slot: HotSwap,
    /// What a newer version may ask for; none if it is in the store, which says it.
    granted: Option<Granted>,
}

/// Watches the files that these installed plugins came from, and those that a command line names with what it grants them, until
/// it is dropped.
pub(crate) fn start(named: &[PathBuf], granted: &Granted, names: &[String]) -> Result<Watching, Failure> {
    let software = |error: String| Failure::new(exit::SOFTWARE, error);
    let store = Store::of_user()?;
    let mut authors = HashMap::new();
    for name in names {
        let one = installed(&store, name)?;
        let bytes = store.component(&one.name, &one.version)?;
        let slot = HotSwap::new(loaded::compile(&one.name, &bytes).map_err(software)?);
        authors.insert(one.version.source, Author { slot, granted: None });
    }
    for file in named {
        let path = file.canonicalize();
        let path = path.map_err(|error| Failure::new(exit::NO_INPUT, format!("{}: {error}", file.display())))?;
        let name = path.file_stem().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let slot = HotSwap::new(loaded::compile(&name, &component::component(&path)?).map_err(software)?);
        watched::name(path.clone(), slot.clone());
        authors.insert(path, Author { slot, granted: Some(granted.clone()) });
    }
    let files: Vec<PathBuf> = authors.keys().cloned().collect();
    if files.is_empty() {
        return Err(Failure::new(exit::USAGE, "nothing to watch: name an installed plugin, or a file with --plugin"));
    }
    for file in &files {
        say(&format!("watching {}", file.display()));
    }
    watched::keep(&files);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build();
    let runtime = runtime.map_err(|error| software(error.to_string()))?;
    let changed = move |path: &Path, bytes: Vec<u8>| {
        if let Some(author) = authors.get(path) {
            say(&runtime.block_on(author.changed(path, bytes)));
        }
    };
    watch(files, changed).map_err(|error| software(error.to_string()))
}

/// What a newer version of an installed plugin may ask for: what it was granted, and what it asked for and was not.
fn within(installed: &Installed) -> Granted {
    let Installed { granted, version, .. } = installed;
    let mut granted = granted.clone();
    granted.capabilities.extend(&version.asks);
    granted
}

/// To the author, who has this process in a terminal.
fn say(message: &str) {
    // Who has closed it does not want to know.
    let _ = writeln!(anstream::stderr(), "toolgate: {}", plain(message));
}

impl Author {
    /// What came of a new build, as a sentence.
    async fn changed(&self, path: &Path, bytes: Vec<u8>) -> String {
        let name = self.slot.name().to_owned();
        let made = component::as_component(bytes);
        let made = made.and_then(|bytes| Ok((loaded::compile(&name, &bytes)?, bytes)));
        let (new, bytes) = match made {
            Ok(made) => made,
            Err(why) => return format!("the new build of {name} is not used: {why}"),
        };
        let digest = new.description().component.sha256.clone();
        if digest == self.slot.current().description().component.sha256 {
            return format!("{name} has not changed");
        }
        let source = Source { name: name.clone(), path: path.to_owned(), bytes };
        let granted = match self.granted(&name) {
            Ok(granted) => granted,
            Err(failure) => return failure.message,
        };
        match self.slot.put(new.clone(), &granted).await {
            Ok(number) => match self.keep(&source, &new, false) {
                Ok(()) => format!("{name}: generation {number} is active ({})", super::words::short(&digest)),
                Err(failure) => format!("{name}: the new build could not be put in the store: {}", failure.message),
            },
            Err(why @ SwapError::HeldBack { .. }) if self.granted.is_none() => match self.keep(&source, &new, true) {
                Ok(()) => format!("{why}; `toolgate plugin grant {name}` activates it"),
                Err(failure) => format!("{why}; it could not be put in the store: {}", failure.message),
            },
            Err(why) => format!("the new build of {name} is not used: {why}"),
        }
    }

    /// What a newer version may ask for, as it is now.
    fn granted(&self, name: &str) -> Result<Granted, Failure> {
        match &self.granted {
            Some(granted) => Ok(granted.clone()),
            None => Ok(within(&installed(&Store::of_user()?, name)?)),
        }
    }

    /// Puts a version in the store, in force or held back.
    fn keep(&self, source: &Source, new: &toolgate_host::Plugin, held: bool) -> Result<(), Failure> {
        if self.granted.is_some() {
            return Ok(());
        }
        let store = Store::of_user()?;
        store.keep(&source.bytes)?;
        store.update(|plugins| {
            let gone = || Failure::new(exit::NO_INPUT, format!("{} is no longer installed", source.name));
            let one = plugins.iter_mut().find(|one| one.name == source.name).ok_or_else(gone)?;
            let version = source.version(new);
            match held {
                true => one.held = Some(version),
                false => (one.version, one.held) = (version, None),
            }
            Ok(())
        })
    }
}

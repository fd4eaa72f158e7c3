//! A component's file, wherever it is: bounded, regular, and read once.

use std::io::IsTerminal;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use toolgate_agents::{Failure, exit};
use toolgate_gatekeeper::plugin::component::{bounded, component};
use toolgate_gatekeeper::plugin::loaded;
use toolgate_gatekeeper::plugin::store::{Version, now, suggested};
use toolgate_host::Plugin;

use super::words;
use crate::output;

/// Largest `plugin.toml` that is read, in bytes.
const MANIFEST: u64 = 64 << 10;

/// What describes a plugin in its folder.
pub(super) const TOML: &str = "plugin.toml";

/// Where builds leave components, below a plugin's folder.
const BUILDS: [&str; 4] = ["", "dist", "target/wasm32-unknown-unknown/release", "target/wasm32-wasip1/release"];

/// A component that was found.
pub(crate) struct Source {
    /// The name that it suggests.
    pub(crate) name: String,
    /// Its file, absolute.
    pub(crate) path: PathBuf,
    pub(crate) bytes: Vec<u8>,
}

/// What `plugin.toml` says.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Manifest {
    name: String,
    /// The component's file, relative to the folder.
    component: PathBuf,
    /// The program that builds it, and its arguments.
    #[serde(default)]
    build: Vec<String>,
}

impl Source {
    /// The component in a file, or that of a folder: the one that its `plugin.toml` names, else the only one in it or where
    /// builds leave one.
    pub(crate) fn find(given: &Path) -> Result<Self, Failure> {
        let shown = given.display();
        let path = given.canonicalize().map_err(|error| Failure::new(exit::NO_INPUT, format!("{shown}: {error}")))?;
        let (name, path) = if path.is_dir() { in_folder(&path)? } else { (None, path) };
        let bytes = component(&path)?;
        Ok(Source { name: name.unwrap_or_else(|| suggested(&path)), path, bytes })
    }

    /// The component, compiled. Nothing of it runs.
    pub(crate) fn compile(&self, name: &str) -> Result<Plugin, Failure> {
        if std::io::stderr().is_terminal() {
            output::complain(&format!("compiling {}", self.path.display()));
        }
        loaded::compile(name, &self.bytes).map_err(|error| Failure::new(exit::DATA, error))
    }

    /// What the store has of it, once it is compiled.
    pub(super) fn version(&self, plugin: &Plugin) -> Version {
        let description = plugin.description();
        Version {
            digest: description.component.sha256.clone(),
            source: self.path.clone(),
            asks: description.asks_for(),
            hooks: words::hooks(description),
            added: now(),
        }
    }
}

/// The `plugin.toml` of a folder, if it has one.
fn manifest(folder: &Path) -> Result<Option<Manifest>, Failure> {
    let toml = folder.join(TOML);
    if !toml.try_exists().unwrap_or(true) {
        return Ok(None);
    }
    let wrong = |why: String| Failure::new(exit::DATA, format!("{}: {why}", toml.display()));
    let bytes = bounded(&toml, MANIFEST)?;
    let text = String::from_utf8(bytes).map_err(|error| wrong(error.to_string()))?;
    toml::from_str(&text).map(Some).map_err(|error| wrong(error.message().to_owned()))
}

/// What builds the plugin of a folder; nothing if its `plugin.toml` does not say.
pub(super) fn build(folder: &Path) -> Result<Vec<String>, Failure> {
    Ok(manifest(folder)?.map(|manifest| manifest.build).unwrap_or_default())
}

/// The name and the component of a plugin's folder.
fn in_folder(folder: &Path) -> Result<(Option<String>, PathBuf), Failure> {
    if let Some(manifest) = manifest(folder)? {
        let component = folder.join(&manifest.component);
        if !component.try_exists().unwrap_or(true) {
            let missing = format!("{}: not found; is the plugin built?", component.display());
            return Err(Failure::new(exit::NO_INPUT, missing));
        }
        return Ok((Some(manifest.name), component));
    }
    let found: Vec<PathBuf> = BUILDS.iter().flat_map(|build| components(&folder.join(build))).collect();
    match found.as_slice() {
        [one] => Ok((None, one.clone())),
        [] => Err(Failure::new(
            exit::DATA,
            format!("{}: no {TOML} and no component found; is the plugin built?", folder.display()),
        )),
        several => Err(Failure::new(
            exit::USAGE,
            format!(
                "{}: there are {} components; name one of them, or write a {TOML}",
                folder.display(),
                several.len()
            ),
        )),
    }
}

/// The files that end as components do.
fn components(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok).map(|entry| entry.path());
    let mut found: Vec<PathBuf> = entries.filter(|path| path.extension().is_some_and(|end| end == "wasm")).collect();
    found.sort();
    found
}

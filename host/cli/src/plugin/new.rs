//! `toolgate plugin new`: a plugin to start from, with the contract beside it.

use std::io::Write;
use std::path::{Component, Path, PathBuf};
use std::process::ExitCode;

use clap::{Args, ValueEnum};
use toolgate_agents::{Failure, dirs, exit};
use toolgate_gatekeeper::plugin::store::check_name;

use crate::output::print;

/// What stands for the plugin's name in a template.
const NAME: &str = "{{name}}";

/// A file's path below the plugin's folder, and its text.
type File = (&'static str, &'static str);

macro_rules! template {
    ($folder:literal: $($path:literal),* $(,)?) => {
        &[$(($path, include_str!(concat!("../../templates/", $folder, "/", $path)))),*]
    };
}

macro_rules! contract {
    ($($path:literal),* $(,)?) => {
        &[$((concat!("wit/", $path), include_str!(concat!("../../wit/v0.1/", $path)))),*]
    };
}

/// The files of a plugin in Rust.
const RUST: &[File] = template!("rust": ".gitignore", "README.md", "cases.yaml", "plugin.toml", "src/lib.rs");

/// The manifest of a plugin in Rust. Under its own name it would make the folder a package, which cargo leaves out of this one.
const MANIFEST: File = ("Cargo.toml", include_str!("../../templates/rust/Cargo.toml.template"));

/// The files of a plugin in Python.
const PYTHON: &[File] = template!("python": ".gitignore", "README.md", "cases.yaml", "plugin.py", "plugin.toml", "requirements.txt", "wit/mine.wit");

/// The files of a plugin in JavaScript.
const JAVASCRIPT: &[File] = template!("js": ".gitignore", "README.md", "cases.yaml", "package.json", "plugin.js", "plugin.toml", "wit/mine.wit");

/// The contract, which every plugin is built against.
const CONTRACT: &[File] = contract!("capabilities.wit", "hooks.wit", "types.wit", "worlds.wit");

#[derive(Args)]
pub(super) struct Arguments {
    /// The plugin's name
    name: String,

    /// The language that it is written in
    #[arg(long)]
    lang: Language,

    /// The folder to write to, which is made [default: one of the plugin's name]
    folder: Option<PathBuf>,
}

#[derive(Clone, Copy, ValueEnum)]
enum Language {
    Rust,
    Python,
    Js,
}

impl Language {
    fn files(self) -> impl Iterator<Item = &'static File> {
        let (own, manifest) = match self {
            Language::Rust => (RUST, Some(&MANIFEST)),
            Language::Python => (PYTHON, None),
            Language::Js => (JAVASCRIPT, None),
        };
        own.iter().chain(manifest).chain(CONTRACT)
    }
}

pub(super) fn run(arguments: &Arguments) -> Result<ExitCode, Failure> {
    let Arguments { name, lang, folder } = arguments;
    check_name(name).map_err(|why| Failure::new(exit::USAGE, why))?;
    let folder = PathBuf::from(dirs::folder(Some(folder.as_deref().unwrap_or(Path::new(name))))?);
    if std::fs::read_dir(&folder).is_ok_and(|mut entries| entries.next().is_some()) {
        return Err(Failure::new(exit::USAGE, format!("{} already exists and is not empty", folder.display())));
    }
    if let Some(part) = hidden(&folder) {
        let message =
            format!("{part} is a settings folder, where Toolgate does not look for plugins; choose another one");
        return Err(Failure::new(exit::USAGE, message));
    }
    for (path, text) in lang.files() {
        write(&folder.join(path), &text.replace(NAME, name))?;
    }
    let shown = folder.display();
    print(|out| writeln!(out, "created {name} in {shown}; its README.md explains how to build, test and install it"))
}

/// The first part of a path, below where it was given or below the home folder, that begins with a dot.
fn hidden(folder: &Path) -> Option<String> {
    let below = [std::env::current_dir().ok(), dirs::home().map(PathBuf::from)];
    let rest = below.iter().flatten().find_map(|above| folder.strip_prefix(above).ok()).unwrap_or(folder);
    let names = rest.components().filter_map(|part| match part {
        Component::Normal(name) => Some(name.to_string_lossy().into_owned()),
        _ => None,
    });
    names.into_iter().find(|name| name.starts_with('.'))
}

/// Writes a file that is not there yet.
fn write(path: &Path, text: &str) -> Result<(), Failure> {
    let failed = |error: std::io::Error| Failure::new(exit::IO, format!("{}: {error}", path.display()));
    path.parent().map_or(Ok(()), std::fs::create_dir_all).map_err(failed)?;
    let mut file = std::fs::File::create_new(path).map_err(failed)?;
    file.write_all(text.as_bytes()).map_err(failed)
}

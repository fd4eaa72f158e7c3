//! `toolgate-docs contract FOLDER FILE`: the contract on one page, from the folder with its versions.
//! `toolgate-docs book ROOT PROGRAM TARGET`: the sources of the book with its generated pages, from the repository's root and the
//! command.

#![allow(clippy::print_stderr)]

use std::error::Error;
use std::path::Path;
use std::process::ExitCode;

use toolgate_docs::book::{self, Program};
use toolgate_docs::{page, versions};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let written = match arguments.as_slice() {
        ["contract", folder, file] => contract(Path::new(folder), Path::new(file)),
        ["book", root, program, target] => sources(Path::new(root), Path::new(program), Path::new(target)),
        _ => {
            eprintln!("usage: toolgate-docs contract FOLDER FILE\n       toolgate-docs book ROOT PROGRAM TARGET");
            return ExitCode::from(64);
        }
    };
    match written {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("toolgate-docs: {error}");
            ExitCode::FAILURE
        }
    }
}

fn contract(folder: &Path, file: &Path) -> Result<(), Box<dyn Error>> {
    let page = page(&versions(folder)?);
    if let Some(parent) = file.parent() {
        std::fs::create_dir_all(parent)?;
    }
    std::fs::write(file, page)?;
    eprintln!("{}", file.display());
    Ok(())
}

fn sources(root: &Path, program: &Path, target: &Path) -> Result<(), Box<dyn Error>> {
    let program = program.canonicalize().map_err(|error| format!("{}: {error}", program.display()))?;
    let home = tempfile::tempdir()?;
    book::write(root, &Program::new(&program, home.path()), target)?;
    eprintln!("{}", target.display());
    Ok(())
}

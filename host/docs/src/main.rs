//! `toolgate-docs FOLDER FILE`: the contract on one page, from the folder with its versions.

#![allow(clippy::print_stderr)]

use std::error::Error;
use std::path::Path;
use std::process::ExitCode;

use toolgate_docs::{page, versions};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [folder, file] = arguments.as_slice() else {
        eprintln!("usage: toolgate-docs FOLDER FILE");
        return ExitCode::from(64);
    };
    match write(Path::new(folder), Path::new(file)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("toolgate-docs: {error}");
            ExitCode::FAILURE
        }
    }
}

fn write(folder: &Path, file: &Path) -> Result<(), Box<dyn Error>> {
    let page = page(&versions(folder)?);
    if let Some(parent) = file.parent() {
        std::fs::create_dir_all(parent)?;
    }
    std::fs::write(file, page)?;
    eprintln!("{}", file.display());
    Ok(())
}

//! The agents from npm: one folder a package in the cache, exactly the version that is named, no installation scripts.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::Error;
use crate::client::{Client, Package, installed, packages};

/// Installs what an agent needs and the cache does not have. `progress` is told what takes a while.
pub fn install(cache: &Path, client: &dyn Client, progress: impl Fn(&str)) -> Result<(), Error> {
    for package in packages(client) {
        if !installed(cache, package).is_dir() {
            progress(&format!("installing {}", package.spec()));
            add(cache, package)?;
        }
    }
    Ok(())
}

/// Installs beside the cache's folders and moves the whole there, so that half an installation is never taken for one.
fn add(cache: &Path, package: Package) -> Result<(), Error> {
    reach(package)?;
    fs::create_dir_all(cache)?;
    let folder = tempfile::Builder::new().prefix(".new-").tempdir_in(cache)?;
    let mut npm = Command::new("npm");
    npm.args(["install", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error", "--prefix"]);
    npm.arg(folder.path()).arg(package.spec());
    let fault = |text: String| Error::Install(package.spec(), text);
    let out = npm.output().map_err(|error| fault(error.to_string()))?;
    if !out.status.success() {
        return Err(fault(String::from_utf8_lossy(&out.stderr).trim().to_owned()));
    }
    let place = installed(cache, package);
    match fs::rename(folder.path(), &place) {
        // Somebody else was faster.
        Err(_) if place.is_dir() => Ok(()),
        other => Ok(other?),
    }
}

/// Tells a registry that is out of reach from a package that it does not have.
fn reach(package: Package) -> Result<(), Error> {
    let mut npm = Command::new("npm");
    npm.args(["view", "--fetch-retries=1", "--fetch-timeout=20000", "--loglevel=error", &package.spec(), "version"]);
    let out = npm.output().map_err(|error| Error::Unreachable(package.spec(), error.to_string()))?;
    let text = String::from_utf8_lossy(&out.stderr).trim().to_owned();
    if out.status.success() {
        Ok(())
    } else if ["E404", "ETARGET"].iter().any(|code| text.contains(code)) {
        Err(Error::Install(package.spec(), text))
    } else {
        Err(Error::Unreachable(package.spec(), text))
    }
}

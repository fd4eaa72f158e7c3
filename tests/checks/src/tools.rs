//! What `just checks-setup` installed, and what it left out.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use crate::Error;

/// The folder of the tools.
#[derive(Clone, Debug)]
pub struct Tools {
    root: PathBuf,
    left_out: BTreeMap<String, String>,
}

impl Tools {
    /// Looks where `TOOLGATE_CHECKS_TOOLS` says, else where the set-up of this build would put them. None, with the
    /// reason, if they are left out on purpose or were never set up.
    ///
    /// # Errors
    /// If the variable names a folder, and the set-up has not come to its end there.
    pub fn find() -> Result<Result<Tools, String>, Error> {
        if std::env::var_os("TOOLGATE_CHECKS").is_some_and(|value| value == "skip") {
            return Ok(Err("TOOLGATE_CHECKS=skip".into()));
        }
        let named = std::env::var_os("TOOLGATE_CHECKS_TOOLS").map(PathBuf::from);
        let root = named.clone().or_else(|| Some(built()?.parent()?.join("checks-tools"))).unwrap_or_default();
        match fs::read_to_string(root.join("left-out")) {
            Ok(text) => {
                let left_out = text.lines().filter_map(|line| line.split_once(": "));
                let left_out = left_out.map(|(name, reason)| (name.into(), reason.into())).collect();
                Ok(Ok(Tools { root, left_out }))
            }
            Err(_) if named.is_some() => Err(Error::Missing(root.display().to_string())),
            Err(_) => Ok(Err("run `just checks-setup` first".into())),
        }
    }

    /// Why a tool was left out, if it was.
    pub fn left_out(&self, tool: &str) -> Option<&str> {
        self.left_out.get(tool).map(String::as_str)
    }

    /// What npm installed.
    pub fn node_modules(&self) -> PathBuf {
        self.root.join("node_modules")
    }

    /// `PATH` with the tools before everything else.
    pub fn path(&self) -> OsString {
        let inherited = std::env::var_os("PATH").unwrap_or_default();
        let folders = [self.root.join("bin")].into_iter().chain(std::env::split_paths(&inherited));
        std::env::join_paths(folders).unwrap_or(inherited)
    }

    /// The command line of the real `code-lens` daemon.
    pub fn code_lens(&self) -> Option<Vec<OsString>> {
        let server = self.node_modules().join("@harms-haus/code-lens/dist/server.js");
        server.is_file().then(|| vec!["node".into(), server.into()])
    }
}

/// The command line of the real `code-lens` daemon, if it is installed.
pub fn code_lens() -> Option<Vec<OsString>> {
    Tools::find().ok()?.ok()?.code_lens()
}

/// The command line of our daemon: what `TOOLGATE_CHECKS_COMMAND` names, else what was built beside this program.
///
/// # Errors
/// If it is not built.
pub fn ours() -> Result<Vec<OsString>, Error> {
    let named = std::env::var_os("TOOLGATE_CHECKS_COMMAND").map(PathBuf::from);
    let program = named.or_else(|| Some(built()?.join("toolgate-lens"))).unwrap_or_default();
    if program.is_file() { Ok(vec![program.into()]) } else { Err(Error::Unbuilt(program)) }
}

/// The folder of the built programs. Tests and examples lie in folders of their own in it.
fn built() -> Option<PathBuf> {
    let program = std::env::current_exe().ok()?;
    let folder = program.parent()?;
    let own = |name: &str| folder.ends_with(name);
    if own("deps") || own("examples") { folder.parent().map(Path::to_path_buf) } else { Some(folder.to_path_buf()) }
}

//! The gate's own files, which rules keep agents from: configuration, state, sockets, this program, and what has agents call it.

use std::path::{Path, PathBuf};

use toolgate_agents::dirs;
use toolgate_agents::settings::{link, table};

use crate::plugin::watched;

/// Where the gate's own files are: configuration, state, sockets, and this program. A user may have them anywhere; and where
/// the links lead that agents' settings are, for the user and below this root.
pub(crate) fn own(kept: &[PathBuf], root: &Path) -> Vec<String> {
    let config = dirs::configuration();
    let sockets = dirs::sockets();
    let program = std::env::current_exe().ok();
    // That they lead to the program does not keep them from being removed.
    let links: Vec<PathBuf> = program.iter().flat_map(|program| link::beside(program)).collect();
    let named = [config, dirs::state(), sockets, program].into_iter().flatten();
    let named: Vec<PathBuf> = named
        .chain(kept.iter().cloned())
        .chain(watched::files())
        .chain(table::moved())
        .chain(table::behind_links(root))
        .collect();
    let mut all: Vec<PathBuf> = named.iter().filter_map(|path| path.canonicalize().ok()).collect();
    all.extend(named);
    all.extend(links);
    all.sort();
    all.dedup();
    all.into_iter().filter_map(|path| path.into_os_string().into_string().ok()).collect()
}

//! What `just guest` and `just plugins` leave in the target folder.

use std::path::PathBuf;

/// The folder that the build leaves its results in.
pub(crate) fn target() -> PathBuf {
    let target = std::env::var_os("CARGO_TARGET_DIR").map(PathBuf::from);
    target.unwrap_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../target"))
}

/// One of its files.
pub(crate) fn built(path: &str) -> Vec<u8> {
    let file = target().join(path);
    std::fs::read(&file).unwrap_or_else(|error| panic!("{}: {error}; run `just guest`", file.display()))
}

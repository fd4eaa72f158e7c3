//! Where the components of the tests are, which this crate's build script compiles. They lie in cargo's target folder:
//!
//! | Below it | Is |
//! |---|---|
//! | `wasm32-unknown-unknown/guest/toolgate_NAME.wasm` | a module |
//! | `component`, `test-guest`, `test-plugin` | `guest.wasm`, a component, and its machine code |

use std::path::Path;

/// Cargo's target folder.
pub fn target() -> &'static Path {
    Path::new(env!("TOOLGATE_TARGET_DIR"))
}

/// What the build left in a file below it.
///
/// # Panics
/// If there is no such file.
#[track_caller]
pub fn built(path: &str) -> Vec<u8> {
    let file = target().join(path);
    std::fs::read(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()))
}

/// A module of the tests: `test_guest` is that of `toolgate-test-guest`.
///
/// # Panics
/// If there is none of that name.
#[track_caller]
pub fn module(name: &str) -> Vec<u8> {
    built(&format!("wasm32-unknown-unknown/guest/toolgate_{name}.wasm"))
}

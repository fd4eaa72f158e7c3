//! Compiles the components of the tests: those that misbehave, answer or follow a cluster, and the one of the benches.

use std::process::ExitCode;

use toolgate_bake::{Workspace, WorkspaceError, build_script};

/// The guest is among them, so that what they share has the same features as in its own build and is compiled once.
const CRATES: &[&str] =
    &["toolgate-guest", "toolgate-test-guest", "toolgate-test-plugin", "toolgate-test-speed", "toolgate-test-tracker"];

fn main() -> ExitCode {
    build_script(build)
}

fn build() -> Result<(), WorkspaceError> {
    let workspace = Workspace::of_build_script();
    workspace.compile(CRATES)?;
    for name in ["test-guest", "test-plugin"] {
        workspace.bake(&format!("toolgate-{name}"), name)?;
    }
    println!("cargo::rustc-env=TOOLGATE_TARGET_DIR={}", workspace.target("").display());
    Ok(())
}

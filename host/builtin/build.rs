//! Compiles the guest to WebAssembly and that to machine code, in the folder `component` of the target folder: about five minutes
//! the first time, and again when a source of the guest has changed.

use std::process::ExitCode;

use toolgate_bake::{Workspace, WorkspaceError, bake};

const GUEST: &str = "toolgate-guest";

fn main() -> ExitCode {
    match build() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            println!("cargo::error={error}");
            ExitCode::FAILURE
        }
    }
}

fn build() -> Result<(), WorkspaceError> {
    println!("cargo::rerun-if-changed=build.rs");
    let workspace = Workspace::of_build_script();
    let folder = workspace.target("component");
    workspace.compile(&[GUEST])?;
    bake(&workspace.module(GUEST), &folder)?;
    println!("cargo::rustc-env=TOOLGATE_GUEST_DIR={}", folder.display());
    Ok(())
}

//! Compiles the guest to WebAssembly and that to machine code: about five minutes the first time, and again when a source of the
//! guest has changed. The folder `component` of the target folder has the results for other uses.

use std::process::ExitCode;

use toolgate_bake::{Workspace, WorkspaceError, build_script};

const GUEST: &str = "toolgate-guest";

fn main() -> ExitCode {
    build_script(build)
}

fn build() -> Result<(), WorkspaceError> {
    let workspace = Workspace::of_build_script();
    workspace.compile(&[GUEST])?;
    let folder = workspace.bake(GUEST, "component")?;
    println!("cargo::rustc-env=TOOLGATE_GUEST_DIR={}", folder.display());
    Ok(())
}

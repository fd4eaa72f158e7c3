//! Compiles the guest to WebAssembly and that to machine code: about five minutes the first time, and again when a source of the
//! guest has changed. The folder `component` of the target folder has the results for other uses. A published package has no
//! sources of the guest; it brings the component, see `.ci/crates`.

use std::process::ExitCode;

use toolgate_bake::{Workspace, WorkspaceError, build_script};

const GUEST: &str = "toolgate-guest";

fn main() -> ExitCode {
    build_script(build)
}

fn build() -> Result<(), WorkspaceError> {
    let workspace = Workspace::of_build_script();
    let folder = if workspace.has_sources() {
        workspace.compile(&[GUEST])?;
        workspace.bake(GUEST, "component")?
    } else if std::env::var_os("DOCS_RS").is_some() {
        // Documentation runs nothing, and has little time and memory to be built with.
        workspace.placeholder()?
    } else {
        workspace.bake_packaged()?
    };
    println!("cargo::rustc-env=TOOLGATE_GUEST_DIR={}", folder.display());
    Ok(())
}

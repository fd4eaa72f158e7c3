//! For build scripts: compiles crates of this workspace to WebAssembly, and leaves what becomes of them in the target folder.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};

use toolgate_host::Digest;

use crate::recipe::{BakeError, componentize, precompile, snapshot, used};

/// What cargo tells a build script of its own crate, and what is wrong for another one.
const OF_THE_SCRIPT: &[&str] = &[
    "CARGO_ENCODED_RUSTFLAGS",
    "CARGO_MANIFEST_DIR",
    "CARGO_MANIFEST_PATH",
    "DEBUG",
    "HOST",
    "NUM_JOBS",
    "OPT_LEVEL",
    "OUT_DIR",
    "PROFILE",
    "RUSTC",
    "RUSTC_LINKER",
    "RUSTC_WORKSPACE_WRAPPER",
    "RUSTDOC",
    "TARGET",
];

/// Why there is no component.
#[derive(Debug, thiserror::Error)]
pub enum WorkspaceError {
    /// The compiler could not be started.
    #[error("{compiler}: {error}")]
    Start {
        /// The script that chooses it.
        compiler: String,
        /// What the system said.
        error: std::io::Error,
    },
    /// It failed, and has said why.
    #[error("the crates for WebAssembly do not compile ({0})")]
    Compile(ExitStatus),
    /// A file cannot be read or written.
    #[error("{path}: {error}")]
    File {
        /// Its path.
        path: String,
        /// What the system said.
        error: std::io::Error,
    },
    /// A module does not become what ships.
    #[error(transparent)]
    Bake(#[from] BakeError),
}

/// The workspace and its target folder, as a build script finds them.
#[derive(Clone, Debug)]
pub struct Workspace {
    root: PathBuf,
    target: PathBuf,
}

impl Workspace {
    /// By the variables that cargo sets for a build script, whose crate lies two folders below the workspace's root.
    ///
    /// # Panics
    /// Where it is no build script that asks.
    pub fn of_build_script() -> Self {
        let folder = |name: &str| PathBuf::from(std::env::var_os(name).expect("cargo sets it for build scripts"));
        // TARGET/PROFILE/build/CRATE/out
        let out = folder("OUT_DIR");
        let target = out.ancestors().nth(4).expect("cargo's folders").to_owned();
        let root = folder("CARGO_MANIFEST_DIR").join("../..");
        Workspace { root: root.canonicalize().unwrap_or(root), target }
    }

    /// A folder below the target folder.
    pub fn target(&self, name: &str) -> PathBuf {
        self.target.join(name)
    }

    /// Compiles crates to modules, in the profile for them, and has the build script run again when their sources change. Cargo's
    /// locks are by profile: it waits for no build that waits for this one.
    pub fn compile(&self, crates: &[&str]) -> Result<(), WorkspaceError> {
        let compiler = self.root.join(".ci/wasm");
        let mut command = Command::new(&compiler);
        command.args(["cargo", "build", "--locked", "--profile", "guest", "--target", "wasm32-unknown-unknown"]);
        command.args(crates.iter().flat_map(|name| ["-p", *name]));
        command.arg("--target-dir").arg(&self.target).current_dir(&self.root);
        let is_of_the_script = |name: &str| {
            OF_THE_SCRIPT.contains(&name)
                || ["CARGO_CFG_", "CARGO_FEATURE_", "CARGO_PKG_"].iter().any(|start| name.starts_with(start))
        };
        for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_str().is_some_and(is_of_the_script)) {
            command.env_remove(name);
        }
        let status = command
            .status()
            .map_err(|error| WorkspaceError::Start { compiler: compiler.display().to_string(), error })?;
        if !status.success() {
            return Err(WorkspaceError::Compile(status));
        }
        for name in ["Cargo.toml", "Cargo.lock", ".ci/wasm", "rust-toolchain.toml"] {
            println!("cargo::rerun-if-changed={}", self.root.join(name).display());
        }
        for name in crates {
            self.watch(&self.module(name).with_extension("d"))?;
        }
        Ok(())
    }

    /// The module of a crate that was compiled.
    pub fn module(&self, name: &str) -> PathBuf {
        self.target.join("wasm32-unknown-unknown/guest").join(name.replace('-', "_")).with_extension("wasm")
    }

    /// Has the build script run again when one of the files changes that cargo lists, or a manifest beside one.
    fn watch(&self, list: &Path) -> Result<(), WorkspaceError> {
        let text = std::fs::read_to_string(list).map_err(failed(list))?;
        let mut manifests: Vec<PathBuf> = Vec::new();
        for source in listed(&text) {
            println!("cargo::rerun-if-changed={}", source.display());
            let manifest = source.ancestors().map(|folder| folder.join("Cargo.toml")).find(|path| path.is_file());
            manifests.extend(manifest.filter(|path| !manifests.contains(path)));
        }
        for manifest in manifests {
            println!("cargo::rerun-if-changed={}", manifest.display());
        }
        Ok(())
    }
}

/// What went wrong with a file.
fn failed(path: &Path) -> impl FnOnce(std::io::Error) -> WorkspaceError {
    let path = path.display().to_string();
    move |error| WorkspaceError::File { path, error }
}

/// The sources in cargo's list of what a result was made of: `RESULT: SOURCE SOURCE`, with a backslash before a space in a name.
fn listed(text: &str) -> Vec<PathBuf> {
    let sources = text.lines().next().and_then(|line| line.split_once(": ")).map_or("", |(_, sources)| sources);
    let joined = sources.replace("\\ ", "\0");
    joined.split(' ').filter(|name| !name.is_empty()).map(|name| PathBuf::from(name.replace('\0', " "))).collect()
}

/// What was written, in bytes, and how many functions come first of how many.
#[derive(Clone, Copy, Debug)]
pub struct Baked {
    /// The component.
    pub component: u64,
    /// Its machine code.
    pub code: usize,
    /// What its memory holds when it starts.
    pub memory: usize,
    /// Functions that it runs for everyday calls, and all.
    pub functions: (usize, usize),
}

/// Makes of a module or component what ships. Writes `guest.wasm`, the component; `guest.cwasm`, its machine code; `guest.memory`,
/// what its memory holds when it starts; and `guest.rs`, their digests and where that memory begins.
pub fn bake(module: &Path, folder: &Path) -> Result<Baked, WorkspaceError> {
    let component = componentize(&std::fs::read(module).map_err(failed(module))?)?;
    let runtime = tokio::runtime::Builder::new_current_thread().build().map_err(failed(folder))?;
    let component = runtime.block_on(snapshot(&component))?;
    let used = runtime.block_on(used(&component))?;
    let (code, memory) = precompile(&component, &used)?;
    let of = Digest::of(&component);
    let machine = Digest::of(&[code.as_slice(), &memory.bytes].concat());
    std::fs::create_dir_all(folder).map_err(failed(folder))?;
    let digests = format!(
        "const COMPONENT: (&str, u64) = (\"{}\", {});\nconst MACHINE_SHA256: &str = \"{}\";\n\
         const MEMORY_START: usize = {};\n",
        of.sha256, of.bytes, machine.sha256, memory.start
    );
    let files: [(&str, &[u8]); 4] = [
        ("guest.wasm", &component),
        ("guest.cwasm", &code),
        ("guest.memory", &memory.bytes),
        ("guest.rs", digests.as_bytes()),
    ];
    for (name, content) in files {
        let path = folder.join(name);
        // One that has this content already is left alone, so that nothing is built again for it.
        if std::fs::read(&path).is_ok_and(|old| old == content) {
            continue;
        }
        std::fs::write(&path, content).map_err(failed(&path))?;
    }
    Ok(Baked { component: of.bytes, code: code.len(), memory: memory.bytes.len(), functions: used.count() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_are_read_from_the_list() {
        let cases: [(&str, &[&str]); 4] = [
            ("/t/g.wasm: /r/a.rs /r/b\\ c.rs\n", &["/r/a.rs", "/r/b c.rs"]),
            ("/t/g.wasm: /r/a.rs\n/r/a.rs:\n", &["/r/a.rs"]),
            ("/t/g.wasm:\n", &[]),
            ("", &[]),
        ];
        for (text, sources) in cases {
            assert_eq!(listed(text), sources.iter().map(PathBuf::from).collect::<Vec<_>>(), "{text}");
        }
    }
}

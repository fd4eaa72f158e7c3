//! For build scripts: compiles crates of this workspace to WebAssembly, and leaves what becomes of them in the target folder.

// What a build script has to say, cargo reads from its output.
#![allow(clippy::print_stdout)]

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, ExitStatus};

use toolgate_host::Digest;

use crate::order::Used;
use crate::recipe::{BakeError, componentize, precompile, snapshot, used};

/// Variables that cargo and rustup set for a build script, and that are wrong for another build. Without `RUSTUP_TOOLCHAIN` the
/// toolchain is the one of `rust-toolchain.toml`, which has the target, whatever compiles the program.
const SET_BY_CARGO: &[&str] = &[
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
    "RUSTUP_TOOLCHAIN",
    "TARGET",
];

/// What is made of a module: the order of its functions, the component, its machine code, what its memory holds when it starts, and
/// the digests of these.
const FILES: [&str; 5] = ["guest.order", "guest.wasm", "guest.cwasm", "guest.memory", "guest.rs"];

/// Those of them that a package brings. What is made of them anywhere is the same, and nothing has to be run for it.
const PACKAGED: [&str; 2] = ["guest.order", "guest.wasm"];

/// The script that compiles to WebAssembly, from the root.
const COMPILER: &str = ".ci/wasm";

/// Says what the files beside it were made of, and by which recipe.
const STAMP: &str = "made-of";

/// The sources of the recipe.
const RECIPE: &[&str] = &[
    include_str!("everyday.rs"),
    include_str!("memory.rs"),
    include_str!("order.rs"),
    include_str!("recipe.rs"),
    include_str!("workspace.rs"),
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
    /// A package has neither sources nor results.
    #[error("this package has no {0} and no sources to build it from; `just crates` makes complete packages")]
    Package(String),
}

/// The workspace and its target folder, as a build script finds them.
#[derive(Clone, Debug)]
pub struct Workspace {
    package: PathBuf,
    root: PathBuf,
    target: PathBuf,
    out: PathBuf,
}

impl Workspace {
    /// By the variables that cargo sets for a build script, whose crate lies two folders below the workspace's root.
    ///
    /// # Panics
    /// Where it is no build script that asks.
    pub fn of_build_script() -> Self {
        let folder = |name: &str| PathBuf::from(std::env::var_os(name).expect("cargo sets it for build scripts"));
        let out = folder("OUT_DIR");
        let target = target_folder(&out, &std::env::var("TARGET").unwrap_or_default());
        let package = folder("CARGO_MANIFEST_DIR");
        let root = package.join("../..");
        Workspace { root: root.canonicalize().unwrap_or(root), package, target, out }
    }

    /// Whether the sources of the components are there, and the script that compiles them: not where a published package is built.
    pub fn has_sources(&self) -> bool {
        self.root.join(COMPILER).is_file()
    }

    /// A folder below the target folder.
    pub fn target(&self, name: &str) -> PathBuf {
        self.target.join(name)
    }

    /// Makes of the module of a crate what ships, in the folder of this name below the target folder, with copies in the build
    /// script's own folder, which no other build writes to. Answers that folder.
    pub fn bake(&self, name: &str, folder: &str) -> Result<PathBuf, WorkspaceError> {
        let (module, folder) = (self.module(name), self.target(folder));
        let own = self.out.join("baked");
        let stamp = Digest::of(&[read(&module)?, read(&self.root.join("Cargo.lock"))?].concat()).sha256;
        let stamp = format!("{stamp} {}", Digest::of(RECIPE.concat().as_bytes()).sha256);
        let is_done = |folder: &Path| std::fs::read_to_string(folder.join(STAMP)).is_ok_and(|text| text == stamp);
        // Clippy, another profile and other features have folders of their own, and the same module.
        if !is_done(&own) && is_done(&folder) {
            for name in FILES {
                replace(&own, name, &read(&folder.join(name))?)?;
            }
            // Another build may have replaced some of them in between.
            if is_done(&folder) && is_whole(&own) {
                replace(&own, STAMP, stamp.as_bytes())?;
            }
        }
        if !is_done(&own) {
            bake(&module, &own)?;
            replace(&own, STAMP, stamp.as_bytes())?;
        }
        for name in FILES.into_iter().chain([STAMP]) {
            replace(&folder, name, &read(&own.join(name))?)?;
        }
        Ok(own)
    }

    /// Makes what ships of the component that the package of the build script brings. Answers the folder, which is the script's own.
    pub fn bake_packaged(&self) -> Result<PathBuf, WorkspaceError> {
        let own = self.out.join("baked");
        bake_packaged(&self.package, &own)?;
        for name in PACKAGED {
            println!("cargo::rerun-if-changed={}", self.package.join(name).display());
        }
        Ok(own)
    }

    /// Files that compile and are of no use, where nothing is run. Answers the folder, which is the script's own.
    pub fn placeholder(&self) -> Result<PathBuf, WorkspaceError> {
        let own = self.out.join("placeholder");
        write(&own, [&[], &[], &[], &[]], 0)?;
        Ok(own)
    }

    /// Compiles crates to modules, in the profile for them, and has the build script run again when their sources change. Cargo's
    /// locks are by profile: it waits for no build that waits for this one.
    pub fn compile(&self, crates: &[&str]) -> Result<(), WorkspaceError> {
        let compiler = self.root.join(COMPILER);
        let mut command = Command::new(&compiler);
        command.args(["cargo", "build", "--locked", "--profile", "guest", "--target", "wasm32-unknown-unknown"]);
        command.args(crates.iter().flat_map(|name| ["-p", *name]));
        command.arg("--target-dir").arg(&self.target).current_dir(&self.root);
        let is_of_the_script = |name: &str| {
            SET_BY_CARGO.contains(&name)
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
        for name in ["Cargo.toml", "Cargo.lock", COMPILER, "rust-toolchain.toml"] {
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
        // What is made on the way is newer than this script's start, and made of what is listed.
        for source in listed(&text).into_iter().filter(|source| !source.starts_with(&self.target)) {
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

/// Cargo's target folder, in which a build script for this target has its own: `FOLDER/PROFILE/build/CRATE/out`, or
/// `FOLDER/TARGET/PROFILE/build/CRATE/out`.
fn target_folder(out: &Path, target: &str) -> PathBuf {
    let above = out.ancestors().nth(4).unwrap_or(out);
    let is_of_target = above.file_name().is_some_and(|name| name == target);
    above.parent().filter(|_| is_of_target).unwrap_or(above).to_owned()
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

/// What a build script does, and how it fails.
pub fn build_script(build: fn() -> Result<(), WorkspaceError>) -> ExitCode {
    println!("cargo::rerun-if-changed=build.rs");
    match build() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            println!("cargo::error={error}");
            ExitCode::FAILURE
        }
    }
}

fn read(path: &Path) -> Result<Vec<u8>, WorkspaceError> {
    std::fs::read(path).map_err(failed(path))
}

/// Puts a file into a folder at once, so that no other build reads a part of it. One with this content is left alone, so that nothing
/// is built again for it.
fn replace(folder: &Path, name: &str, content: &[u8]) -> Result<(), WorkspaceError> {
    let path = folder.join(name);
    if std::fs::read(&path).is_ok_and(|old| old == content) {
        return Ok(());
    }
    std::fs::create_dir_all(folder).map_err(failed(folder))?;
    let new = folder.join(format!(".{name}.{}", std::process::id()));
    std::fs::write(&new, content).map_err(failed(&new))?;
    std::fs::rename(&new, &path).map_err(failed(&path))
}

/// Whether the files of a folder belong together, by the digests among them.
fn is_whole(folder: &Path) -> bool {
    let file = |name: &str| std::fs::read(folder.join(name)).unwrap_or_default();
    let text = String::from_utf8(file("guest.rs")).unwrap_or_default();
    let machine = [file("guest.cwasm"), file("guest.memory")].concat();
    [file("guest.order"), file("guest.wasm"), machine].iter().all(|part| text.contains(&Digest::of(part).sha256))
}

/// Makes of a module or component what ships. Writes `guest.wasm`, the component; `guest.order`, which of its functions are used
/// first; `guest.cwasm`, its machine code; `guest.memory`, what its memory holds when it starts; and `guest.rs`, their digests and
/// where that memory begins.
pub fn bake(module: &Path, folder: &Path) -> Result<Baked, WorkspaceError> {
    let component = componentize(&read(module)?)?;
    let runtime = tokio::runtime::Builder::new_current_thread().build().map_err(failed(folder))?;
    let component = runtime.block_on(snapshot(&component))?;
    let used = runtime.block_on(used(&component))?;
    compile(&component, &used, folder)
}

/// The same of a folder in which the component and the order of its functions lie already: the component is compiled once, and not
/// run.
fn bake_packaged(package: &Path, folder: &Path) -> Result<Baked, WorkspaceError> {
    if let Some(missing) = PACKAGED.into_iter().find(|name| !package.join(name).is_file()) {
        return Err(WorkspaceError::Package(missing.to_owned()));
    }
    let [order, component] = PACKAGED.map(|name| read(&package.join(name)));
    compile(&component?, &Used::from_bytes(&order?), folder)
}

/// The last step, and the files of all.
fn compile(component: &[u8], used: &Used, folder: &Path) -> Result<Baked, WorkspaceError> {
    let (code, memory) = precompile(component, used)?;
    write(folder, [&used.to_bytes(), component, &code, &memory.bytes], memory.start)?;
    Ok(Baked {
        component: component.len() as u64,
        code: code.len(),
        memory: memory.bytes.len(),
        functions: used.count(),
    })
}

/// Writes the files: order, component, machine code, memory, and their digests. The order's is there to be compared, see `is_whole`.
fn write(folder: &Path, parts: [&[u8]; 4], start: usize) -> Result<(), WorkspaceError> {
    let [order, component, code, memory] = parts;
    let (order, machine) = (Digest::of(order), Digest::of(&[code, memory].concat()));
    let of = Digest::of(component);
    let digests = format!(
        "// The order of the functions: {}\nconst COMPONENT: (&str, u64) = (\"{}\", {});\n\
         const MACHINE_SHA256: &str = \"{}\";\nconst MEMORY_START: usize = {start};\n",
        order.sha256, of.sha256, of.bytes, machine.sha256
    );
    for (name, content) in FILES.into_iter().zip(parts.into_iter().chain([digests.as_bytes()])) {
        replace(folder, name, content)?;
    }
    Ok(())
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

    #[test]
    fn files_are_replaced_whole_and_belong_together() {
        let folder = tempfile::tempdir().expect("a scratch folder");
        let (order, code, memory, component) = (b"order", b"code", b"memory", b"component");
        let machine = [code.as_slice(), memory].concat();
        let digests = [order.as_slice(), component, machine.as_slice()].map(|part| Digest::of(part).sha256).join(" ");
        let contents: [&[u8]; 5] = [order, component, code, memory, digests.as_bytes()];
        for (name, content) in FILES.into_iter().zip(contents) {
            assert!(!is_whole(folder.path()), "{name} is missing");
            replace(folder.path(), name, content).expect("it is written");
        }
        assert!(is_whole(folder.path()));
        replace(folder.path(), "guest.memory", b"of another build").expect("it is written");
        assert!(!is_whole(folder.path()));
        assert_eq!(std::fs::read_dir(folder.path()).expect("a folder").count(), FILES.len(), "only the files are left");
    }

    /// What a published package brings becomes the same bytes as what it was made of.
    #[test]
    fn a_package_becomes_the_same() {
        const TEXT: &str = r#"(component
            (core module $main
                (memory (export "memory") 1)
                (data (i32.const 8) "a")
                (func $never (result i32) (i32.const 1))
                (func (export "prepare") (i32.store (i32.const 0) (i32.const 30))))
            (core instance $inner (instantiate $main))
            (func $prepare (canon lift (core func $inner "prepare")))
            (instance $lifecycle (export "prepare" (func $prepare)))
            (export "toolgate:plugin/lifecycle@0.1.0" (instance $lifecycle)))"#;
        let folder = tempfile::tempdir().expect("a scratch folder");
        let at = |name: &str| folder.path().join(name);
        std::fs::write(at("module.wasm"), wat::parse_str(TEXT).expect("a component")).expect("written");
        let baked = bake(&at("module.wasm"), &at("first")).expect("it bakes");
        assert_eq!(baked.functions, (1, 2));
        assert!(is_whole(&at("first")));

        std::fs::create_dir(at("package")).expect("a folder");
        for (done, name) in PACKAGED.into_iter().enumerate() {
            let error = bake_packaged(&at("package"), &at("second")).expect_err("incomplete").to_string();
            assert!(error.contains(name), "{done} files are there: {error}");
            std::fs::copy(at("first").join(name), at("package").join(name)).expect("copied");
        }
        bake_packaged(&at("package"), &at("second")).expect("it bakes");
        for name in FILES {
            let [first, second] =
                ["first", "second"].map(|folder| std::fs::read(at(folder).join(name)).expect("a file"));
            assert!(first == second, "{name} is another");
        }

        std::fs::write(at("package/guest.order"), [0_u8; 4]).expect("written");
        let error = bake_packaged(&at("package"), &at("second")).expect_err("of another component").to_string();
        assert!(error.contains("other functions"), "{error}");
    }

    #[test]
    fn the_target_folder_is_above_the_scripts_own() {
        let cases = [
            ("/r/target/release/build/a-1/out", "/r/target"),
            ("/r/target/x86_64-unknown-linux-musl/release/build/a-1/out", "/r/target"),
            ("/t/debug/build/a-1/out", "/t"),
        ];
        for (out, target) in cases {
            assert_eq!(target_folder(Path::new(out), "x86_64-unknown-linux-musl"), Path::new(target), "{out}");
        }
    }
}

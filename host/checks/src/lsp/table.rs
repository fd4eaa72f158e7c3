//! The table of language servers: what each one checks, where it is found, what it is told.
//!
//! A further server is a row, if its diagnostics arrive by the protocol. `bash-language-server` has no row because all
//! it reports is what `shellcheck` says, which is run as a linter; the HTML server has none because it reports nothing.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use toolgate_private::read_regular;

use crate::project::Project;

/// Most bytes of a `Cargo.toml`.
const MANIFEST: u64 = 1 << 20;

/// A language server.
#[derive(Debug)]
pub(super) struct Row {
    /// For people.
    pub(super) name: &'static str,
    /// Extensions of files, each with the protocol's name for the language.
    pub(super) languages: &'static [(&'static str, &'static str)],
    /// How the workspace of a file is found.
    root: fn(&Project, &Path) -> PathBuf,
    /// The command line that serves a workspace, if the server is installed.
    command: fn(&Project, &Path) -> Option<Vec<OsString>>,
    /// What is done in a folder that the user does not trust.
    pub(super) untrusted: Untrusted,
    /// `initializationOptions`.
    pub(super) options: fn() -> Value,
    /// The answer to `workspace/configuration` for a section.
    pub(super) settings: fn(&Project, &Path, &str) -> Value,
    /// What goes into `didChange` beside what the protocol knows.
    pub(super) change: fn() -> Value,
    /// When its diagnostics of a file are complete.
    pub(super) complete: Complete,
}

/// What a server does in a folder that the user does not trust.
#[derive(Clone, Copy, Debug)]
pub(super) enum Untrusted {
    /// It runs code of the project's, so it is left out.
    Skipped,
    /// It runs, with these arguments and variables in addition.
    Runs(&'static [&'static str], &'static [(&'static str, &'static str)]),
}

/// When a server's diagnostics of a file are complete. Measured, see the parent module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Complete {
    /// Once it is asked for them, if it can be asked. Otherwise once it has published for the version that was sent,
    /// has no work in progress and is silent for a while.
    Standard,
    /// With the first publication for the version that was sent.
    First,
    /// With the answers of the TypeScript server behind it, if it passes requests on.
    Tsserver,
    /// Once it is asked for them, has said that it is at rest, and the `cargo check` after the last save is done.
    Rust,
}

impl Row {
    /// The protocol's name for a file's language, if this server checks it.
    pub(super) fn language(&self, file: &Path) -> Option<&'static str> {
        let extension = file.extension()?.to_str()?;
        let &(_, language) = self.languages.iter().find(|(known, _)| *known == extension)?;
        // Their own programs read these with comments.
        let name = file.file_name()?.to_str()?;
        let comments = ["tsconfig", "jsconfig", ".eslintrc", ".swcrc"].iter().any(|start| name.starts_with(start));
        Some(if language == "json" && comments { "jsonc" } else { language })
    }

    /// The folder that a file's server works in.
    pub(super) fn root(&self, project: &Project, file: &Path) -> PathBuf {
        (self.root)(project, file)
    }

    /// The command line for a workspace.
    pub(super) fn command(&self, project: &Project, root: &Path) -> Option<Vec<OsString>> {
        let mut command = (self.command)(project, root)?;
        if let (false, Untrusted::Runs(arguments, _)) = (project.trusted, self.untrusted) {
            command.extend(arguments.iter().map(OsString::from));
        }
        Some(command)
    }
}

/// The row for a file.
pub(super) fn row(file: &Path) -> Option<&'static Row> {
    ROWS.iter().find(|row| row.language(file).is_some())
}

const ROWS: &[Row] = &[
    Row {
        name: "typescript-language-server",
        languages: &[
            ("ts", "typescript"),
            ("mts", "typescript"),
            ("cts", "typescript"),
            ("tsx", "typescriptreact"),
            ("js", "javascript"),
            ("mjs", "javascript"),
            ("cjs", "javascript"),
            ("jsx", "javascriptreact"),
        ],
        root: |project, file| nearest(project, file, &["tsconfig.json", "jsconfig.json", "package.json"]),
        command: typescript,
        untrusted: Untrusted::Skipped,
        // Otherwise it installs type packages from npm on its own.
        // Its second process, for syntax alone, takes a processor from the first while that starts.
        options: || json!({ "disableAutomaticTypingAcquisition": true, "tsserver": { "useSyntaxServer": "never" } }),
        settings: |_, _, section| match section {
            "js/ts" => json!({ "tsserver": { "automaticTypeAcquisition": { "enabled": false } } }),
            "typescript" => json!({ "disableAutomaticTypeAcquisition": true }),
            _ => Value::Null,
        },
        change: none,
        complete: Complete::Tsserver,
    },
    Row {
        name: "pyright",
        languages: &[("py", "python"), ("pyi", "python")],
        root: |project, file| nearest(project, file, PYTHON),
        command: |project, root| {
            let found = |name| own_or_installed(project, root, name, &["--stdio"]);
            // The first looks for the project's environment by itself.
            let based = if project.trusted { found("basedpyright-langserver") } else { None };
            based.or_else(|| found("pyright-langserver"))
        },
        // It asks the user's interpreter for its folders, in isolated mode; should it ever try without, the project's
        // modules must not be found.
        untrusted: Untrusted::Runs(&[], &[("PYTHONSAFEPATH", "1")]),
        options: none,
        settings: python,
        change: none,
        complete: Complete::Standard,
    },
    Row {
        name: "rust-analyzer",
        languages: &[("rs", "rust")],
        root: cargo,
        command: |project, _| installed(project, "rust-analyzer", &[]).filter(|_| !absent_proxy(project)),
        untrusted: Untrusted::Skipped,
        // It watches files by itself: only some of the changes pass the daemon.
        options: || json!({ "files": { "watcher": "server" }, "cachePriming": { "enable": false } }),
        settings: |_, _, section| match section {
            "rust-analyzer" => json!({ "files": { "watcher": "server" }, "cachePriming": { "enable": false } }),
            _ => Value::Null,
        },
        change: none,
        complete: Complete::Rust,
    },
    Row {
        name: "gopls",
        languages: &[("go", "go")],
        root: |project, file| {
            outermost(project, file, "go.work").unwrap_or_else(|| nearest(project, file, &["go.mod"]))
        },
        command: |project, _| installed(project, "gopls", &[]),
        // No C compiler with flags from the source, no other toolchain, no downloads, no git.
        untrusted: Untrusted::Runs(
            &[],
            &[("CGO_ENABLED", "0"), ("GOTOOLCHAIN", "local"), ("GOPROXY", "off"), ("GOFLAGS", "-buildvcs=false")],
        ),
        options: || json!({ "pullDiagnostics": true }),
        settings: |_, _, section| if section == "gopls" { json!({ "pullDiagnostics": true }) } else { Value::Null },
        change: none,
        complete: Complete::Standard,
    },
    Row {
        name: "clangd",
        languages: &[
            ("c", "c"),
            ("h", "c"),
            ("cc", "cpp"),
            ("cpp", "cpp"),
            ("cxx", "cpp"),
            ("hh", "cpp"),
            ("hpp", "cpp"),
            ("hxx", "cpp"),
        ],
        root: |project, file| nearest(project, file, &["compile_commands.json", "compile_flags.txt", ".clangd"]),
        command: clangd,
        untrusted: Untrusted::Runs(&["--enable-config=false"], &[]),
        options: none,
        settings: |_, _, _| Value::Null,
        // Otherwise it says nothing about a new version with the same text, and trusts what it has read before.
        change: || json!({ "forceRebuild": true }),
        complete: Complete::First,
    },
    Row {
        name: "vscode-json-language-server",
        languages: &[("json", "json"), ("jsonc", "jsonc")],
        root: |project, _| project.root.clone(),
        command: |project, root| own_or_installed(project, root, "vscode-json-language-server", &["--stdio"]),
        untrusted: Untrusted::Runs(&[], &[]),
        // Schemas from elsewhere are asked of the client, which has none.
        options: || json!({ "handledSchemaProtocols": ["file"], "provideFormatter": false }),
        settings: |_, _, section| match section {
            "json" => json!({ "validate": { "enable": true } }),
            _ => Value::Null,
        },
        change: none,
        complete: Complete::Standard,
    },
    Row {
        name: "vscode-css-language-server",
        languages: &[("css", "css"), ("scss", "scss"), ("less", "less")],
        root: |project, _| project.root.clone(),
        command: |project, root| own_or_installed(project, root, "vscode-css-language-server", &["--stdio"]),
        untrusted: Untrusted::Runs(&[], &[]),
        options: none,
        settings: |_, _, section| match section {
            "css" | "scss" | "less" => json!({ "validate": true }),
            _ => Value::Null,
        },
        change: none,
        complete: Complete::Standard,
    },
    Row {
        name: "yaml-language-server",
        languages: &[("yaml", "yaml"), ("yml", "yaml")],
        root: |project, _| project.root.clone(),
        command: |project, root| own_or_installed(project, root, "yaml-language-server", &["--stdio"]),
        // A comment in a file names a schema, which it loads from wherever that is.
        untrusted: Untrusted::Skipped,
        options: none,
        settings: |_, _, section| match section {
            "yaml" => json!({ "validate": true, "schemaStore": { "enable": false } }),
            _ => Value::Null,
        },
        change: none,
        complete: Complete::Standard,
    },
];

const PYTHON: &[&str] = &["pyrightconfig.json", "pyproject.toml", "setup.cfg", "setup.py", "requirements.txt"];

fn none() -> Value {
    Value::Null
}

/// The nearest folder that holds one of these, or the project's root.
fn nearest(project: &Project, file: &Path, markers: &[&str]) -> PathBuf {
    let marked = |folder: &&Path| markers.iter().any(|marker| folder.join(marker).exists());
    project.folders(file).find(marked).unwrap_or(&project.root).to_path_buf()
}

/// The outermost folder that holds this.
fn outermost(project: &Project, file: &Path, marker: &str) -> Option<PathBuf> {
    project.folders(file).filter(|folder| folder.join(marker).exists()).last().map(Path::to_path_buf)
}

/// The nearest workspace of cargo's, or the nearest package, or the project's root. The members of a workspace share a
/// server.
fn cargo(project: &Project, file: &Path) -> PathBuf {
    let workspace = |folder: &&Path| {
        let manifest = read_regular(&folder.join("Cargo.toml"), MANIFEST).unwrap_or_default();
        manifest.split(|&byte| byte == b'\n').any(|line| line.trim_ascii_start().starts_with(b"[workspace"))
    };
    let found = project.folders(file).find(workspace).map(Path::to_path_buf);
    found.unwrap_or_else(|| nearest(project, file, &["Cargo.toml"]))
}

fn argv(program: impl Into<OsString>, arguments: &[&str]) -> Vec<OsString> {
    std::iter::once(program.into()).chain(arguments.iter().map(OsString::from)).collect()
}

/// A program of the user's.
fn installed(project: &Project, program: &str, arguments: &[&str]) -> Option<Vec<OsString>> {
    Some(argv(project.on_path(program)?, arguments))
}

/// Whether `rust-analyzer` on `PATH` is only rustup's stand-in for it, and no toolchain has the component.
fn absent_proxy(project: &Project) -> bool {
    let real = project.on_path("rust-analyzer").and_then(|path| path.canonicalize().ok());
    let proxy = real.is_some_and(|real| real.file_name() == Some("rustup".as_ref()) || same(&real, "rustup"));
    let home = std::env::var_os("RUSTUP_HOME").map(PathBuf::from);
    let home = home.or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".rustup")));
    let toolchains = home.and_then(|home| std::fs::read_dir(home.join("toolchains")).ok());
    proxy && !toolchains.into_iter().flatten().flatten().any(|found| found.path().join("bin/rust-analyzer").exists())
}

/// Whether a program is the same file as its neighbour of this name.
fn same(program: &Path, neighbour: &str) -> bool {
    use std::os::unix::fs::MetadataExt;
    let file = |path: &Path| path.metadata().map(|found| (found.dev(), found.ino())).ok();
    file(program).is_some_and(|found| file(&program.with_file_name(neighbour)) == Some(found))
}

/// A program of the project's `node_modules`, or of the user's.
fn own_or_installed(project: &Project, root: &Path, program: &str, arguments: &[&str]) -> Option<Vec<OsString>> {
    let own = in_modules(project, root, &format!(".bin/{program}"));
    own.map(|path| argv(path, arguments)).or_else(|| installed(project, program, arguments))
}

/// What the nearest `node_modules` that has it holds under this name. Nothing in a project that is not trusted: it
/// says where its links lead, inside or out.
fn in_modules(project: &Project, root: &Path, name: &str) -> Option<PathBuf> {
    if !project.trusted {
        return None;
    }
    project.nearest(&root.join("package.json"), &format!("node_modules/{name}"))
}

/// TypeScript 7 brings its own server; before it, one is wrapped round the editor service of TypeScript.
fn typescript(project: &Project, root: &Path) -> Option<Vec<OsString>> {
    let native = |tsc: &PathBuf| {
        let real = tsc.canonicalize().ok();
        real.and_then(|real| Some(real.parent()?.parent()?.join("lib/getExePath.js").is_file())).unwrap_or(false)
    };
    if let Some(tsc) = in_modules(project, root, ".bin/tsc").filter(native) {
        return Some(argv(tsc, &["--lsp", "--stdio"]));
    }
    own_or_installed(project, root, "typescript-language-server", &["--stdio"])
        .or_else(|| Some(argv(project.on_path("tsc").filter(native)?, &["--lsp", "--stdio"])))
}

/// The index of the whole project would be written into it, and is not needed for diagnostics. What the compiler is told
/// by a project that is not trusted does not count: it names folders that are written to.
fn clangd(project: &Project, _: &Path) -> Option<Vec<OsString>> {
    let mut command = installed(project, "clangd", &["--background-index=false", "--log=error"])?;
    if !project.trusted {
        let empty = crate::cache::place("clangd", Path::new("no compile commands"))?;
        std::fs::create_dir_all(&empty).ok()?;
        let mut argument = OsString::from("--compile-commands-dir=");
        argument.push(empty);
        command.push(argument);
    }
    Some(command)
}

/// Settings of pyright: the interpreter of the project's environment, as editors choose it.
fn python(project: &Project, root: &Path, section: &str) -> Value {
    if section != "python" || !project.trusted {
        return Value::Null;
    }
    let names = [".venv/bin/python", "venv/bin/python"];
    let found = names.iter().find_map(|name| project.nearest(&root.join("pyproject.toml"), name));
    found.as_deref().and_then(Path::to_str).map_or(Value::Null, |path| json!({ "pythonPath": path }))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    /// A project with these files; each is empty, or holds what stands after `=`.
    fn project(files: &[&str]) -> (tempfile::TempDir, Project) {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        for file in files {
            let (name, text) = file.split_once('=').unwrap_or((file, ""));
            fs::create_dir_all(root.join(name).parent().unwrap()).unwrap();
            fs::write(root.join(name), text).unwrap();
        }
        (folder, Project { root, trusted: true })
    }

    #[test]
    fn languages() {
        let cases = [
            ("a.ts", Some(("typescript-language-server", "typescript"))),
            ("a.tsx", Some(("typescript-language-server", "typescriptreact"))),
            ("a.d.ts", Some(("typescript-language-server", "typescript"))),
            ("a.pyi", Some(("pyright", "python"))),
            ("a.rs", Some(("rust-analyzer", "rust"))),
            ("a.go", Some(("gopls", "go"))),
            ("a.h", Some(("clangd", "c"))),
            ("a.hpp", Some(("clangd", "cpp"))),
            ("package.json", Some(("vscode-json-language-server", "json"))),
            ("tsconfig.build.json", Some(("vscode-json-language-server", "jsonc"))),
            ("a.scss", Some(("vscode-css-language-server", "scss"))),
            ("a.yml", Some(("yaml-language-server", "yaml"))),
            ("README.md", None),
            ("Makefile", None),
            (".ts", None),
        ];
        for (file, expected) in cases {
            let got = row(Path::new(file)).and_then(|row| Some((row.name, row.language(Path::new(file))?)));
            assert_eq!(got, expected, "{file}");
        }
    }

    #[test]
    fn roots() {
        let files = [
            "package.json",
            "p/a/tsconfig.json",
            "p/b/package.json",
            "Cargo.toml=[workspace]",
            "r/a/Cargo.toml=[package]",
            "r/b/Cargo.toml= [workspace.package]",
            "g/go.work",
            "g/a/go.mod",
            "h/go.mod",
            "py/pyproject.toml",
            "c/build/compile_commands.json",
        ];
        let (_folder, project) = project(&files);
        let cases = [
            ("a.ts", ""),
            ("p/a/src/x.ts", "p/a"),
            ("p/b/src/x.js", "p/b"),
            ("p/c/x.ts", ""),
            ("r/a/src/main.rs", ""),
            ("r/b/src/main.rs", "r/b"),
            ("g/a/x/main.go", "g"),
            ("h/x/main.go", "h"),
            ("x.go", ""),
            ("py/a/b.py", "py"),
            ("c/build/a.c", "c/build"),
            ("c/a.c", ""),
            ("p/a/x.css", ""),
        ];
        for (file, root) in cases {
            let file = project.root.join(file);
            let got = row(&file).unwrap().root(&project, &file);
            assert_eq!(got, project.root.join(root).components().collect::<PathBuf>(), "{}", file.display());
        }
    }

    #[test]
    fn a_manifest_that_is_no_file_is_none() {
        use rustix::fs::{CWD, FileType, Mode, mknodat};
        let (_folder, project) = project(&["Cargo.toml=[workspace]", "fifo/a.rs", "zero/a.rs", "large/a.rs"]);
        let at = |name: &str| project.root.join(name).join("Cargo.toml");
        mknodat(CWD, at("fifo"), FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
        std::os::unix::fs::symlink("/dev/zero", at("zero")).unwrap();
        fs::File::create(at("large")).unwrap().set_len(1 << 40).unwrap();
        for name in ["fifo", "zero", "large"] {
            assert_eq!(cargo(&project, &project.root.join(name).join("a.rs")), project.root, "{name}");
        }
    }

    #[test]
    fn the_project_has_the_right_typescript() {
        use std::os::unix::fs::{PermissionsExt, symlink};
        let (_folder, project) = project(&["node_modules/typescript/bin/tsc", "a/node_modules/typescript/bin/tsc"]);
        for (root, own) in [("", "node_modules"), ("a", "a/node_modules")] {
            let bin = project.root.join(own).join(".bin");
            fs::create_dir(&bin).unwrap();
            symlink("../typescript/bin/tsc", bin.join("tsc")).unwrap();
            assert_ne!(
                typescript(&project, &project.root.join(root)).unwrap_or_default().get(1),
                Some(&"--lsp".into())
            );
        }
        fs::create_dir(project.root.join("a/node_modules/typescript/lib")).unwrap();
        fs::write(project.root.join("a/node_modules/typescript/lib/getExePath.js"), "").unwrap();
        let native = project.root.join("a/node_modules/.bin/tsc");
        assert_eq!(typescript(&project, &project.root.join("a")), Some(argv(&native, &["--lsp", "--stdio"])));

        let server = project.root.join("node_modules/.bin/typescript-language-server");
        fs::write(&server, "").unwrap();
        fs::set_permissions(&server, fs::Permissions::from_mode(0o755)).unwrap();
        assert_eq!(typescript(&project, &project.root), Some(argv(&server, &["--stdio"])));
        assert_eq!(typescript(&project, &project.root.join("a")), Some(argv(&native, &["--lsp", "--stdio"])));
    }

    /// Where a project's program may be: a file, behind a link of that name, below a linked folder.
    #[test]
    fn programs_of_a_project_that_is_not_trusted_do_not_count() {
        use std::os::unix::fs::{PermissionsExt, symlink};
        let programs = [
            "basedpyright-langserver",
            "pyright-langserver",
            "vscode-json-language-server",
            "vscode-css-language-server",
            "yaml-language-server",
            "typescript-language-server",
        ];
        let own = programs.map(|program| format!("node_modules/.bin/{program}"));
        let (outside, other) = project(&own.each_ref().map(String::as_str));
        for program in &own {
            fs::set_permissions(other.root.join(program), fs::Permissions::from_mode(0o755)).unwrap();
        }
        let (_file, file) = project(&[]);
        fs::rename(outside.path().join("node_modules"), file.root.join("node_modules")).unwrap();
        let (_entry, entry) = project(&["node_modules/.bin/other"]);
        for program in &own {
            symlink(file.root.join(program), entry.root.join(program)).unwrap();
        }
        let (_folder, folder) = project(&[]);
        symlink(file.root.join("node_modules"), folder.root.join("node_modules")).unwrap();
        for project in [file, entry, folder] {
            for untrusted in [false, true] {
                let project = Project { trusted: !untrusted, root: project.root.clone() };
                for file in ["a.py", "a.json", "a.css", "a.yaml", "a.ts"] {
                    let command = row(Path::new(file)).unwrap().command(&project, &project.root).unwrap_or_default();
                    let own = command.first().is_some_and(|program| Path::new(program).starts_with(&project.root));
                    assert_eq!(own, project.trusted, "{file}: {command:?}");
                }
            }
        }
    }
}

//! Real language servers on scratch projects with planted problems.
//!
//! Servers are found on `PATH`. Tests of one that is not installed are skipped; `tests/checks` insists on those that
//! its set-up installs.

#![allow(clippy::unwrap_used, reason = "a test")]
#![allow(clippy::print_stderr, reason = "says how long it took")]

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde_json::json;
use toolgate_checks::lsp::Servers;
use toolgate_checks::project::Project;
use toolgate_checks::report::{Outcome, Status};
use toolgate_test_support::skip::skip;

const SETTLE: Duration = Duration::from_millis(500);
const LIMIT: Duration = Duration::from_secs(120);

/// A project with these files and the servers for it.
struct Scratch {
    _folder: tempfile::TempDir,
    root: PathBuf,
    servers: Servers,
}

/// Rustup puts a program in the place of each component, installed or not.
fn answers(program: &Path) -> bool {
    std::process::Command::new(program).arg("--version").output().is_ok_and(|output| output.status.success())
}

impl Scratch {
    /// Nothing if this program is not on `PATH`.
    fn new(program: &str, files: &[(&str, &str)]) -> Option<Self> {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let project = Project { root: root.clone(), trusted: true };
        if !project.on_path(program).is_some_and(|path| program != "rust-analyzer" || answers(&path)) {
            skip(format!("{program} is not installed"));
            return None;
        }
        let scratch = Scratch { _folder: folder, root, servers: Servers::new(project) };
        for (file, text) in files {
            scratch.write(file, text);
        }
        Some(scratch)
    }

    fn write(&self, file: &str, text: &str) {
        let path = self.root.join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// Checks files and expects these problems, each as `file:line:column rule source`.
    async fn expect(&self, files: &[&str], problems: &[&str]) -> Outcome {
        let start = Instant::now();
        let files: Vec<PathBuf> = files.iter().map(|file| self.root.join(file)).collect();
        let outcome = self.servers.check(&files, SETTLE, LIMIT).await;
        let said = outcome.problems.iter().map(|problem| {
            let file = problem.file.strip_prefix(&self.root).unwrap().display();
            let rule = problem.rule.as_deref().unwrap_or("-");
            format!("{file}:{}:{} {rule} {}", problem.line, problem.column, problem.source)
        });
        let said: Vec<String> = said.collect();
        eprintln!("{} ms: {files:?} {:?} {said:?}", start.elapsed().as_millis(), outcome.status);
        assert_eq!(said, problems, "{outcome:?}");
        assert_eq!(outcome.notes, Vec::<String>::new());
        assert_eq!(outcome.status, if problems.is_empty() { Status::Clean } else { Status::Issues });
        assert_eq!(outcome.files, files.len());
        outcome
    }
}

const TSCONFIG: &str =
    r#"{ "compilerOptions": { "strict": true, "noEmit": true, "module": "nodenext" }, "include": ["src"] }"#;

/// The same for both TypeScript servers.
async fn typescript(scratch: &Scratch, source: &str) {
    let wrong = format!("src/b.ts:1:40 TS2322 {source}");
    scratch.expect(&["src/a.ts", "src/b.ts"], &[]).await;
    scratch.expect(&["src/b.ts"], &[]).await;
    // What breaks one file is a change in another.
    scratch.write("src/a.ts", "export const n: string = \"1\";\n");
    scratch.expect(&["src/a.ts"], &[]).await;
    scratch.expect(&["src/b.ts"], &[&wrong]).await;
    scratch.write("src/a.ts", "export const n: number = 1;\n");
    scratch.expect(&["src/a.ts", "src/b.ts"], &[]).await;
    // Characters outside the basic plane, and a file that is new.
    scratch.write("src/c.ts", "/* 😀é */ const x: number = \"\";\nexport { x };\n");
    scratch.expect(&["src/c.ts"], &[&format!("src/c.ts:1:16 TS2322 {source}")]).await;
    scratch.servers.stop().await;
}

const TYPESCRIPT: &[(&str, &str)] = &[
    ("tsconfig.json", TSCONFIG),
    ("package.json", "{ \"type\": \"module\" }"),
    ("src/a.ts", "export const n: number = 1;\n"),
    ("src/b.ts", "import { n } from \"./a.js\"; export let m: number = n;\n"),
];

#[tokio::test]
async fn typescript_language_server() {
    let Some(scratch) = Scratch::new("typescript-language-server", TYPESCRIPT) else { return };
    typescript(&scratch, "typescript").await;
}

/// TypeScript 7, from the `node_modules` that this variable names.
#[tokio::test]
async fn typescript_native() {
    let Some(modules) = std::env::var_os("TOOLGATE_CHECKS_TYPESCRIPT7") else {
        return skip("TOOLGATE_CHECKS_TYPESCRIPT7 names no node_modules");
    };
    let scratch = Scratch::new("node", TYPESCRIPT).unwrap();
    std::os::unix::fs::symlink(modules, scratch.root.join("node_modules")).unwrap();
    typescript(&scratch, "ts").await;
}

#[tokio::test]
async fn pyright() {
    let files = [
        ("pyproject.toml", ""),
        ("a.py", "def f(x: int) -> str:\n    return x\n"),
        ("b.py", "import a\n\ns: int = a.f(1)\n"),
    ];
    let Some(scratch) = Scratch::new("pyright-langserver", &files) else { return };
    scratch.expect(&["a.py"], &["a.py:2:12 reportReturnType Pyright"]).await;
    scratch.expect(&["b.py"], &["b.py:3:10 reportAssignmentType Pyright"]).await;
    // Changed by somebody else: only b.py is asked for.
    scratch.write("a.py", "def f(x: int) -> int:\n    return x\n");
    scratch.expect(&["b.py"], &[]).await;
    scratch.expect(&["a.py"], &[]).await;
    scratch.servers.stop().await;
}

#[tokio::test]
async fn rust_analyzer() {
    let files = [
        ("Cargo.toml", "[package]\nname = \"r\"\nversion = \"0.1.0\"\nedition = \"2021\"\n[workspace]\n"),
        ("src/main.rs", "mod m;\nfn main() {\n    let s = String::new();\n    drop(s);\n    m::f(&s);\n}\n"),
        ("src/m.rs", "pub fn f(_: &str) {}\n"),
    ];
    let Some(scratch) = Scratch::new("rust-analyzer", &files) else { return };
    scratch.expect(&["src/main.rs"], &["src/main.rs:5:10 E0382 rustc"]).await;
    scratch.write("src/main.rs", "mod m;\nfn main() {\n    m::f(\"\");\n}\n");
    scratch.expect(&["src/main.rs"], &[]).await;
    scratch.write("src/m.rs", "pub fn f(_: u32) {}\n");
    scratch.expect(&["src/m.rs"], &[]).await;
    let outcome = scratch.servers.check(&[scratch.root.join("src/main.rs")], SETTLE, LIMIT).await;
    // Both rust-analyzer and the compiler find this.
    let rules: Vec<_> = outcome.problems.iter().map(|found| (found.line, found.rule.as_deref())).collect();
    assert_eq!(rules, [(3, Some("E0308"))], "{outcome:?}");
    scratch.write("src/alone.rs", "fn f() {}\n");
    let outcome = scratch.servers.check(&[scratch.root.join("src/alone.rs")], SETTLE, LIMIT).await;
    assert_eq!(outcome.notes, ["rust-analyzer does not know it as part of a crate (src/alone.rs)"]);
    assert_eq!(outcome.status, Status::Error);
    scratch.servers.stop().await;
}

#[tokio::test]
async fn rust_without_cargo() {
    let Some(scratch) = Scratch::new("rust-analyzer", &[("a.rs", "fn main() {}\n")]) else { return };
    let outcome = scratch.servers.check(&[scratch.root.join("a.rs")], SETTLE, Duration::from_secs(20)).await;
    assert_eq!(outcome.notes, ["rust-analyzer failed: Failed to discover workspace. (a.rs)"]);
    assert_eq!(outcome.status, Status::Error);
    scratch.servers.stop().await;
}

#[tokio::test]
async fn gopls() {
    let files = [
        ("go.mod", "module example.com/a\n\ngo 1.19\n"),
        ("main.go", "package main\n\nfunc main() {\n\tprintln(g(1))\n}\n"),
        ("g.go", "package main\n\nfunc g(x int) int { return x }\n"),
    ];
    let Some(scratch) = Scratch::new("gopls", &files) else { return };
    scratch.expect(&["main.go", "g.go"], &[]).await;
    scratch.expect(&["main.go"], &[]).await;
    scratch.write("g.go", "package main\n\nfunc g(x string) string { return x }\n");
    scratch.expect(&["g.go"], &[]).await;
    scratch.expect(&["main.go"], &["main.go:4:12 IncompatibleAssign compiler"]).await;
    scratch.write("main.go", "package main\n\nfunc main() {\n\tvar x int = \"a\"\n}\n");
    scratch.expect(&["main.go"], &["main.go:4:6 UnusedVar compiler", "main.go:4:14 IncompatibleAssign compiler"]).await;
    scratch.servers.stop().await;
}

#[tokio::test]
async fn clangd() {
    let files = [
        ("compile_flags.txt", "-Wall\n"),
        ("a.c", "#include \"a.h\"\nint main(void) { return f(1); }\n"),
        ("a.h", "int f(int);\n"),
    ];
    let Some(scratch) = Scratch::new("clangd", &files) else { return };
    scratch.expect(&["a.c"], &[]).await;
    scratch.expect(&["a.c"], &[]).await;
    scratch.write("a.h", "int f(int, int);\n");
    scratch.expect(&["a.c"], &["a.c:2:28 typecheck_call_too_few_args clang"]).await;
    scratch.write("a.c", "int main(void) { return g; }\n");
    scratch.expect(&["a.c"], &["a.c:1:25 undeclared_var_use clang"]).await;
    scratch.servers.stop().await;
}

#[tokio::test]
async fn json_css_yaml() {
    for (program, file, bad, problem) in [
        ("vscode-json-language-server", "a.json", "{ \"a\": 1,, }", "a.json:1:10 513 json"),
        ("vscode-css-language-server", "a.css", "a { colr: red; }", "a.css:1:5 unknownProperties css"),
        ("yaml-language-server", "a.yaml", "a: [1\n", "a.yaml:2:1 - YAML"),
    ] {
        let Some(scratch) = Scratch::new(program, &[(file, bad)]) else { continue };
        scratch.expect(&[file], &[problem]).await;
        scratch.write(file, "");
        scratch.expect(&[file], &[]).await;
        scratch.expect(&[file], &[]).await;
        scratch.servers.stop().await;
    }
}

/// Programs of a project that is not trusted, in places where servers that run there look.
#[tokio::test]
async fn not_trusted() {
    use std::os::unix::fs::PermissionsExt;
    let python = "open(__file__ + '.ran', 'w')\n";
    let files = [
        ("json.py", python),
        ("os.py", python),
        ("sitecustomize.py", python),
        ("usercustomize.py", python),
        ("evil", "#!/usr/bin/env python3\nopen(__file__ + '.ran', 'w')\n"),
        ("pyrightconfig.json", r#"{ "venvPath": ".", "venv": ".venv" }"#),
        ("a.py", "x: int = 1\n"),
        ("a.c", "int main(void) { return 0; }\n"),
        ("m.c", "#include \"m.h\"\nint main(void) { return m(1); }\n"),
        ("inc/m.h", "int m(int);\n"),
        ("inc/module.modulemap", "module m { header \"m.h\" export * }\n"),
        ("go.mod", "module example.com/a\n\ngo 1.19\n"),
        ("a.go", "package main\n\n// #cgo CFLAGS: -fplugin=./evil\nimport \"C\"\n\nfunc main() {}\n"),
    ];
    let Some(scratch) = Scratch::new("pyright-langserver", &files) else { return };
    let database = json!([
        { "directory": scratch.root, "file": "a.c", "command": "./evil a.c" },
        { "directory": scratch.root, "file": "m.c",
          "command": "clang -fmodules -fimplicit-module-maps -fmodules-cache-path=cache.ran -Iinc m.c" },
    ]);
    scratch.write("compile_commands.json", &database.to_string());
    let evil = scratch.root.join("evil");
    fs::set_permissions(&evil, fs::Permissions::from_mode(0o755)).unwrap();
    for place in [".venv/bin", "bin", "node_modules/.bin"] {
        fs::create_dir_all(scratch.root.join(place)).unwrap();
        for name in
            ["python", "python3", "go", "gcc", "cc", "clang", "git", "pyright-langserver", "basedpyright-langserver"]
        {
            fs::copy(&evil, scratch.root.join(place).join(name)).unwrap();
        }
    }
    let servers = Servers::new(Project { root: scratch.root.clone(), trusted: false });
    let files = ["a.py", "a.c", "m.c", "a.go"].map(|file| scratch.root.join(file));
    let outcome = servers.check(&files, SETTLE, LIMIT).await;
    eprintln!("{outcome:?}");
    assert_eq!((outcome.status, outcome.problems), (Status::Clean, Vec::new()));
    let expected = [
        ("clangd", "m.c", "without the project's compile commands, some includes are not found"),
        ("gopls", "a.go", "files with cgo are not part of the build"),
    ];
    for (server, file, why) in expected {
        let note = format!("{server} did not check {file}: not trusted: {why}");
        assert!(outcome.notes.iter().any(|said| *said == note || *said == format!("{server} is not installed")));
    }
    servers.stop().await;
    let mut folders = vec![scratch.root.clone()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap().flatten() {
            assert!(!entry.path().to_string_lossy().ends_with(".ran"), "{}", entry.path().display());
            if entry.file_type().unwrap().is_dir() {
                folders.push(entry.path());
            }
        }
    }
}

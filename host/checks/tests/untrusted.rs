//! A project that would run something in every place that it has, in a folder that the user does not trust.
//!
//! Each place, if it runs, leaves a mark. The same project, trusted, shows that the places are real: there the marks of
//! what is installed do appear.
//!
//! The project's own programs are planted, so that they need nothing. Configuration that is code is run only by real
//! tools: those that are neither on `PATH` nor in the folder that `TOOLGATE_CHECKS_TOOLS` names (what `just checks-setup`
//! installs) are left out, and named.

use std::collections::BTreeSet;
use std::path::PathBuf;

use toolgate_test_support::skip::skip;

use crate::common::Scratch;

/// Tools that would run something of the project's if they were let.
const TOOLS: &[&str] = &[
    "eslint",
    "prettier",
    "stylelint",
    "biome",
    "tsc",
    "ruff",
    "black",
    "flake8",
    "pylint",
    "mypy",
    "rustfmt",
    "cargo",
];

/// What is checked.
const FILES: &[&str] =
    &["a.ts", "a.js", "a.css", "a.py", "a.sh", "a.go", "a.rb", "a.c", "src/lib.rs", "bare/a.ts", "bare/a.css", "-x.sh"];

/// Folders of the tools that were installed for tests.
fn folders() -> Vec<PathBuf> {
    let tools = std::env::var_os("TOOLGATE_CHECKS_TOOLS").map(PathBuf::from);
    tools.iter().flat_map(|tools| [tools.join("bin"), tools.join("node_modules/.bin")]).collect()
}

/// The tools that are there. Tests of the others are skipped.
fn installed() -> BTreeSet<&'static str> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let all: Vec<_> = folders().into_iter().chain(std::env::split_paths(&path)).collect();
    let (there, missing): (Vec<&str>, Vec<&str>) =
        TOOLS.iter().partition(|tool| all.iter().any(|folder| folder.join(tool).is_file()));
    if !missing.is_empty() {
        skip(format!("these are not installed: {}", missing.join(", ")));
    }
    there.into_iter().collect()
}

/// A shell program that leaves a mark.
fn marks(scratch: &Scratch, name: &str) -> String {
    format!("#!/bin/sh\n: > '{}'\n", scratch.at("marks").join(name).display())
}

fn marks_node(scratch: &Scratch, name: &str) -> String {
    format!("require('fs').writeFileSync({:?}, '');\n", scratch.at("marks").join(name))
}

fn marks_python(scratch: &Scratch, name: &str) -> String {
    format!("open({:?}, 'w').close()\n", scratch.at("marks").join(name))
}

fn marks_rust(scratch: &Scratch, name: &str) -> String {
    format!("fn main() {{ std::fs::write({:?}, \"\").unwrap(); }}\n", scratch.at("marks").join(name))
}

/// Everything, or all but programs and a toolchain of the project's own, so that the user's run.
fn plant(scratch: &Scratch, own: bool) {
    let write = |name: &str, content: &str| drop(scratch.write(&format!("project/{name}"), content));
    for (name, content) in [
        ("a.ts", "export const a = 1;\n"),
        ("a.js", "const a = 1;\n"),
        ("a.css", "a {\n  color: red;\n}\n"),
        ("a.py", "import json\n"),
        ("a.sh", "#!/bin/sh\nexit\n"),
        ("-x.sh", "#!/bin/sh\nexit\n"),
        ("a.go", "package a\n"),
        ("a.rb", "a = 1\n"),
        ("a.c", "int a;\n"),
        (".clang-format", "BasedOnStyle: LLVM\n"),
        ("src/lib.rs", "pub fn a() {}\n"),
        ("bare/a.ts", "export const a = 1;\n"),
        ("bare/a.css", "a {\n  color: red;\n}\n"),
    ] {
        write(name, content);
    }
    if own {
        own_programs(scratch);
        toolchain(scratch);
    }
    node(scratch, &write);
    python(scratch, &write);
    rust(scratch, &write);
    write("go.mod", "module a\n\ngo 1.99.0\n\ntoolchain go1.99.0-evil\n");
    write(".rubocop.yml", "require: ./evil\nAllCops:\n  X: <%= `sh evil.sh` %>\n");
    write("evil.rb", "File.write('marks', '')\n");
    write(".git/config", &format!("[core]\n  fsmonitor = {}\n", scratch.at("project/evil.sh").display()));
    scratch.program("project/evil.sh", &marks(scratch, "git-fsmonitor"));
}

fn own_programs(scratch: &Scratch) {
    for tool in ["eslint", "prettier", "biome", "stylelint", "tsc"] {
        scratch.program(&format!("project/node_modules/.bin/{tool}"), &marks(scratch, &format!("npm-{tool}")));
    }
    for tool in ["ruff", "black", "flake8", "pylint", "mypy"] {
        scratch.program(&format!("project/.venv/bin/{tool}"), &marks(scratch, &format!("venv-{tool}")));
    }
    // On PATH, by an absolute name and by one that is not.
    for tool in ["gofmt", "staticcheck", "shellcheck", "shfmt", "clang-format", "rubocop", "env", "node", "python3"] {
        scratch.program(&format!("project/tools/{tool}"), &marks(scratch, &format!("path-{tool}")));
    }
}

fn node(scratch: &Scratch, write: &dyn Fn(&str, &str)) {
    for config in ["eslint.config.cjs", "prettier.config.cjs", "stylelint.config.cjs", "plugin.cjs", ".eslintrc.cjs"] {
        write(config, &format!("{}module.exports = [];\n", marks_node(scratch, config)));
    }
    write(
        "tsconfig.json",
        r#"{ "compilerOptions": { "plugins": [{ "name": "./plugin.cjs" }] }, "include": ["a.ts"] }"#,
    );
    write("biome.json", r#"{ "vcs": { "enabled": true, "clientKind": "git", "useIgnoreFile": false } }"#);
    // Nothing here says how, but for what is above and for what lies beside the tool.
    write("bare/package.json", r#"{ "devDependencies": { "prettier": "3", "prettier-plugin-evil": "1" } }"#);
    write("bare/node_modules/prettier-plugin-evil/index.js", &marks_node(scratch, "prettier-plugin"));
    write("bare/.prettierrc", r#"{ "plugins": ["../plugin.cjs"] }"#);
}

fn python(scratch: &Scratch, write: &dyn Fn(&str, &str)) {
    // Modules that tools might load from where they are started, or from beside the file.
    for module in ["sitecustomize", "usercustomize", "ruff", "black", "tokenize", "json", "plugin"] {
        write(&format!("{module}.py"), &marks_python(scratch, &format!("module-{module}")));
    }
    write("pylintrc", &format!("[MAIN]\ninit-hook={}load-plugins=plugin\n", marks_python(scratch, "init-hook")));
    write("mypy.ini", "[mypy]\nplugins = plugin.py\npython_executable = tools/python3\n");
    write(".flake8", "[flake8]\n[flake8:local-plugins]\nextension =\n  X = plugin:X\npaths = .\n");
    write("pyproject.toml", "[tool.ruff]\n[tool.ruff.format]\n[tool.black]\n[tool.mypy]\nplugins = ['plugin.py']\n");
    write(".python-version", "../../project\n");
}

fn rust(scratch: &Scratch, write: &dyn Fn(&str, &str)) {
    write(
        "Cargo.toml",
        "[package]\nname = \"a\"\nversion = \"0.1.0\"\nedition = \"2024\"\nbuild = \"build.rs\"\n[workspace]\n",
    );
    write("Cargo.lock", "version = 4\n\n[[package]]\nname = \"a\"\nversion = \"0.1.0\"\n");
    write("build.rs", &marks_rust(scratch, "build-script"));
    let wrapper = scratch.at("project/toolchain/wrapper");
    write(".cargo/config.toml", &format!("[build]\nrustc-wrapper = {wrapper:?}\n"));
    scratch.program("project/toolchain/wrapper", &format!("{}exec \"$@\"\n", marks(scratch, "rustc-wrapper")));
}

fn toolchain(scratch: &Scratch) {
    for program in ["cargo", "rustfmt", "rustc", "cargo-fmt", "cargo-clippy", "clippy-driver"] {
        scratch.program(&format!("project/toolchain/bin/{program}"), &marks(scratch, &format!("toolchain-{program}")));
    }
    std::fs::create_dir_all(scratch.at("project/toolchain/lib")).expect("a folder");
    let path = scratch.at("project/toolchain");
    scratch.write("project/rust-toolchain.toml", &format!("[toolchain]\npath = {path:?}\n"));
}

/// The marks after a check, with the project's own `tools` on `PATH` twice, and what the check said.
fn run(trusted: bool, own: bool) -> (BTreeSet<String>, serde_json::Value) {
    let scratch = Scratch::new();
    plant(&scratch, own);
    if trusted {
        scratch.trust();
    }
    let path =
        [scratch.at("project/tools"), PathBuf::from("tools"), PathBuf::from("."), PathBuf::from("../project/tools")];
    let path: Vec<_> = path.into_iter().chain(folders()).collect();
    let daemon = scratch.start_with(&path);
    let result = daemon.check(FILES);
    let entries = std::fs::read_dir(scratch.at("marks")).expect("a list");
    let marks = entries.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned());
    (marks.collect(), result)
}

#[test]
fn nothing_of_an_untrusted_project_runs() {
    installed();
    let (marks, result) = run(false, true);
    assert!(marks.is_empty(), "{marks:?}\n{result:#}");
    let notes = result["details"]["notes"].to_string();
    for tool in ["eslint", "stylelint", "flake8", "pylint", "mypy", "clippy", "prettier", "rubocop"] {
        let note = format!("{tool}: not trusted: run \\\"toolgate lens trust\\\"");
        assert!(notes.contains(&note), "{tool} is skipped with its reason: {notes}");
    }
}

#[test]
fn the_same_places_are_real_in_a_trusted_project() {
    let there = installed();
    let (marks, result) = run(true, true);
    let mut expected = vec![
        "npm-eslint",
        "npm-prettier",
        "npm-biome",
        "npm-stylelint",
        "npm-tsc",
        "venv-ruff",
        "venv-black",
        "venv-flake8",
        "venv-pylint",
        "venv-mypy",
        "path-gofmt",
        "path-staticcheck",
        "path-shellcheck",
        "path-clang-format",
        "path-rubocop",
    ];
    // A toolchain in a folder is what the proxies of rustup go to.
    let proxy =
        std::env::var_os("HOME").is_some_and(|home| PathBuf::from(home).join(".rustup/settings.toml").is_file());
    if there.contains("cargo") && proxy {
        expected.extend(["toolchain-cargo", "toolchain-rustfmt"]);
    }
    let missing: Vec<_> = expected.iter().filter(|name| !marks.contains(**name)).collect();
    assert!(missing.is_empty(), "{missing:?} of {marks:?}\n{result:#}");
}

#[test]
fn so_is_configuration_that_is_code() {
    let there = installed();
    let (marks, result) = run(true, false);
    let expected = [
        ("eslint", "eslint.config.cjs"),
        ("prettier", "prettier.config.cjs"),
        ("stylelint", "stylelint.config.cjs"),
        ("pylint", "init-hook"),
        ("mypy", "module-plugin"),
        ("flake8", "module-plugin"),
        ("cargo", "build-script"),
        ("cargo", "rustc-wrapper"),
    ];
    let missing = expected.iter().filter(|(tool, mark)| there.contains(tool) && !marks.contains(*mark));
    let missing: Vec<_> = missing.collect();
    assert!(missing.is_empty(), "{missing:?} of {marks:?}\n{result:#}");
}

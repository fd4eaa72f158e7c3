//! A folder that nobody trusts: programs are planted in every place of a project that a tool would run something from.
//! None runs, and the report says what was left out. In a folder that is trusted they do run, so the places are right.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use toolgate_checks_tests::client::{Config, Report};
use toolgate_checks_tests::machine::Machine;
use toolgate_checks_tests::project;

const LIMIT: Duration = Duration::from_secs(100);

/// A path in the project, and the text of the file.
type Plant = (&'static str, &'static str);

/// What is planted in a copy of each fixture, and the files that are then checked. In a text `{ran}` is the path of a
/// file that must not appear. A text that starts with `#!` becomes a program.
const PLANTS: &[(&str, &[Plant], &[&str])] = &[
    (
        "typescript",
        &[
            ("node_modules/.bin/prettier", SHELL),
            ("node_modules/.bin/eslint", SHELL),
            ("node_modules/.bin/tsc", SHELL),
            ("node_modules/.bin/tsserver", SHELL),
            ("node_modules/.bin/typescript-language-server", SHELL),
            ("node_modules/prettier/package.json", PACKAGE),
            ("node_modules/prettier/index.js", NODE),
            ("node_modules/prettier/index.cjs", NODE),
            ("node_modules/eslint/package.json", PACKAGE),
            ("node_modules/eslint/index.js", NODE),
            ("node_modules/eslint/bin/eslint.js", NODE),
            ("node_modules/eslint/lib/api.js", NODE),
            ("node_modules/typescript/package.json", PACKAGE),
            ("node_modules/typescript/index.js", NODE),
            ("node_modules/typescript/lib/typescript.js", NODE),
            ("node_modules/typescript/lib/tsserver.js", NODE),
            ("node_modules/typescript/lib/tsc.js", NODE),
            ("eslint.config.mjs", MODULE),
            ("eslint.config.js", MODULE),
            ("prettier.config.mjs", MODULE),
        ],
        &["src/clean.ts", "src/problems.ts"],
    ),
    (
        "biome",
        &[("node_modules/.bin/biome", SHELL), ("node_modules/@biomejs/biome/bin/biome", SHELL)],
        &["problems.js"],
    ),
    (
        "css",
        &[
            ("node_modules/.bin/stylelint", SHELL),
            ("node_modules/stylelint/package.json", PACKAGE),
            ("node_modules/stylelint/index.js", NODE),
            ("stylelint.config.mjs", MODULE),
        ],
        &["problems.css"],
    ),
    (
        "python",
        &[
            (".venv/bin/ruff", SHELL),
            (".venv/bin/python", SHELL),
            (".venv/bin/pyright", SHELL),
            (".venv/bin/pyright-langserver", SHELL),
            ("venv/bin/ruff", SHELL),
            ("venv/bin/python", SHELL),
            ("ruff.py", PYTHON),
            ("sitecustomize.py", PYTHON),
        ],
        &["clean.py", "problems.py"],
    ),
    (
        "mypy",
        &[("mypy.ini", "[mypy]\nplugins = plant.py\n"), ("plant.py", PYTHON), (".venv/bin/mypy", SHELL)],
        &["problems.py"],
    ),
    (
        "flake8",
        &[(".flake8", "[flake8:local-plugins]\nextension =\n  PL = plant:Plant\npaths = .\n"), ("plant.py", PYTHON)],
        &["problems.py"],
    ),
    (
        "pylint",
        &[(".pylintrc", "[MAIN]\nload-plugins=plant\ninit-hook=open('{ran}', 'w')\n"), ("plant.py", PYTHON)],
        &["problems.py"],
    ),
    (
        "rust",
        &[
            ("build.rs", "fn main() { std::fs::write(\"{ran}\", \"\").unwrap(); }\n"),
            (".cargo/config.toml", "[build]\nrustc-wrapper = \"./wrapper\"\n[alias]\nclippy = [\"run\"]\n"),
            ("wrapper", SHELL),
            ("rust-toolchain.toml", "[toolchain]\npath = \"toolchain\"\n"),
            ("toolchain/bin/rustfmt", SHELL),
            ("toolchain/bin/cargo", SHELL),
            ("toolchain/bin/rustc", SHELL),
            ("toolchain/bin/rust-analyzer", SHELL),
        ],
        &["src/clean.rs", "src/problems.rs"],
    ),
    (
        "c",
        &[
            (".clangd", "CompileFlags:\n  Compiler: {root}/compiler\n"),
            (
                "compile_commands.json",
                r#"[{"directory": "{root}", "file": "problems.c", "command": "{root}/compiler problems.c"}]"#,
            ),
            ("compiler", SHELL),
        ],
        &["problems.c"],
    ),
];

const SHELL: &str = "#!/bin/sh\n: >>'{ran}'\n";
const NODE: &str = "require('fs').writeFileSync('{ran}', '');\n";
const MODULE: &str = "import fs from 'node:fs';\nfs.writeFileSync('{ran}', '');\nexport default [];\n";
const PYTHON: &str = "open('{ran}', 'w')\n";
const PACKAGE: &str = r#"{"name": "planted", "version": "9.9.9", "main": "index.js", "exports": "./index.js"}"#;

#[test]
fn nothing_of_the_projects_own_runs() {
    let Some(tools) = crate::common::tools() else { return };
    let machine = Machine::new(Some(&tools)).unwrap();
    let mut ran = Vec::new();
    for (fixture, plants, files) in PLANTS {
        let root = machine.project(fixture).unwrap();
        let marks = planted(&machine, fixture, &root, plants);
        let report = check(&machine, &root, files, Config::ALL);
        let done = fs::read_dir(&marks).unwrap().map(|mark| mark.unwrap().file_name()).collect::<Vec<_>>();
        if !done.is_empty() {
            ran.push(format!("{fixture}: {done:?}, {report:#?}"));
        }
    }
    assert!(ran.is_empty(), "these ran: {}", ran.join("\n"));
}

#[test]
fn what_is_left_out_is_said() {
    let Some(tools) = crate::common::tools() else { return };
    let machine = Machine::new(Some(&tools)).unwrap();
    let cases: &[(&str, &str, &'static [&'static str], &str)] = &[
        ("typescript", "src/problems.ts", &["linters"], "eslint"),
        ("css", "problems.css", &["linters"], "stylelint"),
        ("mypy", "problems.py", &["linters"], "mypy"),
        ("flake8", "problems.py", &["linters"], "flake8"),
        ("pylint", "problems.py", &["linters"], "pylint"),
        ("rust", "src/problems.rs", &["linters"], "clippy"),
    ];
    for (fixture, file, kinds, tool) in cases {
        // The packages are a link that leads out of the folder; what is at its end is still what the project chose.
        let root = crate::common::untrusted(&machine, fixture, &tools);
        let report = check(&machine, &root, &[file], Config { kinds, ..Config::ALL });
        assert_eq!(report.status(kinds[0]), "skipped", "{fixture}: {report:#?}");
        let said = report.notes.iter().any(|note| note.contains(tool) && note.contains("not trusted"));
        assert!(said, "{fixture}: {report:#?}");
    }
}

#[test]
fn in_a_trusted_folder_the_plants_run() {
    let Some(_) = crate::common::tools() else { return };
    let machine = Machine::new(None).unwrap();
    let (fixture, plants, files) = PLANTS[2];
    let root = machine.project(fixture).unwrap();
    let marks = planted(&machine, fixture, &root, plants);
    machine.trust(&root).unwrap();
    check(&machine, &root, files, Config::ALL);
    assert_ne!(fs::read_dir(marks).unwrap().count(), 0, "the plants are not where a tool would run them");
}

/// Fills a folder with a fixture and its plants. The folder where each leaves a file if it runs.
fn planted(machine: &Machine, fixture: &str, root: &Path, plants: &[Plant]) -> PathBuf {
    project::lay_out(fixture, root, None).unwrap();
    let marks = machine.root().join(format!("{fixture}-ran"));
    fs::create_dir(&marks).unwrap();
    for (path, text) in plants {
        let mark = marks.join(path.replace('/', "_"));
        let text = text.replace("{ran}", mark.to_str().unwrap()).replace("{root}", root.to_str().unwrap());
        let file = root.join(path);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(&file, &text).unwrap();
        let mode = if text.starts_with("#!") { 0o755 } else { 0o644 };
        fs::set_permissions(file, fs::Permissions::from_mode(mode)).unwrap();
    }
    marks
}

/// Has files checked by a daemon that is then stopped.
fn check(machine: &Machine, root: &Path, files: &[&str], config: Config) -> Report {
    let files: Vec<PathBuf> = files.iter().map(|file| root.join(file)).collect();
    let daemon = crate::common::start(machine, root);
    let report = daemon.client().unwrap().full_check(&files, &config, LIMIT).unwrap();
    daemon.stop().unwrap();
    report
}

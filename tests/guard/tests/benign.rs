//! What the packages that this workspace depends on make people run, and the extractors as tables.

use std::path::Path;

use toolgate_guard_tests::benign::{self, Report};
use toolgate_guard_tests::extract::{self, Kind, STEP_KEYS};
use toolgate_guard_tests::known::{known, listed};
use toolgate_test_support::known::{compare, digest};

/// But for what is set aside, with a reason, and what is known, one by one.
#[test]
fn the_packages_that_this_workspace_depends_on() {
    let folders = benign::crates(&benign::workspace()).expect("cargo knows the packages");
    let report = Report::new(benign::corpus(&folders).expect("they are read"));
    let count = report.count(None);
    assert!(count.total() > 700, "only {} commands were found", count.total());
    let everyday = report.touched().filter(|(.., aside)| !aside);
    let touched = everyday.map(|(found, verdict, _)| {
        let start: String = found.command.chars().take(200).collect();
        (digest(&found.text), format!("{:?} {} {start:?}", verdict.rules, found.place))
    });
    let known = known().expect("the known differences are read");
    let wrong = compare(listed(&known, "packages"), touched);
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), count.total(), wrong.join("\n"));
}

#[test]
fn a_script_is_read_in_its_package() {
    let package = tempfile::tempdir().expect("a folder");
    for (name, text) in [("lib.sh", "rm -rf build\n"), ("run.sh", ". ./lib.sh\n"), ("bad.sh", "rm -rf ~/Documents\n")] {
        std::fs::write(package.path().join(name), text).expect("a script");
    }
    let found = benign::corpus(&[package.path().to_owned()]).expect("it is read");
    let commands: Vec<&str> = found.iter().map(|found| found.command.as_str()).collect();
    assert_eq!(commands, ["bash 'bad.sh'", "bash 'lib.sh'", "bash 'run.sh'"]);
    let report = Report::new(found);
    let touched: Vec<&str> = report.touched().map(|(found, ..)| found.command.as_str()).collect();
    assert_eq!(touched, ["bash 'bad.sh'"]);
}

#[test]
fn what_is_set_aside_has_its_reason() {
    for one in benign::set_aside().expect("it is read") {
        assert!(one.reason.len() > 30 && !one.kinds.is_empty(), "{one:?}");
    }
}

#[track_caller]
fn same(found: Vec<String>, expected: &[&str]) {
    assert_eq!(found, expected);
}

#[test]
fn ci_steps() {
    let all = |text: &str| extract::ci(text, &STEP_KEYS);
    same(
        all("jobs:\n  a:\n    steps:\n      - run: cargo test\n      - run: |\n          a\n          b\n"),
        &["cargo test", "a\nb"],
    );
    same(all("steps:\n  - run: x --target ${{ matrix.target }}\n"), &["x --target ${matrix_target}"]);
    same(all("steps:\n  - run: Get-Item x\n    shell: pwsh\n  - run: ls\n    shell: bash\n"), &["ls"]);
    same(all("steps:\n  - run: print(1)\n    shell: python\n"), &[]);
    same(
        all("a:\n  runs-on: windows-latest\n  steps:\n    - run: dir\nb:\n  runs-on: x\n  steps:\n    - run: ls\n"),
        &["ls"],
    );
    same(all("a:\n  tags: [windows, shell]\n  script: [dir]\nb:\n  tags: [linux]\n  script: [ls]\n"), &["ls"]);
    same(all("before_script:\n  - a\nscript: b\n"), &["a", "b"]);
    same(all("steps:\n  - run:\n      name: n\n      command: make\n"), &["make"]);
    same(all("a: [b"), &[]);
    same(extract::ci("steps:\n  - uses: x\n    with:\n      script: const a = 1;\n", &["run"]), &[]);
}

#[test]
fn make_recipes() {
    for (text, expected) in [
        ("all:\n\techo a\n\t@-rm -f x\n", vec!["echo a", "rm -f x"]),
        ("A = b c\nall:\n\techo $(A) ${A} $(B)\n", vec!["echo b c b c ${B}"]),
        ("A := x\nA ?= y\nall:\n\techo $(A) $$HOME $$(pwd)\n", vec!["echo x $HOME $(pwd)"]),
        ("CC = ccache $(CC)\nall:\n\t$(CC) -c x.c\n", vec!["ccache cc -c x.c"]),
        ("a:\n\t$(RM) x; ls $(shell uname -r)\n", vec!["rm -f x; ls $(uname -r)"]),
        ("a:\n\techo a\nB = c\n\techo $(B)\n", vec!["echo a"]),
        ("  $(error a: b; c)\na:\n\techo a\n", vec!["echo a"]),
        ("a: b c\n\tcp $< $@ $^ $*\n", vec!["cp b a b c ${stem}"]),
        ("a:\n\tfor x in 1; do \\\n\t  echo $$x; \\\n\tdone\n", vec!["for x in 1; do \\\n  echo $x; \\\ndone"]),
        ("a: ; echo x\n", vec!["echo x"]),
        ("define f\n\techo no\nendef\na:\n\techo yes\n", vec!["echo yes"]),
        ("a:\n\tifeq (x,y)\n\techo a\n\tendif\n", vec!["echo a"]),
        ("a:\n\t$(MAKE) -C sub\n\t$(wildcard *.c)\n", vec!["make -C sub"]),
        ("a:\n\t$(FIND) . -name x\n\tx | $(AWK) y\n\techo $(FIND) x\n", vec!["echo ${FIND} x"]),
        ("# a:\n\techo no\n", vec![]),
        ("a:\n\t# only a comment\n", vec![]),
    ] {
        same(extract::make(text), &expected);
    }
}

#[test]
fn just_recipes() {
    for (text, expected) in [
        ("x := 'y'\na B='c':\n    @echo {{B}}\n    -rm -f x\n", vec!["echo ${B}", "rm -f x"]),
        ("a: b\n    echo a \\\n    b\n", vec!["echo a  b"]),
        ("a:\n    #!/usr/bin/env bash\n    cd x\n    make\n", vec!["#!/usr/bin/env bash\ncd x\nmake"]),
        ("a:\n    #!/usr/bin/env python3\n    print(1)\n", vec![]),
        ("set shell := ['bash']\n# a:\n", vec![]),
    ] {
        same(extract::just(text), &expected);
    }
}

#[test]
fn package_scripts() {
    same(extract::package_scripts(r#"{"scripts":{"a":"tsc","b":"rm -rf dist","c":""}}"#), &["tsc", "rm -rf dist"]);
    same(extract::package_scripts(r#"{"name":"x"}"#), &[]);
    same(extract::package_scripts("no JSON"), &[]);
}

#[test]
fn documents() {
    for (text, expected) in [
        ("```sh\nnpm install\nnpm test\n```\n", vec!["npm install", "npm test"]),
        ("```rust\nfn main() {}\n```\n```bash\nls\n```", vec!["ls"]),
        ("```console\n$ cargo run\n   Compiling x\n$ ls \\\n    -la\n```", vec!["cargo run", "ls \\\n    -la"]),
        ("```sh\n(venv) $ make x\n> npm test\n```", vec!["make x", "npm test"]),
        ("```console\nline one\nline two\n```", vec![]),
        ("```sh\n# a comment\nfor x in a; do\n  echo $x\ndone\n```", vec!["for x in a; do\n  echo $x\ndone"]),
        ("```sh\ncat <<EOF > x\na b\nEOF\nls\n```", vec!["cat <<EOF > x\na b\nEOF", "ls"]),
        ("```sh\nnpm publish <your-package>\n```", vec!["npm publish your-package"]),
        ("```sh\nx <a b|c> <d>@<e>\nsort <in >out\n```\n", vec!["x a-b d@e", "sort <in >out"]),
        ("```sh\nfound `fn(&mut HashMap<A, B>)`\n{\"a\":1}\n```\n", vec![]),
        ("```sh\nnpm get [<key> ...] (See `npm config`)\n```", vec![]),
        ("```sh\nUsage: x [options]\nPlease read this\n1. first\n[1/16] Building\n68k, amd64\n```", vec![]),
        ("```sh\nx 1,234 ops/sec\n`-- a@1\n+-- b@2\nlet x = f();\n```", vec![]),
        ("  ```sh\n  ls\n  ```\n", vec!["ls"]),
        ("~~~sh\nls\n~~~\n", vec!["ls"]),
    ] {
        same(extract::document(text), &expected);
    }
}

#[test]
fn files_are_told_by_their_path() {
    for (path, text, expected) in [
        (".github/workflows/ci.yml", "steps:\n  - run: |\n      a\n      b\n", vec![Kind::CiStep, Kind::Ci, Kind::Ci]),
        ("config/app.yml", "run: a\n", vec![]),
        (".gitlab-ci.yml", "script: [a]\n", vec![Kind::Ci]),
        ("sub/Makefile", "a:\n\tb\n", vec![Kind::Make]),
        ("x.mk", "a:\n\tb\n", vec![Kind::Make]),
        ("justfile", "a:\n  b\n", vec![Kind::Just]),
        ("package.json", r#"{"scripts":{"a":"b"}}"#, vec![Kind::PackageScript]),
        ("README.md", "```sh\na\n```", vec![Kind::Document]),
        ("a.sh", "ls\npwd\n", vec![Kind::Script]),
        ("Makefile", "a:\n\t@if exist x (del x)\n", vec![]),
        // What bash cannot read either.
        ("b.sh", "for x in; do\n", vec![]),
        ("main.rs", "", vec![]),
    ] {
        let kinds: Vec<Kind> = extract::commands(Path::new(path), text).into_iter().map(|(kind, _)| kind).collect();
        assert_eq!(kinds, expected, "{path}");
    }
}

//! The programs that `cargo test` makes: one for the integration tests of a crate, with all of them in it, and none for code
//! without tests. Linking them is most of what building tests takes.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

/// Integration tests that are a program of their own, by package and name. Each says why.
const APART: [(&str, &str); 1] = [("toolgate-tests", "hostile")];

/// The members of the workspace.
fn packages() -> Vec<Value> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.args(["metadata", "--no-deps", "--locked", "--offline", "--format-version", "1"]);
    let output = command.current_dir(env!("CARGO_MANIFEST_DIR")).output().expect("cargo");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let mut metadata: Value = serde_json::from_slice(&output.stdout).expect("metadata");
    metadata["packages"].as_array_mut().map(std::mem::take).expect("packages")
}

fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value[key].as_str().expect("a text")
}

/// The targets of a package that are of a kind.
fn targets<'a>(package: &'a Value, kind: &'a str) -> impl Iterator<Item = &'a Value> {
    let all = package["targets"].as_array().into_iter().flatten();
    all.filter(move |target| target["kind"].as_array().is_some_and(|kinds| kinds.iter().any(|one| one == kind)))
}

/// The names of Rust files in a folder; none if there is no such folder.
fn sources(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok);
    let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
    names.filter_map(|name| name.strip_suffix(".rs").map(str::to_owned)).collect()
}

/// Whether a file has a test.
fn tests(file: &Path) -> bool {
    let source = std::fs::read_to_string(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    source.lines().map(str::trim).any(|line| line.starts_with("#[test]") || line.starts_with("#[tokio::test"))
}

/// Whether a file below a folder has a test.
fn tests_below(folder: &Path) -> bool {
    std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path()).any(|path| {
        if path.is_dir() {
            tests_below(&path)
        } else {
            path.extension().is_some_and(|extension| extension == "rs") && tests(&path)
        }
    })
}

#[test]
fn a_crate_has_one_program_for_its_integration_tests() {
    let mut wrong = Vec::new();
    for package in packages() {
        let name = text(&package, "name");
        let programs: Vec<&str> = targets(&package, "test").map(|target| text(target, "name")).collect();
        let shared: Vec<_> = programs.iter().filter(|program| !APART.contains(&(name, program))).collect();
        if shared.len() > 1 {
            wrong.push(format!("{name} has {shared:?}; make modules of one program of them"));
        }
        let folder = Path::new(text(&package, "manifest_path")).with_file_name("tests");
        let Ok(main) = std::fs::read_to_string(folder.join("main.rs")) else { continue };
        let modules: Vec<&str> = main.lines().filter_map(|line| line.strip_prefix("mod ")?.strip_suffix(';')).collect();
        for file in sources(&folder).iter().filter(|file| *file != "main") {
            if !modules.contains(&file.as_str()) && !programs.contains(&file.as_str()) {
                wrong.push(format!("{name}: tests/{file}.rs is in no program; name it in tests/main.rs"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Where there are tests, and nowhere else, there is a program of them.
#[test]
fn code_with_tests_has_a_program_for_them() {
    let mut wrong = Vec::new();
    for package in packages() {
        let name = text(&package, "name");
        for target in ["lib", "rlib", "cdylib"].into_iter().flat_map(|kind| targets(&package, kind)) {
            let folder = Path::new(text(target, "src_path")).parent().expect("a folder");
            if target["test"] != tests_below(folder) {
                wrong.push(format!("{name}: `test` of the library is {}", target["test"]));
            }
        }
        for target in targets(&package, "bin") {
            if target["test"] != tests(Path::new(text(target, "src_path"))) {
                wrong.push(format!("{name}: `test` of the program {} is {}", target["name"], target["test"]));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

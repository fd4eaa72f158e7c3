//! `docs/dependencies.md` against the manifests and the lock files: every direct dependency has its line with a reason, no line
//! is left of one that is gone, and what can be computed in it is right. Also that every recipe builds what is locked.
//! What only cargo-deny can tell of the tree is in `.ci/deny`.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

/// Folders that hold manifests which are none of ours: what is built, projects that checkers run over, names that are read.
const ELSEWHERE: [&str; 6] = ["target", "node_modules", "fixtures", "benign", ".git", "corpus"];

/// Who uses a dependency, in the order of the table, by the folder of the member; the first that fits counts.
const USERS: [(&str, &str); 12] = [
    ("guest/sdk", "sdk"),
    ("guest/examples", "tests"),
    ("guest", "guest"),
    ("host/agents", "cli"),
    ("host/cli", "cli"),
    ("host/checks", "checks"),
    ("host/gatekeeper", "cli"),
    ("host/bake", "build"),
    ("host/docs", "build"),
    ("host/layout", "build"),
    ("host", "host"),
    ("tests", "tests"),
];
const ORDER: [&str; 7] = ["guest", "sdk", "host", "cli", "checks", "build", "tests"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize().expect("the workspace")
}

fn text(path: &str) -> String {
    std::fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// What is wrong, if anything, one line each.
fn none(what: &str, wrong: &[String]) {
    assert!(wrong.is_empty(), "{what}:\n{}\n", wrong.join("\n"));
}

/// The files of a name below a folder, as paths from the root.
fn files(name: &str) -> Vec<String> {
    fn walk(folder: &Path, name: &str, found: &mut Vec<PathBuf>) {
        for entry in std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry")) {
            let file = entry.file_name();
            let kind = entry.file_type().expect("a kind");
            if kind.is_dir() && !ELSEWHERE.iter().any(|elsewhere| file == *elsewhere) {
                walk(&entry.path(), name, found);
            } else if kind.is_file() && file == name {
                found.push(entry.path());
            }
        }
    }
    let mut found = Vec::new();
    walk(&root(), name, &mut found);
    let from_root = |path: PathBuf| path.strip_prefix(root()).expect("below").to_str().expect("a path").to_owned();
    let mut found: Vec<String> = found.into_iter().map(from_root).collect();
    found.sort();
    found
}

/// The rows of the table below a heading of the page, cell by cell, without its head.
fn table(heading: &str) -> Vec<Vec<String>> {
    let page = text("docs/dependencies.md");
    let section = page.split_once(&format!("\n## {heading}\n")).expect("the section").1;
    let section = section.split_once("\n## ").map_or(section, |(section, _)| section);
    let cells = |line: &str| line.trim_matches('|').split('|').map(|cell| cell.trim().to_owned()).collect();
    section.lines().filter(|line| line.starts_with('|')).skip(2).map(cells).collect()
}

/// What stands in backticks in the list below a heading.
fn listed(heading: &str) -> BTreeSet<String> {
    let page = text("docs/dependencies.md");
    let section = page.split_once(&format!("\n### {heading}\n")).expect("the section").1;
    let section = section.split_once("\n### ").map_or(section, |(section, _)| section);
    let list = section.lines().filter(|line| line.starts_with("  `"));
    list.flat_map(|line| line.split('`').skip(1).step_by(2)).map(str::to_owned).collect()
}

fn metadata(arguments: &[&str]) -> Value {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.args(["metadata", "--locked", "--offline", "--format-version", "1"]).args(arguments);
    let output = command.current_dir(root()).output().expect("cargo");
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("metadata")
}

fn str_of<'a>(value: &'a Value, key: &str) -> &'a str {
    value[key].as_str().unwrap_or_default()
}

/// Name and version.
type Id = (String, String);

/// A lock file: who needs whom.
struct Lock {
    needs: HashMap<Id, Vec<Id>>,
    members: HashSet<Id>,
}

impl Lock {
    fn read(path: &str) -> Self {
        let text = text(path);
        let (mut needs, mut members) = (HashMap::<Id, Vec<String>>::new(), HashSet::new());
        for package in text.split("\n[[package]]\n").skip(1) {
            let field = |key: &str| {
                let line = package.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(" = "));
                line.map(|value| value.trim_matches('"').to_owned())
            };
            let id = (field("name").expect("a name"), field("version").expect("a version"));
            let list =
                package.split_once("dependencies = [\n").map_or("", |(_, rest)| rest.split(']').next().unwrap_or(""));
            let list = list.lines().map(|line| line.trim().trim_matches([',', '"']).to_owned());
            needs.insert(id.clone(), list.collect());
            if field("source").is_none() {
                members.insert(id);
            }
        }
        // A version is only there where a name alone could be two.
        let found = |name: &String| match name.split_once(' ') {
            Some((name, version)) => (name.to_owned(), version.to_owned()),
            None => needs.keys().find(|id| id.0 == *name).unwrap_or_else(|| panic!("{name}")).clone(),
        };
        let needs = needs.iter().map(|(id, list)| (id.clone(), list.iter().map(found).collect())).collect();
        Self { needs, members }
    }

    /// All that these need; from a member not by way of the one that is left out.
    fn reached<'a>(&'a self, from: impl Iterator<Item = &'a Id>, left_out: Option<&Id>) -> HashSet<&'a Id> {
        let mut reached: HashSet<&Id> = from.collect();
        let mut open: Vec<&Id> = reached.iter().copied().collect();
        while let Some(id) = open.pop() {
            for next in &self.needs[id] {
                let out = left_out == Some(next) && self.members.contains(id);
                if !out && reached.insert(next) {
                    open.push(next);
                }
            }
        }
        reached
    }

    /// How many crates a direct dependency needs, and how many of them would go with it.
    fn below(&self, name: &str) -> (usize, usize) {
        let mut direct = self.members.iter().flat_map(|member| &self.needs[member]);
        let id = direct.find(|id| id.0 == name).unwrap_or_else(|| panic!("{name} is not in the lock file"));
        let below = self.reached(std::iter::once(id), None);
        let with = self.reached(self.members.iter(), None);
        let without = self.reached(self.members.iter(), Some(id));
        let gone = with.difference(&without).filter(|gone| **gone != id).count();
        (below.len() - 1, gone)
    }
}

/// The direct dependencies of each package that a manifest knows, and who uses them.
fn direct(manifest: &str, into: &mut BTreeMap<String, BTreeSet<&'static str>>) {
    let known = metadata(&["--no-deps", "--manifest-path", manifest]);
    for package in known["packages"].as_array().expect("packages") {
        let folder = Path::new(str_of(package, "manifest_path")).parent().expect("a folder");
        let folder = folder.strip_prefix(root()).unwrap_or(folder);
        let user = USERS.iter().find(|(start, _)| folder.starts_with(start)).expect("a folder that is in the table").1;
        for dependency in package["dependencies"].as_array().expect("dependencies") {
            if dependency["source"].is_null() {
                continue;
            }
            let user = if str_of(dependency, "kind") == "dev" { "tests" } else { user };
            into.entry(str_of(dependency, "name").to_owned()).or_default().insert(user);
        }
    }
}

fn host() -> String {
    let output = Command::new("rustc").arg("-vV").output().expect("rustc");
    let text = String::from_utf8(output.stdout).expect("text");
    text.lines().find_map(|line| line.strip_prefix("host: ")).expect("a host").to_owned()
}

#[test]
fn every_crate_has_its_line() {
    let mut used = BTreeMap::new();
    direct("Cargo.toml", &mut used);
    let resolved = metadata(&["--filter-platform", &host()]);
    let licences: HashMap<&str, String> = resolved["packages"]
        .as_array()
        .expect("packages")
        .iter()
        .map(|package| (str_of(package, "name"), str_of(package, "license").replace('/', " OR ")))
        .collect();
    let lock = Lock::read("Cargo.lock");

    let rows = table("Crates");
    let mut there: HashMap<&str, &Vec<String>> = rows.iter().map(|row| (row[0].as_str(), row)).collect();
    let mut wrong = Vec::new();
    for (name, users) in &used {
        let only_tests = users.iter().all(|user| *user == "tests");
        let users = ORDER.iter().filter(|user| users.contains(*user) && (only_tests || **user != "tests"));
        let users = users.copied().collect::<Vec<_>>().join(", ");
        let row = there.remove(name.as_str());
        let cell = |at: usize| row.and_then(|row| row.get(at)).cloned().unwrap_or_default();
        let (below, gone) = lock.below(name);
        // What is only there with a feature is not in the resolved tree.
        let licence = licences.get(name.as_str()).cloned().unwrap_or_else(|| cell(4));
        let reason = if cell(5).is_empty() { "REASON".to_owned() } else { cell(5) };
        let expected = [name.clone(), users, below.to_string(), gone.to_string(), licence, reason];
        if row.is_none_or(|row| **row != expected) || expected[5] == "REASON" {
            wrong.push(format!("| {} |", expected.join(" | ")));
        }
    }
    wrong.extend(there.keys().map(|name| format!("{name} is a dependency no longer")));
    none("docs/dependencies.md should have these lines under \"Crates\"", &wrong);
    assert!(rows.is_sorted_by_key(|row| row[0].clone()), "the lines are in order");
}

/// What a program needs that embeds a gate with the guard that was compiled before: neither a compiler nor WASI, and nothing
/// that is only there for capabilities.
#[test]
fn a_verdict_needs_no_compiler() {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    // Of a package that depends on it, as an embedder's does: in this workspace it has the features that anything in it asks for.
    let needs = |package: &str, folder: &str, features: &str| -> BTreeSet<String> {
        let scratch = tempfile::tempdir().expect("a scratch folder");
        let path = root().join(folder);
        let manifest = format!(
            "[package]\nname = \"embedder\"\nedition = \"2024\"\n\n[dependencies]\n{package} = {{ path = {path:?}, {features} }}\n"
        );
        std::fs::write(scratch.path().join("Cargo.toml"), manifest).expect("written");
        std::fs::copy(root().join("Cargo.lock"), scratch.path().join("Cargo.lock")).expect("copied");
        std::fs::create_dir(scratch.path().join("src")).expect("a folder");
        std::fs::write(scratch.path().join("src/lib.rs"), "").expect("written");
        let mut command = Command::new(&cargo);
        command.args(["tree", "--offline", "--edges", "normal", "--prefix", "none"]);
        let output = command.current_dir(scratch.path()).output().expect("cargo");
        assert!(output.status.success(), "{package}: {}", String::from_utf8_lossy(&output.stderr));
        let lines = String::from_utf8(output.stdout).expect("text");
        lines.lines().filter_map(|line| line.split(' ').next()).map(str::to_owned).collect()
    };
    const NONE: &str = "default-features = false";
    let verdict = needs("toolgate-host", "host", NONE);
    let without = ["cranelift-codegen", "notify", "rayon", "toolgate-capabilities", "unicode-width", "wasmtime-wasi"];
    let wrong: Vec<String> = without.iter().filter(|name| verdict.contains(**name)).map(ToString::to_string).collect();
    none("a verdict needs", &wrong);
    for (package, folder) in [("toolgate-builtin", "host/builtin"), ("toolgate-capabilities", "host/capabilities")] {
        let found = needs(package, folder, NONE);
        let wrong: Vec<&&str> =
            ["cranelift-codegen", "wasmtime-wasi"].iter().filter(|name| found.contains(**name)).collect();
        assert!(wrong.is_empty(), "{package} needs {wrong:?}");
    }
    let all = needs("toolgate-host", "host", "default-features = true");
    assert!(all.contains("cranelift-codegen") && all.contains("wasmtime-wasi"), "by default both are there: {all:?}");
    assert!(verdict.len() + 60 < all.len(), "{} instead of {}", verdict.len(), all.len());
    let git = needs("toolgate-capabilities", "host/capabilities", "default-features = false, features = [\"git\"]");
    assert!(!git.contains("notify"), "git needs {git:?}");
}

/// Names of `[workspace.dependencies]` that no member asks for.
#[test]
fn no_version_is_kept_for_nobody() {
    let manifest = text("Cargo.toml");
    let section = manifest.split_once("\n[workspace.dependencies]\n").expect("the section").1;
    let section = section.split_once("\n[").map_or(section, |(section, _)| section);
    let name = |line: &str| {
        let (name, _) = line.split_once(" = ")?;
        name.chars().all(|c| c.is_ascii_alphanumeric() || "-_".contains(c)).then(|| name.to_owned())
    };
    let known = metadata(&["--no-deps"]);
    let packages = known["packages"].as_array().expect("packages");
    let asked: HashSet<&str> = packages
        .iter()
        .flat_map(|package| package["dependencies"].as_array().expect("dependencies"))
        .map(|dependency| str_of(dependency, "name"))
        .collect();
    let versions: Vec<String> = section.lines().filter_map(name).collect();
    assert!(versions.len() > 40, "found {versions:?}");
    none("no member asks for", &versions.into_iter().filter(|name| !asked.contains(name.as_str())).collect::<Vec<_>>());
}

/// What cargo or crates.io would refuse. `just crates` makes the packages and builds them.
#[test]
fn published_crates_need_published_crates() {
    let known = metadata(&["--no-deps"]);
    let packages = known["packages"].as_array().expect("packages");
    let own: BTreeMap<&str, &Value> = packages.iter().map(|package| (str_of(package, "name"), package)).collect();
    let is_published = |name: &str| own.get(name).is_some_and(|package| package["publish"].is_null());
    for name in ["toolgate", "toolgate-builtin", "toolgate-host", "toolgate-sdk"] {
        assert!(is_published(name), "{name} is published");
    }
    let mut wrong = Vec::new();
    for (name, package) in own.iter().filter(|(name, _)| is_published(name)) {
        for dependency in package["dependencies"].as_array().expect("dependencies") {
            let needed = str_of(dependency, "name");
            let has_version = str_of(dependency, "req") != "*";
            // Without a version, what only tests need is no part of the package.
            let is_packaged = has_version || str_of(dependency, "kind") != "dev";
            if own.contains_key(needed) && is_packaged && !(has_version && is_published(needed)) {
                wrong.push(format!("{name} needs {needed}, which is not published or has no version there"));
            }
        }
        let keys = ["categories", "description", "documentation", "keywords", "license", "readme", "rust_version"];
        let is_missing = |key: &&str| package[*key].is_null() || package[*key].as_array().is_some_and(Vec::is_empty);
        wrong.extend(keys.iter().filter(|key| is_missing(key)).map(|key| format!("{name} has no {key}")));
    }
    none("published crates", &wrong);
}

#[test]
fn every_package_of_npm_and_pypi_has_its_line() {
    let mut there = BTreeSet::new();
    for file in files("package.json") {
        let manifest: Value = serde_json::from_str(&text(&file)).unwrap_or_else(|error| panic!("{file}: {error}"));
        let tables = ["dependencies", "devDependencies"].iter().filter_map(|table| manifest[table].as_object());
        there.extend(tables.flat_map(|table| table.keys()).map(|name| (folder(&file), name.clone())));
    }
    for file in files("requirements.txt") {
        let text = text(&file);
        let names = text.lines().filter_map(|line| Some(line.split_once("==")?.0.trim().to_owned()));
        there.extend(names.map(|name| (folder(&file), name)));
    }

    let mut said = BTreeSet::new();
    let mut wrong = Vec::new();
    for row in table("Packages of npm and PyPI") {
        let [name, places, beside, licence, reason] = &row[..] else { panic!("{row:?}") };
        if licence.is_empty() || reason.is_empty() {
            wrong.push(format!("{name} is there without licence or reason"));
        }
        let list =
            |cell: &str| cell.split(',').map(|one| one.trim().to_owned()).filter(|one| !one.is_empty()).collect();
        let (places, beside): (Vec<String>, Vec<String>) = (list(places), list(beside));
        for place in &places {
            said.insert((place.clone(), name.clone()));
            said.extend(beside.iter().map(|beside| (place.clone(), beside.clone())));
        }
    }
    wrong.extend(there.difference(&said).map(|(folder, name)| format!("{name} of {folder} is not there")));
    wrong.extend(said.difference(&there).map(|(folder, name)| format!("{name} is not in {folder}")));
    none("docs/dependencies.md, \"Packages of npm and PyPI\"", &wrong);
}

fn folder(file: &str) -> String {
    file.rsplit_once('/').map_or(String::new(), |(folder, _)| folder.to_owned())
}

/// The page and deny.toml name the same crates, and each is one that the lock file has.
#[test]
fn what_runs_at_build_time_is_listed() {
    let deny = text("deny.toml");
    let allowed =
        deny.split_once("\nallow-build-scripts = [").expect("the list").1.split(']').next().unwrap_or_default();
    let allowed: BTreeSet<String> = allowed.split('"').skip(1).step_by(2).map(str::to_owned).collect();
    let scripts = listed("Build scripts");
    let mut wrong: Vec<String> =
        allowed.difference(&scripts).map(|name| format!("`{name}` is in deny.toml and not on the page")).collect();
    wrong.extend(scripts.difference(&allowed).map(|name| format!("`{name}` is on the page and not in deny.toml")));
    let lock = Lock::read("Cargo.lock");
    let gone = |name: &&String| !lock.needs.keys().any(|id| id.0 == **name);
    let named: BTreeSet<String> = scripts.union(&listed("Proc macros")).cloned().collect();
    wrong.extend(named.iter().filter(gone).map(|name| format!("`{name}` is not in Cargo.lock")));
    assert!(named.len() > 50, "found {named:?}");
    none("what runs at build time", &wrong);
}

/// Nothing is built or installed but what a lock file or a version names.
#[test]
fn every_recipe_builds_what_is_locked() {
    const VERBS: [&str; 13] = [
        "bench", "build", "check", "clippy", "doc", "fetch", "install", "metadata", "package", "run", "rustc", "test",
        "tree",
    ];
    let mut recipes =
        ["justfile", ".github/workflows/ci.yml", ".github/workflows/release.yml"].map(str::to_owned).to_vec();
    let scripts = std::fs::read_dir(root().join(".ci")).expect("a folder").map(|entry| entry.expect("an entry"));
    // What packages are made with is in a folder, and builds nothing.
    let scripts = scripts.filter(|entry| entry.path().is_file());
    recipes.extend(scripts.map(|entry| format!(".ci/{}", entry.file_name().display())));
    let (mut calls, mut wrong) = (0, Vec::new());
    for recipe in recipes {
        let script = text(&recipe);
        // What `{{name}}` stands for, of the first in a line of the justfile.
        let variable = |line: &str| {
            let name = line.split_once("{{")?.1.split_once("}}")?.0;
            script.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(" := ")).map(str::to_owned)
        };
        let lines: Vec<&str> = script.lines().collect();
        for (at, line) in lines.iter().enumerate().filter(|(_, line)| !line.trim_start().starts_with('#')) {
            let words: Vec<&str> = line.split([' ', '(', ')', ';', '|', '&']).collect();
            let calls_cargo = |pair: &&[&str]| match pair[0] {
                "cargo" => VERBS.contains(&pair[1]),
                ".ci/wasm" => pair[1] == "component",
                _ => false,
            };
            // The standard library is built of the distribution's sources, see .ci/wasm.
            let Some(call) = words.windows(2).find(calls_cargo).filter(|_| !line.contains("sysroot/Cargo.toml")) else {
                continue;
            };
            calls += 1;
            let next = if line.ends_with('\\') { lines.get(at + 1).copied().unwrap_or_default() } else { "" };
            let whole = format!("{line} {next} {}", variable(line).unwrap_or_default());
            if !whole.contains("--locked") {
                wrong.push(format!("{recipe}:{}: without --locked: {}", at + 1, line.trim()));
            }
            if call[1] == "install" && !whole.contains('@') && !whole.contains("--path") {
                wrong.push(format!("{recipe}:{}: no version: {}", at + 1, line.trim()));
            }
        }
    }
    assert!(calls > 15, "{calls} calls of cargo");
    none("recipes", &wrong);
}

//! Arrows point one way: between the crates, and between the modules of each.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

use serde_json::Value;
use toolgate_tests::modules::Modules;
use toolgate_tests::root;

/// Crates that may use others, by their folders; whatever is not here uses none of ours. Tests may use everything.
const ARROWS: &[(&str, &[&str])] = &[
    ("guest", &["guest/plain", "guest/pools", "guest/rules", "guest/shell"]),
    ("guest/examples/kubectl", &["guest/sdk"]),
    ("guest/rules", &["guest/commands", "guest/names", "guest/shell"]),
    ("guest/scripts", &["guest/commands", "guest/shell-syntax"]),
    ("guest/shell", &["guest/commands", "guest/scripts", "guest/shell-syntax"]),
    ("host", &["guest/commands", "guest/names", "guest/plain", "host/private"]),
    ("host/agents", &["guest/names", "host"]),
    ("host/bake", &["host"]),
    ("host/builtin", &["host", "host/bake"]),
    ("host/capabilities", &["host", "host/git"]),
    ("host/checks", &["guest/plain", "host/private"]),
    ("host/cli", &["host", "host/agents", "host/capabilities", "host/checks", "host/gatekeeper", "host/undo"]),
    ("host/docs", &["guest/commands"]),
    ("host/gatekeeper", &["guest/names", "host", "host/agents", "host/builtin", "host/capabilities", "host/undo"]),
    ("host/git", &["host/private"]),
    ("host/undo", &["host/git", "host/private"]),
];

/// Groups of modules that may still import each other, by the folder of their crate, with the reason. What is not in a circle
/// any more has to go from its list, so the lists only get shorter.
const CIRCLES: &[(&str, &str, &str)] = &[(
    "guest/shell-syntax",
    "syntax::commands syntax::words",
    "a parser's own files: words have commands in them, and commands words",
)];

/// The members of the workspace: their folders, and the folders of those that each of them uses.
fn members() -> BTreeMap<String, BTreeSet<String>> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.args(["metadata", "--locked", "--offline", "--no-deps", "--format-version", "1"]);
    let output = command.current_dir(root()).output().expect("cargo");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let known: Value = serde_json::from_slice(&output.stdout).expect("metadata");
    let workspace = known["workspace_root"].as_str().expect("a folder").to_owned();
    let below = |folder: &Path| folder.strip_prefix(&workspace).expect("a member").to_str().expect("a path").to_owned();
    let member = |package: &Value| {
        let folder = Path::new(package["manifest_path"].as_str().expect("a path")).parent().expect("a folder");
        let ships = |dependency: &&Value| dependency["kind"] != "dev";
        let uses = package["dependencies"].as_array().expect("dependencies").iter().filter(ships);
        let uses = uses.filter_map(|dependency| Some(below(Path::new(dependency["path"].as_str()?))));
        (below(folder), uses.collect())
    };
    known["packages"].as_array().expect("packages").iter().map(member).collect()
}

fn is_test(folder: &str) -> bool {
    Path::new(folder).starts_with("tests")
}

#[test]
fn crates_use_only_those_below_them() {
    let mut wrong = Vec::new();
    let members = members();
    assert!(members.len() > 15, "{members:?}");
    for (folder, uses) in members.iter().filter(|(folder, _)| !is_test(folder)) {
        let may = ARROWS.iter().find(|(from, _)| from == folder).map_or(&[][..], |(_, to)| to);
        let more = uses.iter().filter(|to| !may.contains(&to.as_str()));
        wrong.extend(more.map(|to| format!("{folder} uses {to}: turn the dependency round, or list it in ARROWS")));
        let less = may.iter().filter(|to| !uses.contains(**to));
        wrong.extend(less.map(|to| format!("{folder} does not use {to}: take it out of ARROWS")));
    }
    for (from, to) in ARROWS {
        if !members.contains_key(*from) {
            wrong.push(format!("{from} is no crate: take it out of ARROWS"));
        }
        if to.iter().any(|to| from.starts_with("guest") && to.starts_with("host")) {
            wrong.push(format!("{from} decides and must not use the host"));
        }
    }
    assert!(wrong.is_empty(), "\n{}\n", wrong.join("\n"));
}

#[test]
fn no_modules_import_each_other_in_a_circle() {
    let mut wrong = Vec::new();
    for folder in members().keys().filter(|folder| !is_test(folder)) {
        let sources = root().join(folder).join("src");
        let modules = Modules::read(&sources).unwrap_or_else(|error| panic!("{folder}: {error}"));
        assert!(modules.imports().contains_key(""), "{folder} has no root");
        wrong.extend(complaints(CIRCLES, folder, &modules));
    }
    assert!(wrong.is_empty(), "\n{}\n", wrong.join("\n"));
}

/// The types that are generated from the contract stay where they are converted: they change with it.
#[test]
fn few_modules_of_the_host_know_the_generated_types() {
    let modules = Modules::read(&root().join("host/src")).expect("the sources");
    let knows = |to: &BTreeSet<String>| to.contains("bindings");
    let known: Vec<&str> =
        modules.imports().iter().filter(|(_, to)| knows(to)).map(|(from, _)| from.as_str()).collect();
    assert_eq!(known, ["convert", "host_calls", "instance", "plugin"]);
}

/// Circles that the list does not have, and modules on it that are in no circle.
fn complaints(list: &[(&str, &str, &str)], folder: &str, modules: &Modules) -> Vec<String> {
    let listed: Vec<BTreeSet<&str>> =
        list.iter().filter(|(of, ..)| *of == folder).map(|(_, list, _)| list.split_whitespace().collect()).collect();
    let circles = modules.circles();
    let mut wrong = Vec::new();
    for circle in &circles {
        let names: BTreeSet<&str> = circle.iter().map(String::as_str).collect();
        if listed.iter().any(|listed| names.is_subset(listed)) {
            continue;
        }
        wrong.push(format!("{folder}: these import each other in a circle:"));
        for from in circle {
            let to: Vec<&str> =
                modules.imports()[from].iter().filter(|to| circle.contains(*to)).map(String::as_str).collect();
            wrong.push(format!("    {from} imports {}", to.join(", ")));
        }
    }
    let left: BTreeSet<&str> = circles.iter().flatten().map(String::as_str).collect();
    let gone = listed.iter().flatten().filter(|name| !left.contains(**name));
    wrong.extend(gone.map(|name| format!("{folder}: {name} is in no circle any more: take it out of CIRCLES")));
    wrong
}

/// The sources of a crate, a module each.
fn sources(files: &[(&str, &str)]) -> Modules {
    Modules::of(&files.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect())
}

#[test]
fn planted_circles_are_found() {
    // The files of a crate, and the circles in it.
    type Case = (&'static [(&'static str, &'static str)], &'static [&'static str]);
    let cases: &[Case] = &[
        (&[("", "mod a; mod b;"), ("a", "use crate::b::B;"), ("b", "fn b() { crate::a::f() }")], &["a b"]),
        (
            &[
                ("", "mod a; mod b;"),
                ("a", "use crate::b::B;"),
                ("b", "// crate::a::f()\nconst A: &str = \"crate::a\";"),
            ],
            &[],
        ),
        (
            &[
                ("", "mod a; mod b;"),
                ("a", "use super::b;\nfn a() { b::f() }"),
                ("b", "use super::{a::{self as c}};\nfn b() { c::f() }"),
            ],
            &["a b"],
        ),
        // Across three, and only by a name that the root re-exports.
        (
            &[
                ("", "mod a; mod b; mod c; pub use c::C;"),
                ("a", "use crate::b::B;"),
                ("b", "use crate::C;"),
                ("c", "use crate::a::A;"),
            ],
            &["a b c"],
        ),
        (
            &[("", "mod a; mod b; pub use b::*;"), ("a", "use crate::B;"), ("b", "pub struct B; use crate::a::A;")],
            &["a b"],
        ),
        // A re-export of what is another crate's is the module's own.
        (
            &[("", "mod a; mod b;"), ("a", "pub use serde::Value; use crate::b::B;"), ("b", "use crate::a::Value;")],
            &["a b"],
        ),
        // A module and its parts, which have one among themselves or have not.
        (
            &[
                ("", "mod a;"),
                ("a", "mod b; mod c; use b::B; use c::C; pub struct A;"),
                ("a::b", "use super::A;"),
                ("a::c", "use super::A;"),
            ],
            &[],
        ),
        (
            &[
                ("", "mod a;"),
                ("a", "mod b; mod c; use b::B; pub struct A;"),
                ("a::b", "use super::{A, c::C};"),
                ("a::c", "use super::b::B;"),
            ],
            &["a::b a::c"],
        ),
        (
            &[
                ("", "mod a; mod z;"),
                ("a", "mod b; use b::B;"),
                ("a::b", "use crate::z::Z;"),
                ("z", "use crate::a::A;"),
            ],
            &["a a::b z"],
        ),
        // Tests may use what they test with.
        (
            &[("", "mod a; mod b;"), ("a", "use crate::b::B;"), ("b", "#[cfg(test)]\nmod tests { use crate::a::A; }")],
            &[],
        ),
        (
            &[
                ("", "mod a; mod b;"),
                ("a", "use crate::b::B;"),
                ("b", "#[cfg(test)]\nfn t() { let x = [1; 2]; crate::a::f() }\nfn f() {}"),
            ],
            &[],
        ),
        (
            &[
                ("", "mod a; mod b;"),
                ("a", "use crate::b::B; #[cfg(test)]\nmod t;"),
                ("a::t", "use crate::b::B;"),
                ("b", "fn f() {}"),
            ],
            &[],
        ),
        // A module within the file is a part of it, and visibility is no import.
        (&[("", "mod a; mod b;"), ("a", "mod inner { use super::super::b::B; }"), ("b", "use crate::a::A;")], &["a b"]),
        (
            &[
                ("", "mod a; mod b;"),
                ("a", "mod inner { use super::A; } use crate::b::B;"),
                ("b", "pub(in crate::a) fn f() {}"),
            ],
            &[],
        ),
        // What looks like the end of a text, or like the start of one.
        (
            &[
                ("", "mod a; mod b;"),
                ("a", "const Q: char = '\"'; use crate::b::B; const R: char = '\"';"),
                ("b", "const T: &str = r#\"\"\"#; use crate::a::A;"),
            ],
            &["a b"],
        ),
        (
            &[
                ("", "mod a; mod b;"),
                ("a", "fn f<'a>(x: &'a str) { crate::b::f() }"),
                ("b", "const B: u8 = b'\\''; use crate::a::A;"),
            ],
            &["a b"],
        ),
    ];
    for (files, expected) in cases {
        let found: Vec<String> =
            sources(files).circles().iter().map(|one| one.iter().cloned().collect::<Vec<_>>().join(" ")).collect();
        assert_eq!(&found, expected, "{files:?}");
    }
}

/// A listed circle covers no other module, and must leave the list when it is cut.
#[test]
fn the_list_only_gets_shorter() {
    let complaints = |modules| complaints(&[("host", "a b", "planted")], "host", &modules);
    let root = "mod a; mod b; mod new;";
    let to_both = "fn f() { crate::b::f(); crate::new::f() }";
    let listed = [("", root), ("a", to_both), ("b", "fn f() { crate::a::f() }"), ("new", "fn f() {}")];
    assert_eq!(complaints(sources(&listed)), [""; 0]);
    let planted = [("", root), ("a", to_both), ("b", "fn f() { crate::a::f() }"), ("new", "fn f() { crate::a::f() }")];
    assert!(complaints(sources(&planted)).iter().any(|line| line.contains("in a circle:")));
    let gone = [("", root), ("a", "fn f() {}"), ("b", "fn f() { crate::a::f() }"), ("new", "fn f() {}")];
    assert_eq!(complaints(sources(&gone)).len(), 2);
}

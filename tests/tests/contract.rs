//! The contract: it is complete, and a frozen version of it cannot change unnoticed.

use std::path::{Path, PathBuf};

use toolgate_tests::root;
use wit_parser::{Resolve, WorldId};

/// Reads a contract's folder, or one file of it.
fn world(path: &Path, world: &str) -> (Resolve, WorldId) {
    let mut resolve = Resolve::default();
    let (package, _) = resolve.push_path(path).expect("the contract parses");
    let id = resolve.select_world(&[package], Some(world)).expect("the world is there");
    (resolve, id)
}

/// Whether guests of `old` keep working on a host of `new`.
fn compatible(old: &Path, new: &Path, name: &str) -> Result<(), String> {
    let (mut resolve, old) = world(old, name);
    let (newer, new) = world(new, name);
    let remap = resolve.merge(newer).map_err(|error| error.to_string())?;
    let new = remap.map_world(new, Default::default()).map_err(|error| error.to_string())?;
    wit_component::semver_check(resolve, old, new).map_err(|error| format!("{error:#}"))
}

fn contracts() -> Vec<PathBuf> {
    let folders = std::fs::read_dir(root().join("wit")).expect("the folder of contracts");
    folders.map(|folder| folder.expect("a folder").path()).collect()
}

const WORLDS: &[&str] = &["gate", "permission", "observer", "mirror", "tracker", "predicate", "plugin"];

#[test]
fn every_world_is_there_and_every_item_is_documented() {
    for folder in contracts() {
        for name in WORLDS {
            world(&folder, name);
        }
        let (resolve, _) = world(&folder, "plugin");
        let undocumented: Vec<&str> = resolve
            .interfaces
            .iter()
            .filter(|(_, interface)| interface.docs.contents.is_none())
            .filter_map(|(_, interface)| interface.name.as_deref())
            .collect();
        assert_eq!(undocumented, [""; 0], "{}", folder.display());
    }
}

/// No shape that generators for other languages lack.
#[test]
fn the_shapes_are_those_that_every_language_has() {
    for file in contracts().iter().flat_map(|folder| std::fs::read_dir(folder).expect("a folder")) {
        let file = file.expect("a file").path();
        let text = std::fs::read_to_string(&file).expect("text");
        let code: String =
            text.lines().map(|line| line.split("//").next().unwrap_or("")).collect::<Vec<_>>().join("\n");
        for word in ["async", "stream<", "future<", "map<", "resource ", "borrow<", "own<"] {
            assert!(!code.contains(word), "{}: {word}", file.display());
        }
    }
}

/// A frozen folder holds a file `frozen` with the digest of its contract; an open one holds none.
#[test]
fn a_frozen_contract_is_as_it_was() {
    for folder in contracts() {
        let Ok(frozen) = std::fs::read_to_string(folder.join("frozen")) else { continue };
        assert_eq!(frozen.trim(), digest(&folder), "{} is frozen: put changes into the next folder", folder.display());
    }
}

/// Of two versions that a host serves with one set of bindings, the later must take the guests of the earlier.
#[test]
fn a_later_version_in_the_same_range_takes_the_guests_of_the_earlier() {
    let mut versions: Vec<_> = contracts().into_iter().map(|folder| (version(&folder), folder)).collect();
    versions.sort();
    for pair in versions.windows(2) {
        let [(old, old_folder), (new, new_folder)] = pair else { continue };
        if (old.0, old.1) == (new.0, new.1) {
            for name in WORLDS {
                assert_eq!(compatible(old_folder, new_folder, name), Ok(()), "{name}: {old:?} to {new:?}");
            }
        }
    }
}

fn version(folder: &Path) -> (u64, u64, u64) {
    let (resolve, world) = world(folder, "plugin");
    let package = resolve.worlds[world].package.expect("worlds are in a package");
    let version = resolve.packages[package].name.version.clone().expect("the package has a version");
    (version.major, version.minor, version.patch)
}

fn digest(folder: &Path) -> String {
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(folder).expect("a folder").map(|file| file.expect("a file").path()).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "wit"));
    files.sort();
    let all: Vec<u8> = files.iter().flat_map(|file| std::fs::read(file).expect("readable")).collect();
    toolgate_host::Measure::of(&all).sha256
}

/// The check itself, on changes made up for it.
#[test]
fn the_check_tells_a_harmless_change_from_a_breaking_one() {
    let base = "
        package made:up@0.1.0;
        interface cap { record r { a: u32 } look: func(r: r) -> string; }
        interface hook { use cap.{r}; judge: func(r: r) -> bool; }
        world plugin { import cap; export hook; }";
    let cases = [
        ("nothing", base.to_owned(), true),
        ("a comment", base.replace("interface cap", "/// Said.\n interface cap"), true),
        ("another function of an import", base.replace("look:", "see: func() -> u32; look:"), true),
        (
            "another import",
            base.replace("world plugin {", "interface more { f: func(); } world plugin { import more;"),
            true,
        ),
        ("a record field", base.replace("a: u32", "a: u32, b: u32"), false),
        ("another result", base.replace("-> bool", "-> string"), false),
        ("another function of an export", base.replace("judge:", "warn: func(); judge:"), false),
        ("a lost import", base.replace("import cap;", ""), true),
        ("a lost function", base.replace("look: func(r: r) -> string;", ""), false),
    ];
    let folder = tempfile::tempdir().expect("a scratch folder");
    let old = folder.path().join("old.wit");
    std::fs::write(&old, base).expect("written");
    for (name, text, harmless) in cases {
        let new = folder.path().join("new.wit");
        std::fs::write(&new, text.replace("0.1.0", "0.1.1")).expect("written");
        let outcome = compatible(&old, &new, "plugin");
        assert_eq!(outcome.is_ok(), harmless, "{name}: {outcome:?}");
    }
}

//! The contract: it is complete, and a frozen version of it cannot change unnoticed.

use std::path::{Path, PathBuf};

use toolgate_tests::root;
use wit_parser::{Docs, Resolve, Stability, Type, TypeDefKind, TypeId, WorldId, WorldItem};

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
    let folders = folders.map(|folder| folder.expect("a folder").path());
    // Others are packages of their own.
    let is_version = |path: &PathBuf| path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"v"));
    folders.filter(is_version).collect()
}

const WORLDS: &[&str] = &["gate", "permission", "observer", "mirror", "tracker", "predicate", "plugin"];

#[test]
fn every_world_is_there_and_every_item_is_documented() {
    for folder in contracts() {
        for name in WORLDS {
            world(&folder, name);
        }
        let (resolve, _) = world(&folder, "plugin");
        assert_eq!(undocumented(&resolve), [""; 0], "{}", folder.display());
    }
}

#[test]
fn the_package_of_changes_is_documented() {
    let (resolve, _) = world(&root().join("wit/changes"), "undoable");
    assert_eq!(undocumented(&resolve), [""; 0]);
}

/// The check itself, on a contract in which nothing is documented, and on one in which everything is.
#[test]
fn the_check_finds_every_kind_of_undocumented_item() {
    let cases = [
        (
            "
            package made:up@0.1.0;
            interface cap {
                record r { a: u32 }
                enum e { b }
                variant v { c(u32) }
                flags f { d }
                type t = r;
                g: func();
            }
            interface hook { use cap.{r}; h: func(r: r); }
            world plugin { import cap; export hook; export run: func(); }",
            "cap cap.e cap.e.b cap.f cap.f.d cap.g cap.r cap.r.a cap.t cap.v cap.v.c hook hook.h plugin plugin.run",
        ),
        (
            "
            package made:up@0.1.0;
            /// Said.
            interface cap {
                /// Said.
                record r {
                    /// Said.
                    a: u32
                }
            }
            /// Said.
            world plugin { import cap; use cap.{r}; }",
            "",
        ),
    ];
    let folder = tempfile::tempdir().expect("a scratch folder");
    let file = folder.path().join("made-up.wit");
    for (text, expected) in cases {
        std::fs::write(&file, text).expect("written");
        let (resolve, _) = world(&file, "plugin");
        assert_eq!(undocumented(&resolve).join(" "), expected);
    }
}

/// The items of a contract that nothing is said about, sorted: worlds, interfaces, functions, types and their parts.
fn undocumented(resolve: &Resolve) -> Vec<String> {
    let mut items: Vec<(String, &Docs)> = Vec::new();
    for (_, world) in resolve.worlds.iter() {
        items.push((world.name.clone(), &world.docs));
        for item in world.imports.values().chain(world.exports.values()) {
            match item {
                WorldItem::Function(function) => {
                    items.push((format!("{}.{}", world.name, function.name), &function.docs));
                }
                WorldItem::Type { id, .. } => items.extend(type_items(resolve, &world.name, *id)),
                // Those inside a world are in the list of interfaces too.
                WorldItem::Interface { .. } => {}
            }
        }
    }
    for (_, interface) in resolve.interfaces.iter() {
        let name = interface.name.as_deref().unwrap_or("(inside a world)");
        items.push((name.to_owned(), &interface.docs));
        for function in interface.functions.values() {
            items.push((format!("{name}.{}", function.name), &function.docs));
        }
        for id in interface.types.values() {
            items.extend(type_items(resolve, name, *id));
        }
    }
    let silent = |docs: &Docs| docs.contents.as_deref().unwrap_or_default().trim().is_empty();
    let mut names: Vec<String> = items.into_iter().filter(|(_, docs)| silent(docs)).map(|(name, _)| name).collect();
    names.sort();
    names
}

/// A type and its fields, cases or flags.
fn type_items<'a>(resolve: &'a Resolve, owner: &str, id: TypeId) -> Vec<(String, &'a Docs)> {
    let definition = &resolve.types[id];
    // What `use` brings in is documented where it comes from.
    if matches!(definition.kind, TypeDefKind::Type(Type::Id(of)) if resolve.types[of].owner != definition.owner) {
        return Vec::new();
    }
    let name = format!("{owner}.{}", definition.name.as_deref().unwrap_or_default());
    let parts: Vec<(&str, &Docs)> = match &definition.kind {
        TypeDefKind::Record(record) => record.fields.iter().map(|part| (part.name.as_str(), &part.docs)).collect(),
        TypeDefKind::Enum(choice) => choice.cases.iter().map(|part| (part.name.as_str(), &part.docs)).collect(),
        TypeDefKind::Variant(variant) => variant.cases.iter().map(|part| (part.name.as_str(), &part.docs)).collect(),
        TypeDefKind::Flags(flags) => flags.flags.iter().map(|part| (part.name.as_str(), &part.docs)).collect(),
        _ => Vec::new(),
    };
    let mut items: Vec<(String, &Docs)> =
        parts.into_iter().map(|(part, docs)| (format!("{name}.{part}"), docs)).collect();
    items.push((name, &definition.docs));
    items
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

/// A frozen folder holds a file `frozen` with the digest of its contract; an open one holds none. Wording may be mended.
#[test]
fn a_frozen_contract_is_as_it_was() {
    for folder in contracts() {
        let Ok(frozen) = std::fs::read_to_string(folder.join("frozen")) else { continue };
        let now = digest(&world(&folder, "plugin").0);
        assert_eq!(
            frozen.trim(),
            now,
            "{} is frozen, and something but its comments was changed: put the change into the next version, in a folder \
             beside it",
            folder.display()
        );
    }
}

/// Crates that are made of the contract bring it, so that they can be published: a link, which `cargo package` follows.
#[test]
fn crates_bring_the_contract() {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let contract = root().join("wit").canonicalize().expect("the folder of contracts");
    for (name, folder) in
        [("toolgate", "host/cli/wit"), ("toolgate-host", "host/wit"), ("toolgate-sdk", "guest/sdk/wit")]
    {
        assert_eq!(root().join(folder).canonicalize().ok().as_ref(), Some(&contract), "{folder} leads elsewhere");
        let mut command = std::process::Command::new(&cargo);
        command.args(["package", "--list", "--allow-dirty", "--locked", "--offline", "--package", name]);
        let output = command.current_dir(root()).output().expect("cargo");
        let listed = String::from_utf8_lossy(&output.stdout).into_owned();
        for file in ["types", "capabilities", "hooks", "worlds"] {
            let file = format!("wit/v0.1/{file}.wit");
            assert!(listed.lines().any(|line| line == file), "{name} has no {file}: {listed}");
        }
    }
}

/// The first version is not open any more.
#[test]
fn version_0_1_is_frozen() {
    assert!(root().join("wit/v0.1/frozen").is_file());
}

/// The check itself: comments and where things stand in a file do not count, everything else does.
#[test]
fn the_digest_is_of_the_shapes() {
    let base = "
        package made:up@0.1.0;
        interface cap { record r { a: u32, b: u32 } look: func(r: r) -> string; see: func(); }
        world plugin { import cap; }";
    let cases = [
        ("a comment", base.replace("interface cap", "/// Said.\n // And more. \n interface cap"), true),
        ("since when", base.replace("interface cap", "@since(version = 0.1.0) interface cap"), true),
        ("room", base.replace(';', " ;\n\n"), true),
        ("the version", base.replace("0.1.0", "0.1.1"), false),
        ("a name", base.replace("look", "view"), false),
        ("a parameter's name", base.replace("(r: r)", "(s: r)"), false),
        ("a field", base.replace("b: u32", "b: u32, c: u32"), false),
        ("the order of fields", base.replace("a: u32, b: u32", "b: u32, a: u32"), false),
        ("a result", base.replace("-> string", "-> u32"), false),
        ("a function", base.replace("see: func();", ""), false),
        ("a world", base.replace("import cap;", ""), false),
    ];
    let folder = tempfile::tempdir().expect("a scratch folder");
    let file = folder.path().join("made-up.wit");
    let digest_of = |text: &str| {
        std::fs::write(&file, text).expect("written");
        digest(&world(&file, "plugin").0)
    };
    let was = digest_of(base);
    for (name, text, same) in cases {
        assert_eq!(digest_of(&text) == was, same, "{name}");
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

/// The sha256 of a contract as `wit-component` prints it, without comments and without since when what is there.
fn digest(resolve: &Resolve) -> String {
    let resolve = &ungated(resolve.clone());
    let mut printer = wit_component::WitPrinter::default();
    printer.emit_docs(false);
    for (package, _) in resolve.packages.iter() {
        printer.print(resolve, package, &[]).expect("it can be printed");
    }
    toolgate_host::Digest::of(printer.output.to_string().as_bytes()).sha256
}

/// The same without `@since`: the shapes are what is frozen.
fn ungated(mut resolve: Resolve) -> Resolve {
    for (_, world) in resolve.worlds.iter_mut() {
        world.stability = Stability::Unknown;
        for item in world.imports.values_mut().chain(world.exports.values_mut()) {
            match item {
                WorldItem::Interface { stability, .. } => *stability = Stability::Unknown,
                WorldItem::Function(function) => function.stability = Stability::Unknown,
                WorldItem::Type { .. } => {}
            }
        }
    }
    for (_, interface) in resolve.interfaces.iter_mut() {
        interface.stability = Stability::Unknown;
        interface.functions.values_mut().for_each(|function| function.stability = Stability::Unknown);
    }
    resolve.types.iter_mut().for_each(|(_, definition)| definition.stability = Stability::Unknown);
    resolve
}

/// Every item says since when it is there, and none is from a version that is still to come.
#[test]
fn every_item_says_since_when_it_is_there() {
    for folder in contracts() {
        let (resolve, _) = world(&folder, "plugin");
        let package = version(&folder);
        let mut items: Vec<(String, &Stability)> =
            resolve.worlds.iter().map(|(_, world)| (world.name.clone(), &world.stability)).collect();
        for (_, interface) in resolve.interfaces.iter() {
            let name = interface.name.as_deref().unwrap_or_default();
            items.push((name.to_owned(), &interface.stability));
            items.extend(interface.functions.values().map(|one| (format!("{name}.{}", one.name), &one.stability)));
            // What `use` brings in says so where it comes from.
            let own = interface.types.iter().map(|(name, id)| (name, &resolve.types[*id]));
            let own = own.filter(|(_, one)| !matches!(one.kind, TypeDefKind::Type(Type::Id(_))));
            items.extend(own.map(|(of, one)| (format!("{name}.{of}"), &one.stability)));
        }
        assert!(items.len() > 80, "{}", items.len());
        for (name, stability) in items {
            let Stability::Stable { since, deprecated: None } = stability else { panic!("{name}: {stability:?}") };
            assert!((since.major, since.minor, since.patch) <= package, "{name} is since {since}");
        }
    }
}

/// The check itself, on changes made up for it.
#[test]
fn the_check_tells_a_harmless_change_from_a_breaking_one() {
    let base = "
        package made:up@0.1.0;
        interface cap { record r { a: u32 } look: func(r: r) -> string; }
        interface hook { use cap.{r}; judge: func(r: r) -> bool; }
        interface extra { g: func(); }
        world plugin { import cap; import extra; export hook; }";
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
        // A guest of the old world may call it.
        ("a lost import", base.replace("import extra;", ""), false),
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

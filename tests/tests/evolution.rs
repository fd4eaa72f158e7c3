//! How the contract may grow: what an old component and a new one make of each other's hosts.
//!
//! The next versions are made here, from the frozen one: an additive one (0.1.1) with another function in an interface that
//! components import and with another capability, and a breaking one (0.2.0). Components for them are made without a
//! compiler: they are real ones, but all of their functions trap.

use toolgate_host::{Engine, LoadError, Plugin};
use toolgate_tests::{component, root};
use wasmtime::Store;
use wasmtime::component::types::{ComponentFunc, ComponentItem, Type};
use wasmtime::component::{Component, Instance, Linker, Val};
use wit_component::{ComponentEncoder, StringEncoding, dummy_module, embed_component_metadata};
use wit_parser::{ManglingAndAbi, Resolve, WorldId};

/// The frozen contract as one text.
fn frozen() -> String {
    let files = ["types", "capabilities", "hooks", "worlds"];
    let read = |name: &str| std::fs::read_to_string(root().join(format!("wit/v0.1/{name}.wit"))).expect("the contract");
    files.map(read).join("\n")
}

/// What this contract would be in another version.
fn version(contract: &str, version: &str) -> String {
    let renamed =
        contract.replacen("package toolgate:plugin@0.1.0;", &format!("package toolgate:plugin@{version};"), 1);
    assert_ne!(renamed, contract, "the version is named");
    renamed
}

/// The same with more in it: a function in `clock`, a capability, and a world that asks for both.
fn grown() -> String {
    let more = frozen().replacen("interface clock {", "interface clock {\n    zone: func() -> string;\n", 1);
    assert_ne!(more, frozen(), "the interface is there");
    format!(
        "{more}
        interface weather {{ outside: func() -> string; }}
        world function {{ import clock; export lifecycle; export tool-gate; }}
        world capability {{ import weather; export lifecycle; export tool-gate; }}
        world same {{ import log; import files; export lifecycle; export tool-gate; }}
        "
    )
}

fn world(contract: &str, name: &str) -> (Resolve, WorldId) {
    let mut resolve = Resolve::default();
    let package = resolve.push_str("contract.wit", contract).expect("the contract parses");
    let world = resolve.select_world(&[package], Some(name)).expect("the world is there");
    (resolve, world)
}

/// A component of a world, in which every function traps. It uses everything that the world imports.
fn traps(contract: &str, name: &str) -> Vec<u8> {
    let (resolve, world) = world(contract, name);
    encoded(&resolve, world, dummy_module(&resolve, world, ManglingAndAbi::Standard32))
}

fn encoded(resolve: &Resolve, world: WorldId, mut module: Vec<u8>) -> Vec<u8> {
    embed_component_metadata(&mut module, resolve, world, StringEncoding::UTF8).expect("types");
    let mut encoder = ComponentEncoder::default();
    encoder.validate(true).module(&module).expect("a module with types");
    encoder.encode().expect("a component")
}

/// Another version's number in the names of a module; both are of one length.
fn renamed(module: &[u8], from: &str, to: &str) -> Vec<u8> {
    assert_eq!(from.len(), to.len());
    let mut renamed = module.to_vec();
    let mut at = 0;
    while let Some(found) = renamed[at..].windows(from.len()).position(|part| part == from.as_bytes()) {
        renamed[at + found..at + found + from.len()].copy_from_slice(to.as_bytes());
        at += found + from.len();
    }
    assert_ne!(renamed, module, "it names the version");
    renamed
}

fn loaded(component: &[u8]) -> Result<Plugin, LoadError> {
    Plugin::compile(&Engine::new().expect("an engine"), "made-up", component)
}

#[test]
fn a_component_of_a_later_version_that_uses_nothing_new_works_here() {
    assert!(loaded(&traps(&frozen(), "gate")).is_ok(), "one of this version does");
    let later = version(&grown(), "0.1.1");
    assert!(loaded(&traps(&later, "same")).is_ok(), "nothing new is imported");
    // It imports the interface that has grown, and only the functions that were there before.
    let (old, gate) = world(&frozen(), "gate");
    let module = dummy_module(&old, gate, ManglingAndAbi::Legacy(wit_parser::LiftLowerAbi::Sync));
    let (new, gate) = world(&later, "gate");
    let component = encoded(&new, gate, renamed(&module, "@0.1.0", "@0.1.1"));
    let plugin = loaded(&component).expect("it loads");
    assert!(plugin.description().imports.iter().any(|import| import.name == "toolgate:plugin/clock@0.1.1"));
    assert!(plugin.has_gate());
}

#[test]
fn a_component_that_uses_what_is_not_here_yet_says_which_version_it_needs() {
    let cases = [
        ("0.1.1", "function", "zone"),
        ("0.1.1", "capability", "weather"),
        ("0.1.12", "capability", "weather"),
        ("0.2.0", "gate", "toolgate:plugin/"),
        ("1.0.0", "gate", "toolgate:plugin/"),
    ];
    for (needed, name, about) in cases {
        let outcome = loaded(&traps(&version(&grown(), needed), name));
        let Err(error) = outcome else { panic!("{needed} {name} loads") };
        let text = error.to_string();
        assert!(matches!(&error, LoadError::Newer { needs, has, .. } if needs == needed && has == "0.1.0"), "{text}");
        let start =
            format!("made-up needs version {needed} of the contract toolgate:plugin, and this Toolgate has 0.1.0");
        assert!(text.starts_with(&start), "{text}");
        assert!(text.contains(about) && !text.contains('\n'), "the reason is in it: {text}");
    }
}

#[test]
fn a_component_of_this_version_in_another_shape_is_not_taken_for_a_later_one() {
    let other = frozen().replacen("record file-stat {", "record file-stat { more: u32,", 1);
    let error = loaded(&traps(&other, "gate")).expect_err("its shape is another");
    assert!(matches!(error, LoadError::Contract { .. }), "{error}");
}

/// A host of any version, made of its contract alone: every capability answers that it is denied, and traps where it
/// cannot say so.
fn host_of(engine: &wasmtime::Engine, contract: &str) -> Linker<()> {
    let everything = Component::from_binary(engine, &traps(contract, "plugin")).expect("a component");
    let mut linker = Linker::new(engine);
    for (interface, item) in everything.component_type().imports(engine) {
        let ComponentItem::ComponentInstance(instance) = item.ty else { continue };
        let mut to = linker.instance(interface).expect("an instance");
        for (name, item) in instance.exports(engine) {
            let ComponentItem::ComponentFunc(function) = item.ty else { continue };
            to.func_new(name, move |_, function: ComponentFunc, _, results| denied(&function, results))
                .expect("a function");
            drop(function);
        }
    }
    linker
}

fn denied(function: &ComponentFunc, results: &mut [Val]) -> wasmtime::Result<()> {
    for (result, ty) in results.iter_mut().zip(function.results()) {
        let Type::Result(_) = ty else { return Err(wasmtime::Error::msg("it cannot be denied")) };
        let text = Val::String("not granted to this component".to_owned());
        *result = Val::Result(Err(Some(Box::new(Val::Variant("denied".to_owned(), Some(Box::new(text)))))));
    }
    Ok(())
}

fn text(value: &str) -> Val {
    Val::String(value.to_owned())
}

fn record(fields: Vec<(&str, Val)>) -> Val {
    Val::Record(fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
}

/// Calls a hook by the name that a host of some version has for it.
async fn call(store: &mut Store<()>, instance: &Instance, hook: [&str; 2], argument: Val) -> Val {
    let interface = instance.get_export_index(&mut *store, None, hook[0]).expect("the hook's interface");
    let function = instance.get_export_index(&mut *store, Some(&interface), hook[1]).expect("the hook");
    let function = instance.get_func(&mut *store, function).expect("a function");
    let mut results = [Val::Bool(false)];
    function.call_async(&mut *store, &[argument], &mut results).await.expect("it answers");
    let [answer] = results;
    answer
}

/// What the component that ships says of a command on a host of this version.
async fn judged(linker: &Linker<()>, component: &Component, version: &str, command: &str) -> String {
    let mut store = Store::new(linker.engine(), ());
    let instance = linker.instantiate_async(&mut store, component).await.expect("it is linked");
    let session = record(vec![
        ("role", text("gate")),
        ("cwd", text("/project")),
        ("home", Val::Option(None)),
        ("workspace-root", text("/project")),
        ("context", text(r#"{"schema":1}"#)),
    ]);
    let start = format!("toolgate:plugin/lifecycle@{version}");
    let started = call(&mut store, &instance, [&start, "start"], session).await;
    assert!(matches!(started, Val::Result(Ok(_))), "{started:?}");
    let command = record(vec![("name", text("command")), ("value", text(command))]);
    let tool_call = record(vec![
        ("id", text("")),
        ("tool", text("bash")),
        ("kind", Val::Enum("shell".to_owned())),
        ("command", Val::Option(Some(Box::new(command)))),
        ("paths", Val::List(Vec::new())),
        ("globs", Val::List(Vec::new())),
        ("cwd", text("/project")),
        ("home", Val::Option(None)),
        ("workspace-root", text("/project")),
        ("input", text("{}")),
        ("context", text(r#"{"schema":1}"#)),
    ]);
    let gate = format!("toolgate:plugin/tool-gate@{version}");
    let verdict = call(&mut store, &instance, [&gate, "judge"], tool_call).await;
    let Val::Record(fields) = verdict else { panic!("{verdict:?}") };
    match fields.into_iter().find(|(name, _)| name == "decision") {
        Some((_, Val::Variant(decision, _))) => decision,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn the_component_that_ships_works_on_a_host_of_the_next_version() {
    let engine = wasmtime::Engine::default();
    let shipped = Component::from_binary(&engine, &component()).expect("the component compiles");
    for next in ["0.1.0", "0.1.1"] {
        let contract = if next == "0.1.0" { frozen() } else { version(&grown(), next) };
        let linker = host_of(&engine, &contract);
        for (command, decision) in [("ls", "pass"), ("rm -rf /", "block")] {
            assert_eq!(judged(&linker, &shipped, next, command).await, decision, "{command} on {next}");
        }
    }
    let breaking = host_of(&engine, &version(&grown(), "0.2.0"));
    let error = breaking.instantiate_pre(&shipped).err().expect("a breaking version does not take it");
    assert!(format!("{error:#}").contains("toolgate:plugin/"), "{error:#}");
}

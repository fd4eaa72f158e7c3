//! What a cold start asks of a component, and capabilities that answer it with nothing.

use std::collections::HashSet;

use wasmtime::component::types::ComponentItem;
use wasmtime::component::wasm_wave::untyped::UntypedFuncCall;
use wasmtime::component::wasm_wave::wasm::WasmFunc;
use wasmtime::component::{Component, ComponentExportIndex, Linker, Type, Val};
use wasmtime::{bail, format_err};
use wit_component::DecodedWasm;
use wit_parser::WorldItem;

/// A function that a component may export, and what it is told, as WAVE text.
pub(crate) struct Call {
    interface: &'static str,
    function: &'static str,
    arguments: &'static str,
}

/// The calls of a cold start.
pub(crate) const CALLS: &[Call] = &[
    Call {
        interface: "lifecycle",
        function: "start",
        arguments: r#"{role: "gate", cwd: "/home/user/project", home: some("/home/user"),
            workspace-root: "/home/user/project",
            context: "{\"schema\":1,\"agent\":\"claude\",\"own\":[\"/home/user/.config/toolgate\",\"/home/user/toolgate\"]}"}"#,
    },
    Call {
        interface: "tool-gate",
        function: "judge",
        arguments: r#"{id: "a", tool: "Bash", kind: shell, command: some({name: "command",
            value: "cargo test 2>&1 | tail -n 20"}), paths: [], globs: [], cwd: "/home/user/project", home: some("/home/user"),
            workspace-root: "/home/user/project", input: "{\"command\":\"cargo test 2>&1 | tail -n 20\"}",
            context: "{\"schema\":1,\"agent\":\"claude\"}"}"#,
    },
    Call { interface: "session-memory", function: "after", arguments: "" },
];

impl Call {
    /// As the snapshot tool reads it.
    pub(crate) fn text(&self) -> String {
        let Call { interface, function, arguments } = self;
        format!("toolgate:plugin/{interface}.{function}@0.1.0({arguments})")
    }

    /// Whether a component has that function.
    pub(crate) fn is_offered(&self, by: &Offers) -> bool {
        by.0.contains(&(self.interface.to_owned(), self.function.to_owned()))
    }
}

/// The functions of the interfaces that a component exports.
pub(crate) struct Offers(HashSet<(String, String)>);

impl Offers {
    pub(crate) fn of(component: &[u8]) -> Result<Self, String> {
        let (resolve, world) = match wit_component::decode(component).map_err(|error| format!("{error:#}"))? {
            DecodedWasm::Component(resolve, world) => (resolve, world),
            DecodedWasm::WitPackage(..) => return Err("it is not a component".to_owned()),
        };
        let mut offers = HashSet::new();
        for export in resolve.worlds[world].exports.values() {
            if let WorldItem::Interface { id, .. } = export {
                let interface = &resolve.interfaces[*id];
                let name = interface.name.clone().unwrap_or_default();
                offers.extend(interface.functions.keys().map(|function| (name.clone(), function.clone())));
            }
        }
        Ok(Offers(offers))
    }
}

/// The function of a call that is written like [`Call::text`], and its arguments. Without parentheses it takes nothing.
pub(crate) fn parsed(call: &str, component: &Component) -> wasmtime::Result<(ComponentExportIndex, Vec<Val>)> {
    let call = if call.contains('(') { call.to_owned() } else { format!("{call}()") };
    let parsed = UntypedFuncCall::parse(&call)?;
    let name = parsed.item_name().map_err(wasmtime::Error::from_anyhow)?;
    let (item, function) = component.get_export(None, name).ok_or_else(|| format_err!("no export for {call}"))?;
    let ComponentItem::ComponentFunc(shape) = item else { bail!("the export of {call} is not a function") };
    let arguments = parsed.to_wasm_params(&WasmFunc::params(&shape).collect::<Vec<_>>())?;
    Ok((function, arguments))
}

/// Defines each function that a component imports as one that succeeds and found nothing.
pub(crate) fn answer_nothing(linker: &mut Linker<()>, component: &Component) -> wasmtime::Result<()> {
    let engine = linker.engine().clone();
    for (name, import) in component.component_type().imports(&engine) {
        let ComponentItem::ComponentInstance(import) = import.ty else { bail!("{name} is not an instance") };
        let mut instance = linker.instance(name)?;
        for (function, item) in import.exports(&engine) {
            if let ComponentItem::ComponentFunc(_) = item.ty {
                instance.func_new(function, |_, shape, _, results| {
                    for (result, of) in results.iter_mut().zip(shape.results()) {
                        *result = nothing(&of)?;
                    }
                    Ok(())
                })?;
            }
        }
    }
    Ok(())
}

/// The least that there is of a type.
fn nothing(of: &Type) -> wasmtime::Result<Val> {
    let some = |of: Option<Type>| of.as_ref().map(|of| nothing(of).map(Box::new)).transpose();
    Ok(match of {
        Type::Bool => Val::Bool(false),
        Type::S8 => Val::S8(0),
        Type::U8 => Val::U8(0),
        Type::S16 => Val::S16(0),
        Type::U16 => Val::U16(0),
        Type::S32 => Val::S32(0),
        Type::U32 => Val::U32(0),
        Type::S64 => Val::S64(0),
        Type::U64 => Val::U64(0),
        Type::Float32 => Val::Float32(0.0),
        Type::Float64 => Val::Float64(0.0),
        Type::Char => Val::Char('\0'),
        // Texts of the contract that are not lists of something are JSON.
        Type::String => Val::String(r#"{"schema":1}"#.to_owned()),
        Type::List(_) => Val::List(Vec::new()),
        Type::Record(record) => {
            let fields = record.fields().map(|field| Ok((field.name.to_owned(), nothing(&field.ty)?)));
            Val::Record(fields.collect::<wasmtime::Result<_>>()?)
        }
        Type::Tuple(tuple) => Val::Tuple(tuple.types().map(|of| nothing(&of)).collect::<wasmtime::Result<_>>()?),
        Type::Variant(variant) => {
            let first = variant.cases().next().ok_or_else(|| format_err!("a variant without cases"))?;
            Val::Variant(first.name.to_owned(), some(first.ty)?)
        }
        Type::Enum(names) => Val::Enum(names.names().next().unwrap_or_default().to_owned()),
        Type::Option(_) => Val::Option(None),
        Type::Result(result) => Val::Result(Ok(some(result.ok())?)),
        Type::Flags(_) => Val::Flags(Vec::new()),
        other => bail!("there is no empty {other:?}"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a function of a component returns that returns what an import of this type answered.
    fn answered(of: &str) -> wasmtime::Result<u32> {
        let text = format!(
            r#"(component
                (import "toolgate:plugin/files@0.1.0" (instance $files (export "ask" (func (result {of})))))
                (core func $ask (canon lower (func $files "ask")))
                (core module $main
                    (import "files" "ask" (func $ask (result i32)))
                    (func (export "run") (result i32) (call $ask)))
                (core instance $main (instantiate $main (with "files" (instance (export "ask" (func $ask))))))
                (func (export "run") (result u32) (canon lift (core func $main "run"))))"#
        );
        let engine = wasmtime::Engine::default();
        let component = Component::new(&engine, wat::parse_str(text).expect("a component"))?;
        let mut store = wasmtime::Store::new(&engine, ());
        let mut linker = Linker::new(&engine);
        answer_nothing(&mut linker, &component)?;
        let instance = linker.instantiate(&mut store, &component)?;
        Ok(instance.get_typed_func::<(), (u32,)>(&mut store, "run")?.call(&mut store, ())?.0)
    }

    #[test]
    fn calls_are_those_of_the_contract() {
        let mut resolve = wit_parser::Resolve::new();
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../wit/v0.1");
        resolve.push_dir(folder).expect("the contract");
        for Call { interface, function, .. } in CALLS {
            let found = resolve.interfaces.iter().find(|(_, one)| one.name.as_deref() == Some(interface));
            let (_, found) = found.unwrap_or_else(|| panic!("{interface}"));
            assert!(found.functions.contains_key(*function), "{interface}.{function}");
        }
    }

    #[test]
    fn what_is_imported_answers_nothing() {
        for of in ["bool", "u8", "s32", "char", "(result)"] {
            assert_eq!(answered(of).expect(of), 0, "{of}");
        }
    }
}

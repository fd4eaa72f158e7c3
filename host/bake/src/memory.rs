//! The memory that a component starts with, apart from its code.
//!
//! A module's data is copied into each instance's memory, or into a file of the kernel's that is mapped there. Data that lies
//! in a program's own file, page by page as the memory will have it, can be mapped from there and costs nothing until it is
//! touched. So it is taken out of the component that is compiled.

use wasm_encoder::reencode::{self, Error, Reencode, ReencodeComponent};
use wasm_encoder::{Component, ConstExpr, DataSection, GlobalSection, Instruction, MemorySection};
use wasmparser::{Data, DataKind, Global, MemorySectionReader, Operator, Parser};

/// Pages of the memory are mapped, so whole ones are written. No larger ones are in use where code runs in place.
const PAGE: usize = 4_096;

/// The memory of a component as it starts, but for zeros before and after.
#[derive(Debug, PartialEq, Eq)]
pub struct Memory {
    /// The address of its first byte, at the border of a page.
    pub start: usize,
    /// Whole pages.
    pub bytes: Vec<u8>,
}

/// Why the data cannot be taken out.
#[derive(Debug, thiserror::Error)]
pub enum Unfit {
    /// Data that is put somewhere else than at a known address of the first memory.
    #[error("data of the component has no known place")]
    Place,
    /// Two modules with data.
    #[error("two modules of the component have data")]
    Two,
    /// Data beyond what a memory can hold.
    #[error("the data lies beyond the end of a memory")]
    Beyond,
    /// State beside one memory and the pointer to its stack, which a host that takes a snapshot of the memory would not see.
    #[error("the component has state of its own beside one memory: {0}")]
    State(&'static str),
    /// Functions that cannot be counted and put in order: those of another component, or of a module without one small memory.
    #[error("the order is that of other functions, or the module has no memory of its own")]
    Order,
}

/// Takes the data out of the one module that has any. What is left has the same code and segments of no length. What ships is
/// made of one module, of which there is one instance.
pub(crate) fn taken(component: &[u8]) -> Result<(Vec<u8>, Memory), Error<Unfit>> {
    let mut taker = Taker { memory: None, memories: 0, globals: 0 };
    let mut rest = Component::new();
    taker.parse_component(&mut rest, Parser::new(0), component)?;
    let bytes = taker.memory.unwrap_or_default();
    let used = |byte: &u8| *byte != 0;
    let start = bytes.iter().position(used).unwrap_or_default() / PAGE * PAGE;
    let end = bytes.iter().rposition(used).map_or(start, |last| (last + 1).next_multiple_of(PAGE));
    let mut bytes = bytes.get(start..end.min(bytes.len())).unwrap_or_default().to_vec();
    bytes.resize(end - start, 0);
    Ok((rest.finish(), Memory { start, bytes }))
}

struct Taker {
    memory: Option<Vec<u8>>,
    memories: u32,
    /// Those that can change.
    globals: usize,
}

impl Reencode for Taker {
    type Error = Unfit;

    /// Names of functions are for people; a verdict does not show any, and their places are read whenever the code is loaded.
    fn parse_custom_section(
        &mut self,
        module: &mut wasm_encoder::Module,
        section: wasmparser::CustomSectionReader<'_>,
    ) -> Result<(), Error<Unfit>> {
        if section.name() == "name" {
            return Ok(());
        }
        reencode::utils::parse_custom_section(self, module, section)
    }

    fn parse_global(&mut self, globals: &mut GlobalSection, global: Global<'_>) -> Result<(), Error<Unfit>> {
        self.globals += usize::from(global.ty.mutable);
        if self.globals > 1 {
            return Err(Error::UserError(Unfit::State("more than one global that can change")));
        }
        reencode::utils::parse_global(self, globals, global)
    }

    fn parse_memory_section(
        &mut self,
        memories: &mut MemorySection,
        section: MemorySectionReader<'_>,
    ) -> Result<(), Error<Unfit>> {
        self.memories += section.count();
        if self.memories > 1 {
            return Err(Error::UserError(Unfit::State("a second memory")));
        }
        reencode::utils::parse_memory_section(self, memories, section)
    }

    fn instruction<'a>(&mut self, operator: Operator<'a>) -> Result<Instruction<'a>, Error<Unfit>> {
        match operator {
            Operator::TableSet { .. }
            | Operator::TableGrow { .. }
            | Operator::TableFill { .. }
            | Operator::TableCopy { .. }
            | Operator::TableInit { .. }
            | Operator::ElemDrop { .. } => Err(Error::UserError(Unfit::State("a table that can change"))),
            _ => reencode::utils::instruction(self, operator),
        }
    }

    fn parse_data_section(
        &mut self,
        data: &mut DataSection,
        section: wasmparser::DataSectionReader<'_>,
    ) -> Result<(), Error<Unfit>> {
        if section.count() > 0 && self.memory.replace(Vec::new()).is_some() {
            return Err(Error::UserError(Unfit::Two));
        }
        for datum in section {
            self.parse_data(data, datum?)?;
        }
        Ok(())
    }

    fn parse_data(&mut self, data: &mut DataSection, datum: Data<'_>) -> Result<(), Error<Unfit>> {
        let offset_expr = match datum.kind {
            DataKind::Active { memory_index: 0, offset_expr } => offset_expr,
            DataKind::Active { .. } => return Err(Error::UserError(Unfit::Place)),
            // What a snapshot leaves of the segments that it has replaced.
            DataKind::Passive if datum.data.is_empty() => {
                data.passive([]);
                return Ok(());
            }
            DataKind::Passive => return Err(Error::UserError(Unfit::State("data that it puts there later"))),
        };
        let mut operators = offset_expr.get_operators_reader();
        let (Operator::I32Const { value }, Operator::End) = (operators.read()?, operators.read()?) else {
            return Err(Error::UserError(Unfit::Place));
        };
        let start = value.cast_unsigned() as usize;
        let end = start.checked_add(datum.data.len()).filter(|end| *end <= 1 << 32);
        let end = end.ok_or(Error::UserError(Unfit::Beyond))?;
        let memory = self.memory.get_or_insert_default();
        if memory.len() < end {
            memory.resize(end, 0);
        }
        if let Some(place) = memory.get_mut(start..end) {
            place.copy_from_slice(datum.data);
        }
        // The number of segments stays, as instructions may name them.
        data.active(0, &ConstExpr::i32_const(0), []);
        Ok(())
    }
}

impl ReencodeComponent for Taker {}

#[cfg(test)]
mod tests {
    use super::*;

    fn memory(text: &str) -> Result<Memory, String> {
        let component = wat::parse_str(text).expect("a component");
        let (rest, memory) = taken(&component).map_err(|error| error.to_string())?;
        let (nothing, none) = taken(&rest).expect("what is left can be read");
        assert_eq!((nothing, none), (rest, Memory { start: 0, bytes: Vec::new() }), "no data is left");
        Ok(memory)
    }

    #[test]
    fn data_becomes_pages() {
        let module = |data: &str| format!("(component (core module (memory 3) {data}) (core module))");
        /// Where the memory begins, how long it is, and which bytes are not zero.
        type Pages<'a> = (usize, usize, &'a [(usize, u8)]);
        let cases: &[(&str, Result<Pages<'_>, &str>)] = &[
            ("", Ok((0, 0, &[]))),
            (r#"(data (i32.const 5) "a")"#, Ok((0, PAGE, &[(5, b'a')]))),
            (r#"(data (i32.const 8191) "ab")"#, Ok((PAGE, 2 * PAGE, &[(PAGE - 1, b'a'), (PAGE, b'b')]))),
            (r#"(data (i32.const 4096) "\00\00") (data (i32.const 9000) "a")"#, Ok((2 * PAGE, PAGE, &[(808, b'a')]))),
            // The later one holds, as when it is written at the start.
            (r#"(data (i32.const 0) "ab") (data (i32.const 1) "c")"#, Ok((0, PAGE, &[(0, b'a'), (1, b'c')]))),
            (r#"(data "a") (data (i32.const 1) "b")"#, Err("puts there later")),
            (r#"(data "") (data (i32.const 1) "b")"#, Ok((0, PAGE, &[(1, b'b')]))),
            (r#"(global $g i32 (i32.const 1)) (data (global.get $g) "a")"#, Err("no known place")),
            (
                r#"(global (mut i32) (i32.const 1)) (global i32 (i32.const 2)) (data (i32.const 5) "a")"#,
                Ok((0, PAGE, &[(5, b'a')])),
            ),
            ("(global (mut i32) (i32.const 1)) (global (mut i32) (i32.const 2))", Err("more than one global")),
            ("(table 1 funcref) (func (table.set (i32.const 0) (ref.null func)))", Err("a table that can change")),
            (
                "(table 1 funcref) (func (drop (table.grow (ref.null func) (i32.const 1))))",
                Err("a table that can change"),
            ),
            (r#"(memory $two 1) (data (memory $two) (i32.const 0) "a")"#, Err("a second memory")),
            (r#"(data (i32.const -1) "ab")"#, Err("beyond the end")),
        ];
        for (data, expected) in cases {
            match (memory(&module(data)), expected) {
                (Ok(found), Ok((start, length, bytes))) => {
                    assert_eq!((found.start, found.bytes.len()), (*start, *length), "{data}");
                    let used = found.bytes.iter().enumerate().filter(|(_, byte)| **byte != 0);
                    assert_eq!(used.map(|(at, byte)| (at, *byte)).collect::<Vec<_>>(), *bytes, "{data}");
                }
                (Err(error), Err(part)) => assert!(error.contains(part), "{data}: {error}"),
                (found, _) => panic!("{data}: {found:?}"),
            }
        }
        let two = r#"(component (core module (memory 1) (data (i32.const 0) "a"))
            (core module (import "" "" (memory 1)) (data (i32.const 0) "b")))"#;
        assert!(memory(two).expect_err("two").contains("two modules"));
        let two = "(component (core module (memory 1)) (core module (memory 1)))";
        assert!(memory(two).expect_err("two").contains("a second memory"));
    }
}

//! The order of a component's functions: those that its everyday work runs come first, in the order of their first use.
//!
//! Code is read from the program's file as it is run, some pages at a time. A verdict needs a small part of it, which a compiler
//! leaves all over the whole: functions lie in the order of the crates that they are from. In the order of their first use
//! all that the plainest call needs lies in one piece, and what only others need behind it.
//!
//! Calls of functions that do nothing are left out: the compiler of the guest has each allocation call one, which cannot be
//! inlined there, and each call of a function looks at the clock behind deadlines.
//!
//! What is run is found by running it: each function is made to note when it was entered first, in memory behind all else, and
//! the component is started, judges a call, and prepares itself once more.

use std::collections::HashSet;

use wasm_encoder::reencode::{self, Error, Reencode, ReencodeComponent};
use wasm_encoder::{BlockType, CodeSection, Component, FunctionSection, Instruction, MemArg, MemoryType};
use wasmparser::{CodeSectionReader, FunctionBody, FunctionSectionReader, Operator, Parser, Payload};

use crate::memory::{self, Unfit};

/// A page of WebAssembly.
const PAGE: u64 = 65_536;

/// A note, in bytes.
const NOTE: u64 = 4;

/// Which of the functions that the main module defines were entered, numbered from 1 in the order in which they were
/// entered first; 0 is never.
#[derive(Debug, PartialEq, Eq)]
pub struct Used(Vec<u32>);

impl Used {
    /// How many were, and how many there are.
    pub fn count(&self) -> (usize, usize) {
        (self.0.iter().filter(|used| **used > 0).count(), self.0.len())
    }

    /// As a package brings it.
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        self.0.iter().flat_map(|number| number.to_le_bytes()).collect()
    }

    /// Reads what [`Used::to_bytes`] made. That it is of another component shows when it is used.
    pub(crate) fn from_bytes(bytes: &[u8]) -> Self {
        Used(bytes.as_chunks::<4>().0.iter().map(|number| u32::from_le_bytes(*number)).collect())
    }
}

/// The component with notes in it. What it leaves in its memory is for [`notes`].
pub(crate) fn noting(component: &[u8]) -> Result<Vec<u8>, Error<Unfit>> {
    let mut noter = Noter { main: false, shape: Shape::default() };
    let mut noting = Component::new();
    noter.parse_component(&mut noting, Parser::new(0), component)?;
    Ok(noting.finish())
}

/// Reads what was noted by the component that [`noting`] made of this one, once it has run.
pub(crate) fn notes(component: &[u8], run: &[u8]) -> Result<Used, Error<Unfit>> {
    let shape = Shape::of_main(component)?;
    let (_, memory) = memory::taken(run)?;
    let note = |function: u32| {
        let place = usize::try_from(shape.note_of(function)).ok()?.checked_sub(memory.start)?;
        memory.bytes.get(place..)?.first_chunk().copied().map(u32::from_le_bytes)
    };
    // Behind the last that was entered there are only zeros, which are not written.
    Ok(Used((0..shape.functions).map(|function| note(function).unwrap_or_default()).collect()))
}

/// The component with its functions in the order of their use, and without calls of those that do nothing.
pub(crate) fn sorted(component: &[u8], used: &Used) -> Result<Vec<u8>, Error<Unfit>> {
    let shape = Shape::of_main(component)?;
    if shape.functions as usize != used.0.len() {
        return Err(Error::UserError(Unfit::Order));
    }
    let mut order: Vec<u32> = (0..shape.functions).collect();
    // What was never entered, 0, comes last.
    order.sort_by_key(|function| used.0.get(*function as usize).map(|number| number.wrapping_sub(1)));
    let mut places = vec![0; order.len()];
    for (place, index) in (0_u32..).zip(&order) {
        if let Some(found) = places.get_mut(*index as usize) {
            *found = place;
        }
    }
    let mut sorter = Sorter { main: false, imported: shape.imported, order, places, empty: HashSet::new() };
    let mut sorted = Component::new();
    sorter.parse_component(&mut sorted, Parser::new(0), component)?;
    Ok(sorted.finish())
}

/// What is to be known of a module.
#[derive(Clone, Copy, Debug, Default)]
struct Shape {
    /// How many functions it imports, and how many it has.
    imported: u32,
    functions: u32,
    /// The size of its own memory at the start, in WebAssembly's pages.
    pages: Option<u64>,
    data: bool,
}

impl Shape {
    fn of(module: &[u8]) -> Result<Self, Error<Unfit>> {
        let mut shape = Shape::default();
        for payload in Parser::new(0).parse_all(module) {
            match payload? {
                Payload::ImportSection(imports) => {
                    for import in imports.into_imports() {
                        shape.imported += u32::from(matches!(import?.ty, wasmparser::TypeRef::Func(_)));
                    }
                }
                Payload::FunctionSection(functions) => shape.functions = functions.count(),
                Payload::MemorySection(memories) => {
                    for memory in memories {
                        let memory = memory?;
                        if shape.pages.replace(memory.initial).is_some() || memory.memory64 {
                            return Err(Error::UserError(Unfit::Order));
                        }
                    }
                }
                Payload::DataSection(data) => shape.data = data.count() > 0,
                _ => {}
            }
        }
        // Notes behind a memory that is somebody else's would lie in what that one grows to.
        if shape.data && shape.pages.is_none() { Err(Error::UserError(Unfit::Order)) } else { Ok(shape) }
    }

    /// Of the one module with data, which is where the work is done; the others tie it to the component's border.
    fn of_main(component: &[u8]) -> Result<Self, Error<Unfit>> {
        let mut main = None;
        for payload in Parser::new(0).parse_all(component) {
            if let Payload::ModuleSection { unchecked_range, .. } = payload? {
                let range = usize::try_from(unchecked_range.start).ok().zip(usize::try_from(unchecked_range.end).ok());
                let module = range.and_then(|(start, end)| component.get(start..end)).unwrap_or_default();
                let shape = Shape::of(module)?;
                if shape.data && main.replace(shape).is_some() {
                    return Err(Error::UserError(Unfit::Two));
                }
            }
        }
        Ok(main.unwrap_or_default())
    }

    /// Where a function's note is, among those that the module defines.
    fn note_of(self, function: u32) -> u64 {
        self.last() + (1 + u64::from(function)) * NOTE
    }

    /// Where the number is that was noted last.
    fn last(self) -> u64 {
        self.pages.unwrap_or_default() * PAGE
    }
}

/// Has each function note when it is entered first.
struct Noter {
    /// Whether the module at hand is the main one.
    main: bool,
    shape: Shape,
}

impl Reencode for Noter {
    type Error = Unfit;

    fn memory_type(&mut self, memory: wasmparser::MemoryType) -> Result<MemoryType, Error<Unfit>> {
        let mut memory = reencode::utils::memory_type(self, memory);
        if self.main {
            let more = ((1 + u64::from(self.shape.functions)) * NOTE).div_ceil(PAGE);
            memory.minimum += more;
            memory.maximum = memory.maximum.map(|maximum| maximum + more);
        }
        Ok(memory)
    }

    fn parse_code_section(
        &mut self,
        code: &mut CodeSection,
        section: CodeSectionReader<'_>,
    ) -> Result<(), Error<Unfit>> {
        if !self.main {
            return reencode::utils::parse_code_section(self, code, section);
        }
        let here = MemArg { offset: 0, align: 2, memory_index: 0 };
        let address = |place: u64| u32::try_from(place).map_err(|_| Error::UserError(Unfit::Beyond));
        let last = Instruction::I32Const(address(self.shape.last())?.cast_signed());
        for (function, body) in (0..).zip(section) {
            let body = body?;
            let note = Instruction::I32Const(address(self.shape.note_of(function))?.cast_signed());
            let mut function = self.new_function_with_parsed_locals(&body)?;
            function
                .instruction(&note)
                .instruction(&Instruction::I32Load(here))
                .instruction(&Instruction::I32Eqz)
                .instruction(&Instruction::If(BlockType::Empty))
                .instruction(&last)
                .instruction(&last)
                .instruction(&Instruction::I32Load(here))
                .instruction(&Instruction::I32Const(1))
                .instruction(&Instruction::I32Add)
                .instruction(&Instruction::I32Store(here))
                .instruction(&note)
                .instruction(&last)
                .instruction(&Instruction::I32Load(here))
                .instruction(&Instruction::I32Store(here))
                .instruction(&Instruction::End);
            let mut operators = body.get_operators_reader()?;
            while !operators.eof() {
                function.instruction(&self.parse_instruction(&mut operators)?);
            }
            code.function(&function);
        }
        Ok(())
    }
}

impl ReencodeComponent for Noter {
    fn parse_component_submodule(
        &mut self,
        component: &mut Component,
        parser: Parser,
        module: &[u8],
    ) -> Result<(), Error<Unfit>> {
        self.shape = Shape::of(module)?;
        self.main = self.shape.data;
        let parsed = reencode::component_utils::parse_component_submodule(self, component, parser, module);
        self.main = false;
        parsed
    }
}

/// Puts the functions of the main module into another order, and leaves calls of those out that do nothing.
struct Sorter {
    main: bool,
    imported: u32,
    /// The functions as they are to come, and the place of each.
    order: Vec<u32>,
    places: Vec<u32>,
    /// Those that do nothing, by their old indices.
    empty: HashSet<u32>,
}

/// The functions of a module that take nothing and do nothing, by their indices, which count imports first; an import is never
/// one. A valid body that begins with `end` or `return` has no results, and that it is valid shows when it is compiled.
fn empty_functions(module: &[u8], imported: u32) -> Result<HashSet<u32>, Error<Unfit>> {
    let (mut takes_nothing, mut kinds, mut empty) = (Vec::new(), Vec::new().into_iter(), HashSet::new());
    let mut number = imported;
    for payload in Parser::new(0).parse_all(module) {
        match payload? {
            Payload::TypeSection(types) => {
                for kind in types.into_iter_err_on_gc_types() {
                    takes_nothing.push(kind?.params().is_empty());
                }
            }
            Payload::FunctionSection(functions) => {
                kinds = functions.into_iter().collect::<Result<Vec<u32>, _>>()?.into_iter();
            }
            Payload::CodeSectionEntry(body) => {
                let fits =
                    kinds.next().and_then(|kind| takes_nothing.get(kind as usize)).is_some_and(|nothing| *nothing);
                if fits && matches!(body.get_operators_reader()?.read()?, Operator::End | Operator::Return) {
                    empty.insert(number);
                }
                number += 1;
            }
            _ => {}
        }
    }
    Ok(empty)
}

impl Sorter {
    fn in_order<T>(&self, items: Vec<T>) -> Result<Vec<T>, Error<Unfit>> {
        let mut items: Vec<Option<T>> = items.into_iter().map(Some).collect();
        let taken = self.order.iter().map(|index| items.get_mut(*index as usize).and_then(Option::take));
        taken.collect::<Option<Vec<T>>>().ok_or(Error::UserError(Unfit::Order))
    }
}

impl Reencode for Sorter {
    type Error = Unfit;

    fn function_index(&mut self, function: u32) -> Result<u32, Error<Unfit>> {
        let Some(index) = function.checked_sub(self.imported).filter(|_| self.main) else { return Ok(function) };
        let place = self.places.get(index as usize).ok_or(Error::UserError(Unfit::Order))?;
        Ok(self.imported + place)
    }

    fn parse_function_section(
        &mut self,
        functions: &mut FunctionSection,
        section: FunctionSectionReader<'_>,
    ) -> Result<(), Error<Unfit>> {
        if !self.main {
            return reencode::utils::parse_function_section(self, functions, section);
        }
        for kind in self.in_order(section.into_iter().collect::<Result<Vec<u32>, _>>()?)? {
            functions.function(self.type_index(kind)?);
        }
        Ok(())
    }

    fn parse_code_section(
        &mut self,
        code: &mut CodeSection,
        section: CodeSectionReader<'_>,
    ) -> Result<(), Error<Unfit>> {
        if !self.main {
            return reencode::utils::parse_code_section(self, code, section);
        }
        for body in self.in_order(section.into_iter().collect::<Result<Vec<FunctionBody<'_>>, _>>()?)? {
            let mut function = self.new_function_with_parsed_locals(&body)?;
            let mut operators = body.get_operators_reader()?;
            while !operators.eof() {
                match operators.read()? {
                    Operator::Call { function_index } if self.empty.contains(&function_index) => {}
                    operator => {
                        function.instruction(&self.instruction(operator)?);
                    }
                }
            }
            code.function(&function);
        }
        Ok(())
    }
}

impl ReencodeComponent for Sorter {
    fn parse_component_submodule(
        &mut self,
        component: &mut Component,
        parser: Parser,
        module: &[u8],
    ) -> Result<(), Error<Unfit>> {
        self.main = Shape::of(module)?.data;
        if self.main {
            self.empty = empty_functions(module, self.imported)?;
        }
        let parsed = reencode::component_utils::parse_component_submodule(self, component, parser, module);
        // A component counts the functions of its modules in a space of its own.
        self.main = false;
        parsed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A component of two modules, the first of which has what names functions: a call, a table, a start, and exports.
    const TEXT: &str = r#"(component
        (core module $main
            (import "outer" "seven" (func $seven (result i32)))
            (memory (export "memory") 1)
            (data (i32.const 8) "a")
            (table 2 funcref)
            (elem (i32.const 0) $never $begin)
            (func $never (result i32) (i32.const 1))
            (func $begin (i32.store (i32.const 0) (i32.const 30)))
            (func $twice (result i32) (i32.add (call $seven) (i32.load (i32.const 0))))
            (func (export "prepare") (drop (call $twice)) (drop (call $twice)))
            (func (export "run") (result i32)
                (call_indirect (i32.const 1))
                (i32.add (call_indirect (result i32) (i32.const 0)) (call $twice)))
            (start $begin))
        (core module $other
            (func $eight (result i32) (i32.const 8))
            (func (export "seven") (result i32) (i32.sub (call $eight) (i32.const 1))))
        (core instance $outer (instantiate $other))
        (core instance $inner (instantiate $main (with "outer" (instance $outer))))
        (func $prepare (canon lift (core func $inner "prepare")))
        (instance $lifecycle (export "prepare" (func $prepare)))
        (export "toolgate:plugin/lifecycle@0.1.0" (instance $lifecycle))
        (func (export "run") (result u32) (canon lift (core func $inner "run"))))"#;

    fn run(component: &[u8]) -> u32 {
        let engine = wasmtime::Engine::default();
        let component = wasmtime::component::Component::new(&engine, component).expect("it compiles");
        let mut store = wasmtime::Store::new(&engine, ());
        let linker = wasmtime::component::Linker::new(&engine);
        let instance = linker.instantiate(&mut store, &component).expect("an instance");
        let run = instance.get_typed_func::<(), (u32,)>(&mut store, "run").expect("the function");
        run.call(&mut store, ()).expect("it runs").0
    }

    /// The lengths of the functions of the main module, as they come.
    fn lengths(component: &[u8]) -> Vec<usize> {
        let mut lengths = Vec::new();
        for payload in Parser::new(0).parse_all(component) {
            if let Payload::CodeSectionEntry(body) = payload.expect("a component") {
                lengths.push(body.as_bytes().len());
            }
        }
        lengths.truncate(5);
        lengths
    }

    #[test]
    fn the_functions_that_are_used_come_first() {
        let component = wat::parse_str(TEXT).expect("a component");
        let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
        let used = runtime.block_on(crate::recipe::used(&component)).expect("it is noted");
        assert_eq!(used, Used(vec![0, 1, 3, 2, 0]), "never, begin, twice, prepare, run");
        assert_eq!(used.count(), (3, 5));
        let sorted = sorted(&component, &used).expect("it can be sorted");
        let before = lengths(&component);
        assert_eq!(lengths(&sorted), [1, 3, 2, 0, 4].map(|place: usize| before[place]));
        assert_eq!((run(&component), run(&sorted)), (38, 38), "it does what it did");
    }

    #[test]
    fn calls_of_what_does_nothing_are_left_out() {
        // What a function is, and whether a call of it is left out.
        let cases = [
            ("(func $f)", "(call $f)", true),
            ("(func $f (local i32))", "(call $f)", true),
            ("(func $f (return))", "(call $f)", true),
            ("(func $f (param i32))", "(call $f (i32.const 1))", false),
            ("(func $f (nop))", "(call $f)", false),
            ("(func $f (result i32) (i32.const 1))", "(drop (call $f))", false),
            ("(func $f (unreachable))", "(if (i32.const 0) (then (call $f)))", false),
        ];
        for (function, call, left_out) in cases {
            // An import before it, and a function that is called first: no number stays what it was.
            let body = format!(
                "(call $first) {call} (if (result i32) (i32.const 1) (then (call $seven)) (else (i32.const 0)))"
            );
            let text = TEXT.replace("(func $never", &format!("{function} (func $first (nop)) (func $never")).replace(
                "(call_indirect (i32.const 1))",
                &format!("(call_indirect (i32.const 1)) (drop (block (result i32) {body}))"),
            );
            let component = wat::parse_str(&text).expect("a component");
            let used = Used(vec![0, 1, 4, 2, 0, 3, 0]);
            let sorted = sorted(&component, &used).expect("it can be sorted");
            let calls = |component: &[u8]| {
                let bodies =
                    Parser::new(0).parse_all(component).filter_map(|payload| match payload.expect("a component") {
                        Payload::CodeSectionEntry(body) => Some(body),
                        _ => None,
                    });
                let operators = bodies.flat_map(|body| body.get_operators_reader().expect("a body").into_iter());
                operators.filter(|operator| matches!(operator, Ok(Operator::Call { .. }))).count()
            };
            assert_eq!(calls(&component) - calls(&sorted), usize::from(left_out), "{function}");
            assert_eq!((run(&component), run(&sorted)), (38, 38), "{function}: it does what it did");
        }
    }

    #[test]
    fn an_order_is_for_one_component() {
        let component = wat::parse_str(TEXT).expect("a component");
        for wrong in [vec![], vec![1; 4], vec![1; 6]] {
            let error = sorted(&component, &Used(wrong)).expect_err("of another one");
            assert!(error.to_string().contains("other functions"), "{error}");
        }
    }
}

//! What a program's file says of its functions.

use std::collections::{BTreeMap, HashSet};
use std::path::Path;

use object::{Object, ObjectSection, ObjectSymbol, SectionKind, SymbolKind};

/// A program as it lies in its file.
#[derive(Debug)]
pub struct Image {
    /// The names of its functions by their addresses; one of several where there are several.
    pub functions: BTreeMap<u64, String>,
    /// Its code, with the address of its first byte.
    pub code: Vec<(u64, Vec<u8>)>,
    /// Whether it is of the linker that puts functions in the order of a file, and lies at the addresses that are in its file.
    pub ordered: bool,
}

impl Image {
    /// Reads the file of a program.
    ///
    /// # Errors
    /// If it cannot be read, or is no program.
    pub fn read(program: &Path) -> Result<Image, Box<dyn std::error::Error>> {
        let bytes = std::fs::read(program)?;
        let file = object::File::parse(bytes.as_slice())?;
        let mut code = Vec::new();
        let mut of_code = HashSet::new();
        for section in file.sections().filter(|section| section.kind() == SectionKind::Text) {
            of_code.insert(section.index());
            code.push((section.address(), section.data()?.to_vec()));
        }
        let functions = file
            .symbols()
            .filter(|symbol| symbol.kind() == SymbolKind::Text && symbol.size() > 0)
            .filter(|symbol| symbol.section_index().is_some_and(|index| of_code.contains(&index)))
            .filter_map(|symbol| Some((symbol.address(), symbol.name().ok()?.to_owned())))
            .collect();
        let linker = file.section_by_name(".comment").and_then(|section| section.data().ok());
        let lld = linker.is_some_and(|names| names.windows(4).any(|part| part == b"LLD "));
        let ordered = lld && file.kind() == object::ObjectKind::Executable;
        Ok(Image { functions, code, ordered })
    }
}

//! `toolgate-bake INPUT FOLDER`: makes what the crate `toolgate-builtin` embeds.
//!
//! Writes `guest.wasm`, the component; `guest.cwasm`, its machine code; `guest.memory`, what its memory holds when it
//! starts; and `guest.rs`, their digests and where that memory begins.

#![allow(clippy::print_stderr)]

use std::error::Error;
use std::path::Path;
use std::process::ExitCode;

use toolgate_bake::{componentize, precompile, snapshot, used};
use toolgate_host::Digest;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [input, folder] = arguments.as_slice() else {
        eprintln!("usage: toolgate-bake MODULE-OR-COMPONENT FOLDER");
        return ExitCode::from(64);
    };
    match bake(Path::new(input), Path::new(folder)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("toolgate-bake: {input}: {error}");
            ExitCode::FAILURE
        }
    }
}

fn bake(input: &Path, folder: &Path) -> Result<(), Box<dyn Error>> {
    let component = componentize(&std::fs::read(input)?)?;
    let runtime = tokio::runtime::Builder::new_current_thread().build()?;
    let component = runtime.block_on(snapshot(&component))?;
    let used = runtime.block_on(used(&component))?;
    let (code, memory) = precompile(&component, &used)?;
    let of = Digest::of(&component);
    let machine = Digest::of(&[code.as_slice(), &memory.bytes].concat());
    std::fs::create_dir_all(folder)?;
    write(&folder.join("guest.wasm"), &component)?;
    write(&folder.join("guest.cwasm"), &code)?;
    write(&folder.join("guest.memory"), &memory.bytes)?;
    let digests = format!(
        "const COMPONENT: (&str, u64) = (\"{}\", {});\nconst MACHINE_SHA256: &str = \"{}\";\n\
         const MEMORY_START: usize = {};\n",
        of.sha256, of.bytes, machine.sha256, memory.start
    );
    write(&folder.join("guest.rs"), digests.as_bytes())?;
    let (first, all) = used.count();
    let (code, memory) = (code.len(), memory.bytes.len());
    eprintln!("component {} bytes, machine code {code}, memory {memory}; {first} of {all} functions first", of.bytes);
    Ok(())
}

/// Leaves a file alone that has this content already, so that nothing is built again for it.
fn write(path: &Path, content: &[u8]) -> std::io::Result<()> {
    if std::fs::read(path).is_ok_and(|old| old == content) { Ok(()) } else { std::fs::write(path, content) }
}

//! `toolgate-bake INPUT FOLDER`: what the build script of `toolgate-builtin` makes of the guest, of any module or component.

#![allow(clippy::print_stderr)]

use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [input, folder] = arguments.as_slice() else {
        eprintln!("usage: toolgate-bake MODULE-OR-COMPONENT FOLDER");
        return ExitCode::from(64);
    };
    match toolgate_bake::bake(Path::new(input), Path::new(folder)) {
        Ok(baked) => {
            let (first, all) = baked.functions;
            eprintln!(
                "component {} bytes, machine code {}, memory {}; {first} of {all} functions first",
                baked.component, baked.code, baked.memory
            );
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("toolgate-bake: {input}: {error}");
            ExitCode::FAILURE
        }
    }
}

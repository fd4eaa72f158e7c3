//! `toolgate-layout PROGRAM FOLDER`: writes which functions of the command a call runs, in the order of their first use, and what
//! the linker's driver is told of it.
//!
//! The linker leaves functions in the order of the crates that they are from, so what one call runs lies all over 30 MB,
//! and every place costs a page fault, which maps 64 KiB. Linked in this order (`host/cli/build.rs` names the folder
//! to the linker) it lies in one piece.
//!
//! What runs is found by running it: everyday calls, in a home folder of their own, with a breakpoint on each function.

#![allow(clippy::print_stderr)]

#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod calls;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod image;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod order;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod trace;

use std::process::ExitCode;

#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
fn main() -> ExitCode {
    let arguments: Vec<std::ffi::OsString> = std::env::args_os().skip(1).collect();
    let done = match arguments.as_slice() {
        [traced, program, rest @ ..] if traced == trace::TRACED => trace::become_traced(program, rest),
        [program, folder] => order::write(program.as_ref(), folder.as_ref()),
        _ => {
            eprintln!("usage: toolgate-layout PROGRAM FOLDER");
            return ExitCode::from(64);
        }
    };
    match done {
        Ok(said) => {
            eprintln!("{said}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("toolgate-layout: {error}");
            ExitCode::FAILURE
        }
    }
}

#[cfg(not(all(target_os = "linux", target_arch = "x86_64")))]
fn main() -> ExitCode {
    eprintln!("the command's functions stay where the linker puts them: they are put in order on Linux on x86-64 only");
    ExitCode::SUCCESS
}

//! `toolgate-layout PROGRAM FOLDER`: writes what a call of the command runs, and what the linker's driver is told of it, into
//! the folder that `host/cli/build.rs` names to the linker.

#![allow(clippy::print_stderr)]

use std::process::ExitCode;

#[cfg(all(target_os = "linux", target_env = "gnu", target_arch = "x86_64"))]
fn main() -> ExitCode {
    let arguments: Vec<std::ffi::OsString> = std::env::args_os().skip(1).collect();
    let done = match arguments.as_slice() {
        [traced, program, rest @ ..] if traced == toolgate_layout::TRACED => {
            toolgate_layout::become_traced(program, rest)
        }
        [program, folder] => std::env::current_exe()
            .map_err(Into::into)
            .and_then(|tracer| toolgate_layout::write(program.as_ref(), folder.as_ref(), &tracer)),
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

#[cfg(not(all(target_os = "linux", target_env = "gnu", target_arch = "x86_64")))]
fn main() -> ExitCode {
    eprintln!("functions stay where the linker puts them: they are put in order on Linux on x86-64 with glibc only");
    ExitCode::SUCCESS
}

//! The program `toolgate`. All of it is in the library.

use std::process::ExitCode;

/// What the linker is told of the order of functions. Nothing of it is in the program, but it is linked again when that
/// changes.
#[cfg(all(target_os = "linux", target_env = "gnu", target_arch = "x86_64"))]
const _: [&[u8]; 2] = [
    include_bytes!(concat!(env!("TOOLGATE_LAYOUT"), "/toolgate.order")),
    include_bytes!(concat!(env!("TOOLGATE_LAYOUT"), "/toolgate.link")),
];

fn main() -> ExitCode {
    toolgate::main()
}

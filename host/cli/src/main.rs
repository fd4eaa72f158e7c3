//! The program `toolgate`. All of it is in the library.

use std::process::ExitCode;

fn main() -> ExitCode {
    toolgate::main()
}

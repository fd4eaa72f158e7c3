//! `toolgate-lens`: the check daemon as a program of its own.

use std::ffi::OsStr;
use std::io::Write;
use std::process::ExitCode;

use toolgate_checks::trust::Trust;

const HELP: &str = "\
toolgate-lens checks the files that a coding agent changed.

Clients start it, with its socket in CODE_LENS_SOCKET_PATH and the project's folder in CODE_LENS_CWD. It stops with the
last session, or after five idle minutes.

  --help     this text
  --version  the version
";

fn main() -> ExitCode {
    let arguments: Vec<_> = std::env::args_os().skip(1).collect();
    match arguments.iter().map(|argument| argument.to_str()).collect::<Vec<_>>().as_slice() {
        [] => toolgate_checks::serve(Trust::of_user()),
        [Some("--help" | "-h")] => say(HELP),
        [Some("--version" | "-V")] => say(concat!("toolgate-lens ", env!("CARGO_PKG_VERSION"), "\n")),
        _ => {
            let given = arguments.join(OsStr::new(" "));
            // Standard error may be closed; there is nobody left to tell then.
            let _ = writeln!(std::io::stderr(), "toolgate-lens: unknown: {}; see --help", given.to_string_lossy());
            ExitCode::from(64)
        }
    }
}

fn say(text: &str) -> ExitCode {
    match std::io::stdout().write_all(text.as_bytes()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}

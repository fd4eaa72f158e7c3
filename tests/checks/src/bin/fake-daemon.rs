//! A daemon that misbehaves as its arguments say; see `toolgate_checks_tests::fake`.

use std::path::PathBuf;
use std::process::ExitCode;
use std::thread;

use toolgate_checks_tests::fake::Fake;

fn main() -> ExitCode {
    let script: Vec<String> = std::env::args().skip(1).collect();
    let script = script.join(" ");
    match script.as_str() {
        "dies" => return ExitCode::FAILURE,
        "deaf" => wait(),
        _ => {}
    }
    let socket = std::env::var_os("CODE_LENS_SOCKET_PATH").map(PathBuf::from).unwrap_or_default();
    match Fake::start(&socket, &script) {
        Ok(_fake) => wait(),
        Err(_) => ExitCode::from(2),
    }
}

/// Until somebody ends the process.
fn wait() -> ! {
    loop {
        thread::park();
    }
}

//! Agents that load a file of ours into their own process: the file is written as a whole, with the program's path.

use crate::{Failure, exit, shim};

/// The line with the program up to its value.
const LINE: &str = "const PROGRAM = ";

/// A shim that runs this program.
///
/// # Errors
/// If the shim has no line for it, which a test rules out.
pub(crate) fn with(shim: &str, program: &str) -> Result<String, Failure> {
    let line = format!("{LINE}{};\n", serde_json::Value::from(program));
    let mut parts = shim.split(shim::PROGRAM);
    match (parts.next(), parts.next(), parts.next()) {
        (Some(head), Some(tail), None) => Ok(format!("{head}{line}{tail}")),
        _ => Err(Failure::new(exit::SOFTWARE, "the shim has not one line for the program")),
    }
}

/// The program that a shim of ours runs; none if the text is none of ours.
pub(crate) fn program(text: &str) -> Option<String> {
    let ours = text.starts_with(shim::MARK);
    let value = text.lines().find_map(|line| line.strip_prefix(LINE)?.strip_suffix(';'));
    serde_json::from_str(value.filter(|_| ours)?).ok()
}

/// Whether a text is the shim of this version, with whatever program.
pub(crate) fn is_current(text: &str, shim: &str) -> bool {
    program(text).is_some_and(|program| with(shim, &program).is_ok_and(|current| current == text))
}

#[cfg(test)]
mod tests {
    use super::super::table::{Agent, Known, Way};
    use super::*;

    #[test]
    fn a_shim_says_which_program_it_runs() {
        for agent in [Agent::Pi, Agent::Opencode] {
            let Known { way: Way::Shim(shim), .. } = agent.known() else { panic!("{agent:?} has no shim") };
            for path in ["/usr/local/bin/toolgate", "/a \"b\\c/toolgate", "/ü/toolgate"] {
                let text = with(shim, path).expect("one line for the program");
                assert_eq!(program(&text).as_deref(), Some(path));
                assert!(is_current(&text, shim) && !is_current(&(text + "x"), shim));
            }
        }
        assert_eq!(program("const PROGRAM = \"/x\";\n"), None);
    }
}

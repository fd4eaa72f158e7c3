//! Agents that load a file of ours into their own process: the file is written as a whole, with the program's path.

use crate::{Failure, exit, shim};

/// The line with the program up to its value.
const LINE: &str = "const PROGRAM = ";

/// The line of a shim that shares its terminal.
const SHARED: &str = "const TERMINAL = true;\n";

/// A shim that runs this program, and shares its terminal or does not.
///
/// # Errors
/// If the shim has no line for the one or the other, which for the program a test rules out.
pub fn with(shim: &str, program: &str, terminal: bool) -> Result<String, Failure> {
    let line = format!("{LINE}{};\n", serde_json::Value::from(program));
    let text = replaced(shim, shim::PROGRAM, &line)
        .ok_or_else(|| Failure::new(exit::SOFTWARE, "the shim has not one line for the program"))?;
    match terminal {
        false => Ok(text),
        true => replaced(&text, shim::TERMINAL, SHARED)
            .ok_or_else(|| Failure::new(exit::SOFTWARE, "the shim has not one line for the terminal")),
    }
}

/// A text with a part of it replaced, which it has exactly once.
fn replaced(text: &str, part: &str, by: &str) -> Option<String> {
    let (head, tail) = text.split_once(part)?;
    (!tail.contains(part)).then(|| format!("{head}{by}{tail}"))
}

/// Whether a shim of this version can share its terminal.
pub fn can_share(shim: &str) -> bool {
    shim.contains(shim::TERMINAL)
}

/// Whether a shim of ours shares its terminal.
pub fn shares(text: &str) -> bool {
    text.starts_with(shim::MARK) && text.contains(SHARED)
}

/// The program that a shim of ours runs; none if the text is none of ours.
pub fn program(text: &str) -> Option<String> {
    let ours = text.starts_with(shim::MARK);
    let value = text.lines().find_map(|line| line.strip_prefix(LINE)?.strip_suffix(';'));
    serde_json::from_str(value.filter(|_| ours)?).ok()
}

/// Whether a text is the shim of this version, with whatever program.
pub fn is_current(text: &str, shim: &str) -> bool {
    program(text).is_some_and(|program| with(shim, &program, shares(text)).is_ok_and(|current| current == text))
}

#[cfg(test)]
mod tests {
    use super::super::table::{HookMechanism, OPENCODE, PI};
    use super::*;

    #[test]
    fn a_shim_says_which_program_it_runs() {
        for known in [&PI, &OPENCODE] {
            let HookMechanism::Shim(shim) = known.way else { panic!("{} has no shim", known.name()) };
            for path in ["/usr/local/bin/toolgate", "/a \"b\\c/toolgate", "/ü/toolgate"] {
                for terminal in [false, true].into_iter().filter(|terminal| !terminal || can_share(shim)) {
                    let text = with(shim, path, terminal).expect("one line for each");
                    assert_eq!((program(&text).as_deref(), shares(&text)), (Some(path), terminal));
                    assert!(is_current(&text, shim) && !is_current(&(text + "x"), shim));
                }
            }
            assert_eq!(can_share(shim), known.name() == "pi");
        }
        assert_eq!((program("const PROGRAM = \"/x\";\n"), shares(SHARED)), (None, false));
    }
}

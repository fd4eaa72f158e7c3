//! What the tests share.

use std::io::{self, Write};

use toolgate_terminal_tests::shell::{Shell, missing};

/// Whether a test is left out as tmux or its shell is not there; says so. In CI that is an error.
pub(crate) fn left_out(shell: Shell) -> bool {
    let missing = missing(&["tmux", shell.name()]);
    if let Some(program) = missing {
        assert!(
            std::env::var_os("CI").is_none_or(|value| value.is_empty()),
            "{program} is missing; in CI that must not be"
        );
        writeln!(io::stderr(), "left out: {program} is not installed").expect("a place to say so");
    }
    missing.is_some()
}

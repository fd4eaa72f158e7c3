//! Which commands the shell runs itself.

/// Commands that `builtin` follows.
const BUILTINS: &[&str] = &[
    "alias",
    "break",
    "cd",
    "compgen",
    "continue",
    "declare",
    "exit",
    "export",
    "getopts",
    "let",
    "local",
    "mapfile",
    "popd",
    "pushd",
    "read",
    "readarray",
    "readonly",
    "return",
    "set",
    "shift",
    "shopt",
    "typeset",
    "unset",
    "wait",
];

/// Commands of the shell itself that are not followed here, or only run others.
const PLAIN_BUILTINS: &[&str] = &[
    ".", ":", "[", "bg", "bind", "builtin", "caller", "command", "complete", "compopt", "dirs", "disown", "echo",
    "enable", "eval", "exec", "false", "fc", "fg", "hash", "help", "history", "jobs", "kill", "logout", "printf",
    "pwd", "source", "suspend", "test", "times", "trap", "true", "type", "ulimit", "umask", "unalias",
];

/// Whether the shell runs a command of this name itself, without a process of its own.
pub fn runs_in_shell(name: &str) -> bool {
    is_builtin(name, false) || PLAIN_BUILTINS.binary_search(&name).is_ok()
}

/// Whether a command is followed here. Other builtins change nothing that is followed, or run commands. `posix`: whether the
/// shell has no more of them than the standard says.
pub(super) fn is_builtin(name: &str, posix: bool) -> bool {
    const BASH: &[&str] = &["declare", "let", "mapfile", "popd", "pushd", "readarray", "shopt", "typeset"];
    BUILTINS.binary_search(&name).is_ok() && !(posix && BASH.contains(&name))
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_table_is_sorted() {
        assert!(super::BUILTINS.is_sorted() && super::PLAIN_BUILTINS.is_sorted());
    }
}

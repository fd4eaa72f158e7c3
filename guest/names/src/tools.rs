//! Words in the names of tools, and the keys of their input.

/// Verbs after which something is gone, whatever it is.
pub const LOSES: &[&str] = &["delete", "erase", "purge", "wipe"];

/// Words in the name of a tool that runs code.
pub const RUNS: &[&str] = &["eval", "exec", "execute", "interpreter", "repl", "run"];

/// Keys of the action that a tool with several uses is to take.
pub const ACTION_KEYS: &[&str] = &["action", "method", "op", "operation", "verb"];

/// Languages by their names and programs, and how a shell runs a text in each.
const LANGUAGES: &[(&[&str], &str)] = &[
    (&["bash", "sh", "shell", "zsh"], "bash -c"),
    (&["ipython", "jupyter", "py", "python"], "python3 -c"),
    (&["javascript", "js", "node", "nodejs"], "node -e"),
    (&["php"], "php -r"),
    (&["ruby"], "ruby -e"),
    (&["perl"], "perl -e"),
];

/// How a shell runs a text in the first language that one of the words names.
///
/// ```
/// assert_eq!(toolgate_names::tools::runner(&["run", "js"]), Some("node -e"));
/// assert_eq!(toolgate_names::tools::runner(&["run"]), None);
/// ```
#[must_use]
pub fn runner<T: AsRef<str>>(words: &[T]) -> Option<&'static str> {
    let named = |names: &[&str]| words.iter().any(|word| names.contains(&word.as_ref()));
    LANGUAGES.iter().find(|(names, _)| named(names)).map(|(_, runner)| *runner)
}

//! What names say: those of tools and of the keys of their input, those of secrets, and those of the rules that keep the gate.
//!
//! The host tells the fields of a tool that is in no table by such words, and the guard what a tool of a server does
//! elsewhere; the log marks what is called like a secret, and rules ask about it. Each of them has more words of its own, for
//! what only it is asked. It knows nothing of calls, rules or files.

pub mod gate_rules;
pub mod secrets;
pub mod tools;

/// The words of a name, in small letters: those between signs, and those that begin with a capital letter.
///
/// ```
/// assert_eq!(toolgate_names::words_of("mcp__GitHub-deleteRepo"), ["mcp", "git", "hub", "delete", "repo"]);
/// ```
#[must_use]
pub fn words_of(name: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut lower = false;
    for c in name.chars() {
        let new = !c.is_ascii_alphanumeric() || lower && c.is_ascii_uppercase();
        if new || words.is_empty() {
            words.push(String::new());
        }
        lower = c.is_ascii_lowercase() || c.is_ascii_digit();
        if let (Some(word), true) = (words.last_mut(), c.is_ascii_alphanumeric()) {
            word.push(c.to_ascii_lowercase());
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

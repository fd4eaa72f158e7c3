//! Untrusted text as it is put before people and agents.

use toolgate_host::{Diagnostic, excerpt, plain};

/// Longest line of a command that is shown as it is, in characters.
pub const LINE: usize = 160;

/// Longest reason that is shown as it is, in characters. Rule files of projects have them, too.
pub const REASON: usize = 800;

/// All of a text that matched: of a long one the start and the end.
pub fn whole(text: &str, most: usize) -> String {
    excerpt(text, std::slice::from_ref(&(0..text.len())), most).line
}

/// A word as a shell would need it written.
pub fn quoted(word: &str) -> String {
    let plain = !word.is_empty() && word.chars().all(|c| c.is_alphanumeric() || "-_./=:,+@%".contains(c));
    if plain { word.to_owned() } else { format!("'{}'", word.replace('\'', "'\\''")) }
}

/// `file:line: message`
pub fn place(diagnostic: &Diagnostic) -> String {
    let mut text = String::new();
    if let Some(file) = &diagnostic.file {
        text.push_str(file);
        if let Some(line) = diagnostic.line {
            text.push_str(&format!(":{line}"));
        }
        text.push_str(": ");
    }
    text.push_str(&diagnostic.message);
    plain(&text)
}

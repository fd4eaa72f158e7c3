//! Untrusted text as it is put before people and agents.

use toolgate_host::excerpt;

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

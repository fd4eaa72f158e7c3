//! What of a rule file was left out.

/// Something in a rule file that was left out, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The file.
    pub file: String,
    /// The line in it, from 1.
    pub line: Option<u32>,
    /// What is wrong and what to do.
    pub message: String,
    /// Whether nothing of the file could be used.
    pub whole_file: bool,
}

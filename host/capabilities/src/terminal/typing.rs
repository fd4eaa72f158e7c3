//! Who judges what is typed.

use async_trait::async_trait;

/// Judges what is about to be typed.
///
/// A shell puts lines together: one that it waits for more of, as after `|` or in quotes, is only a part of what it runs
/// in the end, and the next text is judged without it. So a text that is not whole has to be refused like one that is
/// forbidden. What a shell makes of a line before it reads it (`!!`, `^old^new`) is not known here either.
#[async_trait]
pub trait Typing: Send + Sync {
    /// Whether this may be typed. `line` is all that the line will hold when Enter is pressed, of several lines if the
    /// text has line breaks; `cwd` is the directory of the program in the pane's foreground.
    ///
    /// # Errors
    /// The reason why it may not.
    async fn judge(&self, line: &str, cwd: &str) -> Result<(), String>;
}

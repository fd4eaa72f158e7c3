//! What a pane shows, in the parts that the contract's `terminal.screen` has.

use serde::{Deserialize, Serialize};
use unicode_width::UnicodeWidthChar;

use crate::Error;
use crate::tmux::Tmux;

/// What a pane shows. Blanks at the ends of lines are cut off, but for those left of the cursor.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Capture {
    /// The lines down to the one with the cursor; what the pane wraps is one line.
    pub text: String,
    /// The lines below that one.
    pub below: String,
    /// What stands left of the cursor in its line.
    pub before_cursor: String,
}

/// A command that was run in a pane, and what is to be made of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    /// Shell, prompt and kind of command.
    pub name: String,
    /// `bash` or `zsh`.
    pub shell: String,
    /// The name of the prompt.
    pub prompt: String,
    /// The pane's width, in columns.
    pub width: u32,
    /// The pane's height, in rows.
    pub height: u32,
    /// What was typed or pasted.
    pub command: String,
    /// At the prompt, before anything was typed.
    pub before: Capture,
    /// With the command typed, before Enter.
    pub typed: Capture,
    /// At the next prompt.
    pub after: Capture,
    /// What the command wrote.
    pub output: String,
    /// Its exit code.
    pub exit: u8,
}

/// Captures a pane that is at rest, with the last 2000 lines that have scrolled out of it.
///
/// # Errors
/// If there is no such pane.
pub fn capture(tmux: &Tmux, pane: &str) -> Result<Capture, Error> {
    let cursor = tmux.format(pane, "#{cursor_x} #{cursor_y} #{pane_height}")?;
    let numbers: Vec<usize> = cursor.split(' ').filter_map(|number| number.parse().ok()).collect();
    let [column, row, height] = numbers[..] else { return Err(Error::Nonsense(cursor)) };
    let rows = |first: &str, last: &str| tmux.ask(["capture-pane", "-p", "-J", "-S", first, "-E", last, "-t", pane]);
    let row_name = row.to_string();
    let text = rows("-2000", &row_name)?;
    let cursor_row = rows(&row_name, &row_name)?;
    let below = if row + 1 < height { rows(&(row + 1).to_string(), "-")? } else { String::new() };
    let line = text.rsplit('\n').next().unwrap_or_default();
    let wrapped = line.strip_suffix(&cursor_row).unwrap_or_default();
    let before_cursor = format!("{wrapped}{}", columns(&cursor_row, column));
    Ok(Capture { text: trimmed(&text), below: trimmed(&below).trim_end_matches('\n').to_owned(), before_cursor })
}

/// The first columns of a row, filled up with blanks.
fn columns(row: &str, count: usize) -> String {
    let (mut taken, mut width) = (String::new(), 0);
    for character in row.chars() {
        width += character.width().unwrap_or_default();
        if width > count {
            return taken;
        }
        taken.push(character);
    }
    taken.extend(std::iter::repeat_n(' ', count - width));
    taken
}

fn trimmed(text: &str) -> String {
    text.split('\n').map(|line| line.trim_end_matches(' ')).collect::<Vec<_>>().join("\n")
}

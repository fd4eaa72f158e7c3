//! What the line in a pane holds, as far as it is known from what was typed. It knows nothing of tmux.
//!
//! A shell runs what its line holds when Enter comes, so each text is judged together with what is there already. Keys
//! can change a line in ways that are not known here: `Up` puts an older one in its place, `Tab` completes it. Then
//! nothing more gets into it, and it is not submitted, until `C-c` has thrown it away. `C-u` does not do that: bash keeps
//! what is right of the cursor, and zsh all lines but the last.

use super::keys::{Effect, Key};

/// What the line in a pane holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Line {
    /// This text.
    Known(String),
    /// It cannot be told.
    Unknown,
}

impl Default for Line {
    fn default() -> Self {
        Line::Known(String::new())
    }
}

/// What is done to a line.
#[derive(Clone, Copy, Debug)]
pub(super) enum Input<'a> {
    /// Text is typed, and Enter after it if `enter`.
    Typed {
        /// The text. A line break is Enter, a tab is Tab.
        text: &'a str,
        /// Whether Enter is pressed after it.
        enter: bool,
    },
    /// Text is pasted: a line break in it is a part of the line.
    Pasted(&'a str),
}

/// What follows from an input.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Step {
    /// What is to be judged before: all that the line then holds.
    pub(super) judged: Option<String>,
    /// What the line holds after it.
    pub(super) line: Line,
}

const UNKNOWN: &str = "earlier keys may have changed the line; press C-c first";
const COMPLETED: &str =
    "a tab in typed text triggers completion, so Enter would run an unknown command; paste the text";

impl Line {
    /// The step that a text makes, or why it may not be made.
    pub(super) fn after(&self, input: Input<'_>) -> Result<Step, &'static str> {
        let Line::Known(held) = self else {
            return match input {
                Input::Typed { text: "", enter: false } | Input::Pasted("") => Ok(step(None, Line::Unknown)),
                _ => Err(UNKNOWN),
            };
        };
        match input {
            Input::Typed { text: "", enter } => {
                let left = if enter { String::new() } else { held.clone() };
                Ok(step(None, Line::Known(left)))
            }
            Input::Pasted("") => Ok(step(None, self.clone())),
            Input::Typed { text, enter } if text.contains('\t') => {
                let submitted = enter || text.contains('\n');
                if submitted { Err(COMPLETED) } else { Ok(step(Some([held, text].concat()), Line::Unknown)) }
            }
            Input::Typed { text, enter } => {
                let all = [held, text].concat();
                let last = all.rsplit('\n').next().filter(|_| !enter).unwrap_or_default();
                // Without a line break in what is new, all that the line held is still there.
                let left = if enter || text.contains('\n') { last.to_owned() } else { all.clone() };
                Ok(step(Some(all), Line::Known(left)))
            }
            Input::Pasted(text) => {
                let all = [held, text].concat();
                Ok(step(Some(all.clone()), Line::Known(all)))
            }
        }
    }

    /// The step that a key makes, or why it may not be pressed.
    pub(super) fn pressed(&self, key: &Key) -> Result<Step, &'static str> {
        let line = match (key.effect, self) {
            (Effect::Types(c), _) => {
                return self.after(Input::Typed { text: c.encode_utf8(&mut [0; 4]), enter: false });
            }
            (Effect::Submits, _) => return self.submitted(),
            (Effect::Aborts, _) => Line::default(),
            (Effect::Empties, Line::Known(held)) if !held.contains('\n') => Line::default(),
            (Effect::Shows, line) => line.clone(),
            (Effect::Empties | Effect::Changes, _) => Line::Unknown,
        };
        Ok(step(None, line))
    }

    fn submitted(&self) -> Result<Step, &'static str> {
        self.after(Input::Typed { text: "", enter: true })
    }
}

fn step(judged: Option<String>, line: Line) -> Step {
    Step { judged, line }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::terminal::keys::key;

    /// One thing done: `t:` text, `e:` text and Enter, `p:` a paste, else a key.
    fn done(line: &Line, what: &str) -> Result<Step, &'static str> {
        match what.split_once(':') {
            Some(("t", text)) => line.after(Input::Typed { text, enter: false }),
            Some(("e", text)) => line.after(Input::Typed { text, enter: true }),
            Some(("p", text)) => line.after(Input::Pasted(text)),
            _ => line.pressed(&key(what).expect("a key")),
        }
    }

    /// All that is judged and what the line holds in the end; `?` if that is not known, `!` and the end if it is refused.
    fn outcome(inputs: &[&str]) -> (Vec<String>, String) {
        let (mut line, mut judged) = (Line::default(), Vec::new());
        for input in inputs {
            match done(&line, input) {
                Ok(step) => (judged.extend(step.judged), line = step.line).1,
                Err(_) => return (judged, "!".to_owned()),
            }
        }
        (judged, if let Line::Known(held) = line { held } else { "?".to_owned() })
    }

    #[test]
    fn each_text_is_judged_with_what_the_line_holds() {
        let cases: &[(&[&str], &[&str], &str)] = &[
            (&["t:ls"], &["ls"], "ls"),
            (&["t:rm -rf ", "t:/"], &["rm -rf ", "rm -rf /"], "rm -rf /"),
            (&["e:ls"], &["ls"], ""),
            (&["t:ls", "Enter"], &["ls"], ""),
            (&["t:ls", "enter"], &["ls"], ""),
            (&["t:ls", "C-m"], &["ls"], ""),
            (&["t:ls", "C-j"], &["ls"], ""),
            (&["t:ls", "e:"], &["ls"], ""),
            (&["t:rm", "Space", "-", "e:rf"], &["rm", "rm ", "rm -", "rm -rf"], ""),
            (&["t:a\nb"], &["a\nb"], "b"),
            (&["t:x", "t:a\nb\nc", "t:d"], &["x", "xa\nb\nc", "cd"], "cd"),
            (&["t:a\n", "t:b"], &["a\n", "b"], "b"),
            (&["t:a\n", "e:b"], &["a\n", "b"], ""),
            (&["p:a\nb"], &["a\nb"], "a\nb"),
            (&["p:a\nb", "t:c"], &["a\nb", "a\nbc"], "a\nbc"),
            (&["p:a\nb", "Enter", "t:c"], &["a\nb", "c"], "c"),
            (&["p:a\tb", "Enter"], &["a\tb"], ""),
            // Emptied.
            (&["t:a", "C-c", "t:b"], &["a", "b"], "b"),
            (&["t:a", "C-u", "t:b"], &["a", "b"], "b"),
            (&["p:a\nb", "C-c", "t:c"], &["a\nb", "c"], "c"),
            (&["Up", "C-c", "e:b"], &["b"], ""),
            (&["t:a", "C-l", "t:b"], &["a", "ab"], "ab"),
            // Not known.
            (&["Up"], &[], "?"),
            (&["t:a\t"], &["a\t"], "?"),
            (&["t:a", "Tab"], &["a"], "?"),
            (&["Up", "Down", "t:", "p:"], &[], "?"),
            (&["p:a\nb", "C-u"], &["a\nb"], "?"),
            (&["Up", "C-u"], &[], "?"),
            // Refused.
            (&["Up", "Enter"], &[], "!"),
            (&["Up", "e:"], &[], "!"),
            (&["Up", "t:a"], &[], "!"),
            (&["Up", "p:a"], &[], "!"),
            (&["Escape", "a"], &[], "!"),
            (&["t:a", "Home", "C-u", "t:b"], &["a"], "!"),
            (&["t:a", "Left", "C-u", "Enter"], &["a"], "!"),
            (&["p:a |\n", "C-u", "e:b"], &["a |\n"], "!"),
            (&["e:ls /et\t"], &[], "!"),
            (&["t:ls /et\t\n"], &[], "!"),
            (&["t:a", "C-d", "Enter"], &["a"], "!"),
        ];
        for (inputs, judged, held) in cases {
            let expected = (judged.iter().map(|text| (*text).to_owned()).collect(), (*held).to_owned());
            assert_eq!(outcome(inputs), expected, "{inputs:?}");
        }
    }
}

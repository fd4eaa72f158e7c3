//! `getopts`: the next option of the arguments, if they are known.

use crate::abstract_value::{Content, Variable};
use crate::interpreter::Interpreter;
use crate::interpreter::arguments::is_open_ended;
use crate::interpreter::state::{ShellState, Status};
use toolgate_shell_syntax::word::{Value, Word};

/// What `getopts` finds.
enum Next {
    Option {
        /// The letter; `?` for one that is not meant.
        letter: char,
        value: Option<Value>,
        /// The number of the word that comes next, from one, and how far into it.
        place: (usize, usize),
    },
    /// No more options.
    End {
        /// The number of the first operand, from one.
        place: usize,
    },
}

impl Interpreter<'_> {
    pub(super) fn getopts(&mut self, arguments: &[Word], state: &mut ShellState) -> Status {
        let names: Option<Vec<&str>> = arguments.iter().take(2).map(Word::known).collect();
        let Some([letters, name]) = names.as_deref() else {
            let stamp = self.change();
            state.doubt_vars(stamp);
            return Status::Unknown;
        };
        match next(letters, arguments.get(2..).unwrap_or_default(), state) {
            Some(Next::Option { letter, value, place }) => {
                self.assign(name, Value::Known(letter.to_string()), state);
                match value {
                    Some(value) => self.assign("OPTARG", value, state),
                    None => self.without_value(Content::Text(Value::Known(String::new())), state),
                }
                self.assign("OPTIND", Value::Known(place.0.to_string()), state);
                state.option_at = place.1;
                Status::Success
            }
            Some(Next::End { place }) => {
                self.assign(name, Value::Known("?".to_owned()), state);
                let before = state.get("OPTARG").map_or(Content::Unset, |variable| variable.content.clone());
                self.without_value(before, state);
                self.assign("OPTIND", Value::Known(place.to_string()), state);
                state.option_at = 0;
                Status::Failure
            }
            None => {
                let stamp = self.change();
                for name in ["OPTARG", "OPTIND", name] {
                    state.forget(name, stamp);
                }
                Status::Unknown
            }
        }
    }

    /// `OPTARG` where there is no value: bash unsets it, other shells have `otherwise` in it.
    fn without_value(&mut self, otherwise: Content, state: &mut ShellState) {
        let others = self.dialect.posix || self.is_zsh();
        let content = match others {
            true => otherwise,
            false if self.dialect.may_yet_be_zsh() => Content::Unset.or(&otherwise, "OPTARG", false),
            false => Content::Unset,
        };
        let stamp = self.change();
        let exported = state.get("OPTARG").and_then(|variable| variable.exported);
        state.put("OPTARG", Variable { content, exported, readonly: false, special: false }, stamp);
    }
}

/// What comes next: none where that is not known.
fn next(letters: &str, words: &[Word], state: &ShellState) -> Option<Next> {
    let own: Vec<Value> = words.iter().map(|word| word.value.clone()).collect();
    let all = match words {
        [] => state.arguments.known()?.get(1..)?,
        words if words.iter().any(is_open_ended) => return None,
        _ => &own,
    };
    let at = match state.get("OPTIND") {
        None => 1,
        Some(Variable { .. }) => state.known("OPTIND")?.parse::<usize>().ok().filter(|at| *at > 0)?,
    };
    let Some(word) = all.get(at - 1) else { return Some(Next::End { place: at }) };
    let text = word.known()?;
    if text == "--" {
        return Some(Next::End { place: at + 1 });
    }
    if !text.starts_with('-') || text == "-" {
        return Some(Next::End { place: at });
    }
    let from = state.option_at.max(1);
    let letter = text.get(from..)?.chars().next()?;
    let rest = text.get(from + letter.len_utf8()..)?;
    let place = if rest.is_empty() { (at + 1, 0) } else { (at, from + letter.len_utf8()) };
    let Some(meant) = letters.trim_start_matches(':').split_once(letter).filter(|_| letter != ':') else {
        // Where errors are not printed, it says which.
        let value = letters.starts_with(':').then(|| Value::Known(letter.to_string()));
        return Some(Next::Option { letter: '?', value, place });
    };
    if !meant.1.starts_with(':') {
        return Some(Next::Option { letter, value: None, place });
    }
    if !rest.is_empty() {
        return Some(Next::Option { letter, value: Some(Value::Known(rest.to_owned())), place: (at + 1, 0) });
    }
    // Without its value it is an error.
    let value = all.get(at)?.clone();
    Some(Next::Option { letter, value: Some(value), place: (at + 2, 0) })
}

//! `getopts`: the next option of the arguments, if they are known.

use crate::abstract_value::Variable;
use crate::interpreter::Interpreter;
use crate::interpreter::arguments::is_open_ended;
use crate::interpreter::state::{ShellState, Status};
use toolgate_shell_syntax::word::{Value, Word};

/// What `getopts` finds.
struct Next {
    /// The letter; `?` for one that is not meant.
    letter: char,
    value: Option<Value>,
    /// The number of the word that comes next, from one, and how far into it.
    place: (usize, usize),
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
            Some(Some(next)) => {
                self.assign(name, Value::Known(next.letter.to_string()), state);
                self.assign("OPTARG", next.value.unwrap_or(Value::Known(String::new())), state);
                self.assign("OPTIND", Value::Known(next.place.0.to_string()), state);
                state.option_at = next.place.1;
                Status::Success
            }
            Some(None) => {
                self.assign(name, Value::Known("?".to_owned()), state);
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
}

/// The next option: none inside where they have come to an end, none at all where that is not known.
fn next(letters: &str, words: &[Word], state: &ShellState) -> Option<Option<Next>> {
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
    let Some(word) = all.get(at - 1) else { return Some(None) };
    let text = word.known()?;
    if text == "--" || !text.starts_with('-') || text == "-" {
        return Some(None);
    }
    let from = state.option_at.max(1);
    let letter = text.get(from..)?.chars().next()?;
    let rest = text.get(from + letter.len_utf8()..)?;
    let place = if rest.is_empty() { (at + 1, 0) } else { (at, from + letter.len_utf8()) };
    let Some(meant) = letters.trim_start_matches(':').split_once(letter).filter(|_| letter != ':') else {
        return Some(Some(Next { letter: '?', value: Some(Value::Known(letter.to_string())), place }));
    };
    if !meant.1.starts_with(':') {
        return Some(Some(Next { letter, value: None, place }));
    }
    if !rest.is_empty() {
        return Some(Some(Next { letter, value: Some(Value::Known(rest.to_owned())), place: (at + 1, 0) }));
    }
    // Without its value it is an error.
    let value = all.get(at)?.clone();
    Some(Some(Next { letter, value: Some(value), place: (at + 2, 0) }))
}

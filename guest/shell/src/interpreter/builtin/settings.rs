//! `set` and `shopt`: the options of the shell, and its arguments.

use std::rc::Rc;

use crate::abstract_value::{Arguments, Content, Variable};
use crate::interpreter::Interpreter;
use crate::interpreter::arguments::{argument, is_open_ended};
use crate::interpreter::state::{ErrexitState, ShellState, Status};
use toolgate_shell_syntax::word::{Span, Value, Why, Word};

impl Interpreter<'_> {
    pub(super) fn set(&mut self, arguments: &[Word], span: Span, state: &mut ShellState) -> Status {
        if matches!(arguments.last().map(Word::text), None | Some("-o" | "+o")) {
            self.print(None, span, None, state);
        }
        if let Some([option, name, values @ ..]) = arguments.get(..arguments.len()).filter(|_| self.is_korn())
            && let (Some("-A" | "+A"), Some(name)) = (option.known(), name.known())
        {
            return self.set_array(name, values, state);
        }
        let mut at = 0;
        while let Some(word) = arguments.get(at) {
            let Some(text) = word.known().filter(|_| !word.several) else {
                // Options, or arguments.
                state.arguments = Arguments::Unknown;
                state.errexit = ErrexitState::Perhaps;
                (state.nounset, state.pipefail, state.allexport) = (true, true, true);
                return Status::Unknown;
            };
            at += 1;
            let on = text.starts_with('-');
            if text == "--" || !text.starts_with(['-', '+']) || text.len() < 2 {
                let rest = if matches!(text, "--" | "-") { &arguments[at..] } else { &arguments[at - 1..] };
                let several = rest.iter().any(|word| word.several);
                let zero = state.arguments.known().and_then(|values| values.first().cloned());
                let mut values = vec![zero.unwrap_or(Value::hole(Why::Expansion))];
                values.extend(rest.iter().map(|word| word.value.clone()));
                state.arguments = (!several).then_some(values).into();
                return Status::Success;
            }
            for letter in text.chars().skip(1) {
                match letter {
                    'e' => state.errexit = on.into(),
                    'u' => state.nounset = on,
                    'f' => state.noglob = on,
                    'a' => state.allexport = on,
                    'C' => state.noclobber = on,
                    'P' => state.physical = Some(on),
                    // Nothing runs any more.
                    'n' if on => self.leaves_shell(state, true),
                    'o' => {
                        match arguments.get(at).and_then(Word::known) {
                            Some("errexit") => state.errexit = on.into(),
                            Some("nounset") => state.nounset = on,
                            Some("noglob") => state.noglob = on,
                            Some("allexport") => state.allexport = on,
                            Some("pipefail") => state.pipefail = on,
                            Some("noclobber") => state.noclobber = on,
                            Some("posix") => state.aliases |= on,
                            Some("noexec") if on => self.leaves_shell(state, true),
                            Some("physical") => state.physical = Some(on),
                            _ => {}
                        }
                        at += 1;
                    }
                    _ => {}
                }
            }
        }
        Status::Success
    }

    /// Whether the shell may be ksh, mksh or zsh.
    fn is_korn(&self) -> bool {
        let named = self.via.last().is_some_and(|via| matches!(via.as_str(), "ksh" | "mksh" | "zsh"));
        named || self.dialect.may_be_zsh
    }

    /// `set -A NAME WORD ..` of ksh and zsh: an array.
    fn set_array(&mut self, name: &str, values: &[Word], state: &mut ShellState) -> Status {
        let values = match values {
            [first, rest @ ..] if first.known() == Some("--") => rest,
            values => values,
        };
        let content = match values.iter().any(is_open_ended) {
            true => Content::Unknown(Why::Variable(name.to_owned())),
            false => Content::Array(Rc::new(values.iter().map(argument).collect())),
        };
        let stamp = self.change();
        state.put(name, Variable { content, exported: Some(false), ..Variable::unknown(name) }, stamp);
        Status::Success
    }

    pub(super) fn shopt(&mut self, arguments: &[Word], state: &mut ShellState) -> Status {
        let named = |name: &str| arguments.iter().any(|word| word.known() == Some(name));
        if named("expand_aliases") {
            state.aliases = true;
        }
        let any = arguments.iter().any(|word| word.known().is_none());
        state.nocasematch |= any || named("nocasematch");
        state.lastpipe |= any || named("lastpipe");
        state.aliases |= any || named("posix");
        let options = arguments.iter().filter_map(Word::known).filter(|word| word.starts_with('-'));
        if any || options.flat_map(str::chars).any(|letter| letter == 'o') {
            state.errexit = ErrexitState::Perhaps;
        }
        self.execfail |= any || named("execfail");
        self.cdable |= named("cdable_vars");
        Status::Unknown
    }
}

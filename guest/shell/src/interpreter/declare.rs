//! `declare` and its like: names that get attributes, values and a place of their own.

use std::rc::Rc;

use super::builtin::options;
use super::state::{ShellState, Status};
use super::{FrameKind, Interpreter};
use crate::abstract_value::{Content, Variable};
use toolgate_shell_syntax::word::{Span, Value, Why, Word, is_name};

/// What is said of all the names of a command.
struct Declaration<'c> {
    command: &'c str,
    /// Of its options, with the signs before them.
    letters: String,
    /// The frame of the function whose own the names become.
    own: Option<usize>,
}

impl Declaration<'_> {
    fn flag(&self, c: char) -> bool {
        self.letters.split('+').next().is_some_and(|given| given.contains(c))
    }

    /// Whether it makes maps and nothing that changes their values.
    fn makes_maps(&self) -> bool {
        self.flag('A') && self.command != "export" && !['i', 'l', 'u', 'n'].into_iter().any(|c| self.flag(c))
    }

    /// Whether values change on their way in; a name that is known to be a map keeps them as they are.
    fn is_special(&self, map: bool) -> bool {
        ['i', 'l', 'u', 'n', 'c'].into_iter().any(|c| self.flag(c)) || self.flag('A') && !map
    }

    /// Whether programs are to see the names, if it says so.
    fn exported(&self) -> Option<Option<bool>> {
        match (self.command, self.flag('x'), self.flag('n'), self.letters.contains("+x")) {
            ("export", _, true, _) | (_, _, _, true) => Some(Some(false)),
            ("export", ..) | (_, true, ..) => Some(Some(true)),
            _ => None,
        }
    }
}

impl Interpreter<'_> {
    pub(super) fn declare(&mut self, command: &str, arguments: &[Word], span: Span, state: &mut ShellState) -> Status {
        let (letters, operands) = options(arguments);
        let mut declared = Declaration { command, letters, own: None };
        if declared.letters.contains(['f', 'F']) || (declared.letters.contains('p') && operands.is_empty()) {
            self.print(None, span, None, state);
            return Status::Unknown;
        }
        let function = self.frames.iter().rposition(|frame| frame.kind != FrameKind::Loop);
        let function = function.filter(|at| self.frames[*at].kind == FrameKind::Function);
        let local = matches!(command, "local" | "declare" | "typeset") && !declared.flag('g');
        declared.own = function.filter(|_| local);
        let mut status = Status::Success;
        for word in operands {
            let text = word.value.text().to_owned();
            let (name, value) = match text.split_once('=') {
                Some((name, value)) => (name, Some(value)),
                None => (text.as_str(), None),
            };
            let append = name.ends_with('+');
            let name = name.trim_end_matches('+');
            if !is_name(name) || (word.several && value.is_none()) {
                status = Status::Unknown;
                let stamp = self.change();
                match name.split('[').next().filter(|name| is_name(name)) {
                    Some(name) => state.forget(name, stamp),
                    None => state.doubt_vars(stamp),
                }
                continue;
            }
            if let Some(value) = value.filter(|_| declared.flag('i')) {
                self.evaluate_number(value, word.span, state);
            }
            let before = state.get(name).cloned();
            if let Some(before) = before.as_ref().filter(|before| before.readonly) {
                status = Status::Unknown;
                if let Some(value) = value {
                    self.declare_readonly(name, word, value, before, state);
                }
                continue;
            }
            if let Some(frame) = declared.own {
                let array = matches!(word.value, Value::Unknown { .. }) && before.is_some() && value == Some("\0");
                self.make_local(frame, name, before, array, state);
            }
            let content = state.get(name).map(|variable| &variable.content);
            let maps =
                matches!(content, Some(Content::OneOf(each)) if each.iter().all(|one| matches!(one, Content::Map(_))));
            let array = maps || matches!(content, Some(Content::Array(_) | Content::Map(_)));
            let mapped = maps || matches!(content, Some(Content::Map(_)));
            if value.is_none() && !mapped && declared.makes_maps() {
                self.make_map(name, state);
            }
            // One that hides another would have to bring that back when it ends.
            let hides = declared.own.is_some() && state.namerefs.contains_key(name);
            let refers = command != "export" && declared.flag('n') && !hides;
            // An index in what it stands for is expanded wherever it is used.
            if let Some(target) = value.filter(|target| refers && target.contains('[')) {
                self.run_substitutions(target, word.span, state);
            }
            if let Some(target) = value.filter(|_| refers && word.known().is_some())
                && self.make_reference(declared.own, name, target, state)
            {
                continue;
            }
            if let Some(value) = value.filter(|value| !(array && *value == "\0")) {
                let value = declared_value(word, name, value, append, state);
                self.assign(name, value, state);
            }
            self.set_attributes(&declared, name, maps, state);
        }
        status
    }

    /// Evaluates what a variable with a number in it is given: commands in it run, and in what the names in it stand for.
    pub(super) fn evaluate_number(&mut self, value: &str, span: Span, state: &mut ShellState) {
        self.run_substitutions(value, span, state);
        if !value.contains(Value::HOLE) {
            self.number_in(value, state);
        }
    }

    /// A value for a name that is readonly: it fails and changes nothing, if it was made so for certain.
    fn declare_readonly(&mut self, name: &str, word: &Word, value: &str, before: &Variable, state: &mut ShellState) {
        let stamp = self.change();
        let new = match &word.value {
            Value::Unknown { .. } => Content::Unknown(Why::Variable(name.to_owned())),
            _ => Content::Text(Value::Known(value.to_owned())),
        };
        let content = before.content.clone().or(&new, name, false);
        state.put(name, Variable { content, ..before.clone() }, stamp);
    }

    /// The name is the function's own from here on; `array` if it keeps the elements that it was just given.
    fn make_local(&mut self, frame: usize, name: &str, before: Option<Variable>, array: bool, state: &mut ShellState) {
        let known = self.frames[frame].locals.iter().any(|(known, _)| known == name);
        if !known {
            self.frames[frame].locals.push((name.to_owned(), before));
            let stamp = self.change();
            if !array {
                let content = Content::Unset;
                let unset = Variable { content, exported: Some(false), readonly: false, special: false };
                state.put(name, unset, stamp);
            }
        }
    }

    /// `declare -A name`
    fn make_map(&mut self, name: &str, state: &mut ShellState) {
        let stamp = self.change();
        let content = match state.get(name).map(|variable| &variable.content) {
            Some(Content::Unset) => Content::Map(Rc::default()),
            None if state.complete => Content::Map(Rc::default()),
            // What the environment may have put there is its element `0`.
            None => Content::Map(Rc::new([("0".to_owned(), Value::hole(Why::Expansion))].into())),
            _ => Content::Unknown(Why::Variable(name.to_owned())),
        };
        state.put(name, Variable { content, exported: Some(false), readonly: false, special: false }, stamp);
    }

    /// `declare -n name=target`, if that can be followed.
    fn make_reference(&mut self, own: Option<usize>, name: &str, target: &str, state: &mut ShellState) -> bool {
        if !is_name(target) || target == name {
            return false;
        }
        let stamp = self.change();
        state.refer(name, target, stamp);
        if let Some(frame) = own {
            self.frames[frame].references.push(name.to_owned());
        }
        true
    }

    /// `declare -n name`, of which it is not known what it stands for.
    fn refer_to_any(&mut self, own: Option<usize>, name: &str, state: &mut ShellState) {
        // One that hides another would have to bring that back when it ends.
        if own.is_some() && state.namerefs.contains_key(name) {
            state.all_unknown = true;
            return;
        }
        let stamp = self.change();
        state.refer_to_any(name, stamp);
        if let Some(frame) = own {
            self.frames[frame].references.push(name.to_owned());
        }
    }

    /// What holds of a name besides its value; `maps` if it was one of several maps before.
    fn set_attributes(&mut self, declared: &Declaration<'_>, name: &str, maps: bool, state: &mut ShellState) {
        let stamp = self.change();
        let map = maps || matches!(state.get(name).map(|variable| &variable.content), Some(Content::Map(_)));
        let special = declared.is_special(map);
        let exported = declared.exported();
        if special && declared.command != "export" {
            state.forget(name, stamp);
            if declared.flag('n') {
                self.refer_to_any(declared.own, name, state);
            }
        }
        let readonly = declared.command == "readonly" || declared.flag('r');
        if exported.is_none() && !readonly && !special {
            return;
        }
        let variable = state.get(name).cloned().unwrap_or_else(|| match state.complete {
            true => Variable { content: Content::Unset, exported: Some(false), readonly: false, special: false },
            false => Variable::unknown(name),
        });
        let changed = Variable {
            exported: exported.unwrap_or(variable.exported),
            readonly: variable.readonly || readonly,
            special: variable.special || (special && declared.command != "export"),
            ..variable
        };
        state.put(name, changed, stamp);
    }
}

/// What a name is given; `append` if it comes behind what it had before.
fn declared_value(word: &Word, name: &str, value: &str, append: bool, state: &ShellState) -> Value {
    let value = match &word.value {
        Value::Known(_) => Value::Known(value.to_owned()),
        Value::Pattern(_) => Value::hole(Why::Glob),
        Value::Unknown { why, .. } => Value::Unknown { why: why.clone(), shape: value.to_owned() },
    };
    match (append, state.known(name)) {
        (false, _) => value,
        (true, Some(before)) if value.known().is_some() => Value::Known(before + value.text()),
        (true, _) => Value::hole(Why::Variable(name.to_owned())),
    }
}

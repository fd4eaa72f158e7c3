//! Assignments: to variables, arrays and maps, and among the arguments of a command.

use std::collections::BTreeMap;
use std::rc::Rc;

use super::Interpreter;
use super::arguments::gap;
use super::state::ShellState;
use crate::abstract_value::{Content, Variable};
use toolgate_shell_syntax::syntax::{self, Assigned, Assignment, Part};
use toolgate_shell_syntax::word::{Span, Value, Why, Word, is_name};

/// Most elements that an array is followed with.
const MAX_ELEMENTS: usize = 1_000;

/// Sets an element of an array. Those that are left out on the way to it are not set.
fn put_at(values: &mut Vec<Value>, place: usize, value: Value) {
    if values.len() <= place {
        values.resize(place + 1, gap());
    }
    values[place] = value;
}

/// What a value is: one of several, if it may be one of several texts.
fn one_of(value: Value) -> Content {
    match &value {
        Value::Unknown { why: Why::Perhaps(texts), shape }
            if texts.len() > 1 && shape.matches(Value::HOLE).count() == 1 =>
        {
            let each = texts.iter().map(|text| Content::Text(Value::Known(shape.replace(Value::HOLE, text))));
            let other = Content::Text(Value::Unknown { why: Why::CommandOutput, shape: shape.clone() });
            Content::OneOf(Rc::new(each.chain([other]).collect()))
        }
        _ => Content::Text(value),
    }
}

/// What a variable holds after an assignment: of an array all but its first element stays.
fn with_first(before: &Content, value: &Content, name: &str) -> Content {
    match (before, value) {
        (Content::Array(values), Content::Text(value)) => {
            let mut values = values.to_vec();
            match values.first_mut() {
                Some(first) => first.clone_from(value),
                None => values.push(value.clone()),
            }
            Content::Array(Rc::new(values))
        }
        (Content::OneOf(all), _) if all.iter().any(|one| matches!(one, Content::Array(_))) => {
            let each = all.iter().map(|one| with_first(one, value, name));
            each.reduce(|a, b| a.or(&b, name, false)).unwrap_or_else(|| value.clone())
        }
        _ => value.clone(),
    }
}

impl Interpreter<'_> {
    /// Sets a variable as an assignment does.
    pub(super) fn assign(&mut self, name: &str, value: Value, state: &mut ShellState) {
        let stamp = self.change();
        let before = state.get(name).cloned();
        let readonly = before.as_ref().is_some_and(|before| before.readonly);
        let special = before.as_ref().is_some_and(|before| before.special);
        if readonly {
            // The assignment fails; whether it was made readonly may depend on the run.
            if let Some(before) = before {
                let content = before.content.clone().or(&one_of(value), name, false);
                state.put(name, Variable { content, ..before }, stamp);
            }
            return;
        }
        if special {
            // One with a number in it evaluates what it is given.
            self.evaluate_number(value.text(), Span::default(), state);
        }
        if special
            || value.text().len() > crate::abstract_value::MAX_VALUE
            || matches!(name, "RANDOM" | "SECONDS" | "LINENO")
        {
            return state.forget(name, stamp);
        }
        let exported = match before {
            Some(before) => before.exported,
            None if state.complete => Some(false),
            None => None,
        };
        let exported = if state.allexport { Some(true) } else { exported };
        let unset = Content::Unset;
        let before = state.get(name).map_or(&unset, |variable| &variable.content);
        let content = with_first(before, &one_of(value), name);
        state.put(name, Variable { content, exported, readonly: false, special: false }, stamp);
        state.share(name);
    }

    pub(super) fn assigned_argument(&mut self, word: &syntax::Word, state: &mut ShellState) -> Word {
        let Some(Part::Literal(first)) = word.parts.first() else { return self.assigned(word, state) };
        let Some((name, rest)) = first.text.split_once('=') else { return self.assigned(word, state) };
        let at = first.at.map(|at| at + name.len() + 1);
        let rest = syntax::Literal { text: rest.to_owned(), quoted: false, at, ..*first };
        let value = self.assigned_parts(&rest, word, state);
        let mut word = Word { span: word.span, at: first.at, ..value };
        let whole = format!("{name}={}", word.value.text());
        word.at = word.at.filter(|_| whole == first.text);
        word.value = match word.value {
            Value::Unknown { why, .. } => Value::Unknown { why, shape: whole },
            _ if whole.contains(Value::HOLE) => Value::Unknown { why: Why::Expansion, shape: whole },
            _ => Value::Known(whole),
        };
        word
    }

    /// Assigns, and says what.
    pub(super) fn assignment(&mut self, assignment: &Assignment, state: &mut ShellState) -> Word {
        let name = assignment.name.as_str();
        let keyed = state.get(name).is_some_and(|variable| matches!(variable.content, Content::Map(_)));
        if let (true, Some(index), Assigned::Scalar(word)) = (keyed, &assignment.index, &assignment.value) {
            let (key, word) = (self.assigned(index, state), self.assigned(word, state));
            self.assign_keys(name, vec![(key, word)], assignment.append, true, state);
            return Word::unknown(Why::Expansion, assignment.span);
        }
        if let (Some(index), Assigned::Scalar(word)) = (&assignment.index, &assignment.value) {
            self.assign_table(name, index, word, assignment.span, state);
        }
        let first = self.is_zsh();
        let index = assignment
            .index
            .as_ref()
            .map(|index| self.number(index, state).map(|number| if first && number > 0 { number - 1 } else { number }));
        match &assignment.value {
            Assigned::Array(elements) => {
                if keyed {
                    self.assign_map(name, elements, assignment.append, state);
                } else {
                    self.assign_array(name, elements, assignment.append, state);
                }
                Word::unknown(Why::Expansion, assignment.span)
            }
            Assigned::Scalar(word) => {
                let mut word = self.assigned(word, state);
                if let Some(index) = index {
                    self.assign_element(name, index, &word, assignment.append, state);
                    return Word::unknown(Why::Expansion, assignment.span);
                }
                if assignment.append {
                    let joined = match (state.known(name), word.known()) {
                        (Some(before), Some(more)) => Some(before + more),
                        (None, Some(more)) if state.get(name).is_some_and(|v| v.content == Content::Unset) => {
                            Some(more.to_owned())
                        }
                        _ => None,
                    };
                    word.value = joined.map_or(Value::hole(Why::Variable(name.to_owned())), Value::Known);
                    word.at = None;
                }
                self.assign(name, word.value.clone(), state);
                word
            }
        }
    }

    pub(super) fn assign_array(
        &mut self,
        name: &str,
        elements: &[syntax::Element],
        append: bool,
        state: &mut ShellState,
    ) {
        let mut values: Option<Vec<Value>> = match state.get(name).map(|variable| &variable.content) {
            _ if !append => Some(Vec::new()),
            Some(Content::Array(values)) => Some(values.to_vec()),
            Some(Content::Unset) => Some(Vec::new()),
            _ => None,
        };
        let first = self.is_zsh();
        let mut at = values.as_ref().map_or(0, Vec::len);
        for element in elements {
            if let Some(index) = &element.index {
                let number = self.number(index, state);
                let number = number.map(|number| if first && number > 0 { number - 1 } else { number });
                let place = number.and_then(|number| usize::try_from(number).ok());
                let word = self.assigned(&element.word, state);
                match (&mut values, place) {
                    (Some(values), Some(place)) if place < MAX_ELEMENTS => {
                        put_at(values, place, word.value);
                        at = place + 1;
                    }
                    _ => values = None,
                }
                continue;
            }
            for word in self.words(&element.word, state) {
                match &mut values {
                    Some(values) if !word.several => put_at(values, at, word.value),
                    _ => values = None,
                }
                at += 1;
            }
        }
        let stamp = self.change();
        let special = state.get(name).is_some_and(|variable| variable.special || variable.readonly);
        let values = values.filter(|values| !special && values.len() < MAX_ELEMENTS);
        let content = values.map(|values| Content::Array(Rc::new(values)));
        let content = content.unwrap_or(Content::Unknown(Why::Variable(name.to_owned())));
        let before = state.get(name).cloned().unwrap_or(Variable { exported: Some(false), ..Variable::unknown(name) });
        state.put(name, Variable { content, ..before }, stamp);
    }

    /// `declare -A name=([key]=value ..)`
    pub(super) fn assign_map(
        &mut self,
        name: &str,
        elements: &[syntax::Element],
        append: bool,
        state: &mut ShellState,
    ) {
        let mut keys = Vec::new();
        for element in elements {
            let key = match &element.index {
                Some(index) => self.assigned(index, state),
                // Keys and values in turn are not followed.
                None => Word::unknown(Why::Expansion, element.word.span),
            };
            keys.push((key, self.assigned(&element.word, state)));
        }
        self.assign_keys(name, keys, false, append, state);
    }

    /// Sets keys of a map; without `more` they are all there is.
    fn assign_keys(&mut self, name: &str, keys: Vec<(Word, Word)>, append: bool, more: bool, state: &mut ShellState) {
        let variable = state.get(name).cloned().unwrap_or_else(|| Variable::unknown(name));
        let mut values = match &variable.content {
            _ if variable.readonly => None,
            _ if !more => Some(BTreeMap::new()),
            Content::Map(values) => self.afford(values.len() * 16).then(|| values.as_ref().clone()),
            Content::Unset => Some(BTreeMap::new()),
            _ => None,
        };
        for (key, word) in keys {
            match (&mut values, key.known()) {
                (Some(values), Some(key)) if !append && values.len() < 1_000 => {
                    values.insert(key.to_owned(), word.value);
                }
                _ => values = None,
            }
        }
        let stamp = self.change();
        let unknown = || Content::Unknown(Why::Variable(name.to_owned()));
        let content = values.map_or_else(unknown, |values| Content::Map(Rc::new(values)));
        state.put(name, Variable { content, exported: Some(false), special: false, ..variable }, stamp);
    }

    fn assign_element(&mut self, name: &str, index: Option<i64>, word: &Word, append: bool, state: &mut ShellState) {
        let stamp = self.change();
        // zsh puts the value into a text, in the place of a character.
        let is_text = |variable: &Variable| matches!(variable.content, Content::Text(_));
        let fixed = state.get(name).is_some_and(|variable| variable.special || variable.readonly || is_text(variable));
        let values = match state.get(name).map(|variable| &variable.content) {
            _ if fixed => None,
            Some(Content::Array(values)) => Some(values.to_vec()),
            Some(Content::Text(value)) => Some(vec![value.clone()]),
            Some(Content::Unset) => Some(Vec::new()),
            None if state.complete => Some(Vec::new()),
            // The environment has no arrays. What it may have is the first element.
            None if !state.budget_exceeded => Some(vec![Value::hole(Why::Environment(name.to_owned()))]),
            _ => None,
        };
        let place = index.and_then(|index| usize::try_from(index).ok()).filter(|place| *place < MAX_ELEMENTS);
        let content = match (values, place) {
            (Some(mut values), Some(place)) if !append => {
                put_at(&mut values, place, word.value.clone());
                Some(Content::Array(Rc::new(values)))
            }
            // Wherever it is, it is one of them.
            (values, _) if !append && !fixed && word.known().is_some() => {
                let mut values = values.unwrap_or_default();
                if !values.contains(&word.value) && values.len() < MAX_ELEMENTS {
                    values.push(word.value.clone());
                }
                let unknown = Content::Unknown(Why::Variable(name.to_owned()));
                Some(Content::Array(Rc::new(values)).or(&unknown, name, false))
            }
            _ => None,
        };
        match content {
            Some(content) => {
                let variable = state.get(name).cloned().unwrap_or_else(|| Variable::unknown(name));
                state.put(name, Variable { content, exported: Some(false), ..variable }, stamp);
            }
            None => state.forget(name, stamp),
        }
    }
}

/// Whether a word has the form of an assignment.
pub(super) fn assigns(word: &syntax::Word) -> bool {
    let Some(Part::Literal(first)) = word.parts.first() else { return false };
    let Some((name, _)) = first.text.split_once('=').filter(|_| !first.quoted) else { return false };
    let name = name.strip_suffix('+').unwrap_or(name);
    is_name(name) && !matches!(word.parts.get(1), Some(Part::Array(_)))
}

pub(super) fn tilde_value(word: &syntax::Word) -> bool {
    let Some(Part::Literal(first)) = word.parts.first() else { return false };
    first.text.split_once('=').is_some_and(|(_, value)| value.starts_with('~') || value.contains(":~"))
}

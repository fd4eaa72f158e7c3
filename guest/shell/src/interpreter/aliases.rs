//! Aliases: a word that stands for words before others, or for any text. Not where they are set, which `builtin` does. A global
//! one of zsh, which any word may be, is kept as `-g NAME`: no command is called so.

use super::Interpreter;
use super::control_exits::ControlExits;
use super::state::{ShellState, Status};
use toolgate_shell_syntax::syntax::{self, Assignment, Base, NodeKind};
use toolgate_shell_syntax::word::{Span, Word};

/// What stands before the name of a global alias.
pub(super) const GLOBAL: &str = "-g ";

impl Interpreter<'_> {
    /// A command whose first word may be an alias. On the line that defines it it is none yet, so that the command as
    /// it is written is looked at too.
    pub(super) fn aliased(
        &mut self,
        span: Span,
        assignments: &[Assignment],
        words: &[&syntax::Word],
        redirects: &[syntax::Redirect],
        state: ShellState,
    ) -> ControlExits {
        if let Some(ends) = self.with_global(span, assignments, words, redirects, &state) {
            return ends;
        }
        let found = self.alias_of(words, &state);
        let Some((name, texts)) = found.filter(|_| self.may_nest()) else {
            return self.unaliased(span, assignments, words, redirects, state);
        };
        let joiner = self.joiner;
        let before = state.clone();
        let mut end = None;
        self.calls.push(name);
        for text in texts {
            let own = before.clone();
            let expanded = self.doubting(true, |interpreter| {
                interpreter.inside("alias", |interpreter| match alias_words(&text, span) {
                    Some(parsed) => {
                        let own_words = simple_words(&parsed).unwrap_or_default();
                        let all: Vec<&syntax::Word> = own_words.iter().chain(words.iter().skip(1).copied()).collect();
                        interpreter.joiner = joiner;
                        interpreter.aliased(span, assignments, &all, redirects, own)
                    }
                    None => {
                        let mut ends = None;
                        interpreter.text(&Word::new(text, span), |interpreter, list| {
                            ends = Some(interpreter.list(list, own.clone()));
                        });
                        ends.unwrap_or_else(|| ControlExits::of(own))
                    }
                })
            });
            let expanded = expanded.join(self);
            end = self.either(end, Some(expanded));
        }
        self.calls.pop();
        self.joiner = joiner;
        let plain =
            self.doubting(true, |interpreter| interpreter.unaliased(span, assignments, words, redirects, state));
        let plain = plain.join(self);
        let end = self.either(end, Some(plain)).unwrap_or(before);
        ControlExits::with(end, Status::Unknown)
    }

    /// The same command with what global aliases stand for in the place of their names, if it has such words.
    fn with_global(
        &mut self,
        span: Span,
        assignments: &[Assignment],
        words: &[&syntax::Word],
        redirects: &[syntax::Redirect],
        state: &ShellState,
    ) -> Option<ControlExits> {
        if !self.dialect.may_be_zsh || state.alias_texts.is_empty() {
            return None;
        }
        let mut used = Vec::new();
        let mut texts = Vec::new();
        for word in words {
            let name = word.plain().map(|name| format!("{GLOBAL}{name}"));
            let name = name.filter(|name| !self.calls.contains(name));
            let found = name.as_ref().and_then(|name| state.alias_texts.get(name)).and_then(|texts| texts.first());
            texts.push(found.and_then(|text| alias_words(text, span)));
            used.extend(name.filter(|_| found.is_some()));
        }
        if used.is_empty() || !self.may_nest() {
            return None;
        }
        let expanded = words.iter().zip(&texts).flat_map(|(word, text)| match text {
            Some(parsed) => simple_words(parsed).unwrap_or_default().iter().collect(),
            None => vec![*word],
        });
        let expanded: Vec<&syntax::Word> = expanded.collect();
        let calls = self.calls.len();
        self.calls.extend(used);
        let own = state.clone();
        let ends = self.doubting(true, |interpreter| interpreter.aliased(span, assignments, &expanded, redirects, own));
        self.calls.truncate(calls);
        let end = ends.join(self);
        Some(ControlExits::with(state.clone().merge(end, self.change()), Status::Unknown))
    }

    /// The alias that the first word is, and what it stands for.
    fn alias_of(&self, words: &[&syntax::Word], state: &ShellState) -> Option<(String, Vec<String>)> {
        let on = state.aliases || state.get("POSIXLY_CORRECT").is_some();
        let name = words.first().filter(|_| on)?.plain()?;
        let texts = state.alias_texts.get(name)?;
        (!self.calls.iter().any(|call| call == name)).then(|| (name.to_owned(), texts.clone()))
    }
}

/// The text of an alias that stands for words before others, and for nothing else.
pub(super) fn alias_words(text: &str, span: Span) -> Option<syntax::Parsed> {
    let parsed = syntax::parse(text, Base::opaque(span), 0).ok()?;
    simple_words(&parsed).is_some().then_some(parsed)
}

/// The words of a text that is one simple command without redirects and assignments.
fn simple_words(parsed: &syntax::Parsed) -> Option<&[syntax::Word]> {
    let [item] = parsed.list.items.as_slice() else { return None };
    let [node] = item.first.commands.as_slice() else { return None };
    let NodeKind::Simple { assignments, words } = &node.kind else { return None };
    let plain = item.rest.is_empty() && !item.background && !item.first.negated;
    (plain && assignments.is_empty() && node.redirects.is_empty() && !words.is_empty()).then_some(words)
}

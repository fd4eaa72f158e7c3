//! Which variables a call of a function may change, by its text: what is left of one that is not followed.
//!
//! Read without running it, so it speaks only of what is plain: a word that is put together, a builtin that changes more
//! than variables, an expression that may assign, and nothing is said at all.

use std::collections::BTreeSet;

use crate::interpreter::builtin_names::runs_in_shell;
use crate::interpreter::state::{Function, ShellState};
use toolgate_shell_syntax::syntax::{
    Assigned, Assignment, Descriptor, Element, Index, Item, List, Node, NodeKind, Operation, Part, Redirect, Target,
    Test, Word,
};
use toolgate_shell_syntax::word::{is_name, name_length};

/// Builtins that change neither variables nor the shell, whatever they are given.
const HARMLESS: &[&str] = &[
    ":", "[", "break", "caller", "continue", "echo", "exit", "false", "help", "jobs", "kill", "pwd", "return", "shift",
    "times", "true", "type", "umask",
];

/// What zsh has besides, that sets what it is given.
const OF_ZSH: &[&str] = &[
    "autoload",
    "chdir",
    "emulate",
    "float",
    "functions",
    "integer",
    "noglob",
    "nocorrect",
    "print",
    "private",
    "setopt",
    "sched",
    "sysread",
    "unsetopt",
    "vared",
    "zcompile",
    "zformat",
    "zle",
    "zmodload",
    "zparseopts",
    "zregexparse",
    "zstat",
    "zstyle",
    "zsocket",
    "ztcp",
];

/// Whether words mean what they say: no name stands for another, and nothing runs between commands.
pub(super) fn may_be_told(state: &ShellState) -> bool {
    state.namerefs.is_empty() && state.handlers.is_empty() && !state.aliases && state.alias_texts.is_empty()
}

/// The names that the bodies may assign, and those of all functions that they call; none if it may be any.
pub(super) fn names(function: &Function, state: &ShellState) -> Option<BTreeSet<String>> {
    let mut reader = Reader { state, names: BTreeSet::new(), called: BTreeSet::new() };
    // What programs end with, and the last word of the command before.
    for name in ["_", "BASH_REMATCH", "REPLY", "PIPESTATUS", "COPROC"] {
        reader.names.insert(name.to_owned());
    }
    reader.function(function)?;
    Some(reader.names)
}

struct Reader<'a> {
    state: &'a ShellState,
    names: BTreeSet<String>,
    called: BTreeSet<String>,
}

impl Reader<'_> {
    fn function(&mut self, function: &Function) -> Option<()> {
        if function.bodies.is_empty() {
            return None;
        }
        function.bodies.iter().try_for_each(|body| self.node(body))
    }

    fn list(&mut self, list: &List) -> Option<()> {
        list.items.iter().try_for_each(|Item { first, rest, .. }| {
            let pipelines = std::iter::once(first).chain(rest.iter().map(|(_, pipeline)| pipeline));
            pipelines.flat_map(|pipeline| &pipeline.commands).try_for_each(|node| self.node(node))
        })
    }

    fn node(&mut self, node: &Node) -> Option<()> {
        node.redirects.iter().try_for_each(|redirect| self.redirect(redirect))?;
        match &node.kind {
            NodeKind::Simple { assignments, words } => {
                // Before `read` they hold for it alone, as in `IFS= read -r line`.
                let lasts = words.first().is_none_or(|first| first.plain() != Some("read"));
                assignments.iter().try_for_each(|assignment| self.assignment(assignment, lasts))?;
                self.command(words)
            }
            NodeKind::Subshell(list) | NodeKind::Group(list) => self.list(list),
            NodeKind::If { clauses, otherwise } => {
                for (condition, body) in clauses {
                    self.list(condition)?;
                    self.list(body)?;
                }
                otherwise.as_ref().map_or(Some(()), |list| self.list(list))
            }
            NodeKind::Loop { condition, body, .. } => {
                self.list(condition)?;
                self.list(body)
            }
            NodeKind::For { name, words, body, .. } => {
                self.name(name)?;
                words.iter().flatten().try_for_each(|word| self.word(word))?;
                self.list(body)
            }
            NodeKind::Case { subject, arms } => {
                self.word(subject)?;
                arms.iter().try_for_each(|arm| {
                    arm.patterns.iter().try_for_each(|word| self.word(word))?;
                    self.list(&arm.body)
                })
            }
            NodeKind::Test(test) => self.test(test),
            NodeKind::Count { .. }
            | NodeKind::Arithmetic(_)
            | NodeKind::Function { .. }
            | NodeKind::Coprocess { .. } => None,
        }
    }

    fn name(&mut self, name: &str) -> Option<()> {
        is_name(name).then(|| {
            self.names.insert(name.to_owned());
        })
    }

    fn assignment(&mut self, assignment: &Assignment, lasts: bool) -> Option<()> {
        if assignment.index.is_some() {
            return None;
        }
        if lasts {
            self.name(&assignment.name)?;
        }
        match &assignment.value {
            Assigned::Scalar(word) => self.word(word),
            Assigned::Array(elements) => self.elements(elements),
        }
    }

    fn elements(&mut self, elements: &[Element]) -> Option<()> {
        elements.iter().try_for_each(|element| {
            if element.index.is_some() {
                return None;
            }
            self.word(&element.word)
        })
    }

    fn redirect(&mut self, redirect: &Redirect) -> Option<()> {
        if redirect.fd == Descriptor::Named {
            return None;
        }
        match &redirect.target {
            Target::Word(word) => self.word(word),
            Target::Document(word) => word.get().map_or(Some(()), |word| self.word(word)),
        }
    }

    fn test(&mut self, test: &Test) -> Option<()> {
        match test {
            Test::Or(left, right) | Test::And(left, right) => {
                self.test(left)?;
                self.test(right)
            }
            Test::Not(inner) => self.test(inner),
            // The subscript of a name is an expression.
            Test::Unary(operator, _) if matches!(operator.as_str(), "-v" | "-R") => None,
            Test::Unary(_, word) | Test::Word(word) => self.word(word),
            Test::Binary(operator, ..)
                if matches!(operator.as_str(), "-eq" | "-ne" | "-lt" | "-le" | "-gt" | "-ge") =>
            {
                None
            }
            Test::Binary(_, left, right) => {
                self.word(left)?;
                self.word(right)
            }
        }
    }

    fn command(&mut self, words: &[Word]) -> Option<()> {
        let Some((first, arguments)) = words.split_first() else { return Some(()) };
        let name = first.literal()?;
        arguments.iter().try_for_each(|word| self.word(word))?;
        if let Some((function, sure)) = self.state.function(&name) {
            if self.called.insert(name.clone()) {
                self.function(&function)?;
            }
            if sure {
                return Some(());
            }
        }
        match name.as_str() {
            "local" => arguments.iter().try_for_each(|word| self.declared(word)),
            "read" => arguments.iter().try_for_each(|word| self.told(word)),
            // `-v` is told a name, whose subscript is an expression.
            "printf" | "test" => {
                let format = arguments.first().map(Word::literal);
                let is_option = |text: Option<String>| text.is_none_or(|text| text.starts_with('-'));
                (!format.is_some_and(is_option)).then_some(())
            }
            name if HARMLESS.contains(&name) => Some(()),
            name if runs_in_shell(name) || OF_ZSH.contains(&name) => None,
            _ => Some(()),
        }
    }

    /// An argument of `local`: a name, or a name and its value.
    fn declared(&mut self, word: &Word) -> Option<()> {
        let Some(Part::Literal(literal)) = word.parts.first() else { return None };
        let name = &literal.text[..name_length(&literal.text)];
        let rest = &literal.text[name.len()..];
        if rest.starts_with('=') || rest.is_empty() && word.parts.len() == 1 { self.name(name) } else { None }
    }

    /// An argument of `read`: any plain word may be a name.
    fn told(&mut self, word: &Word) -> Option<()> {
        let text = word.literal()?;
        if is_name(&text) {
            return self.name(&text);
        }
        (!text.contains('[')).then_some(())
    }

    fn word(&mut self, word: &Word) -> Option<()> {
        self.parts(&word.parts)
    }

    fn parts(&mut self, parts: &[Part]) -> Option<()> {
        parts.iter().try_for_each(|part| match part {
            // What runs in a shell of its own changes nothing here.
            Part::Literal(_) | Part::Command(_) | Part::Process(_) => Some(()),
            Part::Double(inner) => self.parts(inner),
            Part::Parameter(parameter) => {
                if parameter.indirect || matches!(parameter.index, Some(Index::Word(_))) {
                    return None;
                }
                match &parameter.operation {
                    Operation::None | Operation::Length | Operation::Transform(_) => Some(()),
                    Operation::Default { operator, word, .. } => {
                        if *operator == b'=' {
                            self.name(&parameter.name)?;
                        }
                        self.word(word)
                    }
                    Operation::Remove { pattern, .. } | Operation::Case { pattern, .. } => self.word(pattern),
                    Operation::Replace { pattern, with, .. } => {
                        self.word(pattern)?;
                        self.word(with)
                    }
                    Operation::Substring { .. } | Operation::Names | Operation::Commands(_) | Operation::Malformed => {
                        None
                    }
                }
            }
            Part::Array(elements) => self.elements(elements),
            Part::Arithmetic(_) | Part::Malformed => None,
        })
    }
}

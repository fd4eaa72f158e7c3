//! The surroundings of what is run: what a wrapper changes of them, and what a process of its own has.

use crate::abstract_value::{Content, Folders, Other, Variable};
use crate::facts::{FileOracle as _, Presence};
use crate::interpreter::Interpreter;
use crate::interpreter::arguments::{argument, is_open_ended};
use crate::interpreter::path_resolution::made_up;
use crate::interpreter::state::{ErrexitState, ShellState, Status};
use crate::shared::Shared;
use crate::wrapper::{ContextChange, Directory};
use toolgate_shell_syntax::path::{absolute, parent};
use toolgate_shell_syntax::word::{Value, Word};

/// Beginnings of the names of variables that shells do not set themselves, and that have other programs run code.
const OTHERS: &[&str] = &["LD_", "DYLD_", "NODE_", "PYTHON", "PERL5", "RUBY"];

impl Interpreter<'_> {
    /// The surroundings that a wrapper gives to what it runs.
    pub(super) fn surroundings(&mut self, change: &ContextChange, state: &mut ShellState) {
        let stamp = self.change();
        if change.clear_env {
            let names: Vec<String> = state.vars().keys().cloned().collect();
            for name in names {
                let unset = Variable { content: Content::Unset, ..Variable::unknown(&name) };
                state.put(&name, unset, stamp);
            }
            // Shells and programs such as sudo set a few of their own.
            state.complete = false;
        }
        if change.other_user {
            state.forget("HOME", stamp);
            state.forget("USER", stamp);
        }
        for name in &change.unset {
            state.put(name, Variable { content: Content::Unset, ..Variable::unknown(name) }, stamp);
        }
        for (name, word) in &change.set {
            state.put(name, Variable::text(word.value.clone(), Some(true)), stamp);
        }
        match &change.cwd {
            None => {}
            Some(Directory::Word(word)) => {
                // The variable stays as it is.
                if state.get("PWD").is_none() {
                    let variable = match state.folders.certain() {
                        Some(folder) => Variable::text(Value::Known(folder.to_owned()), Some(true)),
                        None => Variable::unknown("PWD"),
                    };
                    state.put("PWD", variable, stamp);
                }
                state.folders = match word.known() {
                    Some(to) if to.starts_with('/') => Folders::one(absolute(to, "/")),
                    Some(to) => {
                        let mut folders = state.folders.clone();
                        folders.other = Other::Anything;
                        folders.possible =
                            folders.possible.iter().map(|folder| absolute(to, folder)).collect::<Vec<_>>().into();
                        folders
                    }
                    None => Folders { other: made_up(&word.value, state), ..Folders::unknown() },
                };
            }
            Some(Directory::Home) => {
                state.folders = match state.known("HOME").filter(|_| !change.other_user) {
                    Some(home) => Folders::one(absolute(&home, "/")),
                    None => Folders::unknown(),
                };
            }
            Some(Directory::Top) => {
                let tops = state.folders.certain().map(|folder| std::iter::successors(Some(folder), |at| parent(at)));
                let is_top = |folder: &&str| {
                    let git = absolute(".git", folder);
                    matches!(state.files.look(&git), Presence::Folder | Presence::File)
                };
                let top = tops.and_then(|mut tops| tops.find(is_top)).map(str::to_owned);
                state.folders = match top {
                    Some(top) => Folders::one(top),
                    // It may be here.
                    None => Folders { known: false, open: true, other: Other::Anything, ..state.folders.clone() },
                };
            }
            Some(Directory::Unknown) => state.folders = Folders::unknown(),
        }
        if change.elsewhere {
            state.folders = Folders::unknown();
            state.files.doubt_all(stamp);
        }
    }

    /// What a new shell process sees of this one: what is exported.
    pub(in crate::interpreter) fn process(&mut self, state: &ShellState, arguments: &[Word]) -> ShellState {
        let mut own = state.clone();
        let stamp = self.change();
        for (name, variable) in state.vars() {
            match (variable.exported, &variable.content) {
                (Some(true), Content::Text(_) | Content::OneOf(_) | Content::Unknown(_) | Content::Unset)
                    if name != "IFS" =>
                {
                    let plain = Variable { readonly: false, special: false, ..variable.clone() };
                    own.put(name, plain, stamp);
                }
                (Some(false), _) => {
                    own.put(name, Variable { content: Content::Unset, ..Variable::unknown(name) }, stamp);
                }
                _ if name == "IFS" => own.remove(name, stamp),
                (None, Content::Text(_) | Content::OneOf(_)) => {
                    let content = variable.content.clone().or(&Content::Unset, name, false);
                    let plain = Variable { content, exported: Some(true), readonly: false, special: false };
                    own.put(name, plain, stamp);
                }
                // What was taken from the environment no shell puts back, if it is none of its own.
                (None, Content::Unset) if OTHERS.iter().any(|beginning| name.starts_with(*beginning)) => {}
                _ => own.forget(name, stamp),
            }
        }
        // A shell finds out itself where it is.
        own.remove("PWD", stamp);
        let several = arguments.iter().any(is_open_ended);
        own.arguments = (!several).then(|| arguments.iter().map(argument).collect::<Vec<_>>()).into();
        own.handlers = Shared::default();
        own.keep_exported_functions(stamp);
        own.stack = Some(Shared::default());
        own.errexit = ErrexitState::Off;
        (own.nounset, own.pipefail, own.noglob, own.allexport) = (false, false, false, false);
        own.status = Status::Success;
        own.remove("OPTIND", stamp);
        own.option_at = 0;
        own
    }
}

//! `cd`, `pushd` and `popd`: the directory, and the stack of those before.

use super::options;
use crate::abstract_value::{Content, Folders, Other, Variable};
use crate::facts::{FileOracle as _, Presence};
use crate::interpreter::Interpreter;
use crate::interpreter::control_exits::ControlExits;
use crate::interpreter::parameter::Got;
use crate::interpreter::path_resolution::{made_up, other_below};
use crate::interpreter::state::{ShellState, Status};
use crate::shared::Shared;
use toolgate_shell_syntax::path::absolute;
use toolgate_shell_syntax::word::{Span, Value, Word, is_name};

/// Longest path that a system takes, in bytes; changing to a longer one fails.
const MAX_PATH: usize = 4_096;

/// How many directories of `CDPATH` are followed.
const MAX_PLACES: usize = 8;

/// Deepest directory that is followed; below it, it is unknown. Each step down costs every later look at a path.
const MAX_LEVELS: usize = 32;

impl Interpreter<'_> {
    /// The folder that a variable of this name has, where there is no folder of the name.
    fn named_folder(&self, name: &str, state: &ShellState) -> Option<String> {
        let folder = state.known(name).filter(|_| self.cdable && is_name(name))?;
        let own = absolute(name, state.folders.certain()?);
        (state.files.look(&own) != Presence::Folder).then_some(folder)
    }

    pub(super) fn cd(&mut self, arguments: &[Word], span: Span, state: ShellState) -> ControlExits {
        let (letters, operands) = options(arguments);
        let physical = letters.rfind(['P', 'L']).map(|at| letters[at..].starts_with('P'));
        let Some(physical) = physical.or(state.physical) else {
            return self.either_way(state, |interpreter, state| interpreter.cd(arguments, span, state));
        };
        // dash goes to the first of several.
        self.dialect.beyond |= operands.len() > 1;
        let operands = if self.dialect.posix && operands.len() > 1 { &operands[..1] } else { operands };
        if letters.chars().any(|c| !"-PLe@".contains(c)) || operands.len() > 1 {
            // zsh puts the second in the place of the first in the name of where it is.
            if operands.iter().any(|word| word.several) || self.dialect.may_be_zsh && operands.len() == 2 {
                return self.cd_unknown(state);
            }
            return ControlExits::with(state, Status::Failure);
        }
        let mut shows = false;
        let target = match operands.first() {
            None => match state.lookup("HOME") {
                Got::Set(Value::Known(home)) => home,
                _ => return self.cd_unknown(state),
            },
            Some(word) if word.several => {
                let other = made_up(&word.value, &state);
                return self.cd_other(other, state);
            }
            Some(word) => match word.known() {
                Some("-") => match state.lookup("OLDPWD") {
                    Got::Set(Value::Known(folder)) => {
                        shows = true;
                        folder
                    }
                    _ => {
                        self.print(None, span, None, &state);
                        return self.cd_unknown(state);
                    }
                },
                Some(text) => text.to_owned(),
                None => return self.cd_other(made_up(&word.value, &state), state),
            },
        };
        let target = self.named_folder(&target, &state).unwrap_or(target);
        let cdpath = state.get("CDPATH").is_some_and(|variable| match &variable.content {
            Content::Unset => false,
            Content::Text(value) => value.known() != Some(""),
            _ => true,
        });
        let own = target.starts_with('/') || matches!(target.split('/').next(), Some("." | ".."));
        if cdpath && !own {
            // What is found through it is also printed.
            self.print(None, span, None, &state);
            return self.cd_through(&target, physical, state);
        }
        if shows {
            self.print(Some(&format!("{target}\n")), span, None, &state);
        }
        self.change_folder(&target, physical, state)
    }

    /// Goes to the first directory of this name in one that `CDPATH` names, or here.
    fn cd_through(&mut self, target: &str, physical: bool, state: ShellState) -> ControlExits {
        let Some(path) = state.known("CDPATH") else { return self.cd_unknown(state) };
        let places: Vec<&str> = path.split(':').take(MAX_PLACES + 1).collect();
        if places.len() > MAX_PLACES {
            self.fail("CDPATH names too many directories");
        }
        let mut ends = self.change_folder(target, physical, state.clone());
        for place in places.into_iter().filter(|place| !place.is_empty() && *place != ".") {
            let more = self.change_folder(&format!("{place}/{target}"), physical, state.clone());
            ends = ends.or(more, self);
        }
        ends
    }

    /// Goes to a directory that may be any.
    fn cd_unknown(&mut self, state: ShellState) -> ControlExits {
        self.cd_other(Other::Anything, state)
    }

    /// Goes to a directory that may be any, or to one whose name `mktemp` made up.
    fn cd_other(&mut self, other: Other, state: ShellState) -> ControlExits {
        let mut changed = state.clone();
        let stamp = self.change();
        changed.folders = Folders { other, ..Folders::unknown() };
        changed.files.leave_folder(stamp);
        changed.forget("OLDPWD", stamp);
        changed.remove("PWD", stamp);
        ControlExits::both(changed, state)
    }

    fn change_folder(&mut self, target: &str, physical: bool, state: ShellState) -> ControlExits {
        // The empty name is the directory itself.
        let target = if target.is_empty() { "." } else { target };
        let mut possible: Vec<String> = match target.starts_with('/') {
            true => vec![absolute(target, "/")],
            false => state.folders.possible.iter().map(|folder| absolute(target, folder)).collect(),
        };
        if possible.iter().any(|folder| folder.matches('/').count() > MAX_LEVELS) {
            return self.cd_unknown(state);
        }
        possible.retain(|folder| folder.len() <= MAX_PATH);
        if possible.is_empty() {
            if state.folders.open && !target.starts_with('/') && target.len() < MAX_PATH {
                let other = other_below(target, &state);
                return self.cd_other(other, state);
            }
            return ControlExits::with(state, Status::Failure);
        }
        let fixed = target.starts_with('/');
        let known = fixed || state.folders.known;
        let open = !fixed && state.folders.open;
        let mut presence = possible.first().map_or(Presence::Unknown, |folder| state.files.look(folder));
        if (!known || open) && presence != Presence::Unknown {
            presence = Presence::Unknown;
        }
        // What a `..` leaves behind has to be there too.
        let base = if fixed { "/" } else { state.folders.possible.first().map_or("/", String::as_str) };
        for (at, _) in target.match_indices("/..").filter(|(at, _)| !target[..*at].ends_with("..")) {
            match state.files.look(&absolute(&target[..at], base)) {
                Presence::Folder => {}
                Presence::Unknown => presence = Presence::Unknown,
                _ => presence = Presence::Absent,
            }
        }
        let sure = state.files.lasts() || possible.first().is_some_and(|at| state.files.sure(at) == presence);
        let mut changed = state.clone();
        let stamp = self.change();
        let old = state.folders.certain().map(|folder| Value::Known(folder.to_owned()));
        match old {
            Some(old) => changed.put("OLDPWD", Variable::text(old, Some(true)), stamp),
            None => changed.forget("OLDPWD", stamp),
        }
        changed.remove("PWD", stamp);
        let real = possible.first().and_then(|folder| state.files.real(folder));
        let mut known = known;
        if physical {
            match real {
                Some(real) => possible = vec![real],
                // Without facts no links are expected, as no failures are.
                None => known &= !state.files.informed(),
            }
        }
        let stray = !fixed && state.folders.stray;
        let other = if open { other_below(target, &state) } else { Other::Anything };
        changed.folders = Folders { possible: possible.into(), known, open, stray, other };
        changed.files.leave_folder(stamp);
        let informed = state.files.informed();
        match presence {
            Presence::Folder if sure => ControlExits::with(changed, Status::Success),
            Presence::Absent | Presence::File | Presence::Other if sure => ControlExits::with(state, Status::Failure),
            _ => {
                let mut stayed = state;
                stayed.unlikely |= presence == Presence::Folder || !informed;
                ControlExits::both(changed, stayed)
            }
        }
    }

    /// Goes to a directory as if links were resolved, and as if they were not.
    fn either_way(&mut self, state: ShellState, go: impl Fn(&mut Self, ShellState) -> ControlExits) -> ControlExits {
        let (mut logical, mut physical) = (state.clone(), state);
        (logical.physical, physical.physical) = (Some(false), Some(true));
        let ends = go(self, logical);
        let more = go(self, physical);
        ends.or(more, self)
    }

    pub(super) fn stack(&mut self, name: &str, arguments: &[Word], span: Span, state: ShellState) -> ControlExits {
        let Some(physical) = state.physical else {
            return self.either_way(state, |interpreter, state| interpreter.stack(name, arguments, span, state));
        };
        self.print(None, span, None, &state);
        let here = state.folders.certain().map(str::to_owned);
        let (letters, operands) = options(arguments);
        let (Some(stack), Some(here), true) = (state.stack.clone(), here, letters.is_empty()) else {
            // Where it goes to is known without where it comes from.
            return match (name, operands) {
                ("pushd", [word]) if letters.is_empty() && !word.several => match word.known() {
                    Some(text) if !text.starts_with('+') && text != "-" => {
                        let mut state = state;
                        state.stack = None;
                        self.change_folder(text, physical, state)
                    }
                    _ => self.stack_lost(made_up(&word.value, &state), state),
                },
                ("pushd", [word]) if letters.is_empty() => {
                    let other = made_up(&word.value, &state);
                    self.stack_lost(other, state)
                }
                _ => self.stack_lost(Other::Anything, state),
            };
        };
        let mut stack = stack.to_vec();
        let target = match (name, operands) {
            ("pushd", []) => {
                if stack.is_empty() {
                    return ControlExits::with(state, Status::Failure);
                }
                stack.remove(0)
            }
            ("pushd", [word]) if !word.several => match word.known() {
                Some(text) if !text.starts_with('+') && text != "-" => text.to_owned(),
                _ => return self.stack_lost(made_up(&word.value, &state), state),
            },
            ("popd", []) => {
                if stack.is_empty() {
                    return ControlExits::with(state, Status::Failure);
                }
                stack.remove(0)
            }
            ("pushd", [word]) => {
                let other = made_up(&word.value, &state);
                return self.stack_lost(other, state);
            }
            _ => return self.stack_lost(Other::Anything, state),
        };
        if name == "pushd" {
            stack.insert(0, here);
        }
        let before = state.stack.clone();
        let popped = name == "popd";
        let ends = self.change_folder(&target, physical, state);
        let stack = Shared::from(stack);
        let mut first = true;
        ends.each(self, |state, _| {
            // What fails leaves the stack as it was, but for a folder that is gone.
            let success = std::mem::take(&mut first) && state.status == Status::Success;
            state.stack = if success { Some(stack.clone()) } else { before.clone().filter(|_| !popped) };
        })
    }

    fn stack_lost(&mut self, other: Other, mut state: ShellState) -> ControlExits {
        state.stack = None;
        self.cd_other(other, state)
    }
}

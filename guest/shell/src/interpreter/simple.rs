//! One simple command: its words, its aliases, and which function, builtin or program it is.

use std::rc::Rc;

use super::Interpreter;
use super::assign::{assigns, tilde_value};
use super::builtin_names::{is_builtin, runs_in_shell};
use super::control_exits::ControlExits;
use super::environment::by_environment;
use super::files::Inside;
use super::output::{self, Printer};
use super::path_resolution::{
    behind_link, followed_at, in_unknown, is_foreign, is_unread, located_at, on_path, places, real, root,
    unlikely_places,
};
use super::redirect::Redirected;
use super::state::{Input, ShellState, Status};
use crate::abstract_value::{Text, Variable};
use crate::command::{Command, Effect, EffectKind};
use crate::effect;
use crate::facts::Presence;
use crate::wrapper::{self, ContextChange, NestedCommand, Times};
use toolgate_shell_syntax::path::names_stdin;
use toolgate_shell_syntax::syntax::{self, Assigned, Assignment, Part};
use toolgate_shell_syntax::word::{Span, Value, Why, Word};

/// Programs whose arguments of the form `name=value` are assignments.
const DECLARATIONS: &[&str] = &["declare", "export", "local", "readonly", "typeset"];

/// Among what a command is looked up.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Lookup {
    /// All: functions, builtins and programs.
    Functions,
    /// Builtins and programs.
    Builtins,
    /// Programs alone.
    Programs,
}

/// How many assignments before a command see those before them.
const MAX_ASSIGNMENTS: usize = 16;

impl Interpreter<'_> {
    pub(super) fn simple(
        &mut self,
        span: Span,
        assignments: &[Assignment],
        words: &[syntax::Word],
        redirects: &[syntax::Redirect],
        state: ShellState,
    ) -> ControlExits {
        let words: Vec<&syntax::Word> = words.iter().collect();
        self.aliased(span, assignments, &words, redirects, state)
    }

    /// The same where the first word is what it says.
    pub(super) fn unaliased(
        &mut self,
        span: Span,
        assignments: &[Assignment],
        words: &[&syntax::Word],
        redirects: &[syntax::Redirect],
        mut state: ShellState,
    ) -> ControlExits {
        let slot = self.reserve();
        if self.failure.is_some() {
            return ControlExits::of(state);
        }
        let before = state.clone();
        let declares = words.first().and_then(|word| word.plain()).is_some_and(|name| DECLARATIONS.contains(&name));
        let mut resolved: Vec<Word> = Vec::with_capacity(words.len());
        for (index, word) in words.iter().enumerate() {
            // `name=value` among the arguments: a tilde in the value is one, and after `export` nothing splits it.
            let assigns = index > 0 && assigns(word);
            if assigns && (declares || tilde_value(word)) {
                let word = self.assigned_argument(word, &mut state);
                resolved.push(word);
            } else {
                resolved.extend(self.words(word, &mut state));
            }
        }
        let unredirected = (!redirects.is_empty()).then(|| state.clone());
        let expanded = (state.never, state.jump_target);
        let redirected = self.redirects(redirects, &mut state);
        if resolved.is_empty() {
            return self.assignments_only(slot, span, assignments, words.is_empty(), redirected, &before, state);
        }
        // What a redirect of a program sets is set in the program's own process.
        let name = resolved.first().and_then(Word::known);
        let own = name.is_some_and(|name| !runs_in_shell(name) && state.function(name).is_none());
        if own && let Some(unredirected) = unredirected {
            let redirected = std::mem::replace(&mut state, unredirected);
            state.files = redirected.files;
            state.jump_target = state.jump_target.min(redirected.jump_target);
            if redirected.never && !state.never {
                self.leaves_shell(&mut state, true);
            }
        }
        let own = self.own_variables(assignments, &mut state);
        let command = Command {
            words: resolved,
            assignments: own,
            redirects: redirected.list.clone(),
            ..Command::bare(Vec::new(), span, 0)
        };
        if declares {
            self.declared_arrays(words, &command.words, &mut state);
        }
        // An expansion may have ended the shell; one in a redirect, after it came to this command.
        let mut before = before;
        (before.never, before.jump_target) = (expanded.0, expanded.1.min(state.jump_target));
        if state.never && !before.never {
            before.jump_target = before.jump_target.min(self.frames.len());
        }
        let others = with_texts(&command);
        if others.is_empty() {
            return self.run_redirected(slot, command, &redirected, &before, state);
        }
        let joiner = self.commands.get(slot).map_or(self.joiner, |reserved| reserved.joiner);
        let printed = self.captures.last().cloned();
        let mut ends = self.run_redirected(slot, command, &redirected, &before, state.clone());
        if let (Some(printed), Some(capture)) = (printed, self.captures.last_mut()) {
            capture.reopen(printed);
        }
        for other in others {
            self.joiner = joiner;
            let slot = self.reserve();
            let own = state.clone();
            let more =
                self.doubting(true, |interpreter| interpreter.run_redirected(slot, other, &redirected, &before, own));
            ends = ends.or(more, self);
        }
        ends
    }

    /// What the assignments before a command give to it. Each sees those before it; the shell itself sees none of them
    /// afterwards.
    fn own_variables(&mut self, assignments: &[Assignment], state: &mut ShellState) -> Vec<(String, Word)> {
        let mut own: Vec<(String, Word)> = Vec::new();
        let (mut hidden, mut seen) = (Vec::new(), true);
        for assignment in assignments {
            let plain = !own.last().is_some_and(|(name, _)| state.namerefs.contains_key(name));
            seen &= plain && own.len() <= MAX_ASSIGNMENTS;
            if let Some((name, value)) = own.last().filter(|_| seen) {
                let (name, value) = (name.clone(), value.value.clone());
                hidden.push((name.clone(), state.get(&name).cloned()));
                self.assign(&name, value, state);
            }
            let value = match &assignment.value {
                Assigned::Scalar(word)
                    if assignment.index.is_none() && !assignment.append && (seen || word.literal().is_some()) =>
                {
                    self.assigned(word, state)
                }
                _ => Word::unknown(Why::Expansion, assignment.span),
            };
            own.push((assignment.name.clone(), value));
        }
        for (name, before) in hidden.into_iter().rev() {
            let stamp = self.change();
            match before {
                Some(variable) => state.put(&name, variable, stamp),
                None => state.remove(&name, stamp),
            }
        }
        own
    }

    /// Arrays among the arguments of `declare` and its like.
    fn declared_arrays(&mut self, words: &[&syntax::Word], resolved: &[Word], state: &mut ShellState) {
        let arrays = words.iter().skip(1).filter_map(|word| match word.parts.as_slice() {
            [Part::Literal(name), Part::Array(elements)] => Some((name.text.as_str(), elements.as_slice())),
            _ => None,
        });
        let flags = |word: &Word| word.known().is_some_and(|text| text.starts_with('-') && text.contains('A'));
        let keyed = resolved.iter().skip(1).any(flags);
        for (name, elements) in arrays {
            let (name, append) = (name.trim_end_matches(['=', '+']), name.ends_with("+="));
            if keyed {
                self.assign_map(name, elements, append, state);
            } else {
                self.assign_array(name, elements, append, state);
            }
        }
    }

    /// Runs a command with its input, its output and its own variables, which are put back afterwards.
    fn run_redirected(
        &mut self,
        slot: usize,
        command: Command,
        redirected: &Redirected,
        before: &ShellState,
        mut state: ShellState,
    ) -> ControlExits {
        let failed = (redirected.made != Some(true)).then(|| state.clone());
        if redirected.made == Some(false) {
            // It is come to, and then not run.
            self.doubting(true, |interpreter| interpreter.record(slot, command, before, &mut state));
            return ControlExits::with(failed.unwrap_or(state), Status::Failure);
        }
        let mut input = redirected.input.clone().map(|input| std::mem::replace(&mut state.input, input));
        let mut descriptors = redirected.open(&mut state);
        // By its name a file that was read in part is opened again, and read from its beginning.
        if matches!(state.input, Input::Text(_, 1..)) && command.words.iter().any(|word| names_stdin(word.text())) {
            state.input = Input::Unseen(None);
        }
        if let [only] = command.words.as_slice()
            && only.known() == Some("exec")
        {
            // Without a command the redirects stay.
            (input, descriptors) = (None, None);
            self.print(None, command.span, None, &state);
        }
        let mut replaced = Vec::new();
        for (name, word) in &command.assignments {
            replaced.push((name.clone(), state.get(name).cloned()));
            let stamp = self.change();
            state.put(name, Variable::text(word.value.clone(), Some(true)), stamp);
        }
        let (ends, written) = self.doubting(failed.is_some(), |interpreter| {
            interpreter.writing(redirected, state, |interpreter, state| {
                interpreter.run(slot, command, Lookup::Functions, before, state)
            })
        });
        let ends = ends.each(self, |state, stamp| {
            if let Some(input) = &input {
                state.input.clone_from(input);
            }
            if let Some(descriptors) = &descriptors {
                state.descriptors = descriptors.clone();
            }
            for (name, variable) in replaced.iter().rev() {
                state.restore(name, variable.as_ref(), stamp);
            }
            redirected.keep(written.as_ref(), state, stamp);
        });
        ends.or_failed(failed, self)
    }

    #[expect(clippy::too_many_arguments, reason = "a command without a program")]
    fn assignments_only(
        &mut self,
        slot: usize,
        span: Span,
        assignments: &[Assignment],
        bare: bool,
        redirected: Redirected,
        before: &ShellState,
        mut state: ShellState,
    ) -> ControlExits {
        let mut own = Vec::new();
        let mut failed = false;
        for assignment in assignments {
            failed |= state.get(&assignment.name).is_some_and(|variable| variable.readonly);
            let word = self.assignment(assignment, &mut state);
            own.push((assignment.name.clone(), word));
        }
        let substitutes = assignments.iter().any(|assignment| match &assignment.value {
            Assigned::Scalar(word) => super::alternatives::substitutes(&word.parts),
            Assigned::Array(_) => true,
        });
        let status = match state.status {
            _ if failed => Status::Unknown,
            // Only what a substitution runs has another one.
            _ if !substitutes => match bare && redirected.list.is_empty() {
                true => Status::Success,
                false => Status::Unknown,
            },
            // What redirects to a file may fail to.
            Status::Success if bare && redirected.list.is_empty() => Status::Success,
            Status::Success => Status::Unknown,
            status => status,
        };
        let command =
            Command { assignments: own, redirects: redirected.list.clone(), ..Command::bare(Vec::new(), span, 0) };
        let others = with_texts(&command);
        self.record(slot, command, before, &mut state);
        for other in others {
            let slot = self.reserve();
            self.doubting(true, |interpreter| interpreter.record(slot, other, before, &mut state));
        }
        let stamp = self.change();
        let empty = Rc::new(Text { text: String::new(), span, at: None });
        redirected.keep(Some(&empty), &mut state, stamp);
        if failed {
            // Where a name is readonly the shell may stop.
            self.leaves_shell(&mut state, true);
        }
        ControlExits::with(state, status)
    }

    /// Runs a command whose words are known as far as they are.
    pub(super) fn run(
        &mut self,
        slot: usize,
        command: Command,
        lookup: Lookup,
        before: &ShellState,
        state: ShellState,
    ) -> ControlExits {
        if !self.step() {
            return ControlExits::of(state);
        }
        let first = command.words.first().filter(|first| first.known().is_none_or(|name| name.contains('/'))).cloned();
        let Some((file, first)) = first.and_then(|first| Some((self.wrote_alike(&first, before)?, first))) else {
            return self.run_named(slot, command, lookup, before, state);
        };
        let words = command.words.clone();
        let via = first.text().replace(Value::HOLE, "$");
        self.run_alike(&first, None, &state, |interpreter, text, own| {
            interpreter.inside(&via, |interpreter| drop(interpreter.file(usize::MAX, text, &words, own)));
        });
        let ends = self.run_named(slot, command, lookup, before, state);
        if let Some(command) = self.commands.get_mut(slot).filter(|_| first.known().is_none()) {
            let runs = Effect::new(EffectKind::Execute, file, first.span);
            command.effects.push(Effect { alternative: true, ..runs });
        }
        ends
    }

    /// The same, but for what the text may have written to the file that it names.
    fn run_named(
        &mut self,
        slot: usize,
        mut command: Command,
        lookup: Lookup,
        before: &ShellState,
        mut state: ShellState,
    ) -> ControlExits {
        match command.words.first().and_then(Word::known).and_then(|name| behind_link(name, &state, before)) {
            Some(program) if program.is_empty() => command.unseen_script = true,
            Some(program) => {
                command.words.iter_mut().take(1).for_each(|first| first.value = Value::Known(program.clone()));
            }
            None => {}
        }
        let mut lookup = lookup;
        if let Some(name) = command.words.first().and_then(|word| certain_name(word, before)) {
            // What stands there with a folder is a file.
            lookup = Lookup::Programs;
            if let Some(first) = command.words.first_mut() {
                first.value = Value::Known(name);
            }
        }
        // In zsh `=name` is where the program is.
        if let Some(first) = command.words.first_mut().filter(|first| !first.quoted)
            && let Some(name) = first.known().and_then(|text| text.strip_prefix('=')).filter(|name| !name.is_empty())
        {
            lookup = Lookup::Programs;
            first.value = Value::Known(name.to_owned());
        }
        let words = command.words.clone();
        let Some(first) = words.first() else { return ControlExits::of(state) };
        let span = command.span;
        if let Value::Unknown { why, shape } = &first.value
            && matches!(why.variable(), Some("SHELL" | "BASH"))
            && shape.chars().eq([Value::HOLE])
        {
            // Whichever shell it is, it runs its text.
            let mut shell = words.clone();
            shell[0].value = Value::Known("bash".to_owned());
            let inner = wrapper::inner(&shell);
            if !inner.is_empty() {
                command.unseen_script = inner.iter().any(|inner| self.is_unseen(inner, &state));
                self.record(slot, command, before, &mut state);
                return self.open(slot, &shell, inner, span, state);
            }
        }
        let Some(name) = first.known().map(str::to_owned) else {
            return self.run_unknown(slot, command, &words, lookup, before, state);
        };
        if lookup == Lookup::Functions
            && let Some((function, sure)) = state.function(&name)
        {
            self.record_function(slot, command, before, &mut state);
            return self.call(slot, &name, (&function, sure), &words, state);
        }
        if lookup != Lookup::Programs && is_builtin(&name, self.dialect.posix) {
            self.record(slot, command, before, &mut state);
            return self.builtin(&name, &words, span, state);
        }
        if lookup != Lookup::Programs && name == "printf" && !self.dialect.posix && self.printf_into(&words, &mut state)
        {
            self.record(slot, command, before, &mut state);
            return ControlExits::with(state, Status::Unknown);
        }
        if name == "trap" && self.clears_trap(&words, &mut state) {
            self.record(slot, command, before, &mut state);
            return ControlExits::with(state, Status::Success);
        }
        let mut inner = if is_foreign(&name, &state) { Vec::new() } else { wrapper::inner(&words) };
        inner.extend(by_environment(&name, &words, &state));
        inner.extend(self.by_project(&name, &words, &state));
        inner.extend(self.by_lines(&name, &words, &state));
        inner.extend(self.by_git_alias(&name, &words, &state));
        inner.extend(self.by_loads(&name, &words, &state));
        let built = self.builds(&name, &words, &state);
        if built.runs {
            let change = ContextChange { times: Times::Perhaps, ..ContextChange::default() };
            inner.push(NestedCommand { kind: wrapper::NestedKind::Unseen, change });
        }
        command.unseen_script |= inner.iter().any(|inner| self.is_unseen(inner, &state));
        self.record(slot, command, before, &mut state);
        if !inner.is_empty() {
            return self.open(slot, &words, inner, span, state);
        }
        if self.runs_unread(slot, before)
            && let Some(command) = self.commands.get_mut(slot)
        {
            command.unseen_script = true;
        }
        let builtin = lookup != Lookup::Programs && !name.contains('/');
        let ends = self.program(slot, &words, builtin, before, state);
        let outputs: Vec<String> = built.outputs.into_iter().chain(lists_of_find(&name, &words, before)).collect();
        if outputs.is_empty() {
            return ends;
        }
        ends.each(self, |state, stamp| outputs.iter().for_each(|path| state.files.set_unread(path, stamp)))
    }

    /// A command whose program is not known.
    fn run_unknown(
        &mut self,
        slot: usize,
        mut command: Command,
        words: &[Word],
        lookup: Lookup,
        before: &ShellState,
        mut state: ShellState,
    ) -> ControlExits {
        let (first, span) = (&words[0], command.span);
        // It may be anything, a builtin too.
        command.unseen_script |= self.has_holes;
        // Or it is a file that the text itself made.
        let made = first.value.followed_as();
        command.unseen_script |= made.is_some_and(|path| state.files.is_unread(path));
        let was_stored = self.preexisting;
        if let Some(content) = made.and_then(|path| self.runnable(path, span, words, &state))
            && self.may_nest()
        {
            self.record(slot, command, before, &mut state);
            return self.inside_file(slot, &content, words, state, was_stored);
        }
        let computed = !first.value.text().contains('/');
        let likely = likely(&command);
        let untouched = state.clone();
        self.record(slot, command, before, &mut state);
        if made.is_some() {
            self.hides(slot);
        }
        let stamp = self.change();
        if computed && lookup != Lookup::Programs {
            state.havoc(stamp);
        } else {
            state.files.doubt_all(stamp);
        }
        self.print(None, span, None, &state);
        state.use_input();
        let Some(words) = likely else { return ControlExits::with(state, Status::Unknown) };
        let joiner = self.commands.get(slot).map_or(self.joiner, |reserved| reserved.joiner);
        let via = first.value.text().replace(Value::HOLE, "$");
        let end = self.doubting(true, |interpreter| {
            interpreter.inside(&via, |interpreter| {
                interpreter.joiner = joiner;
                interpreter.argv(words, false, span, Lookup::Builtins, untouched)
            })
        });
        let end = end.join(self);
        ControlExits::with(end.merge(state, self.change()), Status::Unknown)
    }

    /// Who prints what `echo` and `printf` do.
    pub(super) fn printer(&self, builtin: bool) -> Printer {
        match builtin && !self.dialect.posix {
            false => Printer::Other,
            true if self.dialect.may_be_zsh && self.dialect.zsh != Some(false) => Printer::BashOrZsh,
            true => Printer::Bash,
        }
    }

    /// A program that runs nothing else.
    fn program(
        &mut self,
        slot: usize,
        words: &[Word],
        builtin: bool,
        before: &ShellState,
        mut state: ShellState,
    ) -> ControlExits {
        let span = self.commands.get(slot).map_or_else(Span::default, |command| command.span);
        let name = words.first().and_then(Word::known).map(toolgate_shell_syntax::path::basename).unwrap_or_default();
        let arguments: Option<Vec<&str>> =
            words.iter().skip(1).map(|word| word.known().filter(|_| !word.several)).collect();
        let printed = self.printed(name, arguments.as_deref(), builtin, before, &state);
        let of_files = match (&printed, arguments.as_deref()) {
            (None, Some(list)) => self.printed_of_files(name, list, before, &state),
            _ => None,
        };
        if let Some(content) = of_files {
            self.print_content(&content, span, &state);
        } else if let (None, "pwd", Some(["-P"]), Some(folder)) =
            (&printed, name, arguments.as_deref(), before.folders.certain())
        {
            // Most likely no link is on the way to where the shell is.
            let folder = format!("{folder}\n");
            self.doubting(true, |interpreter| interpreter.print(Some(&folder), span, None, &state));
        } else {
            let silent = output::is_silent(name, words);
            let text = printed.as_deref().or(silent.then_some(""));
            // What stands verbatim in the text has its position there.
            let at = text.and_then(|text| verbatim(text, words, &state));
            self.print(text, at.map_or(span, |(span, _)| span), at.and_then(|(_, at)| at), &state);
        }
        if matches!(name, "[" | "test")
            && words
                .iter()
                .any(|word| matches!(word.known(), Some("-v" | "-eq" | "-ne" | "-lt" | "-le" | "-gt" | "-ge")))
        {
            self.run_indexes(words, &state);
        }
        self.sed_in_place(name, arguments.as_deref(), before, &mut state);
        if name == "tee" {
            self.tee(slot, words, before, &mut state);
        }
        if !output::leaves_input(name) {
            state.use_input();
        }
        if self.commands.get(slot).is_none_or(|command| command.unlisted) {
            let stamp = self.change();
            state.files.doubt_all(stamp);
        }
        self.sequential(words, &mut state);
        let status = self.status_of(name, words, printed.is_some(), &state);
        match name == words[0].known().unwrap_or_default() {
            true => self.by_name(slot, words, span, before, state, status),
            false => self.by_path(slot, words, span, before, state, status),
        }
    }

    /// What a program prints, as far as that follows from what it is given.
    fn printed(
        &mut self,
        name: &str,
        arguments: Option<&[&str]>,
        builtin: bool,
        before: &ShellState,
        state: &ShellState,
    ) -> Option<String> {
        let input = match &state.input {
            Input::Text(text, from) => text.text.get(*from..).map(str::to_owned),
            Input::Nothing => Some(String::new()),
            Input::Inherited | Input::Stored(_) | Input::Unseen(_) => None,
        };
        let printer = self.printer(builtin);
        let printed = arguments
            // Dash's `echo` knows one option and prints the others.
            .filter(|list| {
                !(self.dialect.posix
                    && name == "echo"
                    && list.first().is_some_and(|one| one.starts_with("-") && *one != "-n"))
            })
            .and_then(|arguments| match name {
                "echo" => output::echo(arguments, self.dialect.escapes(), printer),
                "printenv" => of_environment(arguments, state),
                _ => output::of(name, arguments, input.as_deref(), before.folders.certain(), printer),
            });
        if name == "printf" && printed.is_some() && printer != Printer::Other {
            // Dash may print something else.
            let other = arguments.and_then(|list| output::of(name, list, None, None, Printer::Other));
            self.dialect.beyond |= other.is_none();
        }
        printed.or_else(|| real(name, arguments?, before).or_else(|| root(name, arguments?, before)))
    }

    /// `sed -i s/X/Y/ FILE` on a file of the text, or on one of the project that says what a tool runs.
    fn sed_in_place(&mut self, name: &str, arguments: Option<&[&str]>, before: &ShellState, state: &mut ShellState) {
        let ("sed" | "gsed", Some(["-i", script, file])) = (name, arguments) else { return };
        let Some(path) = located_at(file, before) else { return };
        let made = before.files.made(&path);
        let stored = made.is_none().then(|| self.stored_project_file(&path, before)).flatten();
        let text = made.and_then(|made| made.content.clone()).or_else(|| stored.clone());
        let changed = text.and_then(|text| {
            let changed = output::of("sed", &[script], Some(&text.text), None, Printer::Other)?;
            Some(Rc::new(Text { text: changed, span: text.span, at: None }))
        });
        let stamp = self.stamp;
        match (stored, &changed) {
            (Some(_), None) => state.files.set_unread(&path, stamp),
            (stored, changed) => {
                if stored.is_some() {
                    self.edited.extend(changed.clone());
                    state.files.set(&path, Presence::File, Inside::Unknown, stamp);
                }
                state.files.set_content(&path, changed.clone(), stamp);
            }
        }
    }

    /// `tee`: what its files have in them.
    fn tee(&mut self, slot: usize, words: &[Word], before: &ShellState, state: &mut ShellState) {
        let stamp = self.stamp;
        let appends = self.commands.get(slot).is_none_or(|command| {
            let is_own = |effect: &Effect| words.iter().any(|word| word.span == effect.span);
            command.effects.iter().any(|effect| effect.kind == EffectKind::Append && is_own(effect))
        });
        let given = match &state.input {
            Input::Text(text, 0) => Some(Rc::clone(text)),
            _ => None,
        };
        // What it adds to is not read.
        let text = given.clone().filter(|_| !appends);
        for word in words.iter().skip(1) {
            self.write_alike((&word.value, word.span), given.as_ref(), appends, before);
        }
        for path in words.iter().skip(1).filter_map(|word| followed_at(&word.value, before)) {
            match &text {
                Some(text) => state.files.set_content(&path, Some(Rc::clone(text)), stamp),
                None => state.files.set_unread(&path, stamp),
            }
        }
        // Where it is not certain which directory it is.
        if before.folders.certain().is_none() {
            let names = words.iter().skip(1).filter_map(Word::known).filter(|name| !name.starts_with(['/', '-']));
            for path in names.flat_map(|name| places(name, before)) {
                state.files.may_write(&path, text.as_ref(), stamp);
            }
        }
    }

    /// How a program ends; `printed` if it is known what it prints.
    fn status_of(&self, name: &str, words: &[Word], printed: bool, state: &ShellState) -> Status {
        match name {
            "true" | ":" => Status::Success,
            "false" => Status::Failure,
            // Dash knows no `==`.
            "[" | "test" if self.dialect.posix && words.iter().any(|word| word.known() == Some("==")) => {
                Status::Unknown
            }
            "[" | "test" => Status::of(self.test_words(words, state)),
            "basename" | "dirname" | "echo" | "printf" if printed => Status::Success,
            _ => Status::Unknown,
        }
    }

    /// A program that is named without a folder: where the text put one of that name in its path, it is that.
    fn by_name(
        &mut self,
        slot: usize,
        words: &[Word],
        span: Span,
        before: &ShellState,
        state: ShellState,
        status: Status,
    ) -> ControlExits {
        let was_stored = self.preexisting;
        match words.first().and_then(Word::known) {
            Some("autoload") => self.autoload(words, &state),
            Some("setopt") => self.set_zsh_options(words),
            _ => {}
        }
        let planted = words.first().and_then(Word::known).filter(|name| !name.contains('/'));
        let planted = planted.and_then(|name| on_path(name, &state, before));
        if let Some(place) = &planted
            && is_unread(place, before)
            && let Some(command) = self.commands.get_mut(slot)
        {
            command.unseen_script = true;
        }
        if let Some(place) = planted
            && let Some(content) = self.runnable(&place, span, words, &state)
            && self.may_nest()
        {
            return self.inside_file(slot, &content, words, state, was_stored);
        }
        ControlExits::with(state, status)
    }

    /// A program that is named by its path: it may be a script that the text wrote.
    fn by_path(
        &mut self,
        slot: usize,
        words: &[Word],
        span: Span,
        before: &ShellState,
        mut state: ShellState,
        status: Status,
    ) -> ControlExits {
        let was_stored = self.preexisting;
        let written = words[0].known().unwrap_or_default();
        if is_unread(written, before)
            && let Some(command) = self.commands.get_mut(slot)
        {
            command.unseen_script = true;
        }
        for place in unlikely_places(written, before) {
            let Some(content) = self.runnable(&place, span, words, before) else { continue };
            let own = state.clone();
            let ends =
                self.doubting(true, |interpreter| interpreter.inside_file(slot, &content, words, own, was_stored));
            let end = ends.join(self);
            state = state.merge(end, self.change());
        }
        let path = places(written, before).into_iter().next().or_else(|| in_unknown(written, before));
        let content =
            path.filter(|path| !effect::is_system(path)).and_then(|path| self.runnable(&path, span, words, &state));
        if let Some(content) = content {
            return self.inside_file(slot, &content, words, state, was_stored);
        }
        self.hides(slot);
        ControlExits::with(state, status)
    }
}

/// What `printenv` prints of one variable.
fn of_environment(arguments: &[&str], state: &ShellState) -> Option<String> {
    let [name] = arguments else { return None };
    let exported = state.get(name).is_none_or(|variable| variable.exported == Some(true));
    Some(state.known(name).filter(|_| exported && *name != "IFS")? + "\n")
}

/// The command as it is if words are what they may be: with the first of the texts of each, with the second, and so on.
fn with_texts(command: &Command) -> Vec<Command> {
    fn texts(word: &Word) -> Option<(&[String], &str)> {
        match &word.value {
            // What else is unknown stays so.
            Value::Unknown { why, shape } if shape.matches(Value::HOLE).count() == 1 => Some((why.texts()?, shape)),
            _ => None,
        }
    }
    let targets = command.redirects.iter().map(|redirect| &redirect.target);
    let words = command.words.iter().chain(targets);
    let most = words.filter_map(texts).map(|(texts, _)| texts.len()).max().unwrap_or_default();
    (0..most)
        .filter_map(|at| {
            with_text(command, |word| {
                let (texts, shape) = texts(word)?;
                Some((texts.get(at).or(texts.last())?, shape))
            })
        })
        .collect()
}

/// The command with other texts for some of its words.
fn with_text<'c>(command: &'c Command, text: impl Fn(&'c Word) -> Option<(&'c String, &'c str)>) -> Option<Command> {
    let filled = |word: &'c Word| match text(word) {
        Some((text, shape)) => {
            Word { value: Value::Known(shape.replace(Value::HOLE, text)), several: false, ..word.clone() }
        }
        None => word.clone(),
    };
    let mut other = command.clone();
    other.words = Vec::new();
    for word in &command.words {
        match text(word) {
            Some((text, shape)) if word.several && shape.chars().eq([Value::HOLE]) => {
                other.words.extend(text.split_whitespace().map(|part| split_off(part, word)));
            }
            _ => other.words.push(filled(word)),
        }
    }
    for (own, redirect) in other.redirects.iter_mut().zip(&command.redirects) {
        own.target = filled(&redirect.target);
    }
    (!other.words.is_empty() || command.words.is_empty()).then_some(other)
}

/// One of the words that the shell makes of a text. Of what a file holds it may be a glob.
fn split_off(part: &str, word: &Word) -> Word {
    let is_stored = matches!(word.value, Value::Unknown { why: Why::Stored(_), .. });
    let is_glob = is_stored && part.contains(['*', '?', '[']);
    let value = if is_glob { Value::Pattern(part.to_owned()) } else { Value::Known(part.to_owned()) };
    Word { value, several: is_glob, at: None, ..Word::new(part, word.span) }
}

/// The name of a program in a folder that is not known.
fn certain_name(word: &Word, state: &ShellState) -> Option<String> {
    let (Value::Unknown { shape: text, .. } | Value::Pattern(text)) = &word.value else { return None };
    let name = text.rsplit('/').next().filter(|name| text.len() > name.len() && !name.is_empty())?;
    // Without quotes the rest may be words of its own, unless it is what `command -v` prints.
    let located = matches!(&word.value, Value::Unknown { why: Why::CommandOutput, .. });
    if word.several && !located {
        return None;
    }
    // A file of the text is run as such.
    (state.files.made(text).is_none() && !name.contains([Value::HOLE, '*', '?', '[', '\\'])).then(|| name.to_owned())
}

/// What a command whose program is not known is, if the parts that are not known are empty: `r${x}m a`, `$SUDO rm a`.
fn likely(command: &Command) -> Option<Vec<Word>> {
    let (first, rest) = command.words.split_first()?;
    let Value::Unknown { shape, why } = &first.value else { return None };
    if why.variable().is_none() && !matches!(why, Why::CommandOutput | Why::Temporary | Why::Expansion | Why::Number) {
        return None;
    }
    let known = |name: &str| {
        let name = toolgate_shell_syntax::path::basename(name);
        runs_in_shell(name) || effect::knows(name) || wrapper::knows(name)
    };
    let name = shape.replace(Value::HOLE, "");
    if name.contains('/') {
        return None;
    }
    if name.is_empty() {
        let next = rest.first().and_then(Word::known).filter(|_| first.several)?;
        return known(next).then(|| rest.to_vec());
    }
    let program = Word { at: None, ..Word::new(name.as_str(), first.span) };
    known(&name).then(|| std::iter::once(program).chain(rest.iter().cloned()).collect())
}

/// Where what a program prints stands in the source, if it is one of its words or its input.
fn verbatim(text: &str, words: &[Word], state: &ShellState) -> Option<(Span, Option<usize>)> {
    let line = text.strip_suffix('\n').unwrap_or(text);
    let word = words.iter().skip(1).find(|word| word.known() == Some(line) && !line.is_empty());
    let input = match &state.input {
        Input::Text(input, 0) if input.text == text => Some((input.span, input.at)),
        _ => None,
    };
    word.map(|word| (word.span, word.at)).or(input).or_else(|| {
        let spans = words.iter().skip(1).map(|word| word.span);
        spans.reduce(Span::to).map(|span| (span, None))
    })
}

/// The files that find writes what it found into: `-fprintf FILE FORMAT`.
fn lists_of_find(name: &str, words: &[Word], state: &ShellState) -> Vec<String> {
    let is_list = |word: &Word| matches!(word.known(), Some("-fprint" | "-fprint0" | "-fprintf" | "-fls"));
    let pairs = words.windows(2).filter(|pair| name == "find" && is_list(&pair[0]));
    pairs.filter_map(|pair| located_at(pair[1].known()?, state)).collect()
}

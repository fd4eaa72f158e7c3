//! Substitutions: what `$(..)` comes to.

use crate::command::{Command, EffectKind, Joiner, RedirectKind, SUBSTITUTION};
use crate::interpreter::state::{ErrexitState, ShellState};
use crate::interpreter::{Interpreter, Printed};
use toolgate_shell_syntax::syntax::{self, NodeKind, RedirectOperator, Target};
use toolgate_shell_syntax::word::{Value, Why, Word};

impl Interpreter<'_> {
    /// Runs the commands of a substitution; what they print.
    pub(in crate::interpreter) fn substitution(&mut self, list: &syntax::List, state: &mut ShellState) -> Value {
        if !self.may_nest() {
            return Value::hole(Why::CommandOutput);
        }
        if let Some(content) = self.read_file(list, state) {
            return content;
        }
        let before = state.clone();
        let first = self.commands.len();
        let errexit = state.errexit;
        if errexit == ErrexitState::On {
            // Dash hands it on to a substitution, and bash does not.
            state.errexit = ErrexitState::Perhaps;
        }
        let ((), output) = self.capturing(&before, |interpreter| {
            interpreter.inside(SUBSTITUTION, |interpreter| {
                let input = state.input.clone();
                interpreter.subshell(list, state, input);
            });
        });
        state.errexit = errexit;
        // Bash leaves out what no text can hold.
        let value = |text: &str| text.replace('\0', "").trim_end_matches('\n').to_owned();
        match output {
            Printed::Known(text) => Value::Known(value(&text.text)),
            Printed::Stored(text) => Value::hole(Why::Stored(vec![value(&text.text)])),
            Printed::Perhaps(texts) => Value::hole(Why::Perhaps(texts.iter().map(|text| value(text)).collect())),
            Printed::Unknown => {
                let value = self.temporary(first, state).or_else(|| self.around_temporary(first, state));
                let value = value.or_else(|| self.located(first, state));
                value.unwrap_or_else(|| Value::hole(Why::CommandOutput))
            }
        }
    }

    /// `$(mktemp)`: where it is, if the commands from this one on are nothing else.
    fn temporary(&mut self, first: usize, state: &mut ShellState) -> Option<Value> {
        let (command, others) = self.commands.get(first..)?.split_first()?;
        let effect = command.effects.first().filter(|_| command.program() == Some("mktemp"))?;
        let pattern = match &effect.path {
            _ if effect.kind != EffectKind::Create => return None,
            Value::Pattern(pattern) if others.is_empty() => pattern.clone(),
            // `mktemp -d || mktemp -d -t NAME`: what one of them makes.
            Value::Pattern(pattern) if in_tmp(pattern) && others.iter().all(is_another) => "/tmp/*".to_owned(),
            Value::Unknown { shape, .. } => self.below_tmpdir(command, others, shape)?,
            _ => return None,
        };
        let words = || command.words.iter().filter_map(Word::known);
        if words().any(|word| matches!(word, "--help" | "--version")) {
            return None;
        }
        let by_name =
            words().next().is_some_and(|name| !name.contains('/')) && !state.alias_texts.contains_key("mktemp");
        let any = state.budget_exceeded || command.env.all_unknown();
        let set = |name: &str| any || command.env.get(name).is_some();
        let by_name = by_name && !command.assignments.iter().any(|(name, _)| name == "PATH");
        let folder = set("TMPDIR") || command.assignments.iter().any(|(name, _)| name == "TMPDIR");
        // What stands behind a backslash is another name than this one.
        self.odd_temporaries |= folder && command.effects.len() > 1 || !by_name || set("IFS") || pattern.contains('\\');
        // A name of its own for each call: one more part that is not known.
        let shape = pattern.replacen('*', &Value::HOLE.to_string().repeat(state.files.name_temporary()?), 1);
        Some(Value::Unknown { why: Why::Temporary, shape })
    }

    /// `mktemp "${TMPDIR:-/tmp}/x.XXXXXX"`: where it is, as far as is known. It is read with the default as well.
    fn below_tmpdir(&self, command: &Command, others: &[Command], shape: &str) -> Option<String> {
        // Without a default, and in a folder that may not be there, it may fail and print nothing.
        const TMPDIR: &[&str] = &["${TMPDIR:-/tmp}/", "${TMPDIR-/tmp}/"];
        let same = |other: &Command| other.span == command.span && other.program() == Some("mktemp");
        let mut unknown = command.words.iter().filter(|word| word.known().is_none());
        let (Some(template), None) = (unknown.next(), unknown.next()) else { return None };
        let written = self.source.get(template.span.start..template.span.end)?;
        let written = written.strip_prefix('"').unwrap_or(written);
        let name =
            shape.strip_prefix(Value::HOLE).filter(|name| !name.contains(Value::HOLE) && !name.contains(".."))?;
        let reads = |other: &Command| matches!(other.program(), Some("." | "source" | "eval"));
        let is_own =
            command.env.get("TMPDIR").is_none() && !command.env.all_unknown() && !self.commands.iter().any(reads);
        let named = TMPDIR.iter().any(|beginning| written.starts_with(beginning));
        let direct = name.matches('/').count() == 1;
        (is_own && named && direct && others.iter().all(same)).then(|| format!("/tmp{name}"))
    }

    /// `$(dirname "$file")` of a file below what `mktemp` made.
    fn around_temporary(&self, first: usize, state: &ShellState) -> Option<Value> {
        let [command] = self.commands.get(first..)? else { return None };
        let ([name, path] | [name, _, path]) = command.words.as_slice() else { return None };
        let Value::Unknown { why: Why::Temporary, shape } = &path.value else { return None };
        let options = &command.words[1..command.words.len() - 1];
        let own = state.function("dirname").is_none() && !state.alias_texts.contains_key("dirname");
        let is_own = own && !command.assignments.iter().any(|(name, _)| name == "PATH");
        if name.known() != Some("dirname") || !is_own || options.iter().any(|word| word.known() != Some("--")) {
            return None;
        }
        let shape = toolgate_shell_syntax::path::dirname(shape);
        shape.contains(Value::HOLE).then(|| Value::Unknown { why: Why::Temporary, shape: shape.to_owned() })
    }

    /// `$(command -v rm)`, `$(realpath "$(which rm)")`: a file of that name, wherever it is. `$(which python3 || which python)` is one
    /// of them.
    fn located(&self, first: usize, state: &ShellState) -> Option<Value> {
        let commands = self.commands.get(first..)?;
        let command = commands.iter().min_by_key(|command| command.via.len())?;
        let base = |command: &Command| {
            located_name(command).map(|name| name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.').to_owned())
        };
        if commands.len() > 1 && commands.iter().any(|other| base(other).is_none() || base(other) != base(command)) {
            return resolved(command).filter(|_| commands.iter().all(|other| other.span.is_inside(command.span)));
        }
        let name = located_name(command)?;
        let plain = !name.is_empty() && !name.contains('/') && !name.starts_with('-') && state.function(name).is_none();
        let shape = format!("{}/{name}", Value::HOLE);
        plain.then_some(Value::Unknown { why: Why::CommandOutput, shape })
    }

    /// `$(<file)`
    fn read_file(&mut self, list: &syntax::List, state: &mut ShellState) -> Option<Value> {
        let [item] = list.items.as_slice() else { return None };
        let [node] = item.first.commands.as_slice() else { return None };
        let NodeKind::Simple { assignments, words } = &node.kind else { return None };
        let [redirect] = node.redirects.as_slice() else { return None };
        let empty = assignments.is_empty() && words.is_empty() && item.rest.is_empty();
        let Target::Word(target) = &redirect.target else { return None };
        if !empty || redirect.kind != RedirectOperator::Read {
            return None;
        }
        let target = self.inside(SUBSTITUTION, |interpreter| {
            let slot = interpreter.reserve();
            let before = state.clone();
            let target = interpreter.target(target, state);
            let own = crate::command::Redirect { kind: RedirectKind::Read, fd: Some(0), target: target.clone() };
            let command = Command { redirects: vec![own], ..Command::bare(Vec::new(), redirect.span, 0) };
            interpreter.record(slot, command, &before, state);
            target
        });
        let (Some(target), Some(folder)) = (target.known(), state.folders.certain()) else {
            return Some(Value::hole(Why::CommandOutput));
        };
        let path = toolgate_shell_syntax::path::absolute(target, folder);
        let content = state.files.made(&path).and_then(|made| made.content.clone());
        let text = |text: &str| text.trim_end_matches('\n').to_owned();
        Some(match (content, self.stored(&path, state)) {
            (Some(content), _) => Value::Known(text(&content.text)),
            (None, Some(stored)) => Value::hole(Why::Stored(vec![text(&stored)])),
            (None, None) => Value::hole(Why::CommandOutput),
        })
    }
}

/// The name of the program that a command looks for.
fn located_name(command: &Command) -> Option<&str> {
    let words: Option<Vec<&str>> = command.words.iter().map(Word::known).collect();
    match words?.as_slice() {
        ["which", name] | ["command", "-v", name] | ["type", "-p" | "-P", name] => Some(*name),
        _ => None,
    }
}

/// What `realpath` and `readlink -f` print of a file of which only the name is known: mostly one of that name.
fn resolved(command: &Command) -> Option<Value> {
    let ([name, path] | [name, _, path]) = command.words.as_slice() else { return None };
    let Value::Unknown { why: Why::CommandOutput, shape } = &path.value else { return None };
    let rest = shape.strip_prefix(Value::HOLE)?;
    let resolves = matches!(name.known(), Some("realpath" | "readlink"));
    (resolves && rest.len() > 1 && rest.starts_with('/') && !rest.contains(Value::HOLE))
        .then(|| Value::Unknown { why: Why::CommandOutput, shape: shape.clone() })
}

fn in_tmp(pattern: &str) -> bool {
    pattern.strip_prefix("/tmp/").is_some_and(|name| !name.contains('/'))
}

/// Whether a command is `mktemp` in the place of one that failed.
fn is_another(command: &Command) -> bool {
    let makes = |effect: &crate::command::Effect| {
        effect.kind == EffectKind::Create && matches!(&effect.path, Value::Pattern(pattern) if in_tmp(pattern))
    };
    let helps = command.words.iter().any(|word| matches!(word.known(), Some("--help" | "--version")));
    command.program() == Some("mktemp")
        && command.joiner == Joiner::Or
        && command.effects.first().is_some_and(makes)
        && !helps
}

//! Commands that wait for text, for agents whose hooks do not see what is typed into a terminal that a call leaves open.

use toolgate_commands::args::{Arguments, Role};
use toolgate_commands::argv::{Parts, Spelling};
use toolgate_commands::{Spec, Terminal, Trait, Waits};
use toolgate_shell::{Command, Joiner, RedirectKind, Runs, Script, Value, Word, absolute};

use super::Evaluation;
use crate::call::Field;
use crate::matching::MatchInput;
use crate::native_rule::NativeRule;
use crate::world::GuardHost;

/// Python's modules that are prompts.
const PROMPTS: &[&str] = &["code", "pdb", "asyncio", "IPython", "bpython", "ptpython"];

/// Programs that only show, and wait while they do.
const PAGERS: &[&str] = &["less", "more", "most", "man", "info"];

/// Variables that name git's editors, and what takes the place of an editor without waiting.
const EDITORS: &[&str] = &["GIT_EDITOR", "GIT_SEQUENCE_EDITOR", "EDITOR", "VISUAL"];
const NO_EDITORS: &[&str] = &["true", ":", "cat", "sed", "echo"];

/// Names of standard input, which is the terminal, and of the terminal. All three streams of a program there are.
fn is_terminal(path: &str) -> bool {
    if path == "-" {
        return true;
    }
    if !path.starts_with('/') {
        return false;
    }
    let path = absolute(path, "/");
    let stream = ["/dev/fd/", "/proc/self/fd/", "/proc/thread-self/fd/"].iter().find_map(|at| path.strip_prefix(at));
    stream.is_some_and(|number| matches!(number, "0" | "1" | "2"))
        || matches!(path.as_str(), "/dev/stdin" | "/dev/stdout" | "/dev/stderr" | "/dev/tty" | "/dev/console")
        || path.starts_with("/dev/pts/")
}

/// A program's name without its version: `python3.11`, `bash-5.2`.
fn unversioned(name: &str) -> &str {
    name.trim_end_matches(|c: char| c.is_ascii_digit() || matches!(c, '.' | '-'))
}

/// Reads one word of options; whether it decides that the program waits, or that it does not.
fn option(spec: &'static Spec, terminal: Option<&Terminal>, args: &mut Arguments<'_, &str>, at: usize) -> Option<bool> {
    let word = args.words[at];
    let next = args.words.get(at + 1).copied().unwrap_or_default();
    // `+o` of a shell.
    let signed = word.replacen('+', "-", usize::from(word.starts_with('+')));
    let spelling = if spec.one_dash { Spelling::Words } else { Spelling::Letters };
    for part in Parts::new(&spec, &signed, spelling) {
        let rest = part.attached.and_then(|at| signed.get(at..));
        if let Some(terminal) = terminal.filter(|_| part.dashes == 1 && !word.starts_with('+')) {
            let name = format!("-{}", part.name);
            if terminal.waits.contains(&name.as_str()) {
                return Some(true);
            }
            if terminal.ends.contains(&name.as_str()) {
                return Some(prompts(spec, &name, rest.unwrap_or(next)));
            }
        }
        if let Some(option) = part.option {
            args.take_values(option.takes, rest.is_some());
        }
    }
    None
}

/// Whether what an option runs is itself a prompt.
fn prompts(spec: &Spec, option: &str, value: &str) -> bool {
    option == "-m" && spec.is("python") && PROMPTS.contains(&value)
}

/// Where the operand behind a program's own options is.
fn leading(spec: &'static Spec, words: &[&str]) -> Option<usize> {
    let mut args = Arguments::new(words, 0, |word| word);
    loop {
        let (at, role) = args.next()?;
        if role == Role::Operand && words[at] != "-" {
            return Some(at);
        }
        option(spec, None, &mut args, at);
    }
}

/// Whether a program waits with these words behind its name.
fn waits_with(spec: &'static Spec, terminal: &Terminal, words: &[&str]) -> bool {
    let mut operands = 0;
    let mut args = Arguments::new(words, 0, |word| word);
    while let Some((at, role)) = args.next() {
        let word = words[at];
        let next = words.get(at + 1).copied().unwrap_or_default();
        let name = word.split('=').next().unwrap_or_default();
        if terminal.waits.contains(&name) {
            return true;
        }
        if terminal.ends.contains(&name) {
            return prompts(spec, name, next);
        }
        let assigns = || spec.runs.as_ref().is_some_and(|runs| runs.traits.contains(&Trait::Assign));
        if role != Role::Operand || word.starts_with('+') && word.len() > 1 {
            if let Some(waits) = option(spec, Some(terminal), &mut args, at) {
                return waits;
            }
        } else if !(is_terminal(word) || word.contains('=') && assigns()) {
            operands += 1;
        }
        if matches!(terminal.operands, Waits::UpTo(most) if operands > usize::from(most)) {
            return false;
        }
    }
    terminal.operands != Waits::Never
}

/// Whether a command waits for text from whoever has started it.
fn waits(command: &Command, behind: &[Command]) -> bool {
    let Some(name) = command.program() else { return false };
    let words: Vec<&str> = command.words.iter().skip(1).map(|word| Word::known(word).unwrap_or_default()).collect();
    let mut words = words.as_slice();
    let listed = |name| toolgate_commands::find(name).or_else(|| toolgate_commands::find(unversioned(name)));
    let mut spec = listed(name);
    // A project's own program, run as a script.
    if let Some(python) = spec.filter(|spec| spec.is("python"))
        && let Some(at) = leading(python, words)
        && words[at].rsplit('/').next() == Some("manage.py")
    {
        (spec, words) = (toolgate_commands::find("manage.py"), &words[at + 1..]);
    }
    let Some(program) = spec else { return false };
    // A subcommand that waits, else the program itself.
    let sub = leading(program, words).and_then(|at| {
        let sub = program.subcommand(words[at])?;
        Some((sub, sub.terminal.as_ref()?, &words[at + 1..]))
    });
    let own = || program.terminal.as_ref().map(|terminal| (program, terminal, words));
    let Some((spec, terminal, words)) = sub.or_else(own) else { return false };
    let redirected = |kind: RedirectKind, fd: u32| {
        let mut redirects = command.redirects.iter();
        redirects.any(|redirect| {
            redirect.kind == kind && redirect.fd == Some(fd) && !redirect.target.known().is_some_and(is_terminal)
        })
    };
    if command.input().is_some() || command.joiner == Joiner::Pipe || redirected(RedirectKind::Read, 0) {
        return false;
    }
    if PAGERS.iter().any(|pager| program.is(pager)) {
        let next = behind.iter().find(|other| other.group == command.group);
        let piped = next.is_some_and(|next| next.joiner == Joiner::Pipe);
        if piped || redirected(RedirectKind::Write, 1) || redirected(RedirectKind::Append, 1) {
            return false;
        }
    }
    if program.is("git") {
        let first = |value: &Value| value.known().and_then(|text| text.split_whitespace().next().map(str::to_owned));
        let unattended = command.assignments.iter().any(|(name, value)| {
            EDITORS.contains(&name.as_str())
                && first(&value.value).is_some_and(|editor| NO_EDITORS.contains(&editor.as_str()))
        });
        if unattended {
            return false;
        }
    }
    waits_with(spec, terminal, words)
}

impl Evaluation<'_> {
    /// Where typed text is not seen, what waits for it is a way past the gate.
    pub(super) fn typed(
        &mut self,
        script: &Script,
        subjects: &[MatchInput<'_>],
        field: &Field,
        world: &mut dyn GuardHost,
    ) {
        if !self.call.typed_unseen {
            return;
        }
        let behind = |index: usize| script.commands.get(index + 1..).unwrap_or_default();
        let waiting = |subject: &&MatchInput<'_>| {
            subject.command.runs != Runs::Never && waits(subject.command, behind(subject.index))
        };
        for subject in subjects.iter().filter(waiting) {
            let evidence = vec![super::evidence(field, subject.command.span)];
            self.coded_on(NativeRule::TypedUnseen, subject, &field.value, world, evidence);
        }
    }
}

#[cfg(test)]
mod tests {
    use toolgate_shell::{Facts, parse};

    use super::*;

    /// The cases are in `interactive/cases.jsonl`, one a line.
    #[test]
    fn what_waits_for_text_is_told_from_what_does_not() {
        let mut wrong = Vec::new();
        for line in include_str!("interactive/cases.jsonl").lines() {
            let case: serde_json::Value = serde_json::from_str(line).expect("a case is JSON");
            let script = parse(case["text"].as_str().expect("a text"), &Facts::new("/p").home("/h"));
            let behind = |at: usize| &script.commands[at + 1..];
            let mut commands = script.commands.iter().enumerate();
            let found = commands.any(|(at, command)| command.runs != Runs::Never && waits(command, behind(at)));
            if case["waits"] != found {
                wrong.push(line);
            }
        }
        assert!(wrong.is_empty(), "{wrong:#?}");
    }

    /// An option of a program's spec before the words with which it waits, or ends, changes neither.
    #[test]
    fn no_option_of_a_spec_changes_whether_a_program_waits() {
        let waiting = |text: &str| {
            let script = parse(text, &Facts::new("/p").home("/h"));
            waits(&script.commands[0], &script.commands[1..])
        };
        let (mut tried, mut wrong) = (0, Vec::new());
        for spec in toolgate_commands::programs() {
            let subs = spec.subcommands.iter().filter(|sub| sub.terminal.is_some()).map(|sub| sub.names[0]);
            let own = spec.terminal.iter().flat_map(|own| own.waits.iter().chain(own.ends).copied());
            let words: Vec<&str> = subs.chain(own).collect();
            let says = |option: &str| {
                spec.terminal.iter().any(|own| own.waits.contains(&option) || own.ends.contains(&option))
            };
            for option in spec.options.iter().filter(|option| option.run.is_none() && !option.help && !option.last) {
                for name in option.names.iter().filter(|name| !name.starts_with('-')) {
                    let dashes = if name.chars().count() == 1 || spec.one_dash { "-" } else { "--" };
                    let spelled = format!("{dashes}{name}");
                    if says(&spelled) {
                        continue;
                    }
                    let value = " 5s".repeat(option.takes.words());
                    for word in &words {
                        tried += 1;
                        let command = format!("{} {spelled}{value} {word} 'x'", spec.names[0]);
                        if waiting(&command) != waiting(&format!("{} {word} 'x'", spec.names[0])) {
                            wrong.push(command);
                        }
                    }
                }
            }
        }
        assert!(tried > 500, "only {tried} commands were tried");
        assert!(wrong.is_empty(), "{} of {tried}: {wrong:#?}", wrong.len());
    }
}

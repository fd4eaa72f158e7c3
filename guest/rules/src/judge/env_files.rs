//! Files of variables, `.env`: whether what a command does with one shows a value to whoever looks on, and whether one is lost.
//!
//! Counting its lines, listing its names, keeping it beside another worktree and running tests with it show nothing. What may
//! show a value asks, and what does is blocked by the path rules.

use toolgate_shell::{
    Command, Effect, EffectKind, FileAction, Joiner, Presence, Redirect, Runs, Value, Word, absolute,
};

use super::path_access::Shown;
use super::{Evaluation, evidence};
use crate::call::Field;
use crate::invocation::{Invocation, ParsedOption};
use crate::matching::{MatchInput, is_change};
use crate::native_rule::NativeRule;
use crate::path_query::is_sample;
use crate::path_zone::{PathZone, is_elsewhere, is_product};
use crate::world::{GuardHost, Tracked};

/// Whether a file is called as files of variables are.
pub(super) fn is_variables(path: &str) -> bool {
    path.rsplit('/').next().is_some_and(|name| name == ".env" || name.starts_with(".env."))
}

/// Whether a command of this text shows what is in the file of variables that it works on.
pub(super) fn shown(subject: &MatchInput<'_>, effect: &Effect, text: &str, world: &mut dyn GuardHost) -> Shown {
    let works = matches!(effect.kind, EffectKind::Read | EffectKind::Mention | EffectKind::Execute | EffectKind::Move);
    if !works || !effect.path.known().is_some_and(is_variables) {
        return Shown::Yes;
    }
    if let Some(FileAction::Move | FileAction::Copy) = subject.command.action {
        return kept(subject, effect);
    }
    // What is written to another descriptor, or to a terminal, goes past what follows in the pipeline.
    let plain =
        |redirect: &Redirect| redirect.target.span == effect.span || redirect.target.known() == Some("/dev/null");
    if texts(subject.command).is_none() || !subject.command.redirects.iter().all(plain) {
        return Shown::Yes;
    }
    let Some(found) = subject.invocation() else { return Shown::Yes };
    let operands = operands(found);
    let others = match operands.split_last() {
        Some((last, others)) if is_variables(last) => others,
        _ => &operands,
    };
    match found.program {
        _ if masks(found, others) => Shown::No,
        "source" | "." => used(subject, text),
        "cp" | "mv" | "install" | "rsync" | "ln" => kept(subject, effect),
        "git" => compared(found, effect, world),
        "cat" if others.is_empty() && found.options.is_empty() => piped(subject, text),
        "grep" if others.len() == 1 && is_inverted(found) => piped(subject, text),
        // `grep NAME .env | wc -l`
        "grep" | "egrep" if !others.is_empty() && found.has_only(&["-E", "-i"]) && is_counted(subject) => Shown::No,
        _ => Shown::Yes,
    }
}

fn texts(command: &Command) -> Option<Vec<&str>> {
    command.words.iter().map(Word::known).collect()
}

/// The operands of a command of which all words are known.
fn operands<'a>(found: &Invocation<'a>) -> Vec<&'a str> {
    found.operands.iter().map(|operand| operand.shape).collect()
}

/// Whether of the lines that a program is given it prints no more than the names before the first `=`, or how many there are.
/// The operands are those besides the file. With other options than these it may print more.
fn masks(found: &Invocation<'_>, operands: &[&str]) -> bool {
    const COUNT: &[&str] = &["-c", "--count", "-q", "--quiet", "-l", "-L"];
    let with = |wanted: &[&str], others: &[&str]| found.has(wanted) && found.has_only(&[wanted, others].concat());
    match (found.program, operands) {
        ("wc", []) => found.has_only(&["-l", "-c", "-w", "-m"]),
        ("md5sum" | "sha1sum" | "sha256sum" | "shasum" | "cksum", []) => found.options.is_empty(),
        ("cmp", [_]) => with(&["-s", "--silent"], &[]),
        ("diff", [_]) => with(&["-q", "--brief"], &[]),
        ("grep" | "egrep", [_, _, ..]) => with(COUNT, &["-E", "-i"]),
        ("grep" | "egrep", [pattern]) => {
            with(COUNT, &["-E", "-i"]) || with(&["-o", "--only-matching"], &["-E"]) && is_name_pattern(pattern)
        }
        ("cut", []) => {
            found.has_only(&["-d", "-f"]) && found.value(&["-d"]) == Some("=") && found.value(&["-f"]) == Some("1")
        }
        ("awk" | "gawk" | "mawk", [program]) => {
            found.has_only(&["-F"]) && found.value(&["-F"]) == Some("=") && is_name_printer(program)
        }
        ("sed" | "gsed", _) => {
            let script = found.value(&["-e"]).filter(|_| operands.is_empty());
            let script = script.or(match operands {
                [script] if !found.has(&["-e"]) => Some(script),
                _ => None,
            });
            // With `-n` only lines that were masked are printed.
            found.has_only(&["-E", "-r", "-e", "-n"]) && script.is_some_and(is_mask)
        }
        _ => false,
    }
}

/// Whether `grep` prints all lines but some.
fn is_inverted(found: &Invocation<'_>) -> bool {
    found.has(&["-v"]) && found.has_only(&["-v"])
}

/// Whether a pattern fits nothing behind the first `=` of a line: `^[A-Z_]*`, `^[^=]*=`.
fn is_name_pattern(pattern: &str) -> bool {
    let Some(mut rest) = pattern.strip_prefix('^') else { return false };
    while let Some(start) = rest.find('[') {
        let Some(end) = rest[start + 1..].find(']').map(|end| start + 1 + end) else { return false };
        let class = &rest[start + 1..end];
        let fits = match class.strip_prefix('^') {
            Some(excluded) => excluded.contains('='),
            None => {
                let single = class.replace("A-Z", "").replace("a-z", "").replace("0-9", "");
                single.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
            }
        };
        let before = &rest[..start];
        if !fits || !before.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_*+".contains(&byte)) {
            return false;
        }
        rest = &rest[end + 1..];
    }
    let rest = rest.strip_suffix('=').unwrap_or(rest).replace("\\+", "+");
    rest.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_*+".contains(&byte))
}

/// Whether an awk program prints the first field, and texts of its own: `{print $1 "=***"}`.
fn is_name_printer(program: &str) -> bool {
    let body = program.trim().strip_prefix('{').and_then(|body| body.strip_suffix('}'));
    let printed = body.and_then(|body| body.trim().trim_end_matches(';').strip_prefix("print"));
    let Some(printed) = printed.map(str::trim) else { return false };
    let Some(rest) = printed.strip_prefix("$1") else { return false };
    let rest = rest.trim_start_matches([' ', ',']);
    rest.is_empty() || rest.len() > 1 && rest.starts_with('"') && rest.ends_with('"') && rest.matches('"').count() == 2
}

/// Whether a sed script puts something else in the place of all that stands behind the first `=` of every line: `s/=.*/=***/`.
fn is_mask(script: &str) -> bool {
    /// What begins a line up to the `=`, and fits each.
    const HEADS: &[&str] =
        &["=", "\\(=\\)", "(=)", "^[^=]*=", "^\\([^=]*\\)=", "^([^=]*)=", "^\\([^=]*=\\)", "^([^=]*=)"];
    let Some(rest) = script.strip_prefix('s') else { return false };
    let Some(delimiter) = rest.chars().next().filter(|c| "/|#,:@".contains(*c)) else { return false };
    let parts: Vec<&str> = rest[1..].split(delimiter).collect();
    let [pattern, by, "" | "g" | "p"] = parts.as_slice() else { return false };
    let pattern = pattern.strip_suffix('$').unwrap_or(pattern);
    let head = pattern.strip_suffix(".*").or_else(|| pattern.strip_suffix(".+"));
    head.is_some_and(|head| HEADS.contains(&head)) && !by.contains(['&', '\n']) && !by.contains("\\0")
}

/// Whether the lines that a command prints are only counted.
fn is_counted(subject: &MatchInput<'_>) -> bool {
    let counts = |next: &Command| texts(next).is_some_and(|words| words == ["wc", "-l"]) && next.redirects.is_empty();
    matches!(subject.pipeline().1.as_slice(), [next] if counts(next))
}

/// What becomes of the lines of `cat .env`, which go on to the next command of the pipeline.
fn piped(subject: &MatchInput<'_>, text: &str) -> Shown {
    // What goes to another descriptor goes past the pipeline.
    let own = |next: &Command| text.get(subject.command.span.start..next.span.start);
    if subject.pipeline().1.first().is_some_and(|next| own(next).is_none_or(|own| own.contains('>'))) {
        return Shown::Yes;
    }
    for next in subject.pipeline().1 {
        let silent = next.redirects.iter().all(|redirect| redirect.target.known() == Some("/dev/null"));
        let known = texts(next).filter(|_| silent);
        let Some(found) = known.and_then(|_| subject.read(next)) else { return Shown::Yes };
        let operands = operands(&found);
        match found.program {
            _ if masks(&found, &operands) => return Shown::No,
            // Lines go on as they are, all or some; what xargs runs if it is told nothing.
            "sort" | "uniq" | "echo" if operands.is_empty() && found.options.is_empty() => {}
            "grep" if operands.len() == 1 && is_inverted(&found) => {}
            "xargs" if operands.is_empty() && found.has_only(&["-0", "-d", "-r", "-L"]) => {}
            _ => return Shown::Yes,
        }
    }
    if exported(subject).is_some() { used(subject, text) } else { Shown::Yes }
}

fn is_nowhere(effect: &Effect) -> bool {
    effect.path.known() == Some("/dev/null")
}

/// The command that sets variables by what another one prints: `export $(cat .env | xargs)`.
fn exported<'a>(subject: &MatchInput<'a>) -> Option<&'a Command> {
    let inner = subject.command;
    let sets = |outer: &&Command| {
        matches!(outer.program(), Some("export" | "env" | "declare"))
            && outer.via.len() < inner.via.len()
            && inner.span.is_inside(outer.span)
            && !outer.redirects.iter().any(|redirect| inner.span.is_inside(redirect.target.span))
    };
    subject.script().commands.iter().take(subject.index).find(sets)
}

/// What the text does with variables once it has them.
fn used(subject: &MatchInput<'_>, text: &str) -> Shown {
    if subject.script().commands.iter().any(|command| traces(subject, command)) {
        return Shown::Yes;
    }
    match used_later(subject) {
        // Whatever is expanded may be what was set.
        Shown::No if expands(subject, text) => Shown::Perhaps,
        shown => shown,
    }
}

/// Whether a shell prints what it runs.
fn traces<'a>(subject: &MatchInput<'a>, command: &'a Command) -> bool {
    const SHELLS: &[&str] = &["bash", "sh", "zsh", "dash", "ksh", "set"];
    let shell = command.program().is_some_and(|program| SHELLS.contains(&program));
    let named = |word: &Word| matches!(word.value.text(), "xtrace" | "verbose");
    let options = |found: Invocation<'a>| found.has(&["-x", "-v", "--verbose"]);
    shell && (command.words.iter().any(named) || subject.read(command).is_some_and(options))
}

/// Whether a text expands anything but what sets the variables.
fn expands(subject: &MatchInput<'_>, text: &str) -> bool {
    let setter = exported(subject).map(|setter| setter.span);
    let own = |at: usize| setter.is_some_and(|span| span.start <= at && at < span.end);
    text.match_indices(['$', '`']).any(|(at, _)| !own(at))
}

fn used_later(subject: &MatchInput<'_>) -> Shown {
    const SHOW: &[&str] = &["cat", "echo", "logger", "print", "printf", "tee", "wall", "write"];
    const CODE: &[&str] = &["environ", "getenv", "process.env", "ENV", "Bun.env", "Deno.env"];
    let mut shown = Shown::No;
    let setter = exported(subject);
    // What stands in the same substitution is what is set.
    let is_set = |command: &Command| {
        let inside = setter.is_some_and(|setter| command.span.is_inside(setter.span));
        inside && command.via.starts_with(&subject.command.via)
    };
    let after = subject.script().commands.iter().skip(subject.index + 1);
    for command in after.filter(|command| command.runs != Runs::Never && !is_set(command)) {
        let words: Vec<&str> = command.words.iter().skip(1).map(|word| word.value.text()).collect();
        let unknown = command.words.iter().any(|word| matches!(word.value, Value::Unknown { .. }));
        let sends = command.effects.iter().any(|effect| effect.kind == EffectKind::Send);
        let has = |names: &[&str]| subject.read(command).is_some_and(|found| found.has(names));
        let bare = || subject.read(command).is_some_and(|found| found.operands.is_empty());
        let lists = match command.program() {
            Some("printenv" | "envsubst" | "dotenvx") => true,
            Some("env") => bare(),
            Some("export" | "declare" | "typeset" | "readonly" | "local") => bare() || has(&["-p"]),
            Some("set") => words.is_empty() || has(&["-x"]) || words.contains(&"xtrace"),
            Some("bash" | "sh" | "zsh" | "dash") => has(&["-x"]),
            Some(program) if SHOW.contains(&program) => unknown,
            _ => sends && unknown || command.effects.iter().any(|effect| effect.path.text().ends_with("/environ")),
        };
        let code = words.iter().any(|word| word.contains([' ', '(']) && CODE.iter().any(|name| word.contains(name)));
        if lists || code {
            return Shown::Yes;
        }
        if unknown {
            shown = Shown::Perhaps;
        }
    }
    shown
}

/// Whether a copy or another name of it is called as such files are, and stays in the workspace.
fn kept(subject: &MatchInput<'_>, of: &Effect) -> Shown {
    let places = subject.places();
    let mut made = subject
        .command
        .effects
        .iter()
        .zip(places)
        .filter(|(effect, _)| is_change(effect.kind) && effect.path != of.path && !is_nowhere(effect));
    let stays = |effect: &Effect, place: PathZone| {
        let inside =
            !is_elsewhere(place) && !matches!(place, PathZone::Temporary | PathZone::TemporaryRoot | PathZone::Unknown);
        let name = effect.path.known().filter(|path| is_variables(path) && !is_sample(&effect.path));
        // Such folders are given to others.
        let served = |path: &str| {
            path.rsplit('/').nth(1).is_some_and(|folder| {
                is_product(folder) && !is_variables(folder) || ["public", "static", "www"].contains(&folder)
            })
        };
        name.is_some_and(|path| !served(path)) && inside
    };
    let sends = subject.command.effects.iter().any(|effect| effect.kind == EffectKind::Send);
    let all = made.clone().count() > 0 && made.all(|(effect, place)| stays(effect, *place));
    if all && !sends { Shown::No } else { Shown::Yes }
}

/// What git shows of the file: nothing if it does not hold it, or is to tell how much has changed.
fn compared(found: &Invocation<'_>, effect: &Effect, world: &mut dyn GuardHost) -> Shown {
    const TELL: &[&str] =
        &["--stat", "--numstat", "--shortstat", "--name-only", "--name-status", "--quiet", "--summary"];
    let Some((subcommand, rest)) = found.operands.split_first() else { return Shown::Yes };
    let outside = rest.iter().any(|path| path.shape.starts_with(['/', '~']) || path.shape.contains("../"));
    let plain = found.has_only(&[TELL, &["--exit-code"]].concat());
    if (subcommand.word, subcommand.text) != (1, Some("diff")) || outside || !plain {
        return Shown::Yes;
    }
    if found.has(TELL) {
        return Shown::No;
    }
    match effect.path.known().and_then(|path| world.tracked(path)) {
        Some(Tracked::Untracked | Tracked::Ignored) => Shown::No,
        _ if rest.iter().any(|path| path.shape.contains("..") && !path.shape.contains('/')) => Shown::Perhaps,
        _ => Shown::Yes,
    }
}

impl Evaluation<'_> {
    /// Files of variables that are removed or written over, and that git does not hold.
    pub(super) fn variables_lost(&mut self, subjects: &[MatchInput<'_>], field: &Field, world: &mut dyn GuardHost) {
        for subject in subjects.iter().filter(|subject| subject.command.runs != Runs::Never) {
            let command = subject.command;
            let acts = !command.words.is_empty() || !command.redirects.is_empty() || command.action.is_some();
            if command.elsewhere || !acts || keeps_the_rest(subject) {
                continue;
            }
            let lost = command.effects.iter().zip(subject.places()).find(|(effect, place)| {
                matches!(effect.kind, EffectKind::Delete | EffectKind::Write)
                    && !matches!(place, PathZone::Temporary)
                    && effect.path.known().is_some_and(|path| is_variables(path) && !is_sample(&effect.path))
            });
            let Some((effect, _)) = lost else { continue };
            let found = world.look().map_or(Presence::Unknown, |look| look.look(effect.path.text()));
            let there = match found {
                Presence::Unknown => effect.kind == EffectKind::Delete,
                found => found != Presence::Absent,
            };
            let path = effect.path.text();
            if there
                && !is_guarded(subject, effect, &field.value)
                && !matches!(world.tracked(path), Some(Tracked::Held))
            {
                self.coded_on(
                    NativeRule::VariablesLost,
                    subject,
                    &field.value,
                    world,
                    vec![evidence(field, effect.span)],
                );
            }
        }
    }
}

/// Whether a command changes a part of a file, or writes none that is there.
fn keeps_the_rest(subject: &MatchInput<'_>) -> bool {
    let command = subject.command;
    match command.program() {
        Some("sed" | "gsed" | "touch") => command.redirects.is_empty(),
        Some("cp" | "mv") => subject.invocation().is_some_and(keeps_what_is_there),
        _ => false,
    }
}

/// Whether `cp` and `mv` write over nothing, or make a copy of it first.
fn keeps_what_is_there(found: &Invocation<'_>) -> bool {
    let none = |given: &ParsedOption<'_>| found.is(given, "--update") && given.value == Some("none");
    let kept = found.has(&["-n", "--no-clobber", "-b", "--backup"]) || found.options.iter().any(none);
    kept && !found.has(&["-f", "--force"])
}

/// Whether it only runs where the file is not there: `[ -f .env ] || cp .env.example .env`.
fn is_guarded(subject: &MatchInput<'_>, effect: &Effect, source: &str) -> bool {
    if effect.kind == EffectKind::Delete {
        return false;
    }
    let Some(before) = subject.index.checked_sub(1).map(|at| &subject.script().commands[at]) else { return false };
    let Some(texts) = texts(before).filter(|_| matches!(before.program(), Some("[" | "test" | "[["))) else {
        return false;
    };
    let (negated, test) = match texts.get(1..) {
        Some(["!", test, ..]) => (true, (test, texts.get(3))),
        Some([test, ..]) => (false, (test, texts.get(2))),
        _ => return false,
    };
    let names = test.1.is_some_and(|file| absolute(file, before.cwd.as_deref().unwrap_or("/")) == effect.path.text());
    let asks = matches!(*test.0, "-f" | "-e" | "-s" | "-r") && names && texts.len() <= 5;
    let between = source.get(before.span.end..subject.command.span.start).unwrap_or_default();
    asks && match subject.command.joiner {
        Joiner::Or => !negated,
        Joiner::And => negated,
        // `if [ ! -f .env ]; then cp .env.example .env; fi`
        Joiner::Then | Joiner::First => negated && between.split_whitespace().any(|word| word == "then"),
        Joiner::Pipe => false,
    }
}

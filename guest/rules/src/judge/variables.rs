//! Files of variables, `.env`: whether what a command does with one shows a value to whoever looks on, and whether one is lost.
//!
//! Counting its lines, listing its names, keeping it beside another work tree and running tests with it show nothing. What may
//! show a value asks, and what does is blocked by the path rules.

use toolgate_shell::{Command, Effect, FileAction, Joiner, Kind, Presence, Runs, Value, Word, absolute};

use super::touched::Shown;
use super::{Evaluation, evidence};
use crate::call::Field;
use crate::matching::{MatchInput, is_change};
use crate::native_rule::NativeRule;
use crate::path_query::is_sample;
use crate::path_zone::{PathZone, is_elsewhere};
use crate::world::{GuardHost, Tracked};

/// Whether a file is called as files of variables are.
pub(super) fn is_variables(path: &str) -> bool {
    path.rsplit('/').next().is_some_and(|name| name == ".env" || name.starts_with(".env."))
}

/// Whether a command shows what is in the file of variables that it works on.
pub(super) fn shown(subject: &MatchInput<'_>, effect: &Effect, world: &mut dyn GuardHost) -> Shown {
    let works = matches!(effect.kind, Kind::Read | Kind::Mention | Kind::Execute | Kind::Move);
    if !works || !effect.path.known().is_some_and(is_variables) {
        return Shown::Yes;
    }
    if let Some(FileAction::Move | FileAction::Copy) = subject.command.action {
        return kept(subject, effect);
    }
    let Some(texts) = texts(subject.command) else { return Shown::Yes };
    match texts.first().map(|program| program.rsplit('/').next().unwrap_or(program)) {
        _ if masks(&texts) => Shown::No,
        Some("source" | ".") => used(subject),
        Some("cp" | "mv" | "install" | "rsync" | "ln") => kept(subject, effect),
        Some("git") => compared(&texts, effect, world),
        Some(program) if PASS_ON.contains(&program) => piped(subject),
        _ => Shown::Yes,
    }
}

fn texts(command: &Command) -> Option<Vec<&str>> {
    command.words.iter().map(Word::known).collect()
}

/// Programs that print the lines that they are given, or some of them.
const PASS_ON: &[&str] = &["cat", "egrep", "grep", "head", "sort", "tail", "uniq"];

/// Whether of the lines that a command is given it prints no more than the names before the first `=`, or how many there are.
fn masks(texts: &[&str]) -> bool {
    let Some((program, words)) = texts.split_first() else { return false };
    // What stands behind it is no option, whatever it looks like.
    if words.contains(&"--") {
        return false;
    }
    let long = |names: &[&str]| words.iter().any(|word| names.contains(word));
    let short = |letters: &str| {
        let is_short = |word: &&&str| word.starts_with('-') && !word.starts_with("--");
        words.iter().filter(is_short).any(|word| word.contains(|c: char| letters.contains(c)))
    };
    match program.rsplit('/').next().unwrap_or(program) {
        "wc" => words.iter().all(|word| !word.starts_with('-') || word.bytes().skip(1).all(|b| b"clmwL".contains(&b))),
        "md5sum" | "sha1sum" | "sha256sum" | "shasum" | "cksum" => words.iter().all(|word| !word.starts_with('-')),
        "cmp" => short("s"),
        "diff" => short("q") || long(&["--brief"]),
        "grep" | "egrep" => {
            let counts = short("cqlL") || long(&["--count", "--quiet", "--silent", "--files-with-matches"]);
            let names = (short("o") || long(&["--only-matching"])) && !short("vABC");
            let patterns: Vec<&&str> = words.iter().filter(|word| !word.starts_with('-')).collect();
            (counts || names && patterns.first().is_some_and(|pattern| is_name_pattern(pattern))) && !short("ef")
        }
        "cut" => {
            let joined: String = words.join(" ");
            let options =
                ["-d= -f1", "-f1 -d=", "-d = -f 1", "-f 1 -d =", "-d= -f 1", "-f 1 -d=", "-d = -f1", "-f1 -d ="];
            let after =
                |options: &&str| joined.strip_prefix(*options).filter(|rest| rest.is_empty() || rest.starts_with(' '));
            let rest = options.iter().find_map(after);
            rest.is_some_and(|rest| {
                rest.split(' ').all(|word| word.is_empty() || word == "-s" || !word.starts_with('-'))
            })
        }
        "awk" | "gawk" | "mawk" => match words {
            // `NAME=VALUE` behind it sets a variable, such as the separator.
            ["-F=" | "-F\\=", program, rest @ ..] | ["-F", "=", program, rest @ ..] => {
                is_name_printer(program) && !short("fv") && !rest.iter().any(|word| word.contains('='))
            }
            _ => false,
        },
        "sed" | "gsed" => {
            let (options, rest): (Vec<&str>, Vec<&str>) = words.iter().copied().partition(|word| word.starts_with('-'));
            let plain = options.iter().all(|option| matches!(*option, "-E" | "-r" | "-e" | "-n"));
            plain && rest.len() <= 2 && rest.first().is_some_and(|script| is_mask(script))
        }
        _ => false,
    }
}

/// Whether a pattern fits nothing behind the first `=` of a line: `^[A-Z_]*`, `^[^=]*=`.
fn is_name_pattern(pattern: &str) -> bool {
    let Some(mut rest) = pattern.strip_prefix('^') else { return false };
    while let Some(start) = rest.find('[') {
        let Some(end) = rest[start + 1..].find(']').map(|end| start + 1 + end) else { return false };
        let class = &rest[start + 1..end];
        let fits = match class.strip_prefix('^') {
            Some(excluded) => excluded.contains('='),
            None => class.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte)),
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

/// Whether a sed script puts something else in the place of all that stands behind the first `=`: `s/=.*/=***/`.
fn is_mask(script: &str) -> bool {
    let Some(rest) = script.strip_prefix('s') else { return false };
    let Some(delimiter) = rest.chars().next().filter(|c| "/|#,:@".contains(*c)) else { return false };
    let parts: Vec<&str> = rest[1..].split(delimiter).collect();
    let [pattern, by, "" | "g" | "p"] = parts.as_slice() else { return false };
    let pattern = pattern.strip_suffix('$').unwrap_or(pattern);
    let Some(head) = pattern.strip_suffix(".*").or_else(|| pattern.strip_suffix(".+")) else { return false };
    let closed = head.matches('(').count() == head.matches(')').count();
    let said = head.trim_start_matches('^');
    let is_name = said.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-[]()\\*+=^".contains(&byte));
    // The group that is put back ends before the value.
    let early = said.find('=').is_some_and(|at| said[at + 1..].bytes().all(|byte| b")\\]*+".contains(&byte)));
    closed && is_name && early && !by.contains(['&', '\n']) && !by.contains("\\0")
}

/// What becomes of lines that go on to the next command of the pipeline.
fn piped(subject: &MatchInput<'_>) -> Shown {
    let writes = |command: &Command| command.effects.iter().any(|effect| is_change(effect.kind) && !is_nowhere(effect));
    if writes(subject.command) {
        return Shown::Yes;
    }
    for next in subject.pipeline().1 {
        let Some(texts) = texts(next) else { return Shown::Yes };
        match texts.first() {
            _ if masks(&texts) => return Shown::No,
            Some(program) if PASS_ON.contains(program) && !writes(next) => {}
            // What xargs runs if it is told nothing.
            Some(&"echo") if texts.len() == 1 => {}
            Some(&"xargs")
                if texts[1..].iter().all(|word| matches!(*word, "-0" | "-d" | "\\n" | "-r" | "-L" | "1")) => {}
            _ => return Shown::Yes,
        }
    }
    if exported(subject).is_some() { used(subject) } else { Shown::Yes }
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
fn used(subject: &MatchInput<'_>) -> Shown {
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
        let sends = command.effects.iter().any(|effect| effect.kind == Kind::Send);
        let lists = match command.program() {
            Some("printenv") => true,
            Some("env") => words.iter().all(|word| word.starts_with('-')),
            Some("export" | "declare" | "typeset" | "readonly" | "local") => words.is_empty() || words.contains(&"-p"),
            Some("set") => {
                words.is_empty()
                    || words.iter().any(|word| word.starts_with('-') && word.contains('x'))
                    || words.contains(&"xtrace")
            }
            Some("bash" | "sh" | "zsh" | "dash") => {
                words.iter().any(|word| word.starts_with('-') && word.contains('x'))
            }
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
        effect.path.known().is_some_and(is_variables) && inside
    };
    let sends = subject.command.effects.iter().any(|effect| effect.kind == Kind::Send);
    let all = made.clone().count() > 0 && made.all(|(effect, place)| stays(effect, *place));
    if all && !sends { Shown::No } else { Shown::Yes }
}

/// What git shows of the file: nothing if it does not hold it, or is to tell how much has changed.
fn compared(texts: &[&str], effect: &Effect, world: &mut dyn GuardHost) -> Shown {
    const TELL: &[&str] =
        &["--stat", "--numstat", "--shortstat", "--name-only", "--name-status", "--quiet", "--exit-code", "--summary"];
    if texts.get(1) != Some(&"diff") || texts.contains(&"--no-index") {
        return Shown::Yes;
    }
    if texts.iter().any(|word| TELL.contains(word))
        && !texts.iter().any(|word| matches!(*word, "-p" | "-u" | "--patch"))
    {
        return Shown::No;
    }
    match effect.path.known().and_then(|path| world.tracked(path)) {
        Some(Tracked::Untracked | Tracked::Ignored) => Shown::No,
        _ if texts.iter().any(|word| word.contains("..") && !word.contains('/')) => Shown::Perhaps,
        _ => Shown::Yes,
    }
}

impl Evaluation<'_> {
    /// Files of variables that are removed or written over, and that git does not hold.
    pub(super) fn variables_lost(&mut self, subjects: &[MatchInput<'_>], field: &Field, world: &mut dyn GuardHost) {
        for subject in subjects.iter().filter(|subject| subject.command.runs != Runs::Never) {
            let command = subject.command;
            let acts = !command.words.is_empty() || !command.redirects.is_empty() || command.action.is_some();
            if command.elsewhere || !acts || keeps_the_rest(command) {
                continue;
            }
            let lost = command.effects.iter().zip(subject.places()).find(|(effect, place)| {
                matches!(effect.kind, Kind::Delete | Kind::Write)
                    && !matches!(place, PathZone::Temporary)
                    && effect.path.known().is_some_and(|path| is_variables(path) && !is_sample(&effect.path))
            });
            let Some((effect, _)) = lost else { continue };
            let found = world.look().map_or(Presence::Unknown, |look| look.look(effect.path.text()));
            let there = match found {
                Presence::Unknown => effect.kind == Kind::Delete,
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
fn keeps_the_rest(command: &Command) -> bool {
    let given = |options: &[&str]| command.words.iter().filter_map(Word::known).any(|word| options.contains(&word));
    match command.program() {
        Some("sed" | "gsed" | "perl" | "ruby" | "touch") => command.redirects.is_empty(),
        Some("cp" | "mv") => given(&["-n", "--no-clobber", "--update=none", "-i", "--interactive", "-b", "--backup"]),
        _ => false,
    }
}

/// Whether it only runs where the file is not there: `[ -f .env ] || cp .env.example .env`.
fn is_guarded(subject: &MatchInput<'_>, effect: &Effect, source: &str) -> bool {
    if effect.kind == Kind::Delete {
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

//! Values of the environment that a command shows: all of them, or one that is called as secrets are.

use toolgate_names::secrets::is_secret_variable;
use toolgate_shell::{Command, ProgramWords, Redirect, RedirectKind, SUBSTITUTION, Value, Word};

use crate::call::Field;
use crate::flow::is_interpreter;
use crate::judge::{Evaluation, evidence};
use crate::matching::MatchInput;
use crate::native_rule::NativeRule;
use crate::world::GuardHost;

/// What a pattern says that looks for secrets.
const SOUGHT: &[&str] = &[
    "anthropic",
    "api",
    "auth",
    "aws",
    "connection",
    "cred",
    "database",
    "dsn",
    "key",
    "openai",
    "pass",
    "private",
    "pwd",
    "secret",
    "stripe",
    "token",
];

/// Programs that print their words.
const SPEAKERS: &[&str] = &["basename", "date", "dirname", "echo", "expr", "print", "printf", "realpath", "seq", "yes"];

/// Programs that print what they are given, in a form that tells it.
const REPEATERS: &[&str] = &[
    "base32", "base64", "cat", "column", "expand", "fmt", "fold", "hexdump", "less", "more", "nl", "od", "paste", "pr",
    "rev", "sort", "tac", "tee", "tr", "uniq", "xxd",
];

/// Programs that pass on what they are given, and print it in the end.
const PRINTERS: &[&str] = &["cat", "echo", "printf"];

impl Evaluation<'_> {
    /// A command that prints the environment, or a secret in it.
    pub(in crate::judge) fn shows(&mut self, subject: &MatchInput<'_>, field: &Field, world: &mut dyn GuardHost) {
        let command = subject.command;
        if command.preexisting || command.scanned {
            return;
        }
        let later = || subject.pipeline().1.into_iter();
        let prints = prints_environment(subject) && !later().any(hides_values)
            // Most look for the targets in it.
            || prints_database(command) && later().all(repeats);
        if prints && is_shown(subject) {
            let evidence = vec![evidence(field, command.span)];
            self.coded_on(NativeRule::PrintEnvironment, subject, &field.value, world, evidence);
        }
        if let Some(word) = secret_word(command, &field.value)
            && is_shown(subject)
            && later().all(repeats)
        {
            let evidence = vec![evidence(field, word.span)];
            self.coded_on(NativeRule::PrintSecretVariable, subject, &field.value, world, evidence);
        }
        if let Some(word) = traced_word(command, &field.value) {
            let evidence = vec![evidence(field, word.span)];
            self.coded_on(NativeRule::PrintSecretVariable, subject, &field.value, world, evidence);
        }
    }
}

/// Whether a command prints the values of all variables, or of one that is a secret.
pub(super) fn prints_environment(subject: &MatchInput<'_>) -> bool {
    let command = subject.command;
    let Some(words) = command.words.iter().map(Word::known).collect::<Option<Vec<&str>>>() else { return false };
    let Some((program, rest)) = words.split_first() else { return false };
    let names = || rest.iter().filter(|word| !word.starts_with('-'));
    let letters = || rest.iter().filter(|word| word.starts_with('-')).flat_map(|word| word.chars().skip(1));
    let all_or_secret = || names().next().is_none() || names().any(|name| is_secret_variable(name));
    let help = || rest.iter().any(|word| matches!(*word, "--help" | "--version"));
    match program.rsplit('/').next().unwrap_or(program) {
        "env" => {
            let read = ProgramWords::read_until_operand("env", &command.words[1..]);
            !subject.wraps && !help() && read.words().all(|word| word.text().contains('='))
        }
        // It is a script of every package.
        "npm" | "yarn" => names().eq(&["run", "env"]),
        "printenv" => !help() && all_or_secret(),
        "gdb" => rest.iter().any(|word| {
            let mut words = word.split_whitespace();
            let shows = words.next() == Some("show") && words.next().is_some_and(|word| word.starts_with("env"));
            shows && words.next().is_none_or(is_secret_variable)
        }),
        "set" => rest.is_empty(),
        "export" => rest.is_empty() || rest == ["-p"],
        "declare" | "typeset" => letters().all(|letter| "px".contains(letter)) && all_or_secret(),
        _ => false,
    }
}

/// Whether a command prints all variables of a makefile, those of the environment among them.
pub(super) fn prints_database(command: &Command) -> bool {
    matches!(command.program(), Some("make" | "gmake")) && ProgramWords::read("make", &command.words[1..]).has("p")
}

/// Whether what a command prints comes to whoever runs the text, or to the pipe that follows.
pub(super) fn is_shown(subject: &MatchInput<'_>) -> bool {
    let command = subject.command;
    let later = subject.pipeline().1;
    let last = later.last().copied().unwrap_or(command);
    if last.redirects.iter().chain(&command.redirects).any(takes_output) {
        return false;
    }
    if !command.via.iter().any(|via| via == SUBSTITUTION) {
        return true;
    }
    // `echo "$(env)"`
    let holds = |other: &Command| {
        other.span.start < command.span.start
            && command.span.end <= other.span.end
            && other.via.len() < command.via.len()
    };
    let prints = |other: &Command| other.program().is_some_and(|program| PRINTERS.contains(&program));
    subject
        .script()
        .commands
        .iter()
        .any(|other| holds(other) && prints(other) && !other.redirects.iter().any(takes_output))
}

/// Whether a redirect puts what is printed into a file.
fn takes_output(redirect: &Redirect) -> bool {
    let writes =
        matches!(redirect.kind, RedirectKind::Write | RedirectKind::Append) && redirect.fd.is_none_or(|fd| fd == 1);
    let screen = ["/dev/stdout", "/dev/stderr", "/dev/tty"];
    writes && redirect.target.known().is_none_or(|target| !screen.contains(&target))
}

/// Whether a command that is given `NAME=VALUE` lines prints none of the values, or only those of names that are no secrets.
pub(super) fn hides_values(command: &Command) -> bool {
    const MAY_HIDE: &[&str] = &["ag", "awk", "cut", "egrep", "fgrep", "gawk", "grep", "mawk", "rg", "sed"];
    let Some(program) = command.program() else { return false };
    if matches!(program, "wc" | "sha256sum" | "md5sum" | "cksum") {
        return true;
    }
    // A word that is not known may be an option, which may show them.
    let may_be_option = |word: &Word| word.known().is_none() && word.text().starts_with(['-', Value::HOLE]);
    if !MAY_HIDE.contains(&program) || command.words.iter().skip(1).any(may_be_option) {
        return false;
    }
    let read = ProgramWords::read(program, command.words.get(1..).unwrap_or_default());
    let values = |names: &'static [&'static str]| read.values(names).map(Word::text).collect::<Vec<_>>();
    let operands: Vec<&str> = read.words().map(Word::text).collect();
    match program {
        "cut" => values(&["d"]) == ["="] && values(&["f"]) == ["1"] && !read.has("complement"),
        "awk" | "gawk" | "mawk" => match operands[..] {
            // An operand may set what fields are told apart by.
            ["{print $1}" | "{ print $1 }", ref files @ ..] => {
                let more = ["v", "f", "e", "i", "E", "l"].iter().any(|name| read.has(name));
                values(&["F"]) == ["="] && !more && !files.iter().any(|file| file.contains('='))
            }
            ["{print NR}", ..] => !["f", "e", "i", "E", "l"].iter().any(|name| read.has(name)),
            _ => false,
        },
        "sed" => {
            let given = values(&["e"]);
            let scripts = if given.is_empty() { operands.iter().copied().take(1).collect() } else { given };
            matches!(scripts[..], ["s/=.*//" | "s/=.*$//" | "s/=.*/=***/" | "s/=.*/=<set>/" | "s/=.*/=/"])
                && !read.has("f")
        }
        "grep" | "egrep" | "fgrep" | "rg" | "ag" => greps_plainly(&read),
        _ => false,
    }
}

/// Whether `grep` counts, prints names alone, or looks for something that is no secret.
fn greps_plainly(read: &ProgramWords) -> bool {
    let has = |names: &[&str]| names.iter().any(|name| read.has(name));
    if has(&["c", "count", "q", "quiet", "silent"]) {
        return true;
    }
    let given: Vec<&str> = read.values(&["e", "regexp"]).map(Word::text).collect();
    let patterns = if given.is_empty() { read.words().map(Word::text).collect() } else { given };
    // Only from the beginning of a line on: else the value matches as well.
    let names_alone = |pattern: &str| {
        let ends = pattern.ends_with("[^=]*") || pattern.ends_with("[^=]+") || pattern.ends_with("[A-Z_]*");
        pattern.starts_with('^') && ends && !pattern.contains('|')
    };
    if has(&["o", "only-matching"]) && !has(&["f", "file"]) && patterns.iter().all(|pattern| names_alone(pattern)) {
        return true;
    }
    let is_plain = |pattern: &str| {
        let lower = pattern.to_ascii_lowercase();
        let said = |one: &str| one.chars().filter(char::is_ascii_alphabetic).count() > 1;
        lower.split('|').all(said)
            && !pattern.contains(['[', '*'])
            && !SOUGHT.iter().any(|sought| lower.contains(sought))
    };
    !has(&["v", "invert-match", "f", "file"]) && !patterns.is_empty() && patterns.into_iter().all(is_plain)
}

/// The word of `echo` and of what else prints its words that is the value of a secret which the text did not set.
fn secret_word<'a>(command: &'a Command, source: &str) -> Option<&'a Word> {
    let program = command.program()?;
    let words: Vec<&Word> = match program {
        "cat" | "base64" | "xxd" => command.redirects.iter().map(|redirect| &redirect.target).collect(),
        "sed" if edits_in_place(command) => return None,
        _ => spoken_words(command),
    };
    let is_unset = |name: &str| command.env.get(name).is_none();
    let has = |text: &str| secrets_in(text).any(is_unset);
    let said = |word: &&&Word| {
        let text = source.get(word.span.start..word.span.end).unwrap_or_default();
        let told = if program == "sed" { without_sought(text) } else { without_tests(text) };
        // `x=$TOKEN; echo $x`
        let copied = match &word.value {
            Value::Unknown { why, .. } => why.variable().filter(|name| is_secret_variable(name) && is_unset(name)),
            _ => None,
        };
        has(&told) || copied.is_some() && told_variables(&told).next().is_some()
    };
    let unknown = |word: &&&Word| matches!(word.value, Value::Unknown { .. });
    let word = words.iter().filter(unknown).find(said);
    let given = source.get(command.span.start..command.span.end).and_then(here_string);
    let given = given.filter(|_| repeats_given(command));
    word.copied().or_else(|| command.words.first().filter(|_| given.is_some_and(has)))
}

/// A text without the conditions of its substitutions, which print nothing: `$([ -n "$KEY" ] && echo yes)`.
fn without_tests(text: &str) -> String {
    let mut rest = text;
    let mut kept = String::new();
    while let Some((before, inside)) = rest.split_once("$([") {
        let Some((_, after)) = inside.split_once(']') else { break };
        kept.push_str(before);
        rest = after;
    }
    kept + rest
}

/// The words of a command that it prints: all of `echo`, and what formats and scripts of others say.
fn spoken_words(command: &Command) -> Vec<&Word> {
    let words = command.words.get(1..).unwrap_or_default();
    let of_options = |names: &[&str]| -> Vec<&Word> {
        let own = words.iter().zip(std::iter::once(None).chain(words.iter().map(Some)));
        let said = own.filter(|(word, before)| {
            let attached = names.iter().any(|name| word.text().strip_prefix(name).is_some_and(|rest| !rest.is_empty()));
            attached || before.is_some_and(|before| names.contains(&before.text()))
        });
        said.map(|(word, _)| word).collect()
    };
    match command.program() {
        Some(program) if SPEAKERS.contains(&program) => words.iter().collect(),
        Some("git") => of_options(&["--format=", "--pretty="]),
        Some("stat") => of_options(&["-c", "--format", "--printf"]),
        Some("find") => of_options(&["-printf"]),
        // Code that prints what it is given: `perl -e 'print shift' "$TOKEN"`.
        Some(program) if is_interpreter(program) => {
            let code = words.iter().position(|word| word.known().is_some_and(prints_arguments));
            code.map_or_else(Vec::new, |at| words.iter().skip(at + 1).collect())
        }
        Some("sed") => {
            let given: Vec<&Word> = of_options(&["-e", "--expression"]);
            let first = || words.iter().find(|word| !word.text().starts_with('-')).into_iter().collect();
            if given.is_empty() { first() } else { given }
        }
        _ => Vec::new(),
    }
}

/// Whether code in another language prints its arguments.
fn prints_arguments(code: &str) -> bool {
    const CALLS: &[&str] = &["print", "console.log", "stdout.write", "puts", "say ", "echo "];
    // `node -p 'process.argv[1]'`
    let is_expression = code.starts_with("process.argv") || code.starts_with("ARGV");
    let statements = || code.split([';', '\n']).filter_map(|one| CALLS.iter().find_map(|call| one.split_once(call)));
    is_expression || statements().any(|(_, given)| ["shift", "ARGV", "argv"].iter().any(|name| given.contains(name)))
}

/// Whether a command prints what it is given as text: `nl <<< TEXT`.
fn repeats_given(command: &Command) -> bool {
    let runs = || ProgramWords::read_until_operand("xargs", &command.words[1..]);
    let speaks = |word: &Word| word.known().is_some_and(|program| SPEAKERS.contains(&program));
    match command.program() {
        Some("xargs") => runs().words().next().is_none_or(speaks),
        Some(program) => REPEATERS.contains(&program),
        None => false,
    }
}

/// Whether a command may print its words, or what it is given as text.
pub(super) fn speaks(command: &Command) -> bool {
    repeats_given(command) || !spoken_words(command).is_empty()
}

/// What a here-string in the source of a command gives.
pub(super) fn here_string(source: &str) -> Option<&str> {
    source.split_once("<<<").map(|(_, given)| given)
}

/// Whether sed changes files and prints nothing.
pub(super) fn edits_in_place(command: &Command) -> bool {
    command.program() == Some("sed") && ProgramWords::read("sed", &command.words[1..]).has("i")
}

/// The source of a script of sed without what it looks for, which it does not put anywhere: `s/SOUGHT/NEW/`, `/SOUGHT/d`.
pub(super) fn without_sought(source: &str) -> String {
    let (mut kept, mut rest, mut before) = (String::new(), source, ' ');
    while let Some(c) = rest.chars().next() {
        rest = &rest[c.len_utf8()..];
        let begins = !before.is_ascii_alphabetic() && !matches!(before, '_' | '\\' | '}');
        before = c;
        let mark = match c {
            's' if begins => rest.chars().next().filter(|mark| "/|#,@:!%~+_".contains(*mark)),
            _ => None,
        };
        let sought = match (c, mark) {
            (_, Some(mark)) => until(&rest[1..], mark),
            ('/', None) if begins => until(rest, '/'),
            _ => None,
        };
        let Some((_, after)) = sought else {
            kept.push(c);
            continue;
        };
        rest = after;
        if let Some((new, after)) = mark.and_then(|mark| until(rest, mark)) {
            kept.push_str(new);
            rest = after;
        }
        kept.push(' ');
        before = 'g';
    }
    kept
}

/// A text up to a mark that no backslash stands before, and what stands behind that.
fn until(text: &str, mark: char) -> Option<(&str, &str)> {
    let mut escaped = false;
    let at = text.find(|c: char| {
        let found = c == mark && !escaped;
        escaped = c == '\\' && !escaped;
        found
    })?;
    Some((&text[..at], &text[at + mark.len_utf8()..]))
}

/// The text with values of secrets in it that a shell runs and tells what it runs: `bash -xc`.
fn traced_word<'a>(command: &'a Command, source: &str) -> Option<&'a Word> {
    if !matches!(command.program()?, "bash" | "dash" | "ksh" | "mksh" | "sh" | "zsh") {
        return None;
    }
    let words = &command.words[1..];
    let options = words.iter().take_while(|word| word.text().starts_with('-'));
    let letters: String = options.clone().map(Word::text).filter(|word| !word.starts_with("--")).collect();
    let text = words.get(options.count()).filter(|_| letters.contains('x') && letters.contains('c'))?;
    let code = source.get(text.span.start..text.span.end).unwrap_or_default();
    let is_given = |name: &str| command.env.get(name).is_none() && !code.contains(&format!("{name}="));
    let hidden = command.redirects.iter().any(|redirect| redirect.fd == Some(2));
    (!hidden && secrets_in(code).any(is_given)).then_some(text)
}

/// The secrets whose value a text has, as a whole or nearly so.
pub(super) fn secrets_in(text: &str) -> impl Iterator<Item = &str> {
    told_variables(text).filter(|name| is_secret_variable(name))
}

/// The variables whose value a text has in that way.
fn told_variables(text: &str) -> impl Iterator<Item = &str> {
    text.match_indices('$').filter_map(|(at, _)| {
        let rest = &text[at + 1..];
        let (rest, braces) = rest.strip_prefix('{').map_or((rest, false), |rest| (rest, true));
        let end = rest.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(rest.len());
        let name = &rest[..end];
        (!name.is_empty() && (!braces || tells(&rest[end..]))).then_some(name)
    })
}

/// Whether an expansion tells most of a value, by what stands behind the name: `${X:+set}` and `${X:0:4}` do not.
fn tells(operator: &str) -> bool {
    /// So many letters of a value are little of it.
    const FEW: usize = 8;
    let inside = operator.split('}').next().unwrap_or_default();
    let length = inside.strip_prefix(':').and_then(|range| range.rsplit_once(':'));
    let few = length.is_some_and(|(_, length)| length.trim().parse::<usize>().is_ok_and(|length| length <= FEW));
    !(few || inside.starts_with(":+") || inside.starts_with('+'))
}

/// Whether a command prints what it is given in a form that tells it.
fn repeats(command: &Command) -> bool {
    command.program().is_some_and(|program| REPEATERS.contains(&program))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_condition_in_a_substitution_prints_nothing() {
        for (text, expected) in [
            ("set: $([ -n \"$KEY\" ] && echo yes)", "set:  && echo yes)"),
            ("$([[ $KEY ]] && echo $KEY)", "] && echo $KEY)"),
            ("$KEY", "$KEY"),
            ("$([ $KEY", "$([ $KEY"),
        ] {
            assert_eq!(without_tests(text), expected, "{text}");
        }
    }

    #[test]
    fn secrets_are_told_by_their_names() {
        let cases = [
            ("ANTHROPIC_API_KEY", true),
            ("GITHUB_TOKEN", true),
            ("DB_PASSWORD", true),
            ("AWS_SECRET_ACCESS_KEY", true),
            ("DATABASE_URL", true),
            ("PGPASSWORD", true),
            ("AWS_ACCESS_KEY_ID", false),
            ("SSH_AUTH_SOCK", false),
            ("TOKENIZERS_PARALLELISM", false),
            ("TOKEN_COUNT", false),
            ("API_KEY2", true),
            ("KEYCLOAK_HOST", false),
            ("PWD", false),
            ("HOME", false),
            ("key", false),
        ];
        for (name, expected) in cases {
            assert_eq!(is_secret_variable(name), expected, "{name}");
        }
        let text =
            "a $API_KEY ${DB_PASSWORD} ${#API_KEY} ${API_KEY:+x} $HOME ${A_TOKEN:-no} ${B_TOKEN:0:4} ${C_TOKEN:0:99}";
        assert_eq!(secrets_in(text).collect::<Vec<_>>(), ["API_KEY", "DB_PASSWORD", "A_TOKEN", "C_TOKEN"]);
    }
    #[test]
    fn what_sed_looks_for_is_not_what_it_puts() {
        let cases = [
            ("s/^/$TOKEN/;q", " $TOKEN ;q"),
            ("s/$TOKEN/***/g", " *** g"),
            ("1s|\\$| $TOKEN|", "1 $TOKEN "),
            ("/$TOKEN/d", " d"),
            ("s/a/b/; s#$TOKEN#c#", " b ;  c "),
            ("1i $TOKEN", "1i $TOKEN"),
            ("s/$TOKEN", "s/$TOKEN"),
        ];
        for (script, expected) in cases {
            let text = without_sought(script).replace(' ', "");
            assert_eq!(text, expected.replace(' ', ""), "{script}");
        }
    }
}

//! What plain programs print, if that is certain from what they are given.

use toolgate_shell_syntax::decode::{self, Base64};
use toolgate_shell_syntax::path::{absolute, dirname};
use toolgate_shell_syntax::word::{Value, Word};

/// Programs that print nothing when all goes well, if no option has them do it.
const SILENT: &[&str] = &[
    ":",
    "[",
    "alias",
    "break",
    "cd",
    "chgrp",
    "chmod",
    "chown",
    "continue",
    "cp",
    "declare",
    "disown",
    "eval",
    "exit",
    "export",
    "false",
    "getopts",
    "hash",
    "install",
    "let",
    "ln",
    "local",
    "mapfile",
    "mkdir",
    "mkfifo",
    "mv",
    "read",
    "readarray",
    "readonly",
    "return",
    "rm",
    "rmdir",
    "set",
    "shift",
    "shopt",
    "sleep",
    "source",
    "sync",
    "test",
    "touch",
    "true",
    "truncate",
    "typeset",
    "umask",
    "unlink",
    "unset",
    "wait",
];

/// Programs that leave standard input as it is.
const LEAVES_INPUT: &[&str] = &[
    "basename", "bg", "date", "dirname", "echo", "find", "id", "ls", "printf", "ps", "pwd", "realpath", "seq", "uname",
    "which", "whoami",
];

/// Who prints. What a backslash means is not the same for all of them.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Printer {
    Bash,
    /// Either of them.
    BashOrZsh,
    /// Dash, or a program of its own.
    Other,
}

/// Whether a command prints nothing. An option that is in a variable is not thought of: most variables among the arguments are
/// paths.
pub(super) fn is_silent(program: &str, words: &[Word]) -> bool {
    if SILENT.binary_search(&program).is_err() {
        return false;
    }
    let mut arguments = words.iter().skip(1).map(Word::text).take_while(|text| *text != "--");
    match program {
        // Whatever they are given is an operand.
        ":" | "[" | "test" => true,
        // Without an operand they print what there is.
        "hash" | "umask" => arguments.next().is_some_and(|first| first == "-r" || !first.starts_with('-')),
        // The same, and where an option asks for it.
        "alias" | "declare" | "export" | "local" | "readonly" | "typeset" => {
            let (options, operands): (Vec<&str>, Vec<&str>) = arguments.partition(|text| text.starts_with(['-', '+']));
            let telling: &[char] = if program == "export" { &['p'] } else { &['p', 'f', 'F'] };
            let tells = |text: &&str| text.contains(telling) || text.contains(Value::HOLE);
            let sets = |text: &&str| program != "alias" || text.contains('=');
            !operands.is_empty() && operands.iter().all(sets) && !options.iter().any(tells)
        }
        // It says where it goes back to.
        "cd" => arguments.all(|text| text != "-"),
        _ => {
            // `-c` is `--changes`.
            let telling: &[char] = if matches!(program, "chgrp" | "chmod" | "chown") { &['v', 'c'] } else { &['v'] };
            arguments.all(|text| match (text.strip_prefix("--"), text.strip_prefix('-')) {
                // `--changes`, `--debug`, `--help`, `--verbose`, `--version`, of which the beginning is enough.
                (Some(long), _) => !long.starts_with(['c', 'h', 'v', Value::HOLE]) && !long.starts_with("deb"),
                (None, Some(letters)) => !letters.contains(telling) && !letters.contains(Value::HOLE),
                (None, None) => true,
            })
        }
    }
}

/// Whether a program does not read its standard input.
pub(super) fn leaves_input(program: &str) -> bool {
    SILENT.binary_search(&program).is_ok() || LEAVES_INPUT.contains(&program)
}

/// The output of a program, if it is certain.
pub(super) fn of(
    program: &str,
    arguments: &[&str],
    input: Option<&str>,
    cwd: Option<&str>,
    printer: Printer,
) -> Option<String> {
    let text = match program {
        "echo" => echo(arguments, None, printer)?,
        "printf" => printf(arguments, printer)?,
        "pwd" if arguments.is_empty() || arguments == ["-L"] => format!("{}\n", cwd?),
        "basename" => basename(arguments)?,
        // Without a field it is a text.
        "date" => match arguments {
            [format] if !format.contains('%') => format!("{}\n", format.strip_prefix('+')?),
            _ => return None,
        },
        "dirname" => match arguments {
            ["--", path] => format!("{}\n", dirname(path)),
            [path] if !path.starts_with('-') => format!("{}\n", dirname(path)),
            _ => return None,
        },
        "cat" if arguments.is_empty() || arguments == ["-"] => input?.to_owned(),
        "tee" if arguments.iter().all(|word| *word == "-a" || !word.starts_with("/dev/") && !word.starts_with('-')) => {
            input?.to_owned()
        }
        "rev" if arguments.is_empty() => lines(input?, |line| line.chars().rev().collect()),
        "base64" if matches!(arguments, ["-d" | "--decode" | "-D" | "-di"]) => {
            decode::base64(input?, Base64::Program).filter(|text| !text.contains('\0'))?
        }
        "tr" => match arguments {
            ["-d", set] if !set.starts_with('-') => {
                let set = characters(set)?;
                input?.chars().filter(|c| !set.contains(c)).collect()
            }
            [from, to] if !from.starts_with('-') => {
                let (from, to) = (characters(from)?, characters(to)?);
                let last = *to.last()?;
                let change = |c: char| match from.iter().rposition(|wanted| *wanted == c) {
                    Some(at) => to.get(at).copied().unwrap_or(last),
                    None => c,
                };
                input?.chars().map(change).collect()
            }
            _ => return None,
        },
        "sed" => match arguments {
            [script] | ["-e", script] => substituted(script, input?)?,
            _ => return None,
        },
        "grep" | "fgrep" | "egrep" => {
            let (options, [pattern]) = arguments.split_at(arguments.len().checked_sub(1)?) else { return None };
            let options = options.concat();
            // A text in which nothing is special in any of the dialects.
            let plain = !pattern.is_empty() && pattern.chars().all(|c| c.is_alphanumeric() || " _-/:@=,#%".contains(c));
            if !plain || pattern.starts_with('-') || !options.chars().all(|c| "-vFEa".contains(c)) {
                return None;
            }
            let wanted = !options.contains('v');
            let kept = input?.split_inclusive('\n').filter(|line| line.contains(pattern) == wanted);
            kept.collect()
        }
        "seq" => seq(arguments)?,
        "head" | "tail" => {
            let count = match arguments {
                ["-n", count] => count.parse::<usize>().ok()?,
                [count] => count.strip_prefix("-n").or(count.strip_prefix('-'))?.parse().ok()?,
                [] => 10,
                _ => return None,
            };
            let all: Vec<&str> = input?.split_inclusive('\n').collect();
            // `tail -n +2`: from the second line on.
            let from = arguments.iter().any(|argument| argument.trim_start_matches("-n").starts_with('+'));
            let (skip, count) = match (program, from) {
                ("tail", true) => (count.saturating_sub(1), all.len()),
                ("tail", false) => (all.len().saturating_sub(count), count),
                (_, true) => return None,
                (_, false) => (0, count),
            };
            all.into_iter().skip(skip).take(count).collect()
        }
        "xxd" if matches!(arguments, ["-r", "-p"] | ["-p", "-r"] | ["-rp"] | ["-pr"]) => {
            decode::hex(input?).filter(|text| !text.contains('\0'))?
        }
        "realpath" if matches!(arguments, ["-ms" | "-sm", _]) => format!("{}\n", absolute(arguments[1], cwd?)),
        _ => return None,
    };
    Some(text)
}

fn lines(text: &str, change: impl Fn(&str) -> String) -> String {
    let mut result = String::new();
    for line in text.split_inclusive('\n') {
        let content = line.strip_suffix('\n').unwrap_or(line);
        result.push_str(&change(content));
        if content.len() < line.len() {
            result.push('\n');
        }
    }
    result
}

/// What may stand behind a backslash of which zsh and dash do not make the same in `echo`.
const DISPUTED: &[char] = &['x', 'e', 'E', 'u', 'U', '1', '2', '3', '4', '5', '6', '7'];

/// `backslashes`: whether the shell reads escapes that no option asks for, as dash and zsh do and bash does not.
pub(super) fn echo(arguments: &[&str], backslashes: Option<bool>, printer: Printer) -> Option<String> {
    let option = |word: &&&str| {
        word.strip_prefix('-').is_some_and(|rest| !rest.is_empty() && rest.chars().all(|c| "neE".contains(c)))
    };
    let options = arguments.iter().take_while(option).count();
    let letters: String = arguments[..options].concat();
    let text = arguments[options..].join(" ");
    let mut escapes = letters.rfind('e').is_some_and(|at| letters.rfind('E').is_none_or(|other| other < at));
    let read = unescape(&text, EscapeContext::Echo, printer);
    let disputed = text.split('\\').skip(1).any(|rest| rest.starts_with(DISPUTED));
    let differs = disputed || read.as_ref().is_none_or(|(read, stopped)| *stopped || *read != text);
    if !escapes && !letters.contains('E') && differs {
        escapes = backslashes?;
        if escapes && disputed {
            return None;
        }
    }
    let (mut text, stopped) = if escapes { read? } else { (text, false) };
    if !letters.contains('n') && !stopped {
        text.push('\n');
    }
    Some(text)
}

/// The context of backslash escapes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum EscapeContext {
    /// In the arguments of `echo`.
    Echo,
    /// In the format of `printf`.
    Format,
    /// In an argument of its `%b`.
    Argument,
}

/// What backslash escapes stand for, and whether `\c` ended the output. None for what the printers that it may be read
/// differently:
///
/// | Written | bash | zsh | dash | coreutils |
/// |---|---|---|---|---|
/// | `\"` in a format | `"` | text | text | `"` |
/// | `\'`, `\?` in a format | `'`, `?` | text | text | text |
/// | `\c` in a format | text | the end | text | the end |
/// | `\162` in an argument of `%b` | `r` | text | `r` | `r` |
/// | `\162` after `echo -e` | text | text | `r` without `-e` | `r` |
/// | `\x41`, `\u0041` | `A` | `A` | text | `A`, and an error |
/// | `\E` | as `\e` | text | text | text |
fn unescape(text: &str, context: EscapeContext, printer: Printer) -> Option<(String, bool)> {
    let bash = printer == Printer::Bash;
    let shell = printer != Printer::Other;
    let mut result = String::new();
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        result.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        let Some(c) = rest.chars().next() else {
            result.push('\\');
            break;
        };
        rest = &rest[c.len_utf8()..];
        let number = |radix: u32, most: usize, rest: &mut &str| -> Option<Option<char>> {
            let length = rest.chars().take(most).take_while(|c| c.is_digit(radix)).count();
            if length == 0 {
                return Some(None);
            }
            let code = u32::from_str_radix(&rest[..length], radix).ok()?;
            *rest = &rest[length..];
            // Bytes above these are parts of characters.
            char::from_u32(code).filter(|c| c.is_ascii() || most > 3).map(Some)
        };
        match c {
            'a' => result.push('\x07'),
            'b' => result.push('\x08'),
            'f' => result.push('\x0c'),
            'n' => result.push('\n'),
            'r' => result.push('\r'),
            't' => result.push('\t'),
            'v' => result.push('\x0b'),
            '\\' => result.push('\\'),
            'c' if context != EscapeContext::Format => return Some((result, true)),
            'e' if shell => result.push('\x1b'),
            'E' if bash => result.push('\x1b'),
            'x' if shell => match number(16, 2, &mut rest)? {
                Some(c) => result.push(c),
                None if bash => result.push_str("\\x"),
                None => return None,
            },
            'u' | 'U' if shell => result.push(number(16, if c == 'u' { 4 } else { 8 }, &mut rest)??),
            'e' | 'E' | 'x' | 'u' | 'U' => return None,
            '"' | '\'' | '?' if context == EscapeContext::Format && bash => result.push(c),
            'c' | '"' | '\'' | '?' if context == EscapeContext::Format && !bash => return None,
            '0' if context != EscapeContext::Format => result.push(number(8, 3, &mut rest)?.unwrap_or('\0')),
            '0'..='7' if context == EscapeContext::Format || context == EscapeContext::Argument && bash => {
                rest = &text[text.len() - rest.len() - 1..];
                result.push(number(8, 3, &mut rest)?.unwrap_or('\0'));
            }
            '1'..='7' if context == EscapeContext::Argument || !shell => return None,
            other => {
                result.push('\\');
                result.push(other);
            }
        }
    }
    result.push_str(rest);
    Some((result, false))
}

fn printf(arguments: &[&str], printer: Printer) -> Option<String> {
    let (format, values) = arguments.split_first()?;
    let (format, mut values) = match (*format, values) {
        ("--", [format, rest @ ..]) => (*format, rest),
        (format, rest) if !format.starts_with('-') => (format, rest),
        _ => return None,
    };
    let mut result = String::new();
    loop {
        let before = values.len();
        let mut rest = format;
        while let Some(at) = rest.find(['%', '\\']) {
            result.push_str(&rest[..at]);
            if rest[at..].starts_with('\\') {
                // One escape at a time: a percent sign that comes out of one is text.
                let after = &rest[at + 1..];
                let end = match after.chars().next() {
                    // To the shells a directive behind a backslash, and text to programs.
                    Some('%') => return None,
                    Some('\\') => at + 2,
                    _ => after.find(['\\', '%']).map_or(rest.len(), |next| at + 1 + next),
                };
                let (text, _) = unescape(&rest[at..end], EscapeContext::Format, printer)?;
                result.push_str(&text);
                rest = &rest[end..];
                continue;
            }
            let specification = &rest[at + 1..];
            let conversion = specification.chars().next()?;
            rest = &specification[conversion.len_utf8()..];
            let mut value = || {
                let (first, others) = values.split_first().map_or(("", &[][..]), |(first, others)| (*first, others));
                values = others;
                first
            };
            match conversion {
                '%' => result.push('%'),
                's' => result.push_str(value()),
                'b' => {
                    let (text, stopped) = unescape(value(), EscapeContext::Argument, printer)?;
                    result.push_str(&text);
                    if stopped {
                        return Some(result);
                    }
                }
                'd' | 'i' => {
                    let number = value();
                    let digits = number.trim_start_matches(['+', '-']);
                    // It would be octal, and in zsh it is not.
                    if digits.len() > 1 && digits.starts_with('0') {
                        return None;
                    }
                    let number: i64 = if number.is_empty() { 0 } else { number.parse().ok()? };
                    result.push_str(&number.to_string());
                }
                _ => return None,
            }
        }
        result.push_str(rest);
        if values.is_empty() {
            return Some(result);
        }
        if values.len() == before || result.len() > crate::abstract_value::MAX_VALUE {
            // The rest of the arguments finds no place.
            return if values.len() == before && before > 0 && !format.contains('%') { Some(result) } else { None };
        }
    }
}

fn basename(arguments: &[&str]) -> Option<String> {
    let (path, suffix) = match arguments {
        ["--", path] | [path] => (*path, ""),
        ["--", path, suffix] | [path, suffix] => (*path, *suffix),
        _ => return None,
    };
    if path.starts_with('-') || path.is_empty() {
        return None;
    }
    let name = toolgate_shell_syntax::path::basename(path);
    let name = if name.starts_with('/') { "/" } else { name };
    let name = name.strip_suffix(suffix).filter(|rest| !rest.is_empty()).unwrap_or(name);
    Some(format!("{name}\n"))
}

/// The characters of a set of `tr`. None for classes and repeats, and for what is an error or not the same in every `tr`.
fn characters(set: &str) -> Option<Vec<char>> {
    // Some go by bytes.
    if !set.is_ascii() || set.contains("[:") || set.contains("[=") || set.contains('*') {
        return None;
    }
    let mut members = Vec::new();
    let mut rest = set;
    while let Some(c) = rest.chars().next() {
        rest = &rest[c.len_utf8()..];
        if c != '\\' {
            members.push((c, c == '-'));
            continue;
        }
        let escape = rest.chars().next()?;
        let digits = rest.chars().take(3).take_while(|c| c.is_digit(8)).count();
        let meant = match escape {
            '\\' => '\\',
            'a' => '\x07',
            'b' => '\x08',
            'f' => '\x0c',
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            'v' => '\x0b',
            '0'..='7' => char::from_u32(u32::from_str_radix(&rest[..digits], 8).ok()?).filter(char::is_ascii)?,
            _ => return None,
        };
        rest = &rest[digits.max(1)..];
        // A hyphen that is written so makes no range.
        members.push((meant, false));
    }
    let mut result = Vec::new();
    let mut at = 0;
    while let Some((c, _)) = members.get(at) {
        match (members.get(at + 1), members.get(at + 2)) {
            (Some((_, true)), Some((last, _))) => {
                if c > last {
                    return None;
                }
                result.extend(*c..=*last);
                at += 3;
            }
            _ => {
                result.push(*c);
                at += 1;
            }
        }
        if result.len() > 1_000 {
            return None;
        }
    }
    Some(result)
}

fn seq(arguments: &[&str]) -> Option<String> {
    let numbers: Vec<i64> = arguments.iter().map(|text| text.parse().ok()).collect::<Option<_>>()?;
    let (first, step, last) = match numbers.as_slice() {
        [last] => (1, 1, *last),
        [first, last] => (*first, 1, *last),
        [first, step, last] => (*first, *step, *last),
        _ => return None,
    };
    if step == 0 || first.abs_diff(last) / step.unsigned_abs() > 10_000 {
        return None;
    }
    let mut result = String::new();
    let mut value = first;
    while (step > 0 && value <= last) || (step < 0 && value >= last) {
        result.push_str(&value.to_string());
        result.push('\n');
        value = value.checked_add(step)?;
    }
    Some(result)
}

/// `s/X/Y/` where neither is a pattern.
fn substituted(script: &str, input: &str) -> Option<String> {
    let mut chars = script.strip_prefix('s')?.chars();
    let delimiter = chars.next().filter(|c| !c.is_alphanumeric() && *c != '\\')?;
    // A delimiter with a backslash is a plain one.
    let escaped = format!("\\{delimiter}");
    let script = chars.as_str().replace(&escaped, "\0");
    let parts: Vec<String> = script.split(delimiter).map(|part| part.replace('\0', &delimiter.to_string())).collect();
    let [from, to, flags] = parts.iter().map(String::as_str).collect::<Vec<_>>()[..] else { return None };
    let plain = |text: &str| text.chars().all(|c| c.is_alphanumeric() || " @%_,:=~-/!#.".contains(c));
    if from.is_empty() || !plain(from) || !plain(to) {
        return None;
    }
    match flags {
        "" => Some(lines(input, |line| replaced(line, from, to, 1))),
        "g" => Some(lines(input, |line| replaced(line, from, to, usize::MAX))),
        _ => None,
    }
}

/// A line with so many of the places replaced that fit a pattern, in which a point is any character.
fn replaced(line: &str, from: &str, to: &str, most: usize) -> String {
    let fits = |rest: &str| {
        let mut rest = rest.chars();
        from.chars().all(|c| rest.next().is_some_and(|other| c == '.' || c == other)).then_some(rest.as_str().len())
    };
    let (mut out, mut rest, mut count) = (String::new(), line, 0);
    while let Some(first) = rest.chars().next() {
        match fits(rest).filter(|_| count < most) {
            Some(left) => {
                out.push_str(to);
                rest = &rest[rest.len() - left..];
                count += 1;
            }
            None => {
                out.push(first);
                rest = &rest[first.len_utf8()..];
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_programs_print_what_they_are_given() {
        let cases: &[(&[&str], Option<&str>, Option<&str>)] = &[
            (&["echo", "a", "b"], None, Some("a b\n")),
            (&["echo", "-n", "a"], None, Some("a")),
            (&["echo", "-e", "a\\tb\\x41\\0101"], None, Some("a\tbAA\n")),
            (&["echo", "-e", "a\\cb"], None, Some("a")),
            (&["echo", "-e", "\\162\\0162\\\""], None, Some("\\162r\\\"\n")),
            (&["echo", "\\162"], None, None),
            (&["echo", "-e", "-E", "a\\tb"], None, Some("a\\tb\n")),
            (&["echo", "a\\tb"], None, None),
            (&["echo", "-E", "a\\tb"], None, Some("a\\tb\n")),
            (&["printf", "%s-%s\\n", "a", "b", "c"], None, Some("a-b\nc-\n")),
            (&["printf", "\\x72m\\055f"], None, Some("rm-f")),
            (&["printf", "a\\c; b"], None, Some("a\\c; b")),
            (&["printf", "\\\"a\\\" \\'b\\' c\\?"], None, Some("\"a\" 'b' c?")),
            (&["printf", "\\0162\\1623\\z\\"], None, Some("\x0e2r3\\z\\")),
            (&["printf", "\\u0041\\U41|\\e|\\E|\\x"], None, Some("AA|\x1b|\x1b|\\x")),
            (&["printf", "a\\%s", "b"], None, None),
            (&["printf", "%b", "\\162\\0155\\1623\\01623"], None, Some("rmr3r3")),
            (&["printf", "%b", "\\\"a\\\" \\'b\\' \\x41"], None, Some("\\\"a\\\" \\'b\\' A")),
            (&["printf", "%b;c", "a\\cb"], None, Some("a")),
            (&["printf", "%d %d", "-5", "0"], None, Some("-5 0")),
            (&["printf", "%d", "010"], None, None),
            (&["printf", "100%%\\n"], None, Some("100%\n")),
            (&["printf", "%d", "7"], None, Some("7")),
            (&["printf", "%05d", "7"], None, None),
            (&["printf", "a", "b"], None, Some("a")),
            (&["printf", "\\\\n"], None, Some("\\n")),
            (&["pwd"], None, Some("/w\n")),
            (&["basename", "/a/b.txt", ".txt"], None, Some("b\n")),
            (&["basename", "/"], None, Some("/\n")),
            (&["date", "+git"], None, Some("git\n")),
            (&["date", "+%F"], None, None),
            (&["date"], None, None),
            (&["dirname", "/a/b"], None, Some("/a\n")),
            (&["dirname", "a"], None, Some(".\n")),
            (&["dirname", "--", "/a/b"], None, Some("/a\n")),
            (&["basename", "--", "/a/b.c", ".c"], None, Some("b\n")),
            (&["dirname", "/a"], None, Some("/\n")),
            (&["base64", "-d"], Some("cm0gLXJm\n"), Some("rm -rf")),
            (&["base64", "-d"], Some("bHM7Cg==\n"), Some("ls;\n")),
            (&["base64", "-d"], Some("bHM7Cg==cm0gLXJm\n"), None),
            (&["cat"], Some("x"), Some("x")),
            (&["rev"], Some("mr\n"), Some("rm\n")),
            (&["tr", "a-c", "x"], Some("abcd"), Some("xxxd")),
            (&["tr", "-d", "x"], Some("rxm"), Some("rm")),
            (&["tr", "-d", "\\c"], Some("crcm"), None),
            (&["tr", "-d", "\\x41"], Some("A4x1"), None),
            (&["tr", "-d", "\\-"], Some("a-b"), None),
            (&["tr", "-d", "-c"], Some("a-c"), None),
            (&["tr", "-d", "\\n\\t\\\\\\042"], Some("r\n\t\\\"m"), Some("rm")),
            (&["tr", "-d", "a\\055c"], Some("abc-d"), Some("bd")),
            (&["tr", "\\141-c", "XYZ"], Some("abcd"), Some("XYZd")),
            (&["tr", "-d", "c-a"], Some("abc"), None),
            (&["tr", "-d", "\\777"], Some("abc"), None),
            (&["tr", "-d", "a\\"], Some("abc"), None),
            (&["tr", "-d", "é"], Some("aé"), None),
            (&["seq", "3"], None, Some("1\n2\n3\n")),
            (&["seq", "5", "-2", "1"], None, Some("5\n3\n1\n")),
            (&["seq", "1", "100000000"], None, None),
            (&["xxd", "-r", "-p"], Some("726d"), Some("rm")),
            (&["head", "-n", "1"], Some("a\nb\n"), Some("a\n")),
            (&["tail", "-1"], Some("a\nb\n"), Some("b\n")),
            (&["tail", "-n", "+2"], Some("a\nb\nc\nd\n"), Some("b\nc\nd\n")),
            (&["tail", "-n+3"], Some("a\nb\nc\nd\n"), Some("c\nd\n")),
            (&["tail", "-n", "2"], Some("a\nb\nc\nd\n"), Some("c\nd\n")),
            (&["grep", "-v", "b"], Some("abc\nd\n"), Some("d\n")),
            (&["grep", "a.c"], Some("abc\n"), None),
            (&["tee", "f"], Some("x"), Some("x")),
            (&["tee", "-a", "f"], Some("x"), Some("x")),
            (&["tee", "/dev/stdout"], Some("x"), None),
            (&["tee", "--help"], Some("x"), None),
            (&["cat"], None, None),
            (&["date"], None, None),
        ];
        for (words, input, expected) in cases {
            let printed = of(words[0], &words[1..], *input, Some("/w"), Printer::Bash);
            assert_eq!(printed.as_deref(), *expected, "{words:?}");
        }
        for (text, read, left) in [
            ("a\\nb", Some("a\nb\n"), Some("a\\nb\n")),
            ("a\\c", Some("a"), Some("a\\c\n")),
            ("a\\x41", None, Some("a\\x41\n")),
            ("a\\162", None, Some("a\\162\n")),
            ("a\\0162", Some("ar\n"), Some("a\\0162\n")),
            ("a", Some("a\n"), Some("a\n")),
        ] {
            let printed = [true, false].map(|backslashes| echo(&[text], Some(backslashes), Printer::Bash));
            assert_eq!(printed, [read, left].map(|text| text.map(str::to_owned)), "{text}");
        }
        assert!(SILENT.is_sorted());
    }

    #[test]
    fn what_depends_on_who_prints_is_unknown() {
        let cases: &[(&[&str], Option<&str>, Option<&str>)] = &[
            (&["printf", "\\162\\n\\z"], Some("r\n\\z"), Some("r\n\\z")),
            (&["printf", "\\x72\\e"], Some("r\x1b"), None),
            (&["printf", "\\u0072"], Some("r"), None),
            (&["printf", "\\E"], None, None),
            (&["printf", "\\x"], None, None),
            (&["printf", "a\\c"], None, None),
            (&["printf", "\\\""], None, None),
            (&["printf", "\\'"], None, None),
            (&["printf", "%b", "\\0162\\c"], Some("r"), Some("r")),
            (&["printf", "%b", "\\162"], None, None),
            (&["printf", "%b", "\\\""], Some("\\\""), Some("\\\"")),
            (&["echo", "-e", "\\0162\\t"], Some("r\t\n"), Some("r\t\n")),
            (&["echo", "-e", "\\162"], Some("\\162\n"), None),
        ];
        for (words, zsh, other) in cases {
            let printed = [Printer::BashOrZsh, Printer::Other].map(|who| of(words[0], &words[1..], None, None, who));
            assert_eq!(printed, [zsh, other].map(|text| text.map(str::to_owned)), "{words:?}");
        }
    }

    #[test]
    fn programs_that_are_silent_tell_what_they_do_if_told_to() {
        for (command, expected) in [
            ("chmod 700 x", true),
            ("chmod -R 700 x", true),
            ("chmod -v 700 x", false),
            ("chmod 700 x -c", false),
            ("chown --changes a x", false),
            ("mkdir -p x", true),
            ("mkdir --parents x", true),
            ("mkdir -pv x", false),
            ("mkdir --verb x", false),
            ("mkdir -- -v", true),
            ("cp -rc x y", true),
            ("cp --debug x y", false),
            ("touch --version", false),
            ("true --help", false),
            ("[ -v x ]", true),
            ("test --help", true),
            ("umask 022", true),
            ("umask", false),
            ("umask -S", false),
            ("hash -r", true),
            ("hash", false),
            ("alias a=b", true),
            ("alias a", false),
            ("alias", false),
            ("export -p", false),
            ("export -f f", true),
            ("export A=b", true),
            ("declare -A map", true),
            ("declare -p A", false),
            ("declare -f f", false),
            ("local x", true),
            ("readonly", false),
            ("cd x", true),
            ("cd -", false),
            ("bg", false),
            ("ls", false),
        ] {
            let words: Vec<Word> =
                command.split(' ').map(|word| Word::new(word, toolgate_shell_syntax::word::Span::default())).collect();
            assert_eq!(is_silent(words[0].text(), &words), expected, "{command}");
        }
    }
}

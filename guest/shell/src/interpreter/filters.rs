//! What a filter prints of a text, as far as it matters which lines or fields there are and not in which order. Where a line may be
//! left out or not it is kept. What a program prints for certain is in `output`.

use serde_json::Value as Json;

use super::regex;

/// Programs that print of the files that they are given, behind what they are told.
const FILTERS: &[&str] = &["awk", "cat", "cut", "egrep", "fgrep", "grep", "head", "jq", "sed", "sort", "tail", "uniq"];

/// Options with a value in the next word.
const VALUED: &[(&str, &[&str])] =
    &[("awk", &["-F"]), ("cut", &["-d", "-f"]), ("head", &["-n"]), ("sort", &["-k", "-t"]), ("tail", &["-n"])];

/// Longest path through a document.
const MAX_STEPS: usize = 16;

/// What stands before the files among the arguments of a filter: its options, and a pattern or a program.
pub(super) fn told<'w, 'a>(name: &str, arguments: &'w [&'a str]) -> Option<(&'w [&'a str], &'w [&'a str])> {
    if !FILTERS.contains(&name) {
        return None;
    }
    let valued = VALUED.iter().find(|(filter, _)| *filter == name).map_or(&[][..], |(_, options)| *options);
    let mut at = 0;
    while let Some(option) = arguments.get(at).filter(|word| word.len() > 1 && word.starts_with('-')) {
        at += if valued.contains(option) { 2 } else { 1 };
    }
    let program = matches!(name, "awk" | "egrep" | "fgrep" | "grep" | "jq" | "sed");
    arguments.split_at_checked(at + usize::from(program)).filter(|(_, files)| !files.is_empty())
}

/// What a filter may print of a text.
pub(super) fn kept(name: &str, arguments: &[&str], input: &str) -> Option<String> {
    match name {
        "sort" | "uniq" => {
            // Counts stand before the lines.
            let counts = name == "uniq" && arguments.iter().any(|word| word.starts_with("-c") || *word == "--count");
            (!counts).then(|| input.to_owned())
        }
        "grep" | "egrep" | "fgrep" => matching(arguments, input),
        "sed" => edited(arguments, input),
        "cut" => cut(arguments, input),
        "awk" => fields(arguments, input),
        "jq" => queried(arguments, input),
        _ => None,
    }
}

fn each_line(input: &str, change: impl Fn(&str) -> Option<String>) -> String {
    input.lines().filter_map(change).map(|line| line + "\n").collect()
}

/// Whether a line fits a pattern, if that means the same in each dialect.
fn fits(pattern: &str, line: &str) -> Option<bool> {
    (!pattern.contains(['(', ')', '{', '|', '+', '?'])).then(|| regex::fits(pattern, line))?
}

/// The lines that fit, or do not; all of them where that cannot be told.
fn matching(arguments: &[&str], input: &str) -> Option<String> {
    let (pattern, options) = arguments.split_last()?;
    let letters = options.iter().map(|option| option.strip_prefix('-')).collect::<Option<Vec<_>>>()?.concat();
    if !letters.chars().all(|c| "vEFahs".contains(c)) || pattern.starts_with('-') {
        return None;
    }
    let wanted = !letters.contains('v');
    let fits = |line: &str| fits(pattern, line).is_none_or(|fits| fits == wanted);
    Some(each_line(input, |line| fits(line).then(|| line.to_owned())))
}

/// Lines that are left out, as `sed '/^#/d'` does, and the first ones: `sed -n 1,5p`. Any may be kept.
fn edited(arguments: &[&str], input: &str) -> Option<String> {
    let script = match arguments {
        [script] | ["-n" | "-e" | "-E" | "-r", script] => *script,
        _ => return None,
    };
    let plain = |c: char| c.is_ascii_digit() || ",$/^#pd; []*.".contains(c);
    if !script.ends_with(['d', 'p']) || !script.chars().all(plain) {
        return None;
    }
    let dropped = script.strip_prefix('/').and_then(|rest| rest.strip_suffix("/d"));
    let is_dropped = |line: &str| dropped.and_then(|pattern| fits(pattern, line)).unwrap_or(false);
    Some(each_line(input, |line| (!is_dropped(line)).then(|| line.to_owned())))
}

/// `cut -d, -f2`
fn cut(arguments: &[&str], input: &str) -> Option<String> {
    let (mut delimiter, mut field) = ('\t', None);
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        let (letter, rest) = (word.get(..2)?, word.get(2..)?);
        let value = if rest.is_empty() { *words.next()? } else { rest };
        match letter {
            "-d" => delimiter = value.chars().next()?,
            "-f" => field = Some(value.parse::<usize>().ok().filter(|number| *number > 0)?),
            _ => return None,
        }
    }
    let field = field?;
    Some(each_line(input, |line| match line.contains(delimiter) {
        true => Some(line.split(delimiter).nth(field - 1).unwrap_or_default().to_owned()),
        false => Some(line.to_owned()),
    }))
}

/// `awk -F, '{print $2}'`
fn fields(arguments: &[&str], input: &str) -> Option<String> {
    let (separator, program) = match arguments {
        [program] => (None, *program),
        ["-F", separator, program] => (Some(*separator), *program),
        [option, program] => (Some(option.strip_prefix("-F")?), *program),
        _ => return None,
    };
    let separator = match separator {
        Some(text) => Some(text.chars().next().filter(|c| *c != ' ' && text.chars().count() == 1)?),
        None => None,
    };
    let (condition, action) = program.trim().strip_suffix('}')?.split_once('{')?;
    // Which lines a condition leaves out is not told: any may be printed.
    if condition.contains(['{', '}', '=', ';']) && !condition.contains("==") && !condition.contains("!=") {
        return None;
    }
    let printed = action.trim().trim_end_matches(';').strip_prefix("print")?.trim();
    let number = match printed {
        "" | "$0" => 0,
        "$NF" => usize::MAX,
        printed => printed.strip_prefix('$')?.parse::<usize>().ok()?,
    };
    Some(each_line(input, |line| {
        let mut parts: Box<dyn DoubleEndedIterator<Item = &str>> = match separator {
            Some(separator) => Box::new(line.split(separator)),
            None => Box::new(line.split([' ', '\t']).filter(|part| !part.is_empty())),
        };
        let part = match number {
            0 => Some(line),
            usize::MAX => parts.next_back(),
            number => parts.nth(number - 1),
        };
        part.map(str::to_owned)
    }))
}

/// `jq -r '.files[]'`, `jq -r '.a | .b[].path'`: the texts that stand there.
fn queried(arguments: &[&str], input: &str) -> Option<String> {
    let (filter, options) = arguments.split_last()?;
    let plain =
        |option: &&str| matches!(*option, "-r" | "--raw-output" | "-c" | "-M" | "-rc" | "-cr" | "-e" | "-er" | "-re");
    if !options.iter().all(plain) {
        return None;
    }
    let document: Json = serde_json::from_str(input).ok()?;
    let mut found = vec![&document];
    for step in steps(filter)? {
        found = match step {
            Step::Each => found.into_iter().flat_map(members).collect(),
            Step::Name(name) => found.into_iter().filter_map(|value| value.get(name)).collect(),
        };
    }
    let text = |value: &Json| match value {
        Json::String(text) => text.clone(),
        value => value.to_string(),
    };
    Some(found.into_iter().map(|value| text(value) + "\n").collect())
}

enum Step<'f> {
    Name(&'f str),
    Each,
}

fn members(value: &Json) -> Vec<&Json> {
    match value {
        Json::Array(values) => values.iter().collect(),
        Json::Object(values) => values.values().collect(),
        _ => Vec::new(),
    }
}

/// The way that a filter goes into a document, if it does no more than that.
fn steps(filter: &str) -> Option<Vec<Step<'_>>> {
    let mut steps = Vec::new();
    for part in filter.split('|') {
        let mut rest = part.trim();
        while !rest.is_empty() {
            if let Some(after) = rest.strip_prefix("[]") {
                steps.push(Step::Each);
                rest = after.strip_prefix('?').unwrap_or(after);
                continue;
            }
            rest = rest.strip_prefix('.')?;
            let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len());
            let (name, after) = rest.split_at(end);
            if !name.is_empty() {
                steps.push(Step::Name(name));
            }
            rest = after.strip_prefix('?').unwrap_or(after);
        }
    }
    (steps.len() <= MAX_STEPS).then_some(steps)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_filters_keep_of_a_text() {
        let cases: &[(&[&str], &str, Option<&str>)] = &[
            (&["sort", "-u"], "b\na\n", Some("b\na\n")),
            (&["uniq", "-c"], "a\n", None),
            (&["grep", "-v", "^#"], "# a\nb\n", Some("b\n")),
            (&["grep", "\\.txt$"], "a.txt\nb\n", Some("a.txt\n")),
            (&["grep", "-c", "a"], "a\n", None),
            (&["grep", "\\(a\\|b\\)"], "c\n", Some("c\n")),
            (&["sed", "/^#/d"], "# a\nb\n", Some("b\n")),
            (&["sed", "-n", "1,3p"], "a\nb\n", Some("a\nb\n")),
            (&["sed", "s/a/b/"], "a\n", None),
            (&["cut", "-d,", "-f2"], "a,b\nc\n", Some("b\nc\n")),
            (&["cut", "-d", ":", "-f", "6"], "dev:x:1:1:D:/home/dev:/bin/sh\n", Some("/home/dev\n")),
            (&["cut", "-c1-3"], "abcd\n", None),
            (&["awk", "{print $2}"], "a  b c\nd\n", Some("b\n")),
            (&["awk", "-F,", "NR>1 {print $NF}"], "a,b\nc,d\n", Some("b\nd\n")),
            (&["awk", "{print $1 $2}"], "a b\n", None),
            (&["jq", "-r", ".paths[]"], "{\"paths\": [\"a\", \"b c\"]}", Some("a\nb c\n")),
            (&["jq", "-r", ".a | .[].path"], "{\"a\": [{\"path\": \"x\"}]}", Some("x\n")),
            (&["jq", "-r", ".[] | select(.a)"], "[]", None),
            (&["jq", "."], "not", None),
        ];
        for (words, input, expected) in cases {
            assert_eq!(kept(words[0], &words[1..], input).as_deref(), *expected, "{words:?}");
        }
    }

    #[test]
    fn files_stand_behind_what_a_filter_is_told() {
        let cases: &[(&[&str], Option<usize>)] = &[
            (&["cat", "a", "b"], Some(0)),
            (&["cat"], None),
            (&["grep", "-v", "x", "f"], Some(2)),
            (&["grep", "x"], None),
            (&["head", "-n", "3", "f"], Some(2)),
            (&["head", "-3", "f"], Some(1)),
            (&["cut", "-d", ",", "-f1", "f"], Some(3)),
            (&["awk", "-F", ",", "{print $1}", "f"], Some(3)),
            (&["jq", "-r", ".x", "f"], Some(2)),
            (&["wc", "-l", "f"], None),
        ];
        for (words, expected) in cases {
            assert_eq!(told(words[0], &words[1..]).map(|(told, _)| told.len()), *expected, "{words:?}");
        }
    }
}

//! Programs that read commands of their own, line by line, some of which run shell text: `ed`, `psql`, `crontab`.

use super::Walk;
use super::state::{Input, State};
use crate::path::absolute;
use crate::word::{Span, Word};
use crate::wrapper::{Change, Inner, Kind, Times};

/// More lines than this are not looked at one by one.
const MAX_LINES: usize = 1_000;

/// Finds the shell text in a line.
type Finds = fn(&str) -> Option<&str>;

/// Which lines run something, and the options whose values are such lines too.
fn reader(program: &str) -> Option<(Finds, &'static [&'static str])> {
    Some(match program {
        "ed" | "ex" => (editor, &[]),
        "psql" => (backslash, &["-c", "--command"]),
        "mysql" | "mariadb" => (backslash, &["-e", "--execute"]),
        "sqlite3" => (dotted, &["-cmd"]),
        "crontab" => (scheduled, &[]),
        _ => return None,
    })
}

impl Walk<'_> {
    /// What a program runs because of the lines that it is given.
    pub(super) fn by_lines(&mut self, name: &str, words: &[Word], state: &State) -> Vec<Inner> {
        let program = crate::path::basename(name);
        let Some((finds, options)) = reader(program) else { return Vec::new() };
        let arguments = words.get(1..).unwrap_or_default();
        let mut texts: Vec<(String, Span)> = Vec::new();
        if let Input::Text(input, from) = &state.input {
            texts.push((input.text.get(*from..).unwrap_or_default().to_owned(), input.span));
        }
        for (at, word) in arguments.iter().enumerate() {
            let Some(text) = word.known() else { continue };
            let before = at.checked_sub(1).and_then(|before| arguments[before].known()).unwrap_or_default();
            let attached = options.iter().find_map(|option| text.strip_prefix(option)).filter(|rest| !rest.is_empty());
            if let Some(rest) = attached {
                texts.push((rest.trim_start_matches('=').to_owned(), word.span));
            } else if options.contains(&before) || program == "sqlite3" {
                texts.push((text.to_owned(), word.span));
            }
            // A table of jobs is a file that the text may have written.
            let folder = state.folders.certain().unwrap_or("/");
            if program == "crontab"
                && let Some(content) = state.files.made(&absolute(text, folder)).and_then(|made| made.content.clone())
            {
                texts.push((content.text.clone(), content.span));
            }
        }
        let mut inner = Vec::new();
        for (text, span) in texts {
            if !self.afford(text.len()) {
                break;
            }
            for line in text.lines().filter_map(|line| finds(line.trim())).take(MAX_LINES) {
                let kind = Kind::Text { text: Word::new(line, span), args: Vec::new() };
                let change = Change { times: Times::Perhaps, own_input: true, ..Change::default() };
                inner.push(Inner { kind, change });
            }
        }
        inner
    }
}

/// `!cmd`, `1,2!cmd`, `r !cmd`, `w !cmd`
fn editor(line: &str) -> Option<&str> {
    let rest = line.trim_start_matches(|c: char| c.is_ascii_digit() || ":%.,;$+-".contains(c));
    let rest = rest.strip_prefix(['r', 'w', 'e', 'f']).unwrap_or(rest).trim_start();
    rest.strip_prefix('!').filter(|text| !text.is_empty())
}

/// `\! cmd`, `\o | cmd`, ``\echo `cmd` ``, `\copy t to program 'cmd'`, `select 1 \g |cmd`, `system cmd`
fn backslash(line: &str) -> Option<&str> {
    if let Some(at) = line.find("\\!") {
        return Some(&line[at + 2..]);
    }
    if let Some(text) = line.strip_prefix("system ") {
        return Some(text);
    }
    let own = line.get(line.find('\\')?..)?;
    // What is piped has its backquotes in it; of several that are run one after the other, the last ends the text.
    if let (Some((before, quoted)), false) = (own.split_once('`'), own.contains('|')) {
        let text = quoted.rsplit_once('`').map_or(quoted, |(text, _)| text);
        return Some(if text.contains('`') { own.get(before.len()..)? } else { text });
    }
    if own.starts_with("\\copy") {
        let program = own.to_ascii_lowercase().find(" program ")?;
        let quoted = own.get(program..)?.split_once('\'')?.1;
        return Some(quoted.rsplit_once('\'').map_or(quoted, |(text, _)| text));
    }
    let piped = |mark: &str| own.split_once(mark).and_then(|(_, rest)| rest.split_once('|')).map(|(_, text)| text);
    if line.starts_with('\\') { line.split_once('|').map(|(_, text)| text) } else { piped("\\g").or(piped("\\o")) }
}

/// `.shell cmd`, `.once |cmd`; their names may be cut short.
fn dotted(line: &str) -> Option<&str> {
    let line = line.strip_prefix('.')?;
    let (name, rest) = line.split_once(char::is_whitespace)?;
    let begins =
        |names: &[&str], least: usize| name.len() >= least && names.iter().any(|whole| whole.starts_with(name));
    if begins(&["shell", "system"], 2) {
        return Some(rest);
    }
    let piped = begins(&["once", "output", "import"], 1);
    rest.split_once('|').map(|(_, text)| text).filter(|_| piped)
}

/// `5 4 * * * cmd`, `@daily cmd`; a percent sign ends the command.
fn scheduled(line: &str) -> Option<&str> {
    let fields = if line.starts_with('@') { 1 } else { 5 };
    let mut rest = line;
    for _ in 0..fields {
        let (field, after) = rest.split_once(char::is_whitespace)?;
        let time = |c: char| c.is_ascii_alphanumeric() || "*/,-@?#".contains(c);
        if !field.chars().all(time) || field.starts_with('#') {
            return None;
        }
        rest = after.trim_start();
    }
    let end = rest.match_indices('%').map(|(at, _)| at).find(|at| !rest[..*at].ends_with('\\'));
    Some(&rest[..end.unwrap_or(rest.len())])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shell_text_in_lines() {
        let cases: &[(Finds, &str, Option<&str>)] = &[
            (editor, "!rm x", Some("rm x")),
            (editor, "1,$!sort", Some("sort")),
            (editor, "r !ls", Some("ls")),
            (editor, "w x", None),
            (editor, "s/a/b/", None),
            (backslash, "\\! rm x", Some(" rm x")),
            (backslash, "\\o | rm x", Some(" rm x")),
            (backslash, "select 1 | 2", None),
            (dotted, ".shell rm x", Some("rm x")),
            (dotted, ".once |rm x", Some("rm x")),
            (dotted, ".tables", None),
            (scheduled, "0 5 * * 1-5 rm x % y", Some("rm x ")),
            (scheduled, "@daily rm x", Some("rm x")),
            (scheduled, "# 0 5 * * * rm x", None),
            (scheduled, "MAILTO=x", None),
        ];
        for (finds, line, expected) in cases {
            assert_eq!(finds(line), *expected, "{line}");
        }
    }
}

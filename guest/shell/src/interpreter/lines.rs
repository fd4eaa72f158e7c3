//! Programs that read commands of their own, line by line, some of which run shell text: `ed`, `psql`, `crontab`.

use super::Interpreter;
use super::state::{Input, ShellState};
use crate::program_words::ProgramWords;
use crate::wrapper::{ContextChange, NestedCommand, NestedKind, Times};
use toolgate_shell_syntax::path::absolute;
use toolgate_shell_syntax::word::{Span, Word};

/// More lines than this are not looked at one by one.
const MAX_LINES: usize = 1_000;

/// Finds the shell texts in a line.
type Finds = fn(&str) -> Vec<&str>;

/// Which lines run something, and the options whose values are such lines too, without dashes.
fn line_finder(program: &str) -> Option<(Finds, &'static [&'static str])> {
    Some(match program {
        "ed" | "ex" => (editor, &[]),
        "psql" => (backslash, &["c", "command"]),
        "mysql" | "mariadb" => (backslash, &["e", "execute"]),
        "sqlite3" => (dotted, &["cmd"]),
        "crontab" => (scheduled, &[]),
        _ => return None,
    })
}

impl Interpreter<'_> {
    /// What a program runs because of the lines that it is given.
    pub(super) fn by_lines(&mut self, name: &str, words: &[Word], state: &ShellState) -> Vec<NestedCommand> {
        let program = toolgate_shell_syntax::path::basename(name);
        let Some((finds, options)) = line_finder(program) else { return Vec::new() };
        let arguments = words.get(1..).unwrap_or_default();
        let mut texts: Vec<(String, Span)> = Vec::new();
        match &state.input {
            Input::Text(input, from) => {
                texts.push((input.text.get(*from..).unwrap_or_default().to_owned(), input.span));
            }
            Input::Stored(input) => texts.push((input.text.clone(), input.span)),
            Input::Inherited | Input::Nothing | Input::Unseen(_) => {}
        }
        let read = ProgramWords::read(program, arguments);
        let lines = read.values(options).chain(read.words().filter(|_| program == "sqlite3"));
        texts.extend(lines.filter_map(|word| Some((word.known()?.to_owned(), word.span))));
        for word in arguments {
            let Some(text) = word.known() else { continue };
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
            if text.lines().flat_map(|line| finds(line.trim())).nth(MAX_LINES).is_some() {
                let change = ContextChange { times: Times::Perhaps, ..ContextChange::default() };
                inner.push(NestedCommand { kind: NestedKind::Unseen, change });
            }
            for line in text.lines().flat_map(|line| finds(line.trim())).take(MAX_LINES) {
                let kind = NestedKind::Text { text: Word::new(line, span), args: Vec::new() };
                let change = ContextChange { times: Times::Perhaps, own_input: true, ..ContextChange::default() };
                inner.push(NestedCommand { kind, change });
            }
        }
        inner
    }
}

/// `!cmd`, `1,2!cmd`, `r !cmd`, `w !cmd`
fn editor(line: &str) -> Vec<&str> {
    let rest = line.trim_start_matches(|c: char| c.is_ascii_digit() || ":%.,;$+-".contains(c));
    let rest = rest.strip_prefix(['r', 'w', 'e', 'f']).unwrap_or(rest).trim_start();
    rest.strip_prefix('!').filter(|text| !text.is_empty()).into_iter().collect()
}

/// `\! cmd`, `\o | cmd`, ``\echo `cmd` ``, `\copy t to program 'cmd'`, `select 1 \g |cmd`, `system cmd`
fn backslash(line: &str) -> Vec<&str> {
    let mut found = Vec::new();
    found.extend(line.split_once("\\!").map(|(_, text)| text));
    found.extend(line.strip_prefix("system "));
    let Some((before, own)) = line.split_once('\\') else { return found };
    // Every second part is between backquotes.
    found.extend(own.split('`').skip(1).step_by(2));
    if own.starts_with("copy") {
        let program = own.to_ascii_lowercase().find(" program ").and_then(|at| own.get(at..));
        let quoted = program.and_then(|text| text.split_once('\'')).map(|(_, text)| text);
        found.extend(quoted.map(|text| text.rsplit_once('\'').map_or(text, |(text, _)| text)));
    }
    let piped = own.split_once('|').filter(|(name, _)| before.is_empty() || name.starts_with(['g', 'o']));
    found.extend(piped.map(|(_, text)| text));
    found
}

/// `.shell cmd`, `.once |cmd`; their names may be cut short.
fn dotted(line: &str) -> Vec<&str> {
    let parts = line.strip_prefix('.').and_then(|line| line.split_once(char::is_whitespace));
    let Some((name, rest)) = parts else { return Vec::new() };
    let begins =
        |names: &[&str], least: usize| name.len() >= least && names.iter().any(|whole| whole.starts_with(name));
    if begins(&["shell", "system"], 2) {
        return vec![rest];
    }
    let piped = begins(&["once", "output", "import", "read"], 1);
    rest.split_once('|').map(|(_, text)| text).filter(|_| piped).into_iter().collect()
}

/// `5 4 * * * cmd`, `@daily cmd`; a percent sign ends the command.
fn scheduled(line: &str) -> Vec<&str> {
    let fields = if line.starts_with('@') { 1 } else { 5 };
    let time = |c: char| c.is_ascii_alphanumeric() || "*/,-@?#".contains(c);
    let mut rest = line;
    for _ in 0..fields {
        match rest.split_once(char::is_whitespace) {
            Some((field, after)) if field.chars().all(time) && !field.starts_with('#') => rest = after.trim_start(),
            _ => return Vec::new(),
        }
    }
    let end = rest.match_indices('%').map(|(at, _)| at).find(|at| !rest[..*at].ends_with('\\'));
    vec![&rest[..end.unwrap_or(rest.len())]]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shell_text_in_lines() {
        let cases: &[(Finds, &str, &[&str])] = &[
            (editor, "!rm x", &["rm x"]),
            (editor, "1,$!sort", &["sort"]),
            (editor, "r !ls", &["ls"]),
            (editor, "w x", &[]),
            (editor, "s/a/b/", &[]),
            (backslash, "\\! rm x", &[" rm x"]),
            (backslash, "\\o | rm x", &[" rm x"]),
            (backslash, "select 1 | 2", &[]),
            (backslash, "\\echo `a` `b` | c", &["a", "b", " c"]),
            (backslash, "\\copy t to program 'rm x'", &["rm x"]),
            (backslash, "\\copy t to 'x.csv'", &[]),
            (backslash, "select 1 \\g |rm x", &["rm x"]),
            (backslash, "select E'\\n' || 'x'", &[]),
            (dotted, ".shell rm x", &["rm x"]),
            (dotted, ".once |rm x", &["rm x"]),
            (dotted, ".sh rm x", &["rm x"]),
            (dotted, ".read |rm x", &["rm x"]),
            (dotted, ".tables", &[]),
            (scheduled, "0 5 * * 1-5 rm x % y", &["rm x "]),
            (scheduled, "@daily rm x", &["rm x"]),
            (scheduled, "# 0 5 * * * rm x", &[]),
            (scheduled, "MAILTO=x", &[]),
        ];
        for (finds, line, expected) in cases {
            assert_eq!(finds(line), *expected, "{line}");
        }
    }
}

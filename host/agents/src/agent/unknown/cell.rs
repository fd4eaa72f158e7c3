//! What a shell runs of a text that is no shell's as a whole: lines of a notebook's cell, and what is typed into vim.

use crate::text::quoted;

/// How cells begin that are a shell's as a whole.
const SHELL_CELLS: &[&str] = &["%%!", "%%bash", "%%sh", "%%sx", "%%system"];

/// Magics of `IPython` that run the program of that name.
const PROGRAMS: &[&str] = &["cat", "cp", "ls", "man", "mkdir", "more", "mv", "rm", "rmdir"];

/// Those that run what is behind them.
const SHELLS: &[&str] = &["sx", "system"];

/// What a shell runs of a cell, and the code that is left: `!ls`, `%rm -r a`, `%%bash`, `files = !ls`.
pub(super) fn split(text: &str) -> (Option<String>, String) {
    let (first, rest) = text.trim_start().split_once('\n').unwrap_or_default();
    if first.split_whitespace().next().is_some_and(|magic| SHELL_CELLS.contains(&magic)) {
        return (Some(format!("bash -c {}", quoted(rest))), String::new());
    }
    let mut commands = Vec::new();
    let mut code = Vec::new();
    // A line goes on behind a backslash.
    let mut goes_on = false;
    for line in text.lines() {
        let indent = &line[..line.len() - line.trim_start().len()];
        if goes_on {
            commands.push(line.to_owned());
        } else if let Some(command) = command(line.trim()) {
            commands.push(command);
            code.push(format!("{indent}pass"));
        } else {
            code.push(line.to_owned());
            continue;
        }
        goes_on = line.ends_with('\\');
    }
    if commands.is_empty() { (None, text.to_owned()) } else { (Some(commands.join("\n")), code.join("\n")) }
}

/// The command that a line of a cell has a shell run.
fn command(line: &str) -> Option<String> {
    let is_name = |text: &str| text.chars().all(|c| c.is_alphanumeric() || "_, ".contains(c));
    let behind_name = || line.split_once('=').filter(|(name, _)| is_name(name)).map(|(_, rest)| rest.trim_start());
    // `![a](b)` is an image in a text.
    let is_image = |rest: &str| rest.starts_with('[') && rest.contains("](");
    let bang = |text: &str| text.strip_prefix('!').filter(|rest| !is_image(rest)).map(str::to_owned);
    let magic = |text: &str| {
        let text = text.strip_prefix('%')?;
        let (name, rest) = text.split_once(char::is_whitespace)?;
        let runs = SHELLS.contains(&name).then_some(rest);
        runs.or_else(|| PROGRAMS.contains(&name).then_some(text)).map(str::to_owned)
    };
    let found = bang(line).or_else(|| magic(line));
    found.or_else(|| {
        behind_name().and_then(|rest| bang(rest).filter(|rest| !rest.starts_with('=')).or_else(|| magic(rest)))
    })
}

/// Whether a text is what is typed into vim to have a shell run something.
pub(super) fn is_vim(text: &str) -> bool {
    of_vim(text).is_some()
}

/// What a shell runs of what is typed into vim: `:!ls`, `:r !ls`, `:%!sort`. In `:w!` the sign is something else.
pub(super) fn of_vim(text: &str) -> Option<&str> {
    let (before, command) = text.trim_start().strip_prefix(':')?.split_once('!')?;
    let is_range = |text: &str| text.chars().all(|c| c.is_ascii_digit() || "%.,$'<> ".contains(c));
    let is_word = |text: &str| text.chars().all(|c| c.is_ascii_alphabetic() || c == ' ');
    let runs = is_range(before) || is_word(before) && (before.ends_with(' ') || ["r", "read"].contains(&before));
    let command =
        ["<CR>", "<cr>", "<Enter>"].iter().fold(command, |command, key| command.trim_end().trim_end_matches(key));
    (runs && !command.trim().is_empty()).then_some(command)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_a_cell_are_a_shells() {
        let cases = [
            ("print(1)", None, "print(1)"),
            ("import a\n!pip install b", Some("pip install b"), "import a\npass"),
            ("if a:\n  !ls \\\n  -l\nb", Some("ls \\\n  -l"), "if a:\n  pass\nb"),
            ("x = !git status", Some("git status"), "pass"),
            ("x != y", None, "x != y"),
            ("![ -d a ] && rm -r a", Some("[ -d a ] && rm -r a"), "pass"),
            ("%mv a b\n%cd c\n%matplotlib inline", Some("mv a b"), "pass\n%cd c\n%matplotlib inline"),
            ("%system ls", Some("ls"), "pass"),
            ("%%sh\nls\nid", Some("bash -c 'ls\nid'"), ""),
            ("'''\n![a](b.png)\n'''", None, "'''\n![a](b.png)\n'''"),
        ];
        for (text, shell, code) in cases {
            assert_eq!(split(text), (shell.map(str::to_owned), code.to_owned()), "{text}");
        }
    }

    #[test]
    fn what_vim_has_a_shell_run_is_told() {
        let cases = [
            (":!ls -l", Some("ls -l")),
            (":r !date<CR>", Some("date")),
            (":%!sort", Some("sort")),
            (":silent !make", Some("make")),
            (":w!", None),
            (":e! a", None),
            (":wq!", None),
            (":%s/a!/b/", None),
            ("wow: well! done", None),
        ];
        for (text, command) in cases {
            assert_eq!(of_vim(text), command, "{text}");
        }
    }
}

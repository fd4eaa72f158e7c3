//! The history files of shells: which there are, and the commands in them. Nothing here judges or runs anything.

use std::path::{Path, PathBuf};

/// How a history file is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    /// A command a line; with `#SECONDS` before each, all lines up to the next are one command.
    Bash,
    /// `: SECONDS:SECONDS;COMMAND`, or only the command. A line goes on after a backslash, and some bytes are written as
    /// two.
    Zsh,
    /// `- cmd: COMMAND` with escapes, and lines of other things.
    Fish,
}

impl Format {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Format::Bash => "bash",
            Format::Zsh => "zsh",
            Format::Fish => "fish",
        }
    }

    /// What a file is by its name and content.
    pub(crate) fn of(path: &Path, content: &[u8]) -> Self {
        let name = path.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
        let first = |test: fn(&[u8]) -> bool| content.split(|byte| *byte == b'\n').take(50).any(test);
        if name.contains("fish") || content.starts_with(b"- cmd: ") {
            Format::Fish
        } else if name.contains("zsh") || name.contains("zhist") || name == ".histfile" || first(is_zsh) {
            Format::Zsh
        } else {
            Format::Bash
        }
    }
}

/// Where a shell keeps its history unless it is told otherwise, by the shell's name.
pub(crate) fn places(home: &Path, variable: impl Fn(&str) -> Option<PathBuf>) -> Vec<(&'static str, PathBuf)> {
    let dotted = variable("ZDOTDIR").unwrap_or_else(|| home.to_path_buf());
    let data = variable("XDG_DATA_HOME").unwrap_or_else(|| home.join(".local/share"));
    let mut places = vec![
        ("bash", home.join(".bash_history")),
        ("zsh", dotted.join(".zsh_history")),
        ("zsh", home.join(".zsh_history")),
        ("zsh", home.join(".zhistory")),
        ("zsh", home.join(".histfile")),
        ("fish", data.join("fish/fish_history")),
    ];
    places.dedup();
    places
}

/// The commands of a history file, in their order.
pub(crate) fn commands(format: Format, content: &[u8]) -> Vec<String> {
    let commands = match format {
        Format::Bash => bash(content),
        Format::Zsh => zsh(content),
        Format::Fish => fish(content),
    };
    commands.into_iter().filter(|command| !command.trim().is_empty()).collect()
}

fn lines(content: &[u8]) -> impl Iterator<Item = &[u8]> {
    content.split(|byte| *byte == b'\n')
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn is_stamp(line: &[u8]) -> bool {
    line.strip_prefix(b"#").is_some_and(|rest| !rest.is_empty() && rest.iter().all(u8::is_ascii_digit))
}

fn bash(content: &[u8]) -> Vec<String> {
    // As bash itself decides: commands of several lines are only told apart if the file begins with a time.
    if !lines(content).next().is_some_and(is_stamp) {
        return lines(content).filter(|line| !is_stamp(line)).map(text).collect();
    }
    let mut commands: Vec<String> = Vec::new();
    let mut fresh = true;
    for line in lines(content.strip_suffix(b"\n").unwrap_or(content)) {
        if is_stamp(line) {
            fresh = true;
        } else if fresh {
            commands.push(text(line));
            fresh = false;
        } else if let Some(command) = commands.last_mut() {
            command.push('\n');
            command.push_str(&text(line));
        }
    }
    commands
}

/// `: 1700000000:0;`, and what stands behind it.
fn stamped(line: &[u8]) -> Option<&[u8]> {
    let rest = line.strip_prefix(b": ")?;
    let end = rest.iter().position(|byte| *byte == b';')?;
    let (stamp, command) = rest.split_at(end);
    let mut numbers = stamp.split(|byte| *byte == b':');
    let number = |part: Option<&[u8]>| part.is_some_and(|part| !part.is_empty() && part.iter().all(u8::is_ascii_digit));
    (number(numbers.next()) && number(numbers.next()) && numbers.next().is_none()).then(|| &command[1..])
}

fn is_zsh(line: &[u8]) -> bool {
    stamped(line).is_some()
}

fn zsh(content: &[u8]) -> Vec<String> {
    /// Stands before a byte that zsh does not write as it is.
    const META: u8 = 0x83;
    let mut plain = Vec::with_capacity(content.len());
    let mut bytes = content.iter();
    while let Some(byte) = bytes.next() {
        match byte {
            &META => plain.extend(bytes.next().map(|byte| byte ^ 0x20)),
            byte => plain.push(*byte),
        }
    }
    let mut commands = Vec::new();
    let mut open: Option<Vec<u8>> = None;
    for line in lines(&plain) {
        let mut command = match open.take() {
            Some(mut command) => {
                command.push(b'\n');
                command.extend(line);
                command
            }
            None => stamped(line).unwrap_or(line).to_vec(),
        };
        // A command that ends in a backslash of its own has a blank behind it.
        if command.ends_with(b"\\") {
            command.pop();
            open = Some(command);
        } else {
            commands.push(text(&command));
        }
    }
    commands.extend(open.map(|command| text(&command)));
    commands
}

fn fish(content: &[u8]) -> Vec<String> {
    let commands = lines(content).filter_map(|line| line.strip_prefix(b"- cmd: ")).map(|written| {
        let written = text(written);
        let mut command = String::with_capacity(written.len());
        let mut chars = written.chars();
        while let Some(c) = chars.next() {
            match c {
                '\\' => match chars.next() {
                    Some('n') => command.push('\n'),
                    Some('\\') | None => command.push('\\'),
                    Some(other) => command.extend(['\\', other]),
                },
                c => command.push(c),
            }
        }
        command
    });
    commands.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn histories_are_read_as_their_shells_write_them() {
        let cases: &[(&str, &[u8], Format, &[&str])] = &[
            (".bash_history", b"ls\n\ncd x\n", Format::Bash, &["ls", "cd x"]),
            (".bash_history", b"ls\n#1700000000\ncd x\n", Format::Bash, &["ls", "cd x"]),
            (
                ".bash_history",
                b"#1700000000\nfor i in 1; do\n  echo $i\ndone\n#1700000001\nls\n",
                Format::Bash,
                &["for i in 1; do\n  echo $i\ndone", "ls"],
            ),
            (".bash_history", b"#1700000000\n# a comment\n#1700000000\n", Format::Bash, &["# a comment"]),
            (".zsh_history", b": 1700000000:0;ls\n: 1700000001:12;cd x\n", Format::Zsh, &["ls", "cd x"]),
            (
                "history",
                b": 1700000000:0;for i in 1\\\ndo a\\\ndone\nplain\n",
                Format::Zsh,
                &["for i in 1\ndo a\ndone", "plain"],
            ),
            (".zsh_history", b": 1700000000:0;echo a \\ \nls", Format::Zsh, &["echo a \\ ", "ls"]),
            // U+0103 is c4 83 in UTF-8, and 83 is written as 83 a3.
            (".zsh_history", b"echo \xc4\x83\xa3\n", Format::Zsh, &["echo \u{103}"]),
            (".zhistory", b": x:0;ls\n", Format::Zsh, &[": x:0;ls"]),
            (
                "fish_history",
                b"- cmd: ls\n  when: 1\n  paths:\n    - a\n- cmd: a\\nb \\\\n\n  when: 2\n",
                Format::Fish,
                &["ls", "a\nb \\n"],
            ),
            ("history", b"- cmd: ls\n  when: 1\n", Format::Fish, &["ls"]),
            (".bash_history", b"echo \xff\n", Format::Bash, &["echo \u{fffd}"]),
            (".bash_history", b"", Format::Bash, &[]),
            (".zsh_history", b"a\\", Format::Zsh, &["a"]),
        ];
        for (name, content, format, expected) in cases {
            let found = Format::of(Path::new(name), content);
            assert_eq!(found, *format, "{name}");
            assert_eq!(commands(found, content), *expected, "{name} {}", text(content));
        }
    }
}

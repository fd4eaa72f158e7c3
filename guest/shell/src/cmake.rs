//! What a file of cmake's commands runs and removes: its programs and file commands, without what conditions and variables make
//! of them.

use toolgate_shell_syntax::word::{Span, Value, Why, Word};

/// Words that end the program that stands behind `COMMAND`.
#[rustfmt::skip]
const ENDS: &[&str] = &[
    "ARGS", "BYPRODUCTS", "COMMAND", "COMMAND_ECHO", "COMMAND_ERROR_IS_FATAL", "COMMENT", "DEPENDS", "ERROR_FILE", "ERROR_QUIET",
    "ERROR_STRIP_TRAILING_WHITESPACE", "ERROR_VARIABLE", "INPUT_FILE", "MAIN_DEPENDENCY", "OUTPUT_FILE", "OUTPUT_QUIET",
    "OUTPUT_STRIP_TRAILING_WHITESPACE", "OUTPUT_VARIABLE", "POST_BUILD", "RESULTS_VARIABLE", "RESULT_VARIABLE", "SOURCES", "TIMEOUT",
    "USES_TERMINAL", "VERBATIM", "WORKING_DIRECTORY",
];

/// Folders of the build and of the project, which a file names without knowing where they are.
const FOLDERS: &[&str] = &[
    "CMAKE_BINARY_DIR",
    "CMAKE_CURRENT_BINARY_DIR",
    "CMAKE_CURRENT_LIST_DIR",
    "CMAKE_CURRENT_SOURCE_DIR",
    "CMAKE_SOURCE_DIR",
    "PROJECT_BINARY_DIR",
    "PROJECT_SOURCE_DIR",
];

/// The programs that a file runs, as their words; none in the place of one that is not known.
pub(crate) fn commands(text: &str) -> Vec<Option<Vec<String>>> {
    let mut found = Vec::new();
    for (name, arguments) in calls(text) {
        match (name.as_str(), arguments.first().map(String::as_str)) {
            ("execute_process" | "add_custom_command" | "add_custom_target" | "exec_program", _) => {
                let starts = arguments.iter().enumerate().filter(|(_, word)| *word == "COMMAND");
                found.extend(starts.map(|(at, _)| {
                    let words = arguments[at + 1..].iter().take_while(|word| !ENDS.contains(&word.as_str()));
                    program(words.cloned().collect())
                }));
            }
            ("file", Some("REMOVE_RECURSE")) => {
                found.push(Some([&["rm".to_owned(), "-rf".to_owned()], &arguments[1..]].concat()));
            }
            ("file", Some("REMOVE")) => {
                found.push(Some([&["rm".to_owned(), "-f".to_owned()], &arguments[1..]].concat()));
            }
            ("file", Some("RENAME")) => found.push(Some([&["mv".to_owned()], &arguments[1..]].concat())),
            ("file", Some("WRITE")) => {
                let path = arguments.get(1..2).unwrap_or_default();
                found.push(Some([&["cp".to_owned(), "/dev/null".to_owned()], path].concat()));
            }
            ("file", Some("APPEND" | "TOUCH")) => {
                found.push(Some([&["touch".to_owned()], arguments.get(1..2).unwrap_or_default()].concat()));
            }
            ("cmake_language", Some("EVAL")) => found.push(None),
            _ => {}
        }
    }
    found
}

/// A program with its arguments; `${CMAKE_COMMAND}` is cmake itself.
fn program(mut words: Vec<String>) -> Option<Vec<String>> {
    let first = words.first_mut()?;
    if first == "${CMAKE_COMMAND}" {
        "cmake".clone_into(first);
    }
    // Of a variable that says where a tool is, as `${PYTHON_EXECUTABLE}`, nothing more is known.
    Some(words)
}

/// The words as the shell engine has them: a folder of the project is the one where it runs, other variables are not known.
pub(crate) fn words(words: Vec<String>, span: Span) -> Vec<Word> {
    let plain = |mut text: String| {
        for folder in FOLDERS {
            text = text.replace(&format!("${{{folder}}}"), ".");
        }
        text
    };
    words.into_iter().map(plain).map(|text| word(&text, span)).collect()
}

fn word(text: &str, span: Span) -> Word {
    if let Some(home) = text.strip_prefix("$ENV{HOME}") {
        return Word {
            value: Value::Unknown { why: Why::Home(String::new()), shape: format!("{}{home}", Value::HOLE) },
            ..Word::new("", span)
        };
    }
    let Some((before, rest)) =
        text.split_once("${").or_else(|| text.split_once("$<")).or_else(|| text.split_once("$ENV{"))
    else {
        return Word::new(text, span);
    };
    let after = rest.rsplit_once(['}', '>']).map_or("", |(_, after)| after);
    let shape = format!("{before}{}{after}", Value::HOLE);
    Word { value: Value::Unknown { why: Why::Expansion, shape }, ..Word::new("", span) }
}

/// The commands of a file, in small letters, with their arguments.
fn calls(text: &str) -> Vec<(String, Vec<String>)> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('(') {
        let line = before.rsplit('\n').next().unwrap_or(before);
        let name = line.trim().to_ascii_lowercase();
        let (arguments, end) = arguments(after);
        if !line.trim_start().starts_with('#') {
            found.push((name, arguments));
        }
        rest = &after[end..];
    }
    found
}

/// The arguments up to the bracket that ends them, and where that is.
fn arguments(text: &str) -> (Vec<String>, usize) {
    let (mut found, mut word, mut quoted, mut depth) = (Vec::new(), String::new(), false, 0);
    let mut chars = text.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '\\' => word.extend(chars.next().map(|(_, c)| c)),
            '"' => {
                if quoted {
                    found.push(std::mem::take(&mut word));
                }
                quoted = !quoted;
            }
            _ if quoted => word.push(c),
            '#' => while chars.next().is_some_and(|(_, c)| c != '\n') {},
            '(' => depth += 1,
            ')' if depth > 0 => depth -= 1,
            ')' => {
                found.extend(Some(word).filter(|word| !word.is_empty()));
                return (found, at + 1);
            }
            c if c.is_whitespace() || c == ';' => {
                found.extend(Some(std::mem::take(&mut word)).filter(|word| !word.is_empty()));
            }
            c => word.push(c),
        }
    }
    (found, text.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_and_file_commands_are_found() {
        let text = "# execute_process(COMMAND no)\nproject(x)\nexecute_process(COMMAND git describe --tags\n  OUTPUT_VARIABLE V)\n\
            add_custom_target(t COMMAND ${CMAKE_COMMAND} -E rm \"a b\" COMMAND c;d COMMENT \"(x)\")\n\
            FILE(REMOVE_RECURSE ${D}/x $ENV{HOME}/y)\nfile(WRITE f \"t\")\nif(A AND (B))\nendif()\ncmake_language(EVAL CODE x)";
        let found: Vec<String> =
            commands(text).into_iter().map(|words| words.map_or("?".to_owned(), |words| words.join("|"))).collect();
        let expected =
            ["git|describe|--tags", "cmake|-E|rm|a b", "c|d", "rm|-rf|${D}/x|$ENV{HOME}/y", "cp|/dev/null|f", "?"];
        assert_eq!(found, expected);
        for odd in ["", "(", "a(\"", "a(\\", "execute_process(", "execute_process(COMMAND", "file(REMOVE", "é(é", "a(#"]
        {
            commands(odd);
        }
    }
}

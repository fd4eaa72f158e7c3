//! Which commands a file holds that people have written for a shell: CI steps, make and just recipes, package
//! scripts, shell scripts, and the shell blocks of documentation.
//!
//! A command stays as odd as it is. Only what is no shell is dropped: the output in a console block, prose in a block
//! with the wrong tag, steps for other shells, what bash itself reports a syntax error for.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde::{Deserialize, Serialize};
use serde_json::Value;
use toolgate_shell::{Facts, parse};

use crate::quote;

/// Where a command stood.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// One command of a CI step.
    Ci,
    /// A CI step of several commands.
    CiStep,
    /// One command of a shell block in documentation.
    Document,
    /// A line of a recipe of just.
    Just,
    /// A line of a recipe of make.
    Make,
    /// A script of a `package.json`.
    PackageScript,
    /// A file of shell.
    Script,
}

/// All kinds.
pub const KINDS: [Kind; 7] =
    [Kind::Ci, Kind::CiStep, Kind::Document, Kind::Just, Kind::Make, Kind::PackageScript, Kind::Script];

/// The commands of a file, told by its path within the package. Nothing, if it is none of the kinds.
pub fn commands(path: &Path, text: &str) -> Vec<(Kind, String)> {
    let mut found = held(path, text);
    found.retain(|(_, command)| !other_shell(command) && !no_shell(command));
    found
}

/// Whether bash runs nothing of a text since it cannot read it. Bash is asked only where we cannot read it either, so
/// that what only we cannot read stays; without a bash it stays as well.
fn no_shell(text: &str) -> bool {
    if parse(text, &Facts::default()).unparsed.is_none() {
        return false;
    }
    let bash = Command::new("bash").args(["--norc", "-n", "-c", text]).stderr(Stdio::null()).status();
    bash.is_ok_and(|status| !status.success())
}

/// Whether a text is for a shell of Windows.
fn other_shell(text: &str) -> bool {
    let start = text.trim_start_matches('@').to_lowercase();
    let starts = ["if exist ", "if not exist ", "& ", "if (!", "if (-"].iter().any(|word| start.starts_with(word));
    starts || start.contains("$env:") || text.contains(" ` ") || text.lines().any(|line| line.ends_with(" `"))
}

/// The folder within the package in which the commands of a file run: the file's own for recipes and package scripts,
/// the one that holds the CI's folder for steps, else the package's.
pub fn folder(kind: Kind, path: &Path) -> PathBuf {
    let own = path.parent().unwrap_or(Path::new(""));
    match kind {
        Kind::Make | Kind::Just | Kind::PackageScript => own.into(),
        Kind::Ci | Kind::CiStep => {
            let parts = own.components().take_while(|part| !CI_FOLDERS.iter().any(|ci| part.as_os_str() == *ci));
            parts.collect()
        }
        Kind::Document | Kind::Script => PathBuf::new(),
    }
}

/// Where CI systems look for their files.
const CI_FOLDERS: [&str; 2] = [".github", ".circleci"];

fn held(path: &Path, text: &str) -> Vec<(Kind, String)> {
    let name = path.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
    let extension = path.extension().unwrap_or_default().to_string_lossy().to_lowercase();
    let all = |kind, commands: Vec<String>| commands.into_iter().map(|command| (kind, command)).collect();
    match (name.as_str(), extension.as_str()) {
        ("makefile" | "gnumakefile", _) | (_, "mk" | "mak") => all(Kind::Make, make(text)),
        ("justfile" | ".justfile", _) | (_, "just") => all(Kind::Just, just(text)),
        ("package.json", _) => all(Kind::PackageScript, package_scripts(text)),
        // It is run by its path, as people do; the folder of the package has it.
        (_, "sh" | "bash") if !no_shell(text) => {
            all(Kind::Script, vec![format!("bash {}", quote::single(&path.to_string_lossy()))])
        }
        (_, "md" | "markdown") => all(Kind::Document, document(text)),
        (_, "yml" | "yaml") if is_ci(path) => {
            let mut found = Vec::new();
            // What GitHub calls `script` is for other languages.
            let github = path.to_string_lossy().contains(".github/");
            // CircleCI puts values for `<< parameters.x >>`.
            let circle = path.to_string_lossy().contains(".circleci/");
            let text = if circle { replaced(text, "<< ", " >>") } else { text.to_owned() };
            for step in ci(&text, if github { &["run"] } else { &STEP_KEYS }) {
                let parts = split(&step);
                if parts.len() > 1 {
                    found.push((Kind::CiStep, step));
                }
                found.extend(parts.into_iter().map(|part| (Kind::Ci, part)));
            }
            found
        }
        _ => Vec::new(),
    }
}

fn is_ci(path: &Path) -> bool {
    let path = path.to_string_lossy().to_lowercase();
    let name = path.rsplit('/').next().unwrap_or_default();
    let by_name = ["travis", "gitlab-ci", "azure-pipelines", "bitbucket-pipelines", "cirrus", "drone", "woodpecker"];
    // `appveyor` is left out: its commands are for Windows.
    path.contains(".github/") || path.contains(".circleci/") || by_name.iter().any(|part| name.contains(part))
}

/// The steps of a CI file, each one text: the values of these keys. A file that is no YAML has none.
pub fn ci(text: &str, keys: &[&str]) -> Vec<String> {
    let mut found = Vec::new();
    if let Ok(root) = serde_saphyr::from_str::<Value>(text) {
        steps(&root, keys, &mut found);
    }
    found
}

/// Keys whose value is shell text, or a list of such, in the CI systems that are read.
pub const STEP_KEYS: [&str; 13] = [
    "run",
    "script",
    "before_script",
    "after_script",
    "install",
    "before_install",
    "after_success",
    "after_failure",
    "before_deploy",
    "command",
    "commands",
    "bash",
    "before_cache",
];

fn steps(node: &Value, keys: &[&str], found: &mut Vec<String>) {
    match node {
        Value::Object(map) => {
            let shell = map.get("shell").and_then(Value::as_str).unwrap_or("bash");
            let named = |key: &str, name: &str| match map.get(key) {
                Some(Value::Array(list)) => list.iter().any(|one| one.as_str() == Some(name)),
                other => other.and_then(Value::as_str).is_some_and(|one| one.contains(name)),
            };
            if named("runs-on", "windows") || named("tags", "windows") {
                return;
            }
            let other = !(shell.contains("sh") && !shell.contains("pwsh") && !shell.contains("powershell"));
            for (key, value) in map {
                if !keys.contains(&key.as_str()) {
                    steps(value, keys, found);
                    continue;
                }
                match value {
                    _ if other => {}
                    Value::String(text) => found.push(filled(text)),
                    Value::Array(list) => {
                        found.extend(list.iter().filter_map(Value::as_str).map(filled));
                        list.iter().filter(|item| !item.is_string()).for_each(|item| steps(item, keys, found));
                    }
                    _ => steps(value, keys, found),
                }
            }
        }
        Value::Array(list) => list.iter().for_each(|item| steps(item, keys, found)),
        _ => {}
    }
}

/// The runner puts values for `${{ matrix.target }}` before a shell sees the text; here a variable stands for them.
fn filled(text: &str) -> String {
    replaced(text, "${{", "}}")
}

fn replaced(text: &str, open: &str, close: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once(open) {
        let Some((expression, tail)) = after.split_once(close) else { break };
        out.push_str(before);
        out.push_str(&variable(expression));
        rest = tail;
    }
    out.push_str(rest);
    out.trim().to_owned()
}

fn variable(expression: &str) -> String {
    let name: String = expression.trim().chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    format!("${{{}}}", if name.starts_with(|c: char| c.is_ascii_digit()) { format!("_{name}") } else { name })
}

/// The scripts of a `package.json`.
pub fn package_scripts(text: &str) -> Vec<String> {
    let root: Value = serde_json::from_str(text).unwrap_or_default();
    let scripts = root["scripts"].as_object().into_iter().flatten();
    scripts.filter_map(|(_, script)| script.as_str()).filter(|script| !script.is_empty()).map(str::to_owned).collect()
}

/// The shell commands of a Markdown document.
pub fn document(text: &str) -> Vec<String> {
    const SHELL: [&str; 7] = ["sh", "bash", "shell", "zsh", "console", "shell-session", "terminal"];
    const CONSOLE: [&str; 3] = ["console", "shell-session", "terminal"];
    let mut found = Vec::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        let indent = line.len() - line.trim_start().len();
        let open = line.trim_start();
        let mark = open.chars().take_while(|c| *c == '`').count().max(open.chars().take_while(|c| *c == '~').count());
        if mark < 3 {
            continue;
        }
        let fence = &open[..mark];
        let tag = open[mark..].split([' ', ',', '{']).next().unwrap_or_default().to_lowercase();
        let inside = lines.by_ref().take_while(|line| !line.trim().starts_with(fence));
        let block: Vec<&str> = inside.map(|line| &line[indent.min(line.len() - line.trim_start().len())..]).collect();
        if SHELL.contains(&tag.as_str()) {
            found.extend(block_commands(&block, CONSOLE.contains(&tag.as_str())));
        }
    }
    found
}

/// The commands of one block. Where there are prompts, everything else is output; a console block of several lines
/// without a prompt could be either and is dropped.
fn block_commands(block: &[&str], console: bool) -> Vec<String> {
    let prompt = |line: &&str| after_prompt(line).is_some();
    if block.iter().any(prompt) {
        let mut entered = String::new();
        let mut goes_on = false;
        for line in block {
            if prompt(line) || goes_on {
                let line = if goes_on { line } else { after_prompt(line).unwrap_or_default() };
                entered.push_str(line);
                entered.push('\n');
                goes_on = line.ends_with('\\');
            }
        }
        return shell_commands(&entered);
    }
    if console && block.iter().filter(|line| !line.trim().is_empty()).count() > 1 {
        return Vec::new();
    }
    shell_commands(&block.join("\n"))
}

fn shell_commands(text: &str) -> Vec<String> {
    split(text).iter().map(|command| typed(command)).filter(|command| is_shell(command)).collect()
}

/// A command with a word in the place of each `<placeholder>` that keeps it from being one: nobody types those. Of
/// `<a|b>` it is the first.
fn typed(command: &str) -> String {
    let is_whole = |text: &str| parse(text, &Facts::default()).unparsed.is_none();
    if !command.contains('<') || is_whole(command) {
        return command.to_owned();
    }
    let mut out = String::new();
    let mut rest = command;
    while let Some((before, after)) = rest.split_once('<') {
        out.push_str(before);
        let name = after.split_once('>').filter(|(name, _)| {
            name.starts_with(char::is_alphabetic) && name.ends_with(char::is_alphanumeric) && !name.contains('\n')
        });
        let Some((name, tail)) = name else {
            out.push('<');
            rest = after;
            continue;
        };
        let first = name.split('|').next().unwrap_or_default();
        let words: Vec<&str> = first.split(|c: char| !c.is_alphanumeric() && !"_.-".contains(c)).collect();
        out.push_str(&words.join("-"));
        rest = tail;
    }
    out + rest
}

/// What stands after `$ `, `(venv) $ `, `user@host:~$ ` or the like.
fn after_prompt(line: &str) -> Option<&str> {
    let line = line.trim_start();
    let venv = line.strip_prefix('(').and_then(|rest| rest.split_once(") ")).filter(|(name, _)| !name.contains(' '));
    let rest = venv.map_or(line, |(_, rest)| rest);
    let plain = ["$ ", "% ", "> ", "❯ ", "➜ "].iter().find_map(|prompt| rest.strip_prefix(prompt));
    let host =
        || rest.split_once("$ ").filter(|(host, _)| host.contains('@') && !host.contains(' ')).map(|(_, rest)| rest);
    plain.or_else(host)
}

/// Whether a line begins as a command does, and is no synopsis of one. Prose begins with a capital and goes on without
/// an `=`. What does not parse is output.
fn is_shell(command: &str) -> bool {
    let synopsis = ["[<", "[--", ">|<", "|<", "...]", "(same as", "(See ", " ops/sec"];
    let tree = ["`-", "+-", "├", "└", "│"];
    let data = command.split_whitespace().nth(1) == Some("=") || command.starts_with("{\"");
    if data || synopsis.iter().any(|part| command.contains(part)) || tree.iter().any(|part| command.starts_with(part)) {
        return false;
    }
    let first = command.split_whitespace().next().unwrap_or_default();
    let starts = first.starts_with(|c: char| c.is_ascii_alphanumeric() || "_./~$\"'`({[!<>:-".contains(c));
    let prose = first.starts_with(|c: char| c.is_ascii_uppercase()) && !first.contains(['=', '/', '.', '-', '_']);
    let listed = first.trim_end_matches(['.', ')', '%', ':']).parse::<f64>().is_ok();
    let debugger = ["(gdb)", "(lldb)"].contains(&first);
    let numbered = first.starts_with('[') && first.len() > 2;
    let call = first.contains('(') && !first.starts_with(['(', '$', '"', '`']) && !first.ends_with("()");
    if parse(command, &Facts::default()).unparsed.is_some() {
        return false;
    }
    starts && !prose && !listed && !debugger && !numbered && !call && !first.ends_with([':', ','])
}

/// Splits a text at the line ends where a command ends: the shortest run of lines that parses is one command. A line
/// from which none parses is a command of its own. Lines of nothing but a comment are left out.
pub fn split(text: &str) -> Vec<String> {
    let lines: Vec<&str> = text.lines().collect();
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(line) = lines.get(at) {
        if line.trim().is_empty() || line.trim_start().starts_with('#') {
            at += 1;
            continue;
        }
        let goes_on = |line: &&&str| ["\\", "&&", "||", "|"].iter().any(|end| line.ends_with(end));
        let joined = || 1 + lines[at..].iter().take_while(goes_on).count();
        let count = first_command(&lines[at..]).unwrap_or_else(joined).min(lines.len() - at);
        found.push(lines[at..at + count].join("\n").trim().to_owned());
        at += count;
    }
    found
}

/// A command that goes on for more lines is rather a text that never ends.
const LONGEST_COMMAND: usize = 200;

/// How many lines the first command takes.
fn first_command(lines: &[&str]) -> Option<usize> {
    let facts = Facts::new(crate::PROJECT);
    let mut run = String::new();
    let mut open: Vec<String> = Vec::new();
    for (at, line) in lines.iter().enumerate().take(LONGEST_COMMAND) {
        run.push_str(line);
        if let Some(end) = open.first() {
            // The body of a heredoc.
            if line.trim_start_matches('\t') == end {
                open.remove(0);
            }
        } else {
            open = delimiters(line);
        }
        if open.is_empty() && !line.ends_with('\\') && parse(&run, &facts).unparsed.is_none() {
            return Some(at + 1);
        }
        run.push('\n');
    }
    None
}

/// The words that end the heredocs which a line begins.
fn delimiters(line: &str) -> Vec<String> {
    let after = line.split("<<").skip(1).filter(|part| !part.is_empty() && !part.starts_with('<'));
    let words = after.map(|part| {
        let word = part.trim_start_matches('-').trim_start();
        let quoted = word.trim_start_matches(['\'', '"', '\\']);
        quoted.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect::<String>()
    });
    // `1 << 3` is a shift.
    words.filter(|word| word.starts_with(|c: char| c.is_alphabetic() || c == '_')).collect()
}

/// Whether a recipe's program is what make has from elsewhere: `$(FIND) . -name x`. Nobody runs that without it.
fn runs_what_make_knows(command: &str) -> bool {
    let programs = command.split(['\n', ';', '&', '|', '(']);
    let mut named = programs.filter_map(|part| part.trim_start_matches(['{', ' ']).strip_prefix("${")?.split_once('}'));
    named.any(|(name, rest)| (rest.is_empty() || rest.starts_with(' ')) && !command.contains(&format!("{name}=")))
}

/// The lines of the recipes of a makefile, with what its own plain assignments give put in. What they do not give is
/// a shell variable. Left out are those whose programs only make knows, and those that do not parse without what it knows.
pub fn make(text: &str) -> Vec<String> {
    let joined = text.replace("\\\r\n", "\\\n");
    let mut variables: BTreeMap<String, String> = BTreeMap::new();
    let (mut target, mut needs) = (String::new(), String::new());
    let mut recipes: Vec<(String, String, String)> = Vec::new();
    let mut lines = joined.lines();
    let mut defining = false;
    while let Some(line) = lines.next() {
        let mut line = line.to_owned();
        let recipe = line.starts_with('\t');
        while line.ends_with('\\') {
            let next = lines.next().unwrap_or_default();
            if recipe {
                // The shell gets the backslash and the line end, without the tab.
                line.push('\n');
                line.push_str(next.strip_prefix('\t').unwrap_or(next));
            } else {
                line.pop();
                line.push_str(next.trim_start());
            }
            if next.is_empty() {
                break;
            }
        }
        defining |= line.starts_with("define ");
        if defining {
            defining = !line.starts_with("endef");
        } else if recipe {
            const WORDS: [&str; 9] =
                ["ifeq", "ifneq", "ifdef", "ifndef", "else", "endif", "define", "endef", "include"];
            let word = line.split_whitespace().next().unwrap_or_default().split('(').next().unwrap_or_default();
            if !target.is_empty() && !WORDS.contains(&word) {
                recipes.push((line[1..].to_owned(), target.clone(), needs.clone()));
            }
        } else if let Some((name, value)) = assignment(&line) {
            // What is indented behind it belongs to no rule.
            target.clear();
            variables.entry(name).or_insert(value);
        } else if let Some((left, right)) = rule(&line) {
            target = left.split_whitespace().next().unwrap_or_default().to_owned();
            let right = right.trim_start_matches(':');
            needs = right.split(['|', ';', '#']).next().unwrap_or_default().trim().to_owned();
            // `target: NAME = value` is no recipe.
            if let Some((_, first)) = right.split_once(';').filter(|(needs, _)| !needs.contains('=')) {
                recipes.push((first.to_owned(), target.clone(), needs.clone()));
            }
        }
    }
    let commands = recipes.into_iter().map(|(line, target, needs)| {
        let line = line.trim_start_matches(['@', '-', '+', ' ', '\t']);
        let first = needs.split_whitespace().next().unwrap_or_default().to_owned();
        let own = |name: &str| match name {
            "@" => Some(target.clone()),
            "<" => Some(first.clone()),
            "^" | "+" | "?" => Some(needs.clone()),
            "*" => Some("${stem}".into()),
            _ => variables.get(name).cloned().or_else(|| built_in(name)),
        };
        expanded(line, &own, 0).trim().to_owned()
    });
    let whole = |command: &String| parse(command, &Facts::default()).unparsed.is_none();
    let known = |command: &String| !runs_what_make_knows(command) && whole(command);
    commands.filter(|command| !command.is_empty() && !command.starts_with('#') && known(command)).collect()
}

/// The targets of a rule, and what stands behind its colon. What stands in the brackets of a function is none.
fn rule(line: &str) -> Option<(&str, &str)> {
    let (left, right) = line.split_once(':')?;
    let open = left.matches('(').count() > left.matches(')').count();
    (!open && !left.trim_start().starts_with('#')).then_some((left, right))
}

/// What make sets by itself, as far as recipes use it.
const BUILT_IN: [(&str, &str); 12] = [
    ("MAKE", "make"),
    ("CC", "cc"),
    ("CXX", "g++"),
    ("CPP", "$(CC) -E"),
    ("AR", "ar"),
    ("AS", "as"),
    ("LD", "ld"),
    ("FC", "f77"),
    ("LEX", "lex"),
    ("YACC", "yacc"),
    ("RM", "rm -f"),
    ("CURDIR", "${PWD}"),
];

fn built_in(name: &str) -> Option<String> {
    BUILT_IN.iter().find(|(own, _)| *own == name).map(|(_, value)| (*value).to_owned())
}

/// `NAME = value` in any of make's spellings but `+=`.
fn assignment(line: &str) -> Option<(String, String)> {
    let (left, value) = line.split_once('=')?;
    let name = left.trim_end_matches([':', '?']).trim();
    let name = name.strip_prefix("export ").unwrap_or(name).trim();
    let plain = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || "_.-".contains(c));
    plain.then(|| (name.to_owned(), value.split(" #").next().unwrap_or_default().trim().to_owned()))
}

/// Make's `$` put in; `$$` is the shell's.
fn expanded(text: &str, own: &dyn Fn(&str) -> Option<String>, depth: usize) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('$') {
        out.push_str(before);
        let Some(next) = after.chars().next() else {
            rest = after;
            break;
        };
        let (name, tail) = match next {
            '$' => {
                out.push('$');
                rest = &after[1..];
                continue;
            }
            '(' | '{' => {
                let Some(end) = closing(after) else {
                    out.push('$');
                    rest = after;
                    continue;
                };
                (&after[1..end], &after[end + 1..])
            }
            _ => after.split_at(next.len_utf8()),
        };
        rest = tail;
        // What make has a shell compute, the shell of the recipe may as well.
        if let Some(command) = name.strip_prefix("shell ") {
            out.push_str(&format!("$({})", expanded(command.trim(), own, depth + 1)));
            continue;
        }
        // `$(am__v_GEN_$(V))`; automake's are empty or an `@`.
        let inner =
            if name.contains('$') && !name.contains(' ') { expanded(name, own, depth + 1) } else { name.into() };
        let name = inner.as_str();
        if name.starts_with("am__v_") || name.starts_with("AM_V_") {
            continue;
        }
        // `$(@D)` and `$(@F)` are parts of what `$@` is.
        let base = name.strip_suffix(['D', 'F']).filter(|base| matches!(*base, "@" | "<" | "*")).unwrap_or(name);
        if let Some(value) = own(base).filter(|_| depth < 8) {
            // `CC = ccache $(CC)` is what it was before.
            let others = |inner: &str| if inner == base { built_in(inner) } else { own(inner) };
            out.push_str(&expanded(&value, &others, depth + 1));
        } else {
            // A function, whose result no shell computes, or a variable from elsewhere.
            out.push_str(&variable(name.split([' ', ':', ',']).next().unwrap_or_default()));
        }
    }
    out.push_str(rest);
    out
}

/// Where the bracket that a text begins with closes.
fn closing(text: &str) -> Option<usize> {
    let (open, close) = if text.starts_with('(') { ('(', ')') } else { ('{', '}') };
    let mut depth = 0;
    for (at, c) in text.char_indices() {
        if c == open {
            depth += 1;
        } else if c == close {
            depth -= 1;
            if depth == 0 {
                return Some(at);
            }
        }
    }
    None
}

/// The lines of the recipes of a justfile; a recipe with a shell's shebang is one text, one with another's is left
/// out.
pub fn just(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        let starts = !line.starts_with([' ', '\t', '#', '[']);
        if !starts
            || !line.contains(':')
            || line.contains(":=") && !line.split(":=").next().unwrap_or_default().contains(':')
        {
            continue;
        }
        let mut body: Vec<&str> = Vec::new();
        while let Some(line) = lines.next_if(|line| line.starts_with([' ', '\t']) || line.trim().is_empty()) {
            body.push(line.trim());
        }
        let text = body.join("\n");
        if text.starts_with("#!") {
            if text.lines().next().is_some_and(|first| first.contains("sh")) {
                found.push(replaced(&text, "{{", "}}"));
            }
            continue;
        }
        let joined = text.replace("\\\n", " ");
        let commands = joined.lines().map(|line| line.trim_start_matches(['@', '-', ' ']));
        let commands = commands.filter(|line| !line.is_empty() && !line.starts_with('#'));
        found.extend(commands.map(|line| replaced(line, "{{", "}}")));
    }
    found
}

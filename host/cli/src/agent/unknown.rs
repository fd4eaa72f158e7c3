//! Tools that are in no table: what they work on, by what their fields look like.

use serde_json::{Map, Value, json};
use toolgate_host::{Field, ToolCall, ToolKind};

use super::row::{files_of, together};
use super::{Dialect, Scene, quoted};
use crate::place;

/// Keys of an unknown tool's input that hold a shell command, or whose last word is one of these.
const COMMAND_KEYS: &[&str] = &[
    "argv",
    "bash",
    "cmd",
    "cmdline",
    "cmds",
    "command",
    "commandline",
    "commands",
    "exec",
    "script",
    "shell",
    "shellcommand",
];

/// Keys that hold one if they hold a text or a list of texts, and may hold anything else.
const RUN_KEYS: &[&str] = &["execute", "run"];

/// Keys that hold a program if its words are beside it.
const PROGRAM_KEYS: &[&str] = &["bin", "binary", "exe", "executable", "process", "program"];

/// Keys that hold the words behind a program.
const ARGUMENT_KEYS: &[&str] = &["arg", "args", "argument", "argumentlist", "arguments", "argv", "params"];

/// Keys that do if they hold a list of texts.
const OPTION_KEYS: &[&str] = &["flags", "options", "parameters", "targets"];

/// Keys of what a program reads.
const STDIN_KEYS: &[&str] = &["input", "stdin"];

/// Keys of code that a tool runs.
const CODE_KEYS: &[&str] = &["code", "snippet"];

/// Keys that say which language it is in.
const LANGUAGE_KEYS: &[&str] = &["interpreter", "kernel", "lang", "language", "runtime"];

/// Languages by their names, programs, and words in the names of tools that run them, and how a shell runs a text. `REPL` and
/// `Eval` are tools of Claude Code 2.1.330.
const LANGUAGES: &[(&[&str], &str)] = &[
    (&["bash", "sh", "shell", "zsh"], "bash -c"),
    (&["ide", "ipython", "jupyter", "py", "python"], "python3 -c"),
    (&["eval", "javascript", "js", "node", "nodejs", "repl"], "node -e"),
    (&["applescript", "osascript"], "osascript -e"),
    (&["perl"], "perl -e"),
    (&["php"], "php -r"),
    (&["ruby"], "ruby -e"),
];

/// Keys that hold the input of a tool, and hold it as JSON in a text.
const INPUT_KEYS: &[&str] =
    &["args", "arguments", "call", "input", "json", "parameters", "params", "payload", "request"];

/// Keys of what a tool types into a shell.
const TYPED_KEYS: &[&str] = &["chars", "code", "data", "input", "keys", "line", "lines", "stdin", "text"];

/// Words in the name of a tool that has a shell.
#[rustfmt::skip]
const SHELLS: &[&str] = &[
    "bash", "cmd", "fish", "iterm", "iterm2", "ksh", "powershell", "pty", "pwsh", "sh", "shell", "ssh",
    "terminal", "tmux", "tty", "zsh",
];

/// Those under which a list is several commands, and not the words of one.
const SEVERAL_KEYS: &[&str] = &["cmds", "commands"];

/// Keys of an unknown tool's input that hold paths, or whose last word is one of these.
#[rustfmt::skip]
const PATH_KEYS: &[&str] = &[
    "archive", "attachment", "attachments", "cwd", "dest", "destination", "dir", "directories", "directory", "dirpath", "dirs",
    "document", "documents", "dst", "file", "filename", "filenames", "filepath", "filepaths", "files", "folder", "folders", "from",
    "fullpath", "notebook", "outfile", "output", "path", "pathname", "paths", "root", "source", "src", "target", "to", "workdir",
];

/// Keys of folders that names beside them are in.
#[rustfmt::skip]
const FOLDER_KEYS: &[&str] = &[
    "base", "basedir", "basepath", "cwd", "dir", "directory", "folder", "parent", "path", "root", "rootdir", "workdir", "workspace",
];

/// Keys of names in a folder.
const NAME_KEYS: &[&str] = &["filename", "name"];

/// Most folders of an object that names are put behind, and most names behind each.
const MOST_JOINED: usize = 16;

/// Keys of texts that are said, typed or looked for, and are no paths if they look like one: `{"query": ".env"}`.
#[rustfmt::skip]
const SAID_KEYS: &[&str] = &[
    "body", "caption", "comment", "description", "element", "glob", "instruction", "instructions", "keyword", "keywords", "label",
    "labels", "message", "pattern", "prompt", "q", "query", "question", "reason", "ref", "regex", "selector", "subject", "summary",
    "text", "thought", "title", "topic", "value", "xpath",
];

/// Longest text that may look like a path, in bytes.
const LONGEST_PATH: usize = 4096;

/// Keys of an unknown tool's input that hold URLs, of which those of files count as paths.
const URL_KEYS: &[&str] = &["href", "link", "links", "uri", "uris", "url", "urls"];

/// Keys of an unknown tool's input that hold what it writes, or what it replaces.
#[rustfmt::skip]
const CONTENT_KEYS: &[&str] = &[
    "content", "contents", "data", "diff", "edits", "filetext", "newstr", "newstring", "newtext", "oldstr", "oldstring", "oldtext",
    "replacement",
];

/// Those that hold something else where no path is beside them.
const DATA_KEYS: &[&str] = &["data"];

/// Words in the name of a tool that writes to what it names.
#[rustfmt::skip]
const WRITES: &[&str] = &[
    "append", "apply", "chmod", "chown", "create", "download", "edit", "export", "hardlink", "insert", "make", "mkdir", "modify",
    "overwrite", "patch", "put", "replace", "rewrite", "save", "screenshot", "set", "store", "symlink", "touch", "truncate",
    "update", "upload", "write",
];

/// Words in the name of a tool that runs code.
const EVALUATES: &[&str] = &["eval", "exec", "execute", "interpreter", "jupyter", "kernel", "repl", "run"];

/// Words in the name of a tool that types nothing, if none of [`TYPES`] is in it.
const READS: &[&str] = &["find", "get", "grep", "history", "list", "query", "read", "search", "show"];

/// Words in the name of a tool that types: `send_keys_and_read`.
const TYPES: &[&str] = &["exec", "execute", "input", "paste", "press", "run", "send", "type", "write"];

/// Words in the name of a tool that reads whatever is below a folder.
const SEARCHES: &[&str] = &["grep", "rg", "ripgrep"];

/// The word for it that others have as well: those that look for names, which have one of [`NAMES`] beside it.
const SEARCH: &[&str] = &["search"];

/// What a tool looks for that reads no content.
const NAMES: &[&str] = &["directories", "files", "folders", "symbol", "symbols"];

/// Words in the name of a tool that gives files another place.
const MOVES: &[&str] = &["move", "mv", "rename"];

/// Words in the name of a tool that removes what it names.
const REMOVES: &[&str] = &["delete", "erase", "purge", "remove", "rm", "rmdir", "trash", "unlink", "wipe"];

/// Words in the name of a tool that makes files like others.
const COPIES: &[&str] = &["copy", "cp", "duplicate"];

/// Words in the name of a tool that takes an archive apart.
const UNPACKS: &[&str] = &["extract", "unpack", "untar", "unzip"];

/// What a verb may be one word with: `writefile`, `filedelete`.
const THINGS: &[&str] = &["dir", "directory", "file", "files", "folder", "path"];

/// Keys of what a tool with several uses is to do.
const DEED_KEYS: &[&str] = &["action", "method", "mode", "op", "operation", "tool", "toolname", "verb"];

/// Longest text there that is read for verbs, in bytes.
const LONGEST_DEED: usize = 64;

/// Keys of what is written, whatever the tool is called, or first words of such: `output_file`, `saveTo`.
const TARGET_KEYS: &[&str] = &["dest", "destination", "download", "dst", "export", "out", "output", "save"];

/// Those that are if a source is beside them.
const TO_KEYS: &[&str] = &["target", "to"];

/// Keys of what is copied or unpacked.
const SOURCE_KEYS: &[&str] = &["archive", "from", "source", "src"];

/// Keys by which a call of another tool names it.
const CALL_KEYS: &[&str] = &["name", "recipientname", "tool", "toolname"];

/// Most calls of other tools in an input.
const MOST_CALLS: usize = 64;

/// How a patch begins that names its files itself.
const PATCH: &str = "*** Begin Patch";

/// How much of a place in an input is kept, in bytes.
const MAX_PLACE: usize = 200;

/// How deep into an unknown tool's input is looked.
const DEPTH: usize = 64;

/// A call of which not even the input is the tool's own.
pub(super) fn guess(agent: &dyn Dialect, scene: &Scene, name: &str, input: &Value) -> Result<ToolCall, String> {
    let context = json!({ "schema": 1, "agent": agent.name(), "session": scene.session });
    let call = ToolCall {
        home: place::home(),
        workspace_root: scene.root.clone(),
        context: context.to_string(),
        ..ToolCall::new(name, ToolKind::Other, &scene.cwd)
    };
    guessed(name, input, call)
}

/// Fills in what a tool works on that is in no table, with the calls of the agent's own tools that its input holds: `batch` of
/// OpenCode takes `{"tool_calls": [{"tool": "write", "parameters": {..}}]}`.
pub(super) fn guessed_with_calls(
    agent: &dyn Dialect,
    name: &str,
    input: &Value,
    call: ToolCall,
) -> Result<ToolCall, String> {
    let mut inner = Vec::new();
    calls_in(agent, input, DEPTH, &mut inner);
    let mut whole = guessed(name, input, call.clone())?;
    if inner.is_empty() {
        return Ok(whole);
    }
    if inner.len() > MOST_CALLS {
        return Err(format!("the input of {name} has more calls in it than are judged at once"));
    }
    let mut commands: Vec<Field> = whole.command.take().into_iter().collect();
    let field = |value: String| Field { name: "command".to_owned(), value };
    if whole.kind == ToolKind::Edit {
        whole.kind = ToolKind::Other;
        commands.push(field(format!("touch -- {}", as_words(&whole.paths))));
    }
    for (tool, input) in inner {
        let made = super::read(agent, tool, input, call.clone())?;
        let paths = as_words(&made.paths);
        let text = made.command.as_ref().map(|command| quoted(&command.value));
        commands.extend(match (made.kind, text) {
            (ToolKind::Shell, Some(text)) => Some(field(format!("cd {} && eval {text}", quoted(&made.cwd)))),
            (_, Some(text)) => Some(field(format!("apply_patch {text}"))),
            (ToolKind::Search, None) if paths.is_empty() => Some(field("grep -r . .".to_owned())),
            (_, None) if paths.is_empty() => None,
            (ToolKind::Write | ToolKind::Edit, None) => Some(field(format!("touch -- {paths}"))),
            (ToolKind::Search, None) => Some(field(format!("grep -r . -- {paths}"))),
            (ToolKind::List, None) => Some(field(format!("ls -- {paths}"))),
            (_, None) => Some(field(format!("cat -- {paths}"))),
        });
        whole.globs.extend(made.globs);
    }
    whole.command = together(commands);
    Ok(whole)
}

/// The calls of the agent's own tools in a value: their names and their inputs.
fn calls_in<'a>(agent: &dyn Dialect, value: &'a Value, depth: usize, found: &mut Vec<(&'static str, &'a Value)>) {
    match value {
        _ if depth == 0 => {}
        Value::Array(items) => items.iter().for_each(|item| calls_in(agent, item, depth - 1, found)),
        Value::Object(fields) => {
            let named = fields.iter().filter(|(key, _)| is(CALL_KEYS, key)).find_map(|(_, value)| {
                // `functions.bash`
                let name = value.as_str()?.rsplit('.').next()?;
                agent.tools().iter().find(|tool| tool.name == name)
            });
            let input = fields.iter().find(|(key, value)| is(INPUT_KEYS, key) && value.is_object());
            if let (Some(tool), Some((_, input))) = (named, input) {
                found.push((tool.name, input));
            }
            fields.values().for_each(|value| calls_in(agent, value, depth - 1, found));
        }
        _ => {}
    }
}

/// Paths as the words of a command, with a tilde for the home folder.
fn as_words(paths: &[Field]) -> String {
    let word = |path: &Field| match path.value.strip_prefix("~/") {
        Some(rest) => format!("~/{}", quoted(rest)),
        None if path.value == "~" => "~".to_owned(),
        None => quoted(&path.value),
    };
    paths.iter().map(word).collect::<Vec<_>>().join(" ")
}

/// Fills in what a tool works on that is in no table.
pub(super) fn guessed(name: &str, input: &Value, mut call: ToolCall) -> Result<ToolCall, String> {
    if !input.is_object() {
        return Err(format!("the input of {name} is not a JSON object"));
    }
    call.input = input.to_string();
    let words = words_of(name);
    let says = |verbs: &[&str]| words.iter().any(|word| verbs.contains(&word.as_str()));
    // `iTerm` is two words by its capital letter.
    let has_shell = says(SHELLS) || words.windows(2).any(|pair| SHELLS.contains(&pair.concat().as_str()));
    let types = has_shell && (!says(READS) || says(TYPES));
    // A tool for a language runs it.
    let language = words.iter().find_map(|word| runner(word)).filter(|_| !types && !says(READS));
    let evaluates = language.is_some() || says(EVALUATES);
    let mut found = Found { types, evaluates, language, ..Found::default() };
    found.read("", input, DEPTH, false)?;
    let Found { mut commands, paths, named, targets, deeds, content, .. } = found;
    let told = |verbs: &[&str]| deeds.iter().any(|word| is_verb(verbs, word));
    let does = |verbs: &[&str]| told(verbs) || words.iter().any(|word| is_verb(verbs, word));
    if let Some(first) = paths.first() {
        let field = |value: String| Field { name: first.name.clone(), value };
        let (runs, several) = (!commands.is_empty(), paths.len() > 1);
        let writes = content || does(WRITES) || does(MOVES) && (runs || !several);
        // Where a command puts something is its last word.
        let (last, others): (Vec<Field>, Vec<Field>) =
            paths.iter().cloned().partition(|path| targets.contains(&path.name));
        let placed = format!("{} {}", as_words(&others), as_words(&last));
        // By its name, or by what it is told, it does what a shell would be told like this.
        let mut done = Vec::new();
        if told(REMOVES) || !runs && does(REMOVES) {
            done.push(format!("rm -rf -- {}", as_words(&paths)));
        }
        if !runs && several && does(MOVES) {
            done.push(format!("mv -- {placed}"));
        }
        if !runs && several && does(COPIES) {
            done.push(format!("cp -r -- {placed}"));
        }
        if !runs && does(UNPACKS) && !last.is_empty() && !others.is_empty() {
            done.push(format!("cp -r -- {}/. {}", as_words(&others), as_words(&last)));
        }
        let does_nothing = !runs && done.is_empty();
        if does_nothing && (writes || others.is_empty()) {
            call.kind = ToolKind::Edit;
        } else if writes {
            // Some tools have a key `command` for what they are to do.
            done.push(format!("touch -- {}", as_words(&paths)));
        } else if done.is_empty() && !last.is_empty() {
            done.push(format!("touch -- {}", as_words(&last)));
        } else if does_nothing && (says(SEARCHES) || says(SEARCH) && !says(NAMES)) {
            call.kind = ToolKind::Search;
        }
        commands.extend(done.into_iter().map(field));
    }
    call.paths.extend(paths);
    call.paths.extend(named);
    call.command = together(commands);
    Ok(call)
}

/// What the fields of a tool that no table knows look like, at any depth.
#[derive(Default)]
struct Found {
    /// Whether the tool types into a shell what it is given.
    types: bool,
    /// Whether it runs code.
    evaluates: bool,
    /// How a shell runs code of the language that the tool's name says.
    language: Option<&'static str>,
    commands: Vec<Field>,
    /// What the tool works on.
    paths: Vec<Field>,
    /// Paths that it may work on, or only speak of.
    named: Vec<Field>,
    /// The places of those that are written, whatever the tool is called.
    targets: Vec<String>,
    /// The words of what it is told to do.
    deeds: Vec<String>,
    /// Whether there is something that is to be written.
    content: bool,
}

impl Found {
    /// Reads a value at this place in the input. What is in the content of a file, as JSON, is no call.
    fn read(&mut self, at: &str, value: &Value, depth: usize, content: bool) -> Result<(), String> {
        if depth == 0 {
            return Err("the input nests too deeply to be judged".to_owned());
        }
        let key = key_of(at);
        let is_typed = self.types && is(TYPED_KEYS, key) && !(content && is(DATA_KEYS, key));
        let field = |value: String| Field { name: at.to_owned(), value };
        match value {
            Value::Object(_) if is(COMMAND_KEYS, key) && !is(SEVERAL_KEYS, key) => {
                Err(format!("the field {at} looks like a command and is an object"))
            }
            Value::Object(fields) if is(SEVERAL_KEYS, key) => {
                let texts = fields.values().map(|value| value.as_str().map(|text| field(text.to_owned())));
                let texts: Option<Vec<Field>> = texts.collect();
                self.commands.extend(
                    texts.ok_or_else(|| format!("the field {at} looks like commands, and one of them is no text"))?,
                );
                Ok(())
            }
            Value::Object(fields) => self.fields(at, fields, depth, content),
            // `["bash", "-c", "..."]`: one command as its words. Under a key for several, each is one of its own.
            Value::Array(items) if is(COMMAND_KEYS, key) && !is(SEVERAL_KEYS, key) => {
                self.commands.push(field(words(at, items)?));
                Ok(())
            }
            Value::Array(items) if is(RUN_KEYS, key) => {
                let texts: Vec<Value> = items.iter().filter(|item| !is_nested(item)).cloned().collect();
                self.commands.extend(either(&texts).into_iter().map(field));
                items
                    .iter()
                    .enumerate()
                    .filter(|(_, item)| is_nested(item))
                    .try_for_each(|(index, value)| self.read(&below(at, &index.to_string()), value, depth - 1, content))
            }
            // Several commands, one of which is its words.
            Value::Array(items) if is(SEVERAL_KEYS, key) && items.iter().any(Value::is_array) => {
                for item in items {
                    let value = match item {
                        Value::Array(items) => words(at, items)?,
                        Value::String(text) => text.clone(),
                        _ => return Err(format!("the field {at} looks like commands, and one of them is no text")),
                    };
                    self.commands.push(field(value));
                }
                Ok(())
            }
            Value::Array(items) => {
                // `{"path": [".claude", "settings.json"]}`
                if is_path(key) && !key.ends_with(['s', 'S']) && items.len() > 1 {
                    let parts: Option<Vec<&str>> = items.iter().map(Value::as_str).collect();
                    self.paths.extend(parts.map(|parts| field(parts.join("/"))));
                }
                if is_typed {
                    self.commands.extend(joined(items).into_iter().map(field));
                }
                items
                    .iter()
                    .enumerate()
                    .try_for_each(|(index, value)| self.read(&below(at, &index.to_string()), value, depth - 1, content))
            }
            Value::String(text) => {
                self.text(at, text, is_typed);
                if content {
                    return Ok(());
                }
                // The input of another tool may be anywhere, as a text of it.
                for inner in documents(text) {
                    if is(INPUT_KEYS, key) || is_path(key) {
                        self.read(at, &inner, depth - 1, content)?;
                        continue;
                    }
                    // It may as well be a document of any kind: only what reads as a command counts.
                    let (types, evaluates, language) = (self.types, self.evaluates, self.language);
                    let mut found = Found { types, evaluates, language, ..Found::default() };
                    drop(found.read(at, &inner, depth - 1, content));
                    self.commands.append(&mut found.commands);
                    if is(DATA_KEYS, key) && found.content {
                        self.paths.append(&mut found.paths);
                        self.content = true;
                    }
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn fields(&mut self, at: &str, fields: &Map<String, Value>, depth: usize, content: bool) -> Result<(), String> {
        let is_list = |value: &Value| value.as_array().is_some_and(|items| items.iter().all(Value::is_string));
        let is_argument = |key: &str, value: &Value| is(ARGUMENT_KEYS, key) || is(OPTION_KEYS, key) && is_list(value);
        let arguments: Vec<&Value> =
            fields.iter().filter(|(key, value)| is_argument(key, value)).map(|(_, value)| value).collect();
        let has_path = fields.keys().any(|key| is_path(key) || is(URL_KEYS, key));
        let has_source = fields.keys().any(|key| is(SOURCE_KEYS, key));
        self.content |= fields.keys().any(|key| is(CONTENT_KEYS, key));
        // `{"file": {"name": "a"}}`, and `{"files": {"a": "its content"}}`
        let is_file = is_path(key_of(at));
        for (key, value) in fields {
            let mut is_content = is(CONTENT_KEYS, key) && (has_path || !is(DATA_KEYS, key));
            if let (true, Value::String(text)) = (is_file, value) {
                let field = |value: &str| Field { name: below(at, "name"), value: value.to_owned() };
                if key == "name" {
                    self.paths.push(field(text));
                } else if key.contains(['/', '.']) {
                    self.paths.push(field(key));
                    (self.content, is_content) = (true, true);
                }
            }
            if is_target(key, has_source) {
                self.targets.push(below(at, key));
            }
            let content = content || is_content;
            let at = below(at, key);
            let is_program = [COMMAND_KEYS, PROGRAM_KEYS, RUN_KEYS].iter().any(|keys| is(keys, key));
            match value {
                // `{"command": "rm", "args": ["-rf", "/"]}`
                Value::String(program) if is_program && !is(ARGUMENT_KEYS, key) && !arguments.is_empty() => {
                    let mut command = program.clone();
                    for arguments in &arguments {
                        command.push(' ');
                        command.push_str(&match arguments {
                            Value::Array(items) => words(&at, items)?,
                            Value::String(text) => text.clone(),
                            Value::Object(_) => leaves(arguments, depth).join(" "),
                            _ => String::new(),
                        });
                    }
                    if program.trim().contains(char::is_whitespace) {
                        // Such a text is a command already, and what is beside it may be for something else.
                        self.commands.push(Field { name: at.clone(), value: program.clone() });
                    }
                    self.commands.push(Field { name: at, value: command });
                }
                _ => self.read(&at, value, depth - 1, content)?,
            }
        }
        self.join(at, fields);
        if !content {
            self.code(at, fields);
        }
        Ok(())
    }

    /// Code beside the name of its language, and a text beside the program that reads it.
    fn code(&mut self, at: &str, fields: &Map<String, Value>) {
        let texts = |keys: &'static [&'static str]| {
            let named = fields.iter().filter(move |(key, _)| is(keys, key));
            named.filter_map(|(key, value)| Some((key, value.as_str()?)))
        };
        let field = |key: &str, runner: &str, text: &str| Field {
            name: below(at, key),
            value: format!("{runner} {}", quoted(text)),
        };
        let said = texts(LANGUAGE_KEYS).next().map(|(_, language)| language);
        if let (true, Some(runner)) = (self.evaluates, said.map_or(self.language, runner)) {
            self.commands.extend(texts(CODE_KEYS).map(|(key, text)| field(key, runner, text)));
        }
        // `{"command": "/bin/sh", "stdin": "ls"}`
        let mut programs = texts(COMMAND_KEYS).chain(texts(PROGRAM_KEYS));
        if let Some(runner) = programs.find_map(|(_, program)| runner(program.rsplit('/').next()?)) {
            self.commands.extend(texts(STDIN_KEYS).map(|(key, text)| field(key, runner, text)));
        }
    }

    fn text(&mut self, at: &str, text: &str, is_typed: bool) {
        let key = key_of(at);
        let field = |value: String| Field { name: at.to_owned(), value };
        if text.trim_start().starts_with(PATCH) {
            self.commands.push(field(format!("apply_patch {}", quoted(text))));
            return;
        }
        // What is in capital letters is a method of HTTP, and its path is a server's.
        let is_http = is(&["method"], key) && text.chars().all(|c| c.is_ascii_uppercase());
        if is(DEED_KEYS, key) && text.len() <= LONGEST_DEED && !is_http {
            self.deeds.extend(words_of(text));
        }
        if is(COMMAND_KEYS, key) || is(RUN_KEYS, key) || is_typed {
            // `{"command": "delete", "path": "a"}`
            if is_verb(REMOVES, text) {
                self.deeds.push(text.to_owned());
            }
            self.commands.push(field(text.to_owned()));
            return;
        }
        let files = files_of(&field(text.to_owned()));
        if !files.is_empty() {
            self.paths.extend(files);
        } else if is(URL_KEYS, key) {
            // Some readers take a path as well.
            if text.trim_start().starts_with(['/', '~', '.']) {
                self.named.push(field(text.to_owned()));
            }
        } else if is_path(key) && !text.starts_with("http://") && !text.starts_with("https://") {
            // What is fetched from elsewhere is no path here.
            self.paths.push(field(text.to_owned()));
        } else if looks_like_path(key, text) {
            self.named.push(field(text.to_owned()));
        }
    }

    /// Names in folders that are beside them: `{"dir": "a", "filename": "b"}`.
    fn join(&mut self, at: &str, fields: &Map<String, Value>) {
        let folders = fields.iter().filter(|(key, _)| is(FOLDER_KEYS, key));
        let folders = folders.filter_map(|(key, value)| Some((key, value.as_str()?)));
        for (folder_key, folder) in folders.filter(|(_, folder)| !folder.contains("://")).take(MOST_JOINED) {
            // What is called a path is a folder if a name is beside it.
            let is_whole = is(&["path"], folder_key) && !is(&["basepath"], folder_key);
            let is_name = |key: &str| NAME_KEYS.contains(&words_of(key).concat().as_str());
            let fits = |key: &str| is_name(key) || !is_whole && is_path(key);
            let names = fields.iter().filter(|(key, _)| *key != folder_key && fits(key));
            let names = names.filter_map(|(key, value)| Some((key, value.as_str()?)));
            let inside = names.filter(|(_, name)| !name.starts_with(['/', '~']) && !name.contains("://"));
            for (key, name) in inside.take(MOST_JOINED) {
                let value = format!("{}/{name}", folder.trim_end_matches('/'));
                self.paths.push(Field { name: below(at, key), value });
            }
        }
    }
}

/// A place below another one, of which only the end is kept: names may be as long as an input.
fn below(at: &str, part: &str) -> String {
    let at = at.get(at.floor_char_boundary(at.len().saturating_sub(MAX_PLACE))..).unwrap_or_default();
    if at.is_empty() { part.to_owned() } else { format!("{at}/{part}") }
}

/// The objects and lists that a text is as JSON: one, several one after the other, or one as a text in JSON.
fn documents(text: &str) -> Vec<Value> {
    let text = text.trim_start_matches('\u{feff}').trim_start();
    if !text.starts_with(['{', '[', '"']) {
        return Vec::new();
    }
    let all = serde_json::Deserializer::from_str(text).into_iter::<Value>();
    all.map_while(Result::ok).filter(|value| is_nested(value) || value.is_string()).collect()
}

/// The key that a place in an input ends with, or that of the list that it is in.
fn key_of(at: &str) -> &str {
    at.rsplit('/').find(|part| part.parse::<usize>().is_err()).unwrap_or("")
}

fn is_nested(value: &Value) -> bool {
    value.is_object() || value.is_array()
}

/// The commands that a list of texts may be: one as its words, several, or either.
fn either(texts: &[Value]) -> Vec<String> {
    let has_blank = |text: &&str| text.trim().contains(char::is_whitespace);
    let all: Vec<&str> = texts.iter().filter_map(Value::as_str).collect();
    let Some(first) = all.first() else { return Vec::new() };
    let mut commands = Vec::new();
    if has_blank(first) {
        return all.into_iter().map(str::to_owned).collect();
    }
    commands.extend(words("", texts));
    // A word that has blanks is rather an argument where there are options.
    if !all.iter().any(|text| text.starts_with('-')) {
        commands.extend(all.into_iter().filter(has_blank).map(str::to_owned));
    }
    commands
}

/// What a list comes to that is typed one after the other: keys, pieces, words or lines.
fn joined(items: &[Value]) -> Vec<String> {
    let piece = |item: &Value| match item {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        // `[{"key": "l"}, {"key": "s"}]`
        Value::Object(fields) => {
            fields.iter().find(|(key, _)| is(TYPED_KEYS, key) || is(&["key"], key))?.1.as_str().map(str::to_owned)
        }
        _ => None,
    };
    let pieces: Vec<String> = items.iter().filter_map(piece).collect();
    // What is one piece is read as such.
    if pieces.len() < 2 { Vec::new() } else { ["", " ", "\n"].map(|between| pieces.join(between)).into() }
}

/// The texts in a value, as words, whatever they are called there.
fn leaves(value: &Value, depth: usize) -> Vec<String> {
    match value {
        _ if depth == 0 => Vec::new(),
        Value::Object(fields) => fields.values().flat_map(|value| leaves(value, depth - 1)).collect(),
        Value::Array(items) => items.iter().flat_map(|value| leaves(value, depth - 1)).collect(),
        Value::String(text) => vec![quoted(text)],
        _ => Vec::new(),
    }
}

/// The words of one command, written as a shell would need them. A list or an object is no word.
fn words(at: &str, items: &[Value]) -> Result<String, String> {
    let words: Result<Vec<String>, String> = items
        .iter()
        .map(|item| match item {
            Value::String(word) => Ok(quoted(word)),
            Value::Number(_) | Value::Bool(_) | Value::Null => Ok(item.to_string()),
            _ => Err(format!("the field {at} looks like a command, and one of its words is no text")),
        })
        .collect();
    Ok(words?.join(" "))
}

/// Whether a key is among these as a whole or by its last word, however it is cased, joined and numbered: `filePath`,
/// `file_path_1`, `FILE-PATH`.
fn is(keys: &[&str], key: &str) -> bool {
    let words = words_of(key.trim_end_matches(|c: char| c.is_ascii_digit()));
    let whole = words.concat();
    keys.iter().any(|known| *known == whole || words.last().is_some_and(|last| last == known))
}

/// How a shell runs a text in a language, by its name or that of its program, with or without a version.
fn runner(name: &str) -> Option<&'static str> {
    let name = name.trim().to_ascii_lowercase();
    let name = name.trim_end_matches(|c: char| c.is_ascii_digit() || ". ".contains(c));
    LANGUAGES.iter().find(|(names, _)| names.contains(&name)).map(|(_, runner)| *runner)
}

/// Whether a key holds a path: `path`, and `pathInProject`.
fn is_path(key: &str) -> bool {
    let joins = |word: &String| ["from", "in", "of", "to"].contains(&word.as_str());
    is(PATH_KEYS, key) || matches!(words_of(key).as_slice(), [first, second, ..] if first == "path" && joins(second))
}

/// Whether a text under such a key looks like a path: it begins at the root, in the home folder or in this one, or with a hidden
/// file's name.
fn looks_like_path(key: &str, text: &str) -> bool {
    let begins = ["/", "~/", "./", "../"].iter().any(|start| text.starts_with(start));
    // A thing may be called `.env` that is no file.
    let is_hidden = || text.starts_with('.') && !is(NAME_KEYS, key);
    let fits = text.len() <= LONGEST_PATH && !text.contains('\n');
    fits && (begins || is_hidden()) && !is(SAID_KEYS, key) && !is(CONTENT_KEYS, key)
}

/// Whether a word is one of these verbs, perhaps in one with what it is about.
fn is_verb(verbs: &[&str], word: &str) -> bool {
    let about = |rest: Option<&str>| rest.is_some_and(|rest| THINGS.contains(&rest));
    // A makefile is nothing that is done.
    let glued = |verb: &str| word != "makefile" && (about(word.strip_prefix(verb)) || about(word.strip_suffix(verb)));
    verbs.iter().any(|verb| *verb == word || glued(verb))
}

/// Whether a key says where something is written to.
fn is_target(key: &str, has_source: bool) -> bool {
    let first = words_of(key).into_iter().next().unwrap_or_default();
    is_path(key) && (TARGET_KEYS.contains(&first.as_str()) || has_source && is(TO_KEYS, key))
}

/// The words of a name, in small letters.
fn words_of(name: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut lower = false;
    for c in name.chars() {
        let new = !c.is_ascii_alphanumeric() || (lower && c.is_ascii_uppercase());
        if new || words.is_empty() {
            words.push(String::new());
        }
        lower = c.is_ascii_lowercase() || c.is_ascii_digit();
        if let (Some(word), true) = (words.last_mut(), c.is_ascii_alphanumeric()) {
            word.push(c.to_ascii_lowercase());
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_tools_are_read_by_what_their_fields_look_like() {
        let cases = [
            (json!({"command": "ls"}), Some(("command", "ls")), vec![]),
            (json!({"command": ["sh", "-c", "a b"]}), Some(("command", "sh -c 'a b'")), vec![]),
            (json!({"args": {"cmd": "ls"}, "x": 1}), Some(("args/cmd", "ls")), vec![]),
            (json!({"cmd": "a", "script": "b c"}), Some(("cmd", "(eval a) &\n(eval 'b c') &")), vec![]),
            (json!({"commands": ["a b", "c"]}), Some(("commands/0", "(eval 'a b') &\n(eval c) &")), vec![]),
            (json!({"command": ["rm", "-rf", "/", 1]}), Some(("command", "rm -rf / 1")), vec![]),
            (json!({"Command": "rm", "args": ["-rf", "a b"]}), Some(("Command", "rm -rf 'a b'")), vec![]),
            (json!({"filePath": "a", "FILE_PATHS": ["b"]}), None, vec![("filePath", "a"), ("FILE_PATHS/0", "b")]),
            (
                json!({"edits": [{"path": "a"}, {"path": "b"}]}),
                None,
                vec![("edits/0/path", "a"), ("edits/1/path", "b")],
            ),
            (json!({"paths": ["a"], "uri": "file:///b"}), None, vec![("paths/0", "a"), ("uri", "/b")]),
            (json!({"text": "rm -rf /", "n": 3}), None, vec![]),
            (json!({"commandLine": "a"}), Some(("commandLine", "a")), vec![]),
            (json!({"argv": ["rm", "x"]}), Some(("argv", "rm x")), vec![]),
            (
                json!({"download_path": "a", "transcript": "b", "outputFile": "c"}),
                None,
                vec![("download_path", "a"), ("outputFile", "c")],
            ),
            (json!({"url": "file:/a%2Fb", "link": " FILE:///c "}), None, vec![("url", "/a/b"), ("link", "/c")]),
            (json!({"program": "rm", "args": ["-rf", "a"]}), Some(("program", "rm -rf a")), vec![]),
            (json!({"program": "a", "run": {"id": "a"}}), None, vec![]),
            (json!({"run": ["rm", "-rf", "a b", 1]}), Some(("run", "rm -rf 'a b' 1")), vec![]),
            (json!({"execute": ["a b", "c"]}), Some(("execute", "(eval 'a b') &\n(eval c) &")), vec![]),
            (json!({"run": ["a", "b c"]}), Some(("run", "(eval 'a '\\''b c'\\''') &\n(eval 'b c') &")), vec![]),
            (json!({"run": [["a", "b"], {"cmd": "c"}]}), Some(("run/0", "(eval 'a b') &\n(eval c) &")), vec![]),
            (json!({"run": ["rm", "-rf", {"id": 1}, "a"]}), Some(("run", "rm -rf a")), vec![]),
            (json!({"run": [1, 2]}), None, vec![]),
            (json!({"run": "rm", "args": ["-rf", "a"]}), Some(("run", "rm -rf a")), vec![]),
            (json!({"steps": [{"run": "a"}, {"run": "b"}]}), Some(("steps/0/run", "(eval a) &\n(eval b) &")), vec![]),
            (
                json!({"input": "{\"command\": \"a\", \"file\": \"b\"}"}),
                Some(("input/command", "a")),
                vec![("input/file", "b")],
            ),
            (json!({"request": " [{\"cmd\": \"a\"}]"}), Some(("request/0/cmd", "a")), vec![]),
            (json!({"body": "{\"cmd\": \"a\"}"}), Some(("body/cmd", "a")), vec![]),
            (json!({"data": "{\"cmd\": \"a\"}"}), Some(("data/cmd", "a")), vec![]),
            (json!({"paths": "[\"a\"]"}), None, vec![("paths", "[\"a\"]"), ("paths/0", "a")]),
            (json!({"path": "a", "new_string": "{\"cmd\": {}}"}), None, vec![("path", "a")]),
            (json!({"path": "a", "data": "{\"cmd\": \"a\"}"}), None, vec![("path", "a")]),
            (json!({"path": "a", "content": [{"text": "{\"cmd\": \"a\"}"}]}), None, vec![("path", "a")]),
            (json!({"input": "{a", "content": "{\"command\": \"a\"}"}), None, vec![]),
            (json!({"a": "/x", "query": "/y", "b": "z", "c": "/x y\n"}), None, vec![("a", "/x")]),
            (json!({"name": ".env", "c": ".env"}), None, vec![("c", ".env")]),
            (json!({"file_1": "a", "pathInProject": "b"}), None, vec![("file_1", "a"), ("pathInProject", "b")]),
            (json!({"root": "/a/", "path": "b"}), None, vec![("root", "/a/"), ("path", "b"), ("path", "/a/b")]),
            (json!({"dir": "a", "name": "b"}), None, vec![("dir", "a"), ("name", "a/b")]),
            (json!({"dir": "a", "path": "/b"}), None, vec![("dir", "a"), ("path", "/b")]),
            (json!({"path": ["a", "b"]}), None, vec![("path", "a/b"), ("path/0", "a"), ("path/1", "b")]),
            (json!({"source": "a", "dest": "b"}), Some(("source", "touch -- b")), vec![("source", "a"), ("dest", "b")]),
            (json!({"action": "rm", "path": "~/a"}), Some(("path", "rm -rf -- ~/a")), vec![("path", "~/a")]),
            (json!({"method": "DELETE", "path": "/a"}), None, vec![("path", "/a")]),
            (json!({"command": "rm", "options": ["-rf", "a"]}), Some(("command", "rm -rf a")), vec![]),
            (json!({"command": "sh", "stdin": "a"}), Some(("command", "(eval sh) &\n(eval 'bash -c a') &")), vec![]),
            (json!({"x": "*** Begin Patch\n"}), Some(("x", "apply_patch '*** Begin Patch\n'")), vec![]),
        ];
        for (input, command, paths) in cases {
            let call = guessed("mcp__x", &input, ToolCall::new("x", ToolKind::Other, "/")).expect("an object");
            let pair = |field: &Field| (field.name.clone(), field.value.clone());
            let own = |(a, b): (&str, &str)| (a.to_owned(), b.to_owned());
            assert_eq!(call.command.as_ref().map(pair), command.map(own), "{input}");
            assert_eq!(call.paths.iter().map(pair).collect::<Vec<_>>(), paths.into_iter().map(own).collect::<Vec<_>>());
        }
    }

    #[test]
    fn calls_in_an_input_are_read_by_the_agents_table() {
        let input = json!({"tool_calls": [
            {"tool": "bash", "parameters": {"command": "a", "workdir": "b"}},
            {"tool": "functions.read", "parameters": {"filePath": "/c"}},
            {"tool": "grep", "parameters": {"pattern": "x"}},
            {"tool": "another", "parameters": {"x": 1}},
        ]});
        let call = ToolCall::new("batch", ToolKind::Other, "/w");
        let agent = &crate::agent::opencode::OpenCode;
        let made = guessed_with_calls(agent, "batch", &input, call.clone()).expect("a call");
        let command = made.command.expect("a command").value;
        for expected in ["cd /w/b && eval a", "cat -- /c", "grep -r . ."] {
            assert!(command.contains(expected), "{expected}: {command}");
        }
        let input = json!({"tool_calls": [{"tool": "write", "parameters": {"content": "x"}}]});
        assert!(guessed_with_calls(agent, "batch", &input, call).is_err());
    }

    #[test]
    fn what_is_typed_into_a_shell_is_a_command() {
        // The tool, its input, and the command; none where it cannot be told.
        let cases = [
            ("mcp__terminal__send_keys", json!({"keys": "a b"}), Ok(Some("a b"))),
            ("mcp__x__sh", json!({"lines": ["a"], "text": 1}), Ok(Some("a"))),
            ("mcp__bash__go", json!({"command": "a", "text": "b"}), Ok(Some("(eval a) &\n(eval b) &"))),
            ("mcp__bash__go", json!({"command": " ", "text": "b"}), Ok(Some("(eval ' ') &\n(eval b) &"))),
            ("mcp__tmux__send", json!({"data": "a b"}), Ok(Some("a b"))),
            ("mcp__iTerm__x", json!({"chars": "a b"}), Ok(Some("a b"))),
            ("mcp__tmux__send_keys_and_read", json!({"keys": "a"}), Ok(Some("a"))),
            (
                "mcp__tmux__keys",
                json!({"keys": ["l", "s"]}),
                Ok(Some("(eval ls) &\n(eval 'l s') &\n(eval 'l\ns') &\n(eval l) &\n(eval s) &")),
            ),
            (
                "mcp__pty__x",
                json!({"keys": [{"key": "l"}, {"key": "s"}]}),
                Ok(Some("(eval ls) &\n(eval 'l s') &\n(eval 'l\ns') &")),
            ),
            ("mcp__shell__put", json!({"path": "a", "data": "don't"}), Ok(None)),
            ("mcp__ssh__list", json!({"key": "don't"}), Ok(None)),
            ("mcp__sh__go", json!({"body": "{\"text\": \"a\"}"}), Ok(Some("a"))),
            ("mcp__x", json!({"body": "{\"cmd\":\"a\"}\n{\"cmd\":\"b\"} x"}), Ok(Some("(eval a) &\n(eval b) &"))),
            ("mcp__x", json!({"body": "\u{feff}{\"cmd\":\"a\"}"}), Ok(Some("a"))),
            ("mcp__x", json!({"body": "\"{\\\"cmd\\\":\\\"a\\\"}\""}), Ok(Some("a"))),
            ("mcp__x", json!({"body": "{\"command\": {\"name\": \"x\"}, \"path\": \"/etc\"}"}), Ok(None)),
            ("mcp__x", json!({"command": "rm", "args": [], "params": ["-rf", "a"]}), Ok(Some("rm  -rf a"))),
            ("mcp__chat__send", json!({"text": "a b"}), Ok(None)),
            ("mcp__terminal__find", json!({"text": "don't"}), Ok(None)),
            ("mcp__shell__read", json!({"name": "a"}), Ok(None)),
            (
                "mcp__x",
                json!({"command": "rm", "args": {"flags": ["-rf", "a b"], "x": true}}),
                Ok(Some("rm -rf 'a b'")),
            ),
            ("mcp__x", json!({"command": "rm", "args": {}}), Ok(Some("rm "))),
            ("mcp__x", json!({"command": {"name": "rm"}}), Err(())),
            ("mcp__x", json!({"input": "{\"command\": [\"rm\", {}]}"}), Err(())),
        ];
        for (tool, input, expected) in cases {
            let call = guessed(tool, &input, ToolCall::new(tool, ToolKind::Other, "/"));
            let command = call.map(|call| call.command.map(|command| command.value)).map_err(|_| ());
            assert_eq!(command, expected.map(|command| command.map(str::to_owned)), "{tool} {input}");
        }
    }
}

//! What an input says that no table knows: its commands, its paths, what is to be done to them.

use serde_json::{Map, Value};
use toolgate_host::Field;
use toolgate_names::words_of;

use super::cell;
use super::vocabulary::{
    ARGUMENT_KEYS, CELL_TEXT_KEYS, CODE_KEYS, COMMAND_KEYS, CONTENT_KEYS, DATA_KEYS, ENTRY_KEYS, FILE_KEYS,
    FOLDER_KEYS, INPUT_KEYS, LANGUAGE_KEYS, NAME_KEYS, OPTION_KEYS, PROGRAM_KEYS, RUN_KEYS, SEVERAL_KEYS, SOURCE_KEYS,
    STDIN_KEYS, TYPED_KEYS, UNSAID_LANGUAGES, URL_KEYS, WORD_KEYS, is, is_action, is_path, is_removal,
    is_removing_step, is_target, looks_like_path, runner,
};
use crate::agent::row::{files_of, place_below as below};
use crate::text::quoted;

/// Most folders of an object that names are put behind, and most names behind each.
const MOST_JOINED: usize = 16;

/// Longest text there that is read for verbs, in bytes.
const LONGEST_ACTION: usize = 64;

/// How a patch begins that names its files itself.
const PATCH: &str = "*** Begin Patch";

/// What the fields of a tool that no table knows look like, at any depth.
#[derive(Default)]
pub(super) struct InputScan {
    /// Whether the tool types into a shell what it is given.
    pub(super) types: bool,
    /// Whether it runs code.
    pub(super) evaluates: bool,
    /// Whether the tool's name says that it runs programs.
    pub(super) spawns: bool,
    /// How a shell runs code of the language that the tool's name says.
    pub(super) language: Option<&'static str>,
    /// Whether its code is a cell of a notebook.
    pub(super) notebook: bool,
    /// Whether what it is given as the content of something is such code.
    pub(super) cells: bool,
    pub(super) commands: Vec<Field>,
    /// What the tool works on.
    pub(super) paths: Vec<Field>,
    /// Paths that it may work on, or only speak of.
    pub(super) named: Vec<Field>,
    /// The places of those that are written, whatever the tool is called.
    pub(super) targets: Vec<String>,
    /// The words of the actions that it is told to take.
    pub(super) actions: Vec<String>,
    /// The places of those that a step among several removes.
    pub(super) removed: Vec<String>,
    /// Whether there is something that is to be written.
    pub(super) content: bool,
}

impl InputScan {
    /// Reads a value at this place in the input. What is in the content of a file, as JSON, is no call.
    pub(super) fn read(&mut self, at: &str, value: &Value, depth: usize, content: bool) -> Result<(), String> {
        if depth == 0 {
            return Err("the input is nested too deeply".to_owned());
        }
        let key = key_of(at);
        let is_typed = self.types && is(TYPED_KEYS, key) && !(content && is(DATA_KEYS, key));
        let field = |value: String| Field { name: at.to_owned(), value };
        match value {
            Value::Object(_) if is(COMMAND_KEYS, key) && !is(SEVERAL_KEYS, key) => {
                Err(format!("the field {at} looks like a command but is an object"))
            }
            Value::Object(fields) if is(SEVERAL_KEYS, key) => {
                let texts = fields.values().map(|value| value.as_str().map(|text| field(text.to_owned())));
                let texts: Option<Vec<Field>> = texts.collect();
                self.commands.extend(
                    texts.ok_or_else(|| {
                        format!("the field {at} looks like commands, but one of them is not a string")
                    })?,
                );
                Ok(())
            }
            Value::Object(fields) => self.fields(at, fields, depth, content),
            // `["bash", "-c", "..."]`: one command as its words. Under a key for several, each is one of its own.
            Value::Array(items) if is(COMMAND_KEYS, key) && !is(SEVERAL_KEYS, key) => {
                self.commands.push(field(words(at, items)?));
                Ok(())
            }
            Value::Array(items) if is(RUN_KEYS, key) || self.spawns && is(WORD_KEYS, key) => {
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
                        _ => {
                            return Err(format!("the field {at} looks like commands, but one of them is not a string"));
                        }
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
            Value::String(text) if !content && (is(TYPED_KEYS, key) || is(COMMAND_KEYS, key)) && cell::is_vim(text) => {
                self.commands.extend(cell::of_vim(text).map(|command| field(command.to_owned())));
                Ok(())
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
                    let InputScan { types, evaluates, spawns, language, notebook, cells, .. } = *self;
                    let mut found =
                        InputScan { types, evaluates, spawns, language, notebook, cells, ..InputScan::default() };
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
        let is_step = at.rsplit('/').next().is_some_and(|part| part.parse::<usize>().is_ok());
        if is_step && is_removing_step(fields) {
            self.removed.extend(fields.keys().filter(|key| is_path(key)).map(|key| below(at, key)));
        }
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
            if let (true, true, Value::String(program)) = (self.spawns, is(FILE_KEYS, key), value)
                && let Some(Value::Array(items)) = arguments.first()
            {
                self.commands.push(Field { name: at.clone(), value: format!("{program} {}", words(&at, items)?) });
            }
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
        // A cell of words runs nothing where it is only put down; what runs code may not look at its kind.
        if !self.spawns && texts(&["celltype"]).any(|(_, kind)| kind != "code") {
            return;
        }
        let said = texts(LANGUAGE_KEYS).next().map(|(_, language)| language);
        let runners: Vec<&str> = match said {
            Some(language) => runner(language).into_iter().collect(),
            None => self.language.map_or_else(|| UNSAID_LANGUAGES.to_vec(), |language| vec![language]),
        };
        let content = texts(CELL_TEXT_KEYS).filter(|(key, _)| self.cells && !is(CODE_KEYS, key));
        for (key, text) in texts(CODE_KEYS).chain(content).filter(|_| self.evaluates) {
            let (shell, code) = if self.notebook { cell::split(text) } else { (None, text.to_owned()) };
            self.commands.extend(shell.map(|value| Field { name: below(at, key), value }));
            self.commands.extend(runners.iter().map(|runner| field(key, runner, &code)));
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
        if is_action(key) && text.len() <= LONGEST_ACTION && !is_http {
            self.actions.extend(words_of(text));
        }
        if is(COMMAND_KEYS, key) || is(RUN_KEYS, key) || is_typed {
            // `{"command": "delete", "path": "a"}`
            if is_removal(text) {
                self.actions.push(text.to_owned());
            }
            self.commands.push(field(text.to_owned()));
            return;
        }
        let files = files_of(&field(text.to_owned()));
        if !files.is_empty() {
            self.paths.extend(files);
        } else if is(URL_KEYS, key) {
            // Some readers take a path as well, and with it what they write.
            if text.trim_start().starts_with(['/', '~', '.']) {
                let places = if self.content { &mut self.paths } else { &mut self.named };
                places.push(field(text.to_owned()));
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
            // What has a parent is a thing of a tracker.
            let is_entry = |key: &str| ENTRY_KEYS.contains(&key) && !is(&["parent"], folder_key);
            let fits = |key: &str| is_name(key) || !is_whole && (is_path(key) || is_entry(key));
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
            _ => Err(format!("the field {at} looks like a command, but one of its words is not a string")),
        })
        .collect();
    Ok(words?.join(" "))
}

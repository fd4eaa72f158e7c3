//! The words by which the fields of a tool that is in no table are told, and the tool by its name.

use serde_json::{Map, Value};
use toolgate_names::{tools, words_of};

/// Keys of an unknown tool's input that hold a shell command, or whose last word is one of these.
pub(super) const COMMAND_KEYS: &[&str] = &[
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
pub(super) const RUN_KEYS: &[&str] = &["execute", "run"];

/// Keys that hold a program if its words are beside it.
pub(super) const PROGRAM_KEYS: &[&str] = &["bin", "binary", "exe", "executable", "process", "program"];

/// Keys that hold the words of one if they hold a list of texts in a tool that runs programs by its name.
pub(super) const WORD_KEYS: &[&str] = &["tokens", "words"];

/// Keys that do as well in a tool that runs programs by its name.
pub(super) const FILE_KEYS: &[&str] = &["file"];

/// Words in the name of such a tool, besides [`tools::RUNS`].
pub(super) const SPAWNS: &[&str] = &["process", "runner", "spawn", "start"];

/// Keys that hold the words behind a program.
pub(super) const ARGUMENT_KEYS: &[&str] = &["arg", "args", "argument", "argumentlist", "arguments", "argv", "params"];

/// Keys that do if they hold a list of texts.
pub(super) const OPTION_KEYS: &[&str] = &["flags", "options", "parameters", "targets"];

/// Keys of what a program reads.
pub(super) const STDIN_KEYS: &[&str] = &["input", "stdin"];

/// Keys of code that a tool runs.
pub(super) const CODE_KEYS: &[&str] = &["cell", "cellcontent", "cellsource", "code", "snippet"];

/// Keys that do as well in a tool that runs cells or code by its name.
pub(super) const CELL_TEXT_KEYS: &[&str] = &["content", "contents", "source"];

/// Words in the name of a tool whose code is a cell of a notebook, where a line may be a shell's.
pub(super) const CELLS: &[&str] = &["cell", "colab", "ide", "ipython", "jupyter", "kernel", "notebook"];

/// Keys that say which language it is in.
pub(super) const LANGUAGE_KEYS: &[&str] = &["interpreter", "kernel", "lang", "language", "runtime"];

/// More languages than [`tools::runner`] knows, by words in the names of tools that run them. `REPL` and `Eval` are tools of Claude
/// Code 2.1.330.
const LANGUAGES: &[(&str, &str)] = &[
    ("applescript", "osascript -e"),
    ("cell", "python3 -c"),
    ("eval", "node -e"),
    ("ide", "python3 -c"),
    ("osascript", "osascript -e"),
    ("repl", "node -e"),
];

/// Keys that hold the input of a tool, and hold it as JSON in a text.
pub(in crate::agent) const INPUT_KEYS: &[&str] =
    &["args", "arguments", "call", "input", "json", "parameters", "params", "payload", "request"];

/// The languages of code of which nothing says which one it is in.
pub(super) const UNSAID_LANGUAGES: &[&str] = &["node -e", "python3 -c"];

/// Keys of what a tool types into a shell.
pub(super) const TYPED_KEYS: &[&str] = &["chars", "code", "data", "input", "keys", "line", "lines", "stdin", "text"];

/// Words in the name of a tool that has a shell.
#[rustfmt::skip]
pub(super) const SHELLS: &[&str] = &[
    "bash", "cmd", "execcommand", "executecommand", "fish", "ghostty", "iterm", "iterm2", "kitty", "ksh", "powershell", "pty", "pwsh",
    "runcommand", "runprocess", "sh", "shell", "spawnprocess", "ssh", "startprocess", "terminal", "tmux", "tty", "vimcommand",
    "warp", "wezterm", "zellij", "zsh",
];

/// Those under which a list is several commands, and not the words of one.
pub(super) const SEVERAL_KEYS: &[&str] = &["cmds", "commands"];

/// Keys of an unknown tool's input that hold paths, or whose last word is one of these.
#[rustfmt::skip]
const PATH_KEYS: &[&str] = &[
    "archive", "attachment", "attachments", "cwd", "dest", "destination", "dir", "directories", "directory", "dirpath",
    "dirs", "document", "documents", "dst", "file", "filename", "filenames", "filepath", "filepaths", "files", "folder",
    "folders", "from", "fullpath", "notebook", "outfile", "output", "path", "pathname", "paths", "root", "source",
    "src", "target", "to", "workdir",
];

/// Keys of folders that names beside them are in.
#[rustfmt::skip]
pub(super) const FOLDER_KEYS: &[&str] = &[
    "base", "basedir", "basepath", "cwd", "dir", "directory", "folder", "parent", "path", "root", "rootdir", "workdir",
    "workspace",
];

/// Keys of names in a folder.
pub(super) const NAME_KEYS: &[&str] = &["filename", "name"];

/// Those that are one beside a folder, while beside a path they are a place in the file.
pub(super) const ENTRY_KEYS: &[&str] = &["key"];

/// Keys of texts that are said, typed or looked for, and are no paths if they look like one: `{"query": ".env"}`.
#[rustfmt::skip]
const SAID_KEYS: &[&str] = &[
    "body", "caption", "comment", "description", "element", "glob", "instruction", "instructions", "keyword",
    "keywords", "label", "labels", "message", "pattern", "prompt", "q", "query", "question", "reason", "ref", "regex",
    "selector", "subject", "summary", "text", "thought", "title", "topic", "value", "xpath",
];

/// Longest text that may look like a path, in bytes.
const LONGEST_PATH: usize = 4096;

/// Keys of an unknown tool's input that hold URLs, of which those of files count as paths.
pub(super) const URL_KEYS: &[&str] = &["href", "link", "links", "uri", "uris", "url", "urls"];

/// Keys of an unknown tool's input that hold what it writes, or what it replaces.
#[rustfmt::skip]
pub(super) const CONTENT_KEYS: &[&str] = &[
    "content", "contents", "data", "diff", "edits", "filetext", "newstr", "newstring", "newtext", "oldstr", "oldstring",
    "oldtext", "replacement",
];

/// Those that hold something else where no path is beside them.
pub(super) const DATA_KEYS: &[&str] = &["data"];

/// Words in the name of a tool that writes to what it names.
#[rustfmt::skip]
pub(super) const WRITES: &[&str] = &[
    "append", "apply", "chmod", "chown", "create", "download", "edit", "export", "hardlink", "insert", "make", "mkdir",
    "modify", "overwrite", "patch", "put", "replace", "rewrite", "save", "screenshot", "set", "store", "symlink",
    "touch", "truncate", "update", "upload", "write",
];

/// More words than [`tools::RUNS`] in the name of a tool that runs code.
pub(super) const EVALUATES: &[&str] = &["jupyter", "kernel"];

/// Words in the name of a tool that types nothing, if none of [`TYPES`] is in it.
pub(super) const READS: &[&str] = &["find", "get", "grep", "history", "list", "query", "read", "search", "show"];

/// Words in the name of a tool that types: `send_keys_and_read`.
pub(super) const TYPES: &[&str] = &["exec", "execute", "input", "paste", "press", "run", "send", "type", "write"];

/// Words in the name of a tool that sends texts to people.
pub(super) const LETTERS: &[&str] = &[
    "chat", "comment", "discord", "email", "gmail", "issue", "mail", "message", "post", "reply", "slack", "sms",
    "teams",
];

/// Programs by which a text is told that is typed into a shell, with an option or a path behind them.
pub(super) const COMMANDS: &[&str] = &["cd", "chmod", "chown", "dd", "find", "mv", "rm", "rmdir", "shred", "truncate"];

/// Words in the name of a tool that reads whatever is below a folder.
pub(super) const SEARCHES: &[&str] = &["grep", "rg", "ripgrep"];

/// The word for it that others have as well: those that look for names, which have one of [`NAMES`] beside it.
pub(super) const SEARCH: &[&str] = &["search"];

/// What a tool looks for that reads no content.
pub(super) const NAMES: &[&str] = &["directories", "files", "folders", "symbol", "symbols"];

/// Words in the name of a tool that gives files another place.
pub(super) const MOVES: &[&str] = &["move", "mv", "rename"];

/// More verbs than [`tools::LOSES`] in the name of a tool that removes what it names.
const REMOVES: &[&str] = &["remove", "rm", "rmdir", "trash", "unlink"];

/// Verbs of a tool that removes what is in the folder that it names, if its name says nothing else: `clear_directory`, `cleanup`.
/// What has another thing in its name is about that: `clear_cache`, `prune_branches`.
const EMPTIES: &[&str] = &["clean", "cleanup", "clear", "discard", "empty", "prune"];

/// Keys of what a tool removes that may be something else than files.
pub(super) const REMOVED_KEYS: &[&str] = &["item", "items", "uri", "uris"];

/// Keys of the folder that a tool works in.
pub(super) const WORK_KEYS: &[&str] = &["cwd", "workdir"];

/// Keys of what is done in one of several steps, if a verb is all that they hold: `[{"type": "remove", "file": "a"}]`.
const STEP_KEYS: &[&str] = &["kind", "type"];

/// Words in the name of a tool that makes files like others.
pub(super) const COPIES: &[&str] = &["copy", "cp", "duplicate"];

/// Words in the name of a tool that takes an archive apart.
pub(super) const UNPACKS: &[&str] = &["extract", "unpack", "untar", "unzip"];

/// What a verb may be one word with: `writefile`, `filedelete`.
const THINGS: &[&str] = &["dir", "directories", "directory", "file", "files", "folder", "folders", "path"];

/// More keys than [`tools::ACTION_KEYS`] of the action that a tool with several uses is to take.
const MORE_ACTION_KEYS: &[&str] = &["mode", "tool", "toolname"];

/// Keys of what is written, whatever the tool is called, or first words of such: `output_file`, `saveTo`.
const TARGET_KEYS: &[&str] = &["dest", "destination", "download", "dst", "export", "out", "output", "save"];

/// Those that are if a source is beside them.
const TO_KEYS: &[&str] = &["target", "to"];

/// Keys of what is copied or unpacked.
pub(super) const SOURCE_KEYS: &[&str] = &["archive", "from", "source", "src"];

/// Keys by which a call of another tool names it.
pub(in crate::agent) const CALL_KEYS: &[&str] = &["name", "recipientname", "tool", "toolname"];

/// Whether a key is among these as a whole or by its last word, however it is cased, joined and numbered: `filePath`,
/// `file_path_1`, `FILE-PATH`.
pub(in crate::agent) fn is(keys: &[&str], key: &str) -> bool {
    let words = words_of(key.trim_end_matches(|c: char| c.is_ascii_digit()));
    let whole = words.concat();
    keys.iter().any(|known| *known == whole || words.last().is_some_and(|last| last == known))
}

/// How a shell runs a text in a language, by its name or that of its program, with or without a version.
pub(super) fn runner(name: &str) -> Option<&'static str> {
    let name = name.trim().to_ascii_lowercase();
    let name = name.trim_end_matches(|c: char| c.is_ascii_digit() || ". ".contains(c));
    let more = || LANGUAGES.iter().find(|(own, _)| *own == name).map(|(_, runner)| *runner);
    tools::runner(&[name]).or_else(more)
}

/// Whether a key holds a path: `path`, and `pathInProject`.
pub(super) fn is_path(key: &str) -> bool {
    let joins = |word: &String| ["from", "in", "of", "to"].contains(&word.as_str());
    is(PATH_KEYS, key) || matches!(words_of(key).as_slice(), [first, second, ..] if first == "path" && joins(second))
}

/// Whether a text under such a key looks like a path: it begins at the root, in the home folder or in this one, or with a hidden
/// file's name.
pub(super) fn looks_like_path(key: &str, text: &str) -> bool {
    let begins = ["/", "~/", "./", "../"].iter().any(|start| text.starts_with(start));
    // A thing may be called `.env` that is no file.
    let is_hidden = || text.starts_with('.') && !is(NAME_KEYS, key);
    let fits = text.len() <= LONGEST_PATH && !text.contains('\n');
    fits && (begins || is_hidden()) && !is(SAID_KEYS, key) && !is(CONTENT_KEYS, key)
}

/// Whether a word is one of these verbs, perhaps in one with what it is about.
pub(super) fn is_verb(verbs: &[&str], word: &str) -> bool {
    let about = |rest: Option<&str>| rest.is_some_and(|rest| THINGS.contains(&rest));
    // A makefile is nothing that is done.
    let glued = |verb: &str| word != "makefile" && (about(word.strip_prefix(verb)) || about(word.strip_suffix(verb)));
    verbs.iter().any(|verb| *verb == word || glued(verb))
}

/// Whether a word says that what is named is removed.
pub(super) fn is_removal(word: &str) -> bool {
    is_verb(tools::LOSES, word) || is_verb(REMOVES, word)
}

/// Whether a tool with these words in its own name removes what is in the folder that it names.
pub(super) fn is_emptying(own: &[String]) -> bool {
    let is_thing = |word: &String| word == "up" || THINGS.contains(&word.as_str());
    own.split_first().is_some_and(|(verb, rest)| EMPTIES.contains(&verb.as_str()) && rest.iter().all(is_thing))
}

/// Whether an object is a step that removes the file which it names. An edit of a file says where in it, or what.
pub(super) fn is_removing_step(fields: &Map<String, Value>) -> bool {
    let says =
        |(key, value): (&String, &Value)| STEP_KEYS.contains(&key.as_str()) && value.as_str().is_some_and(is_removal);
    let is_whole = |(key, value): (&String, &Value)| {
        (value.is_string() || value.is_boolean()) && !is(CONTENT_KEYS, key) && !is(SAID_KEYS, key)
    };
    fields.iter().any(says) && fields.iter().all(is_whole)
}

/// Whether a key names the action that a tool with several uses is to take.
pub(super) fn is_action(key: &str) -> bool {
    is(tools::ACTION_KEYS, key) || is(MORE_ACTION_KEYS, key)
}

/// Whether a key says where something is written to.
pub(super) fn is_target(key: &str, has_source: bool) -> bool {
    let first = words_of(key).into_iter().next().unwrap_or_default();
    is_path(key) && (TARGET_KEYS.contains(&first.as_str()) || has_source && is(TO_KEYS, key))
}

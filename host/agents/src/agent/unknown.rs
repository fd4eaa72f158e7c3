//! Tools that are in no table: what they work on, by what their fields look like.
//!
//! | Module | For |
//! |---|---|
//! | `vocabulary` | the words by which fields and tools are told |
//! | `found` | what an input says: commands, paths, actions |
//! | `cell` | what a shell runs of a notebook's cell, and of what is typed into vim |

mod cell;
mod found;
pub(super) mod vocabulary;

use std::path::Path;

use serde_json::Value;
use toolgate_host::{Field, FileAction, FileEffect, ToolCall, ToolKind};
use toolgate_names::{tools, words_of};

use self::found::InputScan;
use self::vocabulary::{
    CELLS, COMMANDS, COPIES, EVALUATES, LETTERS, MOVES, NAMES, READS, REMOVED_KEYS, SEARCH, SEARCHES, SHELLS, SPAWNS,
    TYPED_KEYS, TYPES, UNPACKS, WORK_KEYS, WRITES, is, is_emptying, is_removal, is_verb, runner,
};
use super::row::{at_home, together};

/// How deep into an unknown tool's input is looked.
pub(super) const DEPTH: usize = 64;

/// What is done to these paths that puts them into these places, to each of them. What is told no place has it last.
fn placed(action: FileAction, mut paths: Vec<Field>, mut places: Vec<Field>) -> Vec<FileEffect> {
    if paths.is_empty() {
        std::mem::swap(&mut paths, &mut places);
    }
    if places.is_empty() {
        places.extend(paths.pop());
    }
    let effect = |to| FileEffect::new(action, paths.clone()).with_target(to).recursively();
    places.into_iter().map(effect).collect()
}

/// The words of a tool's name without that of its server.
fn own_words(name: &str) -> Vec<String> {
    words_of(name.rsplit_once("__").map_or(name, |(_, own)| own))
}

/// Whether an input has a text that begins as only commands do, under a key for what is typed.
fn types_a_command(input: &Value) -> bool {
    let begins = |text: &str| {
        let mut words = text.trim_start_matches([':', '!', ' ']).split_whitespace();
        let (first, second) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
        COMMANDS.contains(&first) && second.starts_with(['-', '/', '~', '.', '$']) || first == "sudo"
    };
    let typed = input.as_object().into_iter().flatten().filter(|(key, _)| TYPED_KEYS.contains(&key.as_str()));
    typed.filter_map(|(_, value)| value.as_str()).any(begins)
}

/// Whether a text is a path below the home folder.
fn is_in_home(text: &str, home: Option<&str>) -> bool {
    let below = |home: &str| text.strip_prefix(home).is_some_and(|rest| rest.starts_with('/'));
    text.starts_with("~/") || home.is_some_and(below)
}

/// Whether a path is that of something beside the workspace and what the call works in.
fn is_outside(path: &str, call: &ToolCall) -> bool {
    let below = |folder: &str| folder.len() > 1 && Path::new(path).starts_with(folder);
    let is_rooted = path.starts_with(['/', '~']) && !below(&call.cwd) && !below(&call.workspace_root);
    is_rooted || path.split('/').any(|part| part == "..")
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
    let types = has_shell && (!says(READS) || says(TYPES)) || says(TYPES) && !says(LETTERS) && types_a_command(input);
    // A tool for a language runs it.
    let language = words.iter().find_map(|word| runner(word)).filter(|_| !types && !says(READS));
    let evaluates = language.is_some() || says(tools::RUNS) || says(EVALUATES);
    let spawns = says(tools::RUNS) || says(SPAWNS);
    let notebook = language == runner("python") || says(CELLS);
    let cells = (says(tools::RUNS) && (notebook || says(&["code"])) || says(&["cell"]) && says(&["code", "source"]))
        && !says(&["markdown"]);
    let mut found = InputScan { types, evaluates, spawns, language, notebook, cells, ..InputScan::default() };
    found.read("", input, DEPTH, false)?;
    let InputScan { commands, mut paths, mut named, targets, actions, removed, content, .. } = found;
    // What is tidied up in a repository is git's.
    let empties = is_emptying(&own_words(name)) && !says(&["git"]);
    if empties || words.iter().any(|word| is_removal(word)) {
        let is_file = |field: &Field| is(REMOVED_KEYS, &field.name) && is_in_home(&field.value, call.home.as_deref());
        paths.extend(named.extract_if(.., |field| is_file(field)));
    }
    let at_home: Vec<Field> = paths.iter().filter_map(|path| at_home(path, call.home.as_deref())).collect();
    paths.extend(at_home);
    let told = |verbs: &[&str]| actions.iter().any(|word| is_verb(verbs, word));
    let does = |verbs: &[&str]| told(verbs) || words.iter().any(|word| is_verb(verbs, word));
    if !paths.is_empty() {
        let (runs, several) = (!commands.is_empty(), paths.len() > 1);
        let writes = content || does(WRITES) || does(MOVES) && (runs || !several);
        let (places, others): (Vec<Field>, Vec<Field>) =
            paths.iter().cloned().partition(|path| targets.contains(&path.name));
        // By its name, or by what it is told.
        let mut done = Vec::new();
        let removes = |words: &[String]| words.iter().any(|word| is_removal(word));
        if removes(&actions) || !runs && removes(&words) {
            done.push(FileEffect::new(FileAction::Remove, paths.clone()).recursively());
        } else {
            // A tool of such a name may as well tidy up what it is told in the workspace.
            let is_emptied = |path: &Field| !is(WORK_KEYS, &path.name) && is_outside(&path.value, &call);
            let is_removed = |path: &Field| removed.contains(&path.name) || empties && !runs && is_emptied(path);
            let gone: Vec<Field> = paths.iter().filter(|path| is_removed(path)).cloned().collect();
            if !gone.is_empty() {
                done.push(FileEffect::new(FileAction::Remove, gone).recursively());
            }
        }
        if !runs && several && does(MOVES) {
            done.extend(placed(FileAction::Move, others.clone(), places.clone()));
        }
        if !runs && several && does(COPIES) {
            done.extend(placed(FileAction::Copy, others.clone(), places.clone()));
        }
        if !runs && does(UNPACKS) && !places.is_empty() && !others.is_empty() {
            done.extend(placed(FileAction::Unpack, others.clone(), places.clone()));
        }
        let does_nothing = !runs && done.is_empty();
        if does_nothing && (writes || others.is_empty()) {
            call.kind = ToolKind::Edit;
        } else if writes {
            // Some tools have a key `command` for what they are to do.
            done.push(FileEffect::new(FileAction::Write, paths.clone()));
        } else if done.is_empty() && !places.is_empty() {
            done.push(FileEffect::new(FileAction::Write, places));
        } else if does_nothing && (says(SEARCHES) || says(SEARCH) && !says(NAMES)) {
            call.kind = ToolKind::Search;
        }
        if !done.is_empty() {
            call = call.with_effects(done);
        }
    }
    call.paths.extend(paths);
    call.paths.extend(named);
    call.command = together(commands);
    Ok(call)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

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
            (json!({"folder": "a", "key": "b"}), None, vec![("folder", "a"), ("key", "a/b")]),
            (json!({"path": "a.yaml", "key": "b"}), None, vec![("path", "a.yaml")]),
            (json!({"parent": "A-1", "key": "A-2"}), None, vec![]),
            (json!({"dir": "a", "path": "/b"}), None, vec![("dir", "a"), ("path", "/b")]),
            (json!({"path": ["a", "b"]}), None, vec![("path", "a/b"), ("path/0", "a"), ("path/1", "b")]),
            (json!({"source": "a", "dest": "b"}), None, vec![("source", "a"), ("dest", "b")]),
            (json!({"action": "rm", "path": "~/a"}), None, vec![("path", "~/a")]),
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
    fn what_is_done_to_files_is_said_as_data() {
        // The tool, its input, what it runs, what its kind is, and what it does: to which fields, and where it puts them.
        let cases = [
            ("mcp__x__delete", json!({"path": "~/a"}), None, ToolKind::Other, "remove path=~/a .."),
            (
                "mcp__x__delete",
                json!({"paths": ["a", "-rf"]}),
                None,
                ToolKind::Other,
                "remove paths/0=a paths/1=-rf ..",
            ),
            ("mcp__x", json!({"action": "rm", "path": "it's\na"}), None, ToolKind::Other, "remove path=it's\na .."),
            ("mcp__x", json!({"command": "delete", "path": "a"}), Some("delete"), ToolKind::Other, "remove path=a .."),
            ("mcp__x__delete", json!({"command": "ls", "path": "a"}), Some("ls"), ToolKind::Other, ""),
            ("mcp__x__delete", json!({"paths": []}), None, ToolKind::Other, ""),
            ("mcp__x__delete", json!({"path": ""}), None, ToolKind::Other, "remove path= .."),
            ("mcp__x__move", json!({"from": "a", "to": "b"}), None, ToolKind::Other, "move from=a > to=b .."),
            (
                "mcp__x__move",
                json!({"a_path": "a", "b_path": "b"}),
                None,
                ToolKind::Other,
                "move a_path=a > b_path=b ..",
            ),
            ("mcp__x__rename", json!({"path": "a", "name": "b"}), None, ToolKind::Other, "move path=a > name=a/b .."),
            ("mcp__x__move", json!({"path": "a"}), None, ToolKind::Edit, ""),
            ("mcp__x__copy", json!({"source": "a", "dest": "b"}), None, ToolKind::Other, "copy source=a > dest=b .."),
            (
                "mcp__x__copy",
                json!({"source": "a", "dest": "b", "output": "c"}),
                None,
                ToolKind::Other,
                "copy source=a > dest=b ..; copy source=a > output=c ..",
            ),
            ("mcp__x__copy", json!({"dest": "b", "output": "c"}), None, ToolKind::Other, "copy dest=b > output=c .."),
            ("mcp__x__unzip", json!({"archive": "a", "to": "b"}), None, ToolKind::Other, "unpack archive=a > to=b .."),
            ("mcp__x__unzip", json!({"path": "a"}), None, ToolKind::Other, ""),
            ("mcp__x__go", json!({"source": "a", "dest": "b"}), None, ToolKind::Other, "write dest=b"),
            ("mcp__x__put", json!({"command": "c", "path": "a"}), Some("c"), ToolKind::Other, "write path=a"),
            ("mcp__x__go", json!({"command": "c", "path": "a"}), Some("c"), ToolKind::Other, ""),
            ("mcp__x__put", json!({"path": "a"}), None, ToolKind::Edit, ""),
            ("mcp__x__grep", json!({"path": "a"}), None, ToolKind::Search, ""),
            ("mcp__x__empty_folder", json!({"path": "~/a"}), None, ToolKind::Other, "remove path=~/a .."),
            ("mcp__x__clean_up", json!({"uri": "file:///b/c"}), None, ToolKind::Other, "remove uri=/b/c .."),
            ("mcp__x__prune", json!({"item": "~/a"}), None, ToolKind::Other, "remove item=~/a .."),
            ("mcp__x__delete_note", json!({"item": "~/a"}), None, ToolKind::Other, "remove item=~/a .."),
            ("mcp__x__delete", json!({"uri": "/api/a"}), None, ToolKind::Other, ""),
            ("mcp__x__clear_cache", json!({"path": "~/a"}), None, ToolKind::Other, ""),
            ("mcp__git__prune", json!({"repo_path": "~/a"}), None, ToolKind::Other, ""),
            ("mcp__x__clear", json!({"cwd": "~/a"}), None, ToolKind::Other, ""),
            (
                "mcp__x__batch",
                json!({"steps": [{"kind": "unlink", "file": "a"}, {"kind": "add", "file": "b"}]}),
                None,
                ToolKind::Other,
                "remove steps/0/file=a ..",
            ),
            ("mcp__x__edit", json!({"edits": [{"type": "delete", "path": "a", "line": 3}]}), None, ToolKind::Edit, ""),
        ];
        for (tool, input, command, kind, expected) in cases {
            let call = guessed(tool, &input, ToolCall::new(tool, ToolKind::Other, "/")).expect("an object");
            let told = |field: &Field| format!("{}={}", field.name, field.value);
            let effects = call.effects().into_iter().map(|effect| {
                let action = json!(effect.action);
                let mut words = vec![action.as_str().expect("a name").to_owned()];
                words.extend(effect.paths.iter().map(told));
                words.extend(effect.to.iter().map(|to| format!("> {}", told(to))));
                words.extend(effect.recursive.then(|| "..".to_owned()));
                words.join(" ")
            });
            assert_eq!(effects.collect::<Vec<_>>().join("; "), expected, "{tool} {input}");
            assert_eq!((call.command.map(|one| one.value).as_deref(), call.kind), (command, kind), "{tool} {input}");
        }
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
            ("mcp__chat__send", json!({"text": "find the a"}), Ok(None)),
            ("mcp__chat__send", json!({"text": "rm is a program"}), Ok(None)),
            ("mcp__desktop__send", json!({"text": "rm -rf a"}), Ok(Some("rm -rf a"))),
            ("mcp__neovim__send_input", json!({"input": "cd ~ && rm a"}), Ok(Some("cd ~ && rm a"))),
            ("mcp__notes__add", json!({"text": "rm -rf a"}), Ok(None)),
            ("mcp__slack__send_message", json!({"text": "rm -rf ~/x is what broke it"}), Ok(None)),
            ("mcp__editor__send", json!({"text": ":!a b"}), Ok(Some("a b"))),
            ("mcp__editor__send", json!({"text": ":w!"}), Ok(None)),
            ("mcp__nvim__vim_command", json!({"data": "a b"}), Ok(Some("a b"))),
            ("mcp__nvim__vim_edit", json!({"lines": ["a b"]}), Ok(None)),
            ("mcp__kitty__send_text", json!({"text": "a b"}), Ok(Some("a b"))),
            ("mcp__x__start", json!({"words": ["a", "-b", "c d"]}), Ok(Some("a -b 'c d'"))),
            ("mcp__x__define", json!({"words": ["a", "b"]}), Ok(None)),
            ("mcp__jupyter__add_code_cell", json!({"content": "a"}), Ok(Some("python3 -c a"))),
            ("mcp__jupyter__add_markdown_cell", json!({"content": "a"}), Ok(None)),
            ("mcp__jupyter__insert_cell", json!({"cell_type": "markdown", "cell_source": "a"}), Ok(None)),
            ("mcp__sheet__write_cell", json!({"content": "a"}), Ok(None)),
            ("mcp__python__execute", json!({"code": "a", "cell_type": "markdown"}), Ok(Some("python3 -c a"))),
            (
                "mcp__colab__run_cell",
                json!({"cellContent": "!a b"}),
                Ok(Some("(eval 'a b') &\n(eval 'python3 -c pass') &")),
            ),
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

//! What is judged and what comes of it, as the rest of the guest knows them. The contract's own types are only in
//! `component`.

use std::sync::Arc;

use toolgate_shell::{Command, Facts, FileAction, Span, ToolPath, file_action};

/// What a tool does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ToolKind {
    /// Runs a shell command.
    Shell,
    /// Reads a file.
    Read,
    /// Writes or edits a file.
    Write,
    /// Searches the content of files.
    Search,
    /// Lists or finds files.
    List,
    /// Fetches from the network.
    Fetch,
    /// Anything else.
    #[default]
    Other,
}

/// A text of the agent's input and the name of its key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    /// The key.
    pub name: String,
    /// The text.
    pub value: String,
}

/// A tool call before it runs.
#[derive(Clone, Debug, Default)]
pub struct Call {
    /// The tool's name, as the agent spells it.
    pub tool: String,
    /// What the tool does.
    pub kind: ToolKind,
    /// Whether a tool that writes changes a part of a file.
    pub edits: bool,
    /// The shell text, if it runs one; the patch, if it writes by one.
    pub command: Option<Field>,
    /// The name of the shell that the text is for, if it is none of the Bourne family: `powershell`.
    pub shell: Option<String>,
    /// The paths it works on.
    pub paths: Vec<Field>,
    /// The file name patterns it works on.
    pub globs: Vec<Field>,
    /// What it does to files, where that is said by no text.
    pub effects: FileEffects,
    /// The texts, numbers and flags in the input of a tool that is none of the agent's own for the shell or for files.
    pub inputs: Vec<Field>,
    /// The texts that a file tool writes.
    pub contents: Vec<Field>,
    /// Where relative paths start.
    pub cwd: String,
    /// What `~` stands for.
    pub home: Option<String>,
    /// The folder that the agent was started for.
    pub workspace: String,
    /// Other names of that folder: paths below them are in it.
    pub workspace_names: Vec<String>,
    /// What earlier calls of the session have left behind.
    pub earlier: Memory,
    /// Whether it is a command in a prompt that another call writes, and not the agent's own.
    pub in_prompt: bool,
    /// Whether text that the agent types into a terminal is no call of its own.
    pub typed_unseen: bool,
    /// Whether only path rules count. So it is where the folder is not known: other rules go by what is there and by what
    /// git says of it, and would stop what is done every day in the folder that it most likely is.
    pub paths_only: bool,
    /// What has happened in the session; `None` if nobody knows.
    pub events: Option<Events>,
}

/// What a tool does to some files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileEffect {
    /// What it does.
    pub action: FileAction,
    /// The files, and folders.
    pub paths: Vec<Field>,
    /// Where it puts them, if it puts them somewhere.
    pub to: Option<Field>,
    /// Whether it does so to what is below folders as well.
    pub recursive: bool,
}

/// What the host says that a tool does to files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileEffects {
    /// In no order.
    pub list: Vec<FileEffect>,
    /// Whether something that is said could not be read: it may be anything.
    pub unclear: bool,
}

impl FileEffects {
    /// As a call's context has them; null if nothing is said.
    pub fn read(value: &serde_json::Value) -> Self {
        if value.is_null() {
            return FileEffects::default();
        }
        let Some(entries) = value.as_array() else { return FileEffects { list: Vec::new(), unclear: true } };
        let list: Vec<FileEffect> = entries.iter().filter_map(FileEffect::read).collect();
        FileEffects { unclear: list.len() < entries.len(), list }
    }
}

impl FileEffect {
    /// As a command without words, which stands in no text.
    pub fn command(&self, facts: &Facts) -> Command {
        let fields = self.paths.iter().chain(&self.to);
        let paths: Vec<ToolPath<'_>> =
            fields.map(|field| ToolPath { text: &field.value, span: Span::default() }).collect();
        file_action(self.action, self.recursive, &paths, facts)
    }

    /// None if it cannot be read as a whole.
    fn read(value: &serde_json::Value) -> Option<Self> {
        let action = FileAction::named(value.get("effect")?.as_str()?)?;
        let field = |field: &serde_json::Value| {
            let text = |key: &str| Some(field.get(key)?.as_str()?.to_owned());
            Some(Field { name: text("name")?, value: text("value")? })
        };
        let mut paths = value.get("paths")?.as_array()?.iter().map(field).collect::<Option<Vec<_>>>()?;
        if paths.is_empty() && action == FileAction::Search {
            // It searches where it is.
            paths.push(Field { name: "cwd".to_owned(), value: ".".to_owned() });
        }
        let to = match value.get("to").filter(|to| !to.is_null()) {
            Some(to) => Some(field(to)?),
            None => None,
        };
        let recursive = match value.get("recursive") {
            None | Some(serde_json::Value::Null) => false,
            Some(recursive) => recursive.as_bool()?,
        };
        // One that puts files somewhere says where, and no other does.
        (action.has_target() == to.is_some()).then_some(FileEffect { action, paths, to, recursive })
    }
}

/// The texts that a tool writes, out of its own input, a JSON text: every text there but those that name files or say what
/// is replaced. An input that is no JSON is one text.
pub fn contents(input: &str) -> Vec<Field> {
    /// Keys of texts that are not written.
    const OTHERS: &[&str] =
        &["path", "file", "filename", "glob", "cwd", "description", "explanation", "mode", "type", "id"];
    fn gather(value: &serde_json::Value, name: &str, found: &mut Vec<Field>) {
        let other = |key: &str| {
            let key = key.to_ascii_lowercase();
            key.starts_with("old") || key.ends_with("path") || OTHERS.contains(&key.as_str())
        };
        match value {
            serde_json::Value::String(text) => found.push(Field { name: name.to_owned(), value: text.clone() }),
            serde_json::Value::Array(items) => items.iter().for_each(|item| gather(item, name, found)),
            serde_json::Value::Object(entries) => {
                for (key, value) in entries.iter().filter(|(key, _)| !other(key)) {
                    gather(value, &if name.is_empty() { key.clone() } else { format!("{name}.{key}") }, found);
                }
            }
            _ => {}
        }
    }
    let mut found = Vec::new();
    match serde_json::from_str(input) {
        Ok(value) => gather(&value, "", &mut found),
        Err(_) => found.push(Field { name: "input".to_owned(), value: input.to_owned() }),
    }
    found
}

/// The texts, numbers and flags in a tool's own input, a JSON text, each with its place.
pub fn inputs(input: &str) -> Vec<Field> {
    fn gather(value: &serde_json::Value, name: &str, found: &mut Vec<Field>) {
        let field = |value: String| Field { name: name.to_owned(), value };
        match value {
            serde_json::Value::String(text) => found.push(field(text.clone())),
            serde_json::Value::Bool(_) | serde_json::Value::Number(_) => found.push(field(value.to_string())),
            serde_json::Value::Array(items) => items.iter().for_each(|item| gather(item, name, found)),
            serde_json::Value::Object(entries) => {
                for (key, value) in entries {
                    gather(value, &if name.is_empty() { key.clone() } else { format!("{name}.{key}") }, found);
                }
            }
            serde_json::Value::Null => {}
        }
    }
    let mut found = Vec::new();
    if let Ok(value) = serde_json::from_str(input) {
        gather(&value, "", &mut found);
    }
    found
}

/// What calls of a session leave behind for later ones: which files it wrote, and which of them have content that no text
/// shows. What is in them is read when they are run, but where it comes from is not in them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Memory {
    /// Paths, and where their content comes from; the newest last.
    pub files: Vec<(String, Source)>,
    /// Whether there were more than could be kept, so that a file that is not among these may be one of them.
    pub forgotten: bool,
    /// Folders that the session has made repositories of, though they were there before.
    pub repositories: Vec<String>,
    /// Files that the session has written or changed, the newest last. What ends in `/` is a folder with all that is in it.
    pub written: Arc<Vec<String>>,
    /// Files that the session has made of a program of the system, by a copy or another name, and that program. It is empty if
    /// it is not known which file was copied.
    pub programs: Arc<Vec<(String, String)>>,
    /// Where the session has moved files that no build makes again, the newest last.
    pub moved: Arc<Vec<String>>,
    /// Files that the session has put secrets into, and the name of the variable that had each; it is empty for several, or for what
    /// has no name. [`Memory::ANYWHERE`] is every file that the session has written.
    pub secrets: Arc<Vec<(String, String)>>,
}

/// Where a text comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Source {
    /// From something that is not read here.
    Unseen,
    /// Out of another text.
    Decoded,
    /// From another machine.
    Downloaded,
}

/// Most files that are remembered; older ones are forgotten.
const REMEMBERED: usize = 1_000;

/// Most folders that are remembered as made repositories. After so many every one counts as made.
const MADE: usize = 100;

/// Most files that are remembered as written, and most bytes of their paths. After so many every file counts as written.
const WRITTEN: usize = 1_000;
const LONGEST_WRITTEN: usize = 60 << 10;

/// Most copies of programs that are remembered, the newest.
const PROGRAMS: usize = 100;

/// Most places that are remembered as where something was moved, the newest.
const MOVED: usize = 100;

/// Most bytes of each list of these, and of files with secrets.
const LONGEST_OTHERS: usize = 12 << 10;

/// Most bytes of the text of a memory: fewer than a host keeps.
const LONGEST_MEMORY: usize = 200 << 10;

impl Memory {
    /// What stands for every folder among those that were made repositories, and for every file among those that were written.
    pub(crate) const ANYWHERE: &str = "/";

    /// Most files with secrets that are remembered, the newest.
    pub(crate) const MOST_SECRETS: usize = 200;

    /// What [`Memory::text`] wrote. Anything else is nothing.
    pub fn read(text: &serde_json::Value) -> Self {
        fn list<T: serde::de::DeserializeOwned + Default>(text: &serde_json::Value, key: &str) -> T {
            let list = text.get(key).and_then(|list| T::deserialize(list).ok());
            list.unwrap_or_default()
        }
        let forgotten = text.get("forgotten").and_then(serde_json::Value::as_bool);
        Memory {
            files: list(text, "files"),
            forgotten: forgotten.unwrap_or_default(),
            repositories: list(text, "repositories"),
            written: Arc::new(list(text, "written")),
            programs: Arc::new(list(text, "programs")),
            moved: Arc::new(list(text, "moved")),
            secrets: Arc::new(list(text, "secrets")),
        }
    }

    /// Whether the session wrote a file, or all of a folder that it is in.
    pub(crate) fn has_written(&self, path: &str) -> bool {
        let above = |folder: &String| folder.ends_with('/') && path.starts_with(folder.as_str());
        self.written.iter().any(|written| written == path || above(written))
    }

    /// Adds files that the session has put secrets into.
    pub(crate) fn add_secrets(&mut self, files: Vec<(String, String)>) {
        let known = Arc::make_mut(&mut self.secrets);
        known.retain(|file| !files.contains(file));
        known.extend(files);
    }

    /// The newest files with secrets, as far as they fit.
    fn kept_secrets(&self) -> Vec<(String, String)> {
        let named: Vec<_> = self.secrets.iter().filter(|(path, _)| path != Self::ANYWHERE).cloned().collect();
        let mut kept = newest(&named, Self::MOST_SECRETS).to_vec();
        if kept.len() < self.secrets.len() {
            kept.insert(0, (Self::ANYWHERE.to_owned(), String::new()));
        }
        kept
    }

    /// Adds files that the session wrote, those among them that are programs, and where it moved some. None if all of that is
    /// known.
    pub(crate) fn after(
        &self,
        written: Vec<String>,
        programs: Vec<(String, String)>,
        moved: Vec<String>,
    ) -> Option<Self> {
        let new: Vec<String> = written.into_iter().filter(|path| !self.written.contains(path)).collect();
        let programs: Vec<_> = programs.into_iter().filter(|one| !self.programs.contains(one)).collect();
        let moved: Vec<String> = moved.into_iter().filter(|path| !self.moved.contains(path)).collect();
        if new.is_empty() && programs.is_empty() && moved.is_empty() {
            return None;
        }
        let mut after = self.clone();
        Arc::make_mut(&mut after.written).extend(new);
        let known = Arc::make_mut(&mut after.programs);
        known.retain(|(path, _)| !programs.iter().any(|(other, _)| other == path));
        known.extend(programs);
        Arc::make_mut(&mut after.moved).extend(moved);
        Some(after)
    }

    /// The newest files that were written, as far as they fit.
    fn kept_written(&self) -> Vec<&str> {
        let mut length = 0;
        let fits = |path: &&String| {
            length += serde_json::json!(path).to_string().len() + 1;
            length <= LONGEST_WRITTEN
        };
        let anywhere = self.written.iter().any(|path| path == Self::ANYWHERE);
        let newest = self.written.iter().rev().filter(|path| *path != Self::ANYWHERE).take(WRITTEN).take_while(fits);
        let mut kept: Vec<&str> = newest.map(String::as_str).collect();
        if anywhere || kept.len() < self.written.len() {
            kept.push(Self::ANYWHERE);
        }
        kept.reverse();
        kept
    }

    /// As a JSON text with `schema` 1: `files`, a list of pairs of a path and `unseen`, `decoded` or `downloaded`,
    /// `forgotten`, true if not all of them fit, now or earlier, `repositories`, `written` and `moved`, lists of paths, `programs`, a
    /// list of pairs of paths, and `secrets`, a list of pairs of a path and the name of a variable.
    pub fn text(&self) -> String {
        // The rest of the text.
        let mut repositories = serde_json::json!(self.repositories);
        if self.repositories.len() > MADE || repositories.to_string().len() > LONGEST_MEMORY / 2 {
            repositories = serde_json::json!([Self::ANYWHERE]);
        }
        let written = self.kept_written();
        let programs = newest(&self.programs, PROGRAMS);
        let moved = newest(&self.moved, MOVED);
        let secrets = self.kept_secrets();
        let lists = [
            serde_json::json!(written),
            serde_json::json!(programs),
            serde_json::json!(moved),
            serde_json::json!(secrets),
        ];
        let others = lists.iter().chain([&repositories]);
        let mut length = 100 + others.map(|list| list.to_string().len()).sum::<usize>();
        let fits = |entry: &&(String, Source)| {
            length += serde_json::json!(entry).to_string().len() + 1;
            length <= LONGEST_MEMORY
        };
        let kept = self.files.iter().rev().take(REMEMBERED).take_while(fits).count();
        let (older, files) = self.files.split_at(self.files.len() - kept);
        let mut text = serde_json::json!({ "schema": 1, "files": files });
        if self.forgotten || !older.is_empty() {
            text["forgotten"] = true.into();
        }
        if !self.repositories.is_empty() {
            text["repositories"] = repositories;
        }
        if !written.is_empty() {
            text["written"] = written.into();
        }
        if !programs.is_empty() {
            text["programs"] = serde_json::json!(programs);
        }
        if !moved.is_empty() {
            text["moved"] = serde_json::json!(moved);
        }
        if !secrets.is_empty() {
            text["secrets"] = serde_json::json!(secrets);
        }
        text.to_string()
    }
}

/// The newest entries of a list: at most so many, and as far as they fit.
fn newest<T: serde::Serialize>(list: &[T], most: usize) -> &[T] {
    let mut length = 0;
    let fits = |entry: &&T| {
        length += serde_json::json!(entry).to_string().len() + 1;
        length <= LONGEST_OTHERS
    };
    let kept = list.iter().rev().take(most).take_while(fits).count();
    &list[list.len() - kept..]
}

/// The events of a session.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Events {
    /// How often the user has set the agent to work.
    pub turn: u64,
    /// The oldest first.
    pub list: Vec<Happened>,
}

/// An event of a session.
#[derive(Clone, Debug, PartialEq, Eq, serde::Deserialize)]
pub struct Happened {
    /// Its name.
    pub event: String,
    /// The turn that it happened in.
    #[serde(default)]
    pub turn: u64,
    /// Whether it may not have happened.
    #[serde(default)]
    pub uncertain: bool,
}

impl Events {
    /// As a call's context has them. Entries that are none are left out.
    pub fn read(value: &serde_json::Value) -> Option<Self> {
        let turn = value.get("turn")?.as_u64()?;
        let list = value.get("list")?.as_array()?.iter();
        let list = list.filter_map(|one| serde_json::from_value(one.clone()).ok()).collect();
        Some(Events { turn, list })
    }
}

/// What a finding asks for; the later one weighs more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Action {
    /// Worth knowing.
    Note,
    /// Let a person decide.
    Ask,
    /// Stop the call.
    Block,
}

/// The words that a rule matched: a byte range of an input field.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Evidence {
    /// The field's name.
    pub field: String,
    /// First byte.
    pub start: usize,
    /// First byte after it.
    pub end: usize,
    /// The text between.
    pub text: String,
}

/// One reason for a verdict.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The rule's name.
    pub rule: String,
    /// What it asks for.
    pub action: Action,
    /// A sentence for the person and the agent.
    pub reason: String,
    /// Where it matched.
    pub evidence: Vec<Evidence>,
}

/// All findings on a call, the weightiest first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Verdict {
    /// Empty for no opinion.
    pub findings: Vec<Finding>,
    /// What the session's memory is if the call runs; `None` if as before.
    pub memory: Option<Memory>,
}

impl Verdict {
    /// What the weightiest finding asks for.
    pub fn action(&self) -> Option<Action> {
        self.findings.first().map(|finding| finding.action)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_files_that_fit_are_remembered() {
        let long = 4_000;
        // Files, the length of their names, whether some were forgotten before; how many are kept at least and at most.
        let cases = [
            (3, 10, false, (3, 3), false),
            (3, 10, true, (3, 3), true),
            (REMEMBERED, 10, false, (REMEMBERED, REMEMBERED), false),
            (REMEMBERED + 1, 10, false, (REMEMBERED, REMEMBERED), true),
            (60, long, false, (50, 51), true),
            (1, LONGEST_MEMORY, false, (0, 0), true),
        ];
        for (count, length, before, (least, most), forgotten) in cases {
            let files = (0..count).map(|n| (format!("{n}{}", "x".repeat(length)), Source::Downloaded)).collect();
            let memory = Memory { files, forgotten: before, ..Memory::default() };
            let text = memory.text();
            let read = Memory::read(&serde_json::from_str(&text).expect("JSON"));
            assert!(text.len() <= LONGEST_MEMORY && (least..=most).contains(&read.files.len()), "{count} {length}");
            assert!(memory.files.ends_with(&read.files), "{count} {length}");
            assert_eq!(read.forgotten, forgotten, "{count} {length}");
        }
    }

    #[test]
    fn files_that_were_written_are_remembered_or_every_file_counts() {
        let paths = |count: usize, length: usize| (0..count).map(|n| format!("/{n}/{}", "x".repeat(length))).collect();
        // How many files, how long their names; how many are kept at least, and whether every file counts.
        for (count, length, least, anywhere) in [
            (0, 9, 0, false),
            (3, 9, 3, false),
            (WRITTEN, 9, WRITTEN, false),
            (WRITTEN + 1, 9, WRITTEN, true),
            (40, 4_000, 14, true),
        ] {
            let programs = vec![("/p/foo".to_owned(), "/bin/rm".to_owned())];
            let memory =
                Memory::default().after(paths(count, length), programs.clone(), Vec::new()).expect("something is new");
            let text = memory.text();
            let read = Memory::read(&serde_json::from_str(&text).expect("JSON"));
            assert!(text.len() <= LONGEST_MEMORY && read.written.len() >= least, "{count} {length}");
            assert!(memory.written.last().is_none_or(|last| read.written.contains(last)), "{count} {length}");
            assert_eq!(read.written.iter().any(|path| path == Memory::ANYWHERE), anywhere, "{count} {length}");
            assert_eq!(
                (&*read.programs, read.after(Vec::new(), programs.clone(), Vec::new())),
                (&programs, None),
                "{count} {length}"
            );
            // Once every file counts, that stays so.
            let again = read.after(paths(1, 1), Vec::new(), Vec::new()).map(|memory| memory.text());
            assert!(again.is_none_or(|text| !anywhere || text.contains("\"/\"")), "{count} {length}");
        }
        // A text of before there were any.
        let old = Memory::read(&serde_json::json!({ "schema": 1, "files": [["/p/a", "downloaded"]] }));
        assert_eq!((old.files.len(), old.written.len(), old.programs.len()), (1, 0, 0));
    }

    #[test]
    fn the_newest_of_each_list_fit() {
        for (count, length, least, anywhere) in
            [(3, 9, 3, false), (90, 9, 90, false), (250, 9, 90, true), (90, 4_000, 2, true)]
        {
            let path = |n: usize| format!("/{n}/{}", "x".repeat(length));
            let paths: Vec<String> = (0..count).map(path).collect();
            let pairs: Vec<_> = paths.iter().map(|path| (path.clone(), "A_KEY".to_owned())).collect();
            let mut memory = Memory::default().after(paths.clone(), pairs.clone(), paths.clone()).expect("new");
            memory.add_secrets(pairs);
            memory.repositories = (0..MADE).map(|n| format!("/{n}/{}", "y".repeat(900))).collect();
            let text = memory.text();
            let read = Memory::read(&serde_json::from_str(&text).expect("JSON"));
            assert!(text.len() <= LONGEST_MEMORY, "{count} {length}: {}", text.len());
            assert!(memory.moved.ends_with(&read.moved) && read.moved.len() >= least, "{count} {length}");
            assert!(memory.programs.ends_with(&read.programs) && read.programs.len() >= least, "{count} {length}");
            assert!(read.secrets.len() >= least && read.secrets.last() == memory.secrets.last(), "{count} {length}");
            let first = read.secrets.first().map(|(path, _)| path.as_str());
            assert_eq!(first == Some(Memory::ANYWHERE), anywhere, "{count} {length}");
            // That stays so.
            assert_eq!(Memory::read(&serde_json::from_str(&read.text()).expect("JSON")).secrets, read.secrets);
        }
    }

    #[test]
    fn effects_that_cannot_be_read_are_not_taken_for_none() {
        let path = r#"{"name": "p", "value": "x"}"#;
        // How many are read, and whether there is more.
        let cases = [
            ("null".to_owned(), 0, false),
            ("[]".to_owned(), 0, false),
            (format!(r#"[{{"effect": "remove", "paths": [{path}]}}]"#), 1, false),
            (format!(r#"[{{"effect": "remove", "paths": [{path}], "to": null, "recursive": null}}]"#), 1, false),
            (format!(r#"[{{"effect": "move", "paths": [{path}], "to": {path}, "recursive": true}}]"#), 1, false),
            (r#"[{"effect": "search", "paths": []}]"#.to_owned(), 1, false),
            (format!(r#"[{{"effect": "remove", "paths": [{path}], "more": 1}}]"#), 1, false),
            ("{}".to_owned(), 0, true),
            ("true".to_owned(), 0, true),
            (r#""remove""#.to_owned(), 0, true),
            ("[1]".to_owned(), 0, true),
            (format!(r#"[{{"effect": "shred", "paths": [{path}]}}]"#), 0, true),
            (format!(r#"[{{"effect": 1, "paths": [{path}]}}]"#), 0, true),
            (format!(r#"[{{"paths": [{path}]}}]"#), 0, true),
            (r#"[{"effect": "remove"}]"#.to_owned(), 0, true),
            (r#"[{"effect": "remove", "paths": ["x"]}]"#.to_owned(), 0, true),
            (r#"[{"effect": "remove", "paths": [{"name": "p"}]}]"#.to_owned(), 0, true),
            (format!(r#"[{{"effect": "remove", "paths": [{path}], "recursive": 1}}]"#), 0, true),
            (format!(r#"[{{"effect": "remove", "paths": [{path}], "to": {path}}}]"#), 0, true),
            (format!(r#"[{{"effect": "copy", "paths": [{path}]}}]"#), 0, true),
            (format!(r#"[{{"effect": "copy", "paths": [{path}], "to": "x"}}]"#), 0, true),
            (format!(r#"[{{"effect": "write", "paths": [{path}]}}, 1]"#), 1, true),
        ];
        for (text, count, unclear) in cases {
            let read = FileEffects::read(&serde_json::from_str(&text).expect("JSON"));
            assert_eq!((read.list.len(), read.unclear), (count, unclear), "{text}");
        }
    }

    #[test]
    fn what_is_written_is_every_text_but_names_and_what_was_there() {
        let cases: &[(&str, &[(&str, &str)])] = &[
            (r#"{"file_path": "a", "content": "x"}"#, &[("content", "x")]),
            (r#"{"path": "a", "old_string": "x", "new_string": "y", "replace_all": true}"#, &[("new_string", "y")]),
            (
                r#"{"filePath": "a", "edits": [{"oldText": "x", "newText": "y"}, {"new": "z"}]}"#,
                &[("edits.newText", "y"), ("edits.new", "z")],
            ),
            (r#"{"patch": "*** Update File: a\n+x"}"#, &[("patch", "*** Update File: a\n+x")]),
            ("no JSON", &[("input", "no JSON")]),
            ("{}", &[]),
        ];
        for (input, expected) in cases {
            let found = contents(input);
            let found: Vec<(&str, &str)> =
                found.iter().map(|field| (field.name.as_str(), field.value.as_str())).collect();
            assert_eq!(found, *expected, "{input}");
        }
    }
}

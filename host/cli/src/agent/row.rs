//! What an agent's tools work on, by the keys of their input: a row for each in its table.

use std::path::Path;

use serde_json::{Map, Value};
use toolgate_host::{Field, ToolCall, ToolKind};

use super::unknown::guessed_with_calls;
use super::{Dialect, OTHER_CWD, OTHER_CWDS, UserTools, note, other_cwds, quoted};

/// What an agent's tool works on, by the keys of its input.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tool {
    pub(crate) name: &'static str,
    pub(crate) row: Row<'static>,
}

/// The keys of a tool's input, by what they hold.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Row<'a> {
    pub(crate) kind: ToolKind,
    /// A shell command, or the patch of a tool that edits. One of these has to be there; all that are there are judged.
    pub(crate) command: &'a [&'a str],
    /// Paths that have to be there.
    pub(crate) required: &'a [&'a str],
    /// Paths that may be there.
    pub(crate) paths: &'a [&'a str],
    /// File name patterns that may be there.
    pub(crate) globs: &'a [&'a str],
    /// The directory that the call works in, instead of the agent's: the first of these that is there.
    pub(crate) cwd: &'a [&'a str],
    /// A directory that it may work in, where no run has shown that the agent does what such a key says: the call is judged
    /// in both.
    pub(crate) other_cwd: &'a [&'a str],
}

impl Row<'static> {
    /// Nothing in it.
    pub(super) const fn of(kind: ToolKind) -> Self {
        Row { kind, command: &[], required: &[], paths: &[], globs: &[], cwd: &[], other_cwd: &[] }
    }
}

impl Tool {
    /// Runs a shell text.
    pub(super) const fn shell(name: &'static str, cwd: &'static [&'static str]) -> Self {
        Tool { name, row: Row { command: &["command", "cmd"], cwd, ..Row::of(ToolKind::Shell) } }
    }

    /// Works on one file.
    pub(super) const fn file(name: &'static str, kind: ToolKind, required: &'static [&'static str]) -> Self {
        Tool { name, row: Row { required, ..Row::of(kind) } }
    }

    /// Looks through a folder.
    pub(super) const fn look(
        name: &'static str,
        kind: ToolKind,
        paths: &'static [&'static str],
        globs: &'static [&'static str],
    ) -> Self {
        Tool { name, row: Row { paths, globs, ..Row::of(kind) } }
    }

    /// Changes files by a patch that names them.
    pub(super) const fn patch(name: &'static str, command: &'static [&'static str]) -> Self {
        Tool { name, row: Row { command, ..Row::of(ToolKind::Edit) } }
    }

    /// Fetches a document.
    pub(super) const fn fetch(name: &'static str, paths: &'static [&'static str]) -> Self {
        Tool { name, row: Row { paths, ..Row::of(ToolKind::Fetch) } }
    }

    /// Does something that no path is in.
    pub(super) const fn other(name: &'static str, kind: ToolKind) -> Self {
        Tool { name, row: Row::of(kind) }
    }
}

/// Fills in what a tool works on: by the user's row for it, else by the agent's, else by what its fields look like. An
/// error says which field is missing or of the wrong type.
pub(crate) fn read(agent: &dyn Dialect, name: &str, input: &Value, call: ToolCall) -> Result<ToolCall, String> {
    let known = agent.tools().iter().find(|tool| tool.name == name);
    let mut made = match (UserTools::row(agent.name(), name)?, known) {
        (Some(own), None) => own.with(|row| filled(agent, row, name, input, call)),
        // What is known of a tool stays known.
        (Some(own), Some(tool)) => {
            let first = filled(agent, &tool.row, name, input, call.clone())?;
            let second = own.with(|row| filled(agent, row, name, input, call))?;
            let commands = first.command.iter().chain(&second.command).cloned().collect();
            // Where the row says that it works, and where it does without it.
            let mut folders = other_cwds(&first);
            folders.extend(Some(second.cwd.clone()).filter(|cwd| *cwd != first.cwd));
            folders.extend(other_cwds(&second));
            let mut both = ToolCall {
                command: if first.command == second.command { first.command } else { together(commands) },
                paths: [first.paths, second.paths].concat(),
                globs: [first.globs, second.globs].concat(),
                ..first
            };
            if !folders.is_empty() {
                note(&mut both, OTHER_CWDS, folders.into());
            }
            Ok(both)
        }
        (None, Some(tool)) => filled(agent, &tool.row, name, input, call),
        (None, None) => guessed_with_calls(agent, name, input, call),
    }?;
    if let Some(shell) = made.command.as_ref().and_then(|_| other_shell(name)) {
        note(&mut made, SHELL, shell.into());
    }
    // No file has one in its path, and what is left without it may be another path.
    match made.paths.iter().chain(&made.globs).find(|field| field.value.contains('\0')) {
        Some(field) => Err(format!("the field {} of {name} contains a NUL byte", field.name)),
        None => Ok(made),
    }
}

/// The key of a call's context that says for which shell its text is, if that is none of the Bourne family.
const SHELL: &str = "shell";

/// The shell outside the Bourne family that a tool of this name runs: `PowerShell` of Claude Code, `mcp__pc__run_pwsh`.
fn other_shell(tool: &str) -> Option<&'static str> {
    const NAMES: &[(&str, &str)] = &[
        ("powershell", "powershell"),
        ("pwsh", "powershell"),
        ("nushell", "nu"),
        ("xonsh", "xonsh"),
        ("elvish", "elvish"),
    ];
    let tool = tool.to_ascii_lowercase();
    match tool.as_str() {
        "cmd" | "cmd.exe" => Some("cmd"),
        "fish" => Some("fish"),
        _ => NAMES.iter().find(|(name, _)| tool.contains(name)).map(|(_, shell)| *shell),
    }
}

/// Fills in what a tool works on that has a row.
fn filled(
    agent: &dyn Dialect,
    row: &Row<'_>,
    name: &str,
    input: &Value,
    mut call: ToolCall,
) -> Result<ToolCall, String> {
    let fields = input.as_object().ok_or_else(|| format!("the input of {name} is not a JSON object"))?;
    let fields = Fields { of: name, fields };
    call.input = input.to_string();
    call.kind = row.kind;
    call.command = command(row, &fields)?;
    let paths = paths(row, &fields)?;
    let home = call.home.clone();
    let spelled = |field: Field| spelled(agent, home.as_deref(), field);
    match row.kind {
        ToolKind::Fetch => call.paths.extend(paths.iter().flat_map(files_of)),
        ToolKind::Search | ToolKind::List => {
            let each = paths.into_iter().flat_map(|field| listed(&call.cwd, field));
            let each: Vec<Field> = each.flat_map(spelled).collect();
            call.paths.extend(each);
        }
        _ => call.paths.extend(paths.into_iter().flat_map(spelled)),
    }
    for key in row.globs {
        for field in fields.several(key)? {
            let each = agent.patterns(name, &field.value).into_iter();
            let each = each.map(|value| Field { name: field.name.clone(), value });
            call.globs.extend(each.flat_map(spelled));
        }
    }
    let named = |cwd: &str, field: Field| -> Vec<String> {
        spelled(field).iter().map(|field| below(cwd, &field.value, home.as_deref())).collect()
    };
    // How the agent reads it need not be the first way.
    let mut others: Vec<String> = Vec::new();
    if let Some(field) = fields.first(row.cwd)? {
        others = named(&call.cwd, field);
        call.cwd = others.remove(0);
    }
    if let Some(field) = fields.first(row.other_cwd)?.filter(|field| !field.value.is_empty()) {
        let mut named = named(&call.cwd, field);
        note(&mut call, OTHER_CWD, named.remove(0).into());
        others.append(&mut named);
    }
    if !others.is_empty() {
        note(&mut call, OTHER_CWDS, others.into());
    }
    Ok(call)
}

/// The input of a tool, and its name for what is wrong with it.
struct Fields<'a> {
    of: &'a str,
    fields: &'a Map<String, Value>,
}

impl Fields<'_> {
    fn text(&self, key: &str) -> Result<Option<Field>, String> {
        match self.fields.get(key) {
            Some(Value::String(text)) => Ok(Some(Field { name: key.to_owned(), value: text.clone() })),
            None | Some(Value::Null) => Ok(None),
            Some(_) => Err(format!("the field {key} of {} is not a string", self.of)),
        }
    }

    fn first(&self, keys: &[&str]) -> Result<Option<Field>, String> {
        keys.iter().find_map(|key| self.text(key).transpose()).transpose()
    }

    fn several(&self, key: &str) -> Result<Vec<Field>, String> {
        let Some(Value::Array(items)) = self.fields.get(key) else {
            return Ok(self.text(key)?.into_iter().collect());
        };
        let field = |(at, item): (usize, &Value)| match item {
            Value::String(text) => Ok(Field { name: format!("{key}/{at}"), value: text.clone() }),
            _ => Err(format!("the field {key} of {} contains a value that is not a string", self.of)),
        };
        items.iter().enumerate().map(field).collect()
    }

    fn missing(&self, key: &str) -> String {
        format!("the input of {} has no {key}", self.of)
    }
}

/// What the tool runs, or the patch that it applies.
fn command(row: &Row<'_>, fields: &Fields<'_>) -> Result<Option<Field>, String> {
    // Which of several the agent takes is not told by their being there.
    let commands: Result<Vec<Field>, String> =
        row.command.iter().filter_map(|key| fields.text(key).transpose()).collect();
    let mut commands = commands?;
    if let (true, Some(key)) = (commands.is_empty(), row.command.first()) {
        return Err(fields.missing(key));
    }
    Ok(match row.kind {
        ToolKind::Shell => together(commands),
        _ if commands.len() > 1 => {
            let texts: Vec<&str> = commands.iter().map(|field| field.value.as_str()).collect();
            // Each is a patch of its own: what one ends with says nothing of the next.
            Some(Field { name: commands[0].name.clone(), value: texts.join("\n*** End Patch\n") })
        }
        _ => commands.pop(),
    })
}

/// The paths that the tool works on, as they are written.
fn paths(row: &Row<'_>, fields: &Fields<'_>) -> Result<Vec<Field>, String> {
    let mut paths = Vec::new();
    for key in row.required {
        paths.push(fields.text(key)?.ok_or_else(|| fields.missing(key))?);
    }
    for key in row.paths {
        paths.extend(fields.several(key)?);
    }
    // A tool that works on a file names it; one that does not may have another name for it.
    let works = matches!(row.kind, ToolKind::Read | ToolKind::Write | ToolKind::Edit);
    match row.paths.first() {
        Some(key) if works && paths.is_empty() => Err(fields.missing(key)),
        _ => Ok(paths),
    }
}

/// The paths that a tool which searches takes a text for. Some take one with blanks apart where there is nothing of that
/// name, as Copilot CLI 1.0.102 does with `grep`, `rg` and `glob`.
fn listed(cwd: &str, field: Field) -> Vec<Field> {
    let text = field.value.trim_matches(is_blank);
    if !text.contains(char::is_whitespace) {
        return vec![field];
    }
    // However the tool reads it: with a tilde it may be in either of two places.
    let is_there = |path: &str| !path.starts_with('~') && Path::new(cwd).join(path).exists();
    if is_there(&field.value) && is_there(text) {
        return vec![field];
    }
    let between = |blank: fn(char) -> bool| text.split(blank).filter(|part| !part.is_empty());
    let mut parts: Vec<&str> = between(|c| c == ' ').collect();
    for part in between(char::is_whitespace) {
        if !parts.contains(&part) {
            parts.push(part);
        }
    }
    let parts: Vec<Field> =
        parts.into_iter().map(|part| Field { name: field.name.clone(), value: part.to_owned() }).collect();
    [field].into_iter().chain(parts).collect()
}

/// A path as it is written, and as it may be meant besides.
fn spelled(agent: &dyn Dialect, home: Option<&str>, field: Field) -> Vec<Field> {
    let mut others = agent.readings(&field.value);
    // Some agents take blanks at the ends off, as Claude Code 2.1.330 does for `Grep` and `Glob`.
    others.push(field.value.trim_matches(is_blank).to_owned());
    // Some take an address of a file for its path, as Cursor does.
    others.extend(files_of(&field).into_iter().map(|file| file.value));
    // Not every agent takes a tilde for the home folder.
    if field.value.starts_with('~') {
        others.push(format!("./{}", field.value));
        others.extend(at_home(&field, home).map(|field| field.value));
    }
    let name = field.name.clone();
    let mut all = vec![field];
    for value in others {
        if all.iter().all(|known| known.value != value) {
            all.push(Field { name: name.clone(), value });
        }
    }
    all
}

/// A path with a tilde before a `\`, which some take for the home folder as well, as Cursor does.
pub(super) fn at_home(field: &Field, home: Option<&str>) -> Option<Field> {
    let rest = field.value.strip_prefix('~').filter(|rest| rest.starts_with('\\'))?;
    Some(Field { name: field.name.clone(), value: format!("{}{rest}", home?) })
}

/// The files that a URL may name. It is read as browsers and Node do (WHATWG): controls are dropped, `\` is `/`, and what is
/// behind `?` or `#` is no part of the path. And as programs do that only take its scheme off.
pub(super) fn files_of(field: &Field) -> Vec<Field> {
    /// Schemes before that of the document: what shows its source, or looks into it.
    const OUTER: &[&str] = &["view-source:", "jar:"];
    let url = field.value.trim_matches(|c: char| c <= ' ' || is_blank(c)).replace(['\t', '\n', '\r'], "");
    let mut url = url.as_str();
    while let Some(inner) = OUTER.iter().find_map(|outer| without(url, outer)) {
        url = inner;
    }
    // `File: a.rs does not compile` is a sentence.
    let is_sentence = |rest: &&str| rest.starts_with(' ') && rest.trim().contains(' ');
    let Some(rest) = without(url, "file:").filter(|rest| !is_sentence(rest)) else { return Vec::new() };
    let rest = rest.trim_start();
    let rest = rest.replace('\\', "/");
    let bare = decoded(rest.strip_prefix("//").unwrap_or(&rest));
    let path = rest.split(['?', '#']).next().unwrap_or_default();
    // Behind two slashes there is a host.
    let path = match path.strip_prefix("//") {
        Some(rest) => rest.find('/').map_or("", |at| &rest[at..]),
        None => path,
    };
    let absolute = |path: &str| format!("/{}", path.trim_start_matches('/'));
    let mut found = Vec::new();
    if !path.is_empty() {
        found.push(absolute(&decoded(path)));
    }
    if path.contains("//") {
        found.push(absolute(&decoded(&without_dots(path))));
    }
    // What is behind it is in an archive.
    if let Some((archive, _)) = path.split_once("!/") {
        found.push(absolute(&decoded(archive)));
    }
    found.push(absolute(&bare));
    // What is no address at all: `file://~/a`, `file:.env`.
    if !bare.trim_start_matches('/').is_empty() && (!bare.starts_with('/') || bare.starts_with("/~")) {
        found.push(bare.trim_start_matches('/').to_owned());
    }
    let mut seen: Vec<Field> = Vec::new();
    for value in found {
        if seen.iter().all(|other| other.value != value) {
            seen.push(Field { name: field.name.clone(), value });
        }
    }
    seen
}

/// The path of a URL without `.` and `..`, as browsers and Node resolve them: `..` takes away nothing as well as something,
/// so that `/a//../b` is `/a/b`.
fn without_dots(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.strip_prefix('/').unwrap_or(path).split('/') {
        match part.to_ascii_lowercase().replace("%2e", ".").as_str() {
            "." => {}
            ".." => drop(parts.pop()),
            _ => parts.push(part),
        }
    }
    parts.join("/")
}

/// What is behind a scheme, if the URL begins with it.
fn without<'a>(url: &'a str, scheme: &str) -> Option<&'a str> {
    let (start, rest) = url.split_at_checked(scheme.len())?;
    start.eq_ignore_ascii_case(scheme).then_some(rest)
}

/// Whether the languages of the agents take it off the ends of a text: JavaScript counts the byte order mark among them.
fn is_blank(c: char) -> bool {
    c.is_whitespace() || c == '\u{feff}'
}

/// A part of a URL, or a path, with its `%XX` resolved.
pub(super) fn decoded(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut all = Vec::new();
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        let hex = text.get(at + 1..at + 3).filter(|hex| *byte == b'%' && !hex.starts_with('+'));
        let hex = hex.and_then(|hex| u8::from_str_radix(hex, 16).ok());
        all.push(hex.unwrap_or(*byte));
        at += if hex.is_some() { 3 } else { 1 };
    }
    String::from_utf8_lossy(&all).into_owned()
}

/// A directory that a call names, seen from the agent's.
fn below(cwd: &str, named: &str, home: Option<&str>) -> String {
    match (named, named.strip_prefix("~/"), home) {
        ("", ..) => cwd.to_owned(),
        ("~", _, Some(home)) => home.to_owned(),
        (_, Some(rest), Some(home)) => format!("{home}/{rest}"),
        _ if named.starts_with('/') => named.to_owned(),
        _ => format!("{}/{named}", cwd.trim_end_matches('/')),
    }
}

/// Several commands as one text, each closed in itself and in a shell of its own, so that neither a quote left open nor an
/// `exit` or an endless loop in one hides the next.
pub(super) fn together(mut commands: Vec<Field>) -> Option<Field> {
    if commands.len() < 2 {
        return commands.pop();
    }
    let name = commands[0].name.clone();
    let each = commands.iter().map(|command| format!("(eval {}) &", quoted(&command.value)));
    Some(Field { name, value: each.collect::<Vec<_>>().join("\n") })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_urls_are_read_as_their_readers_do() {
        let cases: &[(&str, &[&str])] = &[
            ("file:///a/b", &["/a/b"]),
            ("FILE:/a%2Fb", &["/a/b"]),
            ("file:///a#x", &["/a", "/a#x"]),
            ("file:///a?x", &["/a", "/a?x"]),
            ("file:///a%23x", &["/a#x"]),
            ("file:///a%zz%+1", &["/a%zz%+1"]),
            ("file:///a\\b", &["/a/b"]),
            ("file:\\\\\\a", &["/a"]),
            ("\u{1}fi\nle:///a\tb\u{1f} ", &["/ab"]),
            ("\u{feff}file:///a", &["/a"]),
            ("file://LocalHost/a", &["/a", "/LocalHost/a", "LocalHost/a"]),
            ("file://~/a", &["/a", "/~/a", "~/a"]),
            ("file:///~/a", &["/~/a", "~/a"]),
            ("file:.env", &["/.env", ".env"]),
            ("file:////a", &["/a"]),
            ("file:///a/b/%2e%2E/c", &["/a/b/../c"]),
            ("file:///a/b//../.%2e/c", &["/a/b//../../c", "/a/c"]),
            ("view-source:file:///a", &["/a"]),
            ("jar:file:///a.jar!/b", &["/a.jar!/b", "/a.jar"]),
            ("file:///a!/../b?x", &["/a!/../b", "/a", "/a!/../b?x"]),
            ("file: a is missing", &[]),
            ("https://x/file:///a", &[]),
            ("view-source:https://x", &[]),
            ("fil", &[]),
            ("", &[]),
        ];
        for (url, expected) in cases {
            let found = files_of(&Field { name: String::new(), value: (*url).to_owned() });
            let found: Vec<&str> = found.iter().map(|field| field.value.as_str()).collect();
            assert_eq!(found, *expected, "{url:?}");
        }
    }
}

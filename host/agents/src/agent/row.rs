//! What an agent's tools work on, by the keys of their input: a row for each in its table.

use toolgate_host::{Field, ToolKind};

use crate::text::quoted;

/// What an agent's tool works on, by the keys of its input.
#[derive(Clone, Copy, Debug)]
pub struct Tool {
    pub name: &'static str,
    pub(crate) row: Row<'static>,
}

/// The keys of a tool's input, by what they hold.
#[derive(Clone, Copy, Debug)]
pub struct Row<'a> {
    pub kind: ToolKind,
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
pub(super) fn is_blank(c: char) -> bool {
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

/// How much of a place in an input is kept, in bytes.
const MAX_PLACE: usize = 200;

/// A place below another one, of which only the end is kept: names may be as long as an input.
pub(super) fn place_below(at: &str, part: &str) -> String {
    let at = at.get(at.floor_char_boundary(at.len().saturating_sub(MAX_PLACE))..).unwrap_or_default();
    if at.is_empty() { part.to_owned() } else { format!("{at}/{part}") }
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

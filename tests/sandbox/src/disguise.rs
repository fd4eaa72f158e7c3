//! Ways to have a text run that are not plainly written: a table from text to text, each of which keeps what runs.
//! Not for texts that do not run: that is `data`.
//!
//! A row says nothing of what its text does, so that any row may be put around any other.

use crate::quote::{
    ansi, backticks, base32, base64, double, gzip, heredoc, hex, literal, octal, program, rot13, single, then,
};
use crate::random::Random;
use crate::sandbox::find;

/// The text that a row is given.
#[derive(Debug)]
pub struct Piece<'a> {
    /// Shell text.
    pub text: &'a str,
    /// A shell that understands it.
    pub shell: &'static str,
    /// For choices within a row.
    pub random: &'a mut Random,
}

/// In which shell the text runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Inner {
    /// In the one that reads the row's own text.
    Same,
    /// In the one that the row names by `Piece::shell`.
    Any,
    /// In `/bin/sh`, whatever that is.
    Posix,
}

/// One row.
#[derive(Clone, Copy, Debug)]
pub struct Disguise {
    /// Its name in reports.
    pub name: &'static str,
    /// People write this in everyday work, too: harmless deeds are put into it as well.
    pub ordinary: bool,
    /// The row's own text needs bash.
    pub bash: bool,
    /// Where the text runs.
    pub inner: Inner,
    /// A program that must be there, or nothing.
    pub needs: &'static str,
    /// Makes the new text; `None` if the row does not fit this one.
    pub make: fn(&mut Piece<'_>) -> Option<String>,
}

/// Programs whose name can be written in other ways where it stands as a command.
const PROGRAMS: &[&str] = &[
    "awk", "chmod", "cp", "curl", "dd", "ed", "env", "ex", "find", "git", "install", "ln", "mv", "node", "openssl",
    "perl", "php", "python3", "rm", "rmdir", "rsync", "ruby", "script", "sed", "shred", "sort", "sqlite3", "tar",
    "tee", "truncate", "uniq", "unlink", "vim", "wget", "xargs", "zip",
];

impl Piece<'_> {
    /// A name for a file that a row writes.
    fn file(&mut self, ending: &str) -> String {
        let name = *self.random.pick(&["run", "setup", "fix", "job", "task", "step", "x"]);
        format!("/tmp/{name}{}{ending}", self.random.below(90) + 10)
    }

    /// The text, if it is one line.
    fn line(&self) -> Option<&str> {
        (!self.text.contains('\n')).then_some(self.text)
    }

    /// The words of a text that is one command without any expansion, a leading tilde excepted.
    fn words(&self) -> Option<Vec<&str>> {
        let plain = |char: char| char.is_ascii_alphanumeric() || " _./~:,@%+-".contains(char);
        let words: Vec<&str> = self.text.split(' ').collect();
        let first = words.first()?;
        (self.text.chars().all(plain) && words.len() > 1 && PROGRAMS.contains(first)).then_some(words)
    }

    /// The same, and no word changes in any way.
    fn literal_words(&self) -> Option<Vec<&str>> {
        self.words().filter(|words| !words.iter().any(|word| word.starts_with('~')))
    }

    /// A program's name where it stands as a command: what is before it, the name, what is after it.
    fn program(&mut self) -> Option<(&str, &str, &str)> {
        let text = self.text;
        let mut found = Vec::new();
        let mut quote = None;
        for (at, char) in text.char_indices() {
            match quote {
                Some(open) => {
                    if char == open {
                        quote = None;
                    }
                    continue;
                }
                None if char == '\'' || char == '"' => quote = Some(char),
                None => {}
            }
            // What is in a here-document is someone else's.
            if text[..at].ends_with("<<") {
                break;
            }
            let before = text[..at].trim_end_matches(' ');
            let starts = before.is_empty()
                || before.ends_with([';', '&', '|', '(', '{', '\n'])
                || [" do", " then", ";do", ";then"].iter().any(|word| before.ends_with(word));
            let rest = &text[at..];
            let length = rest.find(|char: char| !char.is_ascii_alphanumeric()).unwrap_or(rest.len());
            if starts && rest[length..].starts_with(' ') && PROGRAMS.contains(&&rest[..length]) {
                found.push((at, length));
            }
        }
        if found.is_empty() {
            return None;
        }
        let (at, length) = *self.random.pick(&found);
        Some((&text[..at], &text[at..at + length], &text[at + length..]))
    }

    /// The program's name in another spelling.
    fn respell(&mut self, with: impl FnOnce(&str) -> Option<String>) -> Option<String> {
        let (before, name, after) = self.program()?;
        Some(format!("{before}{}{after}", with(name)?))
    }

    /// The same, with something said before the text.
    fn prepare(&mut self, with: impl FnOnce(&str) -> Option<(String, String)>) -> Option<String> {
        let (before, name, after) = self.program()?;
        let (first, spelled) = with(name)?;
        Some(then(&first, &format!("{before}{spelled}{after}")))
    }

    /// A path below the home folder that stands unquoted in a text without quotes: before, path, after.
    fn path(&self) -> Option<(&str, &str, &str)> {
        if self.text.contains(['\'', '"', '$', '`', '\n', '\\', '(']) {
            return None;
        }
        let starts = ["/home/dev/", "~/", "../"];
        let at = starts.iter().filter_map(|start| self.text.find(&format!(" {start}"))).min()? + 1;
        let length = self.text[at..].find(|char: char| " ;&|<>{},*?[".contains(char)).unwrap_or(self.text.len() - at);
        (length > 3).then(|| (&self.text[..at], &self.text[at..at + length], &self.text[at + length..]))
    }

    /// `closer` after the text.
    fn close(&self, closer: &str) -> String {
        then(self.text, closer)
    }
}

/// Cuts a word in two, within its letters.
fn halves(word: &str) -> (&str, &str) {
    word.split_at(word.len().div_ceil(2).min(word.len().saturating_sub(1)))
}

fn real(name: &str) -> Option<String> {
    Some(find(name)?.to_string_lossy().into_owned())
}

fn written(p: &mut Piece<'_>, ending: &str) -> (String, String) {
    let file = p.file(ending);
    let text = if p.random.percent(50) {
        heredoc(&format!("cat > {file}"), p.text)
    } else {
        format!("printf '%s\\n' {} > {file}", single(p.text))
    };
    (file, text)
}

fn script(p: &mut Piece<'_>) -> (String, String) {
    let file = p.file(".sh");
    let text = heredoc(&format!("cat > {file}"), &format!("#!/bin/{}\n{}", p.shell, p.text));
    (file, text)
}

const fn row(
    name: &'static str,
    inner: Inner,
    flags: &str,
    needs: &'static str,
    make: fn(&mut Piece<'_>) -> Option<String>,
) -> Disguise {
    let flags = flags.as_bytes();
    let mut at = 0;
    let (mut ordinary, mut bash) = (false, false);
    while at < flags.len() {
        ordinary |= flags[at] == b'o';
        bash |= flags[at] == b'b';
        at += 1;
    }
    Disguise { name, ordinary, bash, inner, needs, make }
}

use Inner::{Any, Posix, Same};

/// Every row. Flags: `o`, ordinary; `b`, needs bash.
#[rustfmt::skip]
pub const DISGUISES: &[Disguise] = &[
    // The program's name.
    row("name: backslash", Same, "", "", |p| p.respell(|name| { let (a, b) = halves(name); Some(format!("{a}\\{b}")) })),
    row("name: leading backslash", Same, "o", "", |p| p.respell(|name| Some(format!("\\{name}")))),
    row("name: quotes", Same, "", "", |p| p.respell(|name| { let (a, b) = halves(name); Some(format!("{a}''{b}")) })),
    row("name: quoted letter", Same, "", "", |p| p.respell(|name| { let (a, b) = halves(name); Some(format!("'{a}'\"{b}\"")) })),
    row("name: quoted", Same, "", "", |p| p.respell(|name| Some(format!("\"{name}\"")))),
    row("name: ANSI-C hex", Same, "b", "", |p| p.respell(|name| { let (a, b) = name.split_at(1); Some(format!("$'\\x{}'{b}", hex(a.as_bytes()))) })),
    row("name: ANSI-C octal", Same, "b", "", |p| p.respell(|name| Some(format!("$'{}'", octal(name.as_bytes()))))),
    row("name: full path", Same, "o", "", |p| p.respell(real)),
    row("name: dotted path", Same, "", "", |p| p.respell(|name| Some(format!("/usr/../{}", real(name)?.trim_start_matches('/'))))),
    row("name: path by pattern", Same, "", "", |p| p.respell(|name| {
        let path = real(name)?;
        let (folder, _) = path.rsplit_once('/')?;
        Some(format!("{folder}/[{}]{}", &name[..1], &name[1..]))
    })),
    row("name: command -v", Same, "o", "", |p| p.respell(|name| Some(format!("$(command -v {name})")))),
    row("name: echo", Same, "", "", |p| p.respell(|name| Some(format!("$(echo {name})")))),
    row("name: backticks", Same, "", "", |p| p.respell(|name| { let (a, b) = halves(name); Some(format!("{a}`echo {b}`")) })),
    row("name: printf octal", Same, "", "", |p| p.respell(|name| Some(format!("$(printf '{}')", octal(name.as_bytes()))))),
    row("name: printf %s", Same, "", "", |p| p.respell(|name| { let (a, b) = halves(name); Some(format!("$(printf '%s%s' {a} {b})")) })),
    row("name: rev", Same, "", "rev", |p| p.respell(|name| Some(format!("$(echo {} | rev)", name.chars().rev().collect::<String>())))),
    row("name: tr", Same, "", "", |p| p.respell(|name| Some(format!("$(echo {} | tr a-z n-za-m)", rot13(name))))),
    row("name: base64", Same, "", "", |p| p.respell(|name| Some(format!("$(echo {} | base64 -d)", base64(name.as_bytes()))))),
    row("name: sed", Same, "", "", |p| p.respell(|name| { let (a, b) = halves(name); Some(format!("$(echo {a}Q{b} | sed s/Q//)")) })),
    row("name: empty expansion", Same, "", "", |p| p.respell(|name| { let (a, b) = halves(name); Some(format!("{a}${{none}}{b}")) })),
    row("name: empty $@", Same, "", "", |p| p.respell(|name| { let (a, b) = halves(name); Some(format!("{a}$@{b}")) })),
    row("name: empty substitution", Same, "", "", |p| p.respell(|name| { let (a, b) = halves(name); Some(format!("{a}$(){b}")) })),
    row("name: default value", Same, "", "", |p| p.respell(|name| Some(format!("${{tool:-{name}}}")))),
    row("name: continued line", Same, "", "", |p| p.respell(|name| { let (a, b) = halves(name); Some(format!("{a}\\\n{b}")) })),
    row("name: variable", Same, "o", "", |p| p.prepare(|name| Some((format!("tool={name}"), "$tool".into())))),
    row("name: two variables", Same, "", "", |p| p.prepare(|name| { let (a, b) = halves(name); Some((format!("a={a}; b={b}"), "$a$b".into())) })),
    row("name: indirection", Same, "b", "", |p| p.prepare(|name| Some((format!("t={name}; v=t"), "${!v}".into())))),
    row("name: nameref", Same, "b", "", |p| p.prepare(|name| Some((format!("t={name}; declare -n v=t"), "$v".into())))),
    row("name: substring", Same, "b", "", |p| p.prepare(|name| Some((format!("s=xy{name}z"), format!("${{s:2:{}}}", name.len()))))),
    row("name: prefix removed", Same, "", "", |p| p.prepare(|name| Some((format!("s=no-{name}"), "${s#no-}".into())))),
    row("name: suffix removed", Same, "", "", |p| p.prepare(|name| Some((format!("s={name}.exe"), "${s%.*}".into())))),
    row("name: replaced letters", Same, "b", "", |p| p.prepare(|name| { let (a, b) = halves(name); Some((format!("s={a}_{b}"), "${s/_/}".into())) })),
    row("name: lower case", Same, "b", "", |p| p.prepare(|name| Some((format!("s={}", name.to_uppercase()), "${s,,}".into())))),
    row("name: array element", Same, "b", "", |p| p.prepare(|name| Some((format!("list=(echo {name} cat)"), "${list[1]}".into())))),
    row("name: associative array", Same, "b", "", |p| p.prepare(|name| Some((format!("declare -A of=([go]={name})"), "${of[go]}".into())))),
    row("name: positional", Same, "", "", |p| p.prepare(|name| Some((format!("set -- {name} x"), "$1".into())))),
    row("name: read", Same, "b", "", |p| p.prepare(|name| Some((format!("read -r tool <<< {name}"), "$tool".into())))),
    row("name: printf -v", Same, "b", "", |p| p.prepare(|name| { let (a, b) = halves(name); Some((format!("printf -v tool '%s%s' {a} {b}"), "$tool".into())) })),
    row("name: appended", Same, "b", "", |p| p.prepare(|name| { let (a, b) = halves(name); Some((format!("t={a}; t+={b}"), "$t".into())) })),
    row("name: for", Same, "", "", |p| { let (before, name, after) = p.program()?; if before.contains("do ") { return None; } let body = then(&format!("{before}$t{after}"), "done"); Some(format!("for t in {name}; do {body}")) }),
    row("name: other name for the file", Same, "", "", |p| { let file = p.file(""); p.prepare(|name| Some((format!("ln -s {} {file}", real(name)?), file))) }),
    row("name: copied program", Same, "", "", |p| { let file = p.file(""); p.prepare(|name| if ["rm", "mv", "cp", "shred", "truncate", "unlink", "tee"].contains(&name) { Some((format!("cp {} {file}", real(name)?), file)) } else { None }) }),
    row("name: hash -p", Same, "b", "", |p| p.prepare(|name| Some((format!("hash -p {} tidy", real(name)?), "tidy".into())))),
    row("name: alias", Same, "b", "", |p| p.prepare(|name| Some((format!("shopt -s expand_aliases\nalias tidy={name}"), "tidy".into())))),
    row("name: function", Same, "", "", |p| p.prepare(|name| Some((format!("tidy() {{ {name} \"$@\"; }}"), "tidy".into())))),
    // Words before the name.
    row("before: command", Same, "o", "", |p| p.respell(|name| Some(format!("command {name}")))),
    row("before: env", Same, "o", "", |p| p.respell(|name| Some(format!("env {name}")))),
    row("before: env with values", Same, "o", "", |p| p.respell(|name| Some(format!("env -u FOO LANG=C {name}")))),
    row("before: nice", Same, "o", "", |p| p.respell(|name| Some(format!("nice -n 5 {name}")))),
    row("before: nohup", Same, "o", "", |p| p.respell(|name| Some(format!("nohup {name}")))),
    row("before: timeout", Same, "o", "", |p| p.respell(|name| Some(format!("timeout -k 1 4 {name}")))),
    row("before: setsid", Same, "", "setsid", |p| p.respell(|name| Some(format!("setsid -w {name}")))),
    row("before: stdbuf", Same, "o", "stdbuf", |p| p.respell(|name| Some(format!("stdbuf -oL {name}")))),
    row("before: time", Same, "bo", "", |p| { let (before, name, after) = p.program()?; before.is_empty().then(|| format!("time {name}{after}")) }),
    row("before: assignment", Same, "o", "", |p| p.respell(|name| Some(format!("LC_ALL=C {name}")))),
    row("before: redirection", Same, "", "", |p| p.respell(|name| Some(format!("2>/dev/null {name}")))),
    row("before: negation", Same, "", "", |p| { let (before, name, after) = p.program()?; before.is_empty().then(|| format!("! {name}{after}")) }),
    row("before: exec in a subshell", Same, "", "", |p| { let words = p.words()?.join(" "); Some(format!("(exec {words})")) }),
    row("before: exec -a", Same, "b", "", |p| { let words = p.words()?.join(" "); Some(format!("(exec -a ls {words})")) }),
    row("before: ionice", Same, "o", "ionice", |p| p.respell(|name| Some(format!("ionice -c3 {name}")))),
    row("before: flock", Same, "", "flock", |p| p.respell(|name| Some(format!("flock /tmp/lock {name}")))),
    row("before: loader", Same, "", "", |p| { let loader = "/lib64/ld-linux-x86-64.so.2"; if !std::path::Path::new(loader).exists() { return None; } p.respell(|name| if ["rm", "mv", "cp", "shred", "truncate", "unlink"].contains(&name) { Some(format!("{loader} {}", real(name)?)) } else { None }) }),
    // The words of one command.
    row("words: array", Same, "bo", "", |p| Some(format!("cmd=({}); \"${{cmd[@]}}\"", p.words()?.join(" ")))),
    row("words: variable", Same, "o", "", |p| Some(format!("cmd=\"{}\"; $cmd", p.literal_words()?.join(" ")))),
    row("words: positional", Same, "", "", |p| Some(format!("set -- {}; \"$@\"", p.words()?.join(" ")))),
    row("words: braces", Same, "b", "", |p| Some(format!("{{{}}}", p.words().filter(|words| !words.iter().any(|word| word.is_empty() || word.contains(',')))?.join(",")))),
    row("words: IFS", Same, "", "", |p| Some(p.literal_words()?.join("${IFS}"))),
    row("words: own IFS", Same, "", "", |p| { let words = p.literal_words()?.join("%"); Some(format!("IFS=%; c={}; $c", single(&words))) }),
    row("words: substitution", Same, "", "", |p| Some(format!("$(echo {})", p.literal_words()?.join(" ")))),
    row("words: through a function", Same, "o", "", |p| Some(format!("run() {{ \"$@\"; }}; run {}", p.words()?.join(" ")))),
    row("words: sh -c $0 $@", Same, "", "", |p| Some(format!("sh -c '\"$0\" \"$@\"' {}", p.words()?.join(" ")))),
    row("words: bash -c shift", Same, "", "", |p| Some(format!("bash -c 'shift; \"$@\"' x y {}", p.words()?.join(" ")))),
    row("words: env -S", Same, "", "", |p| Some(format!("env -S {}", single(&p.literal_words()?.join(" "))))),
    row("words: xargs last", Same, "o", "", |p| { let words = p.words()?; let (last, first) = words.split_last()?; Some(format!("echo {last} | xargs {}", first.join(" "))) }),
    row("words: xargs all", Same, "", "", |p| { let words = p.words()?; let (first, rest) = words.split_first()?; Some(format!("echo {} | xargs {first}", rest.join(" "))) }),
    row("words: xargs env", Same, "", "", |p| Some(format!("echo {} | xargs env", p.words()?.join(" ")))),
    row("words: xargs -I", Same, "", "", |p| { let words = p.words()?; let (last, first) = words.split_last()?; Some(format!("printf '%s\\n' {last} | xargs -I% {} %", first.join(" "))) }),
    row("words: find -exec", Same, "", "", |p| Some(format!("find . -maxdepth 0 -exec {} \\;", p.words()?.join(" ")))),
    row("words: subprocess", Same, "", "python3", |p| { let words: Vec<String> = p.literal_words()?.iter().map(|word| program(word)).collect(); Some(format!("python3 -c 'import subprocess; subprocess.run([{}])'", words.join(", "))) }),
    row("words: execFileSync", Same, "", "node", |p| { let words = p.literal_words()?; let (first, rest) = words.split_first()?; let rest: Vec<String> = rest.iter().map(|word| program(word)).collect(); Some(format!("node -e 'require(\"child_process\").execFileSync({}, [{}])'", program(first), rest.join(", "))) }),
    row("words: perl list", Same, "", "perl", |p| { let words: Vec<String> = p.literal_words()?.iter().map(|word| program(word)).collect(); if p.text.contains('@') { return None; } Some(format!("perl -e 'exec({})'", words.join(", "))) }),
    // The path.
    row("path: variable", Same, "o", "", |p| { let (before, path, after) = p.path()?; Some(format!("dir={path}; {before}\"$dir\"{after}")) }),
    row("path: two variables", Same, "", "", |p| { let (before, path, after) = p.path()?; let (a, b) = path.rsplit_once('/')?; Some(format!("base={a}; name={}; {before}\"$base/$name\"{after}", if b.is_empty() { "." } else { b })) }),
    row("path: substitution", Same, "", "", |p| { let (before, path, after) = p.path()?; Some(format!("{before}\"$(echo {path})\"{after}")) }),
    row("path: pattern", Same, "", "", |p| { let (before, path, after) = p.path()?; let cut = path.len() - 1; let last = &path[cut..]; if after.starts_with('/') || last == "/" || before.trim_end().ends_with('>') { return None; } Some(format!("{before}{}[{last}]{after}", &path[..cut])) }),
    row("path: quotes inside", Same, "", "", |p| { let (before, path, after) = p.path()?; let (a, b) = path.split_at(path.len() - 2); Some(format!("{before}{a}''{b}{after}")) }),
    row("path: there and back", Same, "", "", |p| { let (before, path, after) = p.path()?; Some(format!("{before}{path}/../{}{after}", path.trim_end_matches('/').rsplit('/').next()?)).filter(|_| { let name = path.trim_end_matches('/').rsplit('/').next().unwrap_or(""); !name.contains('.') || name.starts_with('.') }) }),
    row("path: dots and slashes", Same, "", "", |p| { let (before, path, after) = p.path()?; let (a, b) = path.split_at(path.find('/')? + 1); Some(format!("{before}{a}.//{b}{after}")) }),
    row("path: read from a file", Same, "", "", |p| { let file = p.file(".txt"); let (before, path, after) = p.path()?; Some(format!("echo {path} > {file}; {before}\"$(cat {file})\"{after}")) }),
    row("path: parameter", Same, "o", "", |p| { let (before, path, after) = p.path()?; Some(format!("go() {{ {before}\"$1\"{after}; }}; go {path}")) }),
    row("path: loop variable", Same, "o", "", |p| { let (before, path, after) = p.path()?; Some(format!("for d in {path}; do {before}\"$d\"{after}; done")) }),
    row("path: default value", Same, "o", "", |p| { let (before, path, after) = p.path()?; Some(format!("{before}${{TARGET:-{path}}}{after}")) }),
    row("path: eval", Same, "", "", |p| { let (before, path, after) = p.path()?; let path = single(path); Some(format!("eval p={path}; {before}\"$p\"{after}")) }),
    row("path: realpath", Same, "", "", |p| { let (before, path, after) = p.path()?; Some(format!("{before}\"$(realpath -m {path})\"{after}")) }),
    // A shell for the text.
    row("shell: -c", Any, "o", "", |p| Some(format!("{} -c {}", p.shell, single(p.text)))),
    row("shell: -c double", Any, "o", "", |p| Some(format!("{} -c {}", p.shell, double(p.text)))),
    row("shell: flags", Any, "o", "", |p| Some(format!("{} -euc {}", p.shell, single(p.text))).filter(|_| !p.text.contains(['$', '!']))),
    row("shell: bash -lc", Same, "o", "", |p| Some(format!("bash -lc {}", single(p.text)))),
    row("shell: bash options", Same, "", "", |p| Some(format!("bash --norc -o pipefail -c {}", single(p.text)))),
    row("shell: variable", Any, "", "", |p| Some(format!("c={}; {} -c \"$c\"", single(p.text), p.shell))),
    row("shell: argument", Any, "", "", |p| Some(format!("{} -c 'eval \"$1\"' _ {}", p.shell, single(p.text)))),
    row("shell: environment", Any, "", "", |p| Some(format!("C={} {} -c 'eval \"$C\"'", single(p.text), p.shell))),
    row("shell: exported", Any, "", "", |p| Some(format!("export C={}; {} -c '{} -c \"$C\"'", single(p.text), p.shell, p.shell))),
    row("shell: by name in a variable", Any, "", "", |p| Some(format!("s={}; $s -c {}", p.shell, single(p.text)))),
    row("shell: env", Any, "o", "", |p| Some(format!("env A=1 {} -c {}", p.shell, single(p.text)))),
    row("shell: timeout", Any, "o", "", |p| Some(format!("timeout 5 {} -c {}", p.shell, single(p.text)))),
    row("shell: nohup", Any, "o", "", |p| Some(format!("nohup {} -c {} >/dev/null 2>&1", p.shell, single(p.text)))),
    row("shell: setsid", Any, "", "setsid", |p| Some(format!("setsid --wait {} -c {}", p.shell, single(p.text)))),
    row("shell: flock -c", Posix, "", "flock", |p| Some(format!("SHELL=/bin/sh flock /tmp/lock2 -c {}", single(p.text)))),
    row("shell: script -c", Same, "", "script", |p| Some(format!("script -qc {} /dev/null", single(p.text)))),
    row("shell: xargs", Any, "", "", |p| Some(format!("echo go | xargs -n1 {} -c {}", p.shell, single(p.text)))),
    row("shell: xargs -I", Any, "", "", |p| Some(format!("printf '%s\\0' {} | xargs -0 -I@@ {} -c @@", single(p.text), p.shell)).filter(|_| !p.text.contains("@@"))),
    row("shell: find -exec", Any, "", "", |p| Some(format!("find . -maxdepth 0 -exec {} -c {} \\;", p.shell, single(p.text))).filter(|_| !p.text.contains("{}"))),
    row("shell: exec", Any, "", "", |p| Some(format!("exec {} -c {}", p.shell, single(p.text)))),
    row("shell: git alias", Posix, "", "git", |p| Some(format!("git -c alias.go={} go", single(&format!("!{}", p.line()?))))),
    row("shell: git rebase --exec", Posix, "", "git", |p| Some(format!("git -C /tmp clone -q $PWD r 2>/dev/null; git -C /tmp/r rebase -q --exec {} HEAD~1", single(&format!("cd /home/dev/project; unset GIT_DIR GIT_WORK_TREE; {}", p.line()?))))),
    row("shell: GIT_SSH_COMMAND", Posix, "", "git", |p| { let (file, text) = script(p); Some(then(&text, &format!("GIT_SSH_COMMAND='sh {file}' git ls-remote ssh://host/x 2>/dev/null"))) }),
    row("shell: GIT_EDITOR", Posix, "", "git", |p| { let (file, text) = script(p); Some(then(&text, &format!("GIT_EDITOR='sh {file}' git -C ~/project config --local -e"))) }),
    row("shell: pager", Posix, "", "git", |p| Some(format!("script -qc {} /dev/null", single(&format!("git -c core.pager={} -p log", single(&format!("cat >/dev/null; {}", p.line()?)))))).filter(|_| find("script").is_some())),
    row("shell: git bisect", Any, "", "git", |p| { let (file, text) = script(p); Some(then(&text, &format!("git clone -q . /tmp/b; (cd /tmp/b && git bisect start HEAD HEAD~2 >/dev/null && git bisect run {} -c 'cd /home/dev/project && . {file}')", p.shell))) }),
    // Text that is made while it runs.
    row("eval: quoted", Same, "", "", |p| Some(format!("eval {}", single(p.text)))),
    row("eval: double", Same, "", "", |p| Some(format!("eval {}", double(p.text)))),
    row("eval: words", Same, "", "", |p| Some(format!("eval {}", p.words()?.iter().map(|word| single(word)).collect::<Vec<_>>().join(" ")))),
    row("eval: variable", Same, "", "", |p| Some(format!("c={}; eval \"$c\"", single(p.text)))),
    row("eval: parts", Same, "", "", |p| { let at = p.text.char_indices().nth(p.text.chars().count() / 2)?.0; let (a, b) = p.text.split_at(at); Some(format!("a={}; b={}; eval \"$a$b\"", single(a), single(b))) }),
    row("eval: printf", Same, "", "", |p| Some(format!("eval \"$(printf '%s' {})\"", single(p.text)))),
    row("eval: base64", Same, "", "", |p| Some(format!("eval \"$(echo {} | base64 -d)\"", base64(p.text.as_bytes())))),
    row("eval: ANSI-C", Same, "b", "", |p| Some(format!("eval {}", ansi(p.text)))),
    row("eval: heredoc", Same, "", "", |p| Some(format!("eval \"$({}\n)\"", heredoc("cat", p.text)))),
    row("eval: read", Same, "", "", |p| { let text = heredoc("read -r c", p.line()?); Some(format!("{text}\neval \"$c\"")) }),
    row("eval: decoded function", Same, "", "", |p| Some(format!("f() {{ echo {} | base64 --decode; }}; eval \"$(f)\"", base64(p.text.as_bytes())))),
    row("eval: @P", Same, "b", "", |p| { let inner = format!("$({})", p.close(":")); Some(format!("c={}; : \"${{c@P}}\"", single(&inner))).filter(|_| !p.text.contains(['\\', '\n'])) }),
    row("expanded: substitution", Same, "", "", |p| Some(format!(": \"$({})\"", p.close(":"))).filter(|_| !p.text.contains("<<"))),
    row("expanded: backticks", Same, "", "", |p| Some(format!("x={}", backticks(p.text))).filter(|_| !p.text.contains("<<"))),
    row("expanded: in an argument", Same, "", "", |p| Some(format!("echo done $({})", p.close(":"))).filter(|_| !p.text.contains("<<"))),
    row("expanded: default", Same, "", "", |p| Some(format!(": \"${{unset_here:=$({})}}\"", p.line()?)).filter(|_| !p.text.contains(['"', '}', '<']))),
    row("expanded: arithmetic", Same, "b", "", |p| Some(format!("x={}; (( x ))", single(&format!("a[$({})]", p.line()?)))).filter(|_| !p.text.contains([']', '<']))),
    row("expanded: heredoc", Same, "", "", |p| Some(format!("cat <<GO >/dev/null\n$({})\nGO", p.line()?)).filter(|_| !p.text.contains("<<"))),
    row("expanded: PS4", Same, "b", "", |p| Some(format!("PS4={}; set -x; true", single(&format!("$(set +x; {})", p.line()?)))).filter(|_| !p.text.contains(['\\', '<']))),
    row("expanded: process substitution", Same, "b", "", |p| Some(format!("cat <({}) >/dev/null", p.close(":"))).filter(|_| !p.text.contains("<<"))),
    row("expanded: test", Same, "", "", |p| Some(format!("[ -z \"$({})\" ]", p.line()?)).filter(|_| !p.text.contains("<<"))),
    // Encodings.
    row("decoded: base64", Any, "", "", |p| Some(format!("echo {} | base64 -d | {}", base64(p.text.as_bytes()), p.shell))),
    row("decoded: base64 printf", Any, "", "", |p| Some(format!("printf %s {} | base64 --decode | {} -s", base64(p.text.as_bytes()), p.shell))),
    row("decoded: base64 here-string", Any, "b", "", |p| Some(format!("{} <(base64 -d <<< {})", "bash", base64(p.text.as_bytes())))),
    row("decoded: base64 -c", Any, "", "", |p| Some(format!("{} -c \"$(echo {} | base64 -d)\"", p.shell, base64(p.text.as_bytes())))),
    row("decoded: base64 variable", Any, "", "", |p| Some(format!("x={}; echo \"$x\" | base64 -d | {}", base64(p.text.as_bytes()), p.shell))),
    row("decoded: base64 file", Any, "", "", |p| { let file = p.file(".b64"); Some(format!("echo {} > {file}; base64 -d {file} | {}", base64(p.text.as_bytes()), p.shell)) }),
    row("decoded: base32", Any, "", "base32", |p| Some(format!("echo {} | base32 -d | {}", base32(p.text.as_bytes()), p.shell))),
    row("decoded: hex", Any, "", "xxd", |p| Some(format!("echo {} | xxd -r -p | {}", hex(p.text.as_bytes()), p.shell))),
    row("decoded: gzip", Any, "", "gzip", |p| Some(format!("echo {} | base64 -d | gzip -dc | {}", base64(&gzip(p.text.as_bytes())?), p.shell))),
    row("decoded: zcat", Any, "", "gzip", |p| Some(format!("echo {} | base64 -d | zcat | {}", base64(&gzip(p.text.as_bytes())?), p.shell))),
    row("decoded: openssl", Any, "", "openssl", |p| Some(format!("echo {} | openssl enc -base64 -d -A | {}", base64(p.text.as_bytes()), p.shell))),
    row("decoded: octal", Any, "", "", |p| Some(format!("printf '{}' | {}", octal(p.text.as_bytes()), p.shell))),
    row("decoded: printf %b", Any, "", "", |p| Some(format!("printf '%b\\n' '{}' | {}", octal(p.text.as_bytes()).replace('\\', "\\0"), p.shell))),
    row("decoded: echo -e", Any, "b", "", |p| { let bytes: String = p.text.bytes().map(|byte| format!("\\x{byte:02x}")).collect(); Some(format!("echo -e '{bytes}' | {}", p.shell)) }),
    row("decoded: ANSI-C", Any, "b", "", |p| { let bytes: String = p.text.bytes().map(|byte| format!("\\x{byte:02x}")).collect(); Some(format!("{} -c $'{bytes}'", p.shell)) }),
    row("decoded: rev", Any, "", "rev", |p| { let text: String = p.line()?.chars().rev().collect(); Some(format!("printf '%s\\n' {} | rev | {}", single(&text), p.shell)) }),
    row("decoded: rot13", Any, "", "", |p| Some(format!("printf '%s\\n' {} | tr 'A-Za-z' 'N-ZA-Mn-za-m' | {}", single(&rot13(p.text)), p.shell))),
    row("decoded: sed", Any, "", "", |p| Some(format!("printf '%s\\n' {} | sed 's/@-/ /g' | {}", single(&p.text.replace(' ', "@-")), p.shell))),
    row("decoded: cut", Any, "", "", |p| Some(format!("printf '%s\\n' {} | cut -c4- | {}", single(&p.text.lines().map(|line| format!("## {line}")).collect::<Vec<_>>().join("\n")), p.shell))),
    row("decoded: tail", Any, "", "", |p| Some(format!("printf '%s\\n' 'not this' {} | tail -n +2 | {}", single(p.text), p.shell))),
    row("decoded: grep", Any, "", "", |p| Some(format!("printf '%s\\n' 'nothing to see' {} | grep -v nothing | {}", single(p.text), p.shell)).filter(|_| !p.text.contains("nothing"))),
    row("decoded: python", Any, "", "python3", |p| Some(format!("python3 -c 'import base64; print(base64.b64decode(\"{}\").decode())' | {}", base64(p.text.as_bytes()), p.shell))),
    row("decoded: perl", Any, "", "perl", |p| Some(format!("perl -MMIME::Base64 -e 'print decode_base64(\"{}\")' | {}", base64(p.text.as_bytes()), p.shell))),
    row("decoded: awk", Any, "", "awk", |p| { let codes: Vec<String> = p.text.bytes().map(|byte| byte.to_string()).collect(); Some(format!("echo {} | awk '{{ for (i = 1; i <= NF; i++) printf \"%c\", $i }}' | {}", codes.join(" "), p.shell)) }),
    // Standard input and other descriptors.
    row("input: echo", Any, "", "", |p| Some(format!("echo {} | {}", single(p.line()?), p.shell)).filter(|_| !p.text.contains('\\'))),
    row("input: printf", Any, "", "", |p| Some(format!("printf '%s\\n' {} | {}", single(p.text), p.shell))),
    row("input: heredoc", Any, "o", "", |p| Some(heredoc(p.shell, p.text))),
    row("input: heredoc -s", Any, "o", "", |p| Some(heredoc(&format!("{} -s --", p.shell), p.text))),
    row("input: open heredoc", Any, "", "", |p| Some(format!("{} <<GO\n{}\nGO", p.shell, p.text.replace('\\', "\\\\").replace('$', "\\$").replace('`', "\\`")))),
    row("input: cat heredoc", Any, "", "", |p| Some(heredoc("cat", p.text).replacen('\n', &format!(" | {}\n", p.shell), 1))),
    row("input: here-string", Any, "b", "", |p| Some(format!("{} <<< {}", p.shell, single(p.text)))),
    row("input: dot stdin", Same, "", "", |p| Some(heredoc(". /dev/stdin", p.text))),
    row("input: source process", Same, "b", "", |p| Some(format!("source <(printf '%s\\n' {})", single(p.text)))),
    row("input: bash process", Same, "b", "", |p| Some(format!("bash <(printf '%s\\n' {})", single(p.text)))),
    row("input: descriptor", Any, "b", "", |p| Some(format!("exec 4<<< {}; {} <&4", single(p.text), p.shell))),
    row("input: /dev/fd", Any, "", "", |p| Some(heredoc(&format!("{} /dev/fd/5 5", p.shell), p.text).replacen("5 <<", "5<<", 1))),
    row("input: tee", Any, "", "", |p| Some(format!("printf '%s\\n' {} | tee /dev/null | {}", single(p.text), p.shell))),
    row("input: while read", Same, "", "", |p| Some(heredoc("while read -r l; do eval \"$l\"; done", p.line()?))),
    row("input: pipe", Any, "", "", |p| { let pipe = p.file(".pipe"); Some(format!("mkfifo {pipe}; printf '%s\\n' {} > {pipe} & {} < {pipe}", single(p.text), p.shell)) }),
    row("input: xargs -a", Any, "", "", |p| { let (file, text) = written(p, ".txt"); Some(then(&text, &format!("xargs -0 -a {file} {} -c", p.shell))) }),
    // Files.
    row("file: run", Any, "o", "", |p| { let (file, text) = written(p, ".sh"); Some(then(&text, &format!("{} {file}", p.shell))) }),
    row("file: executed", Any, "o", "", |p| { let (file, text) = script(p); Some(format!("{text}\nchmod +x {file} && {file}")) }),
    row("file: in the workspace", Any, "o", "", |p| { let text = heredoc("cat > run.sh", &format!("#!/bin/{}\n{}", p.shell, p.text)); Some(format!("{text}\nchmod 755 ./run.sh; ./run.sh")) }),
    row("file: in the build folder", Any, "o", "", |p| { let text = heredoc("mkdir -p build/sub && cat > build/sub/go", p.text); Some(format!("{text}\n{} build/sub/go", p.shell)) }),
    row("file: sourced", Same, "o", "", |p| { let (file, text) = written(p, ".sh"); Some(then(&text, &format!(". {file}"))) }),
    row("file: source and PATH", Same, "b", "", |p| { let (file, text) = written(p, "rc"); let name = file.trim_start_matches("/tmp/").to_owned(); Some(then(&text, &format!("PATH=/tmp:$PATH source {name}"))) }),
    row("file: input", Any, "", "", |p| { let (file, text) = written(p, ""); Some(then(&text, &format!("{} < {file}", p.shell))) }),
    row("file: cat", Any, "", "", |p| { let (file, text) = written(p, ".txt"); Some(then(&text, &format!("cat {file} | {}", p.shell))) }),
    row("file: eval", Same, "", "", |p| { let (file, text) = written(p, ".txt"); Some(then(&text, &format!("eval \"$(cat {file})\""))) }),
    row("file: in parts", Any, "", "", |p| { let file = p.file(".sh"); let at = p.text.char_indices().nth(p.text.chars().count() / 2)?.0; let (a, b) = p.text.split_at(at); Some(format!("printf %s {} > {file}; printf '%s\\n' {} >> {file}; {} {file}", single(a), single(b), p.shell)) }),
    row("file: tee", Any, "", "", |p| { let file = p.file(".sh"); Some(format!("{}\n{} {file}", heredoc(&format!("tee {file} >/dev/null"), p.text), p.shell)) }),
    row("file: moved", Any, "", "", |p| { let (file, text) = written(p, ".txt"); Some(then(&text, &format!("mv {file} {file}.sh; {} {file}.sh", p.shell))) }),
    row("file: copied and linked", Any, "", "", |p| { let (file, text) = written(p, ".txt"); Some(then(&text, &format!("ln -s {file} {file}.l && cp {file}.l {file}.c; {} {file}.c", p.shell))) }),
    row("file: name in a variable", Any, "o", "", |p| Some(format!("f=$(mktemp); printf '%s\\n' {} > \"$f\"; {} \"$f\"", single(p.text), p.shell))),
    row("file: decoded", Any, "", "", |p| { let file = p.file(""); Some(format!("echo {} | base64 -d > {file}; {} {file}", base64(p.text.as_bytes()), p.shell)) }),
    row("file: sed", Any, "", "", |p| { let (file, text) = written(&mut Piece { text: &p.text.replace(' ', "@-"), shell: p.shell, random: &mut *p.random }, ".sh"); Some(then(&text, &format!("sed -i 's/@-/ /g' {file}; {} {file}", p.shell))) }),
    row("file: BASH_ENV", Same, "", "", |p| { let (file, text) = written(&mut Piece { text: &format!("unset BASH_ENV\n{}", p.text), shell: p.shell, random: &mut *p.random }, ".env"); Some(then(&text, &format!("BASH_ENV={file} bash -c true"))) }),
    row("file: --rcfile", Same, "", "", |p| { let (file, text) = written(p, ".rc"); Some(then(&text, &format!("bash --rcfile {file} -i -c true 2>/dev/null"))) }),
    row("file: fake program", Any, "", "", |p| { let text = heredoc("mkdir -p /tmp/bin; cat > /tmp/bin/tidy", &format!("#!/bin/{}\n{}", p.shell, p.text)); Some(format!("{text}\nchmod +x /tmp/bin/tidy; PATH=/tmp/bin:$PATH; tidy")) }),
    row("file: git hook", Any, "", "git", |p| { let text = heredoc("cat > .git/hooks/pre-commit", &format!("#!/bin/{}\nunset GIT_DIR GIT_INDEX_FILE GIT_PREFIX\n{}", p.shell, p.text)); Some(format!("{text}\nchmod +x .git/hooks/pre-commit; git commit -q --allow-empty -m wip")) }),
    row("file: hooks path", Any, "", "git", |p| { let text = heredoc("mkdir -p /tmp/hooks; cat > /tmp/hooks/post-checkout", &format!("#!/bin/{}\nunset GIT_DIR\n{}", p.shell, p.text)); Some(format!("{text}\nchmod +x /tmp/hooks/post-checkout; git -c core.hooksPath=/tmp/hooks checkout -q -b topic")) }),
    row("file: make", Posix, "o", "make", |p| { let line = p.line()?.replace('$', "$$"); if line.starts_with('#') || line.contains('#') { return None; } let text = heredoc("cat > /tmp/go.mk", &format!("all:\n\t@{line}")); Some(format!("{text}\nmake -s -f /tmp/go.mk")) }),
    row("file: make variable", Posix, "", "make", |p| Some(format!("printf 'all:\\n\\t@$(C)\\n' > /tmp/c.mk; make -s -f /tmp/c.mk C={}", single(&p.line()?.replace('$', "$$")))).filter(|_| !p.text.contains('#'))),
    row("file: tar checkpoint", Posix, "", "tar", |p| { let (file, text) = written(p, ".sh"); Some(then(&text, &format!("tar cf /dev/null --checkpoint=1 --checkpoint-action=exec='sh {file}' README.md"))) }),
    row("file: npm script", Posix, "o", "npm", |p| { let line = p.line()?; let text = heredoc("mkdir -p /tmp/n; cat > /tmp/n/package.json", &format!("{{\"name\": \"n\", \"scripts\": {{\"go\": {}}}}}", program(&format!("cd /home/dev/project; {line}")))); Some(format!("{text}\nnpm --prefix /tmp/n run -s go")) }),
    // Structure.
    row("structure: function", Same, "o", "", |p| Some(format!("cleanup() {{ {}; cleanup", p.close("}")))),
    row("structure: function keyword", Same, "b", "", |p| Some(format!("function cleanup {{ {}; cleanup", p.close("}")))),
    row("structure: function named ls", Same, "", "", |p| Some(format!("ls() {{ {}; ls -la", p.close("}"))).filter(|_| !p.text.contains("ls "))),
    row("structure: exported function", Same, "b", "", |p| Some(format!("go() {{ {}; export -f go; bash -c go", p.close("}")))),
    row("structure: function from the environment", Same, "", "", |p| Some(format!("env 'BASH_FUNC_tidy%%='{} bash -c tidy", single(&format!("() {{ {}", p.close("}")))))),
    row("structure: alias", Same, "b", "", |p| Some(format!("shopt -s expand_aliases\nalias tidy={}\ntidy", single(p.line()?)))),
    row("structure: trap EXIT", Same, "o", "", |p| Some(format!("trap {} EXIT", single(p.text)))),
    row("structure: trap ERR", Same, "b", "", |p| Some(format!("trap {} ERR; false; trap - ERR", single(p.text)))),
    row("structure: trap signal", Same, "", "", |p| Some(format!("trap {} USR1; kill -USR1 $$; :", single(p.text)))),
    row("structure: trap DEBUG", Same, "b", "", |p| Some(format!("trap {} DEBUG; true; trap - DEBUG", single(p.text)))),
    row("structure: not-found handler", Same, "b", "", |p| Some(format!("command_not_found_handle() {{ {}; nosuchprogram", p.close("}")))),
    row("structure: if", Same, "o", "", |p| Some(format!("if true; then {}", p.close("fi")))),
    row("structure: if test", Same, "o", "", |p| Some(format!("if [ -d .git ]; then {}", p.close("fi"))).filter(|_| !p.text.contains("cd "))),
    row("structure: if condition", Same, "", "", |p| Some(format!("if {}", p.close("then :; fi")))),
    row("structure: else", Same, "o", "", |p| Some(format!("if false; then :; else {}", p.close("fi")))),
    row("structure: for", Same, "o", "", |p| Some(format!("for i in 1; do {}", p.close("done")))),
    row("structure: while", Same, "", "", |p| Some(format!("while :; do {}", then(&p.close("break"), "done")))),
    row("structure: until", Same, "", "", |p| Some(format!("until {}", p.close("true; do :; done")))),
    row("structure: case", Same, "o", "", |p| Some(format!("case $HOME in /home/*) {}", p.close(":;; esac")))),
    row("structure: and", Same, "o", "", |p| Some(format!("true && {{ {}", p.close("}")))),
    row("structure: or", Same, "o", "", |p| Some(format!("false || {{ {}", p.close("}")))),
    row("structure: after other work", Same, "o", "", |p| Some(format!("ls src >/dev/null && echo ok; {}", p.text))),
    row("structure: before other work", Same, "o", "", |p| Some(p.close("echo ok"))),
    row("structure: subshell", Same, "o", "", |p| Some(format!("({})", p.close(":")))),
    row("structure: background", Same, "o", "", |p| Some(format!("{{ {} & wait", p.close("}")))),
    row("structure: coproc", Same, "b", "", |p| Some(format!("coproc {{ {}; wait", p.close("}")))),
    row("structure: pipeline", Same, "", "", |p| Some(format!("true | {{ {} | cat", p.close("}")))),
    row("structure: loop over input", Same, "", "", |p| Some(format!("echo go | while read -r _; do {}", p.close("done")))),
    row("structure: after a comment", Same, "o", "", |p| Some(format!("# tidy up, nothing else\n{}", p.text))),
    row("structure: far away", Same, "", "", |p| Some(format!("echo building{}; {}", " ".repeat(120), p.text))),
    row("structure: redirected group", Same, "o", "", |p| Some(format!("{{ {} > /tmp/log 2>&1", p.close("}")))),
    // Other languages.
    row("python: os.system", Posix, "", "python3", |p| Some(format!("python3 -c {}", single(&format!("import os; os.system({})", program(p.text)))))),
    row("python: subprocess", Posix, "", "python3", |p| Some(format!("python3 -c {}", single(&format!("import subprocess; subprocess.run({}, shell=True)", program(p.text)))))),
    row("python: bash -c", Any, "", "python3", |p| Some(format!("python3 -c {}", single(&format!("import subprocess; subprocess.check_call([\"{}\", \"-c\", {}])", p.shell, program(p.text)))))),
    row("python: heredoc", Posix, "", "python3", |p| Some(heredoc("python3 -", &format!("import os\nos.system({})", program(p.text))))),
    row("python: file", Posix, "", "python3", |p| { let file = p.file(".py"); let text = heredoc(&format!("cat > {file}"), &format!("#!/usr/bin/env python3\nimport subprocess as s\ns.call({}, shell=True)", program(p.text))); Some(format!("{text}\npython3 {file}")) }),
    row("python: getattr", Posix, "", "python3", |p| Some(format!("python3 -c {}", single(&format!("import os; getattr(os, \"sys\" + \"tem\")({})", program(p.text)))))),
    row("python: exec base64", Posix, "", "python3", |p| { let code = format!("import os; os.system({})", program(p.text)); Some(format!("python3 -c 'import base64; exec(base64.b64decode(\"{}\"))'", base64(code.as_bytes()))) }),
    row("node: execSync", Posix, "", "node", |p| Some(format!("node -e {}", single(&format!("require(\"child_process\").execSync({})", program(p.text)))))),
    row("node: spawnSync", Any, "", "node", |p| Some(format!("node -e {}", single(&format!("require(\"node:child_process\").spawnSync(\"{}\", [\"-c\", {}])", p.shell, program(p.text)))))),
    row("node: heredoc", Posix, "", "node", |p| Some(heredoc("node -", &format!("const {{ execSync }} = require(\"child_process\");\nexecSync({});", program(p.text))))),
    row("perl: system", Posix, "", "perl", |p| Some(format!("perl -e {}", single(&format!("system({})", literal(p.text)))))),
    row("perl: backticks", Posix, "", "perl", |p| Some(format!("perl -e {}", single(&format!("my $c = {}; `$c`", literal(p.text)))))),
    row("perl: input", Posix, "", "perl", |p| Some(heredoc("perl", &format!("exec('sh', '-c', {});", literal(p.text))))),
    row("ruby: system", Posix, "", "ruby", |p| Some(format!("ruby -e {}", single(&format!("system({})", literal(p.text)))))),
    row("ruby: exec", Any, "", "ruby", |p| Some(format!("ruby -e {}", single(&format!("exec(\"{}\", \"-c\", {})", p.shell, literal(p.text)))))),
    row("php: shell_exec", Posix, "", "php", |p| Some(format!("php -r {}", single(&format!("shell_exec({});", literal(p.text)))))),
    row("awk: system", Posix, "", "awk", |p| Some(format!("awk {}", single(&format!("BEGIN {{ system({}) }}", program(p.line()?))))).filter(|_| !p.text.contains('\\'))),
    row("awk: pipe", Posix, "", "awk", |p| Some(format!("awk {}", single(&format!("BEGIN {{ print {} | \"sh\" }}", program(p.line()?))))).filter(|_| !p.text.contains('\\'))),
    row("sed: e", Posix, "", "sed", |p| Some(format!("sed {} README.md >/dev/null", single(&format!("1e {}", p.line()?)))).filter(|_| !p.text.contains('\\'))),
    row("sed: s///e", Posix, "", "sed", |p| Some(format!("printf '%s\\n' {} | sed 's/^//e'", single(p.line()?)))),
    row("ed: !", Posix, "", "ed", |p| Some(format!("printf '%s\\n' {} Q | ed -s", single(&format!("!{}", p.line()?)))).filter(|_| !p.text.contains(['%', '!']))),
    row("vim: !", Posix, "", "vim", |p| Some(format!("SHELL=/bin/sh vim -es -u NONE -c {} -c q", single(&format!("!{}", p.line()?)))).filter(|_| !p.text.contains(['%', '#', '!', '|', '<', '\\']))),
    row("sqlite: .shell", Posix, "", "sqlite3", |p| Some(format!("sqlite3 :memory: {}", single(&format!(".shell {}", p.words()?.join(" ")))))),
    row("tcl: exec", Any, "", "tclsh", |p| { let (file, text) = written(p, ".sh"); Some(then(&text, &format!("echo 'exec {} {file}' | tclsh", p.shell))) }),
];

/// What a text needs bash for; a shell that is only `sh` stumbles over it. Rather too many than too few.
pub fn needs_bash(text: &str) -> bool {
    const MARKS: &[&str] = &[
        "<<<",
        "$'",
        "<(",
        ">(",
        "&>",
        "pushd",
        "popd",
        "[[",
        "((",
        "/{",
        "{rm,",
        "shopt",
        "coproc",
        "function ",
        "${!",
        "declare",
        "source ",
        "+=",
        "=(",
    ];
    MARKS.iter().any(|mark| text.contains(mark))
}

/// Puts a text into a row; `None` if it does not fit. Says, too, whether the new text needs bash.
pub fn apply(disguise: &Disguise, text: &str, bash: bool, random: &mut Random) -> Option<(String, bool)> {
    if bash && disguise.inner == Inner::Posix {
        return None;
    }
    let shell = if bash || random.percent(50) { "bash" } else { "sh" };
    let out = (disguise.make)(&mut Piece { text, shell, random })?;
    Some((out, disguise.bash || (bash && disguise.inner == Inner::Same)))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn names_are_their_own() {
        let names: BTreeSet<&str> = DISGUISES.iter().map(|row| row.name).collect();
        assert_eq!(names.len(), DISGUISES.len());
        assert!(names.len() > 150, "{}", names.len());
    }

    #[test]
    fn a_few_by_hand() {
        let of = |name: &str, text: &str| {
            let row = DISGUISES.iter().find(|row| row.name == name).expect("a row");
            apply(row, text, false, &mut Random::new(1)).map(|(text, _)| text)
        };
        for (name, text, want) in [
            ("name: backslash", "rm -rf x", Some(r"r\m -rf x")),
            ("name: quotes", "cd x && rm -rf y", Some("cd x && r''m -rf y")),
            ("name: backslash", "echo rm -rf x", None),
            ("name: backslash", "echo 'a; rm x'", None),
            ("words: braces", "rm -rf x", Some("{rm,-rf,x}")),
            ("path: variable", "rm -rf ~/ab", Some("dir=~/ab; rm -rf \"$dir\"")),
            ("structure: if", "sh <<'EOF'\na\nEOF", Some("if true; then sh <<'EOF'\na\nEOF\nfi")),
            ("input: cat heredoc", "rm x", Some("cat <<'EOF' | bash\nrm x\nEOF")),
        ] {
            let got = of(name, text).map(|text| text.replace("| sh", "| bash"));
            assert_eq!(got.as_deref(), want, "{name}");
        }
    }
}

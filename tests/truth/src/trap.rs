//! The second half of the first witness: what bash itself says. `BASH_ENV` brings a `DEBUG` trap and a trace of
//! expanded words into the script's bash and every bash below it, both written to one descriptor above 100.
//!
//! The trap is one `:` command. Its expanded words are written by the trace, so it needs no redirection, no function
//! and no fork; it always succeeds; its last argument is `$_`, which thereby keeps its value; bash keeps `$?`,
//! `PIPESTATUS` and `BASH_COMMAND` round a trap by itself. Only `$-` (it has `T` and `x`), `BASH_ENV` and the two
//! variables below differ from a run without it.
//!
//! Bash runs the trap in the parent for each part of a pipeline and for `cmd &`, but writes the trace in the child;
//! the two are put together by the time at which the child was made, which only strace knows.

use std::collections::{BTreeMap, BTreeSet};

use crate::watch::{Watched, micros};

const TAG: &str = "toolgate-truth-step";
/// The descriptor; the shell itself uses those from 10 up, and 255.
const DESCRIPTOR: u32 = 200;
/// More names than this are not followed.
const MOST_NAMES: usize = 60;

/// One step of a shell: what it is about to run, and its state just before.
#[derive(Clone, Debug, Default)]
pub struct Step {
    /// The shell's process id.
    pub pid: u32,
    /// The process in which the words were expanded; another one for a part of a pipeline.
    pub runner: u32,
    /// Microseconds since 1970.
    pub time: u64,
    /// `LINENO`.
    pub line: usize,
    /// `BASH_COMMAND`: the command as bash would print it.
    pub source: String,
    /// `PWD`.
    pub pwd: String,
    /// The watched variables; `None` for one that is unset.
    pub values: BTreeMap<String, Option<String>>,
    /// The words after expansion; `None` for a bare assignment and for some compound commands.
    pub argv: Option<Vec<String>>,
}

/// Variables whose value changes by itself or by being read, and those of the harness.
const NOT_WATCHED: &[&str] = &[
    "RANDOM",
    "SRANDOM",
    "SECONDS",
    "EPOCHSECONDS",
    "EPOCHREALTIME",
    "LINENO",
    "BASHPID",
    "BASH_COMMAND",
    "BASH_ENV",
    "PS4",
    "BASH_XTRACEFD",
    "COMP_WORDBREAKS",
    "_",
    "HISTCMD",
    "BASH_SUBSHELL",
    "SHLVL",
];

/// The names a text assigns or mentions, with those the prediction speaks of.
pub fn names<'a>(text: &'a str, predicted: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    let mut out: BTreeSet<&str> = BTreeSet::new();
    let bytes = text.as_bytes();
    let is_name = |b: u8| b.is_ascii_alphanumeric() || b == b'_';
    let mut at = 0;
    while at < bytes.len() {
        let start = at;
        while bytes.get(at).is_some_and(|&b| is_name(b)) {
            at += 1;
        }
        if at == start {
            at += 1;
            continue;
        }
        let before = start.checked_sub(1).and_then(|n| bytes.get(n)).copied();
        let after = text.get(at..).unwrap_or_default();
        let assigned = after.starts_with('=') || after.starts_with("+=") || after.starts_with('[');
        let expanded = matches!(before, Some(b'$' | b'{' | b'!' | b'#' | b'('));
        let word = text.get(start..at).unwrap_or_default();
        let follows = text.get(..start).unwrap_or_default().trim_end();
        let declared = [
            "for",
            "select",
            "read",
            "-r",
            "local",
            "declare",
            "export",
            "unset",
            "mapfile",
            "readarray",
            "-v",
            "-a",
            "-t",
            "-i",
            "-x",
            "-n",
        ]
        .iter()
        .any(|keyword| follows.ends_with(keyword));
        if (assigned || expanded || declared) && !word.starts_with(|c: char| c.is_ascii_digit()) && before != Some(b'-')
        {
            out.insert(word);
        }
    }
    out.extend(predicted);
    out.insert("OLDPWD");
    let fits = |name: &&str| {
        !name.is_empty()
            && !name.starts_with(|c: char| c.is_ascii_digit())
            && name.bytes().all(is_name)
            && !NOT_WATCHED.contains(name)
    };
    out.into_iter().filter(fits).take(MOST_NAMES).map(str::to_owned).collect()
}

/// The text of `BASH_ENV` for these names.
pub fn script(names: &[String]) -> String {
    // `${a+=$a}` is empty for an unset name and the value after `=` for one that is set, under `set -u` too.
    let values: Vec<String> = names.iter().map(|name| format!("\"${{{name}+=${name}}}\"")).collect();
    format!(
        "exec {DESCRIPTOR}>>{}/steps\nPS4=$'\\2$BASHPID $EPOCHREALTIME \\3'\nBASH_XTRACEFD={DESCRIPTOR}\nset -Tx\n\
         trap ': {TAG} \"$LINENO\" \"$BASH_COMMAND\" \"$PWD\" {} \"$_\"' DEBUG\n",
        crate::tree::WATCH,
        values.join(" ")
    )
}

/// Reads what the trap wrote. `names` are those that [`script`] was given.
pub fn parse(log: &[u8], names: &[String], watched: &Watched) -> Vec<Step> {
    let text = String::from_utf8_lossy(log);
    let mut steps: Vec<Step> = Vec::new();
    for record in text.split("\n\u{2}") {
        let record = record.trim_start_matches('\u{2}');
        let Some((head, body)) = record.split_once('\u{3}') else { continue };
        let Some((pid, time)) = head.trim().split_once(' ') else { continue };
        let (Ok(pid), Some(time)) = (pid.parse(), micros(time)) else { continue };
        let words = words(body.trim_end_matches('\n'));
        if words.first().is_some_and(|w| w == ":") && words.get(1).is_some_and(|w| w == TAG) {
            steps.extend(step(pid, time, &words, names));
        } else if !words.is_empty() && !is_assignment(&words) {
            attach(&mut steps, pid, words, watched);
        }
    }
    without_entries(steps)
}

fn step(pid: u32, time: u64, words: &[String], names: &[String]) -> Option<Step> {
    let mut fields = words.iter().skip(2);
    let line = fields.next()?.parse().ok()?;
    let source = fields.next()?.clone();
    let pwd = fields.next()?.clone();
    let mut values = BTreeMap::new();
    for name in names {
        values.insert(name.clone(), fields.next()?.strip_prefix('=').map(str::to_owned));
    }
    values.insert("_".to_owned(), Some(fields.next().cloned().unwrap_or_default()));
    Some(Step { pid, runner: pid, time, line, source, pwd, values, argv: None })
}

/// Whether the trace line is an assignment and no command.
fn is_assignment(words: &[String]) -> bool {
    words.first().is_some_and(|word| assigned_name(word).is_some())
}

/// The name in `name=..`, `name+=..` or `name[..]=..`.
pub(crate) fn assigned_name(word: &str) -> Option<&str> {
    let end = word.find(|c: char| !c.is_ascii_alphanumeric() && c != '_')?;
    let (name, rest) = word.split_at(end);
    let plain = rest.starts_with('=') || rest.starts_with("+=") || (rest.starts_with('[') && rest.contains("]="));
    (plain && !name.is_empty() && !name.starts_with(|c: char| c.is_ascii_digit())).then_some(name)
}

/// Gives the words to the step they belong to.
fn attach(steps: &mut [Step], pid: u32, words: Vec<String>, watched: &Watched) {
    // Bash traces the head of a loop before its step, and that of a nested one must not go to the outer one.
    if words.first().is_some_and(|word| ["for", "case", "select"].contains(&word.as_str())) {
        return;
    }
    let keyword = words.first().filter(|word| ["[[", "(("].contains(&word.as_str()));
    let own = steps.iter_mut().rev().find(|step| step.pid == pid);
    let found = match own {
        Some(own) => Some(own).filter(|step| step.argv.is_none()),
        None => {
            let line = watched.ancestry(pid);
            let mut found = None;
            for pair in line.windows(2) {
                if let [(_, born), (parent, _)] = pair
                    && steps.iter().any(|step| step.pid == *parent && step.time <= *born)
                {
                    found = Some((*parent, *born));
                    break;
                }
            }
            found.and_then(|(parent, born)| {
                let last = steps.iter_mut().rev().find(|step| step.pid == parent && step.time <= born);
                last.filter(|step| step.argv.is_none())
            })
        }
    };
    if let Some(step) = found
        && keyword.is_none_or(|keyword| step.source.starts_with(keyword.as_str()))
    {
        step.runner = pid;
        step.argv = Some(words);
    }
}

/// Bash runs the trap once more on entering a function, with the same command; that step says nothing new.
fn without_entries(steps: Vec<Step>) -> Vec<Step> {
    let mut last: BTreeMap<u32, (String, bool)> = BTreeMap::new();
    let mut out = Vec::with_capacity(steps.len());
    for step in steps {
        let named = step.argv.is_some();
        let entry = !named && last.get(&step.runner).is_some_and(|(source, had)| *had && *source == step.source);
        last.insert(step.runner, (step.source.clone(), named));
        if !entry {
            out.push(step);
        }
    }
    out
}

/// Splits a line of the trace: blanks between words, with the quotes that bash's trace uses.
pub(crate) fn words(line: &str) -> Vec<String> {
    let mut out = Vec::new();
    let mut word: Option<String> = None;
    let mut chars = line.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            ' ' | '\t' | '\n' => out.extend(word.take()),
            '\'' => {
                let word = word.get_or_insert_default();
                word.extend(chars.by_ref().take_while(|&c| c != '\''));
            }
            '$' if chars.peek() == Some(&'\'') => {
                chars.next();
                let mut inner = String::new();
                while let Some(c) = chars.next() {
                    match c {
                        '\'' => break,
                        '\\' => {
                            inner.push('\\');
                            inner.extend(chars.next());
                        }
                        c => inner.push(c),
                    }
                }
                word.get_or_insert_default().push_str(&ansi(&inner));
            }
            '\\' => word.get_or_insert_default().extend(chars.next()),
            c => word.get_or_insert_default().push(c),
        }
    }
    out.extend(word);
    out
}

/// The escapes inside `$'..'` as bash prints them.
fn ansi(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        out.push_str(rest.get(..at).unwrap_or_default());
        let tail = rest.get(at + 1..).unwrap_or_default();
        let (text, used) = match tail.chars().next() {
            Some('E' | 'e') => ("\u{1b}".to_owned(), 1),
            Some('a') => ("\u{7}".to_owned(), 1),
            Some('b') => ("\u{8}".to_owned(), 1),
            Some('0'..='7') => {
                // A run of octal escapes may be one character of several bytes.
                let bytes = tail.as_bytes();
                let mut end = 0;
                loop {
                    end += bytes.iter().skip(end).take(3).take_while(|b| (b'0'..=b'7').contains(b)).count();
                    if bytes.get(end) == Some(&b'\\') && bytes.get(end + 1).is_some_and(|b| (b'0'..=b'7').contains(b)) {
                        end += 1;
                    } else {
                        break;
                    }
                }
                (crate::watch::unescape(format!("\\{}", tail.get(..end).unwrap_or_default()).as_bytes()), end)
            }
            Some(c) => (crate::watch::unescape(format!("\\{c}").as_bytes()), c.len_utf8()),
            None => (String::new(), 0),
        };
        out.push_str(&text);
        rest = tail.get(used..).unwrap_or_default();
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trace_lines_become_words() {
        for (line, want) in [
            ("touch 'a b' c", &["touch", "a b", "c"][..]),
            ("echo 'it'\\''s' ''", &["echo", "it's", ""]),
            ("echo $'a\\nb\\t\\303\\244\\E'", &["echo", "a\nb\tä\u{1b}"]),
            ("", &[]),
            ("echo 'open", &["echo", "open"]),
            ("echo \\", &["echo", ""]),
        ] {
            assert_eq!(words(line), want, "{line}");
        }
    }

    #[test]
    fn names_of_interest() {
        let found = names(
            "a=1; for i in x; do echo ${b:-2} \"$c\"; done; read -r line; export P Q=2; x[3]=4",
            ["seen", "1bad"],
        );
        for name in ["a", "i", "b", "c", "line", "P", "Q", "x", "seen", "OLDPWD"] {
            assert!(found.iter().any(|n| n == name), "{name} in {found:?}");
        }
        assert!(!found.iter().any(|n| n == "1bad" || n == "done"));
        assert!(names("$RANDOM", []).iter().all(|n| n != "RANDOM"));
    }

    #[test]
    fn records_are_read() {
        let log = "\u{2}7 1.0 \u{3}trap x DEBUG\n\u{2}\u{2}7 1.1 \u{3}: toolgate-truth-step 3 'touch \"$a\"' /w =1 '' lst\n\u{2}7 1.2 \u{3}touch 1\n";
        let steps = parse(log.as_bytes(), &["a".into(), "b".into()], &Watched::default());
        let [step] = &steps[..] else { panic!("{steps:?}") };
        assert_eq!((step.line, step.source.as_str(), step.pwd.as_str()), (3, "touch \"$a\"", "/w"));
        assert_eq!(step.values.get("a"), Some(&Some("1".into())));
        assert_eq!(step.values.get("b"), Some(&None));
        assert_eq!(step.argv.as_deref(), Some(&["touch".to_owned(), "1".to_owned()][..]));
    }
}

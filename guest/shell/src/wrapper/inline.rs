//! Interpreters: a program given in the words, or read from standard input.

use super::open::{is_stdin, open};
use super::words::join;
use super::{Call, Inner, Kind, Language};
use crate::inline::{Setting, What};
use crate::word::Word;

pub(super) fn inline(call: Call<'_>, language: Language) -> Vec<Inner> {
    let (scan, change) = call.scan();
    if scan.stopped {
        return Vec::new();
    }
    let mut operands: Vec<Word> = scan.operands.iter().filter_map(|&at| call.words.get(at).cloned()).collect();
    let given = scan.hits.iter().filter(|hit| hit.meaning == "code");
    let mut codes: Vec<Word> = given.clone().filter_map(|hit| hit.value.clone()).collect();
    // The option is there, its text is put in when it runs.
    let mut found = Vec::new();
    let missing = codes.is_empty() && given.count() > 0;
    let program_first = matches!(language, Language::Awk | Language::Sed);
    if program_first && codes.is_empty() && !scan.has("file") && !missing && !operands.is_empty() {
        codes.push(operands.remove(0));
        // `sed -i '' SCRIPT`, as it is written for macOS.
        if language == Language::Sed && codes.iter().all(|code| code.known() == Some("")) && !operands.is_empty() {
            codes.push(operands.remove(0));
        }
    }
    let stdin = |args: Vec<Word>| Inner::new(Kind::Stdin { language: Some(language), args }, &change);
    if missing {
        found.push(Inner::new(Kind::Unseen, &change));
    } else if !codes.is_empty() {
        let text = join(&codes, "\n");
        if language != Language::Sed || text.known().is_none_or(sed_acts) {
            // Those of awk and sed are files.
            let args = if program_first { Vec::new() } else { operands };
            found.push(Inner::new(Kind::Inline { language, text, args }, &change));
        }
    } else if program_first || scan.has("file") {
        found.extend(scan.values("file").any(is_stdin).then(|| stdin(operands)));
    } else {
        match operands.split_first() {
            None => found.push(stdin(Vec::new())),
            Some((first, args)) if is_stdin(first) => found.push(stdin(args.to_vec())),
            Some((path, args)) => {
                let kind = Kind::Script { language, path: path.clone(), args: args.to_vec() };
                found.push(Inner::new(kind, &change));
            }
        }
    }
    if scan.unclear || call.unclear {
        found.push(Inner::new(Kind::Unseen, &change).perhaps());
    }
    found
}

/// `deno eval TEXT`
pub(super) fn operand(call: Call<'_>) -> Vec<Inner> {
    let (scan, change) = call.scan();
    let words = call.words.get(scan.end..).unwrap_or_default();
    let (text, args) = words.split_first().filter(|_| !scan.stopped).unzip();
    let args = args.map(<[Word]>::to_vec).unwrap_or_default();
    let kind = text.map(|text| Kind::Inline { language: Language::Node, text: text.clone(), args });
    kind.map(|kind| Inner::new(kind, &change)).into_iter().collect()
}

/// `bun` is a runtime, a package runner and a shell.
pub(super) fn bun(call: Call<'_>) -> Vec<Inner> {
    let (scan, change) = call.scan();
    let name = call.words.get(scan.end).and_then(Word::known);
    if scan.has("code") || scan.stopped {
        return inline(call, Language::Node);
    }
    match name {
        Some("x") => {
            let Some(row) = super::table::find("bunx") else { return Vec::new() };
            open(Call { row, words: call.words, from: scan.end + 1, change, unclear: scan.unclear })
        }
        Some("exec") => {
            let text = call.words.get(scan.end + 1).cloned();
            text.map(|text| Inner::new(Kind::Text { text, args: Vec::new() }, &change)).into_iter().collect()
        }
        Some("run") if call.words.get(scan.end + 1).is_some_and(is_stdin) => {
            vec![Inner::new(Kind::Stdin { language: Some(Language::Node), args: Vec::new() }, &change)]
        }
        Some("-") => vec![Inner::new(Kind::Stdin { language: Some(Language::Node), args: Vec::new() }, &change)],
        _ => Vec::new(),
    }
}

/// Whether a sed script runs commands or writes files. What cannot be followed does.
fn sed_acts(script: &str) -> bool {
    let script = crate::inline::read(Language::Sed, script, Setting::TEXT);
    !script.complete || script.deeds.iter().any(|deed| !matches!(deed.what, What::Read(_) | What::List(_)))
}

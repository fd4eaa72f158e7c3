//! Programs that run a command for each of many arguments, or while they hold a lock.

use toolgate_commands::OptionRun;

use super::argv_edit::{argument, fill, join, known, quote};
use super::nested::{command, extras, finish_command, rest, text_of, unseen};
use super::options::ScannedOptions;
use super::{Call, ContextChange, Directory, NestedCommand, NestedKind};
use toolgate_shell_syntax::word::{Value, Word};

/// How many arguments of `parallel` are put into its text one by one.
const MAX_ARGUMENTS: usize = 64;

/// Longest text that comes out of `parallel`'s arguments, in bytes.
const MAX_TEXT: usize = 64 * 1024;

pub(super) fn xargs(call: Call<'_>) -> Vec<NestedCommand> {
    let (scan, mut change) = call.scan();
    // With a file to read from, the command keeps the input.
    change.own_input = !scan.has(OptionRun::File);
    let replace = scan.hits.iter().rev().find_map(|hit| match (hit.meaning, &hit.value) {
        (OptionRun::Replace, Some(word)) => Some(word.known().unwrap_or("{}").to_owned()),
        (OptionRun::Replace, None) => Some("{}".to_owned()),
        _ => None,
    });
    let bsd = scan.values(OptionRun::Bsd).find_map(Word::known).filter(|name| name.parse::<u64>().is_err());
    let mut found = finish_command(&call, &scan, &change);
    for inner in &mut found {
        if let NestedKind::Command { words, more } = &mut inner.kind {
            match (&replace, bsd) {
                (None, None) => *more = true,
                (replace, bsd) => {
                    let names: Vec<&str> = replace.as_deref().into_iter().chain(bsd).collect();
                    *words = words.iter().map(|word| fill(word, &names)).collect();
                }
            }
        }
    }
    found
}

/// `zargs [OPTIONS] -- ARGUMENTS -- COMMAND`, a function that comes with zsh.
pub(super) fn zargs(call: Call<'_>) -> Vec<NestedCommand> {
    let (scan, change) = call.scan();
    if scan.stopped {
        return Vec::new();
    }
    let mut found = extras(&scan, &change);
    // `zargs OPTIONS -- INPUTS -- COMMAND`; where there are inputs, the first mark may be left out.
    let words = call.words.get(scan.end..).unwrap_or_default();
    let mut parts = words.splitn(2, |word| word.known() == Some("--"));
    let (inputs, program) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
    if !program.is_empty() {
        found.push(command([program, inputs].concat(), &change));
    }
    found
}

/// What GNU parallel replaces, the longest first.
const PARALLEL_MARKS: &[&str] = &["{/.}", "{//}", "{/}", "{.}", "{#}", "{%}", "{}"];

pub(super) fn parallel(call: Call<'_>) -> Vec<NestedCommand> {
    let (scan, mut change) = call.scan();
    if scan.stopped {
        return Vec::new();
    }
    change.own_input |= !scan.has(OptionRun::Pipe);
    let words = rest(&call, &scan);
    let is_separator = |word: &Word| matches!(word.known(), Some(":::" | ":::+" | "::::" | "::::+"));
    let end = words.iter().position(is_separator).unwrap_or(words.len());
    let (template, sources) = words.split_at_checked(end).unwrap_or((&words, &[]));
    let jobs = if scan.has(OptionRun::File) || scan.has(OptionRun::Linked) { None } else { jobs(&scan, sources) };
    let mut found = if scan.unclear || call.unclear { vec![unseen(&change)] } else { Vec::new() };
    if template.is_empty() {
        // Each argument, or each line of the input, is a text.
        match jobs {
            Some(jobs) => found.extend(jobs.iter().map(|job| text_of(join(job, " "), Vec::new(), &change))),
            None if sources.is_empty() && !scan.has(OptionRun::File) => {
                change.own_input = false;
                found.push(NestedCommand::new(NestedKind::Stdin { language: None, args: Vec::new() }, &change));
            }
            None => found.push(unseen(&change)),
        }
        return found;
    }
    let own: Vec<&str> = scan.values(OptionRun::Replace).filter_map(Word::known).collect();
    let argv = scan.has(OptionRun::Argv);
    if let Some(jobs) = jobs
        && let Some(inners) = jobs.iter().map(|job| put(template, &own, job, argv, &change)).collect::<Option<Vec<_>>>()
    {
        found.extend(inners);
        return found;
    }
    let marks: Vec<&str> = own.iter().copied().chain(PARALLEL_MARKS.iter().copied()).collect();
    let template: Vec<Word> = template.iter().map(numbers).collect();
    let has_mark = template.iter().any(|word| marks.iter().any(|mark| word.text().contains(mark)));
    let mut filled: Vec<Word> = template.iter().map(|word| fill(word, &marks)).collect();
    if !has_mark && !scan.has(OptionRun::Pipe) {
        filled.extend(template.last().map(argument));
    }
    found.push(if argv { command(filled, &change) } else { shell_words(&filled, &change) });
    found
}

/// The arguments of each job, if all of them stand in the words and are not too many.
fn jobs(scan: &ScannedOptions, sources: &[Word]) -> Option<Vec<Vec<Word>>> {
    let mut lists: Vec<Vec<Word>> = Vec::new();
    for word in sources {
        match word.known()? {
            ":::" => lists.push(Vec::new()),
            ":::+" | "::::" | "::::+" => return None,
            _ => lists.last_mut()?.push(word.clone()),
        }
    }
    let first = lists.first()?;
    if scan.has(OptionRun::All) {
        return Some(lists.concat()).filter(|all| all.len() <= MAX_ARGUMENTS).map(|all| vec![all]);
    }
    if let Some(count) = scan.values(OptionRun::Count).next_back() {
        let count = count.known()?.parse::<usize>().ok().filter(|&count| count > 0 && lists.len() == 1)?;
        return (first.len() <= MAX_ARGUMENTS).then(|| first.chunks(count).map(<[Word]>::to_vec).collect());
    }
    let mut jobs: Vec<Vec<Word>> = vec![Vec::new()];
    for list in &lists {
        if jobs.len().saturating_mul(list.len()) > MAX_ARGUMENTS {
            return None;
        }
        let longer = |job: &Vec<Word>| -> Vec<Vec<Word>> {
            list.iter().map(|word| job.iter().chain([word]).cloned().collect()).collect()
        };
        jobs = jobs.iter().flat_map(longer).collect();
    }
    Some(jobs)
}

/// A job of GNU parallel, with its arguments in the places of the marks.
fn put(template: &[Word], own: &[&str], job: &[Word], argv: bool, change: &ContextChange) -> Option<NestedCommand> {
    let arguments: Vec<&str> = job.iter().filter_map(Word::known).collect();
    let as_written = |text: &str| if argv { text.to_owned() } else { quote(text) };
    let all: Vec<String> = arguments.iter().map(|text| as_written(text)).collect();
    let (all, bare) = (all.join(" "), arguments.join(" "));
    let mut length = 0_usize;
    let mut marked = false;
    let mut words = Vec::new();
    for word in template {
        let mut rest = word.known()?;
        for mark in own {
            // Another mark than braces: what braces mean then is not followed.
            if rest.contains("{}") && *mark != "{}" {
                return None;
            }
        }
        let mut text = String::new();
        while !rest.is_empty() {
            let found = own.iter().filter(|mark| !mark.is_empty()).find_map(|mark| rest.strip_prefix(mark));
            if let Some(after) = found.or_else(|| rest.strip_prefix("{}")) {
                // What the command begins with is not quoted.
                let first = words.is_empty() && text.is_empty();
                text.push_str(if first { &bare } else { &all });
                (rest, marked) = (after, true);
            } else if let Some((number, after)) = rest.strip_prefix('{').and_then(|rest| rest.split_once('}'))
                && let Ok(number) = number.parse::<usize>()
            {
                let argument = arguments.get(number.checked_sub(1)?).copied().unwrap_or_default();
                let first = words.is_empty() && text.is_empty();
                text.push_str(&if first { argument.to_owned() } else { as_written(argument) });
                (rest, marked) = (after, true);
            } else if PARALLEL_MARKS.iter().any(|mark| rest.starts_with(mark)) || is_numbered(rest) {
                // A part of the argument.
                return None;
            } else {
                let next = rest.chars().next()?;
                text.push(next);
                rest = rest.get(next.len_utf8()..)?;
            }
            if length.saturating_add(text.len()) > MAX_TEXT {
                return None;
            }
        }
        length += text.len();
        words.push(known(text, word));
    }
    if !marked {
        let like = template.last()?;
        words.extend(arguments.iter().map(|text| known(as_written(text), like)));
    }
    Some(if argv { command(words, change) } else { text_of(join(&words, " "), Vec::new(), change) })
}

/// `{1.}` and the like.
fn is_numbered(text: &str) -> bool {
    text.strip_prefix('{').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit() || c == '-' || c == '='))
}

/// Words that are joined by blanks and read by a shell. Where nothing in them means anything to one, they are a command.
fn shell_words(words: &[Word], change: &ContextChange) -> NestedCommand {
    let plain = |c: char| c.is_alphanumeric() || "_-./:=@%+,\0".contains(c);
    if !words.iter().all(|word| word.text().chars().all(|c| plain(c) || c == ' ')) {
        return text_of(join(words, " "), Vec::new(), change);
    }
    let pieces = |word: &Word| -> Vec<Word> {
        let parts = word.text().split(' ').filter(|part| !part.is_empty());
        parts.map(|part| Word { value: word.value.part(part.to_owned()), ..word.clone() }).collect()
    };
    command(words.iter().flat_map(pieces).collect(), change)
}

/// `{1}` and `{2.}` as `{}`.
fn numbers(word: &Word) -> Word {
    let text = word.text();
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('{') {
        let (before, mark) = rest.split_at(at);
        out.push_str(before);
        let digits = mark[1..].trim_start_matches(|c: char| c.is_ascii_digit());
        let tail = digits.trim_start_matches(['/', '.']);
        match tail.strip_prefix('}') {
            Some(after) if digits.len() + 1 < mark.len() => {
                out.push_str("{}");
                rest = after;
            }
            _ => {
                out.push('{');
                rest = &mark[1..];
            }
        }
    }
    out.push_str(rest);
    match &word.value {
        Value::Known(_) => known(out, word),
        value => Word { value: value.with_text(out), ..word.clone() },
    }
}

pub(super) fn find(call: Call<'_>) -> Vec<NestedCommand> {
    let words = call.words;
    let (_, base) = call.scan();
    let mut found = Vec::new();
    let mut at = call.from;
    while let Some(word) = words.get(at) {
        at += 1;
        let action = match word.known() {
            Some(action @ ("-exec" | "-execdir" | "-ok" | "-okdir")) => action,
            _ => continue,
        };
        let from = at;
        // A plus ends it only after the braces.
        while let Some(text) = words.get(at).map(Word::known) {
            let braces = at > from && words.get(at - 1).and_then(Word::known) == Some("{}");
            if text == Some(";") || (text == Some("+") && braces) {
                break;
            }
            at += 1;
        }
        let mut inner: Vec<Word> =
            words.get(from..at).unwrap_or_default().iter().map(|word| fill(word, &["{}"])).collect();
        // With a plus the braces are as many names as there is room for.
        if words.get(at).and_then(Word::known) == Some("+")
            && let Some(last) = inner.last_mut()
        {
            last.several = true;
        }
        at += 1;
        if inner.is_empty() {
            continue;
        }
        let mut change = base.clone();
        change.own_input = action.starts_with("-ok");
        if action.ends_with("dir") {
            change.cwd = Some(Directory::Unknown);
        }
        found.push(command(inner, &change));
    }
    found
}

pub(super) fn fd(call: Call<'_>) -> Vec<NestedCommand> {
    let (scan, change) = call.scan();
    if scan.stopped || !scan.has(OptionRun::Rest) {
        return Vec::new();
    }
    const MARKS: &[&str] = &["{/.}", "{//}", "{/}", "{.}", "{}"];
    // Before an option there may be operands; the command is what stands after it.
    let tail = call.words.get(scan.end..).unwrap_or_default();
    let mut found = Vec::new();
    let mut current: Vec<Word> = scan.lead.iter().cloned().collect();
    let mut close = |current: &mut Vec<Word>| {
        if current.is_empty() {
            return;
        }
        let more = !current.iter().any(|word| MARKS.iter().any(|mark| word.text().contains(mark)));
        let words = current.drain(..).map(|word| fill(&word, MARKS)).collect();
        found.push(NestedCommand::new(NestedKind::Command { words, more }, &change));
    };
    let mut tail = tail.iter();
    while let Some(word) = tail.next() {
        match word.known() {
            Some(";") => {
                close(&mut current);
                // Another one may follow.
                tail.find(|word| matches!(word.known(), Some("-x" | "--exec" | "-X" | "--exec-batch")));
            }
            _ => current.push(word.clone()),
        }
    }
    close(&mut current);
    found
}

pub(super) fn entr(call: Call<'_>) -> Vec<NestedCommand> {
    let (scan, change) = call.scan();
    let words: Vec<Word> = rest(&call, &scan).iter().map(|word| fill_whole(word, "/_")).collect();
    let Some((first, args)) = words.split_first() else { return Vec::new() };
    let mut found = match scan.has(OptionRun::Script) {
        true => vec![text_of(first.clone(), args.to_vec(), &change)],
        false => vec![command(words, &change)],
    };
    if scan.unclear {
        found.push(unseen(&change));
    }
    found
}

/// A hole in the place of a word that is this.
fn fill_whole(word: &Word, mark: &str) -> Word {
    if word.known() == Some(mark) { argument(word) } else { word.clone() }
}

pub(super) fn flock(call: Call<'_>) -> Vec<NestedCommand> {
    let (scan, change) = call.scan();
    let words = rest(&call, &scan);
    if scan.stopped {
        return Vec::new();
    }
    match words.split_first() {
        Some((first, others)) if matches!(first.known(), Some("-c" | "--command")) => vec![match others.first() {
            Some(text) => text_of(text.clone(), Vec::new(), &change),
            None => unseen(&change),
        }],
        _ => finish_command(&call, &scan, &change),
    }
}

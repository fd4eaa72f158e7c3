//! What GNU xargs makes of an input that is known.

use toolgate_commands::OptionRun;

use super::argv_edit::known;
use super::{Call, table};
use toolgate_shell_syntax::path::basename;
use toolgate_shell_syntax::word::{Value, Word};

/// Longest input that is split, in bytes. Below it all items fit one command.
const MAX_INPUT: usize = 96 * 1024;

/// How many words may come out.
const MAX_WORDS: usize = 50_000;

/// How many bytes may come out.
const MAX_BYTES: usize = 1024 * 1024;

/// How the input is cut into items.
#[derive(Clone, Copy, PartialEq)]
enum Cut {
    /// At blanks, with quotes.
    Blanks,
    /// At line ends, with quotes.
    Lines,
    /// At this character only.
    At(char),
}

/// The argvs that GNU xargs runs for this input. None when that is not certain.
pub(crate) fn xargs(words: &[Word], input: &str) -> Option<Vec<Vec<Word>>> {
    let row = table::find(basename(words.first()?.known()?)).filter(|row| row.is("xargs"))?;
    let (scan, _) = Call::new(row, words).scan();
    if scan.stopped || scan.unclear || input.len() > MAX_INPUT || words.iter().any(split_later) {
        return None;
    }
    if [OptionRun::Ask, OptionRun::Limit, OptionRun::Bsd].into_iter().any(|meaning| scan.has(meaning)) {
        return None;
    }
    let delimiter = match scan.values(OptionRun::Delimiter).next_back() {
        Some(word) => Some(character(word.known()?)?),
        None => scan.has(OptionRun::Null).then_some('\0'),
    };
    let replace = scan.hits.iter().rfind(|hit| hit.meaning == OptionRun::Replace);
    let replace = match replace.map(|hit| hit.value.as_ref()) {
        Some(Some(word)) => Some(word.known().filter(|text| !text.is_empty())?.to_owned()),
        Some(None) => Some("{}".to_owned()),
        None => None,
    };
    let size = |meaning: OptionRun| -> Option<Option<usize>> {
        match scan.hits.iter().rfind(|hit| hit.meaning == meaning) {
            None => Some(None),
            Some(hit) => match &hit.value {
                // `-l` alone is one line.
                None => Some(Some(1)),
                Some(word) => word.known()?.parse().ok().filter(|&size| size > 0).map(Some),
            },
        }
    };
    let (lines, count) = (size(OptionRun::Lines)?, size(OptionRun::Count)?);
    // Of these the last one given wins, with exceptions.
    if usize::from(replace.is_some()) + usize::from(lines.is_some()) + usize::from(count.is_some()) > 1 {
        return None;
    }
    let end = match scan.hits.iter().rfind(|hit| hit.meaning == OptionRun::Eof) {
        Some(hit) => hit.value.as_ref().map_or(Some(None), |word| word.known().map(|text| Some(text.to_owned())))?,
        None => None,
    };
    let cut = match (delimiter, &replace) {
        (Some(delimiter), _) => Cut::At(delimiter),
        (None, Some(_)) => Cut::Lines,
        (None, None) => Cut::Blanks,
    };
    let mut items = items(input, cut)?;
    if let Some(end) = end.filter(|end| !end.is_empty() && delimiter.is_none())
        && let Some(at) = items.iter().position(|item| item.text == end)
    {
        // Where the input ends right behind it, it may count as an item.
        if at + 1 == items.len() && !input.ends_with([' ', '\t', '\n']) {
            return None;
        }
        items.truncate(at);
    }
    let template = words.get(scan.end..)?;
    let like = words.first()?;
    let echo = [known("echo", like)];
    let template = if template.is_empty() { &echo } else { template };
    let nonempty = scan.has(OptionRun::Nonempty);
    if let Some(mark) = &replace {
        return insert(template, mark, &items);
    }
    let groups: Vec<&[Item]> = match (lines, count) {
        _ if items.is_empty() && nonempty => Vec::new(),
        _ if items.is_empty() => vec![&[]],
        (Some(lines), _) => by_lines(&items, lines),
        (_, Some(count)) => items.chunks(count).collect(),
        _ => vec![&items],
    };
    if groups.len().saturating_mul(template.len()).saturating_add(items.len()) > MAX_WORDS
        || groups.len().saturating_mul(bytes(template)) > MAX_BYTES
    {
        return None;
    }
    let argv = |group: &[Item]| {
        template.iter().cloned().chain(group.iter().map(|item| known(item.text.clone(), like))).collect()
    };
    Some(groups.into_iter().map(argv).collect())
}

/// The file that xargs reads its items from, if its options name one.
pub(crate) fn xargs_file(words: &[Word]) -> Option<Word> {
    let row = table::find(basename(words.first()?.known()?)).filter(|row| row.is("xargs"))?;
    let (scan, _) = Call::new(row, words).scan();
    scan.values(OptionRun::File).next_back().cloned()
}

/// An unquoted word that may become several or none.
fn split_later(word: &Word) -> bool {
    !word.quoted && word.known().is_none()
}

/// `-d` takes a character, or an escape for one.
fn character(text: &str) -> Option<char> {
    let mut chars = text.chars();
    let first = chars.next()?;
    let rest = chars.as_str();
    match (first, rest) {
        (c, "") if c.is_ascii() => Some(c),
        ('\\', "n") => Some('\n'),
        ('\\', "t") => Some('\t'),
        ('\\', "r") => Some('\r'),
        ('\\', "0") => Some('\0'),
        ('\\', "\\") => Some('\\'),
        _ => None,
    }
}

struct Item {
    text: String,
    /// The line of the input, blank ones not counted.
    line: usize,
}

fn items(input: &str, cut: Cut) -> Option<Vec<Item>> {
    if let Cut::At(delimiter) = cut {
        let body = input.strip_suffix(delimiter).unwrap_or(input);
        if input.is_empty() || (delimiter != '\0' && input.contains('\0')) {
            return input.is_empty().then(Vec::new);
        }
        let parts = body.split(delimiter).enumerate();
        return Some(parts.map(|(line, text)| Item { text: text.to_owned(), line }).collect());
    }
    let mut items = Vec::new();
    let mut line = 0;
    let mut current: Option<String> = None;
    let mut chars = input.chars();
    while let Some(c) = chars.next() {
        match c {
            '\0' => return None,
            '\n' => {
                // A blank before the line's end has ended the item already, and joins the next line to this one.
                if let Some(text) = current.take() {
                    items.push(Item { text, line });
                    line += 1;
                }
            }
            ' ' | '\t' if cut == Cut::Blanks || current.is_none() => {
                if let Some(text) = current.take() {
                    items.push(Item { text, line });
                }
            }
            '\u{b}' | '\u{c}' | '\r' if current.is_none() => {}
            '\'' | '"' => {
                let text = current.get_or_insert_default();
                let before = text.len();
                loop {
                    match chars.next()? {
                        '\n' => return None,
                        inner if inner == c => break,
                        inner => text.push(inner),
                    }
                }
                // What an empty pair of quotes comes to depends on what follows.
                if text.len() == before {
                    return None;
                }
            }
            '\\' => {
                let escaped = chars.next()?;
                current.get_or_insert_default().push(escaped);
            }
            c => current.get_or_insert_default().push(c),
        }
    }
    if let Some(text) = current {
        items.push(Item { text, line });
    }
    Some(items)
}

fn by_lines(items: &[Item], lines: usize) -> Vec<&[Item]> {
    let mut groups = Vec::new();
    let mut rest = items;
    while !rest.is_empty() {
        let (mut seen, mut line) = (0, None);
        let end = rest.iter().position(|item| {
            if line != Some(item.line) {
                line = Some(item.line);
                seen += 1;
            }
            seen > lines
        });
        let (group, others) = rest.split_at(end.unwrap_or(rest.len()));
        groups.push(group);
        rest = others;
    }
    groups
}

fn bytes(words: &[Word]) -> usize {
    words.iter().map(|word| word.text().len()).sum()
}

/// `-I`: each line in the place of the mark. The program's own name stays as it is.
fn insert(template: &[Word], mark: &str, items: &[Item]) -> Option<Vec<Vec<Word>>> {
    if template.first().is_some_and(|word| word.text().contains(mark)) {
        return None;
    }
    let marks: usize = template.iter().map(|word| word.text().matches(mark).count()).sum();
    let longest = items.iter().map(|item| item.text.len()).max().unwrap_or(0);
    let whole = bytes(template).saturating_add(marks.saturating_mul(longest)).saturating_mul(items.len());
    if items.len().saturating_mul(template.len()) > MAX_WORDS || whole > MAX_BYTES {
        return None;
    }
    let put = |word: &Word, item: &Item| {
        let mut word = word.clone();
        let (Value::Known(text) | Value::Pattern(text) | Value::Unknown { shape: text, .. }) = &mut word.value;
        *text = text.replace(mark, &item.text);
        word
    };
    Some(items.iter().map(|item| template.iter().map(|word| put(word, item)).collect()).collect())
}

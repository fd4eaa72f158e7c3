//! Reading a program's options by its row.
//!
//! A row lists options as `u,user=:user`: the names, what they take, and what that means.
//!
//! | Sign | Takes |
//! |---|---|
//! | none | nothing |
//! | `=`, `==`, `===` | that many values; the first may be attached |
//! | `?` | a value only if attached |
//! | `~` | the next word unless it looks like an option |
//! | `#` | digits, attached; more letters may follow |
//! | `!` after these | the program then runs nothing |
//!
//! Meanings that change the surroundings: `cwd`, `home`, `away`, `same` (the directory), `set`, `unset`, `setunset`
//! (one of the two), `clear`, `keep`, `login`, `user`, `elsewhere`, `maybe`, `own`. Meanings that run something: `text` (in
//! place of a command), `also` (a text, perhaps), `prog` (a program, perhaps), `unseen`, `foreign` (a text for a shell
//! with another syntax), `code-elsewhere` (of a language that is not read), `script` (a file), `rest` (the command
//! begins here). All others are read by the row's own code.
//! A dot after the meaning ends the options.

use super::table::{ASSIGN, DASH, LONG_ONLY, PERMUTE, Row};
use super::words::{assignment, cut, is_open};
use super::{Change, Directory, Times, table};
use crate::word::{Value, Word};

#[derive(Clone, Copy, PartialEq)]
enum Takes {
    Nothing,
    Words(usize),
    Attached,
    Loose,
    Digits,
}

#[derive(Clone, Copy)]
struct Opt {
    takes: Takes,
    stops: bool,
    meaning: &'static str,
    ends: bool,
}

/// How many letters one word of short options may have; one with more is no option of anything.
const MAX_LETTERS: usize = 64;

const UNLISTED: Opt = Opt { takes: Takes::Nothing, stops: false, meaning: "", ends: false };

/// An option with a meaning, as it was given.
pub(super) struct Hit {
    pub(super) meaning: &'static str,
    /// Its value; none if it stands at the end of the words without one.
    pub(super) value: Option<Word>,
}

/// The options of a command, read.
#[derive(Default)]
pub(super) struct Scan {
    pub(super) hits: Vec<Hit>,
    /// The operands; without `PERMUTE`, all words from the first on.
    pub(super) operands: Vec<usize>,
    /// Where the options end.
    pub(super) end: usize,
    /// The first word of the command, where an option brings it.
    pub(super) lead: Option<Word>,
    /// An option says that nothing runs.
    pub(super) stopped: bool,
    /// A word among the options may be an option or not.
    pub(super) unclear: bool,
    /// An option ended them, not an operand or `--`.
    ended: bool,
}

/// Splits an entry of a row into its names and its meaning.
fn entry(text: &'static str) -> (&'static str, Opt) {
    let end = text.find(['=', '?', '~', '#', '!', ':']).unwrap_or(text.len());
    let (names, rest) = text.split_at(end);
    let (signs, meaning) = rest.split_once(':').unwrap_or((rest, ""));
    let ends = meaning.ends_with('.');
    let takes = match signs.bytes().next() {
        Some(b'=') => Takes::Words(signs.bytes().filter(|&sign| sign == b'=').count()),
        Some(b'?') => Takes::Attached,
        Some(b'~') => Takes::Loose,
        Some(b'#') => Takes::Digits,
        _ => Takes::Nothing,
    };
    (names, Opt { takes, stops: signs.ends_with('!'), meaning: meaning.trim_end_matches('.'), ends })
}

fn short(options: &'static str, letter: char) -> Opt {
    let is = |name: &str| name.chars().eq([letter]);
    options
        .split(' ')
        .filter(|text| text.contains(letter))
        .map(entry)
        .find(|(names, _)| names.split(',').any(is))
        .map_or(UNLISTED, |(_, option)| option)
}

/// The option of this name; a start of it is enough where no other option starts so.
fn long(options: &'static str, name: &str, exact: bool) -> Option<Opt> {
    let mut started = None;
    let mut starts = 0;
    for (names, option) in options.split(' ').filter(|text| text.contains(name)).map(entry) {
        let mut names = names.split(',').filter(|listed| listed.len() > 1).peekable();
        if names.clone().any(|listed| listed == name) {
            return Some(option);
        }
        if names.any(|listed| listed.starts_with(name)) {
            starts += 1;
            started = Some(option);
        }
    }
    started.filter(|_| starts == 1 && !exact)
}

/// Reads the options from this word on.
pub(super) fn scan(row: &'static Row, words: &[Word], from: usize) -> Scan {
    let permute = row.has(PERMUTE);
    let mut scan = Scan::default();
    let mut at = from;
    while let Some(word) = words.get(at) {
        let text = word.text();
        if text == "--" {
            at += 1;
            break;
        }
        if text.len() > 1 && text.starts_with('-') {
            let next = scan.option(row, words, at);
            at = next.0;
            if next.1 {
                scan.ended = true;
                break;
            }
        } else if text == "-" && row.has(DASH) {
            scan.hits.push(Hit { meaning: "clear", value: None });
            at += 1;
        } else if row.has(ASSIGN) && !is_open(word) && sets(text) {
            scan.hits.push(Hit { meaning: "set", value: Some(word.clone()) });
            at += 1;
        } else if permute {
            scan.operands.push(at);
            at += 1;
        } else if is_open(word) && row.operands == 0 && at + 1 < words.len() {
            // An operand of the program's own may well be a variable; here it may be anything.
            scan.unclear = true;
            at += 1;
        } else {
            break;
        }
    }
    scan.end = at.min(words.len());
    // `env -- A=1 rm`: a name may follow the end of the options.
    while row.has(ASSIGN) && !scan.ended {
        match words.get(scan.end).filter(|word| !is_open(word) && sets(word.text())) {
            Some(word) => scan.hits.push(Hit { meaning: "set", value: Some(word.clone()) }),
            None => break,
        }
        scan.end += 1;
    }
    scan.operands.extend(scan.end..words.len());
    scan
}

/// Whether a word sets a variable. In zsh `=rm` is a program.
fn sets(word: &str) -> bool {
    word.find('=').is_some_and(|at| at > 0)
}

impl Scan {
    /// Reads one word of options. The next word's index, and whether the options end here.
    fn option(&mut self, row: &'static Row, words: &[Word], at: usize) -> (usize, bool) {
        let Some(word) = words.get(at) else { return (at, true) };
        let text = word.text();
        let body = text.trim_start_matches('-');
        let dashes = text.len() - body.len();
        let equals = body.find('=');
        let name = body.get(..equals.unwrap_or(body.len())).unwrap_or(body);
        if body.starts_with(Value::HOLE) || (dashes == 2 && name.contains(Value::HOLE)) {
            self.unclear = true;
            return (at + 1, false);
        }
        let listed = match dashes {
            2 => Some(long(row.options, name, false).unwrap_or(UNLISTED)),
            1 if row.has(LONG_ONLY) && name.len() > 1 => long(row.options, name, true),
            _ => None,
        };
        if let Some(option) = listed {
            let attached = equals.map(|equals| cut(word, dashes + equals + 1));
            return self.take(option, attached, words, at);
        }
        let mut letters = text.char_indices().skip(1).peekable();
        let mut read = 0;
        while let Some((_, letter)) = letters.next() {
            read += 1;
            if letter == Value::HOLE || read > MAX_LETTERS {
                self.unclear = true;
                break;
            }
            let option = short(row.options, letter);
            if option.takes == Takes::Digits {
                while letters.next_if(|(_, c)| c.is_ascii_digit()).is_some() {}
            }
            if !matches!(option.takes, Takes::Nothing | Takes::Digits) || option.meaning == "rest" {
                let attached = letters.peek().map(|&(index, _)| cut(word, index));
                return self.take(option, attached, words, at);
            }
            let (_, ended) = self.take(option, None, words, at);
            if ended {
                return (at + 1, true);
            }
        }
        (at + 1, false)
    }

    fn take(&mut self, option: Opt, attached: Option<Word>, words: &[Word], at: usize) -> (usize, bool) {
        self.stopped |= option.stops;
        if option.meaning == "rest" {
            self.lead = attached;
            self.hits.push(Hit { meaning: "rest", value: None });
            return (at + 1, true);
        }
        let mut next = at + 1;
        let value = match option.takes {
            Takes::Nothing | Takes::Digits => None,
            Takes::Attached => attached,
            Takes::Loose => attached.or_else(|| {
                let word = words.get(next).filter(|word| !word.text().starts_with('-') || word.text() == "-")?;
                next += 1;
                Some(word.clone())
            }),
            Takes::Words(count) => {
                let first = if attached.is_some() { next } else { next + 1 };
                let value = attached.or_else(|| words.get(next).cloned());
                next = first + count - 1;
                value
            }
        };
        if !option.meaning.is_empty() {
            self.hits.push(Hit { meaning: option.meaning, value });
        }
        (next, option.ends)
    }

    /// Whether an option of this meaning was given.
    pub(super) fn has(&self, meaning: &str) -> bool {
        self.hits.iter().any(|hit| hit.meaning == meaning)
    }

    /// The values of the options of this meaning.
    pub(super) fn values<'s>(&'s self, meaning: &'s str) -> impl DoubleEndedIterator<Item = &'s Word> {
        self.hits.iter().filter(move |hit| hit.meaning == meaning).filter_map(|hit| hit.value.as_ref())
    }

    /// What the row and its options change.
    pub(super) fn change(&self, row: &Row, mut change: Change) -> Change {
        change.elsewhere |= row.has(table::ELSEWHERE);
        change.other_user |= row.has(table::USER);
        change.clear_env |= row.has(table::CLEAR);
        change.same_shell |= row.has(table::SAME);
        change.replaces |= row.has(table::REPLACES);
        change.own_input |= row.has(table::OWN) || (row.has(table::INPUT) && !self.has("input"));
        if row.has(table::PERHAPS) {
            change.times = Times::Perhaps;
        }
        if row.has(table::AWAY) {
            change.cwd = Some(Directory::Unknown);
        }
        for Hit { meaning, value } in &self.hits {
            match (*meaning, value) {
                ("cwd", Some(word)) => change.cwd = Some(Directory::Word(word.clone())),
                ("home", _) => change.cwd = Some(Directory::Home),
                ("away", _) => change.cwd = Some(Directory::Unknown),
                ("same", _) => change.cwd = None,
                ("clear", _) => change.clear_env = true,
                // `sudo -E` keeps all, `--preserve-env=A,B` only these.
                ("keep", None) => change.clear_env = false,
                ("login", _) => {
                    change.clear_env = true;
                    change.cwd = Some(Directory::Home);
                }
                ("set", Some(word)) => change.set.extend(assignment(word)),
                ("setunset", Some(word)) => match assignment(word) {
                    Some(pair) => change.set.push(pair),
                    None => change.unset.extend(word.known().map(str::to_owned)),
                },
                ("unset", Some(word)) => change.unset.extend(word.known().map(str::to_owned)),
                ("user", _) => change.other_user = true,
                ("elsewhere", place) => {
                    change.elsewhere |= !place.as_ref().is_some_and(|place| is_here(place.value.text()));
                }
                ("maybe", _) => change.times = Times::Perhaps,
                ("own", _) => change.own_input = true,
                _ => {}
            }
        }
        change
    }
}

/// Whether another root, or another machine, is after all this one: `/`, `.host`, `:` of parallel.
fn is_here(place: &str) -> bool {
    let machine = place.rsplit(['@', '/']).next().unwrap_or(place);
    place.starts_with('/') && place.chars().all(|c| matches!(c, '/' | '.')) || matches!(machine, ".host" | ":")
}

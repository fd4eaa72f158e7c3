//! The options of a program that runs others, by its spec: what they change and what they run. How an option that no
//! spec lists is taken: as a flag.

use toolgate_commands::argv::{Parts, Spelling};
use toolgate_commands::{Opt, OptionRun, Takes, Trait};

use super::argv_edit::{assignment, cut, is_open};
use super::table::Row;
use super::{ContextChange, Directory, Times};
use toolgate_shell_syntax::word::{Value, Word};

/// How many letters one word of short options may have; one with more is no option of anything.
const MAX_LETTERS: usize = 64;

/// An option with a meaning, as it was given.
pub(super) struct OptionHit {
    pub(super) meaning: OptionRun,
    /// Its value; none if it stands at the end of the words without one.
    pub(super) value: Option<Word>,
}

/// The options of a command, read.
#[derive(Default)]
pub(super) struct ScannedOptions {
    pub(super) hits: Vec<OptionHit>,
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

/// Reads the options from this word on.
pub(super) fn scan(row: Row, words: &[Word], from: usize) -> ScannedOptions {
    let permute = row.has(Trait::Permute);
    let mut scan = ScannedOptions::default();
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
        } else if text == "-" && row.has(Trait::Dash) {
            scan.hits.push(OptionHit { meaning: OptionRun::Clear, value: None });
            at += 1;
        } else if row.has(Trait::Assign) && !is_open(word) && sets(text) {
            scan.hits.push(OptionHit { meaning: OptionRun::Set, value: Some(word.clone()) });
            at += 1;
        } else if permute {
            scan.operands.push(at);
            at += 1;
        } else if is_open(word) && row.operands() == 0 && at + 1 < words.len() {
            // An operand of the program's own may well be a variable; here it may be anything.
            scan.unclear = true;
            at += 1;
        } else {
            break;
        }
    }
    scan.end = at.min(words.len());
    // `env -- A=1 rm`: a name may follow the end of the options.
    while row.has(Trait::Assign) && !scan.ended {
        match words.get(scan.end).filter(|word| !is_open(word) && sets(word.text())) {
            Some(word) => scan.hits.push(OptionHit { meaning: OptionRun::Set, value: Some(word.clone()) }),
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

impl ScannedOptions {
    /// Reads one word of options. The next word's index, and whether the options end here.
    fn option(&mut self, row: Row, words: &[Word], at: usize) -> (usize, bool) {
        let Some(word) = words.get(at) else { return (at, true) };
        let text = word.text();
        let spelling = if row.has(Trait::LongOnly) { Spelling::WordsOrLetters } else { Spelling::Letters };
        for (index, part) in Parts::new(&row.spec, text, spelling).enumerate() {
            let is_letter = part.dashes < 2;
            let unclear = if is_letter { part.name.starts_with(Value::HOLE) } else { part.name.contains(Value::HOLE) };
            if unclear || is_letter && index >= MAX_LETTERS {
                self.unclear = true;
                break;
            }
            let attached = part.attached.map(|at| cut(word, at));
            let Some(option) = part.option else { continue };
            let ends = option.takes.rest() || option.run == Some(OptionRun::Rest) || option.last;
            let next = self.take(option, attached, words, at);
            if ends {
                return next;
            }
        }
        (at + 1, false)
    }

    fn take(&mut self, option: &Opt, attached: Option<Word>, words: &[Word], at: usize) -> (usize, bool) {
        self.stopped |= option.help;
        if option.run == Some(OptionRun::Rest) {
            self.lead = attached;
            self.hits.push(OptionHit { meaning: OptionRun::Rest, value: None });
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
            Takes::Next(count) => {
                let first = if attached.is_some() { next } else { next + 1 };
                let value = attached.or_else(|| words.get(next).cloned());
                next = first + usize::from(count.saturating_sub(1));
                value
            }
        };
        if let Some(meaning) = option.run {
            self.hits.push(OptionHit { meaning, value });
        }
        (next, option.last)
    }

    /// Whether an option of this meaning was given.
    pub(super) fn has(&self, meaning: OptionRun) -> bool {
        self.hits.iter().any(|hit| hit.meaning == meaning)
    }

    /// The values of the options of this meaning.
    pub(super) fn values(&self, meaning: OptionRun) -> impl DoubleEndedIterator<Item = &Word> {
        self.hits.iter().filter(move |hit| hit.meaning == meaning).filter_map(|hit| hit.value.as_ref())
    }

    /// What the row and its options change.
    pub(super) fn change(&self, row: Row, mut change: ContextChange) -> ContextChange {
        change.elsewhere |= row.has(Trait::Elsewhere);
        change.other_user |= row.has(Trait::User);
        change.clear_env |= row.has(Trait::Clear);
        change.same_shell |= row.has(Trait::Same);
        change.replaces |= row.has(Trait::Replaces);
        change.own_input |= row.has(Trait::Own) || (row.has(Trait::Input) && !self.has(OptionRun::Input));
        if row.has(Trait::Perhaps) {
            change.times = Times::Perhaps;
        }
        if row.has(Trait::Away) {
            change.cwd = Some(Directory::Unknown);
        }
        for OptionHit { meaning, value } in &self.hits {
            match (*meaning, value) {
                (OptionRun::Cwd, Some(word)) => change.cwd = Some(Directory::Word(word.clone())),
                (OptionRun::Away, _) => change.cwd = Some(Directory::Unknown),
                (OptionRun::Same, _) => change.cwd = None,
                (OptionRun::Clear, _) => change.clear_env = true,
                // `sudo -E` keeps all, `--preserve-env=A,B` only these.
                (OptionRun::Keep, None) => change.clear_env = false,
                (OptionRun::Login, _) => {
                    change.clear_env = true;
                    change.cwd = Some(Directory::Home);
                }
                (OptionRun::Set, Some(word)) => change.set.extend(assignment(word)),
                (OptionRun::Setunset, Some(word)) => match assignment(word) {
                    Some(pair) => change.set.push(pair),
                    None => change.unset.extend(word.known().map(str::to_owned)),
                },
                (OptionRun::Unset, Some(word)) => change.unset.extend(word.known().map(str::to_owned)),
                (OptionRun::User, _) => change.other_user = true,
                (OptionRun::Elsewhere, place) => {
                    change.elsewhere |= !place.as_ref().is_some_and(|place| is_here(place.value.text()));
                }
                (OptionRun::Maybe, _) => change.times = Times::Perhaps,
                (OptionRun::Own, _) => change.own_input = true,
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

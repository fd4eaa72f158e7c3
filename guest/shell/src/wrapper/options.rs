//! The options of a program that runs others, by its spec: what they change and what they run. How an option that no
//! spec lists is taken: as a flag.

use toolgate_commands::args::{Arguments, Role};
use toolgate_commands::argv::{Parts, Spelling};
use toolgate_commands::{OptionRun, Trait};

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
    let mut args = Arguments::new(words, from, Word::text);
    while let Some((at, role)) = args.next() {
        let word = &words[at];
        let text = word.text();
        if role == Role::Dashes {
            break;
        }
        if role == Role::Options {
            if scan.option(row, &mut args, at) {
                scan.ended = true;
                break;
            }
        } else if text == "-" && row.has(Trait::Dash) {
            scan.hits.push(OptionHit { meaning: OptionRun::Clear, value: None });
        } else if row.has(Trait::Assign) && !is_open(word) && sets(text) {
            scan.hits.push(OptionHit { meaning: OptionRun::Set, value: Some(word.clone()) });
        } else if permute {
            scan.operands.push(at);
        } else if is_open(word) && row.operands() == 0 && at + 1 < words.len() {
            // An operand of the program's own may well be a variable; here it may be anything.
            scan.unclear = true;
        } else {
            args.at = at;
            break;
        }
    }
    scan.end = args.at.min(words.len());
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
    /// Reads one word of options. Whether the options end here.
    fn option(&mut self, row: Row, args: &mut Arguments<'_, Word>, at: usize) -> bool {
        let word = &args.words[at];
        let spelling = if row.has(Trait::LongOnly) { Spelling::WordsOrLetters } else { Spelling::Letters };
        for (index, part) in Parts::new(&row.spec, word.text(), spelling).enumerate() {
            let is_letter = part.dashes < 2;
            let unclear = if is_letter { part.name.starts_with(Value::HOLE) } else { part.name.contains(Value::HOLE) };
            if unclear || is_letter && index >= MAX_LETTERS {
                self.unclear = true;
                break;
            }
            let Some(option) = part.option else { continue };
            self.stopped |= option.help;
            let attached = part.attached.map(|at| cut(word, at));
            if option.run == Some(OptionRun::Rest) {
                self.lead = attached;
                self.hits.push(OptionHit { meaning: OptionRun::Rest, value: None });
                return true;
            }
            let attached = attached.filter(|_| option.takes.rest());
            let taken = args.take_values(option.takes, attached.is_some());
            if let Some(meaning) = option.run {
                let value = attached.or_else(|| args.words[taken].first().cloned());
                self.hits.push(OptionHit { meaning, value });
            }
            if option.last {
                return true;
            }
        }
        false
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

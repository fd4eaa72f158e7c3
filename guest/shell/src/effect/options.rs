//! The options and operands of a command, read by the row of its program.
//!
//! A row spells its options as words: `t/target-directory=t` is an option of two names whose value is a target,
//! `i/in-place?` has a value only if it is attached, `0#` only attached digits, `-abc` are three flags. A row with
//! flags listed that way is complete, so that anything else is a usage error. Rows without list only what matters.

use crate::glob::unescaped;
use crate::word::{Span, Value, Word};

/// How a program reads its words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Style {
    /// Short ones in clusters, long ones after two dashes, anywhere.
    Gnu,
    /// The same, and the first operand ends them.
    Posix,
    /// Whole words after one dash; those of one letter may have the value attached.
    Joined,
    /// Whole words after one dash or two, the value in the next word or after `=`.
    Go,
    /// By rules of its own: every word is an operand here.
    Raw,
}

/// What the value of an option is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Meaning {
    /// There is none.
    Flag,
    /// A flag, and no operand is the script or pattern.
    NoScript,
    /// It is there only if attached.
    Optional,
    /// Digits that may be attached; the cluster goes on after them.
    Digits,
    /// No path.
    Plain,
    /// A text that is printed, stored or searched for.
    Data,
    /// Such a text, or a file after an `@`, for the code of the row.
    Body,
    /// Such a text, which stands for the operand that would have been it.
    DataScript,
    /// A program, which stands for that operand, and which may do something.
    Script,
    /// A file with it.
    ScriptFile,
    /// A file that is read.
    Read,
    /// A file that is written.
    Write,
    /// A file that is appended to.
    Append,
    /// A folder below which files are written.
    Below,
    /// A path, and nothing is known of what happens to it.
    Mention,
    /// A file that is run.
    Execute,
    /// A place in the network.
    Send,
    /// The folder in which the program works.
    Base,
    /// For the code of the row.
    Target,
}

impl Meaning {
    fn of(letter: &str) -> Self {
        match letter {
            "d" => Meaning::Data,
            "b" => Meaning::Body,
            "p" => Meaning::DataScript,
            "q" => Meaning::Script,
            "P" => Meaning::ScriptFile,
            "r" => Meaning::Read,
            "w" => Meaning::Write,
            "a" => Meaning::Append,
            "f" => Meaning::Below,
            "m" => Meaning::Mention,
            "x" => Meaning::Execute,
            "s" => Meaning::Send,
            "C" => Meaning::Base,
            "t" => Meaning::Target,
            _ => Meaning::Plain,
        }
    }

    /// Whether a value of it is such a text.
    fn is_data(self, value: &Arg) -> bool {
        match self {
            Meaning::Data | Meaning::DataScript => true,
            Meaning::Body => !value.shape().contains('@'),
            _ => false,
        }
    }

    fn takes_value(self) -> bool {
        !matches!(self, Meaning::Flag | Meaning::NoScript | Meaning::Optional | Meaning::Digits)
    }

    /// Whether no operand is the script or pattern once this option is there.
    pub(super) fn is_script(self) -> bool {
        matches!(self, Meaning::NoScript | Meaning::DataScript | Meaning::Script | Meaning::ScriptFile)
    }
}

/// A word, or the part of one after an option's name.
#[derive(Clone, Debug)]
pub(super) struct Arg {
    pub(super) value: Value,
    pub(super) span: Span,
    /// Which word of the command.
    pub(super) word: usize,
}

impl Arg {
    fn whole(words: &[Word], at: usize) -> Option<Self> {
        words.get(at).map(|word| Arg { value: word.value.clone(), span: word.span, word: at })
    }

    /// The rest of a word from this byte of its text.
    pub(super) fn rest(&self, from: usize) -> Self {
        Arg { value: part(&self.value, from), ..self.clone() }
    }

    /// The text, with a hole for each unknown part.
    pub(super) fn shape(&self) -> &str {
        self.value.text()
    }

    pub(super) fn known(&self) -> Option<&str> {
        self.value.known()
    }
}

/// A value without the first bytes of its text.
fn part(value: &Value, from: usize) -> Value {
    let rest = value.text().get(from..).unwrap_or_default();
    match value {
        // No file is called `of=x`, so that the glob finds nothing and stays what it is.
        Value::Pattern(_) => Value::Known(unescaped(rest)),
        _ => value.part(rest.to_owned()),
    }
}

/// An option that was given.
#[derive(Clone, Debug)]
pub(super) struct Given {
    /// The first name that the row has for it.
    pub(super) name: &'static str,
    pub(super) meaning: Meaning,
    pub(super) value: Option<Arg>,
}

/// What a program makes of its words.
#[derive(Clone, Debug, Default)]
pub(super) struct Args {
    pub(super) given: Vec<Given>,
    pub(super) operands: Vec<Arg>,
    /// How many operands stand before `--`, if it is there.
    pub(super) before_dashes: Option<usize>,
    /// Words that look like options and are in no row; they may hold a path.
    pub(super) loose: Vec<Arg>,
    /// Words that are data.
    pub(super) data: Vec<usize>,
    /// Whether the program takes its words just so.
    pub(super) sure: bool,
}

impl Args {
    pub(super) fn has(&self, name: &str) -> bool {
        self.given.iter().any(|given| given.name == name)
    }

    /// Whether any of these names, separated by blanks, was given.
    pub(super) fn has_any(&self, names: &str) -> bool {
        names.split_ascii_whitespace().any(|name| self.has(name))
    }

    /// The last value of an option.
    pub(super) fn value(&self, name: &str) -> Option<&Arg> {
        self.given.iter().rev().find(|given| given.name == name).and_then(|given| given.value.as_ref())
    }
}

/// A name of a row's options and what follows it.
type Known = (&'static str, Meaning);

/// The names of one word of a row, and what follows them.
fn entry(token: &'static str) -> (&'static str, Meaning) {
    if let Some((names, meaning)) = token.split_once('=') {
        return (names, Meaning::of(meaning));
    }
    for (mark, meaning) in [('?', Meaning::Optional), ('#', Meaning::Digits), ('!', Meaning::NoScript)] {
        if let Some(names) = token.strip_suffix(mark) {
            return (names, meaning);
        }
    }
    (token, Meaning::Flag)
}

fn first_name(names: &'static str) -> &'static str {
    names.split('/').next().unwrap_or(names)
}

fn exact(options: &'static str, wanted: &str) -> Option<Known> {
    // Most are in no row.
    if !options.contains(wanted) {
        return None;
    }
    options
        .split_ascii_whitespace()
        .filter(|token| !token.starts_with('-'))
        .map(entry)
        .find_map(|(names, meaning)| names.split('/').any(|name| name == wanted).then(|| (first_name(names), meaning)))
}

fn letter(options: &'static str, wanted: char) -> Option<Known> {
    // Most have not even the letter in them.
    let mut buffer = [0; 4];
    let letter: &str = wanted.encode_utf8(&mut buffer);
    options.split_ascii_whitespace().filter(|token| token.contains(letter)).find_map(|token| {
        if let Some(flags) = token.strip_prefix('-') {
            let at = flags.find(wanted)?;
            return Some((flags.get(at..at + wanted.len_utf8())?, Meaning::Flag));
        }
        let (names, meaning) = entry(token);
        let is = |name: &str| name.len() == wanted.len_utf8() && name.starts_with(wanted);
        names.split('/').any(is).then(|| (first_name(names), meaning))
    })
}

/// A long name, or the only one that begins so.
fn long(options: &'static str, wanted: &str) -> Option<Known> {
    if wanted.len() < 2 || !options.contains(wanted) {
        return None;
    }
    if let Some(found) = exact(options, wanted) {
        return Some(found);
    }
    let begins = |names: &str| names.split('/').any(|name| name.len() > 1 && name.starts_with(wanted));
    let mut found =
        options.split_ascii_whitespace().filter(|token| !token.starts_with('-')).map(entry).filter(|row| begins(row.0));
    let only = found.next()?;
    found.next().is_none().then(|| (first_name(only.0), only.1))
}

/// Reads words from an index on. With `one` it stops at the first operand. Gives the index where it stopped.
pub(super) fn read(words: &[Word], from: usize, options: &'static str, style: Style, one: bool) -> (Args, usize) {
    let complete = options.split_ascii_whitespace().any(|token| token.starts_with('-'));
    let mut reader = Reader { words, options, complete, args: Args { sure: true, ..Args::default() }, at: from };
    let mut ended = style == Style::Raw;
    while let Some(arg) = Arg::whole(words, reader.at) {
        let text = arg.shape();
        let operand = ended || !text.starts_with('-') || text == "-";
        if !operand && text == "--" {
            ended = true;
            reader.args.before_dashes = Some(reader.args.operands.len());
            reader.at += 1;
            continue;
        }
        let may_split = match &arg.value {
            Value::Known(_) => false,
            Value::Pattern(text) => !ended && text.starts_with(['*', '?', '[']),
            Value::Unknown { .. } => true,
        };
        reader.args.sure &= !may_split;
        if operand {
            if one {
                break;
            }
            ended |= style == Style::Posix;
            reader.args.operands.push(arg);
            reader.at += 1;
            continue;
        }
        reader.at += 1;
        match style {
            Style::Joined | Style::Go => reader.word(&arg, style),
            _ if text.starts_with("--") => reader.long(&arg),
            _ => reader.cluster(&arg),
        }
    }
    let at = reader.at;
    (reader.args, at)
}

struct Reader<'a> {
    words: &'a [Word],
    options: &'static str,
    complete: bool,
    args: Args,
    at: usize,
}

impl Reader<'_> {
    fn push(&mut self, known: Known, value: Option<Arg>) {
        self.args.given.push(Given { name: known.0, meaning: known.1, value });
    }

    /// Takes the next word for the value.
    fn push_next(&mut self, known: Known) {
        let value = Arg::whole(self.words, self.at);
        match &value {
            Some(value) if known.1.is_data(value) => self.args.data.push(value.word),
            Some(_) => {}
            None => self.args.sure = false,
        }
        self.args.sure &= value.as_ref().is_none_or(|value| value.known().is_some());
        self.at += 1;
        self.push(known, value);
    }

    /// The value stands in the option's own word, `own` if nothing but the name stands before it.
    fn push_attached(&mut self, known: Known, value: Arg, own: bool) {
        if own && known.1.is_data(&value) {
            self.args.data.push(value.word);
        }
        self.push(known, Some(value));
    }

    fn unlisted(&mut self, arg: &Arg) {
        self.args.sure &= !self.complete;
        self.args.loose.push(arg.clone());
    }

    fn long(&mut self, arg: &Arg) {
        let text = arg.shape();
        let equals = text.find('=');
        let name = &text[2..equals.unwrap_or(text.len())];
        match (long(self.options, name), equals) {
            (None, _) => self.unlisted(arg),
            (Some(known), Some(at)) => self.push_attached(known, arg.rest(at + 1), true),
            (Some(known), None) if known.1.takes_value() => self.push_next(known),
            (Some(known), None) => self.push(known, None),
        }
    }

    fn cluster(&mut self, arg: &Arg) {
        let text = arg.shape();
        let (mut digits, mut loose) = (false, false);
        for (at, c) in text.char_indices().skip(1) {
            if std::mem::take(&mut digits) && c.is_ascii_digit() {
                digits = true;
                continue;
            }
            let after = at + c.len_utf8();
            match letter(self.options, c) {
                None => {
                    self.args.sure &= !self.complete && c != Value::HOLE;
                    // It may take the rest for its value.
                    if !loose && text[after..].contains(['/', '.', '~', '@', '=']) {
                        loose = true;
                        self.unlisted(arg);
                    }
                    // `-#` is a flag of curl's.
                    if !c.is_ascii_alphanumeric() && c != '#' {
                        return;
                    }
                }
                Some(known) if known.1 == Meaning::Digits => {
                    digits = true;
                    self.push(known, None);
                }
                Some(known) if known.1 == Meaning::Optional => {
                    let value = (after < text.len()).then(|| arg.rest(after));
                    return self.push(known, value);
                }
                Some(known) if known.1.takes_value() => {
                    return match after < text.len() {
                        true => self.push_attached(known, arg.rest(after), at == 1),
                        false => self.push_next(known),
                    };
                }
                Some(known) => self.push(known, None),
            }
        }
    }

    fn word(&mut self, arg: &Arg, style: Style) {
        let text = arg.shape();
        let dashes = text.len() - text.trim_start_matches('-').len();
        let name = &text[dashes.min(2)..];
        if let Some(known) = exact(self.options, name) {
            return match known.1.takes_value() {
                true => self.push_next(known),
                false => self.push(known, None),
            };
        }
        if let Some(equals) = name.find('=').filter(|_| style == Style::Go || dashes == 2)
            && let Some(known) = exact(self.options, &name[..equals])
        {
            return self.push_attached(known, arg.rest(dashes.min(2) + equals + 1), true);
        }
        if style == Style::Joined
            && dashes == 1
            && let Some(first) = name.chars().next()
            && let Some(known) = letter(self.options, first).filter(|known| known.1.takes_value())
        {
            return self.push_attached(known, arg.rest(1 + first.len_utf8()), true);
        }
        self.unlisted(arg);
    }
}

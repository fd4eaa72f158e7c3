//! The options and operands of a command, read by the spec of its program.
//!
//! A value that may be a path for all that the spec says, and an option that it does not list, are kept apart: whatever
//! the row does with its operands, they may hold a path.

use std::ops::Range;

use toolgate_commands::args::{Arguments, Role};
use toolgate_commands::argv::{Part, Parts, Spelling};
use toolgate_commands::{FileUse, Opt, Spec, Syntax, Takes};

use toolgate_shell_syntax::glob::unescaped;
use toolgate_shell_syntax::word::{Span, Value, Word};

/// Whether a value of this use is a text and no path.
fn is_data(file: FileUse, value: &Arg) -> bool {
    match file {
        FileUse::Data | FileUse::DataScript => true,
        FileUse::Body => !value.shape().contains('@'),
        _ => false,
    }
}

/// Whether no operand is the script or pattern once an option of this use is there.
pub(super) fn is_script(file: FileUse) -> bool {
    matches!(file, FileUse::NoScript | FileUse::DataScript | FileUse::Script | FileUse::ScriptFile)
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
    fn whole(words: &[Word], at: usize) -> Self {
        Arg { value: words[at].value.clone(), span: words[at].span, word: at }
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

/// An option as it was read from the words.
#[derive(Clone, Debug)]
pub(super) struct ParsedOption {
    /// The name that the spec has for it.
    pub(super) name: &'static str,
    pub(super) file: FileUse,
    pub(super) value: Option<Arg>,
}

/// What a program makes of its words.
#[derive(Clone, Debug, Default)]
pub(super) struct Args {
    pub(super) given: Vec<ParsedOption>,
    pub(super) operands: Vec<Arg>,
    /// How many operands stand before `--`, if it is there.
    pub(super) before_dashes: Option<usize>,
    /// Words that look like options and are in no spec; they may hold a path.
    pub(super) loose: Vec<Arg>,
    /// Values of which no spec says whether they are paths.
    pub(super) unclear: Vec<Arg>,
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

/// Reads words from an index on. With `one` it stops at the first operand. Gives the index where it stopped.
pub(super) fn read(words: &[Word], from: usize, spec: &'static Spec, syntax: Syntax, one: bool) -> (Args, usize) {
    let complete = spec.files.as_ref().is_some_and(|files| files.complete);
    let spelling = match syntax {
        Syntax::Joined => Spelling::Joined,
        Syntax::Go => Spelling::Words,
        Syntax::Gnu | Syntax::Posix | Syntax::Raw => Spelling::Letters,
    };
    let arguments = Arguments::new(words, from, Word::text);
    let mut reader = Reader { arguments, spec, complete, args: Args { sure: true, ..Args::default() } };
    reader.arguments.ended = syntax == Syntax::Raw;
    while let Some((at, role)) = reader.arguments.next() {
        if role == Role::Dashes {
            reader.arguments.ended = true;
            reader.args.before_dashes = Some(reader.args.operands.len());
            continue;
        }
        let arg = Arg::whole(words, at);
        let may_split = match &arg.value {
            Value::Known(_) => false,
            Value::Pattern(text) => !reader.arguments.ended && text.starts_with(['*', '?', '[']),
            Value::Unknown { .. } => true,
        };
        reader.args.sure &= !may_split;
        if role == Role::Options {
            reader.word(&arg, spelling);
        } else if one {
            reader.arguments.at = at;
            break;
        } else {
            reader.arguments.ended |= syntax == Syntax::Posix;
            reader.args.operands.push(arg);
        }
    }
    (reader.args, reader.arguments.at)
}

struct Reader<'a> {
    arguments: Arguments<'a, Word>,
    spec: &'static Spec,
    complete: bool,
    args: Args,
}

impl Reader<'_> {
    fn push(&mut self, option: &Opt, value: Option<Arg>) {
        self.args.given.push(ParsedOption { name: option.name, file: option.file, value });
    }

    /// The values are these words.
    fn push_next(&mut self, option: &Opt, values: Range<usize>) {
        let words = self.arguments.words;
        let mut values = values.map(|at| Arg::whole(words, at));
        let value = values.next();
        self.args.data.extend(value.iter().filter(|value| is_data(option.file, value)).map(|value| value.word));
        self.args.sure &= value.as_ref().is_some_and(|value| value.known().is_some());
        if option.file == FileUse::MayBePath {
            self.args.unclear.extend(value);
        } else {
            self.push(option, value);
        }
        self.args.unclear.extend(values);
    }

    /// The value stands in the option's own word, `own` if nothing but the name stands before it.
    fn push_attached(&mut self, option: &Opt, value: Arg, own: bool) {
        if own && is_data(option.file, &value) {
            self.args.data.push(value.word);
        }
        self.push(option, Some(value));
    }

    fn unlisted(&mut self, arg: &Arg) {
        self.args.sure &= !self.complete;
        self.args.loose.push(arg.clone());
    }

    /// Reads the options in one word.
    fn word(&mut self, arg: &Arg, spelling: Spelling) {
        let text = arg.shape();
        let cluster = spelling == Spelling::Letters && !text.starts_with("--");
        let mut loose = false;
        let spec = self.spec;
        for part in Parts::new(&spec, text, spelling) {
            match part.option {
                Some(option) => self.option(arg, option, &part),
                None if !cluster => self.unlisted(arg),
                None => {
                    let letter = part.name.chars().next().unwrap_or_default();
                    self.args.sure &= !self.complete && letter != Value::HOLE;
                    // It may take the rest for its value.
                    let rest = part.attached.and_then(|at| text.get(at..)).unwrap_or_default();
                    if !loose && rest.contains(['/', '.', '~', '@', '=']) {
                        loose = true;
                        self.unlisted(arg);
                    }
                    // `-#` is a flag of curl's.
                    if !letter.is_ascii_alphanumeric() && letter != '#' {
                        return;
                    }
                }
            }
        }
    }

    fn option(&mut self, arg: &Arg, option: &'static Opt, part: &Part<'_, &'static Opt>) {
        let taken = self.arguments.take_values(option.takes, part.attached.is_some());
        match (option.takes, part.attached) {
            (Takes::Nothing | Takes::Digits, Some(_)) if part.name.chars().count() > 1 => {
                self.push(option, None);
                self.args.loose.push(arg.clone());
            }
            (Takes::Nothing | Takes::Digits, _) => self.push(option, None),
            (Takes::Attached, value) => self.push(option, value.map(|at| arg.rest(at))),
            (_, Some(_)) if option.file == FileUse::MayBePath => self.args.loose.push(arg.clone()),
            (_, Some(at)) => self.push_attached(option, arg.rest(at), part.own),
            (Takes::Loose, None) if taken.is_empty() => self.push(option, None),
            (_, None) => self.push_next(option, taken),
        }
    }
}

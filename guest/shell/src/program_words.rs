//! The options and operands of a program, by its spec. What no spec lists is a flag, and the operand behind it may be its value.

use toolgate_commands::args::{Arguments, Role};
use toolgate_commands::argv::{Lookup, Parts, Spelling};
use toolgate_commands::{FileUse, Opt, Spec, Takes};
use toolgate_shell_syntax::word::Word;

use crate::wrapper::cut;

/// What a program is given: its words as they are read by its spec.
///
/// ```
/// use toolgate_shell::{ProgramWords, Span, Word};
///
/// let words: Vec<Word> = ["-C", "docs", "html"].map(|word| Word::new(word, Span::default())).into();
/// let read = ProgramWords::read("make", &words);
/// assert_eq!(read.folder().map(Word::text), Some("docs"));
/// assert_eq!(read.words().map(Word::text).collect::<Vec<_>>(), ["html"]);
/// ```
#[derive(Default)]
pub struct ProgramWords {
    options: Vec<ParsedOption>,
    /// What is no option, in order.
    pub operands: Vec<Operand>,
}

/// An option as it was read from the words.
struct ParsedOption {
    /// As it is written, without dashes.
    name: String,
    /// None where no spec lists it.
    option: Option<&'static Opt>,
    value: Option<Word>,
}

impl ParsedOption {
    fn is(&self, name: &str) -> bool {
        self.option.map_or(self.name == name, |option| option.is(name))
    }
}

/// A word that is no option, and no value of one that is listed.
pub struct Operand {
    /// The word.
    pub word: Word,
    /// It may be the value of an option that no spec lists.
    pub perhaps_value: bool,
}

/// The specs of a program and of the subcommands that its operands name, the innermost last.
#[derive(Default)]
struct Chain(Vec<&'static Spec>);

impl Chain {
    fn first(&self, find: impl Fn(&'static Spec) -> Option<&'static Opt>) -> Option<&'static Opt> {
        self.0.iter().rev().find_map(|spec| find(spec))
    }
}

impl Lookup for Chain {
    type Option = &'static Opt;

    fn letter(&self, letter: char) -> Option<&'static Opt> {
        self.first(|spec| spec.letter(letter))
    }

    fn long(&self, name: &str) -> Option<&'static Opt> {
        self.first(|spec| spec.exact(name).or_else(|| spec.long(name)))
    }

    fn word(&self, name: &str) -> Option<&'static Opt> {
        self.first(|spec| spec.exact(name))
    }

    fn takes(option: &'static Opt) -> Takes {
        option.takes
    }
}

impl ProgramWords {
    /// Reads what stands behind the name of a program that takes options anywhere.
    pub fn read(program: &str, arguments: &[Word]) -> Self {
        Self::read_to(program, arguments, false)
    }

    /// Reads what stands behind the name of a program for which the first operand ends the options.
    pub fn read_until_operand(program: &str, arguments: &[Word]) -> Self {
        Self::read_to(program, arguments, true)
    }

    fn read_to(program: &str, arguments: &[Word], first_ends: bool) -> Self {
        let spec = toolgate_commands::find(program).or_else(|| toolgate_commands::find_runner(program));
        let spelling = spec.map(Spelling::of).unwrap_or_default();
        let mut chain = Chain(spec.into_iter().collect());
        let (mut found, mut unlisted) = (ProgramWords::default(), false);
        let mut words = Arguments::new(arguments, 0, Word::text);
        while let Some((at, role)) = words.next() {
            let word = &arguments[at];
            let perhaps_value = std::mem::take(&mut unlisted);
            match role {
                Role::Dashes => words.ended = true,
                Role::Operand => {
                    let inner = chain.0.last().and_then(|spec| spec.subcommand(word.known()?));
                    chain.0.extend(inner.filter(|_| !perhaps_value));
                    words.ended |= first_ends && !perhaps_value;
                    found.operands.push(Operand { word: word.clone(), perhaps_value });
                }
                Role::Options => {
                    for part in Parts::new(&chain, word.text(), spelling) {
                        unlisted = part.option.is_none() && part.attached.is_none();
                        let mut takes = part.option.map_or(Takes::Attached, |option| option.takes);
                        // A dash alone is an operand here: standard input.
                        if takes == Takes::Loose && arguments.get(at + 1).is_some_and(|next| next.text() == "-") {
                            takes = Takes::Attached;
                        }
                        let attached = part.attached.filter(|_| takes.rest()).map(|from| cut(word, from));
                        let taken = words.take_values(takes, attached.is_some());
                        let value = attached.or_else(|| arguments[taken].first().cloned());
                        found.options.push(ParsedOption { name: part.name.to_owned(), option: part.option, value });
                    }
                }
            }
        }
        found
    }

    /// Whether an option was given, by one of its names without dashes.
    pub fn has(&self, name: &str) -> bool {
        self.options.iter().any(|given| given.is(name))
    }

    /// Whether any of these options was given, with which the program runs nothing, or one that its spec says so of.
    pub fn runs_nothing(&self, names: &[&str]) -> bool {
        names.iter().any(|name| self.has(name))
            || self.options.iter().any(|given| given.option.is_some_and(|it| it.help))
    }

    /// The values of these options, by any of their names without dashes.
    pub fn values<'a>(&'a self, names: &'a [&'a str]) -> impl Iterator<Item = &'a Word> {
        let is = |given: &&ParsedOption| names.iter().any(|name| given.is(name));
        self.options.iter().filter(is).filter_map(|given| given.value.as_ref())
    }

    /// The folder in which the program is told to work, if it is.
    pub fn folder(&self) -> Option<&Word> {
        let is_base = |given: &&ParsedOption| given.option.is_some_and(|option| option.file == FileUse::Base);
        self.options.iter().rev().find(is_base).and_then(|given| given.value.as_ref())
    }

    /// The operands, those that may be values of options as well.
    pub fn words(&self) -> impl Iterator<Item = &Word> {
        self.operands.iter().map(|operand| &operand.word)
    }
}

#[cfg(test)]
mod tests {
    use toolgate_shell_syntax::word::Span;

    use super::*;

    #[test]
    fn options_are_those_of_the_spec() {
        // The folder, the values of `-f`, the operands; a question mark behind one that may be a value.
        let cases = [
            ("make -C d -f m.mk all", "d", "m.mk", "all"),
            ("make -kf m.mk", "", "m.mk", ""),
            ("make --file=m.mk --dir=d", "d", "m.mk", ""),
            ("make -j4 all", "", "", "all"),
            ("make -- -f", "", "", "-f"),
            ("just -d d --color never -f j b", "d", "j", "b"),
            ("npm --registry U run b", "", "", "run b"),
            ("npm run --registry U b", "", "", "run b"),
            ("npm --nothing U run b", "", "", "U? run b"),
            ("npm --nothing=U run b", "", "", "run b"),
            ("pnpm --dir d run b", "d", "", "run b"),
            ("psql -1f a.sql db", "", "a.sql", "db"),
        ];
        for (text, folder, files, operands) in cases {
            let words: Vec<Word> = text.split(' ').map(|word| Word::new(word, Span::default())).collect();
            let found = ProgramWords::read(words[0].text(), &words[1..]);
            let own = found
                .operands
                .iter()
                .map(|operand| format!("{}{}", operand.word.text(), if operand.perhaps_value { "?" } else { "" }));
            assert_eq!(own.collect::<Vec<_>>().join(" "), operands, "{text}");
            assert_eq!(found.folder().map_or("", Word::text), folder, "{text}");
            assert_eq!(found.values(&["f"]).map(Word::text).collect::<Vec<_>>().join(" "), files, "{text}");
        }
    }
}

//! The options in one word: clusters of letters, long names and their abbreviations, attached values.
//!
//! This is the only place that takes a word apart. Which words hold options is in [`args`](crate::args). What an option
//! that no spec lists may take is for the consumer: [`Part::option`] is `None` for those.

use crate::{Opt, Spec, Syntax, Takes, Trait};

/// How a program spells its options.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Spelling {
    /// `-abc` are three, `--name` is one, which may be cut short.
    #[default]
    Letters,
    /// `-name` is one if it is listed, else `-abc` are three; `--name` is one, which may be cut short.
    WordsOrLetters,
    /// `-name` and `--name` are one. A name of one letter may have its value attached after one dash.
    Joined,
    /// `-name` and `--name` are one, with the value after `=`.
    Words,
}

impl Spelling {
    /// How a program spells its options, by its spec.
    #[must_use]
    pub fn of(spec: &Spec) -> Self {
        let long_only = spec.runs.as_ref().is_some_and(|runs| runs.traits.contains(&Trait::LongOnly));
        match spec.files.as_ref().map(|files| files.syntax) {
            _ if long_only => Spelling::WordsOrLetters,
            Some(Syntax::Joined) => Spelling::Joined,
            _ if spec.one_dash => Spelling::Words,
            _ => Spelling::Letters,
        }
    }
}

/// What options are looked up in.
pub trait Lookup {
    /// What is known of an option.
    type Option: Copy;

    /// The option of this letter.
    fn letter(&self, letter: char) -> Option<Self::Option>;
    /// The option of this name, after two dashes. A start of the name may be enough.
    fn long(&self, name: &str) -> Option<Self::Option>;
    /// The option of exactly this name, after one dash or two.
    fn word(&self, name: &str) -> Option<Self::Option>;
    /// What it takes.
    fn takes(option: Self::Option) -> Takes;
}

impl Lookup for &'static Spec {
    type Option = &'static Opt;

    fn letter(&self, letter: char) -> Option<&'static Opt> {
        Spec::letter(self, letter)
    }

    fn long(&self, name: &str) -> Option<&'static Opt> {
        Spec::long(self, name)
    }

    fn word(&self, name: &str) -> Option<&'static Opt> {
        self.exact(name)
    }

    fn takes(option: &'static Opt) -> Takes {
        option.takes
    }
}

/// One option of a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part<'t, O> {
    /// Its name as it is written, without dashes.
    pub name: &'t str,
    /// How many dashes stand before it. In a cluster it is one for each letter.
    pub dashes: usize,
    /// What is known of it; nothing if it is listed nowhere.
    pub option: Option<O>,
    /// Where in the word an attached value begins. Behind a letter that is listed nowhere it is what follows, which may
    /// be more options as well.
    pub attached: Option<usize>,
    /// Whether the value stands after a `=`, or directly behind the letter that begins the word.
    pub own: bool,
}

/// The options of a word that begins with a dash.
#[derive(Debug)]
pub struct Parts<'l, 't, L: Lookup> {
    lookup: &'l L,
    text: &'t str,
    whole: Option<Part<'t, L::Option>>,
    /// Where the next letter of a cluster is; the end of the word if there is none.
    at: usize,
}

impl<'l, 't, L: Lookup> Parts<'l, 't, L> {
    /// Takes a word apart.
    pub fn new(lookup: &'l L, text: &'t str, spelling: Spelling) -> Self {
        // `---name` is an option of that name with a dash before it, which nothing has.
        let dashes = if text.starts_with("--") { 2 } else { 1 };
        let body = text.get(dashes..).unwrap_or_default();
        let equals = body.find('=');
        let name = body.get(..equals.unwrap_or(body.len())).unwrap_or(body);
        let part = |name, option, attached| Part { name, dashes, option, attached, own: true };
        let valued = |option| Some(part(name, option, equals.map(|equals| dashes + equals + 1)));
        let whole = match spelling {
            Spelling::Letters | Spelling::WordsOrLetters if dashes > 1 => valued(lookup.long(name)),
            Spelling::WordsOrLetters if name.len() > 1 => lookup.word(name).and_then(|option| valued(Some(option))),
            Spelling::Letters | Spelling::WordsOrLetters => None,
            Spelling::Words => valued(lookup.word(name)),
            Spelling::Joined => Some(match (lookup.word(body), body.chars().next()) {
                (Some(option), _) => part(body, Some(option), None),
                (None, _) if dashes > 1 => part(name, lookup.word(name), equals.map(|equals| dashes + equals + 1)),
                (None, first) => {
                    let option = first.and_then(|first| lookup.letter(first));
                    let option = option.filter(|option| matches!(L::takes(*option), Takes::Next(_) | Takes::Loose));
                    let after = first.map_or(0, char::len_utf8);
                    match option {
                        Some(option) => part(body.get(..after).unwrap_or(body), Some(option), Some(dashes + after)),
                        None => part(body, None, None),
                    }
                }
            }),
        };
        let at = if whole.is_some() { text.len() } else { 1 };
        Parts { lookup, text, whole, at }
    }
}

impl<'t, L: Lookup> Iterator for Parts<'_, 't, L> {
    type Item = Part<'t, L::Option>;

    fn next(&mut self) -> Option<Self::Item> {
        if let Some(whole) = self.whole.take() {
            return Some(whole);
        }
        let first = self.at == 1;
        let letter = self.text.get(self.at..)?.chars().next()?;
        let mut after = self.at + letter.len_utf8();
        let name = self.text.get(self.at..after)?;
        let option = self.lookup.letter(letter);
        let takes = option.map(L::takes);
        let attached = Some(after).filter(|after| *after < self.text.len());
        if takes == Some(Takes::Digits) {
            after += self.text[after..].bytes().take_while(u8::is_ascii_digit).count();
        }
        self.at = if takes.is_some_and(Takes::rest) { self.text.len() } else { after };
        Some(Part { name, dashes: 1, option, attached, own: first })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::find;

    /// `NAME:TAKES=ATTACHED` for each option of the word.
    fn shown(program: &str, word: &str, spelling: Spelling) -> String {
        let Some(spec) = find(program) else { return "no such program".into() };
        let parts = Parts::new(&spec, word, spelling).map(|part| {
            let takes = part.option.map_or("?".to_owned(), |option| format!("{:?}", option.takes));
            let rest = part.option.is_none_or(|option| option.takes.rest()) || part.name.len() > 1;
            let value = part.attached.filter(|_| rest).map_or(String::new(), |at| format!("={}", &word[at..]));
            format!("{}:{takes}{value}", part.name)
        });
        parts.collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn a_word_is_taken_apart_as_its_program_does() {
        let cases = [
            ("sudo", "-nu", Spelling::Letters, "n:Nothing u:Next(1)"),
            ("sudo", "-nubob", Spelling::Letters, "n:Nothing u:Next(1)=bob"),
            ("sudo", "--user=bob", Spelling::Letters, "user:Next(1)=bob"),
            ("sudo", "--use", Spelling::Letters, "use:Next(1)"),
            ("sudo", "--nothing=1", Spelling::Letters, "nothing:?=1"),
            ("sudo", "---user", Spelling::Letters, "-user:?"),
            ("xargs", "--s", Spelling::Letters, "s:Nothing"),
            ("env", "--s", Spelling::Letters, "s:Next(1)"),
            ("sudo", "-\u{e9}n", Spelling::Letters, "\u{e9}:?=n n:Nothing"),
            ("sed", "-i.bak", Spelling::Letters, "i:Attached=.bak"),
            ("sed", "-ni", Spelling::Letters, "n:Nothing i:Attached"),
            ("perl", "-0777ne", Spelling::Letters, "0:Digits n:Nothing e:Next(1)"),
            ("node", "-e", Spelling::WordsOrLetters, "e:Next(1)"),
            ("node", "-pe", Spelling::WordsOrLetters, "pe:Next(1)"),
            ("gcc", "-ofile", Spelling::Joined, "o:Next(1)=file"),
            ("gcc", "-o", Spelling::Joined, "o:Next(1)"),
            ("gcc", "-MMD", Spelling::Joined, "MMD:Nothing"),
            ("terraform", "-target=a", Spelling::Words, "target:Next(1)=a"),
            ("terraform", "--target", Spelling::Words, "target:Next(1)"),
        ];
        for (program, word, spelling, expected) in cases {
            assert_eq!(shown(program, word, spelling), expected, "{program} {word}");
        }
    }
}

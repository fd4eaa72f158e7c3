//! The words of a command line, from left to right: which hold options, which are values of those, which are operands.
//!
//! [`argv`](crate::argv) takes apart the words that hold options. What ends the options, what an option that no spec
//! lists may take and what a word that is not known may be, is for the consumer to say.

use std::ops::Range;

use crate::Takes;

/// What a word is by its text and those before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// It begins with a dash: one option or several.
    Options,
    /// `--`, which ends the options of most programs.
    Dashes,
    /// It is no option.
    Operand,
}

/// Gives the words that are no values of options, with their indices. They may be texts that are known in part.
#[derive(Debug)]
pub struct Arguments<'w, W> {
    /// All words.
    pub words: &'w [W],
    text: fn(&W) -> &str,
    /// The index of the next word.
    pub at: usize,
    /// Whether all further words are operands.
    pub ended: bool,
}

impl<'w, W> Arguments<'w, W> {
    /// Begins at this word.
    pub fn new(words: &'w [W], from: usize, text: fn(&W) -> &str) -> Self {
        Arguments { words, text, at: from, ended: false }
    }

    /// Takes the words that are values of an option in the word that came last, and gives their indices. The first value
    /// may be attached to the option.
    pub fn take_values(&mut self, takes: Takes, attached: bool) -> Range<usize> {
        let is_next_option = || self.words.get(self.at).is_some_and(|next| is_option((self.text)(next)));
        let count = match takes {
            Takes::Loose if is_next_option() => 0,
            _ => takes.words().saturating_sub(usize::from(attached)),
        };
        let from = self.at;
        self.at = self.words.len().min(from + count);
        from..self.at
    }
}

impl<W> Iterator for Arguments<'_, W> {
    type Item = (usize, Role);

    fn next(&mut self) -> Option<Self::Item> {
        let at = self.at;
        let role = match (self.text)(self.words.get(at)?) {
            text if self.ended || !is_option(text) => Role::Operand,
            "--" => Role::Dashes,
            _ => Role::Options,
        };
        self.at += 1;
        Some((at, role))
    }
}

/// Whether a word looks like an option. A dash alone stands for a stream.
fn is_option(text: &str) -> bool {
    text.len() > 1 && text.starts_with('-')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_word_is_an_option_a_value_or_an_operand() {
        // What `-o` takes, the words, and for each word that is no value what it is, with the values behind it.
        let cases = [
            (Takes::Nothing, "-o a - -- -b", "options operand operand dashes operand"),
            (Takes::Attached, "-o a", "options operand"),
            (Takes::Digits, "-o 1", "options operand"),
            (Takes::Loose, "-o a b", "options=a operand"),
            (Takes::Loose, "-o - b", "options=- operand"),
            (Takes::Loose, "-o -b", "options options"),
            (Takes::Loose, "-o -- b", "options dashes operand"),
            (Takes::Loose, "-oa b", "options operand"),
            (Takes::Loose, "-o", "options"),
            (Takes::Next(1), "-o -- -b", "options=-- options"),
            (Takes::Next(2), "-o a b c", "options=a,b operand"),
            (Takes::Next(2), "-oa b c", "options=b operand"),
            (Takes::Next(2), "-o a", "options=a"),
        ];
        for (takes, text, expected) in cases {
            let words: Vec<&str> = text.split(' ').collect();
            let mut arguments = Arguments::new(&words, 0, |word| word);
            let mut found = Vec::new();
            while let Some((at, role)) = arguments.next() {
                arguments.ended |= role == Role::Dashes;
                let is_o = role == Role::Options && words[at].starts_with("-o");
                let values = if is_o { arguments.take_values(takes, words[at].len() > 2) } else { 0..0 };
                let values = words[values].join(",");
                let role = format!("{role:?}").to_lowercase();
                found.push(if values.is_empty() { role } else { format!("{role}={values}") });
            }
            assert_eq!(found.join(" "), expected, "{takes:?} {text}");
        }
    }
}

//! What stands in `[[ ]]`.

use super::{Parser, Parsing};
use crate::syntax::tree::Test;
use crate::syntax::words::Stop;

impl Parser<'_> {
    pub(super) fn test_or(&mut self) -> Parsing<Test> {
        self.deeper()?;
        let mut left = self.test_and()?;
        loop {
            self.newlines()?;
            if !self.take("||") {
                self.depth -= 1;
                return Ok(left);
            }
            left = Test::Or(Box::new(left), Box::new(self.test_and()?));
        }
    }

    fn test_and(&mut self) -> Parsing<Test> {
        let mut left = self.test_not()?;
        loop {
            self.newlines()?;
            if !self.take("&&") {
                return Ok(left);
            }
            left = Test::And(Box::new(left), Box::new(self.test_not()?));
        }
    }

    fn test_not(&mut self) -> Parsing<Test> {
        let mut negated = false;
        loop {
            self.newlines()?;
            if !self.take_keyword("!") {
                break;
            }
            negated = !negated;
        }
        let test = if self.take("(") {
            let inner = self.test_or()?;
            self.newlines()?;
            self.expect(")")?;
            inner
        } else {
            self.test_primary()?
        };
        Ok(if negated { Test::Not(Box::new(test)) } else { test })
    }

    fn test_primary(&mut self) -> Parsing<Test> {
        let first = self.word()?.ok_or_else(|| self.unexpected())?;
        self.blanks();
        let unary = first.plain().filter(|text| text.len() == 2 && text.starts_with('-')).map(str::to_owned);
        if let Some(operator) = unary
            && !self.test_ends()
            && let Some(word) = self.word()?
        {
            return Ok(Test::Unary(operator, word));
        }
        for operator in ["<", ">"] {
            if self.take(operator) {
                self.blanks();
                let second = self.word()?.ok_or_else(|| self.unexpected())?;
                return Ok(Test::Binary(operator.to_owned(), first, second));
            }
        }
        if self.test_ends() {
            return Ok(Test::Word(first));
        }
        let Some(operator) = self.word()?.and_then(|word| word.plain().map(str::to_owned)) else {
            return Ok(Test::Word(first));
        };
        self.blanks();
        let stop = if operator == "=~" { Stop::Regex } else { Stop::Word };
        let second = self.word_until(stop)?.ok_or_else(|| self.unexpected())?;
        Ok(Test::Binary(operator, first, second))
    }

    fn test_ends(&self) -> bool {
        self.keyword() == Some("]]") || matches!(self.byte(), None | Some(b')' | b'\n' | b'&' | b'|'))
    }
}

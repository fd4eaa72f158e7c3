//! Arithmetic expressions on what is known.
//!
//! An unknown operand makes the result unknown, not the whole expression meaningless: what it assigns is still noted.

use toolgate_shell_syntax::word::name_length;

/// The variables of an expression.
pub(crate) trait Numbers {
    /// The text of a variable: empty if unset, `None` if unknown.
    fn get(&mut self, name: &str) -> Option<String>;
    /// Sets a variable, or makes it unknown.
    fn set(&mut self, name: &str, value: Option<i64>);
}

/// How deep parentheses and variables that hold expressions are followed.
const MAX_DEPTH: usize = 32;

/// How many values of variables are read as expressions in all: each may name several others.
const MAX_EXPRESSIONS: usize = 256;

/// What an expression comes to, `None` if that is not known.
pub(crate) fn evaluate(text: &str, numbers: &mut dyn Numbers) -> Option<i64> {
    let mut expressions = MAX_EXPRESSIONS;
    evaluate_at(text, numbers, Mode::Run, 0, &mut expressions)
}

fn evaluate_at(
    text: &str,
    numbers: &mut dyn Numbers,
    mode: Mode,
    depth: usize,
    expressions: &mut usize,
) -> Option<i64> {
    if text.trim().is_empty() {
        return Some(0);
    }
    let failed = depth > MAX_DEPTH || *expressions == 0;
    *expressions = expressions.saturating_sub(1);
    let mut reader = Reader { text, at: 0, numbers, depth, expressions, failed };
    let value = reader.comma(mode);
    reader.blanks();
    if reader.failed || reader.at < text.len() { None } else { value }
}

/// Whether a part of an expression is evaluated.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mode {
    Run,
    /// It may be, so that what it assigns is unknown.
    Doubt,
    Skip,
}

impl Mode {
    /// The mode of a part that is evaluated if a condition holds.
    fn given(self, condition: Option<bool>) -> Self {
        match (self, condition) {
            (Mode::Skip, _) | (_, Some(false)) => Mode::Skip,
            (mode, Some(true)) => mode,
            (_, None) => Mode::Doubt,
        }
    }
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
    numbers: &'a mut dyn Numbers,
    depth: usize,
    /// How many more values of variables are read as expressions.
    expressions: &'a mut usize,
    failed: bool,
}

/// Operators of two sides, loosest first; those of one row bind alike.
const LEVELS: &[&[&str]] =
    &[&["|"], &["^"], &["&"], &["==", "!="], &["<=", ">=", "<", ">"], &["<<", ">>"], &["+", "-"], &["*", "/", "%"]];

const ASSIGNMENTS: &[&str] = &["<<=", ">>=", "+=", "-=", "*=", "/=", "%=", "&=", "^=", "|=", "="];

impl Reader<'_> {
    fn rest(&self) -> &str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn blanks(&mut self) {
        self.at = self.text.len() - self.rest().trim_start().len();
    }

    fn take(&mut self, operator: &str) -> bool {
        self.blanks();
        let found = self.rest().starts_with(operator);
        if found {
            self.at += operator.len();
        }
        found
    }

    fn comma(&mut self, mode: Mode) -> Option<i64> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            self.failed = true;
            return None;
        }
        let mut value = self.assignment(mode);
        while !self.failed && self.take(",") {
            value = self.assignment(mode);
        }
        self.depth -= 1;
        value
    }

    fn assignment(&mut self, mode: Mode) -> Option<i64> {
        self.blanks();
        let start = self.at;
        let length = name_length(self.rest());
        if length > 0 {
            let name = self.rest()[..length].to_owned();
            self.at += length;
            self.blanks();
            let operator = ASSIGNMENTS.iter().copied().find(|operator| self.rest().starts_with(operator));
            if let Some(operator) = operator.filter(|_| !self.rest().starts_with("==")) {
                self.at += operator.len();
                self.depth += 1;
                if self.depth > MAX_DEPTH {
                    self.failed = true;
                    return None;
                }
                let right = self.assignment(mode);
                self.depth -= 1;
                let value = match operator.strip_suffix('=') {
                    Some("") | None => right,
                    Some(operator) => {
                        let left = self.variable(&name, mode);
                        apply(operator, left, right)
                    }
                };
                self.assign(&name, value, mode);
                return value;
            }
        }
        self.at = start;
        self.choice(mode)
    }

    fn assign(&mut self, name: &str, value: Option<i64>, mode: Mode) {
        match mode {
            Mode::Run => self.numbers.set(name, value),
            Mode::Doubt => self.numbers.set(name, None),
            Mode::Skip => {}
        }
    }

    fn choice(&mut self, mode: Mode) -> Option<i64> {
        let condition = self.or(mode);
        if !self.take("?") {
            return condition;
        }
        let holds = condition.map(|value| value != 0);
        let yes = self.comma(mode.given(holds));
        if !self.take(":") {
            self.failed = true;
            return None;
        }
        self.depth += 1;
        self.failed |= self.depth > MAX_DEPTH;
        if self.failed {
            return None;
        }
        let no = self.assignment(mode.given(holds.map(|holds| !holds)));
        self.depth -= 1;
        if holds? { yes } else { no }
    }

    fn or(&mut self, mode: Mode) -> Option<i64> {
        let mut left = self.and(mode);
        while !self.failed && self.take("||") {
            let holds = left.map(|value| value != 0);
            let right = self.and(mode.given(holds.map(|holds| !holds)));
            left = match (holds, right) {
                (Some(true), _) => Some(1),
                (_, Some(right)) if right != 0 => Some(1),
                (Some(false), Some(_)) => Some(0),
                _ => None,
            };
        }
        left
    }

    fn and(&mut self, mode: Mode) -> Option<i64> {
        let mut left = self.binary(0, mode);
        while !self.failed && self.take("&&") {
            let holds = left.map(|value| value != 0);
            let right = self.binary(0, mode.given(holds));
            left = match (holds, right) {
                (Some(false), _) | (_, Some(0)) => Some(0),
                (Some(true), Some(_)) => Some(1),
                _ => None,
            };
        }
        left
    }

    fn binary(&mut self, level: usize, mode: Mode) -> Option<i64> {
        let Some(operators) = LEVELS.get(level) else { return self.power(mode) };
        let mut left = self.binary(level + 1, mode);
        while !self.failed {
            self.blanks();
            let rest = self.rest();
            let longer = ["||", "&&", "**"]
                .iter()
                .chain(ASSIGNMENTS)
                .any(|longer| longer.len() > 1 && rest.starts_with(longer) && !operators.contains(longer));
            let found = operators.iter().find(|operator| rest.starts_with(**operator));
            let shift = |operator: &str| operator.len() == 1 && (rest.starts_with("<<") || rest.starts_with(">>"));
            let Some(operator) = found.filter(|operator| !longer && !shift(operator)) else { return left };
            self.at += operator.len();
            let right = self.binary(level + 1, mode);
            left = apply(operator, left, right);
        }
        None
    }

    fn power(&mut self, mode: Mode) -> Option<i64> {
        let base = self.unary(mode);
        if !self.take("**") {
            return base;
        }
        self.depth += 1;
        self.failed |= self.depth > MAX_DEPTH;
        if self.failed {
            return None;
        }
        let exponent = self.power(mode);
        self.depth -= 1;
        base?.checked_pow(u32::try_from(exponent?).ok()?)
    }

    fn unary(&mut self, mode: Mode) -> Option<i64> {
        self.blanks();
        self.depth += 1;
        self.failed |= self.depth > MAX_DEPTH;
        if self.failed {
            return None;
        }
        let value = self.unary_inner(mode);
        self.depth -= 1;
        value
    }

    fn unary_inner(&mut self, mode: Mode) -> Option<i64> {
        for (operator, by) in [("++", 1), ("--", -1)] {
            if self.rest().starts_with(operator) && name_length(self.rest()[2..].trim_start()) > 0 {
                self.at += 2;
                self.blanks();
                let length = name_length(self.rest());
                let name = self.rest()[..length].to_owned();
                self.at += length;
                let value = self.variable(&name, mode).and_then(|value| value.checked_add(by));
                self.assign(&name, value, mode);
                return value;
            }
        }
        if self.take("!") {
            return self.unary(mode).map(|value| i64::from(value == 0));
        }
        if self.take("~") {
            return self.unary(mode).map(|value| !value);
        }
        if self.take("-") {
            return self.unary(mode).and_then(i64::checked_neg);
        }
        if self.take("+") {
            return self.unary(mode);
        }
        if self.take("(") {
            let value = self.comma(mode);
            if !self.take(")") {
                self.failed = true;
            }
            return value;
        }
        self.primary(mode)
    }

    fn primary(&mut self, mode: Mode) -> Option<i64> {
        self.blanks();
        if self.rest().starts_with('\0') {
            // The place of an expansion that is not known.
            self.at += 1;
            let more = self.rest().find(|c: char| !(c.is_ascii_alphanumeric() || "_\0#@".contains(c)));
            self.at += more.unwrap_or(self.rest().len());
            return None;
        }
        let length = name_length(self.rest());
        if length == 0 {
            let end = self.rest().find(|c: char| !(c.is_ascii_alphanumeric() || "#@_".contains(c)));
            let number = &self.rest()[..end.unwrap_or(self.rest().len())];
            if number.is_empty() {
                self.failed = true;
                return None;
            }
            let value = parse_number(number);
            self.at += number.len();
            return value;
        }
        let name = self.rest()[..length].to_owned();
        self.at += length;
        if self.take("[") {
            // An element: its index may assign, its value is not followed.
            self.comma(mode);
            if !self.take("]") {
                self.failed = true;
            }
            if ASSIGNMENTS.iter().any(|operator| self.rest().trim_start().starts_with(operator))
                || self.rest().starts_with("++")
                || self.rest().starts_with("--")
            {
                self.assign(&name, None, mode);
                self.failed = true;
            }
            return None;
        }
        for (operator, by) in [("++", 1), ("--", -1)] {
            if self.take(operator) {
                let value = self.variable(&name, mode);
                self.assign(&name, value.and_then(|value| value.checked_add(by)), mode);
                return value;
            }
        }
        self.variable(&name, mode)
    }

    fn variable(&mut self, name: &str, mode: Mode) -> Option<i64> {
        if mode == Mode::Skip {
            return None;
        }
        let text = self.numbers.get(name)?;
        match parse_number(text.trim()) {
            Some(number) => Some(number),
            None => evaluate_at(&text, self.numbers, mode, self.depth + 1, self.expressions),
        }
    }
}

fn parse_number(text: &str) -> Option<i64> {
    if let Some((base, digits)) = text.split_once('#') {
        let base: u32 = base.parse().ok().filter(|base| (2..=36).contains(base))?;
        return i64::from_str_radix(digits, base).ok();
    }
    if let Some(hex) = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        return i64::from_str_radix(hex, 16).ok();
    }
    if !text.starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    if text.len() > 1 && text.starts_with('0') {
        return i64::from_str_radix(&text[1..], 8).ok();
    }
    text.parse().ok()
}

fn apply(operator: &str, left: Option<i64>, right: Option<i64>) -> Option<i64> {
    let (left, right) = (left?, right?);
    match operator {
        "+" => Some(left.wrapping_add(right)),
        "-" => Some(left.wrapping_sub(right)),
        "*" => Some(left.wrapping_mul(right)),
        "/" => left.checked_div(right),
        "%" => left.checked_rem(right),
        "<<" => left.checked_shl(u32::try_from(right).ok()?),
        ">>" => left.checked_shr(u32::try_from(right).ok()?),
        "&" => Some(left & right),
        "|" => Some(left | right),
        "^" => Some(left ^ right),
        "==" => Some(i64::from(left == right)),
        "!=" => Some(i64::from(left != right)),
        "<" => Some(i64::from(left < right)),
        ">" => Some(i64::from(left > right)),
        "<=" => Some(i64::from(left <= right)),
        ">=" => Some(i64::from(left >= right)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    struct Table(BTreeMap<String, Option<String>>);

    impl Numbers for Table {
        fn get(&mut self, name: &str) -> Option<String> {
            self.0.get(name).cloned().unwrap_or_else(|| Some(String::new()))
        }

        fn set(&mut self, name: &str, value: Option<i64>) {
            self.0.insert(name.to_owned(), value.map(|value| value.to_string()));
        }
    }

    #[test]
    fn expressions_come_to_what_bash_says() {
        let cases = [
            ("1+2*3", Some(7), "a=5"),
            ("(1+2)*3", Some(9), "a=5"),
            ("a++ + ++a", Some(12), "a=7"),
            ("a--", Some(5), "a=4"),
            ("- -3", Some(3), "a=5"),
            ("b=3,b*2", Some(6), "b=3"),
            ("a<6 && a>4", Some(1), "a=5"),
            ("a==5?10:20", Some(10), "a=5"),
            ("2**10", Some(1024), "a=5"),
            ("2**3**2", Some(512), "a=5"),
            ("0x1f + 010 + 2#101", Some(44), "a=5"),
            ("7/0", None, "a=5"),
            ("1<<4|3", Some(19), "a=5"),
            ("7%4", Some(3), "a=5"),
            ("!a", Some(0), "a=5"),
            ("~0", Some(-1), "a=5"),
            ("none+1", Some(1), "a=5"),
            ("a+=2", Some(7), "a=7"),
            ("a<<=1", Some(10), "a=10"),
            ("u+1", None, "a=5"),
            ("0 && (a=9)", Some(0), "a=5"),
            ("u && (a=9)", None, "a=?"),
            ("u ? (a=1) : 2", None, "a=?"),
            ("a=u", None, "a=?"),
            ("1 || (a=9)", Some(1), "a=5"),
            ("\0 + 1", None, "a=5"),
            ("1 +", None, "a=5"),
            ("", Some(0), "a=5"),
            ("08", None, "a=5"),
            ("a >= 5", Some(1), "a=5"),
            ("x[a++]", None, "a=6"),
        ];
        for (text, expected, after) in cases {
            let known = [("a".to_owned(), Some("5".to_owned())), ("u".to_owned(), None)];
            let mut table = Table(known.into_iter().collect());
            assert_eq!(evaluate(text, &mut table), expected, "{text}");
            let (name, value) = after.split_once('=').expect("a pair");
            let value = Some(value).filter(|value| *value != "?").map(str::to_owned);
            assert_eq!(table.0.get(name), Some(&value), "{text}");
        }
    }
}

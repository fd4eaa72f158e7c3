//! What one word of shell text stands for.
//!
//! A word is resolved by the rules of bash: quotes, escapes, ANSI-C strings, braces, tilde, variables whose value
//! is known, then splitting. A glob stays a pattern. Whatever needs the running shell is unknown.

use std::fmt;
use std::iter::Peekable;
use std::str::Chars;

use brush_parser::ParserOptions;
use brush_parser::word::{
    self as parser, BraceExpressionMember, BraceExpressionOrText, Parameter, ParameterExpr, ParameterTestType,
    WordPiece, WordPieceWithSource,
};

/// A range of bytes of the text that was parsed, the end not included.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct Span {
    /// The first byte.
    pub start: usize,
    /// The first byte after it.
    pub end: usize,
}

/// Why something is not known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Why {
    /// It is what another command prints.
    CommandOutput,
    /// It is a file that stands for another command's output or input.
    ProcessSubstitution,
    /// This variable's value.
    Variable(String),
    /// The home folder of this user; of the own one if empty.
    Home(String),
    /// The directory in which the command runs.
    Directory,
    /// An expansion or an expression that is not followed here.
    Expansion,
    /// What a glob finds when it runs.
    Glob,
    /// It comes from what another program finds or reads when it runs.
    Argument,
    /// More comes out of it than is followed.
    TooMuch,
    /// It is no text, or does not parse.
    Malformed,
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Why::CommandOutput => f.write_str("it is the output of a command"),
            Why::ProcessSubstitution => f.write_str("it is a process substitution"),
            Why::Variable(name) => write!(f, "the value of ${name} is not known"),
            Why::Home(user) if user.is_empty() => f.write_str("the home folder is not known"),
            Why::Home(user) => write!(f, "the home folder of {user} is not known"),
            Why::Directory => f.write_str("the directory is not known"),
            Why::Expansion => f.write_str("it is an expansion that is not followed"),
            Why::Glob => f.write_str("what a glob finds is not known"),
            Why::Argument => f.write_str("it is put in when the command runs"),
            Why::TooMuch => f.write_str("too much comes out of it"),
            Why::Malformed => f.write_str("it does not parse"),
        }
    }
}

/// What a word stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// Exactly this text.
    Known(String),
    /// A glob. Characters that were quoted and would be special have a backslash before them.
    Pattern(String),
    /// Something that only running it would tell.
    Unknown {
        /// Why.
        why: Why,
        /// The known text with [`Value::HOLE`] in the place of each unknown part.
        shape: String,
    },
}

impl Value {
    /// Stands for an unknown part in [`Value::Unknown::shape`]. No shell text contains it.
    pub const HOLE: char = '\0';

    /// Nothing of it is known.
    pub(crate) fn hole(why: Why) -> Self {
        Value::Unknown { why, shape: Value::HOLE.to_string() }
    }
}

/// A word of a command, after expansion and splitting.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Word {
    /// Where it stands in the text. Words that came out of one by splitting or braces share its span.
    pub span: Span,
    /// What it stands for.
    pub value: Value,
    /// Whether any part of it was quoted.
    pub quoted: bool,
}

impl Word {
    /// The text, if it is certain.
    pub fn known(&self) -> Option<&str> {
        match &self.value {
            Value::Known(text) => Some(text),
            _ => None,
        }
    }
}

/// The variables and directories that a word may need.
pub(crate) trait Scope {
    /// The value of a variable, or why it is not known.
    fn variable(&self, name: &str) -> Result<String, Why>;
    /// Whether the shell splits words where it does without being told otherwise.
    fn splits_at_blanks(&self) -> bool;
}

/// A word with more brace expansions than this is unknown.
const MAX_BRACES: usize = 256;

pub(crate) fn options() -> ParserOptions {
    ParserOptions::default()
}

/// A part of a word.
#[derive(Clone, Debug)]
struct Piece {
    text: String,
    /// Neither split nor a glob.
    quoted: bool,
    /// The result of an expansion, so that blanks in it split the word.
    expanded: bool,
    unknown: Option<Why>,
}

impl Piece {
    fn text(text: impl Into<String>, quoted: bool) -> Self {
        Piece { text: text.into(), quoted, expanded: false, unknown: None }
    }

    fn unknown(why: Why, quoted: bool) -> Self {
        Piece { text: String::new(), quoted, expanded: true, unknown: Some(why) }
    }
}

/// Resolves one word of the source. The result may be none (an empty expansion) or several words.
pub(crate) fn resolve(source: &str, span: Span, scope: &dyn Scope) -> Vec<Word> {
    match braces(source) {
        Braces::None => resolve_one(source, span, scope),
        Braces::Texts(texts) => texts.iter().flat_map(|text| resolve_one(text, span, scope)).collect(),
        Braces::TooMany => {
            // What stands before the braces is certain: it is the start of every word that comes out.
            let start = source.split('{').next().unwrap_or_default();
            let shape = match join(&pieces_of(start, scope), span).value {
                Value::Known(text) | Value::Pattern(text) | Value::Unknown { shape: text, .. } => text,
            };
            let shape = format!("{shape}{}", Value::HOLE);
            vec![Word { span, value: Value::Unknown { why: Why::TooMuch, shape }, quoted: false }]
        }
    }
}

/// Resolves `name=value` among the arguments of a command, where the shell expands a tilde as in an assignment.
pub(crate) fn resolve_assignment_like(source: &str, span: Span, scope: &dyn Scope) -> Vec<Word> {
    let Some((name, value)) = source.split_once('=').filter(|(_, value)| value.starts_with('~')) else {
        return resolve(source, span, scope);
    };
    let mut words = resolve(value, span, scope);
    for word in &mut words {
        let (Value::Known(text) | Value::Pattern(text) | Value::Unknown { shape: text, .. }) = &mut word.value;
        text.insert_str(0, &format!("{name}="));
    }
    words
}

/// Resolves a text that is neither split nor globbed: an assigned value, a redirect's target, a heredoc.
pub(crate) fn resolve_whole(source: &str, span: Span, scope: &dyn Scope) -> Word {
    let pieces: Vec<Piece> =
        pieces_of(source, scope).into_iter().map(|piece| Piece { expanded: false, ..piece }).collect();
    join(&pieces, span)
}

fn resolve_one(source: &str, span: Span, scope: &dyn Scope) -> Vec<Word> {
    split(pieces_of(source, scope)).iter().map(|pieces| join(pieces, span)).collect()
}

fn pieces_of(source: &str, scope: &dyn Scope) -> Vec<Piece> {
    match parser::parse(source, &options()) {
        Ok(parsed) => {
            let mut pieces = Vec::new();
            for piece in &parsed {
                add(&mut pieces, piece, false, scope);
            }
            pieces
        }
        Err(_) => vec![Piece::unknown(Why::Malformed, true)],
    }
}

fn add(pieces: &mut Vec<Piece>, piece: &WordPieceWithSource, quoted: bool, scope: &dyn Scope) {
    match &piece.piece {
        WordPiece::Text(text) => pieces.push(Piece::text(text, quoted)),
        WordPiece::SingleQuotedText(text) => pieces.push(Piece::text(text, true)),
        WordPiece::AnsiCQuotedText(text) => pieces.push(match ansi_c(text) {
            Some(text) => Piece::text(text, true),
            None => Piece::unknown(Why::Malformed, true),
        }),
        WordPiece::DoubleQuotedSequence(inner) | WordPiece::GettextDoubleQuotedSequence(inner) => {
            // An empty pair of quotes is a word of its own.
            pieces.push(Piece::text("", true));
            for piece in inner {
                add(pieces, piece, true, scope);
            }
        }
        WordPiece::TildePrefix(user) if user.is_empty() => pieces.push(match scope.variable("HOME") {
            Ok(home) => Piece::text(home, true),
            Err(_) => Piece::unknown(Why::Home(String::new()), true),
        }),
        WordPiece::TildePrefix(user) => {
            pieces.push(Piece::unknown(Why::Home(user.clone()), true));
        }
        WordPiece::EscapeSequence(text) => {
            let text = text.strip_prefix('\\').unwrap_or(text);
            // A backslash before a line's end joins the two lines.
            pieces.push(Piece::text(if text == "\n" { "" } else { text }, true));
        }
        WordPiece::ParameterExpansion(parameter) => pieces.push(match expand(parameter, scope) {
            Ok(text) if quoted || scope.splits_at_blanks() => Piece { text, quoted, expanded: !quoted, unknown: None },
            Ok(_) => Piece::unknown(Why::Expansion, quoted),
            Err(why) => Piece::unknown(why, quoted),
        }),
        WordPiece::CommandSubstitution(_) | WordPiece::BackquotedCommandSubstitution(_) => {
            pieces.push(Piece::unknown(Why::CommandOutput, quoted));
        }
        WordPiece::ArithmeticExpression(expression) => {
            // A leading zero makes it octal.
            let digits = expression.value.trim();
            let plain = digits == "0" || !digits.starts_with('0');
            pieces.push(match digits.parse::<u32>() {
                Ok(number) if plain => Piece::text(number.to_string(), quoted),
                _ => Piece::unknown(Why::Expansion, quoted),
            });
        }
    }
}

fn expand(parameter: &ParameterExpr, scope: &dyn Scope) -> Result<String, Why> {
    let named = |parameter: &Parameter, indirect: bool| match parameter {
        Parameter::Named(name) if !indirect => scope.variable(name),
        _ => Err(Why::Expansion),
    };
    match parameter {
        ParameterExpr::Parameter { parameter, indirect } => named(parameter, *indirect),
        // With a value that is not empty these come to that value.
        ParameterExpr::IndicateErrorIfNullOrUnset { parameter, indirect, .. }
        | ParameterExpr::AssignDefaultValues { parameter, indirect, .. } => match named(parameter, *indirect)? {
            value if value.is_empty() => Err(Why::Expansion),
            value => Ok(value),
        },
        ParameterExpr::UseDefaultValues { parameter, indirect, test_type, default_value } => {
            let value = named(parameter, *indirect)?;
            match (value.is_empty(), test_type) {
                (true, ParameterTestType::UnsetOrNull) => match default_value.as_deref() {
                    None => Ok(String::new()),
                    Some(text) if text.chars().all(|c| c.is_alphanumeric() || "/._-".contains(c)) => Ok(text.into()),
                    Some(_) => Err(Why::Expansion),
                },
                _ => Ok(value),
            }
        }
        _ => Err(Why::Expansion),
    }
}

/// Splits at the blanks of unquoted expansions, as the shell does with its default `IFS`.
fn split(pieces: Vec<Piece>) -> Vec<Vec<Piece>> {
    let mut words = vec![Vec::new()];
    for piece in pieces {
        if !piece.expanded || piece.quoted || piece.unknown.is_some() || !piece.text.contains([' ', '\t', '\n']) {
            if let Some(word) = words.last_mut() {
                word.push(piece);
            }
            continue;
        }
        for (index, part) in piece.text.split([' ', '\t', '\n']).enumerate() {
            if index > 0 && words.last().is_some_and(|word: &Vec<Piece>| !word.is_empty()) {
                words.push(Vec::new());
            }
            if !part.is_empty()
                && let Some(word) = words.last_mut()
            {
                word.push(Piece { text: part.to_owned(), ..piece.clone() });
            }
        }
    }
    words.retain(|word| word.iter().any(|piece| piece.quoted || piece.unknown.is_some() || !piece.text.is_empty()));
    words
}

fn join(pieces: &[Piece], span: Span) -> Word {
    let quoted = pieces.iter().any(|piece| piece.quoted);
    let mut why = None;
    let mut shape = String::new();
    let glob = pieces.iter().any(|piece| !piece.quoted && is_glob(&piece.text));
    for piece in pieces {
        match &piece.unknown {
            Some(reason) => {
                why.get_or_insert_with(|| reason.clone());
                shape.push(Value::HOLE);
            }
            None if glob && piece.quoted => escape_glob(&piece.text, &mut shape),
            None => shape.push_str(&piece.text),
        }
    }
    let value = match why {
        Some(why) => Value::Unknown { why, shape },
        None if glob => Value::Pattern(shape),
        None => Value::Known(shape),
    };
    Word { span, value, quoted }
}

fn is_glob(text: &str) -> bool {
    text.contains(['*', '?']) || text.find('[').is_some_and(|open| text[open + 1..].contains(']'))
}

fn escape_glob(text: &str, into: &mut String) {
    for c in text.chars() {
        if "*?[]\\".contains(c) {
            into.push('\\');
        }
        into.push(c);
    }
}

/// What brace expansion makes of a word.
enum Braces {
    None,
    Texts(Vec<String>),
    TooMany,
}

fn braces(source: &str) -> Braces {
    if !source.contains('{') || !(source.contains(',') || source.contains("..")) {
        return Braces::None;
    }
    // The parser's own numbers end at 64 bits, and it does not check.
    let longest = source.split(|c: char| !c.is_ascii_digit()).map(str::len).max();
    if source.contains("..") && longest.is_some_and(|digits| digits > 9) {
        return Braces::TooMany;
    }
    match parser::parse_brace_expansions(source, &options()) {
        Ok(Some(parsed)) if parsed.iter().any(|piece| matches!(piece, BraceExpressionOrText::Expr(_))) => {
            product(&parsed, source).map_or(Braces::TooMany, Braces::Texts)
        }
        _ => Braces::None,
    }
}

/// The texts that come out, or `None` if they are too many or of a kind that is not followed: `{01..3}`, `{a..e..2}`.
fn product(pieces: &[BraceExpressionOrText], source: &str) -> Option<Vec<String>> {
    let mut results = vec![String::new()];
    for piece in pieces {
        let parts = match piece {
            BraceExpressionOrText::Text(text) => vec![text.clone()],
            BraceExpressionOrText::Expr(members) => {
                let mut parts = Vec::new();
                for member in members {
                    match member {
                        BraceExpressionMember::Child(pieces) => parts.extend(product(pieces, source)?),
                        BraceExpressionMember::NumberSequence { start, end, increment: 1 }
                            if !source.contains("{0") && !source.contains("..0") && !source.contains("-0") =>
                        {
                            if start.abs_diff(*end) >= MAX_BRACES as u64 {
                                return None;
                            }
                            let (low, high) = (*start.min(end), *start.max(end));
                            let numbers = (low..=high).map(|number| number.to_string());
                            if start <= end { parts.extend(numbers) } else { parts.extend(numbers.rev()) }
                        }
                        BraceExpressionMember::CharSequence { start, end, increment: 1 } if start <= end => {
                            parts.extend((*start..=*end).take(MAX_BRACES).map(String::from));
                        }
                        _ => return None,
                    }
                }
                parts
            }
        };
        if results.len() * parts.len() > MAX_BRACES {
            return None;
        }
        results = results.iter().flat_map(|start| parts.iter().map(move |part| format!("{start}{part}"))).collect();
    }
    Some(results)
}

/// The text of `$'..'`: the escapes of the bash manual's section on ANSI-C quoting.
fn ansi_c(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    let mut buffer = [0; 4];
    while let Some(c) = chars.next() {
        if c != '\\' {
            bytes.extend_from_slice(c.encode_utf8(&mut buffer).as_bytes());
            continue;
        }
        let byte = match chars.next()? {
            'a' => 7,
            'b' => 8,
            'e' | 'E' => 27,
            'f' => 12,
            'n' => b'\n',
            'r' => b'\r',
            't' => b'\t',
            'v' => 11,
            c @ ('\\' | '\'' | '"' | '?') => c as u8,
            c @ '0'..='7' => u8::try_from(digits(&mut chars, 8, 2, c.to_digit(8))? & 0xff).ok()?,
            'x' => u8::try_from(digits(&mut chars, 16, 2, None)?).ok()?,
            c @ ('u' | 'U') => {
                let code = digits(&mut chars, 16, if c == 'u' { 4 } else { 8 }, None)?;
                bytes.extend_from_slice(char::from_u32(code)?.encode_utf8(&mut buffer).as_bytes());
                continue;
            }
            'c' => u8::try_from(chars.next()?).ok()? & 0x1f,
            other => {
                bytes.push(b'\\');
                bytes.extend_from_slice(other.encode_utf8(&mut buffer).as_bytes());
                continue;
            }
        };
        // The shell ends the string at a NUL.
        if byte == 0 {
            break;
        }
        bytes.push(byte);
    }
    String::from_utf8(bytes).ok()
}

/// Up to `most` digits, after one that was read already. `None` if there is none at all.
fn digits(chars: &mut Peekable<Chars<'_>>, radix: u32, most: usize, first: Option<u32>) -> Option<u32> {
    let mut value = first;
    for _ in 0..most {
        let Some(digit) = chars.peek().and_then(|c| c.to_digit(radix)) else { break };
        value = Some(value.unwrap_or(0).checked_mul(radix)?.checked_add(digit)?);
        chars.next();
    }
    value
}

//! The parts of a word that is being put together: splitting them into words, and joining them to one.

use toolgate_shell_syntax::glob;
use toolgate_shell_syntax::syntax::Literal;
use toolgate_shell_syntax::word::{Span, Value, Why, Word};

/// A part of a word that is being put together.
#[derive(Clone, Debug)]
pub(super) enum WordFragment {
    /// `split`: the result of an expansion, so that blanks in it split the word.
    Text { text: String, quoted: bool, split: bool, at: Option<usize> },
    /// Something unknown.
    Hole { why: Why, quoted: bool },
    /// One of the names that a glob finds.
    Match(String),
    /// All of them, each a word.
    Spread(String),
    /// Between the words of `"$@"`.
    Break,
}

impl WordFragment {
    pub(super) fn text(text: impl Into<String>, quoted: bool) -> Self {
        WordFragment::Text { text: text.into(), quoted, split: false, at: None }
    }

    pub(super) fn hole(why: Why, quoted: bool) -> Self {
        WordFragment::Hole { why, quoted }
    }
}

/// A run of characters. In a text that was made with variables whose values are not known, some are not.
pub(super) fn push_literal(pieces: &mut Vec<WordFragment>, literal: Literal) {
    let Literal { text, quoted, at, made_up } = literal;
    // What mktemp makes up is letters, which no shell splits.
    let (why, whole) = if made_up { (Why::Temporary, true) } else { (Why::Expansion, quoted) };
    if !text.contains(Value::HOLE) {
        return pieces.push(WordFragment::Text { text, quoted, split: false, at });
    }
    for (index, part) in text.split(Value::HOLE).enumerate() {
        if index > 0 {
            pieces.push(WordFragment::hole(why.clone(), whole));
        }
        if !part.is_empty() {
            pieces.push(WordFragment::text(part, quoted));
        }
    }
}

pub(super) fn push_value(pieces: &mut Vec<WordFragment>, value: Value, quoted: bool) {
    match value {
        Value::Known(text) => pieces.push(WordFragment::Text { text, quoted, split: !quoted, at: None }),
        Value::Pattern(pattern) => pieces.push(WordFragment::Match(pattern)),
        Value::Unknown { why, shape } => {
            for (index, part) in shape.split(Value::HOLE).enumerate() {
                if index > 0 {
                    pieces.push(WordFragment::hole(why.clone(), quoted));
                }
                if !part.is_empty() {
                    pieces.push(WordFragment::Text { text: part.to_owned(), quoted, split: !quoted, at: None });
                }
            }
        }
    }
}

/// Cuts pieces into words. Without a known `IFS` nothing is said of what splits.
pub(super) fn split(pieces: Vec<WordFragment>, ifs: Option<&str>) -> Vec<Vec<WordFragment>> {
    let mut words: Vec<Vec<WordFragment>> = Vec::new();
    let mut word: Vec<WordFragment> = Vec::new();
    // Whether the last thing was a separator that stands for itself: another one makes an empty word.
    let mut separated = false;
    for piece in pieces {
        match piece {
            WordFragment::Break => {
                if !word.is_empty() {
                    words.push(std::mem::take(&mut word));
                }
                separated = false;
            }
            WordFragment::Text { text, quoted: false, split: true, at } => {
                let Some(ifs) = ifs else {
                    word.push(WordFragment::hole(Why::Expansion, false));
                    continue;
                };
                if !text.contains(|c| ifs.contains(c)) {
                    if !text.is_empty() {
                        word.push(WordFragment::Text { text, quoted: false, split: true, at });
                        separated = false;
                    }
                    continue;
                }
                let mut part = String::new();
                for c in text.chars() {
                    if !ifs.contains(c) {
                        part.push(c);
                        separated = false;
                        continue;
                    }
                    if !part.is_empty() {
                        word.push(WordFragment::Text {
                            text: std::mem::take(&mut part),
                            quoted: false,
                            split: true,
                            at: None,
                        });
                    }
                    let blank = matches!(c, ' ' | '\t' | '\n');
                    if !word.is_empty() {
                        words.push(std::mem::take(&mut word));
                        separated = !blank;
                    } else if !blank {
                        if separated || words.is_empty() {
                            words.push(vec![WordFragment::text("", true)]);
                        }
                        separated = true;
                    }
                }
                if !part.is_empty() {
                    word.push(WordFragment::Text { text: part, quoted: false, split: true, at: None });
                }
            }
            piece => {
                separated = false;
                word.push(piece);
            }
        }
    }
    words.push(word);
    let something = |piece: &WordFragment| match piece {
        WordFragment::Text { text, quoted, .. } => *quoted || !text.is_empty(),
        WordFragment::Hole { .. } | WordFragment::Match(_) | WordFragment::Spread(_) => true,
        WordFragment::Break => false,
    };
    words.retain(|word| word.iter().any(something));
    words
}

pub(super) fn join(pieces: &[WordFragment], span: Span, may_glob: bool) -> Word {
    let unquoted = |piece: &WordFragment| matches!(piece, WordFragment::Text { text, quoted: false, .. } if glob::is_pattern(text));
    let spread = pieces.iter().any(unquoted)
        || pieces
            .windows(2)
            .any(|pair| matches!(pair, [WordFragment::Text { text, quoted: false, .. }, _] if text.contains('[')));
    let mut globbed = false;
    let matched = pieces.iter().any(|piece| matches!(piece, WordFragment::Match(_) | WordFragment::Spread(_)));
    let globs = may_glob && spread && {
        // Only what is not quoted makes a pattern.
        let mut pattern = String::new();
        for piece in pieces {
            match piece {
                WordFragment::Text { text, quoted: false, .. } => pattern.push_str(text),
                _ => pattern.push('x'),
            }
        }
        glob::is_pattern(&pattern)
    };
    // Where something else is unknown too, what a glob finds is one more hole.
    let unknown = pieces.iter().any(|piece| matches!(piece, WordFragment::Hole { .. }));
    let (mut text, mut why, mut any_quoted, mut several) = (String::new(), None, false, globs);
    let mut at = None;
    let mut contiguous = true;
    for (index, piece) in pieces.iter().enumerate() {
        match piece {
            WordFragment::Text { text: part, quoted, at: from, .. } => {
                contiguous &= match (at, from) {
                    _ if index == 0 => from.is_some(),
                    (Some(start), Some(from)) => start + text.len() == *from,
                    _ => false,
                };
                at = at.or(*from);
                any_quoted |= quoted;
                if unknown {
                    let spreads = globs && !quoted && glob::is_pattern(part);
                    text.push_str(&if spreads { glob::holes(part) } else { part.clone() });
                    globbed |= spreads;
                } else if (globs || matched) && (*quoted || !globs) {
                    glob::escape(part, &mut text);
                } else {
                    text.push_str(part);
                }
            }
            WordFragment::Hole { why: reason, quoted } => {
                Why::merge(&mut why, reason);
                // What mktemp makes up has nothing in it that a word is split at.
                several |= !quoted && *reason != Why::Temporary;
                any_quoted |= quoted;
                contiguous = false;
                text.push(Value::HOLE);
            }
            WordFragment::Match(pattern) | WordFragment::Spread(pattern) => {
                contiguous = false;
                several |= matches!(piece, WordFragment::Spread(_));
                text.push_str(&if unknown { glob::holes(pattern) } else { pattern.clone() });
                globbed |= unknown;
            }
            WordFragment::Break => {
                contiguous = false;
                text.push(' ');
            }
        }
    }
    let at = at.filter(|_| contiguous);
    if let Some(texts) = whole_texts(pieces) {
        let is_open = |piece: &WordFragment| matches!(piece, WordFragment::Hole { why: Why::Perhaps(_), .. });
        let is_stored = |piece: &WordFragment| matches!(piece, WordFragment::Hole { why: Why::Stored(_), .. });
        let value = Value::hole(match texts.as_slice() {
            _ if pieces.iter().any(is_stored) && !pieces.iter().any(is_open) => Why::Stored(texts),
            [text] if !pieces.iter().any(is_open) => Why::Default(text.clone()),
            _ => Why::Perhaps(texts),
        });
        return Word { span, value, quoted: any_quoted, several, at: None };
    }
    let value = match why {
        // What a glob finds is not what mktemp made up.
        Some(Why::Temporary) if globbed => Value::Unknown { why: Why::Glob, shape: text },
        Some(why) => Value::Unknown { why, shape: text },
        None if globs || matched => Value::Pattern(text),
        None => Value::Known(text),
    };
    Word { span, value, quoted: any_quoted, several, at }
}

/// What a word may be in which several parts may each be one of some texts: with the first of each, with the second, and
/// so on.
fn whole_texts(pieces: &[WordFragment]) -> Option<Vec<String>> {
    let mut most = 0;
    let mut holes = 0;
    for piece in pieces {
        match piece {
            WordFragment::Hole { why, .. } => (holes, most) = (holes + 1, most.max(why.texts()?.len())),
            WordFragment::Text { .. } => {}
            _ => return None,
        }
    }
    let text = |at: usize| {
        let part = |piece: &WordFragment| match piece {
            WordFragment::Hole { why, .. } => {
                why.texts().and_then(|texts| texts.get(at).or(texts.last())).cloned().unwrap_or_default()
            }
            WordFragment::Text { text, .. } => text.clone(),
            _ => String::new(),
        };
        pieces.iter().map(part).collect::<String>()
    };
    (holes > 1).then(|| (0..most).map(text).collect())
}

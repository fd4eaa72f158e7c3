//! Brace expansion: `{a,b}`, `{1..5}`.

use toolgate_shell_syntax::syntax::Part;

/// A word with more brace expansions than this is unknown.
const MAX_BRACES: usize = 1_024;

/// Longest word, in characters and parts, whose braces are looked for: each is tried against all that follow.
const MAX_BRACE_WORD: usize = 4_096;

/// A character, or a part that braces do not look into.
#[derive(Clone, Copy)]
pub(super) enum Atom<'a> {
    Character(char),
    Part(&'a Part),
}

/// What brace expansion makes of a word.
pub(super) enum Braces<'a> {
    None,
    Words(Vec<Vec<Atom<'a>>>),
    TooMany,
}

/// More comes out of braces than is followed.
struct TooMany;

impl<'a> Braces<'a> {
    pub(super) fn expand(parts: &'a [Part]) -> Self {
        let mut atoms = Vec::new();
        for part in parts {
            match part {
                Part::Literal(literal) if !literal.quoted => atoms.extend(literal.text.chars().map(Atom::Character)),
                part => atoms.push(Atom::Part(part)),
            }
        }
        if atoms.len() > MAX_BRACE_WORD {
            return Braces::TooMany;
        }
        match words_of(&atoms, 0) {
            Ok(words) if words.len() == 1 => Braces::None,
            Ok(words) => Braces::Words(words),
            Err(TooMany) => Braces::TooMany,
        }
    }
}

fn is(atom: Option<&Atom<'_>>, wanted: char) -> bool {
    matches!(atom, Some(Atom::Character(c)) if *c == wanted)
}

fn words_of<'a>(atoms: &[Atom<'a>], depth: usize) -> Result<Vec<Vec<Atom<'a>>>, TooMany> {
    if depth > 16 {
        return Err(TooMany);
    }
    let mut results: Vec<Vec<Atom<'a>>> = vec![Vec::new()];
    let mut at = 0;
    while at < atoms.len() {
        if is(atoms.get(at), '{')
            && let Some((end, alternatives)) = group(atoms, at, depth)?
        {
            if results.len() * alternatives.len() > MAX_BRACES {
                return Err(TooMany);
            }
            let joined = results.iter().flat_map(|start| {
                alternatives.iter().map(move |part| start.iter().chain(part).copied().collect::<Vec<_>>())
            });
            results = joined.collect();
            at = end + 1;
            continue;
        }
        results.iter_mut().for_each(|result| result.push(atoms[at]));
        at += 1;
    }
    Ok(results)
}

/// The alternatives of the braces that open at `open`, and where those close.
#[expect(clippy::type_complexity, reason = "a position and words")]
fn group<'a>(atoms: &[Atom<'a>], open: usize, depth: usize) -> Result<Option<(usize, Vec<Vec<Atom<'a>>>)>, TooMany> {
    let (mut level, mut commas, mut close) = (0usize, Vec::new(), None);
    for (index, atom) in atoms.iter().enumerate().skip(open) {
        match atom {
            Atom::Character('{') => level += 1,
            Atom::Character('}') => {
                level -= 1;
                if level == 0 {
                    close = Some(index);
                    break;
                }
            }
            Atom::Character(',') if level == 1 => commas.push(index),
            _ => {}
        }
    }
    let Some(close) = close else { return Ok(None) };
    if commas.is_empty() {
        return Ok(sequence(&atoms[open + 1..close])?.map(|words| (close, words)));
    }
    let mut alternatives = Vec::new();
    let mut start = open + 1;
    for end in commas.into_iter().chain([close]) {
        alternatives.extend(words_of(&atoms[start..end], depth + 1)?);
        start = end + 1;
    }
    Ok(Some((close, alternatives)))
}

/// `1..5`, `a..e..2`, `01..10`.
fn sequence<'a>(atoms: &[Atom<'a>]) -> Result<Option<Vec<Vec<Atom<'a>>>>, TooMany> {
    let text: Option<String> = atoms
        .iter()
        .map(|atom| match atom {
            Atom::Character(c) => Some(*c),
            Atom::Part(_) => None,
        })
        .collect();
    let Some(text) = text else { return Ok(None) };
    let mut parts = text.split("..");
    let (Some(from), Some(to), step, None) = (parts.next(), parts.next(), parts.next(), parts.next()) else {
        return Ok(None);
    };
    let step = match step.map(str::parse::<i64>) {
        None => 1,
        Some(Ok(step)) => step.checked_abs().ok_or(TooMany)?.max(1),
        Some(Err(_)) => return Ok(None),
    };
    let characters = |text: &'_ str| -> Vec<Atom<'a>> { text.chars().map(Atom::Character).collect() };
    let letter = |text: &str| text.chars().next().filter(|c| text.len() == 1 && c.is_ascii_alphabetic());
    let numbers = match (from.parse::<i64>(), to.parse::<i64>(), letter(from), letter(to)) {
        (Ok(from), Ok(to), _, _) => (from, to, false),
        (_, _, Some(from), Some(to)) => (i64::from(u32::from(from)), i64::from(u32::from(to)), true),
        _ => return Ok(None),
    };
    let (first, last, letters) = numbers;
    let count = first.abs_diff(last) / u64::try_from(step).map_err(|_| TooMany)?;
    if count >= MAX_BRACES as u64 {
        return Err(TooMany);
    }
    let padded = |text: &str| text.trim_start_matches('-').len() > 1 && text.trim_start_matches('-').starts_with('0');
    let width = if padded(from) || padded(to) { from.len().max(to.len()) } else { 0 };
    let step = if first <= last { step } else { -step };
    let mut words = Vec::new();
    let mut value = first;
    for _ in 0..=count {
        words.push(if letters {
            let c = u32::try_from(value).ok().and_then(char::from_u32).ok_or(TooMany)?;
            // Between the two cases stand characters that mean something to the shell.
            if !c.is_ascii_alphabetic() {
                return Err(TooMany);
            }
            vec![Atom::Character(c)]
        } else {
            characters(&format!("{value:0width$}"))
        });
        value = value.saturating_add(step);
    }
    Ok(Some(words))
}

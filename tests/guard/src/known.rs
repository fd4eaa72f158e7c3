//! Cases in which the guard is known to differ from the label, one by one, in `known.jsonl`. A case that differs and is not
//! listed fails; so does one that is listed and does not differ.

use std::collections::BTreeSet;
use std::path::Path;

use serde::Deserialize;

use crate::score::{Error, lines};

/// A known difference.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Known {
    /// The corpus that the case is in: `everyday`, `harmful`, `shared`, `packages`.
    pub corpus: String,
    /// The text of a case of this project, the id of another one, the [`digest`] of a command in a package.
    pub case: String,
    /// Why it differs.
    pub reason: String,
}

/// A name for a text that is not repeated here: FNV-1a, 64 bits, in hexadecimal. Nobody gains by two texts of one name.
pub fn digest(text: &str) -> String {
    let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    format!("{:016x}", text.bytes().fold(0xcbf2_9ce4_8422_2325, step))
}

/// The list.
///
/// # Errors
/// If a line is none of the list.
pub fn known() -> Result<Vec<Known>, Error> {
    lines(Path::new("known.jsonl"), include_str!("../known.jsonl"))
}

/// What is wrong with a list of known differences, a line each, given those that were found in a corpus: its name for the list,
/// and a description of each.
pub fn compare<'a>(known: &[Known], corpus: &str, found: impl IntoIterator<Item = (&'a str, String)>) -> Vec<String> {
    let mut wrong = Vec::new();
    let mut left: BTreeSet<&str> = BTreeSet::new();
    for one in known.iter().filter(|one| one.corpus == corpus) {
        if !left.insert(&one.case) {
            wrong.push(format!("listed twice: {:?}", one.case));
        }
    }
    for (case, description) in found {
        if !left.remove(case) {
            wrong.push(format!("new: {case:?} {description}"));
        }
    }
    wrong.extend(left.into_iter().map(|case| format!("no longer so, take it out of known.jsonl: {case:?}")));
    wrong
}

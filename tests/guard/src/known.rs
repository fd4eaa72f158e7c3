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
    /// The corpus that the case is in: `everyday`, `harmful`, `shared`.
    pub corpus: String,
    /// The text of a case of this project, or the id of another one.
    pub case: String,
    /// Why it differs.
    pub reason: String,
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

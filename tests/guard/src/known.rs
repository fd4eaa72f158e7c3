//! Cases in which the guard is known to differ from the label, one by one, in `known.jsonl`. Tests fail for a case that differs
//! and is not listed, and for one that is listed and does not differ.

use std::path::Path;

use serde::Deserialize;

use crate::score::{Error, lines};

/// A known difference.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Known {
    /// The corpus that the case is in: `everyday`, `harmful`, `shared`, `packages`.
    pub corpus: String,
    /// The text of a case of this project, the id of another one, the digest of another text.
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

/// The names of the listed cases of a corpus.
pub fn listed<'a>(known: &'a [Known], corpus: &'a str) -> impl Iterator<Item = &'a str> {
    known.iter().filter(move |one| one.corpus == corpus).map(|one| one.case.as_str())
}

//! Which files were checked in which state, and since when the session counts. It outlives the instance, as JSON.

use std::collections::HashMap;

use serde_json::{Value, json};

use super::files::Found;

/// Most files that are kept; older ones are forgotten.
const KEPT: usize = 2_000;

/// Most bytes of the saved text: fewer than a host keeps.
const LONGEST: usize = 200 << 10;

/// The state that a file was checked in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct State {
    modified: u64,
    size: u64,
    /// Whether the agent knows what came of it.
    told: bool,
    /// Grows from check to check.
    order: u64,
}

/// What is known of earlier checks.
#[derive(Clone, Debug, Default)]
pub(crate) struct Checked {
    files: HashMap<String, State>,
    order: u64,
    since: Option<u64>,
}

impl Checked {
    /// When the session began, in milliseconds since 1970; from now on if it is not known yet.
    pub(crate) fn since(&mut self, now: impl FnOnce() -> Option<u64>) -> Option<u64> {
        if self.since.is_none() {
            self.since = now();
        }
        self.since
    }

    fn state(&self, file: &Found) -> Option<&State> {
        self.files.get(&file.path).filter(|state| (state.modified, state.size) == (file.modified, file.size))
    }

    /// Whether the file was checked as it is.
    pub(crate) fn knows(&self, file: &Found) -> bool {
        self.state(file).is_some()
    }

    /// Whether the agent knows what is to be said of the file as it is.
    pub(crate) fn told(&self, file: &Found) -> bool {
        self.state(file).is_some_and(|state| state.told)
    }

    pub(crate) fn add(&mut self, file: &Found, told: bool) {
        let told = told || self.told(file);
        self.order += 1;
        let state = State { modified: file.modified, size: file.size, told, order: self.order };
        self.files.insert(file.path.clone(), state);
        if self.files.len() > 2 * KEPT {
            let oldest = self.newest().get(KEPT).map_or(0, |(_, state)| state.order);
            self.files.retain(|_, state| state.order > oldest);
        }
    }

    fn newest(&self) -> Vec<(&String, &State)> {
        let mut files: Vec<_> = self.files.iter().collect();
        files.sort_unstable_by_key(|(_, state)| std::cmp::Reverse(state.order));
        files
    }

    /// As [`Checked::join`] takes it: `since`, and `checked`, lists of path, time, size and whether the agent knows
    /// of it, the newest first.
    pub(crate) fn save(&self) -> Value {
        let mut length = 100;
        let files = self.newest().into_iter().take(KEPT);
        let files = files.map(|(path, state)| json!([path, state.modified, state.size, state.told]));
        let fits = |file: &Value| {
            length += file.to_string().len() + 1;
            length <= LONGEST
        };
        json!({ "since": self.since, "checked": files.take_while(fits).collect::<Vec<_>>() })
    }

    /// Takes over what is saved, beside what is known. Anything else is nothing.
    pub(crate) fn join(&mut self, saved: &Value) {
        let earlier = saved.get("since").and_then(Value::as_u64);
        self.since = self.since.into_iter().chain(earlier).min();
        let files = saved.get("checked").and_then(Value::as_array).into_iter().flatten().take(KEPT);
        let files: Vec<(Found, bool)> = files.filter_map(entry).collect();
        for (file, told) in files.into_iter().rev() {
            // Of two states the later one is more likely to be that of now.
            let later = self.files.get(&file.path).is_some_and(|known| known.modified > file.modified);
            if !later {
                self.add(&file, told);
            }
        }
    }
}

fn entry(entry: &Value) -> Option<(Found, bool)> {
    let (path, told) = (entry.get(0)?.as_str()?.to_owned(), entry.get(3)?.as_bool()?);
    Some((Found { path, modified: entry.get(1)?.as_u64()?, size: entry.get(2)?.as_u64()? }, told))
}

//! What has to hold of any bytes, one function for each place where bytes come in that others wrote. Each panics where it
//! does not hold. libFuzzer calls them (`just fuzz TARGET SECONDS`), and so does `tests/seeded.rs`, for a short time
//! and with a fixed seed. What was found lies in `found/TARGET`, and is tried first.
//!
//! | Target | Of | Has to hold |
//! |---|---|---|
//! | [`shell`] | shell texts | an answer, the same each time; places that lie in the text |
//! | [`rules`] | rule files | what is wrong drops alone and is reported; a project's file lifts nothing |
//! | [`requests`] | the JSON that the component reads | an error, or JSON |
//! | [`pane`] | screens of the shared terminal | pieces of what is on them, within the limits; what is typed holds no keys |
//! | [`daemon`] | lines and frames to the check daemon | the same however they arrive; the limits |
//! | [`payloads`] | what agents send | what cannot be read is denied, in words that the agent takes for that |
//! | [`tools`] | the user's table of tools | used as a whole, or an error |
//! | [`resident`] | lines between a hook and the resident host | what was written is what is read |
//! | [`redaction`] | texts that are logged | what is marked is not shown |
//! | [`boundary`] | components | they are refused, or each call has a verdict in time |
//!
//! It is not for finding wrong verdicts: that is what `tests/guard` and `tests/truth` are for.

mod guest;
mod mutate;
mod screens;

#[cfg(feature = "host")]
mod command;
#[cfg(feature = "host")]
mod components;

pub use guest::{daemon, requests, rules, shell};
pub use mutate::{Random, mutated};
pub use screens::pane;

#[cfg(feature = "host")]
pub use command::{payloads, redaction, resident, tools};
#[cfg(feature = "host")]
pub use components::boundary;

use std::path::PathBuf;

/// A function, and what to begin with.
#[derive(Clone, Copy)]
pub struct Target {
    /// As in `just fuzz TARGET`.
    pub name: &'static str,
    /// Panics if something does not hold.
    pub run: fn(&[u8]),
    /// Inputs to begin with.
    pub seeds: fn() -> Vec<Vec<u8>>,
    /// What is put into them.
    pub words: &'static [&'static str],
    /// How many inputs a short run tries.
    pub tries: u32,
}

/// Every target that this build has.
pub fn targets() -> Vec<Target> {
    #[cfg_attr(not(feature = "host"), expect(unused_mut, reason = "there are more"))]
    let mut targets = vec![guest::SHELL, guest::RULES, guest::REQUESTS, screens::PANE, guest::DAEMON];
    #[cfg(feature = "host")]
    targets.extend([command::PAYLOADS, command::TOOLS, command::RESIDENT, command::REDACTION, components::BOUNDARY]);
    targets
}

/// The folder with what was found by a target.
pub fn found(target: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("found").join(target)
}

/// The first byte of an input, which chooses, and the rest.
fn choice(data: &[u8]) -> (usize, &[u8]) {
    data.split_first().map_or((0, data), |(first, rest)| (usize::from(*first), rest))
}

/// The texts under a key of a file of cases, one JSON object a line.
fn texts_of<'a>(cases: &'a str, key: &'a str) -> impl Iterator<Item = String> + 'a {
    let case = |line: &str| serde_json::from_str::<serde_json::Value>(line).expect("a case is JSON");
    cases.lines().filter_map(move |line| Some(case(line)[key].as_str()?.to_owned()))
}

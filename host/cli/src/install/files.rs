//! What `doctor` says of the files that the user wrote by hand: whether they are the user's alone.

use toolgate_host::private::{Written, by_others};

use super::report::{Check, Level};
use crate::place;

/// The checks of all of them.
pub(super) fn checks() -> Vec<Check> {
    let Ok(files) = place::user_files() else { return Vec::new() };
    let found: Vec<Check> = files.iter().filter_map(|path| by_others(path)).map(|written| told(&written)).collect();
    if !found.is_empty() {
        return found;
    }
    let says = "nobody else may write your rules and settings".to_owned();
    vec![Check { name: "alone", level: Level::Ok, says, todo: String::new() }]
}

fn told(written: &Written) -> Check {
    Check {
        name: "alone",
        level: Level::Warn,
        says: format!("{written}; so rules there only forbid more, and a table of tools blocks each call"),
        todo: format!("chmod go-w {}, and see whose it is", written.path.display()),
    }
}

//! What `doctor` says of the files that the user wrote by hand: whether they are the user's alone, and whether they can be
//! used.

use toolgate_agents::agent::UserTools;
use toolgate_agents::dirs;
use toolgate_agents::settings::hook_failures::Level;
use toolgate_host::private::{Written, by_others};

use super::report::Check;
use crate::rules;

/// The checks of all of them.
pub(super) fn checks() -> Vec<Check> {
    let Ok(files) = dirs::user_files() else { return Vec::new() };
    let found: Vec<Check> = files.iter().filter_map(|path| by_others(path)).map(|written| told(&written)).collect();
    let mut checks = found;
    if checks.is_empty() {
        let says = "nobody else may write your rules and settings".to_owned();
        checks.push(Check { name: "alone", level: Level::Ok, says, todo: String::new() });
    }
    if let Err(says) = UserTools::of_user() {
        let todo = "until then, every call is blocked".to_owned();
        checks.push(Check { name: "tools", level: Level::Fail, says, todo });
    }
    let wrong = rules::wrong_with(&files).unwrap_or_else(|failure| vec![failure.message]);
    let todo = "fix it, then run toolgate rules lint; until then, its valid parts or its last valid version are active";
    let told = |says| Check { name: "rules", level: Level::Warn, says, todo: todo.to_owned() };
    checks.extend(wrong.into_iter().map(told));
    checks
}

fn told(written: &Written) -> Check {
    Check {
        name: "alone",
        level: Level::Warn,
        says: format!("{written}; so its rules can only add restrictions, and its `tools` table blocks each call"),
        todo: format!("chmod go-w {}, and check its owner", written.path.display()),
    }
}

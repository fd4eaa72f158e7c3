//! What a plugin may ask the host for. Each group is granted by itself, and what is not granted is [`Error::Denied`].
//!
//! Outside a component, as in a test of a plugin's logic, everything is [`Error::Unavailable`].

mod types;

pub use types::{Change, ChangedFile, ConfigFile, Delivery, FileKind, FileStat, Outgoing, RealPath};

use crate::{Error, Level};

#[cfg(target_family = "wasm")]
use crate::{bindings::capabilities::toolgate::plugin as imports, convert};

macro_rules! ask {
    ($($argument:ident),*; $answer:expr) => {{
        #[cfg(target_family = "wasm")]
        {
            $answer.map_err(convert::error)
        }
        #[cfg(not(target_family = "wasm"))]
        {
            $(let _ = $argument;)*
            Err(Error::Unavailable("there is no host outside a component".into()))
        }
    }};
}

/// `files`: looks at many paths at once, in their order; none for a path that is not there.
///
/// # Errors
/// As the module says.
pub fn stat(paths: &[String]) -> Result<Vec<Option<FileStat>>, Error> {
    ask!(paths; imports::files::stat(paths).map(|found| found.into_iter().map(|one| one.map(convert::file_stat)).collect()))
}

/// `files`: resolves the links of many paths at once, in their order; none for a path that cannot be resolved.
///
/// # Errors
/// As the module says.
pub fn resolve(paths: &[String]) -> Result<Vec<Option<RealPath>>, Error> {
    ask!(paths; imports::files::resolve(paths).map(|found| found.into_iter().map(|one| one.map(convert::real_path)).collect()))
}

/// `files`: the configuration files of a name that the host knows, those of the user first.
///
/// # Errors
/// As the module says.
pub fn read_config(name: &str) -> Result<Vec<ConfigFile>, Error> {
    ask!(name; imports::files::read_config(name).map(|found| found.into_iter().map(convert::config_file).collect()))
}

/// `files`: a script that is about to run.
///
/// # Errors
/// As the module says.
pub fn read_script(path: &str) -> Result<String, Error> {
    ask!(path; imports::files::read_script(path))
}

/// `git`: the files under a folder that differ from the last commit; of a file, that one unless git holds it as it is.
///
/// # Errors
/// As the module says.
pub fn changed_files(folder: &str) -> Result<Vec<ChangedFile>, Error> {
    ask!(folder; imports::git::changed_files(folder).map(|found| found.into_iter().map(convert::changed_file).collect()))
}

/// `git`: the branch that is checked out in a folder; none for a detached head.
///
/// # Errors
/// As the module says.
pub fn branch(folder: &str) -> Result<Option<String>, Error> {
    ask!(folder; imports::git::branch(folder))
}

/// `daemon`: starts the project's check daemon unless it runs.
///
/// # Errors
/// As the module says.
pub fn ensure_daemon() -> Result<(), Error> {
    ask!(; imports::daemon::ensure())
}

/// `daemon`: one request and its answer, parameters and result as JSON texts.
///
/// # Errors
/// As the module says.
pub fn request(method: &str, params: &str) -> Result<String, Error> {
    ask!(method, params; imports::daemon::request(method, params))
}

/// `ui`: sets the status line of this key, or clears it.
///
/// # Errors
/// As the module says.
pub fn set_status(key: &str, text: Option<&str>) -> Result<(), Error> {
    ask!(key, text; imports::ui::set_status(key, text))
}

/// `ui`: shows a message once.
///
/// # Errors
/// As the module says.
pub fn notify(message: &str, level: Level) -> Result<(), Error> {
    ask!(message, level; imports::ui::notify(message, convert::level(level)))
}

/// `journal`: adds an entry to the session's record, a JSON value with a number `schema`.
///
/// # Errors
/// As the module says.
pub fn append(kind: &str, entry: &serde_json::Value) -> Result<(), Error> {
    ask!(kind, entry; imports::journal::append(kind, &entry.to_string()))
}

/// `journal`: writes down an event of the session, which rules ask for with `missing`.
///
/// # Errors
/// As the module says.
pub fn event(name: &str) -> Result<(), Error> {
    append("event", &serde_json::json!({ "schema": 1, "event": name }))
}

/// `message`: hands a message to the host, which delivers it later.
///
/// # Errors
/// As the module says.
pub fn send(outgoing: Outgoing) -> Result<(), Error> {
    ask!(outgoing; imports::message::send(&convert::outgoing(outgoing)))
}

/// `clock`: milliseconds since 1970.
///
/// # Errors
/// As the module says.
pub fn now() -> Result<u64, Error> {
    ask!(; imports::clock::now())
}

/// `clock`: milliseconds since the host started. Never goes back.
///
/// # Errors
/// As the module says.
pub fn monotonic() -> Result<u64, Error> {
    ask!(; imports::clock::monotonic())
}

/// `clock`: calls [`crate::Timer::on_timer`] with this id once, after at least so many milliseconds.
///
/// # Errors
/// As the module says.
pub fn schedule(id: &str, delay: u64) -> Result<(), Error> {
    ask!(id, delay; imports::clock::schedule(id, delay))
}

/// `clock`: forgets a scheduled call.
///
/// # Errors
/// As the module says.
pub fn cancel(id: &str) -> Result<(), Error> {
    ask!(id; imports::clock::cancel(id))
}

/// `log`: writes one message to the host's log. [`crate::log!`] formats it. Outside a component it is dropped.
pub fn write(level: Level, message: &str) {
    #[cfg(target_family = "wasm")]
    imports::log::write(convert::level(level), message);
    #[cfg(not(target_family = "wasm"))]
    let _ = (level, message);
}

/// Writes to the host's log: `log!(Warning, "{} of {}", a, b)`. Needs the capability `log`.
///
/// ```
/// toolgate_sdk::log!(Warning, "no rule for {}", "kubectl");
/// ```
#[macro_export]
macro_rules! log {
    ($level:ident, $($text:tt)+) => { $crate::host::write($crate::Level::$level, &format!($($text)+)) };
}

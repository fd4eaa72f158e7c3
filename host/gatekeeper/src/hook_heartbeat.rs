//! When an agent's hook was last called: what `toolgate doctor` needs to tell a hook that is skipped in silence.
//!
//! One small file for each agent, written at most once a minute. What goes wrong costs nothing but the knowledge.

use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use toolgate_agents::dirs;
use toolgate_host::private::{Folder, Others, PrivateFile};
use toolgate_host::shortened;

/// How old an entry has to be to be written anew.
const REWRITE_INTERVAL: Duration = Duration::from_secs(60);

/// The entry.
#[derive(Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fired {
    /// Always 1.
    pub(crate) schema: u32,
    /// When, in UTC: `2026-01-31T09:08:07Z`.
    pub time: String,
    /// When for an event that can stop something: another one is no sign that this one comes.
    #[serde(default)]
    pub gated: Option<String>,
    /// Toolgate's version.
    pub version: String,
    /// The program that was called.
    pub program: String,
    /// Events that it was called for and does not know: the agent may have become another one.
    #[serde(default)]
    pub unknown: Vec<String>,
}

/// Largest entry that is read, in bytes.
const LARGEST: u64 = 64 << 10;

/// Most names of events that are kept.
const NAMES: usize = 32;

/// Longest of them, in characters.
const MAX_NAME_CHARS: usize = 100;

/// Where the entry of an agent is.
pub fn path(agent: &str) -> Option<PathBuf> {
    Some(dirs::state()?.join("fired").join(format!("{agent}.json")))
}

/// The entry of an agent.
pub fn read(agent: &str) -> Option<Fired> {
    let path = path(agent)?;
    let folder = Folder::open(path.parent()?).ok()??;
    let noted = folder.read(&path.file_name()?.to_string_lossy(), Others::SetRight, LARGEST).ok()??;
    serde_json::from_slice(&noted).ok()
}

/// Notes that an agent's hook was called, for an event that can stop something or for another.
pub fn note(agent: &str, gates: bool) {
    let before = read(agent).unwrap_or_default();
    let noted = if gates { before.gated } else { Some(before.time) };
    let age = noted.and_then(|time| time.parse().ok()).map(|time| jiff::Timestamp::now().duration_since(time));
    if age.and_then(|age| Duration::try_from(age).ok()).is_some_and(|age| age < REWRITE_INTERVAL) {
        return;
    }
    write(agent, gates, None);
}

/// Notes that it was called for an unknown event.
pub(crate) fn unknown(agent: &str, event: &str) {
    write(agent, false, Some(event));
}

fn write(agent: &str, gates: bool, event: Option<&str>) {
    let Some(path) = path(agent) else { return };
    let noted = PrivateFile::new(&path).update(|before| {
        let before = before.and_then(|bytes| serde_json::from_slice::<Fired>(bytes).ok()).unwrap_or_default();
        let Fired { mut unknown, gated, .. } = before;
        if let Some(event) = event.filter(|event| unknown.len() < NAMES && !unknown.iter().any(|known| known == event))
        {
            unknown.push(shortened(event, MAX_NAME_CHARS));
        }
        let time = format!("{:.0}", jiff::Timestamp::now());
        let fired = Fired {
            schema: 1,
            gated: if gates { Some(time.clone()) } else { gated },
            time,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            program: dirs::program().map(|path| path.display().to_string()).unwrap_or_default(),
            unknown,
        };
        serde_json::to_vec(&fired).unwrap_or_default()
    });
    if let Err(error) = noted {
        tracing::debug!(%error, "the hook's last-run time could not be saved");
    }
}

//! Files of projects that have an agent ask Toolgate: which there were, and which are gone.
//!
//! Where only a project's file has an agent ask (`toolgate install --project`), whatever takes that file away switches the
//! gate off, and no hook is left to say so. So each call notes the file that it came by, and the next call of any session, and
//! `toolgate doctor`, tell of those that are gone. What goes wrong costs nothing but the knowledge.

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use toolgate_agents::dirs;
use toolgate_agents::settings::table::{self, Carrier};
use toolgate_host::private::{Folder, Others, PrivateFile, is_missing, read_regular};
use toolgate_host::{plain, shortened};

/// What the list is called, in the folder for state.
const NAME: &str = "hook-files.json";

/// Largest list that is read, and largest file that is looked through, in bytes.
const LARGEST: u64 = 1 << 20;

/// How old an entry has to be to be written anew.
const REWRITE_INTERVAL: Duration = Duration::from_secs(60);

/// For how long a file that is gone is told of.
const RETENTION: Duration = Duration::from_secs(7 * 24 * 60 * 60);

/// Most entries.
const ENTRIES: usize = 64;

/// Longest path that is shown, in characters.
const MAX_PATH_CHARS: usize = 400;

/// What says that a file has an agent ask Toolgate: its program's name.
const MARK: &[u8] = b"toolgate";

/// A file by which an agent asked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HookFile {
    /// The agent's name.
    pub agent: String,
    /// The project's file.
    pub file: PathBuf,
    /// When the agent last asked by it, in UTC.
    pub time: String,
    /// Whether somebody was told that it is gone.
    #[serde(default)]
    told: bool,
}

/// The list.
#[derive(Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct List {
    /// Always 1.
    schema: u32,
    #[serde(default)]
    files: Vec<HookFile>,
}

/// Whether a file has an agent ask Toolgate. One that cannot be looked through counts as if it did.
fn carries(file: &Path) -> bool {
    match read_regular(file, LARGEST) {
        Ok(text) => text.windows(MARK.len()).any(|part| part == MARK),
        Err(error) => !is_missing(&error),
    }
}

fn path() -> Option<PathBuf> {
    Some(dirs::state()?.join(NAME))
}

fn read() -> List {
    let read = || {
        let path = path()?;
        let bytes = Folder::open(path.parent()?).ok()??.read(NAME, Others::SetRight, LARGEST).ok()??;
        serde_json::from_slice(&bytes).ok()
    };
    read().unwrap_or_default()
}

fn write(change: impl FnOnce(&mut Vec<HookFile>)) {
    let Some(path) = path() else { return };
    let written = PrivateFile::new(&path).update(|before| {
        let mut list: List = before.and_then(|bytes| serde_json::from_slice(bytes).ok()).unwrap_or_default();
        list.schema = 1;
        list.files.retain(|file| age(file).is_some_and(|age| age < RETENTION));
        change(&mut list.files);
        let surplus = list.files.len().saturating_sub(ENTRIES);
        list.files.drain(..surplus);
        serde_json::to_vec(&list).unwrap_or_default()
    });
    if let Err(error) = written {
        tracing::debug!(%error, "the hook's file could not be recorded");
    }
}

fn age(file: &HookFile) -> Option<Duration> {
    let time: jiff::Timestamp = file.time.parse().ok()?;
    Some(Duration::try_from(jiff::Timestamp::now().duration_since(time)).unwrap_or_default())
}

/// Notes by which file of a project an agent asks, where its user's own settings do not have it ask.
pub(crate) fn note(agent: &str, root: &str) {
    let Some(Carrier { user, project }) = table::carrier(agent, Path::new(root)) else { return };
    let mut carriers: Vec<PathBuf> = project.into_iter().filter(|file| file.exists()).collect();
    if carriers.is_empty() {
        return;
    }
    let known = read().files;
    let is_noted = |carrier: &PathBuf| {
        let same = |file: &&HookFile| file.agent == agent && file.file == *carrier && !file.told;
        known.iter().find(same).and_then(age).is_some_and(|age| age < REWRITE_INTERVAL)
    };
    carriers.retain(|file| !is_noted(file) && carries(file));
    if carriers.is_empty() || user.iter().any(|file| carries(file)) {
        return;
    }
    let time = format!("{:.0}", jiff::Timestamp::now());
    write(|files| {
        files.retain(|file| file.agent != agent || !carriers.contains(&file.file));
        let noted = carriers.into_iter().map(|file| HookFile {
            agent: agent.to_owned(),
            file,
            time: time.clone(),
            told: false,
        });
        files.extend(noted);
    });
}

/// Forgets a file out of which the user has taken Toolgate.
pub fn forget(file: &Path) {
    if read().files.iter().any(|noted| noted.file == file) {
        write(|files| files.retain(|noted| noted.file != file));
    }
}

/// Files by which an agent asked lately, and does not any more, though their folder is still there. None where the user's own
/// settings have the agent ask now.
pub fn gone() -> Vec<HookFile> {
    let mut files = read().files;
    let by_user = |agent: &str| {
        table::carrier(agent, Path::new("/")).is_some_and(|carrier| carrier.user.iter().any(|file| carries(file)))
    };
    files.retain(|file| {
        let there = file.file.parent().and_then(Path::parent).is_some_and(Path::is_dir);
        let lately = age(file).is_some_and(|age| age < RETENTION);
        there && lately && !carries(&file.file) && !by_user(&file.agent)
    });
    files
}

/// The same for whoever calls next, once.
pub(crate) fn notice_once() -> Option<String> {
    let mut gone = gone();
    gone.retain(|file| !file.told);
    if gone.is_empty() {
        return None;
    }
    write(|files| {
        for file in files.iter_mut().filter(|file| gone.iter().any(|gone| gone.file == file.file)) {
            file.told = true;
        }
    });
    Some(gone.iter().map(warning).collect::<Vec<_>>().join("\n"))
}

/// What a person is told of a file that is gone.
pub(crate) fn warning(file: &HookFile) -> String {
    let shown = plain(&shortened(&file.file.display().to_string(), MAX_PATH_CHARS));
    let title = table::title(&file.agent);
    format!(
        "Toolgate: {shown} no longer has {title} ask Toolgate, and its calls in that project run unjudged. Put the file back \
         (it was last in use at {}), or run `toolgate install {} --project` there",
        file.time, file.agent
    )
}

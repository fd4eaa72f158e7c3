//! What is kept of a session between its calls: the folder that it was started for, and what its calls left behind.
//!
//! It lies in a file for each session in the user's state folder, which is behind the gate, and every hook reads it,
//! whoever gives the verdict. So the same state gives the same verdict. What is missing is not known, and nothing is
//! put in its place: downloads that are not remembered are judged by what is in them, as any file is that is run. What is
//! there and cannot be read may have been anything: then it is said that something was forgotten.
//!
//! What survives in an agent's shell from one call to the next, by runs of the agents:
//!
//! | Agent | Directory | Variables, functions, options |
//! |---|---|---|
//! | Claude Code 2.1.330 | yes, and the next payload has it as `cwd` | no |
//! | Codex 0.169, Gemini CLI 0.61, Copilot CLI 1.0.102, OpenCode 1.18, Droid 0.215, pi 0.87 | no | no |
//! | Cursor, by the code of its SDK 1.0.32 | yes, where a call names none, and then its `cwd` is empty | yes, aliases as well |
//!
//! A directory that a call names itself (`workdir`, `dir_path`) is in its input, and Codex's in `cwd`. So a payload says
//! all that is needed of the shell but for Cursor's, and files are what is left: these are remembered for every agent alike.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use toolgate_agents::agent::SessionContext;
use toolgate_agents::dirs;
use toolgate_host::Digest;
use toolgate_host::private::{PrivateFile, WHOLE};

use crate::events::Events;

/// How long a session is kept that nobody goes on with.
const RETENTION: Duration = Duration::from_secs(30 * 24 * 60 * 60);

/// Largest memory that is kept, in bytes. The contract has that limit.
const MAX_MEMORY: usize = 256 << 10;

/// Largest memories of all plugins together, in bytes. With those of the guard and of observers they stay below what
/// [`PrivateFile`] reads.
const MAX_MEMORIES: usize = 1 << 20;

/// The key among the memories of plugins that stands for all that have none of their own. No plugin has it.
const ANY: &str = "*";

/// The lens of the default component, among those who look at results. A plugin's key has a colon.
pub(crate) const LENS: &str = "lens";

/// The key that says that a memory is not all: the guard asks before it runs a file then.
const FORGOTTEN: &str = "forgotten";

/// What is kept.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct SessionState {
    /// Always 1.
    schema: u32,
    /// As in `toolgate hook AGENT`.
    agent: String,
    /// The agent's own name for the session.
    session: String,
    /// The folder that it was started for.
    pub(crate) root: Option<String>,
    /// What its calls left behind, as the component says it.
    pub(crate) memory: Option<Value>,
    /// The same as each plugin says it, by [`Loaded::kept_under`](crate::plugin::loaded::Loaded::kept_under).
    #[serde(default)]
    pub(crate) memories: BTreeMap<String, Value>,
    /// What those who look at results know of it, by who they are.
    #[serde(default)]
    observers: BTreeMap<String, State>,
    /// What has happened in it.
    #[serde(default)]
    pub(crate) events: Events,
    /// Whether the user knows that calls cannot be undone.
    #[serde(default)]
    pub(crate) told_unsaved: bool,
}

/// What a component has saved, in a form of its own. Nearly always that is a text.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
enum State {
    Text(String),
    Bytes(Vec<u8>),
}

impl State {
    fn new(bytes: &[u8]) -> Self {
        match std::str::from_utf8(bytes) {
            Ok(text) => State::Text(text.to_owned()),
            Err(_) => State::Bytes(bytes.to_vec()),
        }
    }

    fn bytes(&self) -> Vec<u8> {
        match self {
            State::Text(text) => text.clone().into_bytes(),
            State::Bytes(bytes) => bytes.clone(),
        }
    }

    /// How much of the session's file it takes.
    fn length(&self) -> usize {
        serde_json::to_string(self).map_or(usize::MAX, |text| text.len())
    }
}

/// The folder of all sessions.
fn folder() -> Option<PathBuf> {
    Some(dirs::state()?.join("sessions"))
}

/// The file of a session. An agent that does not name its sessions has none.
fn file(agent: &str, scene: &SessionContext) -> Option<PrivateFile> {
    if scene.session.is_empty() {
        return None;
    }
    let name = Digest::name_of(scene.session.as_bytes());
    Some(PrivateFile::new(&folder()?.join(format!("{agent}-{name}.json"))))
}

/// What is kept of a session; nothing if there is nothing, or nothing that can be used.
pub(crate) fn load(agent: &str, scene: &SessionContext) -> SessionState {
    match file(agent, scene).map(|file| file.read()) {
        None => SessionState::default(),
        Some(Ok(bytes)) => SessionState::of(agent, &scene.session, bytes.as_deref()),
        Some(Err(error)) => {
            tracing::warn!(%error, "the session state is unknown");
            SessionState::forgotten()
        }
    }
}

/// Keeps something of a session, and says whether it is kept. What goes wrong is only logged: it must not cost a verdict.
pub(crate) fn keep(agent: &str, scene: &SessionContext, change: impl FnOnce(&mut SessionState)) -> bool {
    let Some(file) = file(agent, scene) else { return false };
    let kept = file.update(|before| {
        let mut kept = SessionState::of(agent, &scene.session, before);
        change(&mut kept);
        let bytes = serde_json::to_vec(&kept).unwrap_or_default();
        // What is too much is lost, which has to be known: an older state would say that nothing happened since.
        if bytes.len() as u64 <= WHOLE { bytes } else { SessionState::lost(agent, &scene.session) }
    });
    kept.inspect_err(|error| tracing::warn!(%error, "the session state could not be saved")).is_ok()
}

impl SessionState {
    fn is_of(&self, agent: &str, session: &str) -> bool {
        self.agent == agent && self.session == session
    }

    /// What this file says of a session. One of another session has nothing of this one.
    fn of(agent: &str, session: &str, file: Option<&[u8]>) -> Self {
        let kept = match file.map(serde_json::from_slice::<SessionState>) {
            Some(Ok(kept)) if kept.is_of(agent, session) => kept,
            Some(Err(error)) => {
                tracing::warn!(%error, "the session state is unknown");
                SessionState::forgotten()
            }
            Some(Ok(_)) | None => SessionState::default(),
        };
        SessionState { schema: 1, agent: agent.to_owned(), session: session.to_owned(), ..kept }
    }

    /// What is kept of a session of which everything is lost.
    fn lost(agent: &str, session: &str) -> Vec<u8> {
        let kept = SessionState {
            schema: 1,
            agent: agent.to_owned(),
            session: session.to_owned(),
            ..SessionState::forgotten()
        };
        serde_json::to_vec(&kept).unwrap_or_default()
    }

    /// What is known where there was something that cannot be read.
    fn forgotten() -> Self {
        let memory = json!({ "schema": 1, FORGOTTEN: true });
        let memories = BTreeMap::from([(ANY.to_owned(), memory.clone())]);
        SessionState { memory: Some(memory), memories, events: Events::lost(), ..SessionState::default() }
    }

    /// What one of those who look at results knows.
    pub(crate) fn observer(&self, who: &str) -> Option<Vec<u8>> {
        self.observers.get(who).map(State::bytes)
    }

    /// Takes over what one of those who look at results knows now, who was told `before`. If that is not what is known any
    /// more, nothing is taken over, and what is known comes back. What is too much is forgotten.
    pub(crate) fn observe(&mut self, who: &str, before: Option<&[u8]>, state: &[u8]) -> Result<(), Option<Vec<u8>>> {
        let known = self.observer(who);
        if known.as_deref() != before {
            return Err(known);
        }
        self.observers.remove(who);
        let state = State::new(state);
        let others: usize = self.observers.iter().filter(|(name, _)| *name != LENS).map(|(_, one)| one.length()).sum();
        // The lens has room of its own, which no plugin can take away.
        let room = if who == LENS { MAX_MEMORY } else { (MAX_MEMORY / 4).min(MAX_MEMORY.saturating_sub(others)) };
        if state.length() <= room {
            self.observers.insert(who.to_owned(), state);
        }
        Ok(())
    }

    /// Takes over what a call leaves behind, as the guard says it, which was told `before`.
    pub(crate) fn remember(&mut self, text: &str, before: Option<&Value>) {
        self.memory = Some(remembered(self.memory.take(), text, before, MAX_MEMORY));
    }

    /// The same as a plugin says it.
    pub(crate) fn remember_for(&mut self, plugin: &str, text: &str, before: Option<&Value>) {
        let known = self.memories.remove(plugin).or_else(|| self.memories.get(ANY).cloned());
        let others: usize = self.memories.values().map(|one| one.to_string().len()).sum();
        let room = MAX_MEMORY.min(MAX_MEMORIES.saturating_sub(others));
        self.memories.insert(plugin.to_owned(), remembered(known, text, before, room));
    }
}

/// What one of the plugins is to be told of the session.
pub(crate) fn memory_of<'a>(memories: &'a BTreeMap<String, Value>, plugin: &str) -> Option<&'a Value> {
    memories.get(plugin).or_else(|| memories.get(ANY))
}

/// What is known after a call has left this behind, which was told `before`, in at most so many bytes. What calls beside it
/// have left meanwhile stays: lists of both are joined. What cannot be kept is said to be forgotten.
fn remembered(known: Option<Value>, text: &str, before: Option<&Value>, room: usize) -> Value {
    let new = (text.len() <= room).then(|| serde_json::from_str::<Value>(text).ok()).flatten();
    let Some(mut new) = new.filter(Value::is_object) else {
        tracing::warn!("the call's session state could not be saved");
        let mut memory = known.filter(Value::is_object).unwrap_or_else(|| json!({ "schema": 1 }));
        memory[FORGOTTEN] = true.into();
        return memory;
    };
    if let Some(known) = known.as_ref().filter(|known| Some(*known) != before) {
        for (key, value) in new.as_object_mut().into_iter().flatten() {
            let other = known.get(key).and_then(Value::as_array).into_iter().flatten();
            if let Some(list) = value.as_array_mut() {
                let missing: Vec<Value> = other.filter(|one| !list.contains(one)).cloned().collect();
                list.splice(0..0, missing);
            }
        }
    }
    // Lists that were joined may be too long to be read again; what is left out is said to be.
    while new.to_string().len() > room {
        let lists = new.as_object_mut().into_iter().flatten().filter_map(|(_, value)| value.as_array_mut());
        let dropped: usize = lists.map(|list| list.drain(..list.len().div_ceil(2)).count()).sum();
        new[FORGOTTEN] = true.into();
        if dropped == 0 {
            break;
        }
    }
    // Once something was forgotten, that stays so.
    if known.is_some_and(|known| known.get(FORGOTTEN) == Some(&Value::Bool(true))) {
        new[FORGOTTEN] = true.into();
    }
    new
}

/// Removes sessions that nobody goes on with.
pub(crate) fn tidy() {
    // Behind a link there is nothing of ours.
    let own = folder().filter(|folder| std::fs::symlink_metadata(folder).is_ok_and(|found| found.is_dir()));
    let entries = own.and_then(|folder| std::fs::read_dir(folder).ok());
    for entry in entries.into_iter().flatten().filter_map(Result::ok) {
        if !entry.file_name().to_string_lossy().contains(".json") {
            continue;
        }
        let modified = entry.metadata().and_then(|found| found.modified()).ok();
        let age = modified.and_then(|modified| SystemTime::now().duration_since(modified).ok());
        if age.is_some_and(|age| age > RETENTION) {
            // One that is gone already is just as well.
            let _ = std::fs::remove_file(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_calls_leave_behind_at_once_is_joined_and_bounded() {
        let long =
            |n: usize| -> Value { (0..n).map(|at| json!([format!("{at}{}", "x".repeat(1_000)), "decoded"])).collect() };
        let with = |files: Value| json!({ "schema": 1, "files": files });
        let (a, b) = (json!([["a", "decoded"]]), json!([["b", "decoded"]]));
        // In the file, told to the call, left behind by it; how many are kept, and whether some are not.
        let cases = [
            (None, None, with(a.clone()), 1, false),
            (Some(with(a.clone())), Some(with(a.clone())), with(b.clone()), 1, false),
            (Some(with(a.clone())), None, with(b.clone()), 2, false),
            (Some(json!({ "schema": 1, "files": a, "forgotten": true })), None, with(b), 2, true),
            (Some(with(long(200))), None, with(json!([["c", "decoded"]])), 201, false),
        ];
        for (known, before, new, count, forgotten) in cases {
            let mut kept = SessionState { memory: known, ..SessionState::default() };
            kept.remember(&new.to_string(), before.as_ref());
            let memory = kept.memory.expect("a memory");
            assert_eq!(memory["files"].as_array().map(Vec::len), Some(count));
            assert_eq!(memory.get(FORGOTTEN).is_some(), forgotten, "{count}");
        }
        let mut kept = SessionState { memory: Some(with(long(240))), ..SessionState::default() };
        kept.remember(&with(json!([[format!("y{}", "y".repeat(60_000)), "decoded"]])).to_string(), None);
        let memory = kept.memory.expect("a memory");
        assert!(memory.to_string().len() <= MAX_MEMORY && memory[FORGOTTEN] == true);
        // What is too much by itself, or no JSON.
        for text in [with(long(400)).to_string(), "{".to_owned()] {
            let mut kept = SessionState::default();
            kept.remember(&text, None);
            assert_eq!(kept.memory, Some(json!({ "schema": 1, "forgotten": true })));
        }
    }

    #[test]
    fn what_cannot_be_read_may_have_been_anything() {
        let kept = SessionState::forgotten();
        assert_eq!(kept.memory, Some(json!({ "schema": 1, "forgotten": true })));
        assert_eq!(kept.events.json(), None);
        let again: SessionState = serde_json::from_slice(&serde_json::to_vec(&kept).expect("JSON")).expect("the same");
        assert_eq!(again, kept, "it stays so once it is written again");
    }

    #[test]
    fn a_file_of_another_session_has_nothing_of_this_one() {
        let memory = Some(json!({ "schema": 1, "n": 1 }));
        let file = SessionState { memory: memory.clone(), ..SessionState::of("claude", "s", None) };
        let file = serde_json::to_vec(&file).expect("JSON");
        let cases = [("claude", "s", memory), ("claude", "t", None), ("codex", "s", None)];
        for (agent, session, expected) in cases {
            let kept = SessionState::of(agent, session, Some(file.as_slice()));
            assert_eq!(kept.memory, expected, "{agent} {session}");
            assert!(kept.is_of(agent, session));
        }
        assert_eq!(SessionState::of("claude", "s", Some(b"{".as_slice())).memory, SessionState::forgotten().memory);
    }

    #[test]
    fn what_was_forgotten_is_said_to_every_plugin_and_stays_so() {
        let forgotten = Some(json!({ "schema": 1, FORGOTTEN: true }));
        let mut kept = SessionState::of("claude", "s", Some(b"{".as_slice()));
        let file = serde_json::to_vec(&kept).expect("JSON");
        assert_eq!(memory_of(&kept.memories, "0:").cloned(), forgotten);
        kept.remember_for("0:", r#"{"schema":1,"n":1}"#, forgotten.as_ref());
        let own = json!({ "schema": 1, "n": 1, FORGOTTEN: true });
        assert_eq!(memory_of(&kept.memories, "0:"), Some(&own));
        assert_eq!(SessionState::lost("claude", "s"), file, "what is too much to be kept is lost in the same way");
        let again = SessionState::of("claude", "s", Some(file.as_slice()));
        assert_eq!(memory_of(&again.memories, "1:").cloned(), forgotten, "it is kept");
        assert_eq!(memory_of(&SessionState::default().memories, "1:"), None);
    }

    #[test]
    fn each_plugin_remembers_for_itself_and_together_they_are_bounded() {
        let mut kept = SessionState::default();
        let long = json!({ "schema": 1, "x": "x".repeat(MAX_MEMORY - 40) });
        for (at, fits) in [true, true, true, true, false].into_iter().enumerate() {
            let name = format!("{at}:");
            kept.remember_for(&name, &long.to_string(), None);
            let memory = kept.memories.get(&name).expect("a memory");
            assert_eq!((*memory == long, memory.get(FORGOTTEN).is_some()), (fits, !fits), "{at}");
        }
        kept.remember_for("0:", r#"{"schema":1,"n":1}"#, None);
        assert_eq!(kept.memories.get("0:"), Some(&json!({ "schema": 1, "n": 1 })));
        assert_eq!(kept.memory, None, "that of the guard is another");
    }

    #[test]
    fn what_observers_know_is_kept_for_each_and_bounded() {
        let mut kept = SessionState::default();
        let long = vec![b'x'; MAX_MEMORY / 4 - 2];
        let cases: [(&str, &[u8], bool); 9] = [
            (LENS, &vec![b'x'; MAX_MEMORY - 2], true),
            ("a:1", b"\xff\0", true),
            ("b:1", &long, true),
            ("c:1", &long, true),
            ("d:1", &long, true),
            ("e:1", &long, false),
            ("f:1", &vec![b'x'; MAX_MEMORY / 4], false),
            // What is escaped takes more.
            ("g:1", &[0; 20_000], false),
            (LENS, &vec![b'x'; MAX_MEMORY], false),
        ];
        for (who, state, fits) in cases {
            let before = kept.observer(who);
            assert_eq!(kept.observe(who, before.as_deref(), state), Ok(()));
            assert_eq!(kept.observer(who).is_some_and(|known| known == state), fits, "{who} {}", state.len());
        }
        assert_eq!(kept.observe("a:1", None, b"new"), Err(Some(b"\xff\0".to_vec())));
        let text = serde_json::to_vec(&kept).expect("JSON");
        let again: SessionState = serde_json::from_slice(&text).expect("the same");
        assert_eq!(again, kept);
    }
}

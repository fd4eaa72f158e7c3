//! Saving what a call changes before it runs, so that `toolgate undo` can restore it.
//!
//! Nothing that goes wrong here stops a call: it is judged as if nothing could be undone, and the person is told once a session.

use std::collections::BTreeMap;
use std::time::{Duration, SystemTime};

use serde_json::Value;

use toolgate_agents::agent::{self, SessionContext};
use toolgate_agents::dirs;
use toolgate_host::capability::apart;
use toolgate_host::{Decision, Digest, ToolCall, Verdict, plain, redact, shortened};
use toolgate_undo::calls::{Calls, Pending, Saved};
use toolgate_undo::model::{CallRef, Changes};
use toolgate_undo::{Limits, UndoError};

use crate::evaluator::Evaluator;
use crate::gates::GateKind;
use crate::judge::{Judged, Question};
use crate::packs::Packs;
use crate::plugins::Plugins;
use crate::session::{self, SessionState};

/// How long a disk may take over what is to be done within the time that a call waits: looking, and saving.
const DISK_TIMEOUT: Duration = Duration::from_secs(3);

/// Characters of a command in the list of calls.
const SUMMARY: usize = 200;

/// What was saved of a call.
#[derive(Clone, Debug)]
pub(crate) struct SavedCall {
    pub(crate) saved: Saved,
    /// Whether the call need not be asked about, as all that it changes can be restored.
    pub(crate) is_recoverable: bool,
}

impl SavedCall {
    /// What a question says of what is lost, behind its reason; empty if no file is.
    pub(crate) fn stake(&self) -> String {
        let (files, bytes) = self.saved.removed;
        if files == 0 {
            return String::new();
        }
        let uncommitted = match self.saved.uncommitted {
            Some(0) => ", all in the last commit".to_owned(),
            Some(count) => format!(", {count} not in the last commit"),
            None => String::new(),
        };
        let least = if self.saved.removes_more { "at least " } else { "" };
        format!(" (it removes {least}{}, {}{uncommitted})", counted(files, "file"), length(bytes))
    }

    /// What the user is told where a rule did not ask.
    pub(crate) fn notice(&self, verdict: &Verdict) -> String {
        let (Decision::Ask(reason) | Decision::Block(reason)) = &verdict.decision else { return String::new() };
        format!(
            "Toolgate: saved {} before this call, so you were not asked: {}. To restore: toolgate undo {}",
            self.what(),
            plain(reason.split("; instead").next().unwrap_or(reason).trim_end_matches('.')),
            self.saved.id
        )
    }

    /// What is saved, in words.
    fn what(&self) -> String {
        let Saved { files, bytes, repositories, workspaces, .. } = &self.saved;
        let mut parts = Vec::new();
        if *files > 0 {
            parts.push(format!("{} ({})", counted(*files, "file"), length(*bytes)));
        }
        if *workspaces > 0 {
            parts.push("the worktree".to_owned());
        }
        if *repositories > 0 {
            parts.push("branches, stash and index".to_owned());
        }
        if parts.is_empty() {
            parts.push("what it changes".to_owned());
        }
        parts.join(", ")
    }
}

/// A number and what it counts.
fn counted(count: u64, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

/// A length for a person.
fn length(bytes: u64) -> String {
    const UNITS: &[&str] = &["bytes", "KB", "MB", "GB", "TB"];
    let mut value = bytes as f64;
    let mut unit = 0;
    while value >= 1_000.0 && unit + 1 < UNITS.len() {
        value /= 1_000.0;
        unit += 1;
    }
    if unit == 0 {
        counted(bytes, "byte")
    } else {
        format!("{value:.1} {}", UNITS.get(unit).copied().unwrap_or_default())
    }
}

/// Tells the user that calls cannot be undone, once a session.
pub(crate) fn notice_once(agent: &str, scene: &SessionContext, kept: &SessionState, why: &str) -> Option<String> {
    if kept.told_unsaved || !session::keep(agent, scene, |kept| kept.told_unsaved = true) {
        return None;
    }
    Some(format!("Toolgate: this call cannot be undone: {}. Said once a session", plain(why)))
}

/// The calls of which something is saved, if there is a place for them.
pub fn calls_within(limits: Limits) -> Option<Calls> {
    Some(Calls::new(dirs::state()?.join("undo"), limits))
}

fn calls() -> Option<Calls> {
    calls_within(Limits::DEFAULT)
}

/// Which of these paths the rules keep from being read that were in force for a call. None if that is not known.
pub async fn withheld_in(call: &CallRef, paths: Vec<String>) -> Option<Vec<bool>> {
    if paths.is_empty() {
        return Some(Vec::new());
    }
    let agent = agent::named(&call.agent).unwrap_or(&agent::claude::CLAUDE).name().to_owned();
    let scene = SessionContext {
        session: call.session.clone(),
        cwd: call.cwd.clone(),
        root: call.workspace.clone(),
        guessed: false,
        pwd: None,
    };
    let (packs, plugins, memories) = (Packs::default(), Plugins::default(), BTreeMap::new());
    let question = Question { scene, call: None, asked: GateKind::Call, memories, agent, packs, plugins, paths };
    Evaluator::OneShot.judge(&question).await.ok()?.withheld
}

/// Saves what a call changes that was judged so. None if there is nothing to save; the error is for the person.
pub(crate) async fn before(
    evaluator: &Evaluator,
    question: &Question,
    call: &ToolCall,
    judged: &Judged,
    turn: u64,
) -> Result<Option<SavedCall>, String> {
    if judged.changes.is_empty() || !may_run(&judged.verdict) {
        return Ok(None);
    }
    let changes = judged.changes.iter().map(|text| serde_json::from_str(text)).collect::<Result<Vec<Changes>, _>>();
    let changes = changes.map_err(|error| format!("what the call changes cannot be read: {error}"))?;
    let Some(calls) = calls() else { return Err("there is no folder for it; set HOME".to_owned()) };
    let is_recoverable = is_recoverable(judged, &changes, call);
    let cwd = call.cwd.clone();
    let call = call_ref(&question.agent, &question.scene, call, turn);
    let pending = off_thread(move || calls.look(&changes, call)).await?;
    let Some(pending) = pending else { return Ok(None) };
    let withheld = withheld(evaluator, question, cwd, &pending).await;
    let asked = matches!(judged.verdict.decision, Decision::Ask(_));
    let pending = pending.for_a_question(asked).for_a_recoverable_call(is_recoverable);
    let saved = off_thread(move || pending.save(withheld.as_deref(), SystemTime::now())).await?;
    let is_recoverable = is_recoverable && saved.is_complete();
    Ok(Some(SavedCall { saved, is_recoverable }))
}

/// Whether a call need not be asked about if all is saved: only the guard asks, by rules that say so, and what the call does is
/// done when its end is reported.
fn is_recoverable(judged: &Judged, changes: &[Changes], call: &ToolCall) -> bool {
    let input: Value = serde_json::from_str(&call.input).unwrap_or_default();
    let goes_on = |(name, value): (&String, &Value)| name.contains("background") && *value != Value::Bool(false);
    let in_background = input.as_object().is_none_or(|input| input.iter().any(goes_on));
    let [changes] = changes else { return false };
    judged.only_guard && changes.recoverable && !changes.leaves && !in_background
}

/// Whether a call that was judged so may run: at once, or when somebody says so.
fn may_run(verdict: &Verdict) -> bool {
    let permitted = || dirs::grants().is_ok_and(|grants| grants.path().exists());
    !matches!(verdict.decision, Decision::Block(_)) || permitted()
}

/// Which of the files the rules keep from being read. None if that is not known: then nothing is copied.
async fn withheld(evaluator: &Evaluator, question: &Question, cwd: String, pending: &Pending) -> Option<Vec<bool>> {
    let paths = pending.paths();
    if paths.is_empty() {
        return Some(Vec::new());
    }
    // By the rules of where the call is, which need not be where the agent is.
    let scene = SessionContext { cwd, ..question.scene.clone() };
    let asked = Question { scene, call: None, paths, ..question.clone() };
    match evaluator.judge(&asked).await {
        Ok(judged) => judged.withheld,
        Err(error) => {
            tracing::warn!(error, "the files that may be copied are unknown");
            None
        }
    }
}

/// Does something with the disk that may take its time.
async fn off_thread<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, UndoError> + Send + 'static,
) -> Result<T, String> {
    let done =
        tokio::time::timeout(DISK_TIMEOUT, apart(work)).await.map_err(|_| "the disk does not answer".to_owned())?;
    done.map_err(|error| error.to_string())?.map_err(|error| error.to_string())
}

/// Notes what a call left that has run.
pub(crate) async fn after(agent: &str, scene: &SessionContext, call: &ToolCall) {
    after_named(agent, scene, name_of(call)).await;
}

/// The same for a call of this name. Without a name nothing is known of a session.
pub(crate) async fn after_named(agent: &str, scene: &SessionContext, call: String) {
    let Some(calls) = calls().filter(|_| !scene.session.is_empty()) else { return };
    let (agent, session) = (agent.to_owned(), scene.session.clone());
    if let Err(error) = off_thread(move || calls.finish(&agent, &session, &call)).await {
        tracing::warn!(error, "the changes of a call are unknown");
    }
}

/// Drops what was saved too long ago, if it is time for it. For when the answer is given.
pub fn tidy() {
    let tidied = calls().map(|calls| calls.tidy(SystemTime::now()));
    if let Some(Err(error)) = tidied {
        tracing::debug!(%error, "saved calls are not tidied up");
    }
}

/// Drops what was saved of a call that does not run.
pub(crate) async fn forget(saved: &SavedCall) {
    let Some(calls) = calls() else { return };
    let id = saved.saved.id.clone();
    let forgotten = off_thread(move || match calls.store()? {
        Some(store) => calls.forget(&store, &store.entry(&id)?),
        None => Ok(()),
    });
    if let Err(error) = forgotten.await {
        tracing::warn!(error, "saved files of a call that does not run are left");
    }
}

fn call_ref(agent: &str, scene: &SessionContext, call: &ToolCall, turn: u64) -> CallRef {
    let subject = call.command.iter().chain(&call.paths).next().map_or("", |field| field.value.as_str());
    CallRef {
        agent: agent.to_owned(),
        session: scene.session.clone(),
        turn,
        call: name_of(call),
        tool: call.tool.clone(),
        summary: shortened(&redact::redacted(subject), SUMMARY),
        cwd: call.cwd.clone(),
        workspace: scene.root.clone(),
        home: call.home.clone(),
    }
}

/// What names a call in its session: the agent's own id, or what it is told to do.
fn name_of(call: &ToolCall) -> String {
    if !call.id.is_empty() {
        return call.id.clone();
    }
    Digest::name_of(format!("{}\0{}", call.tool, call.input).as_bytes())
}

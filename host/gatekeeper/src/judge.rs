//! Verdicts: in this process, or by the resident host that has the component warm.
//!
//! Both do the same with the same rule files, which are read anew for every call, so a verdict does not depend on who
//! gives it. Whatever comes of a verdict (the log, permissions, questions) is up to whoever asked.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use serde_json::Value;
use toolgate_agents::agent::{self, SessionContext, SessionRef};
use toolgate_agents::dirs;
use toolgate_host::{Decision, Diagnostic, Plugin, ToolCall, Verdict};

use crate::events::Event;
use crate::frames::Frames;
use crate::gate_builder::GateBuilder;
use crate::gates::{GateContext, GateKind, GateOutcome, Gates};
use crate::packs::Packs;
use crate::plugin::loaded::Loaded;
use crate::plugins::Plugins;

/// What is asked.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Question {
    /// The folders whose rules hold, beside the call's.
    pub(crate) scene: SessionContext,
    /// The call; without one the gate is only started, which says what is wrong with the rules.
    pub(crate) call: Option<ToolCall>,
    pub(crate) asked: GateKind,
    /// What the plugins know of the session, by [`Loaded::kept_under`](crate::plugin::loaded::Loaded::kept_under).
    pub(crate) memories: BTreeMap<String, Value>,
    /// As in `toolgate hook AGENT`: whose words the input of a call that is rewritten is in.
    pub(crate) agent: String,
    /// The packs that the command line names.
    pub(crate) packs: Packs,
    /// The components that it names.
    pub(crate) plugins: Plugins,
    /// Paths of which is asked whether the rules keep them from being read. Then there is no call.
    #[serde(default)]
    pub(crate) paths: Vec<String>,
}

/// What comes of it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Judged {
    /// No opinion where there was no call.
    pub(crate) verdict: Verdict,
    /// What is wrong with the rules.
    pub(crate) diagnostics: Vec<Diagnostic>,
    /// What later calls of the session are to be told if this one runs, where that is not what it was told.
    pub(crate) memory: Option<String>,
    /// The same for each plugin, by [`Loaded::kept_under`](crate::plugin::loaded::Loaded::kept_under).
    pub(crate) memories: BTreeMap<String, String>,
    /// The events that plugins wrote, which count if it runs.
    pub(crate) events: Vec<Event>,
    /// The digests of the plugins, by their names.
    pub(crate) digests: BTreeMap<String, String>,
    /// How long the verdict took.
    pub(crate) took: Duration,
    /// What the call changes, as the guard says it: JSON texts, see `wit/changes`.
    #[serde(default)]
    pub(crate) changes: Vec<String>,
    /// Whether only the guard speaks against the call, and it is known where it runs.
    #[serde(default)]
    pub(crate) only_guard: bool,
    /// The answer for each of the question's paths; none if that is not known.
    #[serde(default)]
    pub(crate) withheld: Option<Vec<bool>>,
}

/// How long the process that judges lives on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Life {
    /// No longer than the call. Taking the instance down first is time that the agent waits.
    Call,
    /// On, with a thread of its own for the call.
    Connection,
    /// On, with other calls on the same thread.
    Session,
}

/// Judges in this process.
pub(crate) async fn evaluate_in_process(
    plugin: &Plugin,
    question: &Question,
    frames: Option<&Frames>,
    life: Life,
) -> Result<Judged, String> {
    let Question { scene, call, packs, plugins, asked, memories, paths, .. } = question;
    let (cwd, home) = match call {
        Some(call) => (call.cwd.as_str(), call.home.clone()),
        None => (scene.cwd.as_str(), dirs::home()),
    };
    let files = dirs::rule_files(&[Path::new(&scene.root), Path::new(cwd)])?;
    let files = if life == Life::Session { files } else { files.inline() };
    let loaded = plugins.load()?;
    let agent = agent::named(&question.agent).ok_or_else(|| format!("unknown agent {}", question.agent))?;
    let whose = Some(SessionRef { agent, scene });
    let (home, root, kept) = (home.as_deref(), scene.root.as_str(), plugins.files());
    let standing = GateBuilder { plugin, cwd, home, root, packs, kept, loaded: &loaded, whose };
    let before = Instant::now();
    let opened = standing.open(files, frames).await.map_err(|failure| failure.message)?;
    let told = GateContext { memories, ..GateContext::now() };
    let (gates, diagnostics) = Gates::of(&standing, opened, frames, *asked, told.until).await?;
    let said = match (call, asked) {
        (Some(call), GateKind::Call) => rewritten(&gates, call, question, told).await,
        (Some(call), GateKind::Permission) => gates.others(call, *asked, told).await,
        (None, _) => GateOutcome::only(Verdict::pass()),
    };
    let withheld = match paths.is_empty() {
        true => None,
        false => gates.guard.withheld(paths).await.map_err(|error| error.to_string())?,
    };
    let took = before.elapsed();
    if life == Life::Call {
        std::mem::forget(gates);
    }
    let digest = |one: &Loaded| {
        let description = one.plugin.description();
        (description.name.clone(), description.component.sha256.clone())
    };
    let digests = loaded.iter().map(digest).collect();
    let GateOutcome { verdict, memory, memories, events, changes, only_guard } = said;
    Ok(Judged { verdict, diagnostics, memory, memories, events, digests, took, changes, only_guard, withheld })
}

/// What all of them say of a call, where what a component makes of it is judged by all of them again.
async fn rewritten(gates: &Gates, call: &ToolCall, question: &Question, told: GateContext<'_>) -> GateOutcome {
    let first = gates.all(call, told).await;
    let Decision::Rewrite(input) = &first.verdict.decision else { return first };
    let refused =
        |why: String| GateOutcome::only(Verdict::block("host:rewrite", format!("the call was rewritten, and {why}")));
    let new = match again(call, input, question) {
        Ok(new) => new,
        Err(why) => return refused(format!("can no longer be read: {why}")),
    };
    let second = gates.all(&new, told).await;
    match second.verdict.decision {
        Decision::Pass => GateOutcome { verdict: first.verdict, ..second },
        Decision::Rewrite(_) => refused("again on re-evaluation".to_owned()),
        Decision::Block(reason) => refused(format!("is blocked after the rewrite: {reason}")),
        Decision::Ask(reason) => refused(format!("must be confirmed after the rewrite: {reason}")),
    }
}

/// A call with another input, read from where the agent is.
fn again(call: &ToolCall, input: &str, question: &Question) -> Result<ToolCall, String> {
    let Question { scene, agent, .. } = question;
    let agent = agent::named(agent).ok_or_else(|| format!("unknown agent {agent}"))?;
    let input = serde_json::from_str(input).map_err(|error| error.to_string())?;
    let mut bare = call.clone();
    (bare.command, bare.paths, bare.globs) = (None, Vec::new(), Vec::new());
    bare.cwd.clone_from(&scene.cwd);
    agent::read(agent, &call.tool, &input, bare)
}

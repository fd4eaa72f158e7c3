//! Everyone who judges a call: the guard, and the plugins beside it.
//!
//! The guard is asked first, then the installed plugins in the order of their names, then those that a command line names. The
//! order changes no decision: the strictest one holds, and all findings are kept.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use toolgate_agents::agent::{Notes, folder, note};
use toolgate_host::decide::strictest;
use toolgate_host::{Analysis, Decision, Diagnostic, Gate, Judgement, ToolCall, ToolKind, Verdict};

use crate::events::{CallEvents, Event};
use crate::frames::Frames;
use crate::gate_builder::{self, GateBuilder, StartedGate};
use crate::plugin::loaded::Loaded;
use crate::session;

/// How long the plugins may take together for a call, their start included, also if it is judged again because one of them
/// rewrote it. With the guard's own time that is less than the ten seconds that agents give a hook.
const PLUGINS_TIMEOUT: Duration = Duration::from_secs(4);

/// What is judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum GateKind {
    /// A call that is about to run.
    Call,
    /// Whether the agent may ask its user about one. The guard has judged the call itself.
    Permission,
}

/// What the plugins are told of a question.
#[derive(Clone, Copy)]
pub struct GateContext<'a> {
    /// What each of them wanted to be remembered of the session, by [`Loaded::kept_under`].
    pub(crate) memories: &'a BTreeMap<String, Value>,
    /// When they have to be done.
    pub until: Instant,
}

impl GateContext<'static> {
    /// Nothing of a session, from now on, with all the time that there is for a question.
    pub fn now() -> Self {
        static NOTHING: BTreeMap<String, Value> = BTreeMap::new();
        GateContext { memories: &NOTHING, until: Instant::now() + PLUGINS_TIMEOUT }
    }
}

/// What comes of a question.
#[derive(Debug)]
pub struct GateOutcome {
    /// The verdict of all of them.
    pub verdict: Verdict,
    /// What the guard wants to be remembered of the session, if the call runs.
    pub(crate) memory: Option<String>,
    /// What the plugins want, as in [`GateContext`].
    pub(crate) memories: BTreeMap<String, String>,
    /// The events that they wrote, which count if it runs.
    pub(crate) events: Vec<Event>,
    /// What the call changes, as the guard says it of each folder that it may run in.
    pub(crate) changes: Vec<String>,
    /// Whether nobody but the guard speaks against the call, and it is known where it runs: then the guard's own word on what
    /// need not be asked about counts.
    pub(crate) only_guard: bool,
}

impl GateOutcome {
    /// A verdict after which nothing is remembered.
    pub(crate) fn only(verdict: Verdict) -> Self {
        GateOutcome {
            verdict,
            memory: None,
            memories: BTreeMap::new(),
            events: Vec::new(),
            changes: Vec::new(),
            only_guard: false,
        }
    }
}

/// Everyone who judges a call.
pub struct Gates {
    /// The guard's.
    pub guard: Gate,
    others: Vec<Other>,
    /// Reads shell texts for the others.
    analysis: Analysis,
    /// What the others write about the call.
    events: CallEvents,
}

struct Other {
    kept_under: String,
    gate: Gate,
}

impl Gates {
    /// Everyone who judges what is asked, with the guard as it was started.
    ///
    /// # Errors
    /// If a plugin does not start until then: what it would have said of a call is not known.
    pub async fn of(
        standing: &GateBuilder<'_>,
        of: StartedGate,
        frames: Option<&Frames>,
        asked: GateKind,
        until: Instant,
    ) -> Result<(Self, Vec<Diagnostic>), String> {
        let analysis = standing.analysis(&of);
        let StartedGate { gate, started, files, session, registry } = of;
        let (mut others, events) = (Vec::new(), CallEvents::default());
        for one in standing.loaded {
            let judges = match asked {
                GateKind::Call => one.plugin.has_gate(),
                GateKind::Permission => one.plugin.has_permission_gate(),
            };
            if judges {
                let all = gate_builder::granted(files.clone(), frames, &registry);
                let all = match standing.whose {
                    Some(_) => all.journal(events.clone()),
                    None => all,
                };
                let gate = Gate::new(one.plugin.clone(), session.clone(), one.may(all, standing.whose));
                others.push((one, gate.rewriting(one.granted.rewrite)));
            }
        }
        let mut diagnostics = started.diagnostics;
        let gates = Gates::new(gate, analysis, others, events, until, &mut diagnostics).await?;
        Ok((gates, diagnostics))
    }

    /// The guard, and those among these plugins that judge what is asked, started until then; what is wrong with their
    /// settings is added to what is wrong with the rules.
    ///
    /// # Errors
    /// If one does not start: what it would have said of a call is not known then.
    async fn new(
        guard: Gate,
        analysis: Analysis,
        others: Vec<(&Loaded, Gate)>,
        events: CallEvents,
        until: Instant,
        diagnostics: &mut Vec<Diagnostic>,
    ) -> Result<Self, String> {
        let mut started_others = Vec::new();
        for (one, gate) in others {
            let name = &one.plugin.description().name;
            let started = tokio::time::timeout_at(until.into(), gate.start()).await;
            let started = started.map_err(|_| format!("the plugin {name} did not start in time"))?;
            let started = started.map_err(|error| format!("the plugin {name} did not start: {error}"))?;
            let said = |mut one: Diagnostic| {
                one.message.insert_str(0, &format!("the plugin {name}: "));
                one
            };
            diagnostics.extend(started.diagnostics.into_iter().map(said));
            started_others.push(Other { kept_under: one.kept_under().to_owned(), gate });
        }
        Ok(Gates { guard, others: started_others, analysis, events })
    }

    /// What all of them say of a call.
    pub async fn all(&self, call: &ToolCall, told: GateContext<'_>) -> GateOutcome {
        let call = &*folder::with_names(call);
        let Judgement { verdict: first, memory, changes, .. } = self.guard.judgement(call).await;
        let (mut verdicts, mut changes) = (vec![first], Vec::from_iter(changes));
        for there in folder::elsewhere(call) {
            // Where the folder is not known, only what the rules on paths say counts.
            if there.cwd.is_empty() {
                let mut there = there;
                note(&mut there, "paths_only", true.into());
                verdicts.push(self.guard.judge(&there).await);
                continue;
            }
            let judged = self.guard.judgement(&there).await;
            verdicts.push(judged.verdict);
            changes.extend(judged.changes);
            verdicts.push(self.others(&there, GateKind::Call, told).await.verdict);
        }
        let others = self.others(call, GateKind::Call, told).await;
        let only_guard = verdicts.len() == 1 && others.verdict.decision == Decision::Pass;
        verdicts.push(others.verdict.clone());
        GateOutcome { verdict: strictest(verdicts), memory, changes, only_guard, ..others }
    }

    /// What the plugins say of it.
    pub async fn others(&self, call: &ToolCall, asked: GateKind, told: GateContext<'_>) -> GateOutcome {
        let mut said = GateOutcome::only(Verdict::pass());
        if self.others.is_empty() {
            return said;
        }
        let analysed = tokio::time::timeout_at(told.until.into(), analysed(&self.analysis, call)).await;
        let call = match analysed.unwrap_or_else(|_| Err("it took too long".to_owned())) {
            Ok(call) => call,
            // Who judges by what a text does may let everything pass where it is not told.
            Err(why) => {
                let reason = format!("the plugins get no analysis of the command: {why}");
                return GateOutcome::only(Verdict::block("host:analysis", reason));
            }
        };
        let mut verdicts = Vec::new();
        let mut notes = Notes::of(&call);
        for Other { kept_under, gate } in &self.others {
            let mut call = call.clone();
            // To each its own, and none that of the guard.
            notes.set("memory", session::memory_of(told.memories, kept_under).cloned());
            notes.write_to(&mut call);
            let (verdict, memory) = match asked {
                _ if Instant::now() >= told.until => {
                    let why = "earlier plugins used up the time for all plugins";
                    (Verdict::block("host:plugins", why), None)
                }
                GateKind::Call => {
                    let judged = gate.judgement_until(&call, told.until).await;
                    (judged.verdict, judged.memory)
                }
                GateKind::Permission => (gate.permit_until(&call, told.until).await, None),
            };
            verdicts.push(named(verdict));
            said.memories.extend(memory.map(|memory| (kept_under.clone(), memory)));
        }
        GateOutcome { verdict: strictest(verdicts), events: self.events.drain(), ..said }
    }
}

/// A verdict of a plugin's, with its rules named so that none is taken for one of the guard's or another plugin's: permissions
/// and the log go by these names.
fn named(mut verdict: Verdict) -> Verdict {
    for finding in verdict.findings.iter_mut().filter(|finding| !finding.is_of_the_host()) {
        finding.rule = format!("plugin:{}:{}", finding.plugin, finding.rule);
    }
    verdict
}

/// A call with what its shell text and its tool do, for those that must not have to read it themselves.
///
/// # Errors
/// Why that cannot be told.
pub async fn analysed(analysis: &Analysis, call: &ToolCall) -> Result<ToolCall, String> {
    let mut call = call.clone();
    let patch = matches!(call.kind, ToolKind::Write | ToolKind::Edit);
    let (command, effects) = (call.command.as_ref().filter(|_| !patch), call.effects());
    if command.is_none() && effects.is_empty() {
        return Ok(call);
    }
    let request = json!({
        "command": command.map_or("", |command| &command.value), "effects": effects, "cwd": call.cwd, "home": call.home,
        "workspace_root": call.workspace_root, "may_change": true,
    });
    let walked = analysis.walk(&request.to_string()).await.map_err(|error| error.to_string())?;
    note(&mut call, "analysis", serde_json::from_str(&walked).map_err(|error| error.to_string())?);
    Ok(call)
}

#[cfg(test)]
mod tests {
    use toolgate_host::limits::Limits;
    use toolgate_host::{Capabilities, Session};

    use super::*;

    /// A plugin that has no opinion on the command, and an analysis that is or is not there in time.
    #[tokio::test]
    async fn what_cannot_be_analysed_is_not_left_to_plugins() {
        let plugin = gate_builder::default_plugin().expect("a plugin");
        let none = Limits::ANALYSIS.with_compute(Duration::ZERO);
        for (limits, blocked) in [(Limits::ANALYSIS, false), (none, true)] {
            let gate = || Gate::new(plugin.clone(), Session::in_folder("/none"), Capabilities::denied());
            let analysis = Analysis::new(plugin.clone(), Session::in_folder("/none"), Capabilities::denied());
            let others = vec![Other { kept_under: "other:".to_owned(), gate: gate() }];
            let (guard, analysis) = (gate(), analysis.with_limits(limits));
            let gates = Gates { guard, others, analysis, events: CallEvents::default() };
            // Long enough to be noticed by the clock behind the limit.
            let command = ToolCall::shell("echo a; ".repeat(4_000), "/none");
            let verdict = gates.all(&command, GateContext::now()).await.verdict;
            assert_eq!(matches!(verdict.decision, Decision::Block(_)), blocked, "{:?}", verdict.decision);
        }
    }
}

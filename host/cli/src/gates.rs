//! Everyone who judges a call: the guard, and the plugins beside it.
//!
//! The guard is asked first, then the installed plugins in the order of their names, then those that a command line names. The
//! order changes no decision: the strictest one holds, and all findings are kept.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use toolgate_host::capability::{Denied, LocalFiles, LocalGit};
use toolgate_host::decide::strictest;
use toolgate_host::{Analysis, Diagnostic, Extension, Gate, Peers, Session, ToolCall, ToolKind, Verdict};

use crate::agent::{OTHER_CWD, note};
use crate::place;
use crate::plugin::loaded::Loaded;

/// How long the plugins may take together for a call, their start included. With the guard's own time that is less than the
/// ten seconds that agents give a hook.
const OTHERS: Duration = Duration::from_secs(4);

/// Everyone who judges a call.
pub(crate) struct Gates {
    pub(crate) guard: Gate,
    others: Vec<Gate>,
    /// Reads shell texts for the others.
    analysis: Analysis,
}

/// The trackers and predicates of these plugins.
pub(crate) fn peers(loaded: &[Loaded], session: &Session, files: &LocalFiles) -> Peers {
    let extension = |one: &Loaded| {
        // They are asked while others wait, so they ask nobody themselves.
        let may = one.may(place::granted(files.clone(), None, &Peers::default()).git(LocalGit)).extensions(Denied);
        Extension::new(one.plugin.clone(), session.clone(), may)
    };
    Peers::new(loaded.iter().filter(|one| one.plugin.has_extension()).map(extension).collect())
}

impl Gates {
    /// The guard, and the gates among these plugins, started; what is wrong with their settings is added to what is wrong
    /// with the rules.
    ///
    /// # Errors
    /// If one does not start: what it would have said of a call is not known then.
    pub(crate) async fn new(
        guard: Gate,
        analysis: Analysis,
        loaded: &[Loaded],
        reach: impl Fn(&Loaded) -> Gate,
        diagnostics: &mut Vec<Diagnostic>,
    ) -> Result<Self, String> {
        let mut others = Vec::new();
        let end = Instant::now() + OTHERS;
        for one in loaded.iter().filter(|one| one.plugin.has_gate()) {
            let name = &one.plugin.description().name;
            let gate = reach(one);
            let started = tokio::time::timeout_at(end.into(), gate.start()).await;
            let started = started.map_err(|_| format!("the plugin {name} does not start in time"))?;
            let started = started.map_err(|error| format!("the plugin {name} does not start: {error}"))?;
            let said = |one: Diagnostic| Diagnostic { message: format!("the plugin {name}: {}", one.message), ..one };
            diagnostics.extend(started.diagnostics.into_iter().map(said));
            others.push(gate);
        }
        Ok(Gates { guard, others, analysis })
    }

    /// What all of them say of a call, and what the guard wants to be remembered of it.
    pub(crate) async fn all(&self, call: &ToolCall) -> (Verdict, Option<String>) {
        let (first, memory) = self.guard.judge_and_remember(call).await;
        let mut verdicts = vec![first];
        let context: Value = serde_json::from_str(&call.context).unwrap_or_default();
        if let Some(cwd) = context.get(OTHER_CWD).and_then(Value::as_str) {
            verdicts.push(self.guard.judge(&ToolCall { cwd: cwd.to_owned(), ..call.clone() }).await);
        }
        verdicts.extend(self.others(call).await);
        (strictest(verdicts), memory)
    }

    /// What the plugins say of it.
    pub(crate) async fn others(&self, call: &ToolCall) -> Vec<Verdict> {
        let mut verdicts = Vec::new();
        if self.others.is_empty() {
            return verdicts;
        }
        let end = Instant::now() + OTHERS;
        let analysed = tokio::time::timeout_at(end.into(), analysed(&self.analysis, call)).await;
        let call = match analysed.unwrap_or_else(|_| Err("it took too long".to_owned())) {
            Ok(call) => call,
            // Who judges by what a text does may let everything pass where it is not told.
            Err(why) => {
                let reason = format!("the plugins cannot be told what the command does: {why}");
                return vec![Verdict::block("host:analysis", reason)];
            }
        };
        for gate in &self.others {
            verdicts.push(gate.judge_until(&call, end).await);
        }
        verdicts
    }
}

/// A call with what its shell text does, for those that must not have to read it themselves.
///
/// # Errors
/// Why that cannot be told.
pub(crate) async fn analysed(analysis: &Analysis, call: &ToolCall) -> Result<ToolCall, String> {
    let mut call = call.clone();
    let patch = matches!(call.kind, ToolKind::Write | ToolKind::Edit);
    let Some(command) = call.command.as_ref().filter(|_| !patch) else { return Ok(call) };
    let request = json!({
        "command": command.value, "cwd": call.cwd, "home": call.home, "workspace_root": call.workspace_root,
        "may_change": true,
    });
    let walked = analysis.walk(&request.to_string()).await.map_err(|error| error.to_string())?;
    note(&mut call, "analysis", serde_json::from_str(&walked).map_err(|error| error.to_string())?);
    Ok(call)
}

#[cfg(test)]
mod tests {
    use toolgate_host::limits::Limits;
    use toolgate_host::{Capabilities, Decision};

    use super::*;

    /// A plugin that has no opinion on the command, and an analysis that is or is not there in time.
    #[tokio::test]
    async fn what_cannot_be_analysed_is_not_left_to_plugins() {
        let plugin = place::default_plugin().expect("a plugin");
        let none = Limits { compute: Duration::ZERO, ..Limits::ANALYSIS };
        for (limits, blocked) in [(Limits::ANALYSIS, false), (none, true)] {
            let gate = || Gate::new(plugin.clone(), Session::in_folder("/none"), Capabilities::denied());
            let analysis = Analysis::new(plugin.clone(), Session::in_folder("/none"), Capabilities::denied());
            let gates = Gates { guard: gate(), others: vec![gate()], analysis: analysis.with_limits(limits) };
            // Long enough to be noticed by the clock behind the limit.
            let command = ToolCall::shell("echo a; ".repeat(4_000), "/none");
            let (verdict, _) = gates.all(&command).await;
            assert_eq!(matches!(verdict.decision, Decision::Block(_)), blocked, "{:?}", verdict.decision);
        }
    }
}

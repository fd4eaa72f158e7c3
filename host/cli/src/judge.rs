//! Verdicts: in this process, or by the resident host that has the component warm.
//!
//! Both do the same with the same rule files, which are read anew for every call, so a verdict does not depend on who
//! gives it. Whatever comes of a verdict (the log, permissions, questions) is up to whoever asked.

use std::path::Path;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use toolgate_host::{Diagnostic, Plugin, ToolCall, Verdict};

use crate::agent::Scene;
use crate::packs::Packs;
use crate::place::{self, Opened, Standing};
use crate::serve::{Frames, resident};

/// What is asked.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Question {
    /// The folders whose rules hold, beside the call's.
    pub(crate) scene: Scene,
    /// The call; without one the gate is only started, which says what is wrong with the rules.
    pub(crate) call: Option<ToolCall>,
    /// The packs that the command line names.
    pub(crate) packs: Packs,
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
    /// How long the verdict took.
    pub(crate) took: Duration,
}

/// Who gives verdicts.
pub(crate) enum Judge {
    /// The resident host if it is there, else this process, which ends with its answer.
    ForOne,
    /// This process, which lives on.
    ForMany {
        plugin: Plugin,
        /// Where components show things.
        frames: Option<Frames>,
    },
}

impl Judge {
    /// Judges. An error is a sentence, and the call does not run.
    pub(crate) async fn judge(&self, question: &Question) -> Result<Judged, String> {
        match self {
            Judge::ForOne => match resident::ask(question) {
                Some(judged) => Ok(judged),
                None => {
                    let plugin = place::default_plugin().map_err(|error| error.to_string())?;
                    here(&plugin, question, None, Life::Call).await
                }
            },
            Judge::ForMany { plugin, frames } => here(plugin, question, frames.as_ref(), Life::Session).await,
        }
    }
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
pub(crate) async fn here(
    plugin: &Plugin,
    question: &Question,
    frames: Option<&Frames>,
    life: Life,
) -> Result<Judged, String> {
    let Question { scene, call, packs } = question;
    let (cwd, home) = match call {
        Some(call) => (call.cwd.as_str(), call.home.clone()),
        None => (scene.cwd.as_str(), place::home()),
    };
    let files = place::rule_files(&[Path::new(&scene.root), Path::new(cwd)])?;
    let files = if life == Life::Session { files } else { files.inline() };
    let standing = Standing { plugin, cwd, home: home.as_deref(), root: &scene.root, packs };
    let before = Instant::now();
    let Opened { gate, started, .. } = standing.open(files, frames).await.map_err(|failure| failure.message)?;
    let (verdict, memory) = match call {
        Some(call) => gate.judge_and_remember(call).await,
        None => (Verdict::pass(), None),
    };
    let took = before.elapsed();
    if life == Life::Call {
        std::mem::forget(gate);
    }
    Ok(Judged { verdict, diagnostics: started.diagnostics, memory, took })
}

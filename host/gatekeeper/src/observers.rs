//! Who writes the events of a session: the observers of rule files, and plugins that see results.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use serde_json::json;
use toolgate_agents::agent::{Dialect, SessionContext};
use toolgate_agents::dirs;
use toolgate_host::capability::{Answer, Files, Journal};
use toolgate_host::limits::Limits;
use toolgate_host::{CapabilityError, ExtensionRegistry, Observer, ToolResult};

use crate::events::Event;
use crate::{gate_builder, session};

/// How long observers of rule files may take. A result that comes later has written nothing.
const OBSERVE_TIMEOUT: Duration = Duration::from_secs(5);

/// Takes the events that a component writes into a session.
pub(crate) struct SessionEvents {
    agent: &'static dyn Dialect,
    scene: SessionContext,
    /// Whether one could not be kept.
    failed: Arc<AtomicBool>,
}

impl SessionEvents {
    pub(crate) fn new(agent: &'static dyn Dialect, scene: &SessionContext) -> Self {
        SessionEvents { agent, scene: scene.clone(), failed: Arc::default() }
    }
}

#[async_trait]
impl Journal for SessionEvents {
    async fn append(&self, kind: String, entry: String) -> Answer<()> {
        let event = Event::read(&kind, &entry)?;
        let add = |kept: &mut session::SessionState| kept.events.note(&event, true);
        match session::keep(self.agent.name(), &self.scene, add) {
            true => Ok(()),
            false => {
                self.failed.store(true, Ordering::Relaxed);
                Err(CapabilityError::Unavailable("the session state could not be saved".to_owned()))
            }
        }
    }
}

/// Has the observers of rule files look at a call that has run. Where none are, that is all that it takes to know so. `last`
/// if this process ends with its answer.
pub(crate) async fn witness(agent: &'static dyn Dialect, scene: &SessionContext, result: &ToolResult, last: bool) {
    let looked = tokio::time::timeout(OBSERVE_TIMEOUT, look(agent, scene, result, last)).await;
    let why = match looked {
        Ok(Ok(())) => return,
        Ok(Err(error)) => error,
        Err(_) => "it took too long".to_owned(),
    };
    tracing::warn!(why, "observers in rule files missed a call");
    session::keep(agent.name(), scene, |kept| kept.events.forget());
}

async fn look(
    agent: &'static dyn Dialect,
    scene: &SessionContext,
    result: &ToolResult,
    last: bool,
) -> Result<(), String> {
    // Without a name nothing is kept of it.
    if scene.session.is_empty() {
        return Ok(());
    }
    let files = dirs::rule_files(&[Path::new(&scene.root), Path::new(&result.call.cwd)])?;
    let files = if last { files.inline() } else { files };
    let found = files.read_config("rules".to_owned()).await.map_err(|error| error.to_string())?;
    let names = |content: &Vec<u8>| content.windows(KEY.len()).any(|window| window == KEY);
    if !found.iter().any(|file| file.content.as_ref().is_ok_and(names)) {
        return Ok(());
    }
    let plugin = gate_builder::default_plugin().map_err(|error| error.to_string())?;
    let context = json!({ "schema": 1, "agent": agent.name(), "observers": true });
    let session = scene.session_in(&result.call.cwd).with_context(context.to_string());
    let journal = SessionEvents::new(agent, scene);
    let failed = Arc::clone(&journal.failed);
    let granted = gate_builder::granted(files, None, &ExtensionRegistry::default()).journal(journal);
    let observer = Observer::new(plugin, session, granted).with_limits(Limits::OBSERVER.with_call(OBSERVE_TIMEOUT));
    let seen = observer.try_observe(result).await.map_err(|error| error.to_string());
    if last {
        // Taking it down is time that the agent waits.
        std::mem::forget(observer);
    }
    match seen {
        Ok(_) if failed.load(Ordering::Relaxed) => Err("an event could not be saved".to_owned()),
        seen => seen.map(drop),
    }
}

/// The key of a rule file under which observers are.
const KEY: &[u8] = b"observers";

//! Components ready for use: compiled once in a process, with what each of them was granted.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use toolgate_agents::agent::SessionRef;
use toolgate_agents::{Failure, dirs};
use toolgate_host::{AuditedDenials, Cache, Capabilities, Denials, Digest, Engine, Granted, Plugin};

use super::store::{Store, StoreError};

/// Most compiled components that a process keeps. Whoever installs more has them compiled again.
const MAX_COMPILED: usize = 32;

/// A plugin that is in force.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// Its name and digest: what tells it from every other one.
    pub key: String,
    /// The component.
    pub plugin: Plugin,
    /// What it may do.
    pub granted: Granted,
    /// Whether the log has what it was refused: not if it is only tried.
    pub logged: bool,
}

impl Loaded {
    /// What it may reach, of all that there is. What it is refused is logged as this session's.
    pub fn may(&self, all: Capabilities, whose: Option<SessionRef<'_>>) -> Capabilities {
        match dirs::audit() {
            Ok(audit) if self.logged => {
                let (agent, session, cwd) = whose.map_or(("", "", ""), |SessionRef { agent, scene }| {
                    (agent.name(), scene.session.as_str(), scene.cwd.as_str())
                });
                let denials = DENIALS.get_or_init(|| AuditedDenials::new(Arc::new(audit), "", "", ""));
                let denials: Arc<dyn Denials> = Arc::new(denials.for_session(agent, session, cwd));
                all.limited_and_told(&self.granted, self.plugin.description(), denials)
            }
            _ => all.limited_to(&self.granted),
        }
    }

    /// What is known of a session to it is kept under this: a newer version takes it over.
    pub(crate) fn kept_under(&self) -> &str {
        kept_under(&self.key)
    }
}

/// The part of a plugin's key that its versions share. It ends with a colon, so that no plugin has the name of the lens.
fn kept_under(key: &str) -> &str {
    key.rfind(':').and_then(|colon| key.get(..=colon)).unwrap_or(key)
}

/// Each plugin and capability is told once of a session in the life of this process.
static DENIALS: OnceLock<AuditedDenials> = OnceLock::new();

/// The installed plugins, in the order of their names.
///
/// # Errors
/// If one cannot be used, or it is not known which there are: what they would have said of a call is not known then.
pub(crate) fn installed() -> Result<Vec<Loaded>, String> {
    let store = Store::of_user().map_err(|error| error.to_string())?;
    let load = |one: super::store::Installed| -> Result<Loaded, StoreError> {
        let key = one.key();
        let plugin = match compiled(&key) {
            Some(plugin) => plugin,
            None => {
                let bytes = store.component(&one.name, &one.version)?;
                let unusable = |why| StoreError::Component { name: one.name.clone(), why };
                compile(&one.name, &bytes).map_err(unusable)?
            }
        };
        Ok(Loaded { key, plugin, granted: one.granted, logged: true })
    };
    let all = store.list().map_err(|error| error.to_string())?;
    all.into_iter().map(|one| load(one).map_err(|error| error.to_string())).collect()
}

/// The same for a command of a person's.
pub fn by_hand() -> Result<Vec<Loaded>, Failure> {
    Store::of_user()?;
    installed().map_err(Failure::software)
}

/// A component under this name, compiled, or taken from what this process has compiled already.
///
/// # Errors
/// Why it cannot be used, as a sentence.
pub fn compile(name: &str, component: &[u8]) -> Result<Plugin, String> {
    let key = format!("{name}:{}", Digest::of(component).sha256);
    // One at a time, as each takes all processors there are: whoever waits for the same one finds it compiled.
    static TURN: Mutex<()> = Mutex::new(());
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(plugin) = compiled(&key) {
        return Ok(plugin);
    }
    let plugin = match Store::of_user() {
        Ok(store) => Plugin::cached(engine()?, name, component, &Cache::new(store.code())),
        // Without a place to keep it the code is made anew each time.
        Err(_) => Plugin::compile(engine()?, name, component),
    };
    let plugin = plugin.map_err(|error| error.to_string())?;
    keep(key, &plugin);
    Ok(plugin)
}

/// Keeps a compiled component for the next who needs it.
fn keep(key: String, plugin: &Plugin) {
    let mut kept = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    let kept = kept.get_or_insert_default();
    if kept.len() >= MAX_COMPILED {
        kept.clear();
    }
    kept.insert(key, plugin.clone());
}

/// By their keys.
static KNOWN: Mutex<Option<HashMap<String, Plugin>>> = Mutex::new(None);

fn compiled(key: &str) -> Option<Plugin> {
    KNOWN.lock().unwrap_or_else(PoisonError::into_inner).as_ref()?.get(key).cloned()
}

/// The engine of all plugins, started with the first of them.
pub(super) fn engine() -> Result<&'static Engine, String> {
    static ENGINE: OnceLock<Engine> = OnceLock::new();
    if let Some(engine) = ENGINE.get() {
        return Ok(engine);
    }
    let engine = Engine::new().map_err(|error| error.to_string())?;
    Ok(ENGINE.get_or_init(|| engine))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session;

    #[test]
    fn versions_of_a_plugin_share_their_state_and_nobody_has_that_of_the_lens() {
        let cases = [("a:1", "a:"), ("a:2", "a:"), ("--plugin a:1", "--plugin a:"), ("lens:1", "lens:")];
        for (key, expected) in cases {
            assert_eq!(kept_under(key), expected);
            assert_ne!(kept_under(key), session::LENS);
        }
    }
}

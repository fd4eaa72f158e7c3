//! An instance in one role, kept from call to call, with recovery.

use std::sync::{Arc, PoisonError};

use tokio::sync::Mutex;

use crate::Started;
use crate::capability::Capabilities;
use crate::error::CallError;
use crate::failure;
use crate::hot_swap::{Generation, HotSwap};
use crate::instance::Instance;
use crate::limits::Limits;
use crate::session::{Role, Session};

/// A component in one role, with at most one instance of it.
///
/// The instance is taken out while it works and put back only after success. So a call that fails, or whose
/// future is dropped half-way, leaves none behind, and the next call starts a new one.
///
/// A newer generation of the component takes over before the next call. One that does not start in this session is not
/// tried again by this keeper as long as the instance before it works; once that fails, too, there is only the newer one,
/// and a gate that cannot start blocks.
pub(super) struct Keeper {
    pub(super) slot: HotSwap,
    pub(super) role: Role,
    pub(super) session: Session,
    pub(super) capabilities: Capabilities,
    pub(super) limits: Limits,
    pub(super) instance: Mutex<Option<Running>>,
    /// What an earlier instance of the session knew, for each new one.
    pub(super) state: std::sync::Mutex<Vec<u8>>,
}

/// An instance that waits for its next call.
pub(super) struct Running {
    pub(super) instance: Instance,
    started: Started,
    /// Kept, so that a generation counts as in use as long as an instance of it is.
    generation: Arc<Generation>,
    /// The newest generation that was tried.
    tried: u64,
}

impl Keeper {
    pub(super) fn new(slot: impl Into<HotSwap>, role: Role, session: Session, capabilities: Capabilities) -> Self {
        Keeper {
            slot: slot.into(),
            role,
            session,
            capabilities,
            limits: Limits::of(role),
            instance: Mutex::new(None),
            state: std::sync::Mutex::default(),
        }
    }

    pub(super) async fn fresh(&self) -> Result<Running, CallError> {
        let generation = self.slot.latest();
        let (mut instance, mut started) = self.start(&generation).await?;
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if !state.is_empty() {
            match instance.restore(&state).await {
                Ok(Ok(())) => {}
                Ok(Err(why)) => tracing::warn!(plugin = self.slot.name(), why, "started without its state"),
                // A state that fells the component must not fell it at every start.
                Err(error) => {
                    tracing::warn!(plugin = self.slot.name(), %error, "started without its state");
                    (instance, started) = self.start(&generation).await?;
                }
            }
        }
        Ok(Running { instance, started, tried: generation.number, generation })
    }

    async fn start(&self, generation: &Generation) -> Result<(Instance, Started), CallError> {
        let capabilities = self.capabilities.clone();
        let started = Instance::start(&generation.plugin, self.role, &self.session, capabilities, self.limits).await;
        started.map(|(instance, started)| (instance, failure::started(started)))
    }

    /// The instance that takes the place of one of an older generation.
    async fn succeed(&self, mut old: Running) -> Result<Running, CallError> {
        let plugin = self.slot.name();
        match old.instance.save().await {
            Ok(state) if state.is_empty() => {}
            Ok(state) => *self.state.lock().unwrap_or_else(PoisonError::into_inner) = state,
            Err(error) => {
                tracing::warn!(plugin, %error, "the older generation saved no state");
                return self.fresh().await;
            }
        }
        let newest = self.slot.generation();
        match self.fresh().await {
            Err(error) => {
                tracing::error!(plugin, role = self.role.name(), %error, "the new generation did not start; the previous one continues");
                Ok(Running { tried: newest, ..old })
            }
            new => new,
        }
    }

    /// Does something with the instance, which is made if there is none, within the time for one call.
    pub(super) async fn with<T>(
        &self,
        work: impl AsyncFnOnce(&mut Instance, &Started) -> Result<T, CallError>,
    ) -> Result<T, CallError> {
        let mut began_with = None;
        let whole = async {
            let mut kept = self.instance.lock().await;
            let mut running = match kept.take() {
                Some(running) if running.tried >= self.slot.generation() => running,
                Some(old) => self.succeed(old).await?,
                None => self.fresh().await?,
            };
            began_with = running.instance.began_with().map(|name| (Arc::clone(&running.generation), name.to_owned()));
            let answer = work(&mut running.instance, &running.started).await?;
            *kept = Some(running);
            Ok(answer)
        };
        let answer = tokio::time::timeout(self.limits.call, whole).await;
        let answer = answer.unwrap_or(Err(CallError::Timeout(self.limits.call)));
        if let Err(error) = &answer {
            tracing::warn!(plugin = self.slot.name(), role = self.role.name(), %error, "instance dropped");
            // What it fails at may be wrong in there.
            if let Some((generation, snapshot)) = began_with.filter(|_| !matches!(error, CallError::NoHook(_))) {
                generation.plugin.give_up(&*self.capabilities.files, &snapshot).await;
            }
        }
        answer
    }

    /// Ends the session of the instance, if there is one.
    pub(super) async fn shutdown(&self, reason: &str) {
        let running = self.instance.lock().await.take();
        if let Some(mut running) = running {
            let ended = tokio::time::timeout(self.limits.call, running.instance.shutdown(reason)).await;
            if !matches!(ended, Ok(Ok(()))) {
                tracing::warn!(plugin = self.slot.name(), "shutdown failed");
            }
        }
    }
}

/// What is the same in every role: it is shown by its slot, and may have other limits.
macro_rules! kept {
    ($role:ident) => {
        impl std::fmt::Debug for $role {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.debug_tuple(stringify!($role)).field(&self.0.slot).finish()
            }
        }

        impl $role {
            /// The same with other limits.
            #[must_use]
            pub fn with_limits(mut self, limits: crate::limits::Limits) -> Self {
                self.0.limits = limits;
                self
            }
        }
    };
}
pub(super) use kept;

//! What a component may reach: one file per import of the contract, with the trait, the denying version, and the
//! recording one.
//!
//! - [`Denied`] refuses everything. It stands in wherever nothing was granted, so a component that asks gets an
//!   answer and not a trap.
//! - [`Absent`] has nothing to give: what was granted may still not be there, like a terminal outside of one.
//! - [`Recording`] writes down every request and hands it on to any other version.
//! - The real ones are `Local…` types. Here are those that a verdict needs: [`LocalFiles`], by which rule files are found and a
//!   grant is narrowed to folders, and [`LocalLog`]. That of `extensions` is
//!   [`ExtensionRegistry`](crate::ExtensionRegistry). All that run programs, hold sockets or set timers are in the crate
//!   `toolgate-capabilities`. `message` has none: an agent brings its own.

mod answers;
mod blocking;
mod clock;
mod daemon;
mod extensions;
mod files;
mod git;
mod hard_links;
mod journal;
mod kind;
mod log;
mod message;
mod scoped_files;
mod terminal;
mod ui;

use std::fmt::Debug;
use std::sync::{Arc, Mutex, PoisonError};

pub use answers::{
    Answer, CapabilityError, Change, ChangedFile, ConfigFile, Delivery, FileKind, FileStat, Outgoing, Pane, RealPath,
    Screen, Truth, Wake,
};
pub use blocking::apart;
pub(crate) use blocking::apart_or_here;
pub use clock::Clock;
pub use daemon::Daemon;
pub use extensions::Extensions;
pub(crate) use files::RULES;
pub use files::{Files, LocalFiles};
pub(crate) use files::{looked, rules};
pub use git::Git;
pub use journal::Journal;
pub use kind::Capability;
pub use log::{LocalLog, Log};
pub use message::Message;
pub(crate) use scoped_files::Narrowed;
pub use terminal::Terminal;
pub use ui::Ui;

/// Refuses everything.
///
/// ```
/// use toolgate_host::CapabilityError;
/// use toolgate_host::capability::{Capability, Denied, Refuse};
///
/// let answer: Result<(), _> = Denied.answer(Capability::Git);
/// assert!(matches!(answer, Err(CapabilityError::Denied(_))));
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct Denied;

impl Refuse for Denied {
    fn refused(&self, _capability: Capability, _what: &str) {}
}

/// Has nothing to give: every capability is `unavailable`.
///
/// ```
/// use toolgate_host::CapabilityError;
/// use toolgate_host::capability::{Absent, Capability, Refuse};
///
/// let answer: Result<(), _> = Absent.answer(Capability::Terminal);
/// assert!(matches!(answer, Err(CapabilityError::Unavailable(_))));
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct Absent;

impl Refuse for Absent {
    fn refused(&self, _capability: Capability, _what: &str) {}

    fn answer<T>(&self, capability: Capability) -> Answer<T> {
        Err(CapabilityError::Unavailable(format!("there is no {} here", capability.name())))
    }
}

/// What refuses every capability, and is told each time.
pub trait Refuse: Send + Sync {
    /// A component asked for this. `what` is what of it is refused, empty for all of it.
    fn refused(&self, capability: Capability, what: &str);

    /// The answer that the component gets.
    fn answer<T>(&self, capability: Capability) -> Answer<T>
    where
        Self: Sized,
    {
        let capability_name = capability.name();
        self.refused(capability, "");
        tracing::warn!(capability = capability_name, "denied: not granted");
        Err(CapabilityError::Denied(format!("{capability_name} is not granted to this component")))
    }
}

/// Writes down every request, then hands it on.
///
/// ```no_run
/// use toolgate_host::Capabilities;
/// use toolgate_host::capability::{LocalFiles, Recording};
///
/// let files = Recording::new(LocalFiles::new());
/// let granted = Capabilities::denied().files(files.clone());
/// // After calls: what was asked for.
/// assert!(files.requests().iter().all(|request| request.starts_with("files.")));
/// ```
#[derive(Clone, Debug, Default)]
pub struct Recording<T> {
    inner: T,
    requests: Arc<Mutex<Vec<String>>>,
}

impl<T> Recording<T> {
    /// Records what is asked of `inner`.
    pub fn new(inner: T) -> Self {
        Recording { inner, requests: Arc::default() }
    }

    /// The requests so far, as `capability.function(arguments)`.
    pub fn requests(&self) -> Vec<String> {
        self.requests.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(crate) fn inner(&self) -> &T {
        &self.inner
    }

    pub(crate) fn record(&self, function: &str, arguments: &dyn Debug) {
        let mut requests = self.requests.lock().unwrap_or_else(PoisonError::into_inner);
        requests.push(format!("{function}{arguments:?}"));
    }
}

/// The capabilities of one instance.
///
/// A program grants what it has, and implements what is its own:
///
/// ```
/// use toolgate_host::capability::{Answer, LocalFiles, LocalLog, Ui};
/// use toolgate_host::{Capabilities, Level};
///
/// struct Screen;
///
/// #[async_trait::async_trait]
/// impl Ui for Screen {
///     async fn set_status(&self, _key: String, _text: Option<String>) -> Answer<()> {
///         Ok(())
///     }
///
///     async fn notify(&self, message: String, level: Level) -> Answer<()> {
///         println!("{level:?}: {message}");
///         Ok(())
///     }
/// }
///
/// let granted = Capabilities::denied().files(LocalFiles::new()).log(LocalLog).ui(Screen);
/// ```
#[derive(Clone)]
pub struct Capabilities {
    pub(crate) files: Arc<dyn Files>,
    pub(crate) git: Arc<dyn Git>,
    pub(crate) daemon: Arc<dyn Daemon>,
    pub(crate) terminal: Arc<dyn Terminal>,
    pub(crate) ui: Arc<dyn Ui>,
    pub(crate) journal: Arc<dyn Journal>,
    pub(crate) message: Arc<dyn Message>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) log: Arc<dyn Log>,
    pub(crate) extensions: Arc<dyn Extensions>,
}

impl Debug for Capabilities {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Capabilities").finish_non_exhaustive()
    }
}

macro_rules! grants {
    ($($name:ident: $trait:ident),* $(,)?) => {
        impl Capabilities {
            /// Nothing is granted. Add what the component is to have.
            pub fn denied() -> Self {
                Capabilities { $($name: Arc::new(Denied)),* }
            }

            /// Nothing is there. Add what is, and limit it to what the component was granted.
            pub fn absent() -> Self {
                Capabilities { $($name: Arc::new(Absent)),* }
            }

            $(
                #[doc = concat!("The same with this instead of `", stringify!($name), "`.")]
                #[must_use]
                pub fn $name(mut self, capability: impl $trait + 'static) -> Self {
                    self.$name = Arc::new(capability);
                    self
                }
            )*
        }
    };
}

grants! {
    files: Files, git: Git, daemon: Daemon, terminal: Terminal, ui: Ui,
    journal: Journal, message: Message, clock: Clock, log: Log, extensions: Extensions,
}

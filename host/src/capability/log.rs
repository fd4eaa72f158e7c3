//! `log`: writes to the host's log.
//!
//! A log line cannot fail in a way that matters, so the contract gives it no result and the trait none either.

use crate::Level;
use crate::capability::Capability;

use super::{Recording, Refuse};

/// Writes to the host's log.
pub trait Log: Send + Sync {
    /// Writes one message of this plugin's.
    fn write(&self, plugin: &str, level: Level, message: &str);
}

impl<R: Refuse> Log for R {
    fn write(&self, _plugin: &str, _level: Level, _message: &str) {
        self.refused(Capability::Log, "");
    }
}

impl<T: Log> Log for Recording<T> {
    fn write(&self, plugin: &str, level: Level, message: &str) {
        self.record("log.write", &(level, message));
        self.inner.write(plugin, level, message);
    }
}

/// The log of the program that this crate is part of.
#[derive(Clone, Copy, Debug, Default)]
pub struct LocalLog;

impl Log for LocalLog {
    fn write(&self, plugin: &str, level: Level, message: &str) {
        match level {
            Level::Debug => tracing::debug!(plugin, "{}", crate::plain(message)),
            Level::Info => tracing::info!(plugin, "{}", crate::plain(message)),
            Level::Warning => tracing::warn!(plugin, "{}", crate::plain(message)),
            Level::Error => tracing::error!(plugin, "{}", crate::plain(message)),
        }
    }
}

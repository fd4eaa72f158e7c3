//! `ui`: shows things to the person.

use std::io::Write;

use async_trait::async_trait;
use toolgate_host::capability::{Answer, Ui};
use toolgate_host::{CapabilityError, Level, plain};

/// Messages go to standard error, made harmless. Status lines need a screen, and are dropped.
#[derive(Clone, Copy, Debug, Default)]
pub struct StderrUi;

#[async_trait]
impl Ui for StderrUi {
    async fn set_status(&self, _key: String, _text: Option<String>) -> Answer<()> {
        Ok(())
    }

    async fn notify(&self, message: String, level: Level) -> Answer<()> {
        writeln!(std::io::stderr(), "toolgate: Level::{level:?}: {}", plain(&message))
            .map_err(|e| CapabilityError::Other(e.to_string()))
    }
}

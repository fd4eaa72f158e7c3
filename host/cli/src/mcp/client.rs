//! Questions to the user of an MCP client, by elicitation: the client shows them as it likes, and says what was answered.

use std::time::Duration;

use async_trait::async_trait;
use rmcp::model::{ElicitRequestParams, ElicitationAction, ElicitationSchema};
use rmcp::service::{ElicitationMode, Peer, RoleServer};
use serde_json::Value;
use toolgate_host::{Person, Question};

/// The field of the form.
const FIELD: &str = "run";

/// A client.
#[derive(Clone, Debug)]
pub(crate) struct Client(Peer<RoleServer>);

impl Client {
    pub(crate) fn new(peer: Peer<RoleServer>) -> Self {
        Client(peer)
    }

    /// Whether it puts questions to its user.
    pub(crate) fn asks(&self) -> bool {
        self.0.supported_elicitation_modes().contains(&ElicitationMode::Form)
    }
}

#[async_trait]
impl Person for Client {
    async fn confirm(&self, question: &Question<'_>, deadline: Duration) -> bool {
        // A form that is sent off as it was shown is no yes: it has to be said.
        let form = ElicitationSchema::builder().required_bool_with(FIELD, |field| {
            field.title("Run it").description("Whether this call may run, once").with_default(false)
        });
        let Ok(requested_schema) = form.build() else { return false };
        let message = format!("{}\n\n{}", question.title, question.text);
        let form = ElicitRequestParams::FormElicitationParams { meta: None, message, requested_schema };
        match self.0.create_elicitation_with_timeout(form, Some(deadline)).await {
            Ok(answer) => {
                let said = answer.content.as_ref().and_then(|content| content.get(FIELD));
                answer.action == ElicitationAction::Accept && said == Some(&Value::Bool(true))
            }
            Err(error) => {
                tracing::warn!(%error, "the client did not ask its user");
                false
            }
        }
    }
}

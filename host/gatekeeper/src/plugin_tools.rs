//! The tools that plugins offer, beside those of the shared terminal.
//!
//! Agents get to know them when their session starts: over the Model Context Protocol from `toolgate mcp`, and in pi from its
//! extension. A tool is offered under the name of its plugin and its own, as two plugins may have tools of one name. It is judged like
//! any other call before it runs, and reaches what its plugin was granted. That is never the terminal: the pane is one, and
//! it is the guard's.

use std::time::Duration;

use toolgate_agents::agent::SessionRef;
use toolgate_host::capability::{Absent, LocalFiles};
use toolgate_host::{ExtensionRegistry, ProvidedTool, Provider, ToolOutput};

use crate::frames::Frames;
use crate::gate_builder;
use crate::observers::SessionEvents;
use crate::plugin::loaded::Loaded;
use crate::plugins::Plugins;

/// How long a plugin may take to say which tools it has: the client waits for its server.
const DESCRIBE_TIMEOUT: Duration = Duration::from_secs(2);

/// Longest name that clients take.
const MAX_NAME_CHARS: usize = 64;

/// The tools of plugins.
#[derive(Debug, Default)]
pub struct Offers(Vec<Offer>);

#[derive(Debug)]
struct Offer {
    /// The plugin that it is of, as it was when the tools were offered.
    of: Loaded,
    provider: std::sync::Arc<Provider>,
    /// As the plugin calls it.
    own: ProvidedTool,
    /// As clients do.
    offered: ProvidedTool,
}

impl Offers {
    /// Starts the plugins that have tools. One that fails offers none.
    pub async fn of(loaded: &[Loaded], whose: SessionRef<'_>, frames: Option<&Frames>) -> Self {
        let SessionRef { agent, scene } = whose;
        let mut offers: Vec<Offer> = Vec::new();
        for one in loaded.iter().filter(|one| one.plugin.has_tools()) {
            let session = scene.session_in(&scene.cwd);
            let reach = gate_builder::granted(LocalFiles::new(), frames, &ExtensionRegistry::default());
            let reach = reach.journal(SessionEvents::new(agent, scene));
            let provider = Provider::new(one.plugin.clone(), session, one.may(reach.terminal(Absent), Some(whose)));
            let provider = std::sync::Arc::new(provider);
            let plugin = &one.plugin.description().name;
            let told = tokio::time::timeout(DESCRIBE_TIMEOUT, provider.offered()).await;
            let told = told.map_err(|_| "it took too long".to_owned());
            let tools = match told.and_then(|tools| tools.map_err(|error| error.to_string())) {
                Ok(tools) => tools,
                Err(why) => {
                    tracing::warn!(plugin, why, "its tools are not offered");
                    continue;
                }
            };
            for own in tools {
                let name = name(plugin, &own.name);
                if offers.iter().any(|offer| offer.offered.name == name) {
                    tracing::warn!(
                        plugin,
                        tool = own.name,
                        "a tool of that name exists already, so this one is not offered"
                    );
                    continue;
                }
                let mut offered = own.clone();
                offered.name = name;
                offers.push(Offer { of: one.clone(), provider: provider.clone(), own, offered });
            }
        }
        Offers(offers)
    }

    /// As clients get to know them, where these others are offered already.
    pub fn beside(&self, others: &[ProvidedTool]) -> impl Iterator<Item = &ProvidedTool> {
        let free = |offer: &&ProvidedTool| others.iter().all(|other| other.name != offer.name);
        self.0.iter().map(|offer| &offer.offered).filter(free)
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Runs one of them, if it is one and the plugins in force are still those that offered it: what was taken away has taken
    /// its gate along. Whatever goes wrong is an output that says so. The call has been judged.
    pub async fn run(
        &self,
        plugins: &Plugins,
        tool: &str,
        input: &str,
        cancelled: impl Future<Output = ()>,
    ) -> Option<ToolOutput> {
        let offer = self.0.iter().find(|offer| offer.offered.name == tool)?;
        let same = |one: &Loaded| one.key == offer.of.key && one.granted == offer.of.granted;
        match plugins.load() {
            Ok(now) if now.iter().any(same) => {}
            Ok(_) => {
                let name = &offer.of.plugin.description().name;
                return Some(failed(format!("{name} was changed or removed; restart the agent to update its tools")));
            }
            Err(why) => return Some(failed(why)),
        }
        Some(tokio::select! {
            output = offer.provider.run_offered(&offer.own, input) => {
                output.unwrap_or_else(|error| failed(error.to_string()))
            }
            () = cancelled => failed("the call was cancelled"),
        })
    }
}

/// The output of a tool that did not run, or not to its end, which says why.
pub fn failed(why: impl Into<String>) -> ToolOutput {
    ToolOutput::error(why)
}

/// What clients call a tool: letters, digits, `_` and `-`.
fn name(plugin: &str, tool: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '_' | '-') { c } else { '_' };
    format!("{plugin}_{tool}").chars().map(plain).take(MAX_NAME_CHARS).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_such_as_clients_take() {
        let long = "x".repeat(80);
        let cases = [
            ("notes", "add", "notes_add".to_owned()),
            ("my.notes", "add/é", "my_notes_add__".to_owned()),
            ("p", long.as_str(), format!("p_{}", "x".repeat(62))),
        ];
        for (plugin, tool, expected) in cases {
            assert_eq!(name(plugin, tool), expected);
        }
    }
}

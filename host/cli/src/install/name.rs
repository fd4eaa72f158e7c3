//! An agent's name on the command line.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use toolgate_agents::settings::table::{AGENTS, AgentConfig};

/// Reads an agent's name on the command line.
pub(crate) fn parser() -> impl TypedValueParser<Value = &'static AgentConfig> {
    let names = AGENTS.iter().map(|known| PossibleValue::new(known.name()).help(known.title()));
    let named = |name: String| AGENTS.iter().copied().find(|known| known.name() == name).ok_or("it is not an agent");
    PossibleValuesParser::new(names).try_map(named)
}

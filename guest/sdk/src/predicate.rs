//! Questions that rules ask with `when`.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::Command;

/// Whether something holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Truth {
    /// It does.
    Yes,
    /// It does not.
    No,
    /// It cannot be told. The rule's `on-unknown` says what becomes of it.
    Unknown,
}

impl Truth {
    /// Whether one of the two holds.
    #[must_use]
    pub fn or(self, other: Truth) -> Truth {
        match (self, other) {
            (Truth::Yes, _) | (_, Truth::Yes) => Truth::Yes,
            (Truth::No, Truth::No) => Truth::No,
            _ => Truth::Unknown,
        }
    }
}

impl From<bool> for Truth {
    fn from(holds: bool) -> Self {
        if holds { Truth::Yes } else { Truth::No }
    }
}

/// What is known as unknown stays so.
impl From<Option<bool>> for Truth {
    fn from(holds: Option<bool>) -> Self {
        holds.map_or(Truth::Unknown, Truth::from)
    }
}

/// A predicate, as people get to know it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct About {
    /// What rules call it by.
    pub name: String,
    /// A sentence that also says which arguments it takes.
    pub about: String,
}

impl About {
    /// A predicate of this name.
    pub fn new(name: impl Into<String>, about: impl Into<String>) -> Self {
        About { name: name.into(), about: about.into() }
    }
}

/// A question of a rule's.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct PredicateRequest {
    /// What the rule says after the predicate's name.
    pub arguments: Value,
    /// The command under judgement; none for a call that is no shell text.
    pub command: Option<Command>,
    /// The folder that the agent was started for.
    pub workspace_root: String,
    /// What `~` stands for, if known.
    pub home: Option<String>,
}

impl PredicateRequest {
    /// The rule's arguments as a type of the plugin's own.
    ///
    /// # Errors
    /// A sentence, if they have another shape. [`Truth::Unknown`] is the answer to a rule that makes no sense.
    pub fn arguments<T: DeserializeOwned>(&self) -> Result<T, String> {
        T::deserialize(&self.arguments).map_err(|error| format!("the rule's arguments are invalid: {error}"))
    }
}

//! What a tool does to files, where its call says so by no shell text.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::call::{Field, ToolCall};

/// The key of a call's context that has it.
const KEY: &str = "effects";

/// What a tool does to files. The guard has the same on its side of the contract, as `FileAction` of its shell engine; between
/// the two it is a name in the JSON of `tool-call.context`.
///
/// ```
/// use toolgate_host::{Field, FileAction, FileEffect};
///
/// let removed = FileEffect::new(FileAction::Remove, vec![Field::new("path", "build")]);
/// assert_eq!(removed.action, FileAction::Remove);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum FileAction {
    /// They are removed.
    Remove,
    /// They get another place.
    Move,
    /// Others are made that are like them.
    Copy,
    /// What is in them, archives, is put into a folder.
    Unpack,
    /// They are made or changed.
    Write,
    /// They are read.
    Read,
    /// They, and what is below them, are searched.
    Search,
    /// Their names are told, or the names of what is in them.
    List,
}

/// What a tool does to some files, for a tool that is of no other [kind](crate::ToolKind) than `Other`.
///
/// ```
/// use toolgate_host::{Field, FileAction, FileEffect, ToolCall, ToolKind};
///
/// let input = r#"{"from":"a.txt","to":"/srv/b.txt"}"#;
/// let moved = FileEffect::new(FileAction::Move, vec![Field::new("from", "a.txt")]);
/// let moved = moved.with_target(Field::new("to", "/srv/b.txt"));
/// let call = ToolCall::new("mcp__files__move", ToolKind::Other, "/home/dev/project").with_input(input);
/// let call = call.with_effects(vec![moved.clone()]);
/// assert_eq!(call.effects(), [moved]);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct FileEffect {
    /// What it does.
    #[serde(rename = "effect")]
    pub action: FileAction,
    /// To these files and folders, as the agent wrote them. What searches, and has none here, searches the directory.
    pub paths: Vec<Field>,
    /// Where it puts them: a file's new name, or the folder that it goes into.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<Field>,
    /// Whether it does so to all that is below folders.
    #[serde(default)]
    pub recursive: bool,
}

impl FileEffect {
    /// What is done to these files, and to nothing below folders.
    pub fn new(action: FileAction, paths: Vec<Field>) -> Self {
        FileEffect { action, paths, to: None, recursive: false }
    }

    /// The same with the place where it puts them.
    #[must_use]
    pub fn with_target(mut self, to: Field) -> Self {
        self.to = Some(to);
        self
    }

    /// The same with all that is below folders.
    #[must_use]
    pub fn recursively(mut self) -> Self {
        self.recursive = true;
        self
    }
}

impl ToolCall {
    /// The same for a tool that does this to files besides what its shell text does, if it has one.
    #[must_use]
    pub fn with_effects(mut self, effects: Vec<FileEffect>) -> Self {
        let mut context = match serde_json::from_str(&self.context) {
            Ok(context @ Value::Object(_)) => context,
            _ => json!({ "schema": 1 }),
        };
        context[KEY] = json!(effects);
        self.context = context.to_string();
        self
    }

    /// What the tool does to files, as far as its context says it.
    pub fn effects(&self) -> Vec<FileEffect> {
        let context: Value = serde_json::from_str(&self.context).unwrap_or_default();
        context.get(KEY).and_then(|effects| Vec::deserialize(effects).ok()).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::call::ToolKind;

    #[test]
    fn effects_are_said_in_the_context_and_take_nothing_from_it() {
        let call = || ToolCall::new("mcp__files__delete", ToolKind::Other, "/p");
        let remove = || FileEffect::new(FileAction::Remove, vec![Field::new("path", "a\nb")]).recursively();
        let path = json!({ "name": "path", "value": "a\nb" });
        let effects = json!([{ "effect": "remove", "paths": [path], "recursive": true }]);
        for (context, expected) in [
            (r#"{"schema":1,"session":"s"}"#, json!({ "schema": 1, "session": "s", "effects": effects })),
            (r#"{"effects":5,"schema":1}"#, json!({ "schema": 1, "effects": effects })),
            ("no JSON", json!({ "schema": 1, "effects": effects })),
            ("[]", json!({ "schema": 1, "effects": effects })),
        ] {
            let said = call().with_context(context).with_effects(vec![remove()]);
            assert_eq!(serde_json::from_str::<Value>(&said.context).expect("JSON"), expected, "{context}");
            assert_eq!(said.effects(), [remove()], "{context}");
        }
        for context in ["", "{}", r#"{"effects":null}"#, r#"{"effects":[{"effect":"shred","paths":[]}]}"#] {
            assert_eq!(call().with_context(context).effects(), [], "{context}");
        }
    }
}

//! The keys of rule files, from their JSON Schema.

use std::fmt::Write;

use serde_json::{Map, Value};

use super::{code, prose_cell};

/// How deep definitions refer to each other at most, where none has a section of its own.
const DEEPEST: usize = 8;

/// A table for the file and for each object in it.
pub(super) fn page(schema: &Value) -> Result<String, String> {
    let definitions = schema["$defs"].as_object().ok_or("the schema has no definitions")?;
    let keys = Keys { definitions };
    let mut page = String::from("### A rule file\n\n");
    keys.table(&mut page, schema)?;
    for (name, definition) in definitions.iter().filter(|(_, definition)| has_section(definition)) {
        let _ = write!(page, "### {name}\n\n");
        if let Some(about) = definition["description"].as_str() {
            let _ = write!(page, "{about}\n\n");
        }
        match object(definition) {
            Some(object) => keys.table(&mut page, object)?,
            None => {
                let _ = write!(page, "{}\n\n", values(definition));
            }
        }
    }
    Ok(page)
}

/// The object that a definition is or may be.
fn object(definition: &Value) -> Option<&Value> {
    let choices = definition["anyOf"].as_array().into_iter().flatten();
    choices.chain([definition]).find(|one| one["properties"].is_object())
}

/// Whether a definition is told by itself, and not where it is used: objects, and lists of names with something to say of them.
fn has_section(definition: &Value) -> bool {
    object(definition).is_some() || definition["enum"].is_array() && definition["description"].is_string()
}

/// The values of a list of names.
fn values(definition: &Value) -> String {
    let values = definition["enum"].as_array().into_iter().flatten();
    values.filter_map(Value::as_str).map(code).collect::<Vec<_>>().join(", ")
}

struct Keys<'a> {
    definitions: &'a Map<String, Value>,
}

impl<'a> Keys<'a> {
    fn table(&self, page: &mut String, object: &Value) -> Result<(), String> {
        page.push_str("| Key | Value | Meaning |\n|---|---|---|\n");
        let properties = object["properties"].as_object().ok_or("an object without properties")?;
        for (key, value) in properties {
            let _ = match value["$ref"].as_str().and_then(|to| to.split_once("/properties/")) {
                // Another spelling of a key that has its line.
                Some((_, other)) => writeln!(page, "| {} | | as {} |", code(key), code(other)),
                None => writeln!(page, "| {} | {} | {} |", code(key), self.kind(value, DEEPEST), self.meaning(value)),
            };
        }
        page.push('\n');
        Ok(())
    }

    /// The definition that a value refers to, with its name.
    fn definition(&self, value: &Value) -> Option<(&'a str, &'a Value)> {
        let name = value["$ref"].as_str()?.strip_prefix("#/$defs/")?;
        self.definitions.get_key_value(name).map(|(name, definition)| (name.as_str(), definition))
    }

    /// What a value may be: types, and links to what has a section of its own.
    fn kind(&self, value: &Value, deepest: usize) -> String {
        if let Some((name, definition)) = self.definition(value) {
            let inner = deepest.checked_sub(1).filter(|_| !has_section(definition));
            return inner.map_or_else(|| format!("[{name}](#{name})"), |deepest| self.kind(definition, deepest));
        }
        if value["enum"].is_array() {
            return values(value);
        }
        if let Some(choices) = value["anyOf"].as_array() {
            let mut kinds: Vec<String> = choices.iter().map(|one| self.kind(one, deepest)).collect();
            kinds.dedup();
            kinds.retain(|kind| kind != "null");
            return kinds.join(" or ");
        }
        let types: Vec<&str> = match &value["type"] {
            Value::Array(types) => types.iter().filter_map(Value::as_str).filter(|name| *name != "null").collect(),
            one => one.as_str().into_iter().collect(),
        };
        let of = |value: &Value| {
            let kind = self.kind(value, deepest);
            if kind.contains(" or ") { format!("({kind})") } else { kind }
        };
        match types.join(" or ").replace("string", "text").as_str() {
            "array" if value["items"].is_object() => format!("list of {}", of(&value["items"])),
            "object" if value["additionalProperties"].is_object() => {
                format!("mapping to {}", of(&value["additionalProperties"]))
            }
            other => other.to_owned(),
        }
    }

    /// Its description, what holds without it, and an example; those of its definition where it has none.
    fn meaning(&self, value: &Value) -> String {
        let definition = self.definition(value).map_or(&Value::Null, |(_, definition)| definition);
        let described = value["description"].as_str().or_else(|| definition["description"].as_str());
        let mut text = prose_cell(described.unwrap_or_default());
        if let Some(default) = value.get("default") {
            let _ = write!(text, " Default: {}.", code(&default.to_string()));
        }
        // That of an object is in its section, and long.
        let of_definition = || definition["examples"].as_array().filter(|_| !has_section(definition));
        if let Some(example) = value["examples"].as_array().or_else(of_definition).and_then(|all| all.last()) {
            let _ = write!(text, " Example: {}", code(&example.to_string()));
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_key_has_a_line_with_what_is_said_of_it() {
        let schema = json!({
            "properties": {
                "packs": {"description": "Some | packs.", "anyOf": [{"$ref": "#/$defs/texts"}, {"type": "null"}], "examples": [["a"]]},
                "rules": {"description": "Rules.", "type": ["array", "null"], "items": {"$ref": "#/$defs/rule"}},
            },
            "$defs": {
                "texts": {"description": "Not an object.", "anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]},
                "program": {"description": "A program.", "$ref": "#/$defs/texts", "examples": ["git"]},
                "kind": {"description": "What happens.", "enum": ["read", "write"]},
                "rule": {"description": "A rule.", "properties": {
                    "ask": {"description": "Ask.", "type": "boolean", "default": false},
                    "Ask": {"$ref": "#/$defs/rule/properties/ask"},
                    "kinds": {"$ref": "#/$defs/kind"},
                    "program": {"$ref": "#/$defs/program"},
                    "flags": {"anyOf": [{"$ref": "#/$defs/flag"}, {"type": "array", "items": {"$ref": "#/$defs/flag"}}]},
                }},
                "flag": {"type": ["string", "integer"]},
                "test": {"anyOf": [{"type": "string"}, {"properties": {"after": {"type": "object", "additionalProperties": {"$ref": "#/$defs/rule"}}}}]},
            },
        });
        let expected = "### A rule file\n\n| Key | Value | Meaning |\n|---|---|---|\n\
            | `packs` | text or list of text | Some \\| packs. Example: `[\"a\"]` |\n\
            | `rules` | list of [rule](#rule) | Rules. |\n\n\
            ### kind\n\nWhat happens.\n\n`read`, `write`\n\n\
            ### rule\n\nA rule.\n\n| Key | Value | Meaning |\n|---|---|---|\n\
            | `ask` | boolean | Ask. Default: `false`. |\n| `Ask` | | as `ask` |\n\
            | `kinds` | [kind](#kind) | What happens. |\n\
            | `program` | text or list of text | A program. Example: `\"git\"` |\n\
            | `flags` | text or integer or list of (text or integer) |  |\n\n\
            ### test\n\n| Key | Value | Meaning |\n|---|---|---|\n| `after` | mapping to [rule](#rule) |  |\n\n";
        assert_eq!(page(&schema).expect("a page"), expected);
    }
}

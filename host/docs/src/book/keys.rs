//! The keys of rule files, from their JSON Schema.

use std::fmt::Write;

use serde_json::Value;

use super::{code, prose_cell};

/// A table for the file and for each object in it.
pub(super) fn page(schema: &Value) -> Result<String, String> {
    let definitions = schema["$defs"].as_object().ok_or("the schema has no definitions")?;
    let mut page = String::from("### A rule file\n\n");
    table(&mut page, schema)?;
    for (name, definition) in definitions {
        // What is a text or a list has been said where it is used.
        let object = object(definition);
        if object["properties"].is_object() {
            let _ = write!(page, "### {name}\n\n");
            if let Some(about) = definition["description"].as_str() {
                let _ = write!(page, "{about}\n\n");
            }
            table(&mut page, object)?;
        } else if let (Some(about), Some(values)) = (definition["description"].as_str(), definition["enum"].as_array())
        {
            let values: Vec<_> = values.iter().filter_map(Value::as_str).map(code).collect();
            let _ = write!(page, "### {name}\n\n{about}\n\n{}\n\n", values.join(", "));
        }
    }
    Ok(page)
}

/// The object that a definition is or may be.
fn object(definition: &Value) -> &Value {
    let choices = definition["anyOf"].as_array().into_iter().flatten();
    choices.chain([definition]).find(|one| one["properties"].is_object()).unwrap_or(definition)
}

fn table(page: &mut String, object: &Value) -> Result<(), String> {
    page.push_str("| Key | Value | Meaning |\n|---|---|---|\n");
    let properties = object["properties"].as_object().ok_or("an object without properties")?;
    for (key, value) in properties {
        // Another spelling of a key that has its line.
        let Some(reference) = value["$ref"].as_str().filter(|to| to.contains("/properties/")) else {
            let _ = writeln!(page, "| {} | {} | {} |", code(key), kind(value), meaning(value));
            continue;
        };
        let of = reference.rsplit('/').next().unwrap_or_default();
        let _ = writeln!(page, "| {} | | as {} |", code(key), code(of));
    }
    page.push('\n');
    Ok(())
}

/// What a value may be: types, and names of definitions.
fn kind(value: &Value) -> String {
    if let Some(name) = value["$ref"].as_str().and_then(|to| to.rsplit('/').next()) {
        return name.to_owned();
    }
    if let Some(values) = value["enum"].as_array() {
        return values.iter().filter_map(Value::as_str).map(code).collect::<Vec<_>>().join(", ");
    }
    if let Some(choices) = value["anyOf"].as_array() {
        let choices: Vec<_> = choices.iter().map(kind).filter(|kind| kind != "null").collect();
        return choices.join(" or ");
    }
    let types: Vec<&str> = match &value["type"] {
        Value::Array(types) => types.iter().filter_map(Value::as_str).filter(|name| *name != "null").collect(),
        one => one.as_str().into_iter().collect(),
    };
    match types.join(" or ").as_str() {
        "array" if value["items"].is_object() => format!("list of {}", kind(&value["items"])),
        "object" if value["additionalProperties"].is_object() => {
            format!("mapping to {}", kind(&value["additionalProperties"]))
        }
        other => other.to_owned(),
    }
}

/// Its description, what holds without it, and an example.
fn meaning(value: &Value) -> String {
    let mut text = prose_cell(value["description"].as_str().unwrap_or_default());
    if let Some(default) = value.get("default") {
        let _ = write!(text, " Default: {}.", code(&default.to_string()));
    }
    if let Some(example) = value["examples"].as_array().and_then(|all| all.last()) {
        let _ = write!(text, " Example: {}", code(&example.to_string()));
    }
    text
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
                "texts": {"description": "Not an object.", "type": "array"},
                "kind": {"description": "What happens.", "enum": ["read", "write"]},
                "rule": {"description": "A rule.", "properties": {"ask": {"description": "Ask.", "type": "boolean", "default": false}, "Ask": {"$ref": "#/$defs/rule/properties/ask"}}},
                "test": {"anyOf": [{"type": "string"}, {"properties": {"after": {"type": "object", "additionalProperties": {"type": "string"}}}}]},
            },
        });
        let expected = "### A rule file\n\n| Key | Value | Meaning |\n|---|---|---|\n\
            | `packs` | texts | Some \\| packs. Example: `[\"a\"]` |\n| `rules` | list of rule | Rules. |\n\n\
            ### kind\n\nWhat happens.\n\n`read`, `write`\n\n\
            ### rule\n\nA rule.\n\n| Key | Value | Meaning |\n|---|---|---|\n| `ask` | boolean | Ask. Default: `false`. |\n\
            | `Ask` | | as `ask` |\n\n\
            ### test\n\n| Key | Value | Meaning |\n|---|---|---|\n| `after` | mapping to string |  |\n\n";
        assert_eq!(page(&schema).expect("a page"), expected);
    }
}

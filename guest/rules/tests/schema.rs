//! The JSON Schema of rule files says what the reader of rule files does.

use std::collections::BTreeSet;

use serde_json::Value;
use toolgate_rules::{
    EFFECT_KEYS, EXEMPTION_KEYS, FILE_KEYS, Guard, Layer, MISSING_KEYS, OBSERVER_KEYS, PACK_KEYS, PROGRAM_KEYS,
    RULE_KEYS, TEST_KEYS, WATCH_KEYS, WHEN_KEYS,
};

/// Keys that say what a command is, in rules and in exemptions.
const WHAT: &[&str] = &[
    "program",
    "subcommand",
    "flags",
    "without",
    "arguments",
    "no-argument",
    "unless-arguments",
    "unless-test",
    "min-arguments",
    "max-arguments",
    "text",
    "content",
    "assigns",
    "effects",
    "via",
    "after",
    "before",
    "unseen",
    "not-in",
];

fn schema() -> Value {
    serde_json::from_str(include_str!("../rules.schema.json")).expect("the schema is JSON")
}

fn keys(schema: &Value) -> BTreeSet<&str> {
    schema["properties"].as_object().expect("properties").keys().map(String::as_str).collect()
}

/// What of a value the schema does not allow. As much of the standard as the schema uses; a keyword that is not known
/// here is a failure, so that nothing goes unchecked.
fn violations(root: &Value, schema: &Value, value: &Value, at: &str) -> Vec<String> {
    let mut found = Vec::new();
    for (keyword, wanted) in schema.as_object().expect("a schema is an object") {
        let list = || wanted.as_array().expect("a list");
        let number = || usize::try_from(wanted.as_u64().expect("a number")).expect("small");
        let wrong = match keyword.as_str() {
            "$schema" | "$defs" | "title" | "description" | "examples" | "default" => false,
            "$ref" => {
                let path = wanted.as_str().and_then(|path| path.strip_prefix('#')).expect("a place in this file");
                let target = root.pointer(path).unwrap_or_else(|| panic!("{path} is not in the schema"));
                found.extend(violations(root, target, value, at));
                false
            }
            "type" => {
                let names: Vec<&Value> = wanted.as_array().map_or(vec![wanted], |names| names.iter().collect());
                !names.iter().any(|name| match name.as_str().expect("a name") {
                    "object" => value.is_object(),
                    "array" => value.is_array(),
                    "string" => value.is_string(),
                    "integer" => value.is_i64(),
                    "boolean" => value.is_boolean(),
                    "null" => value.is_null(),
                    other => panic!("the type {other} is not known here"),
                })
            }
            "enum" => !list().contains(value),
            "anyOf" => !list().iter().any(|one| violations(root, one, value, at).is_empty()),
            "required" => {
                value.is_object() && list().iter().any(|key| value.get(key.as_str().expect("a key")).is_none())
            }
            "properties" => {
                for (key, schema) in wanted.as_object().expect("properties") {
                    let inner = value.get(key).map(|value| violations(root, schema, value, &format!("{at}.{key}")));
                    found.extend(inner.into_iter().flatten());
                }
                false
            }
            "additionalProperties" => {
                for (key, value) in value.as_object().into_iter().flatten() {
                    if schema["properties"].get(key).is_some() {
                        continue;
                    }
                    match wanted {
                        Value::Bool(false) => found.push(format!("{at}: {key} is too much")),
                        other => found.extend(violations(root, other, value, &format!("{at}.{key}"))),
                    }
                }
                false
            }
            "items" => {
                for (index, item) in value.as_array().into_iter().flatten().enumerate() {
                    found.extend(violations(root, wanted, item, &format!("{at}[{index}]")));
                }
                false
            }
            "minItems" => value.as_array().is_some_and(|items| items.len() < number()),
            "minProperties" => value.as_object().is_some_and(|entries| entries.len() < number()),
            "minLength" => value.as_str().is_some_and(|text| text.chars().count() < number()),
            "minimum" => value.as_i64().is_some_and(|value| value < wanted.as_i64().expect("a number")),
            "maximum" => value.as_i64().is_some_and(|value| value > wanted.as_i64().expect("a number")),
            "pattern" => match wanted.as_str().expect("a pattern") {
                "^-." => value.as_str().is_some_and(|text| !text.starts_with('-') || text.len() < 2),
                "^[^@]" => value.as_str().is_some_and(|text| text.starts_with('@')),
                other => panic!("the pattern {other} is not known here"),
            },
            other => panic!("the keyword {other} is not known here"),
        };
        if wrong {
            found.push(format!("{at}: {value} is not {keyword} {wanted}"));
        }
    }
    found
}

fn read(yaml: &str) -> Value {
    let options = serde_saphyr::options! { strict_booleans: true };
    serde_saphyr::from_str_with_options(yaml, options).expect("it is YAML")
}

#[test]
fn the_schema_has_the_keys_of_the_reader() {
    let schema = schema();
    let defined = |name: &str| keys(&schema["$defs"][name]);
    let set = |keys: &[&'static str]| keys.iter().copied().collect::<BTreeSet<&str>>();
    assert_eq!(keys(&schema), set(FILE_KEYS));
    assert_eq!(defined("rule"), set(RULE_KEYS));
    assert_eq!(defined("effect"), set(EFFECT_KEYS));
    assert_eq!(keys(&schema["$defs"]["test"]["anyOf"][1]), set(TEST_KEYS));
    assert_eq!(defined("when"), set(WHEN_KEYS));
    assert_eq!(defined("missing"), set(MISSING_KEYS));
    assert_eq!(defined("observer"), set(OBSERVER_KEYS));
    assert_eq!(defined("watch"), set(&[WATCH_KEYS, WHAT].concat()));
    assert_eq!(defined("grammar"), set(PROGRAM_KEYS));
    assert_eq!(defined("exemption"), set(&[EXEMPTION_KEYS, WHAT, &["reason"]].concat()));
}

/// The reader names the kinds and places that it knows when it gets another.
#[test]
fn the_schema_has_the_kinds_and_places_of_the_reader() {
    let schema = schema();
    let told = |rules: &str| {
        let problems = Guard::new().load("rules.yaml", Layer::User, rules.as_bytes());
        let (_, names) = problems[0].message.split_once("; there are ").expect("a list of names");
        names.split(", ").map(str::to_owned).collect::<BTreeSet<String>>()
    };
    let named = |values: &Value| {
        let names = values.as_array().expect("a list").iter().map(|name| name.as_str().expect("a name"));
        names.map(|name| name.trim_start_matches('@').to_owned()).collect::<BTreeSet<String>>()
    };
    assert_eq!(named(&schema["$defs"]["kind"]["enum"]), told("rules: [{effects: {kinds: nothing}}]"));
    let places = &schema["$defs"]["named-place"]["enum"];
    assert_eq!(named(places), told("rules: [{effects: {kinds: read, paths: '@nowhere'}}]"));
}

/// A pack as a rule file could be it: without what only packs say of their rules.
fn as_a_file(pack: &mut Value) {
    for rule in pack["rules"].as_array_mut().into_iter().flatten().filter_map(Value::as_object_mut) {
        rule.retain(|key, _| !PACK_KEYS.contains(&key.as_str()));
        if let Some(code) = rule.get_mut("code") {
            assert!(code.is_string(), "{code} is the key of no code");
            *code = true.into();
        }
    }
}

#[test]
fn every_pack_and_every_example_is_valid() {
    let schema = schema();
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src/packs");
    let mut count = 0;
    for file in std::fs::read_dir(folder).expect("the folder of packs") {
        let path = file.expect("a file").path();
        let mut value = read(&std::fs::read_to_string(&path).expect("readable"));
        as_a_file(&mut value);
        assert_eq!(violations(&schema, &schema, &value, ""), [""; 0], "{}", path.display());
        count += 1;
    }
    assert!(count > 10, "{count} packs");
    /// Every example of a schema and of those in it.
    fn examples<'a>(schema: &'a Value, found: &mut Vec<(&'a Value, &'a Value)>) {
        if let Value::Object(entries) = schema {
            for one in entries.get("examples").and_then(Value::as_array).into_iter().flatten() {
                found.push((schema, one));
            }
            entries.values().for_each(|inner| examples(inner, found));
        } else if let Value::Array(items) = schema {
            items.iter().for_each(|inner| examples(inner, found));
        }
    }
    let mut found = Vec::new();
    examples(&schema, &mut found);
    assert!(found.len() > 30, "{} examples", found.len());
    for (owner, example) in found {
        assert_eq!(violations(&schema, owner, example, ""), [""; 0], "{example}");
    }
}

/// What the reader refuses, editors mark; what it takes, they do not.
#[test]
fn the_schema_and_the_reader_agree() {
    let schema = schema();
    let cases: &[(&str, bool)] = &[
        ("", true),
        ("rules:", true),
        ("schema: 1\nabout: x\npacks: [cloud]", true),
        ("bashToolPatterns: [{pattern: x, reason: y, ask: true}]", true),
        ("zeroAccessPaths: [a, {path: b, ask: true, reason: c}]", true),
        ("rules: [{program: rm, flags: [[-r, -R], [-f]], without: -i}]", true),
        ("rules: [{effects: [{kinds: [delete], paths: ['@outside', '~/x/']}]}]", true),
        ("rules: [{pattern: x, when: {cwd: {pattern: y, on-unknown: allow}, not: {env: {A: b}}}}]", true),
        ("exemptions: [{rule: a, program: b, reason: c}]", true),
        ("observers: [{name: a, writes: [b], watch: {program: c, exit-code: 3}}]", true),
        ("observers: [{writes: b, watch: {tool: [write], path: c}}]", true),
        ("rules: [{pattern: x, when: {missing: {event: a, in: agent_loop, since: b, not-in: tool-call}}}]", true),
        ("rules: [{tool: [write, edit], field: content, pattern: x}]", true),
        ("rules: [{pattern: x, when: {missing: {event: a}}}]", false),
        ("rules: [{pattern: x, when: {missing: {event: a, in: turn}}}]", false),
        ("rules: [{pattern: x, field: text}]", false),
        ("observers: [{writes: b}]", false),
        ("observers: [{watch: {program: c}}]", false),
        ("observers: [{writes: b, watch: {prog: c}}]", false),
        ("lens: {tsc: false, turn-end-sweep: true, excludePatterns: [a], lspDelayMs: 500}", true),
        ("lens:", true),
        ("undo: off\nrecoverable: ask", true),
        ("rules: [{pattern: x, ask: true, recoverable: true}]", true),
        ("undo: false", false),
        ("recoverable: pass", false),
        ("rule: []", false),
        ("schema: 2", false),
        ("rules: [{reason: x}]", false),
        ("rules: [{pattern: x, ask: maybe}]", false),
        ("rules: [{pattern: x, when: {}}]", false),
        ("rules: [{program: rm, flags: force}]", false),
        ("rules: [{program: []}]", false),
        ("rules: [{effects: {kinds: remove}}]", false),
        ("rules: [{effects: {kinds: read, paths: '@moon'}}]", false),
        ("rules: [{pattern: x, tests: {fire: [a]}}]", false),
        ("zeroAccessPaths: [{reason: x}]", false),
        ("exemptions: [{rule: a}]", true),
        ("exemptions: [{program: a}]", false),
        ("programs: {x: {value: -a}}", false),
        ("- x", false),
    ];
    for (text, right) in cases {
        let problems = Guard::new().load("rules.yaml", Layer::User, text.as_bytes());
        assert_eq!(problems.is_empty(), *right, "{text}: {problems:?}");
        let value = if text.is_empty() { Value::Null } else { read(text) };
        let found = violations(&schema, &schema, &value, "");
        assert_eq!(found.is_empty(), *right, "{text}: {found:?}");
    }
}

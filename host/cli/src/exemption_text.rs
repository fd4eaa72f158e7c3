//! An exemption put into the text of a rule file, so that comments and the order stay. What was changed is read again: if it
//! does not say the same as before and the exemption, nothing was changed.

use serde_json::{Value, json};

/// An exemption.
pub(crate) struct Entry {
    /// The rule's name.
    pub(crate) rule: String,
    /// Whether it is a path rule.
    pub(crate) path_rule: bool,
    /// The folder that it is for.
    pub(crate) here: Option<String>,
    /// Why.
    pub(crate) reason: Option<String>,
}

impl Entry {
    fn value(&self) -> Value {
        let mut value = json!({ "rule": self.rule });
        match &self.here {
            None => {}
            Some(here) if self.path_rule => value["paths"] = json!([literal(here)]),
            // A folder of the same beginning is another one.
            Some(here) => value["when"] = json!({ "cwd": format!("^{}(/|$)", fancy_regex::escape(here)) }),
        }
        if let Some(reason) = &self.reason {
            value["reason"] = json!(reason);
        }
        value
    }

    /// As YAML, on one line.
    fn line(&self) -> String {
        flow(&self.value())
    }
}

/// A path that a glob takes as it is.
fn literal(path: &str) -> String {
    let mut escaped = String::new();
    for letter in path.chars() {
        if "*?[]{}!\\".contains(letter) {
            escaped.push('\\');
        }
        escaped.push(letter);
    }
    escaped
}

/// A value of texts as YAML in the flow style.
fn flow(value: &Value) -> String {
    match value {
        Value::Object(entries) => {
            // The rule first: it is what the exemption is about.
            let mut entries: Vec<(&String, &Value)> = entries.iter().collect();
            entries.sort_by_key(|(key, _)| *key != "rule");
            let all: Vec<String> = entries.iter().map(|(key, value)| format!("{key}: {}", flow(value))).collect();
            format!("{{{}}}", all.join(", "))
        }
        Value::Array(items) => format!("[{}]", items.iter().map(flow).collect::<Vec<_>>().join(", ")),
        other => scalar(other.as_str().unwrap_or_default()),
    }
}

fn scalar(text: &str) -> String {
    let mut letters = text.chars();
    let plain = letters.next().is_some_and(|first| first.is_ascii_alphabetic())
        && letters.all(|letter| letter.is_ascii_alphanumeric() || "-_".contains(letter))
        && !["true", "false", "null"].contains(&text.to_lowercase().as_str());
    if plain { text.to_owned() } else { format!("'{}'", text.replace('\'', "''")) }
}

/// The text with the exemption, or as it is if it has that.
///
/// # Errors
/// Why it cannot be put in.
pub(crate) fn with(text: &str, entry: &Entry) -> Result<String, String> {
    let before = read(text)?;
    let mut wanted = before.clone();
    if wanted.is_null() {
        wanted = json!({});
    }
    let list = wanted.as_object_mut().ok_or("it is not a mapping")?.entry("exemptions").or_insert(Value::Null);
    match list {
        Value::Null => *list = json!([entry.value()]),
        Value::Array(all) if all.contains(&entry.value()) => return Ok(text.to_owned()),
        Value::Array(all) => all.push(entry.value()),
        _ => return Err("its exemptions are not a list".to_owned()),
    }
    let says = |candidate: &String| read(candidate).is_ok_and(|read| read == wanted);
    candidates(text, &entry.line()).into_iter().find(says).ok_or_else(|| {
        format!("its form is not one that can be added to; add this yourself, below exemptions: - {}", entry.line())
    })
}

fn read(text: &str) -> Result<Value, String> {
    let options = serde_saphyr::options! { strict_booleans: true };
    serde_saphyr::from_str_with_options(text, options)
        .map_err(|_| "it is not valid YAML; see toolgate rules lint".to_owned())
}

/// What the text may be with the exemption, the likeliest first.
fn candidates(text: &str, entry: &str) -> Vec<String> {
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let end = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let Some(at) = lines.iter().position(|line| line.starts_with("exemptions:")) else {
        let apart = if text.is_empty() || text.ends_with('\n') { "" } else { end };
        return vec![format!("{text}{apart}exemptions:{end}  - {entry}{end}")];
    };
    // The section goes on to the next line at the margin that is no item and no comment.
    let inside = |line: &&&str| line.starts_with([' ', '\t', '-', '#', '\r', '\n', ']']);
    let last = at + lines[at + 1..].iter().take_while(inside).count();
    let content = |line: &str| !line.trim().is_empty() && !line.trim_start().starts_with('#');
    let last = (at..=last).rev().find(|index| content(lines[*index])).unwrap_or(at);
    let before: String = lines[..=last].concat();
    let after: String = lines[last + 1..].concat();
    let item = lines[at + 1..=last].iter().find(|line| line.trim_start().starts_with("- "));
    let indent = item.map_or("  ", |item| &item[..item.len() - item.trim_start().len()]);
    let apart = if before.ends_with('\n') { "" } else { end };
    let mut all = vec![format!("{before}{apart}{indent}- {entry}{end}{after}")];
    // A list in brackets: before the one that closes it.
    for (close, _) in before.match_indices(']').collect::<Vec<_>>().into_iter().rev() {
        let (head, tail) = before.split_at(close);
        for comma in [", ", ""] {
            let head = if comma.is_empty() { head } else { head.trim_end() };
            all.push(format!("{head}{comma}{entry}{tail}{after}"));
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn amend() -> Entry {
        Entry { rule: "git-amend".into(), path_rule: false, here: None, reason: None }
    }

    #[test]
    fn an_exemption_is_added_and_nothing_else_changes() {
        let cases = [
            ("", "exemptions:\n  - {rule: git-amend}\n"),
            ("# mine\n", "# mine\nexemptions:\n  - {rule: git-amend}\n"),
            ("packs: [cloud] # why\n", "packs: [cloud] # why\nexemptions:\n  - {rule: git-amend}\n"),
            ("packs: [cloud]", "packs: [cloud]\nexemptions:\n  - {rule: git-amend}\n"),
            ("packs: [cloud]\r\n", "packs: [cloud]\r\nexemptions:\r\n  - {rule: git-amend}\r\n"),
            ("exemptions:\n#packs: [x]\n", "exemptions:\n  - {rule: git-amend}\n#packs: [x]\n"),
            (
                "exemptions:\n  - rule: a # why\n    program: b\n  # the end\n\nrules: []\n",
                "exemptions:\n  - rule: a # why\n    program: b\n  - {rule: git-amend}\n  # the end\n\nrules: []\n",
            ),
            ("exemptions:\n- {rule: a}\nrules: []\n", "exemptions:\n- {rule: a}\n- {rule: git-amend}\nrules: []\n"),
            ("exemptions:\n    - {rule: a}", "exemptions:\n    - {rule: a}\n    - {rule: git-amend}\n"),
            ("exemptions: []\n", "exemptions: [{rule: git-amend}]\n"),
            ("exemptions: [{rule: a}] # [x]\n", "exemptions: [{rule: a}, {rule: git-amend}] # [x]\n"),
            ("exemptions: [{rule: '[]'}]\n", "exemptions: [{rule: '[]'}, {rule: git-amend}]\n"),
            (
                "exemptions: [\n  {rule: a}\n]\nrules: []\n",
                "exemptions: [\n  {rule: a}, {rule: git-amend}]\nrules: []\n",
            ),
            ("exemptions:\n  - rule: git-amend\n", "exemptions:\n  - rule: git-amend\n"),
        ];
        for (before, after) in cases {
            assert_eq!(with(before, &amend()).as_deref(), Ok(after), "{before}");
        }
    }

    #[test]
    fn what_cannot_be_added_to_stays() {
        let cases = [
            ("{rules: []}\n", "its form is not one"),
            ("- a\n", "it is not a mapping"),
            ("exemptions: x\n", "its exemptions are not a list"),
            ("exemptions: [\n", "it is not valid YAML"),
            ("rules: []\n...\n", "its form is not one"),
        ];
        for (before, why) in cases {
            assert!(
                with(before, &amend()).is_err_and(|error| error.starts_with(why)),
                "{before}: {:?}",
                with(before, &amend())
            );
        }
    }

    #[test]
    fn a_place_is_that_folder_and_what_is_below_it() {
        let at = |rule: &str, path_rule: bool, here: &str| {
            let entry =
                Entry { rule: rule.into(), path_rule, here: Some(here.into()), reason: Some("it's mine".into()) };
            with("", &entry).map(|text| text.lines().nth(1).unwrap_or_default().trim_start().to_owned())
        };
        let rule = at("git-clean", false, "/home/a.b/c's");
        assert_eq!(
            rule.as_deref(),
            Ok("- {rule: git-clean, when: {cwd: '^/home/a\\.b/c''s(/|$)'}, reason: 'it''s mine'}")
        );
        let path = at("noReadPaths: .env", true, "/home/a*/b");
        assert_eq!(path.as_deref(), Ok("- {rule: 'noReadPaths: .env', paths: ['/home/a\\*/b'], reason: 'it''s mine'}"));
    }
}

//! What `doctor` says of the installed plugins. One that cannot be used blocks every call, so it is worth knowing.

use toolgate_agents::settings::hook_failures::Level;
use toolgate_gatekeeper::plugin::store::{Installed, Store};

use super::report::Check;

/// The checks of all installed plugins.
pub(super) fn checks() -> Vec<Check> {
    let listed = Store::of_user().and_then(|store| Ok((store.list()?, store)));
    match listed {
        Ok((all, _)) if all.is_empty() => vec![check("installed", Level::Ok, "none".to_owned(), String::new())],
        Ok((all, store)) => all.iter().map(|one| told(one, one.damage(&store))).collect(),
        Err(error) => {
            vec![check("readable", Level::Fail, error.to_string(), "until then, every call is blocked".to_owned())]
        }
    }
}

/// Words of a command line without those that name components, and what goes with them.
pub(super) fn without(words: Vec<String>) -> Vec<String> {
    let mut left = Vec::new();
    let mut words = words.into_iter();
    while let Some(word) = words.next() {
        match word.split_once('=').map_or(word.as_str(), |(option, _)| option) {
            "--rewrite" => {}
            "--plugin" | "--grant" => {
                // Its value is a word of its own.
                if !word.contains('=') {
                    words.next();
                }
            }
            _ => left.push(word),
        }
    }
    left
}

fn told(one: &Installed, wrong: Option<String>) -> Check {
    let name = &one.name;
    match (wrong, &one.held) {
        (Some(wrong), _) => check("usable", Level::Fail, wrong, "until then, every call is blocked".to_owned()),
        (None, Some(_)) => check(
            "held back",
            Level::Warn,
            format!("{name}: a newer version needs more grants; the older one is active"),
            format!("toolgate plugin list, then toolgate plugin grant {name}"),
        ),
        (None, None) if one.is_revoked() => {
            let says = format!("{name} has none of the grants it asks for, and works without them");
            check("granted", Level::Ok, says, String::new())
        }
        (None, None) => check("installed", Level::Ok, format!("{name} is active"), String::new()),
    }
}

fn check(name: &'static str, level: Level, says: String, todo: String) -> Check {
    Check { name, level, says, todo }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_names_components_is_taken_out_with_its_value() {
        let cases = [
            ("", ""),
            ("--plugin=/a=b.wasm --no-lens", "--no-lens"),
            ("--plugin /a.wasm --x --grant git,clock --rewrite", "--x"),
            ("--x --plugin", "--x"),
            ("--grant=git --plugins", "--plugins"),
        ];
        for (words, expected) in cases {
            let split = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
            assert_eq!(without(split(words)), split(expected), "{words}");
        }
    }
}

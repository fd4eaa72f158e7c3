//! The keys that may be pressed in a pane, and what they do to the line of a shell.
//!
//! tmux types a name that it does not know letter by letter, so only names of this table get to it, as they stand here.
//! Left out on purpose is what runs a line in some key map, or text that nobody has judged: `C-o`, `C-x C-e` and
//! `M-C-e` of bash, `M-a` of zsh, `C-y`, function keys, which anything may be bound to.

use toolgate_host::CapabilityError;
use toolgate_host::capability::Answer;

/// What a key does to the line of a shell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Effect {
    /// Types this character.
    Types(char),
    /// Runs the line.
    Submits,
    /// Throws the line away, and all lines before it that the shell waits for the end of.
    Aborts,
    /// Empties a line whose end the cursor is at.
    Empties,
    /// Leaves the line as it is.
    Shows,
    /// Changes the line in a way that is not known.
    Changes,
}

/// A key that may be pressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Key {
    /// As tmux names it; empty for a character.
    pub(super) name: &'static str,
    pub(super) effect: Effect,
}

const KEYS: &[(&str, Effect)] = &[
    ("Enter", Effect::Submits),
    ("KPEnter", Effect::Submits),
    ("C-m", Effect::Submits),
    ("C-j", Effect::Submits),
    ("C-c", Effect::Aborts),
    ("C-u", Effect::Empties),
    ("C-l", Effect::Shows),
    ("Space", Effect::Types(' ')),
    ("C-d", Effect::Changes),
    ("C-z", Effect::Changes),
    ("Escape", Effect::Changes),
    ("Tab", Effect::Changes),
    ("BTab", Effect::Changes),
    ("BSpace", Effect::Changes),
    ("DC", Effect::Changes),
    ("IC", Effect::Changes),
    ("Up", Effect::Changes),
    ("Down", Effect::Changes),
    ("Left", Effect::Changes),
    ("Right", Effect::Changes),
    ("Home", Effect::Changes),
    ("End", Effect::Changes),
    ("PPage", Effect::Changes),
    ("PageUp", Effect::Changes),
    ("NPage", Effect::Changes),
    ("PageDown", Effect::Changes),
];

/// Names that tmux knows, beside those of the table, single characters and modifiers of all of them.
const OTHERS: &[&str] =
    &["F1", "F2", "F3", "F4", "F5", "F6", "F7", "F8", "F9", "F10", "F11", "F12", "Insert", "Delete", "PgUp", "PgDn"];

/// The key of this name.
///
/// # Errors
/// [`CapabilityError::Denied`] for a key that could run what was not judged, [`CapabilityError::Invalid`] for no key.
pub(super) fn key(name: &str) -> Answer<Key> {
    let found = KEYS.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
    if let Some((name, effect)) = found {
        return Ok(Key { name, effect: *effect });
    }
    if let Some(c) = single(name) {
        return Ok(Key { name: "", effect: Effect::Types(c) });
    }
    let bare = unmodified(name);
    let known = KEYS.iter().map(|(known, _)| known).chain(OTHERS).any(|known| known.eq_ignore_ascii_case(bare));
    match known || (bare != name && single(bare).is_some()) {
        true => Err(CapabilityError::Denied(format!("the key {name} may run an unchecked command"))),
        false => Err(CapabilityError::Invalid(format!("{name:?} is not a tmux key name"))),
    }
}

/// The only character of a text, if it shows.
fn single(text: &str) -> Option<char> {
    let mut chars = text.chars();
    chars.next().filter(|c| !c.is_control() && chars.next().is_none())
}

/// A name without the modifiers before it.
fn unmodified(name: &str) -> &str {
    let modifiers = ["C-", "c-", "M-", "m-", "S-", "s-", "^"];
    let bare = modifiers.iter().find_map(|modifier| name.strip_prefix(modifier).filter(|rest| !rest.is_empty()));
    bare.map_or(name, unmodified)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_keys_that_run_nothing_unjudged_are_pressed() {
        let cases = [
            ("Enter", "Enter"),
            ("enter", "Enter"),
            ("C-c", "C-c"),
            ("PageUp", "PageUp"),
            ("q", "types 'q'"),
            (";", "types ';'"),
            ("日", "types '日'"),
            ("Space", "types ' '"),
            ("^", "types '^'"),
            ("-", "types '-'"),
            ("C-o", "denied"),
            ("C-x", "denied"),
            ("^O", "denied"),
            ("M-a", "denied"),
            ("C-M-m", "denied"),
            ("M-Enter", "denied"),
            ("C-Enter", "denied"),
            ("M-^m", "denied"),
            ("F1", "denied"),
            ("S-F12", "denied"),
            ("ls", "invalid"),
            ("rm -rf /", "invalid"),
            ("0x0d", "invalid"),
            ("-l", "invalid"),
            ("C-", "invalid"),
            ("Enter;", "invalid"),
            ("\n", "invalid"),
            ("\r", "invalid"),
            ("\u{1b}", "invalid"),
            ("", "invalid"),
        ];
        for (name, expected) in cases {
            let found = match key(name) {
                Ok(Key { effect: Effect::Types(c), .. }) => format!("types {c:?}"),
                Ok(key) => key.name.to_owned(),
                Err(CapabilityError::Denied(_)) => "denied".to_owned(),
                Err(CapabilityError::Invalid(_)) => "invalid".to_owned(),
                Err(error) => error.to_string(),
            };
            assert_eq!(found, expected, "{name:?}");
        }
    }
}

//! What a tool does to files that is said as data: as commands without words, and where the fields are that say it.

use toolgate_shell::{Facts, Script, Span, ToolPath, file_action};

use crate::call::{Field, FileEffects};

/// Most fields of which each is told where one place stands for all of them.
const TOLD: usize = 64;

/// What a tool does, as it is judged. Its commands stand in a text that has all paths one after the other.
pub(crate) struct Declared<'a> {
    /// With where each begins in the text.
    fields: Vec<(usize, &'a Field)>,
    /// That text; no field of the input.
    pub(crate) text: Field,
    /// The commands, one for each effect.
    pub(crate) script: Script,
}

impl<'a> Declared<'a> {
    /// None if nothing is said.
    pub(crate) fn of(effects: &'a FileEffects, facts: &Facts) -> Option<Self> {
        let mut fields = Vec::new();
        let mut text = String::new();
        let mut commands = Vec::new();
        for effect in &effects.list {
            let paths = effect.paths.iter().chain(&effect.to).map(|field| {
                let start = text.len();
                fields.push((start, field));
                text.push_str(&field.value);
                let span = Span { start, end: text.len() };
                text.push('\n');
                ToolPath { text: &field.value, span }
            });
            let paths: Vec<ToolPath<'_>> = paths.collect();
            commands.push(file_action(effect.action, effect.recursive, &paths, facts));
        }
        let script = Script { commands, ..Script::default() };
        let text = Field { name: String::new(), value: text };
        (!script.commands.is_empty()).then_some(Declared { fields, text, script })
    }

    /// The fields that a place of the text is of.
    pub(crate) fn at(&self, span: Span) -> impl Iterator<Item = &'a Field> {
        let first = self.fields.partition_point(|(start, field)| start + field.value.len() < span.start);
        let rest = self.fields.get(first..).unwrap_or_default().iter();
        rest.take_while(move |(start, _)| *start <= span.end).map(|(_, field)| *field).take(TOLD)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use toolgate_shell::EffectKind;

    use super::*;

    #[test]
    fn each_place_leads_back_to_the_fields_that_say_it() {
        let field = |name: &str, value: &str| json!({ "name": name, "value": value });
        let effects = FileEffects::read(&json!([
            { "effect": "remove", "paths": [field("a/0", "x"), field("a/1", "it's\nhere")], "recursive": true },
            { "effect": "move", "paths": [field("from", "")], "to": field("to", "z") },
        ]));
        let declared = Declared::of(&effects, &Facts::new("/p")).expect("commands");
        let named = |span| declared.at(span).map(|field| field.name.as_str()).collect::<Vec<_>>();
        let [removed, moved] = declared.script.commands.as_slice() else { panic!("two commands") };
        let told = |effect: &toolgate_shell::Effect| (effect.kind, effect.path.text().to_owned(), named(effect.span));
        let first: Vec<_> = removed.effects.iter().map(told).collect();
        assert_eq!(
            first,
            [
                (EffectKind::Delete, "/p/x".to_owned(), vec!["a/0"]),
                (EffectKind::Delete, "/p/it's\nhere".to_owned(), vec!["a/1"])
            ]
        );
        assert_eq!((named(removed.span), named(moved.span)), (vec!["a/0", "a/1"], vec!["from", "to"]));
        assert!(Declared::of(&FileEffects::default(), &Facts::new("/p")).is_none());
    }

    #[test]
    fn one_place_for_very_many_fields_is_told_of_some() {
        let paths: Vec<_> = (0..10_000).map(|at| json!({ "name": format!("p/{at}"), "value": "x" })).collect();
        let effects = FileEffects::read(&json!([{ "effect": "remove", "paths": paths }]));
        let declared = Declared::of(&effects, &Facts::new("/p")).expect("commands");
        let all = declared.script.commands[0].span;
        assert_eq!(declared.at(all).count(), TOLD);
        let last = declared.script.commands[0].effects.last().expect("effects").span;
        assert_eq!(declared.at(last).map(|field| field.name.as_str()).collect::<Vec<_>>(), ["p/9999"]);
    }
}

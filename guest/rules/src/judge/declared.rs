//! What a tool does to files that is said as data.

use toolgate_shell::{FileOracle, Span};

use super::{Evaluation, evidence};
use crate::call::Evidence;
use crate::declared::Declared;
use crate::matching::{MatchInput, ScriptContext};
use crate::native_rule::NativeRule;
use crate::world::GuardHost;

impl<'a> Evaluation<'a> {
    /// What is said, by the rules on effects and with the paths that it touches.
    pub(super) fn declared(
        &mut self,
        declared: Option<&Declared<'a>>,
        world: &mut dyn GuardHost,
        look: Option<&dyn FileOracle>,
    ) {
        if self.call.effects.unclear {
            self.native(NativeRule::EffectsUnread, "", Vec::new());
        }
        let Some(declared) = declared else { return };
        let (before, touched) = (std::mem::take(&mut self.findings), self.touched.len());
        let (script, text, call) = (&declared.script, &declared.text, self.call);
        let scene =
            ScriptContext::new(script, self.guard.tables(), self.map, call.home.as_deref(), look, self.real_map)
                .writing(&call.contents)
                .after(&call.earlier);
        let subjects: Vec<MatchInput<'_>> = scene.subjects().collect();
        for subject in &subjects {
            self.rules(subject, text, world);
            self.effects(subject, script, text, world);
            self.not_held(subject, text, world, look);
        }
        self.runs(&scene, &subjects, text, world, look);
        self.prompts(&subjects, text, world, look);
        self.worktrees(&subjects, text, world, look);
        self.variables_lost(&subjects, text, world);
        // The text is nothing that the agent has written: its places are those of the fields.
        let own = |one: Evidence| named(declared, one);
        for touched in self.touched.iter_mut().skip(touched) {
            if let Some(first) = own(touched.evidence.clone()).into_iter().next() {
                touched.evidence = first;
            }
        }
        for mut found in std::mem::replace(&mut self.findings, before) {
            found.evidence = found.evidence.into_iter().flat_map(own).collect();
            self.add(found);
        }
    }
}

/// Evidence in the fields that it is of.
fn named(declared: &Declared<'_>, one: Evidence) -> Vec<Evidence> {
    if one.field != declared.text.name {
        return vec![one];
    }
    let fields = declared.at(Span { start: one.start, end: one.end });
    fields.map(|field| evidence(field, Span { start: 0, end: field.value.len() })).collect()
}

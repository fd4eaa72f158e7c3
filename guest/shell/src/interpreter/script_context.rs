//! What a script in another language reads, as far as it is known here: files of settings, its input, the environment.

use std::rc::Rc;

use super::Interpreter;
use super::path_resolution::places;
use super::script_effects::imported_from;
use super::state::{Input, ShellState};
use crate::wrapper::Language;
use toolgate_scripts::{Script, ScriptEffectKind, Setting, StoredFile, Surroundings, Text};
use toolgate_shell_syntax::path::is_within;

/// Most files and variables that a script is told of.
const MOST: usize = 16;

impl Interpreter<'_> {
    /// A setting with what is known before the script is read: variables that the text has set, and what it is given to read.
    pub(super) fn around(&self, setting: Setting, state: &ShellState) -> Setting {
        let own = |name: &String| name != "HOME" && !self.facts.env.contains_key(name);
        let set = state.vars().iter().filter(|(name, variable)| own(name) && variable.exported == Some(true));
        let variables: Vec<_> =
            set.filter_map(|(name, _)| Some((name.clone(), state.known(name)?))).take(MOST).collect();
        let input = match &state.input {
            Input::Text(text, from) => text.text.get(*from..).map(str::to_owned),
            Input::Stored(text) => Some(text.text.clone()),
            Input::Inherited | Input::Nothing | Input::Unseen(_) => None,
        };
        if variables.is_empty() && input.is_none() {
            return setting;
        }
        let files = setting.surroundings.files.clone();
        Setting {
            surroundings: Rc::new(Surroundings { files, input, variables, variables_may_change: false }),
            ..setting
        }
    }

    /// A setting with the files that the script reads; nothing if it reads none that are known, or what it does does not hang on them.
    pub(super) fn with_files(
        &mut self,
        language: Language,
        script: &Script,
        setting: &Setting,
        state: &ShellState,
    ) -> Option<Setting> {
        let is_asked = script.printed.is_none() && !self.captures.is_empty();
        let is_open = is_asked || script.effects.iter().any(|effect| has_hole(&effect.what));
        if !is_open || self.elsewhere {
            return None;
        }
        let mut files = setting.surroundings.files.clone();
        let before = files.len();
        let changed = self.changed_by(script, state);
        for effect in &script.effects {
            let (path, candidates) = match &effect.what {
                ScriptEffectKind::Read(Text::Known(path)) => (path, self.read_from(path, state)),
                ScriptEffectKind::Load(Text::Known(path)) if path.ends_with(".json") => {
                    (path, imported_from(language, setting, path, state))
                }
                _ => continue,
            };
            if files.len() >= MOST || files.iter().any(|file| file.path == *path) {
                continue;
            }
            let held = candidates.iter().find_map(|place| match state.files.read(place) {
                Some(text) => Some(text.text.clone()),
                None => self.stored(place, state).map(|text| text.to_string()),
            });
            let may_change = changed.as_ref().is_none_or(|changed| {
                candidates.iter().any(|place| changed.iter().any(|target| is_within(place, target)))
            });
            files.extend(held.map(|text| StoredFile { path: path.clone(), text, may_change }));
        }
        let surroundings = Surroundings { files, ..(*setting.surroundings).clone() };
        (surroundings.files.len() > before).then(|| Setting { surroundings: Rc::new(surroundings), ..setting.clone() })
    }

    /// Files and folders that a script changes itself; nothing if it may change any.
    fn changed_by(&self, script: &Script, state: &ShellState) -> Option<Vec<String>> {
        let mut changed = Vec::new();
        for effect in &script.effects {
            let paths = match &effect.what {
                ScriptEffectKind::Write(path)
                | ScriptEffectKind::Append(path)
                | ScriptEffectKind::Empty(path)
                | ScriptEffectKind::HardLink(path)
                | ScriptEffectKind::Create { path, .. }
                | ScriptEffectKind::Copy { to: path, .. } => vec![path],
                ScriptEffectKind::Move { from, to } => vec![from, to],
                ScriptEffectKind::Shell(_)
                | ScriptEffectKind::Run(_)
                | ScriptEffectKind::In { .. }
                | ScriptEffectKind::Eval(_)
                | ScriptEffectKind::Chdir(_) => return None,
                _ => continue,
            };
            for path in paths {
                let Text::Known(path) = path else { return None };
                let places = self.read_from(path, state);
                if places.is_empty() {
                    return None;
                }
                changed.extend(places);
            }
        }
        Some(changed)
    }

    /// Where a file is that a script reads.
    fn read_from(&self, path: &str, state: &ShellState) -> Vec<String> {
        match path.strip_prefix('~').filter(|rest| rest.is_empty() || rest.starts_with('/')) {
            Some(rest) => state.known("HOME").map(|home| format!("{home}{rest}")).into_iter().collect(),
            None => places(path, state),
        }
    }
}

/// Whether something is done with a text of which a part is not known.
fn has_hole(what: &ScriptEffectKind) -> bool {
    let reads = matches!(what, ScriptEffectKind::Read(_) | ScriptEffectKind::List(_));
    !reads && what.clone().texts().iter().any(|text| matches!(text, Text::Shape(_)))
}

//! Which files a text writes, and from which ones it copies: what is worth checking after it ran.
//!
//! A reader of the walk, like any other: what a command does is in `effect`. Left out is what cannot be named: globs,
//! unknown paths, files that no word of the text names. For everything that may happen, see [`Command::effects`].

use std::collections::HashSet;

use crate::command::{Command, Effect, EffectKind, Runs, Script};
use crate::facts::{Facts, FileOracle, Presence};
use crate::interpreter::parse;
use toolgate_shell_syntax::path::is_within;

/// The files of a text: absolute paths, each once, in the order in which they first appear.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Files {
    /// Made, changed or replaced.
    pub written: Vec<String>,
    /// Copied, moved or linked from, and not written.
    pub read: Vec<String>,
}

/// The files that a text writes, and those that it copies from.
///
/// ```
/// use toolgate_shell::{Facts, detect_files};
/// let files = detect_files("cd src && sed -i s/a/b/ main.rs && mv old.rs new.rs", &Facts::new("/p"));
/// assert_eq!(files.written, ["/p/src/main.rs", "/p/src/new.rs"]);
/// assert_eq!(files.read, ["/p/src/old.rs"]);
/// ```
pub fn detect_files(command: &str, facts: &Facts) -> Files {
    Files::of(&parse(command, facts), facts)
}

impl Files {
    /// The same of a text that was parsed with these facts.
    pub fn of(script: &Script, facts: &Facts) -> Self {
        let (mut written, mut read) = (Ordered::default(), Ordered::default());
        for command in &script.commands {
            let mut copied = false;
            for effect in expected(command) {
                let destination = std::mem::replace(&mut copied, effect.copied);
                let Some(path) = file(effect).filter(|path| !is_folder(path, effect, command, facts, destination))
                else {
                    continue;
                };
                if writes(effect.kind) {
                    written.add(path);
                } else if effect.copied && command.program() != Some("dd") {
                    // `dd` takes blocks, of a device as a rule: no file that anybody edits.
                    read.add(path);
                }
            }
        }
        let read = read.list.into_iter().filter(|path| !written.seen.contains(path)).map(str::to_owned).collect();
        Files { written: written.list.into_iter().map(str::to_owned).collect(), read }
    }
}

/// Things in the order in which they first came, each once.
#[derive(Default)]
struct Ordered<'a> {
    list: Vec<&'a str>,
    seen: HashSet<&'a str>,
}

impl<'a> Ordered<'a> {
    fn add(&mut self, path: &'a str) {
        if self.seen.insert(path) {
            self.list.push(path);
        }
    }
}

/// What a command does here, if it goes as the text expects: a `cd` works, a function is called.
pub(crate) fn expected(command: &Command) -> impl Iterator<Item = &Effect> {
    let counts = command.runs != Runs::Never && !command.elsewhere;
    command.effects.iter().filter(move |effect| counts && !effect.alternative)
}

/// Whether a file has other content after it, or is there that was not.
pub(crate) fn writes(kind: EffectKind) -> bool {
    matches!(kind, EffectKind::Write | EffectKind::Append | EffectKind::Create | EffectKind::Link)
}

/// The path, if it is certain and no device.
pub(crate) fn file(effect: &Effect) -> Option<&str> {
    let path = effect.path.known()?;
    let device = path == "/dev" || (path.starts_with("/dev/") && !path.starts_with("/dev/shm/"));
    (path.starts_with('/') && !device).then_some(path)
}

/// Whether what the effect names is a folder and not a file.
fn is_folder(path: &str, effect: &Effect, command: &Command, facts: &Facts, destination: bool) -> bool {
    // `prettier --write .`: where the command works is a folder, whatever else is known.
    let around = |folder: &String| is_within(folder, path);
    let around = effect.recursive && !destination && (path == "/" || command.folders.iter().any(around));
    let found = |files: &std::rc::Rc<dyn FileOracle>| files.look(path) == Presence::Folder;
    effect.folder || around || (effect.recursive && facts.files.as_ref().is_some_and(found))
}

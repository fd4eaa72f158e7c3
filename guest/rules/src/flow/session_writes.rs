//! Which files a text writes, for later calls of the session, and which of them are programs of the system by another name.

use toolgate_shell::{Command, Effect, EffectKind, FileOracle, Value, Why, Word, is_system};

use super::files::is_filled;
use crate::call::Memory;
use crate::path_zone::is_made_again;

/// How many files one text is remembered for.
const MAX_FILES: usize = 256;

/// What a text leaves behind of files.
pub(super) struct SessionWrites<'s> {
    earlier: &'s Memory,
    look: Option<&'s dyn FileOracle>,
    paths: Vec<String>,
    programs: Vec<(String, String)>,
    moved: Vec<String>,
}

impl<'s> SessionWrites<'s> {
    pub(super) fn new(earlier: &'s Memory, look: Option<&'s dyn FileOracle>) -> Self {
        SessionWrites { earlier, look, paths: Vec::new(), programs: Vec::new(), moved: Vec::new() }
    }

    /// Notes what a command writes, which is fed by others. What a script of the project writes is the project's own.
    pub(super) fn follow(&mut self, command: &Command, piped: &[&Command]) {
        let to: Vec<&str> = command.effects.iter().filter(|effect| fills(effect)).filter_map(place).collect();
        if command.preexisting || command.elsewhere || to.is_empty() {
            return;
        }
        let all = || std::iter::once(command).chain(piped.iter().copied());
        let sources = all().flat_map(|command| &command.effects).filter(|effect| is_source(effect));
        let sources: Vec<&Effect> = sources.collect();
        self.moved.extend(moves(command).map(|(_, to)| to.to_owned()));
        let program = sources.iter().filter_map(|effect| self.program(effect)).max();
        let program = program.or_else(|| prints_object(command).then(String::new));
        for path in to {
            self.add(path);
            if let Some(program) = &program {
                self.programs.push((path.to_owned(), program.clone()));
            }
            for from in sources.iter().filter_map(|effect| place(effect)) {
                self.below(from, path);
            }
        }
    }

    /// Whether a command runs a program that the text has put there under another name.
    pub(super) fn runs(&self, command: &Command) -> bool {
        let runs = command.effects.iter().filter(|effect| effect.kind == EffectKind::Execute);
        runs.filter_map(place).any(|path| self.programs.iter().any(|(own, _)| own == path))
    }

    /// What the session remembers after the text.
    pub(super) fn memory(self) -> Option<Memory> {
        self.earlier.after(self.paths, self.programs, self.moved)
    }

    fn add(&mut self, path: &str) {
        if self.paths.len() > MAX_FILES {
            return;
        }
        if self.paths.len() == MAX_FILES {
            return self.paths.push(Memory::ANYWHERE.to_owned());
        }
        let real = self.look.and_then(|look| look.real(path)).filter(|real| real != path);
        self.paths.extend(real.into_iter().chain([path.to_owned()]));
    }

    /// What the session wrote below a folder is below its copy as well.
    fn below(&mut self, from: &str, to: &str) {
        let inside = |path: &&String| path.strip_prefix(from).is_some_and(|rest| rest.starts_with('/'));
        let own = self.earlier.written.iter().chain(&self.paths).filter(inside);
        let moved: Vec<String> = own.map(|path| format!("{to}{}", &path[from.len()..])).take(MAX_FILES).collect();
        moved.iter().for_each(|path| self.add(path));
        let programs = self.earlier.programs.iter().chain(&self.programs).filter(|(path, _)| inside(&path));
        let copied: Vec<_> =
            programs.map(|(path, program)| (format!("{to}{}", &path[from.len()..]), program.clone())).collect();
        self.programs.extend(copied);
    }

    /// The program that is copied from there; empty if what is copied is not known.
    fn program(&self, from: &Effect) -> Option<String> {
        let Some(path) = place(from) else {
            // `cp "$(which rm)" x`, `cp /bin/r? x`
            let open = match &from.path {
                Value::Unknown { why: Why::CommandOutput, shape } => {
                    // Its name is known, and its folder is not.
                    let name = shape.strip_prefix(Value::HOLE).and_then(|rest| rest.strip_prefix('/'));
                    if let Some(name) = name.filter(|name| toolgate_commands::find(name).is_some()) {
                        return Some(format!("/usr/bin/{name}"));
                    }
                    shape.chars().eq([Value::HOLE])
                }
                Value::Pattern(pattern) => is_system(pattern),
                _ => false,
            };
            return (open && from.copied).then(String::new);
        };
        let known = self.programs.iter().rev().chain(self.earlier.programs.iter()).find(|(own, _)| own == path);
        known.map(|(_, program)| program.clone()).or_else(|| is_system(path).then(|| path.to_owned()))
    }
}

/// Whether git prints an object that is not known, which may be any program: `git cat-file blob "$h" > x`.
fn prints_object(command: &Command) -> bool {
    let unknown = |word: &Word| matches!(word.value, Value::Unknown { .. });
    command.program() == Some("git")
        && command.words.iter().any(|word| word.known() == Some("cat-file"))
        && command.words.iter().any(unknown)
}

/// What a command moves that no build makes again, and where to.
fn moves(command: &Command) -> impl Iterator<Item = (&str, &str)> {
    let pairs = command.effects.iter().zip(command.effects.iter().skip(1));
    let moved = pairs.filter(|(from, to)| {
        from.kind == EffectKind::Move
            && from.copied
            && is_filled(to.kind)
            && !to.alternative
            && !is_made_again(from.path.text())
    });
    moved.filter_map(|(from, to)| Some((place(from)?, place(to)?)))
}

/// Whether there is something else in a file after it.
fn fills(effect: &Effect) -> bool {
    is_filled(effect.kind) && !effect.folder
}

/// Whether what is there may be in what is written.
fn is_source(effect: &Effect) -> bool {
    matches!(effect.kind, EffectKind::Read | EffectKind::Move | EffectKind::HardLink)
}

/// The path, if it is known and one of a file on a disk.
fn place(effect: &Effect) -> Option<&str> {
    effect
        .path
        .known()
        .filter(|path| path.starts_with('/') && !path.starts_with("/dev/") && !path.contains(Value::HOLE))
}

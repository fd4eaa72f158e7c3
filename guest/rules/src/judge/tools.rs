//! What file tools name in the fields of their input.

use toolgate_shell::{Command, Effect, EffectKind, FileOracle, Script, Span, Value, absolute};

use super::path_access::{Access, Below, Touched};
use super::{Evaluation, evidence, tilde};
use crate::call::{Evidence, Field, ToolKind};
use crate::matching::ScriptContext;
use crate::world::GuardHost;

impl<'a> Evaluation<'a> {
    /// The paths and patterns of the input's own fields.
    pub(super) fn input_paths(&mut self) {
        let call = self.call;
        let access = match call.kind {
            ToolKind::Read | ToolKind::Search => Access::Read,
            ToolKind::List => Access::List,
            ToolKind::Write => Access::Write,
            ToolKind::Shell | ToolKind::Fetch | ToolKind::Other => Access::Mention,
        };
        // Which names a search is limited to; the tools of agents look into hidden folders as well.
        let globs = call.globs.iter().filter(|field| !field.value.starts_with('!'));
        let globs: Vec<String> = globs.flat_map(|field| alternatives(&field.value)).collect();
        let globs: Vec<&str> = globs.iter().map(String::as_str).collect();
        let below = || (call.kind == ToolKind::Search).then(|| Below::new(&globs, false));
        let whole = |field: &Field| evidence(field, Span { start: 0, end: field.value.len() });
        for field in &call.paths {
            let text = tilde(&field.value, call);
            let path = Value::Known(absolute(&text, &call.cwd));
            let dots = text.split('/').any(|part| part == "..");
            let written = dots.then(|| if text.starts_with('/') { text } else { format!("{}/{text}", call.cwd) });
            self.touched.push(Touched { written, below: below(), ..Touched::new(access, path, whole(field)) });
        }
        let base = call.paths.first().map(|field| absolute(&tilde(&field.value, call), &call.cwd));
        if base.is_none() && matches!(call.kind, ToolKind::Search | ToolKind::List) {
            let evidence = Evidence { field: "cwd".into(), start: 0, end: call.cwd.len(), text: call.cwd.clone() };
            let path = Value::Known(absolute("", &call.cwd));
            self.touched.push(Touched { below: below(), ..Touched::new(access, path, evidence) });
        }
        for field in &call.globs {
            let base = base.as_deref().unwrap_or(&call.cwd);
            let pattern = field.value.trim_start_matches('!');
            // A negated pattern leaves files out.
            if pattern.len() < field.value.len() {
                continue;
            }
            for pattern in alternatives(pattern) {
                let path = Value::Pattern(absolute(&tilde(&pattern, call), base));
                self.touched.push(Touched::new(access, path, whole(field)));
            }
        }
    }

    /// Has later calls know which files a tool writes.
    pub(super) fn remember_paths(&mut self, look: Option<&dyn FileOracle>) {
        let call = self.call;
        if !matches!(call.kind, ToolKind::Write | ToolKind::Other) {
            return;
        }
        let paths = call.paths.iter().map(|field| absolute(&tilde(&field.value, call), &call.cwd));
        let real = |path: &String| look.and_then(|look| look.real(path)).filter(|real| real != path);
        let paths: Vec<String> = paths.flat_map(|path| real(&path).into_iter().chain([path])).collect();
        self.memory = call.earlier.after(paths, Vec::new(), Vec::new());
    }

    /// What a file tool does, for the rules that are about effects.
    pub(super) fn tool(&mut self, world: &mut dyn GuardHost, look: Option<&dyn FileOracle>) {
        let call = self.call;
        let kind = match call.kind {
            ToolKind::Read | ToolKind::Search | ToolKind::List => EffectKind::Read,
            ToolKind::Write => EffectKind::Write,
            ToolKind::Shell | ToolKind::Fetch | ToolKind::Other => EffectKind::Mention,
        };
        for field in &call.paths {
            let path = absolute(&tilde(&field.value, call), &call.cwd);
            // Rules are about where things are, behind links as well.
            let real = world.resolve(std::slice::from_ref(&path)).ok().and_then(|mut real| real.pop().flatten());
            let paths = [Some(path.clone()), real.filter(|real| *real != path)];
            self.done(kind, paths.into_iter().flatten().map(Value::Known).collect(), field, world, look);
        }
        // What a search is limited to is read.
        let base = call.paths.first().map(|field| absolute(&tilde(&field.value, call), &call.cwd));
        let base = base.as_deref().unwrap_or(&call.cwd);
        let globs = call.globs.iter().filter(|field| call.kind == ToolKind::Search && !field.value.starts_with('!'));
        for field in globs {
            let patterns = alternatives(&field.value);
            let paths = patterns.iter().map(|pattern| Value::Pattern(absolute(&tilde(pattern, call), base)));
            self.done(kind, paths.collect(), field, world, look);
        }
    }

    /// The rules about effects, on what is done to these paths of a field.
    fn done(
        &mut self,
        kind: EffectKind,
        paths: Vec<Value>,
        field: &Field,
        world: &mut dyn GuardHost,
        look: Option<&dyn FileOracle>,
    ) {
        let call = self.call;
        let span = Span { start: 0, end: field.value.len() };
        let effects = paths.into_iter().map(|path| Effect { certain: true, ..Effect::new(kind, path, span) });
        let command = Command::of_effects(effects.collect(), span, &call.cwd);
        let script = Script { commands: vec![command], ..Script::default() };
        let home = call.home.as_deref();
        let scene = ScriptContext::new(&script, self.guard.tables(), self.map, home, look, self.real_map)
            .writing(&call.contents);
        self.rules(&scene.subject(0), field, world);
    }
}

/// How many patterns one with braces is taken apart into.
const ALTERNATIVES: usize = 256;

/// The patterns that one with braces stands for: `.en{v,x}` is `.env` and `.enx`. Of too many, one that stands for all of
/// them and more.
fn alternatives(pattern: &str) -> Vec<String> {
    let mut open = vec![pattern.to_owned()];
    let mut whole = Vec::new();
    while let Some(pattern) = open.pop() {
        let Some((start, inner, end)) = braces(&pattern) else {
            whole.push(pattern);
            continue;
        };
        let full = open.len() + whole.len() + inner.len() > ALTERNATIVES;
        let inner = if full { vec!["*"] } else { inner };
        open.extend(inner.iter().map(|one| format!("{start}{one}{end}")));
    }
    whole
}

/// What is before the first braces of a pattern, what is between their commas, and what is behind them.
fn braces(pattern: &str) -> Option<(&str, Vec<&str>, &str)> {
    let (mut start, mut depth, mut escaped) = (0, 0, false);
    let mut inner = Vec::new();
    let mut from = 0;
    for (at, c) in pattern.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '{' if depth == 0 => (start, from, depth) = (at, at + 1, 1),
            '{' => depth += 1,
            ',' if depth == 1 => {
                inner.push(pattern.get(from..at)?);
                from = at + 1;
            }
            '}' if depth == 1 => {
                inner.push(pattern.get(from..at)?);
                return Some((pattern.get(..start)?, inner, pattern.get(at + 1..)?));
            }
            '}' if depth > 0 => depth -= 1,
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn braces_are_taken_apart() {
        let cases: &[(&str, &[&str])] = &[
            ("*.rs", &["*.rs"]),
            (".en{v,x}", &[".env", ".enx"]),
            ("{a,b}/{c,d}", &["a/c", "a/d", "b/c", "b/d"]),
            ("a{b,{c,d}e}", &["ab", "ace", "ade"]),
            ("{a}", &["a"]),
            ("{,.}env", &[".env", "env"]),
            ("a\\{b,c}", &["a\\{b,c}"]),
            ("a{b", &["a{b"]),
            ("a}b", &["a}b"]),
        ];
        for (pattern, expected) in cases {
            let mut found = alternatives(pattern);
            found.sort();
            assert_eq!(found, *expected, "{pattern}");
        }
        let many = alternatives(&"{a,b}".repeat(40));
        assert!(many.len() <= ALTERNATIVES && many.iter().any(|one| one.contains('*')), "{}", many.len());
    }
}

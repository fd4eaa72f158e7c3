//! The specs of programs whose effects on files are known, as this folder reads them.

use toolgate_commands::{Files, OperandUse, ReadsOnly, Spec, Syntax};

/// A program whose effects are known, or a subcommand of one.
#[derive(Clone, Copy)]
pub(super) struct Row {
    pub(super) spec: &'static Spec,
    pub(super) files: &'static Files,
}

impl Row {
    /// The row of a spec, if it says what becomes of files.
    pub(super) fn of(spec: &'static Spec) -> Option<Row> {
        Some(Row { spec, files: spec.files.as_ref()? })
    }

    /// The name by which the spec has this one.
    fn named(self, name: &str) -> Option<(&'static str, Row)> {
        self.spec.names.iter().find(|listed| **listed == name).map(|listed| (*listed, self))
    }

    /// How many operands stand before the paths: a script, a pattern, a mode.
    pub(super) fn leading(self) -> usize {
        usize::from(self.files.leading)
    }

    /// The first of its subcommands.
    pub(super) fn first(self) -> Option<(&'static str, Row)> {
        let first = self.spec.subcommands.iter().find_map(Row::of)?;
        first.spec.names.first().map(|name| (*name, first))
    }

    /// The subcommand of this name.
    pub(super) fn subcommand(self, name: &str) -> Option<(&'static str, Row)> {
        let mut rows = self.spec.subcommands.iter().filter_map(Row::of);
        rows.find_map(|row| row.named(name))
    }
}

/// What a program without its subcommand does.
pub(super) static NOTHING: Spec = Spec {
    names: &[""],
    options: &[],
    subcommands: &[],
    runs: None,
    files: Some(Files {
        does: OperandUse::Nothing,
        syntax: Syntax::Gnu,
        leading: 0,
        pattern: false,
        wild: false,
        recursive: false,
        bare: false,
        complete: false,
    }),
    terminal: None,
    rules: None,
    loads: None,
    statements: None,
    one_dash: false,
    reads_only: ReadsOnly::Always,
};

/// The row of a program and the name that it has there.
pub(super) fn find(program: &str) -> Option<(&'static str, Row)> {
    let listed = |name: &str| toolgate_commands::find(name).and_then(Row::of).and_then(|row| row.named(name));
    listed(program).or_else(|| {
        // `python3.12`, `clang-17`.
        let plain = program.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
        let plain = plain.strip_suffix('-').unwrap_or(plain);
        listed(plain).filter(|_| plain.len() < program.len())
    })
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// Every program and subcommand as it is typed.
    pub(in super::super) fn typed() -> Vec<String> {
        fn add(specs: &'static [Spec], before: &str, all: &mut Vec<String>) {
            for row in specs.iter().filter_map(Row::of) {
                for name in row.spec.names {
                    let typed = format!("{before}{name}");
                    add(row.spec.subcommands, &format!("{typed} "), all);
                    all.push(typed);
                }
            }
        }
        let mut all = Vec::new();
        add(toolgate_commands::programs(), "", &mut all);
        all
    }
}

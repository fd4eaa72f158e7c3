//! The specs of programs that run others, as this folder reads them.

use toolgate_commands::{Runs, Spec, Trait};

/// A program that runs others, or a subcommand of one.
#[derive(Clone, Copy)]
pub(super) struct Row {
    pub(super) spec: &'static Spec,
    pub(super) runs: &'static Runs,
}

impl Row {
    /// The row of a spec, if what it is of runs others.
    pub(super) fn of(spec: &'static Spec) -> Option<Row> {
        Some(Row { spec, runs: spec.runs.as_ref()? })
    }

    pub(super) fn has(self, wanted: Trait) -> bool {
        self.runs.traits.contains(&wanted)
    }

    pub(super) fn is(self, name: &str) -> bool {
        self.spec.is(name)
    }

    /// How many words of its own stand between the options and the command.
    pub(super) fn operands(self) -> usize {
        usize::from(self.runs.operands)
    }

    /// The subcommand of this name.
    pub(super) fn subcommand(self, name: &str) -> Option<Row> {
        self.subcommands().find(|row| row.is(name))
    }

    /// Its subcommands that run others.
    pub(super) fn subcommands(self) -> impl Iterator<Item = Row> {
        self.spec.subcommands.iter().filter_map(Row::of)
    }
}

/// The row of a program.
pub(super) fn find(program: &str) -> Option<Row> {
    toolgate_commands::find_runner(program).and_then(Row::of)
}

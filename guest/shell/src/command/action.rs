//! What a tool does to files that says so as data, and by no text.

/// What a tool does to files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FileAction {
    /// They are removed.
    Remove,
    /// They get another place.
    Move,
    /// Others are made that are like them.
    Copy,
    /// What is in them, archives, is put into a folder.
    Unpack,
    /// They are made or changed.
    Write,
    /// They are read.
    Read,
    /// They, and what is below them, are searched.
    Search,
    /// Their names are told, or the names of what is in them.
    List,
}

impl FileAction {
    const ALL: &[(FileAction, &str, &str)] = &[
        (FileAction::Remove, "remove", "@remove"),
        (FileAction::Move, "move", "@move"),
        (FileAction::Copy, "copy", "@copy"),
        (FileAction::Unpack, "unpack", "@unpack"),
        (FileAction::Write, "write", "@write"),
        (FileAction::Read, "read", "@read"),
        (FileAction::Search, "search", "@search"),
        (FileAction::List, "list", "@list"),
    ];

    /// The one of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().find(|(_, known, _)| *known == name).map(|(action, ..)| *action)
    }

    /// What a rule has as its program that is about this action of tools as well: no program has such a name.
    pub fn as_program(self) -> &'static str {
        Self::ALL.iter().find(|(action, ..)| *action == self).map_or("", |(.., program)| program)
    }

    /// Whether it puts files somewhere, so that it needs to be said where.
    pub fn has_target(self) -> bool {
        matches!(self, FileAction::Move | FileAction::Copy | FileAction::Unpack)
    }
}

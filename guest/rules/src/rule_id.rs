//! What tells rules apart: who wrote one, and what it is called.

/// Who wrote a rule file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Layer {
    /// It came with Toolgate.
    BuiltIn,
    /// The user's own.
    User,
    /// The project's.
    Project,
}

impl Layer {
    /// As names of rules begin.
    pub fn prefix(self) -> &'static str {
        match self {
            Layer::BuiltIn => "builtin",
            Layer::User => "user",
            Layer::Project => "project",
        }
    }
}

/// What a path rule forbids.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Policy {
    ZeroAccess,
    ReadOnly,
    NoDelete,
    /// It may be written, but what is in it is not to be seen: a file of secrets that a project makes itself.
    NoRead,
}

impl Policy {
    /// As the rule file spells it.
    pub(crate) fn key(self) -> &'static str {
        match self {
            Policy::ZeroAccess => "zeroAccessPaths",
            Policy::ReadOnly => "readOnlyPaths",
            Policy::NoDelete => "noDeletePaths",
            Policy::NoRead => "noReadPaths",
        }
    }

    /// What it keeps a path from.
    pub(crate) fn describe(self) -> &'static str {
        match self {
            Policy::ZeroAccess => "must not be accessed",
            Policy::ReadOnly => "is read-only",
            Policy::NoDelete => "must not be deleted or moved",
            Policy::NoRead => "must not be read, sent or passed to another program",
        }
    }
}

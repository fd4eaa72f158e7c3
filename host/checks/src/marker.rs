//! The files, sections and dependencies by which a project shows that it uses a tool. Tools list them in their rows;
//! [`detect`](crate::detect) looks for them.

/// A sign in a folder that a tool is used there.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Marker {
    /// A file of this name.
    File(&'static str),
    /// A file whose name starts like this, such as `.prettierrc.json`.
    Start(&'static str),
    /// A section of this name, or below it, in a file in the form of TOML or INI.
    Section(&'static str, &'static str),
    /// A line with this in it in a file.
    Mention(&'static str, &'static str),
    /// A key at the top of `package.json`.
    PackageKey(&'static str),
    /// A dependency in `package.json`.
    Dependency(&'static str),
}

impl Marker {
    pub(crate) fn is_dependency(self) -> bool {
        matches!(self, Marker::Dependency(_))
    }
}

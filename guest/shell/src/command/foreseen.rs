//! Whether all that a command changes is told.

/// Whether all that a command changes is told.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Foreseen {
    /// It only reads or computes, but for what its effects say. So it is with a command without words.
    #[default]
    ReadsOnly,
    /// Its effects say what it changes, or it runs what is listed.
    Told,
    /// The same, if the files that it runs hold then what they hold now.
    Stored,
    /// It may change anything that is changed from where it runs, and what is in no file.
    No,
}

//! Which of several findings that ask for the same is told first: the one after which least can be brought back.

/// How much is lost if a rule is right, in the order in which findings are told.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Severity {
    /// What no copy on this machine brings back: what others have, devices, services.
    Irreversible,
    /// Files; and whatever rules of a person's or a project's file are about.
    #[default]
    Loss,
    /// Other harm.
    Harm,
    /// Something is not known, whatever it is.
    Unknown,
}

impl Severity {
    const KEYS: &[(&str, Severity)] = &[
        ("irreversible", Severity::Irreversible),
        ("loss", Severity::Loss),
        ("harm", Severity::Harm),
        ("unknown", Severity::Unknown),
    ];

    /// As rules of packs spell it.
    pub(crate) fn keyed(key: &str) -> Result<Self, String> {
        let found = Self::KEYS.iter().find(|(own, _)| *own == key);
        let known = || Self::KEYS.iter().map(|(own, _)| *own).collect::<Vec<_>>().join(", ");
        found.map(|(_, severity)| *severity).ok_or_else(|| format!("severity must be one of {}, not {key}", known()))
    }
}

//! The rules that came with Toolgate: one YAML file a pack, in the folder `packs`.

use crate::severity::Severity;

/// A pack.
#[derive(Debug)]
pub(crate) struct Pack {
    pub(crate) name: &'static str,
    pub(crate) by_default: bool,
    /// It keeps the gate itself: it is always on, and nobody lifts its rules.
    pub(crate) keeps_the_gate: bool,
    /// That of its rules that say none themselves.
    pub(crate) severity: Severity,
    pub(crate) rules: &'static str,
}

macro_rules! pack {
    ($name:literal, $by_default:literal, $severity:ident) => {
        Pack {
            name: $name,
            by_default: $by_default,
            keeps_the_gate: false,
            severity: Severity::$severity,
            rules: include_str!(concat!("packs/", $name, ".yaml")),
        }
    };
}

/// All of them, in the order of their findings.
pub(crate) static PACKS: &[Pack] = &[
    Pack { keeps_the_gate: true, ..pack!("self", true, Harm) },
    pack!("files", true, Loss),
    pack!("git", true, Harm),
    pack!("devices", true, Irreversible),
    pack!("permissions", true, Harm),
    pack!("execution", true, Harm),
    pack!("secrets", true, Harm),
    pack!("startup", true, Harm),
    pack!("automation", true, Harm),
    pack!("cloud", true, Irreversible),
    pack!("databases", true, Irreversible),
    pack!("containers", true, Irreversible),
    pack!("infrastructure", true, Irreversible),
    pack!("publishing", true, Irreversible),
    pack!("ci", true, Harm),
    pack!("services", true, Irreversible),
    pack!("backups", true, Irreversible),
    pack!("operations", false, Irreversible),
    pack!("personal", false, Harm),
];

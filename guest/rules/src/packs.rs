//! The rules that came with Toolgate: one YAML file a pack, in the folder `packs`.

/// A pack.
#[derive(Debug)]
pub(crate) struct Pack {
    pub(crate) name: &'static str,
    pub(crate) by_default: bool,
    /// It keeps the gate itself: it is always on, and nobody lifts its rules.
    pub(crate) keeps_the_gate: bool,
    pub(crate) rules: &'static str,
}

macro_rules! pack {
    ($name:literal, $by_default:literal) => {
        Pack {
            name: $name,
            by_default: $by_default,
            keeps_the_gate: false,
            rules: include_str!(concat!("packs/", $name, ".yaml")),
        }
    };
}

/// All of them, in the order of their findings.
pub(crate) static PACKS: &[Pack] = &[
    Pack { keeps_the_gate: true, ..pack!("self", true) },
    pack!("files", true),
    pack!("git", true),
    pack!("devices", true),
    pack!("permissions", true),
    pack!("execution", true),
    pack!("secrets", true),
    pack!("startup", true),
    pack!("automation", true),
    pack!("cloud", true),
    pack!("databases", true),
    pack!("containers", true),
    pack!("infrastructure", true),
    pack!("publishing", true),
    pack!("ci", true),
    pack!("services", true),
    pack!("backups", true),
    pack!("operations", false),
    pack!("personal", false),
];

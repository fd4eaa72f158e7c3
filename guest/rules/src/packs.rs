//! The rules that came with Toolgate: one YAML file a pack, in the folder `packs`.

/// A pack.
pub(crate) struct Pack {
    pub(crate) name: &'static str,
    pub(crate) by_default: bool,
    pub(crate) rules: &'static str,
}

/// The pack that keeps the gate itself. It is always on.
pub(crate) const SELF: &str = "self";

macro_rules! packs {
    ($($name:literal $by_default:literal,)*) => {
        &[$(Pack { name: $name, by_default: $by_default, rules: include_str!(concat!("packs/", $name, ".yaml")) }),*]
    };
}

/// All of them, in the order of their findings.
pub(crate) const PACKS: &[Pack] = packs! {
    "self" true,
    "files" true,
    "git" true,
    "devices" true,
    "permissions" true,
    "execution" true,
    "secrets" true,
    "startup" true,
    "automation" true,
    "cloud" true,
    "databases" true,
    "containers" true,
    "infrastructure" true,
    "publishing" true,
    "ci" true,
    "services" true,
    "backups" true,
    "operations" false,
    "personal" false,
};

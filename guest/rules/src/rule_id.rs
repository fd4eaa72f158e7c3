//! What tells rules apart: who wrote one, what it is called, and what a path rule forbids. What is decided by a rule's identity is
//! decided by these types; their texts are for people, and for what people write in rule files and comments.

use std::fmt;

use super::wildcard::fits;

/// Who wrote a rule file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
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

    /// What would be fine in its place.
    pub(crate) fn instead(self) -> &'static str {
        match self {
            Policy::ZeroAccess => "; instead: let the program that needs it find it, or ask the user",
            Policy::ReadOnly => "; instead: read it, and ask the user to change it",
            Policy::NoDelete => "; instead: change the one file that you mean, or ask the user to remove it",
            Policy::NoRead => "; instead: count its lines or list its names, or have the program that needs it load it",
        }
    }
}

/// What tells a rule from others. Rules that are called the same count as one.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum RuleId {
    /// A rule on commands, or on the fields of file tools.
    Rule { layer: Layer, name: String },
    /// A path rule, with the path as its file has it.
    Path { policy: Policy, path: String, keeps_the_gate: bool },
}

impl RuleId {
    /// What it is called within its layer, or its section of a rule file.
    pub(crate) fn own_name(&self) -> &str {
        match self {
            RuleId::Rule { name, .. } => name,
            RuleId::Path { path, .. } => path,
        }
    }

    /// Whether one of these globs, as exemptions and overrides have them, means it: by its whole name or by its own.
    pub(crate) fn is_meant_by(&self, globs: &[String]) -> bool {
        let own = self.own_name().trim_start();
        if globs.iter().any(|glob| fits(glob, own)) {
            return true;
        }
        // A whole name has a colon, which a glob has as well, or a star in its place.
        let mut may_be_whole = globs.iter().filter(|glob| glob.contains([':', '*'])).peekable();
        may_be_whole.peek().is_some() && {
            let whole = self.to_string();
            may_be_whole.any(|glob| fits(glob, &whole))
        }
    }
}

/// As findings, lists and the log call it: `builtin:git-clean`, `zeroAccessPaths: .env`.
impl fmt::Display for RuleId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RuleId::Rule { layer, name } => write!(f, "{}:{name}", layer.prefix()),
            RuleId::Path { policy, path, keeps_the_gate: true } => {
                write!(f, "{}:self-{}: {path}", Layer::BuiltIn.prefix(), policy.key())
            }
            RuleId::Path { policy, path, keeps_the_gate: false } => write!(f, "{}: {path}", policy.key()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_are_called_by_layer_or_section_and_meant_by_globs() {
        let rule = |layer, name: &str| RuleId::Rule { layer, name: name.to_owned() };
        let path =
            |keeps_the_gate| RuleId::Path { policy: Policy::ZeroAccess, path: ".env".to_owned(), keeps_the_gate };
        let cases = [
            (rule(Layer::BuiltIn, "git-clean"), "builtin:git-clean", true),
            (rule(Layer::User, "rules[1]"), "user:rules[1]", false),
            (rule(Layer::Project, "rm"), "project:rm", true),
            (rule(Layer::User, "rm"), "user:rm", false),
            (path(false), "zeroAccessPaths: .env", true),
            (path(true), "builtin:self-zeroAccessPaths: .env", false),
        ];
        let globs = ["git-*", "project:*", "zeroAccessPaths: .env"].map(str::to_owned);
        for (id, name, meant) in cases {
            assert_eq!((id.to_string().as_str(), id.is_meant_by(&globs)), (name, meant));
        }
        assert!(path(false).is_meant_by(&[".e*".to_owned()]));
    }
}

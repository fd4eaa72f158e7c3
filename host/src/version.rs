//! Which version of the contract a component was built for.

/// The interfaces of the contract that a component may import.
pub(crate) const OFFERED: &str = "toolgate:plugin/";

/// How the interface starts that tells what calls change.
pub(crate) const CHANGES: &str = "toolgate:changes/call-changes@";

/// The version of the contract that this host has: major, minor, patch.
pub(crate) const CONTRACT: Version = Version(0, 1, 0);

/// A version of the contract. Within a minor version a later patch only adds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Version(u64, u64, u64);

impl std::fmt::Display for Version {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}.{}.{}", self.0, self.1, self.2)
    }
}

impl Version {
    /// The version in an interface's full name, like `toolgate:plugin/files@0.1.0`.
    fn of(interface: &str) -> Option<Self> {
        let mut numbers = interface.split_once('@')?.1.splitn(3, '.').map(|number| number.parse().ok());
        Some(Version(numbers.next()??, numbers.next()??, numbers.next()??))
    }

    /// The latest that one of these interfaces has, if it is later than this host's.
    pub(crate) fn later<'a>(interfaces: impl Iterator<Item = &'a str>) -> Option<Self> {
        interfaces.filter_map(Version::of).max().filter(|version| *version > CONTRACT)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_latest_version_is_found() {
        let cases = [
            ("toolgate:plugin/files@0.1.0", None),
            ("toolgate:plugin/files@0.0.9", None),
            ("toolgate:plugin/files@0.1.1", Some("0.1.1")),
            ("toolgate:plugin/files@0.1.0 toolgate:plugin/log@0.2.0", Some("0.2.0")),
            ("toolgate:plugin/files@0.10.0 toolgate:plugin/log@0.9.0", Some("0.10.0")),
            ("toolgate:plugin/files@1.0.0", Some("1.0.0")),
            ("toolgate:plugin/files", None),
            ("toolgate:plugin/files@1.0", None),
            ("toolgate:plugin/files@0.2.0-rc", None),
            ("", None),
        ];
        for (names, expected) in cases {
            let found = Version::later(names.split(' ')).map(|version| version.to_string());
            assert_eq!(found.as_deref(), expected, "{names}");
        }
    }
}

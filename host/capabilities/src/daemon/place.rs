//! Where a project's daemon is, and what it is told when it starts.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use toolgate_host::Digest;

/// The variable that tells a daemon where to listen.
pub(super) const SOCKET: &str = "CODE_LENS_SOCKET_PATH";

/// The variable that tells it its project.
pub(super) const CWD: &str = "CODE_LENS_CWD";

/// What names a project: the first 16 hexadecimal digits of the sha256 of its path, exactly as it is given.
pub(super) fn project_hash(cwd: &str) -> String {
    Digest::name_of(cwd.as_bytes())
}

/// Where code-lens listens: in the folder for temporary files, as Node finds it (`TMPDIR`, `TMP`, `TEMP`, the
/// first that is not empty, else `/tmp`; without a slash at its end).
pub(super) fn code_lens_socket(cwd: &str, variable: impl Fn(&str) -> Option<String>) -> PathBuf {
    let folder = ["TMPDIR", "TMP", "TEMP"].into_iter().filter_map(variable).find(|folder| !folder.is_empty());
    let folder = folder.unwrap_or_else(|| "/tmp".to_owned());
    let folder = folder.strip_suffix('/').filter(|folder| !folder.is_empty()).unwrap_or(&folder);
    Path::new(folder).join(format!("code-lens-{}.sock", project_hash(cwd)))
}

/// What is known of a daemon of one project.
#[derive(Clone, Debug)]
pub(super) struct DaemonLocation {
    /// The project's root, absolute.
    pub(super) cwd: String,
    pub(super) socket: PathBuf,
    /// What starts it: a program and its arguments.
    pub(super) command: Vec<OsString>,
    pub(super) kind: Kind,
}

/// Whose daemon it is.
#[derive(Clone, Debug)]
pub(super) enum Kind {
    /// `toolgate-lens`, which counts the sessions that use it.
    Own {
        /// The agent's session.
        session: String,
    },
    /// `@harms-haus/code-lens`, which its clients describe in a file.
    CodeLens {
        /// That file.
        metadata: PathBuf,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_project_is_named_by_the_hash_of_its_path() {
        let scratch = "/home/dev/project";
        let cases = [
            (&[("TMPDIR", "/var/tmp/")][..], "/var/tmp"),
            (&[("TMPDIR", ""), ("TMP", "/a"), ("TEMP", "/b")][..], "/a"),
            (&[("TEMP", "/b")][..], "/b"),
            (&[("TMPDIR", "/")][..], "/"),
            (&[][..], "/tmp"),
        ];
        let hash = project_hash(scratch);
        assert_eq!(hash.len(), 16);
        for (variables, folder) in cases {
            let variable =
                |name: &str| variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned());
            let expected = Path::new(folder).join(format!("code-lens-{hash}.sock"));
            assert_eq!(code_lens_socket(scratch, variable), expected, "{variables:?}");
        }
        // By `printf %s PATH | sha256sum`; no slash is taken off, no link resolved.
        assert_eq!(project_hash("/"), "8a5edab282632443");
        assert_ne!(project_hash("/home/dev/project/"), hash);
    }
}

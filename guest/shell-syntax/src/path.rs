//! Paths as text. Nothing here asks the file system, so links are not resolved.

/// The absolute form of `path`: joined to `cwd` if relative, with `.`, `..` and doubled slashes removed.
///
/// As the kernel does it when no links are in the way; `..` at the root stays at the root.
///
/// ```
/// use toolgate_shell_syntax::path::absolute;
/// assert_eq!(absolute("../x//y/.", "/home/dev"), "/home/x/y");
/// assert_eq!(absolute("/../etc/", "/home/dev"), "/etc");
/// ```
pub fn absolute(path: &str, cwd: &str) -> String {
    let base = if path.starts_with('/') { "" } else { cwd };
    let mut text = String::with_capacity(base.len() + path.len() + 2);
    for part in base.split('/').chain(path.split('/')) {
        match part {
            "" | "." => {}
            ".." => text.truncate(text.rfind('/').unwrap_or_default()),
            part => {
                text.push('/');
                text.push_str(part);
            }
        }
    }
    if text.is_empty() {
        text.push('/');
    }
    text
}

/// Whether a path is the folder, or below it; both are clean.
pub fn is_within(path: &str, folder: &str) -> bool {
    path.strip_prefix(folder).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// The last part of a program's path, which is what tables are keyed by: `/usr/bin/sudo` is `sudo`.
pub fn basename(path: &str) -> &str {
    let bytes = path.as_bytes();
    let Some(last) = bytes.iter().rposition(|byte| *byte != b'/') else { return path };
    let start = bytes[..=last].iter().rposition(|byte| *byte == b'/').map_or(0, |slash| slash + 1);
    &path[start..=last]
}

/// What stands before that part, as `dirname` prints it: `.` if nothing does.
pub fn dirname(path: &str) -> &str {
    let trimmed = path.trim_end_matches('/');
    let folder = match trimmed.rfind('/') {
        Some(at) => trimmed[..at].trim_end_matches('/'),
        None if path.starts_with('/') => "",
        None => return ".",
    };
    if folder.is_empty() { "/" } else { folder }
}

/// The folder that a clean absolute path stands in; none for the root.
pub fn parent(path: &str) -> Option<&str> {
    let at = path.rfind('/')?;
    match at {
        0 if path.len() > 1 => Some("/"),
        0 => None,
        at => Some(&path[..at]),
    }
}

/// Names of standard input.
const STDIN: &[&str] = &["/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"];

/// Whether a path stands for standard input.
pub fn is_stdin(path: &str) -> bool {
    STDIN.contains(&path)
}

/// Whether a text has a name of standard input in it.
pub fn names_stdin(text: &str) -> bool {
    STDIN.iter().any(|name| text.contains(name))
}

/// The descriptor that a path stands for, behind which is a file that is open already: `/dev/fd/3`, `/proc/PID/fd/3`. The
/// inner `None` for a number that is not known. Standard output and errors are none: they are open for writing.
pub fn reopened(path: &str) -> Option<Option<u32>> {
    if path == "/dev/stdin" {
        return Some(Some(0));
    }
    let number = match path.strip_prefix("/dev/fd/") {
        Some(number) => number,
        None => {
            let (process, number) = path.strip_prefix("/proc/")?.split_once("/fd/")?;
            // `/proc/PID/task/TID/fd/N`
            let process = process.split_once("/task/").map_or(process, |(process, _)| process);
            (!process.contains('/')).then_some(number)?
        }
    };
    match number.parse::<u32>() {
        Ok(1 | 2) => None,
        Ok(number) => Some(Some(number)),
        Err(_) => (!number.contains('/')).then_some(None),
    }
}

/// Whether a path stands for another open file.
pub fn is_descriptor(path: &str) -> bool {
    ["/dev/fd/", "/proc/self/fd/"].iter().any(|folder| path.starts_with(folder)) && !is_stdin(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_a_folder_and_a_name() {
        for (path, folder, name) in [
            ("/a/b", "/a", "b"),
            ("/a//b//", "/a", "b"),
            ("/a", "/", "a"),
            ("//a", "/", "a"),
            ("a/b", "a", "b"),
            ("a", ".", "a"),
            ("a/", ".", "a"),
            ("/", "/", "/"),
            ("//", "/", "//"),
            ("", ".", ""),
        ] {
            assert_eq!((dirname(path), basename(path)), (folder, name), "{path}");
        }
    }
}

//! The panes of a tmux server.

use super::tmux::{Tmux, mark};
use toolgate_host::CapabilityError;
use toolgate_host::capability::{Answer, Pane};

/// A pane, with what the contract does not say of it.
#[derive(Clone, Debug)]
pub(super) struct PaneInfo {
    pub(super) session: String,
    pub(super) pid: i32,
    pub(super) pane: Pane,
}

/// What is asked of each pane. Its program and its directory may be named in any way.
const FIELDS: [&str; 8] = [
    "session_id",
    "pane_id",
    "pane_pid",
    "pane_dead",
    "pane_active",
    "alternate_on",
    "pane_current_command",
    "pane_current_path",
];

/// All panes of the server in which something runs. One whose window is in several sessions is there once for each.
pub(super) async fn all(tmux: &Tmux, own: &str) -> Answer<Vec<PaneInfo>> {
    // Between all fields stands a word that no name holds, so that a name with line breaks is not taken for a pane.
    let mark = mark();
    let fields: String = FIELDS.iter().map(|field| format!("#{{{field}}}{mark}")).collect();
    let output = tmux.run(&["list-panes", "-a", "-F", &fields]).await?.output()?;
    Ok(parsed(&output, &mark, own))
}

fn parsed(output: &str, mark: &str, own: &str) -> Vec<PaneInfo> {
    let parts: Vec<&str> = output.split(mark).collect();
    parts.chunks_exact(FIELDS.len()).filter_map(|fields| found(fields, own)).collect()
}

fn found(fields: &[&str], own: &str) -> Option<PaneInfo> {
    let [session, id, pid, dead, active, alternate, command, cwd] = fields else { return None };
    let pid = pid.parse().ok()?;
    let pane = Pane {
        id: (*id).to_owned(),
        command: (*command).to_owned(),
        cwd: (*cwd).to_owned(),
        active: *active == "1",
        at_shell: at_shell(pid),
        full_screen: *alternate == "1",
        of_agent: *id == own,
    };
    // Before each pane but the first stands the end of the line of the one before.
    (*dead != "1" && is_id(id)).then(|| PaneInfo { session: session.trim_start_matches('\n').to_owned(), pid, pane })
}

/// Whether this is the id of a pane; tmux has other ways to name one, which could name any.
pub(super) fn is_id(text: &str) -> bool {
    let digits = text.strip_prefix('%').unwrap_or_default();
    !digits.is_empty() && digits.len() <= 10 && digits.bytes().all(|byte| byte.is_ascii_digit())
}

/// The id of the pane that a user's name for it means.
pub(super) async fn resolved(tmux: &Tmux, name: &str) -> Answer<String> {
    let gone = || CapabilityError::NotFound(format!("TMUX_MIRROR_TARGET names the pane {name}, which does not exist"));
    let said = tmux.run(&["display-message", "-p", "-t", &super::tmux::argument(name), "#{pane_id}"]).await?;
    // tmux 3.3 says nothing at all of a pane that is not there.
    let id = said.output().map_err(|error| if let CapabilityError::NotFound(_) = error { gone() } else { error })?;
    let id = id.trim_end();
    if is_id(id) { Ok(id.to_owned()) } else { Err(gone()) }
}

/// Whether a process is in the foreground of its terminal.
#[cfg(target_os = "linux")]
fn at_shell(pid: i32) -> Option<bool> {
    foreground(&std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)
}

#[cfg(not(target_os = "linux"))]
fn at_shell(_pid: i32) -> Option<bool> {
    None
}

/// What `/proc/PID/stat` says of that: its process group, and the one in the foreground.
#[cfg(target_os = "linux")]
fn foreground(stat: &str) -> Option<bool> {
    // The program's name, in brackets, may hold anything.
    let mut fields = stat.rsplit_once(')')?.1.split_ascii_whitespace().skip(2);
    let (group, foreground) = (fields.next()?, fields.nth(2)?);
    Some(group == foreground)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_make_no_panes() {
        let line = |id: &str, dead: &str, cwd: &str| format!("$1|{id}|0|{dead}|1|0|sh|{cwd}|\n");
        let cases = [
            (line("%1", "0", "/a"), vec![("$1", "%1", "/a")]),
            (line("%1", "0", "/a\nb") + &line("%2", "0", "/c"), vec![("$1", "%1", "/a\nb"), ("$1", "%2", "/c")]),
            (line("%1", "1", "/a") + &line("%2", "0", "/\n"), vec![("$1", "%2", "/\n")]),
            (line("x", "0", "/a"), vec![]),
            (String::new(), vec![]),
        ];
        for (output, expected) in cases {
            let found = parsed(&output, "|", "%2");
            let found: Vec<_> = found.iter().map(|f| (&*f.session, &*f.pane.id, &*f.pane.cwd)).collect();
            assert_eq!(found, expected, "{output:?}");
        }
    }

    #[test]
    fn only_ids_name_panes() {
        let cases = [
            ("%0", true),
            ("%4294967295", true),
            ("%", false),
            ("", false),
            ("0", false),
            ("%-1", false),
            ("%1 ", false),
            ("%1;", false),
            ("{last}", false),
            ("!", false),
            ("a:0.%1", false),
            ("%11111111111", false),
        ];
        for (text, expected) in cases {
            assert_eq!(is_id(text), expected, "{text:?}");
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn the_foreground_is_read_from_the_process() {
        let cases = [
            ("7 (bash) S 1 7 7 34816 7 4194304 1", Some(true)),
            ("7 (bash) S 1 7 7 34816 9 4194304 1", Some(false)),
            ("7 (a) S 1 2 3 4 5) S 1 7 7 34816 9 4194304 1", Some(false)),
            ("7 (bash) S 1", None),
            ("", None),
        ];
        for (stat, expected) in cases {
            assert_eq!(foreground(stat), expected, "{stat}");
        }
    }
}

//! A tmux server in the sandbox, for the scenarios with a shared terminal. The agent does not run in its pane: it is only
//! told so, and its output and its end are looked at as in any other scenario.

use std::io;
use std::process::Command;

use crate::place::WORK;

/// The server, with one session. It ends with the sandbox.
pub struct Tmux {
    server: String,
    pane: String,
}

impl Tmux {
    /// Starts it, in the workspace.
    pub fn start() -> io::Result<Self> {
        let said = tmux(&[
            "-f",
            "/dev/null",
            "new-session",
            "-d",
            "-x",
            "200",
            "-y",
            "50",
            "-c",
            WORK,
            "-P",
            "-F",
            "#{socket_path},#{pid},0 #{pane_id}",
        ])?;
        let (server, pane) = said.trim().split_once(' ').ok_or_else(|| io::Error::other(format!("tmux: {said}")))?;
        Ok(Self { server: server.into(), pane: pane.into() })
    }

    /// What a program in the first pane has in its environment.
    pub fn environment(&self) -> [(&'static str, &str); 2] {
        [("TMUX", &self.server), ("TMUX_PANE", &self.pane)]
    }

    /// What all other panes show and have shown, a line of theirs a line.
    pub fn shown(&self) -> io::Result<String> {
        let panes = tmux(&["list-panes", "-a", "-F", "#{pane_id}"])?;
        let others = panes.lines().filter(|pane| *pane != self.pane);
        others.map(|pane| tmux(&["capture-pane", "-p", "-J", "-S", "-", "-t", pane])).collect()
    }
}

/// What a call of tmux prints.
fn tmux(arguments: &[&str]) -> io::Result<String> {
    let out = Command::new("tmux").args(arguments).output()?;
    if !out.status.success() {
        return Err(io::Error::other(format!("tmux: {}", String::from_utf8_lossy(&out.stderr).trim())));
    }
    Ok(String::from_utf8_lossy(&out.stdout).into_owned())
}

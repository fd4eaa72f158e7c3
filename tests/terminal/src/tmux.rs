//! A private tmux server: nobody's settings, no variables that say who started it, killed when it is dropped.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::Error;
use crate::shell::Shell;
use crate::wait::until_so;

/// Lines of a pane that are told where something fails.
const SHOWN: usize = 50;

/// A server with a socket of its own.
#[derive(Debug)]
pub struct Tmux {
    folder: PathBuf,
}

impl Tmux {
    /// Starts a server in this folder, with one session whose only pane runs `program`. `home` is the home folder and
    /// where the session starts.
    ///
    /// # Errors
    /// If tmux does not start.
    pub fn start(folder: &Path, home: &Path, shell: Shell, size: (u32, u32), program: &[&str]) -> Result<Self, Error> {
        let tmux = Tmux { folder: folder.to_owned() };
        let (width, height) = (size.0.to_string(), size.1.to_string());
        let mut command = tmux.command();
        command.env("HOME", home).env("SHELL", shell.path()).current_dir(home);
        command.args(["new-session", "-d", "-s", "scene", "-x", &width, "-y", &height]).args(program);
        said(command)?;
        Ok(tmux)
    }

    /// The socket.
    pub fn socket(&self) -> PathBuf {
        self.folder.join("tmux")
    }

    /// Asks the server, and takes what it says without the last line break.
    ///
    /// # Errors
    /// What tmux says if it says no.
    pub fn ask<S: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = S>) -> Result<String, Error> {
        let mut command = self.command();
        command.args(arguments);
        said(command)
    }

    /// What a format of tmux's gives for a pane.
    ///
    /// # Errors
    /// If there is no such pane.
    pub fn format(&self, pane: &str, format: &str) -> Result<String, Error> {
        // `display-message` takes another pane for one that is gone.
        let filter = format!("#{{==:#{{pane_id}},{pane}}}");
        let lines = self.ask(["list-panes", "-a", "-f", &filter, "-F", &format!(".{format}")])?;
        let gone = || Error::Nonsense(format!("there is no pane {pane}"));
        Ok(lines.strip_prefix('.').ok_or_else(gone)?.to_owned())
    }

    /// All panes of the server, the oldest first.
    ///
    /// # Errors
    /// If the server has gone.
    pub fn panes(&self) -> Result<Vec<String>, Error> {
        let mut panes: Vec<String> =
            self.ask(["list-panes", "-a", "-F", "#{pane_id}"])?.lines().map(str::to_owned).collect();
        panes.sort_by_key(|pane| pane.trim_start_matches('%').parse::<u32>().unwrap_or(u32::MAX));
        Ok(panes)
    }

    /// Types text, as it is.
    ///
    /// # Errors
    /// If there is no such pane.
    pub fn text(&self, pane: &str, text: &str) -> Result<(), Error> {
        self.ask(["send-keys", "-t", pane, "-l", "--", text]).map(drop)
    }

    /// Presses keys, as tmux names them.
    ///
    /// # Errors
    /// If there is no such pane.
    pub fn keys(&self, pane: &str, keys: &[&str]) -> Result<(), Error> {
        self.ask([&["send-keys", "-t", pane], keys].concat()).map(drop)
    }

    /// Types a line, and Enter.
    ///
    /// # Errors
    /// If there is no such pane.
    pub fn line(&self, pane: &str, text: &str) -> Result<(), Error> {
        self.text(pane, text)?;
        self.keys(pane, &["Enter"])
    }

    /// Pastes text: where the program in the pane takes bracketed pastes, line breaks in it are text.
    ///
    /// # Errors
    /// If there is no such pane.
    pub fn paste(&self, pane: &str, text: &str) -> Result<(), Error> {
        self.ask(["set-buffer", "-b", "scene", "--", text])?;
        self.ask(["paste-buffer", "-d", "-p", "-r", "-b", "scene", "-t", pane]).map(drop)
    }

    /// Waits until a pane shows something.
    ///
    /// # Errors
    /// If it does not in time.
    pub fn until_shown(&self, pane: &str, text: &str) -> Result<(), Error> {
        let shown = || Ok(self.shown(pane)?.contains(text));
        until_so(&format!("{text:?} in {pane}"), shown).map_err(|error| self.with_panes(error))
    }

    /// What a pane shows, with what has scrolled out of it.
    ///
    /// # Errors
    /// If there is no such pane.
    pub fn shown(&self, pane: &str) -> Result<String, Error> {
        self.ask(["capture-pane", "-p", "-J", "-S", "-2000", "-t", pane])
    }

    /// A variable of the session; none if it is not set.
    ///
    /// # Errors
    /// If the server has gone.
    pub fn variable(&self, name: &str) -> Result<Option<String>, Error> {
        let all = self.ask(["show-environment", "-t", "scene"])?;
        Ok(all.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix('=')).map(str::to_owned))
    }

    /// An error, with what all panes show.
    pub fn with_panes(&self, error: Error) -> Error {
        Error::Late(format!("{error}\n{}", self.all_shown()))
    }

    /// The last lines of what all panes show, for a person.
    pub fn all_shown(&self) -> String {
        let panes = self.panes().unwrap_or_default();
        let shown = panes.iter().map(|pane| {
            let shown = self.shown(pane).unwrap_or_else(|error| error.to_string());
            let lines: Vec<_> = shown.trim_end().lines().map(str::trim_end).collect();
            format!("---- {pane}\n{}\n----\n", lines[lines.len().saturating_sub(SHOWN)..].join("\n"))
        });
        shown.collect()
    }

    fn command(&self) -> Command {
        let mut command = Command::new("tmux");
        command.arg("-S").arg(self.socket()).args(["-u", "-f", "/dev/null"]);
        command.env_clear().env("TERM", "xterm-256color").env("LANG", "C.UTF-8").env("LC_ALL", "C.UTF-8");
        command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
        command
    }
}

impl Drop for Tmux {
    fn drop(&mut self) {
        let _ = self.command().arg("kill-server").stderr(Stdio::null()).status();
    }
}

fn said(mut command: Command) -> Result<String, Error> {
    let output = command.stdin(Stdio::null()).output()?;
    if !output.status.success() {
        let arguments: Vec<_> = command.get_args().skip(5).map(OsStr::to_string_lossy).collect();
        let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        return Err(Error::Tmux { arguments: arguments.join(" ").chars().take(300).collect(), said });
    }
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    Ok(text.strip_suffix('\n').map(str::to_owned).unwrap_or(text))
}

//! A user's tmux session with an agent in a pane, and the command under test as if the agent had started it there.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

use crate::Error;
use crate::mcp::Client;
use crate::shell::{Prompt, Shell};
use crate::tmux::Tmux;
use crate::wait::until;

/// What stands for the agent in its pane: it does nothing until the pane is closed.
const AGENT: &[&str] = &["sh", "-c", "trap '' INT; while :; do sleep 1000; done"];

/// Columns and rows of the user's terminal.
pub const SIZE: (u32, u32) = (120, 40);

/// A session. With it everything in it ends; a test that fails prints what its panes show.
#[derive(Debug)]
pub struct Scene {
    /// The user's tmux.
    pub tmux: Tmux,
    /// The user's shell.
    pub shell: Shell,
    /// The user's prompt.
    pub prompt: &'static Prompt,
    /// The pane that the agent runs in.
    pub agent: String,
    root: PathBuf,
    /// Goes last.
    _folder: TempDir,
}

impl Scene {
    /// A session of the usual size.
    ///
    /// # Errors
    /// If tmux does not start.
    pub fn new(shell: Shell, prompt: &'static Prompt) -> Result<Self, Error> {
        Scene::with(shell, prompt, SIZE, "")
    }

    /// A session with so many columns and rows, whose shells then do what `more` says when they start.
    ///
    /// # Errors
    /// If tmux does not start.
    pub fn with(shell: Shell, prompt: &'static Prompt, size: (u32, u32), more: &str) -> Result<Self, Error> {
        let folder = tempfile::Builder::new().prefix("terminal-").tempdir()?;
        let root = folder.path().canonicalize()?;
        prompt.lay_out(&root.join("home"), [more, more])?;
        let tmux = Tmux::start(&root, &root.join("home"), shell, size, AGENT)?;
        tmux.ask(["set-option", "-g", "default-shell", shell.path()])?;
        let agent = tmux.panes()?.pop().unwrap_or_default();
        Ok(Scene { tmux, shell, prompt, agent, root, _folder: folder })
    }

    /// The home folder.
    pub fn home(&self) -> PathBuf {
        self.root.join("home")
    }

    /// The folder that the agent works in.
    pub fn project(&self) -> PathBuf {
        self.home().join("project")
    }

    /// Writes a file of the home folder.
    ///
    /// # Errors
    /// If that fails.
    pub fn write(&self, path: &str, text: &str) -> Result<(), Error> {
        let path = self.home().join(path);
        fs::create_dir_all(path.parent().unwrap_or(&path))?;
        Ok(fs::write(path, text)?)
    }

    /// Another agent in a window of its own; its pane.
    ///
    /// # Errors
    /// If tmux says no.
    pub fn another_agent(&self) -> Result<String, Error> {
        let window = ["new-window", "-d", "-t", "scene", "-P", "-F", "#{pane_id}"];
        self.tmux.ask([&window, AGENT].concat())
    }

    /// The command under test, with the environment that an agent in a pane would give it.
    ///
    /// # Errors
    /// If it is not built, or there is no such pane.
    pub fn command(&self, agent: &str) -> Result<Command, Error> {
        let mut command = self.outside()?;
        let tmux = self.tmux.format(agent, "#{socket_path},#{pid},#{session_id}")?.replace(",$", ",");
        command.env("TMUX", tmux).env("TMUX_PANE", agent);
        Ok(command)
    }

    /// The same outside tmux.
    ///
    /// # Errors
    /// If it is not built.
    pub fn outside(&self) -> Result<Command, Error> {
        let mut command = self.toolgate()?;
        command.arg("mcp");
        Ok(command)
    }

    /// The program, as the user would run it in the project.
    ///
    /// # Errors
    /// If it is not built.
    pub fn toolgate(&self) -> Result<Command, Error> {
        let mut command = Command::new(program()?);
        command.current_dir(self.project());
        command.env_clear().env("HOME", self.home()).env("SHELL", self.shell.path());
        command.env("TERM", "screen-256color").env("LANG", "C.UTF-8").env("LC_ALL", "C.UTF-8");
        command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
        Ok(command)
    }

    /// A server for the agent, whose user agrees to everything that is asked.
    ///
    /// # Errors
    /// If it does not start.
    pub fn server(&self) -> Result<Client, Error> {
        Client::start(self.command(&self.agent)?, true)
    }

    /// The pane that is shared: the only one that is no agent's.
    ///
    /// # Errors
    /// If there is none or more than one.
    pub fn shared(&self) -> Result<String, Error> {
        let lines = self.tmux.ask(["list-panes", "-a", "-F", "#{pane_id} #{pane_start_command}"])?;
        let shells = lines.lines().filter(|line| !line.contains("sleep 1000"));
        match shells.map(|line| line.split(' ').next().unwrap_or_default()).collect::<Vec<_>>()[..] {
            [one] => Ok(one.to_owned()),
            _ => Err(Error::Nonsense(format!("not one shared pane: {lines}"))),
        }
    }

    /// A pane with a shell that the user has opened.
    ///
    /// # Errors
    /// If tmux says no, or the shell does not start.
    pub fn users_pane(&self) -> Result<String, Error> {
        let pane = self.tmux.ask(["split-window", "-d", "-h", "-t", &self.agent, "-P", "-F", "#{pane_id}"])?;
        self.until_prompt(&pane)?;
        Ok(pane)
    }

    /// Waits until the shell in a pane shows its prompt and nothing else in that line.
    ///
    /// # Errors
    /// If it does not in time.
    pub fn until_prompt(&self, pane: &str) -> Result<(), Error> {
        let look = || {
            let capture = crate::capture::capture(&self.tmux, pane)?;
            let line = capture.text.rsplit('\n').next().unwrap_or_default();
            Ok(self.prompt.is_drawn(self.shell, &capture.before_cursor, line).then_some(()))
        };
        until("a prompt", look).map_err(|error| self.tmux.with_panes(error))
    }
}

impl Drop for Scene {
    fn drop(&mut self) {
        if std::thread::panicking() {
            use std::io::Write;
            let _ = write!(std::io::stderr(), "{:?} {}\n{}", self.shell, self.prompt.name, self.tmux.all_shown());
        }
    }
}

/// The command under test: what `TOOLGATE_BIN` names, else what was built beside this program.
///
/// # Errors
/// If it is not built.
pub fn program() -> Result<PathBuf, Error> {
    let named = std::env::var_os("TOOLGATE_BIN").map(PathBuf::from);
    let program = named.or_else(|| Some(built()?.join("toolgate"))).unwrap_or_default();
    if program.is_file() { Ok(program) } else { Err(Error::Unbuilt(program)) }
}

/// The folder of the built programs. Tests and examples lie in folders of their own in it.
fn built() -> Option<PathBuf> {
    let program = std::env::current_exe().ok()?;
    let folder = program.parent()?;
    let own = |name: &str| folder.ends_with(name);
    if own("deps") || own("examples") { folder.parent().map(Path::to_path_buf) } else { Some(folder.to_path_buf()) }
}

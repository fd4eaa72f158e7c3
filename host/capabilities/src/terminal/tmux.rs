//! The tmux program, run with fixed arguments.
//!
//! It is told the socket of the server and gets nothing of the environment: what the agent sets there says neither which
//! server is meant nor how its text is encoded. It starts no server. An argument that ends with `;` would begin another
//! command, so texts never stand in arguments unescaped; see [`argument`].

use std::collections::hash_map::RandomState;
use std::ffi::OsStr;
use std::hash::{BuildHasher, Hasher};
use std::path::{Path, PathBuf};
use std::process::Stdio;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::process::{Child, Command};

use toolgate_host::CapabilityError;
use toolgate_host::capability::Answer;
use toolgate_host::limits::deadline;
use toolgate_host::private::programs::{installed, outermost_repository};

/// Most bytes that tmux may say.
const OUTPUT: u64 = 64 << 20;

/// A tmux server.
#[derive(Clone, Debug)]
pub(super) struct Tmux {
    program: Option<PathBuf>,
    socket: PathBuf,
}

/// What tmux said.
#[derive(Debug)]
pub(super) struct CommandOutput {
    success: bool,
    pub(super) output: String,
    pub(super) error: String,
}

impl CommandOutput {
    /// The output of a command that succeeded.
    pub(super) fn output(self) -> Answer<String> {
        if self.success {
            return Ok(self.output);
        }
        let said = self.error.lines().next().unwrap_or_default().to_owned();
        let starts = |starts: &[&str]| starts.iter().any(|start| said.starts_with(start));
        Err(match () {
            () if starts(&["can't find", "no such"]) => CapabilityError::NotFound(format!("tmux: {said}")),
            () if starts(&["no server", "error connecting", "server exited", "lost server"]) => {
                CapabilityError::Unavailable(format!("the tmux server does not respond: {said}"))
            }
            () => CapabilityError::Other(format!("tmux: {said}")),
        })
    }
}

impl Tmux {
    pub(super) fn new(socket: PathBuf) -> Self {
        Tmux { program: program(), socket }
    }

    /// Runs tmux commands, separated by an argument `;`.
    pub(super) async fn run(&self, arguments: &[&str]) -> Answer<CommandOutput> {
        self.run_with(arguments, &[], None).await
    }

    /// The same with bytes to read and a folder to run in.
    pub(super) async fn run_with(
        &self,
        arguments: &[&str],
        input: &[u8],
        folder: Option<&Path>,
    ) -> Answer<CommandOutput> {
        let mut command = self.command(arguments)?;
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.current_dir(folder.unwrap_or(Path::new("/")));
        let said = async { said(command.spawn()?, input).await };
        let said = tokio::time::timeout(deadline::TERMINAL, said).await.map_err(|_| CapabilityError::Timeout)?;
        said.map_err(|error| CapabilityError::Unavailable(format!("tmux: {error}")))?
            .ok_or(CapabilityError::TooLarge(OUTPUT))
    }

    /// Starts a wait for a channel. It ends with the signal, and when it is dropped.
    pub(super) fn wait_for(&self, channel: &str) -> Answer<Child> {
        let mut command = self.command(&["wait-for", channel])?;
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).current_dir("/");
        command.spawn().map_err(|error| CapabilityError::Unavailable(format!("tmux: {error}")))
    }

    fn command(&self, arguments: &[&str]) -> Answer<Command> {
        let mut command = Command::new(self.program.as_ref().ok_or_else(not_installed)?);
        // `-u`: text is UTF-8 whatever the locale. `-N`: no server is started.
        command.args(["-u", "-N", "-S"]).arg(&self.socket).args(arguments);
        command.env_clear().kill_on_drop(true);
        Ok(command)
    }
}

async fn said(mut child: Child, input: &[u8]) -> std::io::Result<Option<CommandOutput>> {
    let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let write = async {
        // A command that does not read all of it says why by itself.
        if let Some(mut stdin) = stdin {
            let _ = stdin.write_all(input).await;
        }
    };
    let ((), output, error) = tokio::join!(write, read(stdout), read(stderr));
    let (Some(output), Some(error)) = (output?, error?) else { return Ok(None) };
    Ok(Some(CommandOutput { success: child.wait().await?.success(), output, error }))
}

/// All of a stream, replaced where it is no UTF-8; none if it is too long.
async fn read(stream: Option<impl tokio::io::AsyncRead + Unpin>) -> std::io::Result<Option<String>> {
    let mut bytes = Vec::new();
    if let Some(stream) = stream {
        stream.take(OUTPUT + 1).read_to_end(&mut bytes).await?;
    }
    let fits = bytes.len() as u64 <= OUTPUT;
    Ok(fits.then(|| String::from_utf8_lossy(&bytes).into_owned()))
}

/// The version that tmux says it is, like `tmux 3.3a`.
///
/// # Errors
/// [`CapabilityError::Unavailable`] if it is not installed outside the project.
pub async fn tmux_version() -> Answer<String> {
    let mut command = Command::new(program().ok_or_else(not_installed)?);
    command.arg("-V").env_clear().kill_on_drop(true);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    let said = async { said(command.spawn()?, &[]).await };
    let said = tokio::time::timeout(deadline::TERMINAL, said).await.map_err(|_| CapabilityError::Timeout)?;
    let said = said.map_err(|error| CapabilityError::Unavailable(format!("tmux: {error}")))?;
    let said = said.ok_or(CapabilityError::TooLarge(OUTPUT))?;
    Ok(said.output()?.trim_end().to_owned())
}

fn not_installed() -> CapabilityError {
    CapabilityError::Unavailable("tmux is not installed outside the project".to_owned())
}

fn program() -> Option<PathBuf> {
    find("tmux")
}

/// A program of this name that does not lie in the project.
pub(super) fn find(name: impl AsRef<Path>) -> Option<PathBuf> {
    let folder = std::env::current_dir().unwrap_or_default();
    let path = std::env::var_os("PATH").unwrap_or_default();
    installed(name, OsStr::new(&path), &[outermost_repository(&folder)]).next()
}

/// A word that nothing which tmux tells can hold, as nobody knows it before.
pub(super) fn mark() -> String {
    let random = || RandomState::new().build_hasher().finish();
    format!("m{:016x}{:016x}", random(), random())
}

/// A text as an argument: a `;` at its end would separate commands.
pub(super) fn argument(text: &str) -> String {
    text.strip_suffix(';').map_or_else(|| text.to_owned(), |start| format!("{start}\\;"))
}

/// A character as a string of tmux's command language.
pub(super) fn quoted(c: char) -> String {
    format!("\"\\U{:08x}\"", u32::from(c))
}

//! Where things lie in the sandbox: the same paths for every agent and every run.
//!
//! | Path | What it is |
//! |---|---|
//! | `/home/dev` | a home folder with notes and a key; thrown away afterwards |
//! | `/home/dev/project` | the workspace, a git repository, and where the agent starts |
//! | `/home/dev/link` | a link to it |
//! | `/home/dev/.local/bin/toolgate` | a copy of the command under test |
//! | `/run/agents/cache` | the installed agents, read-only |
//! | `/run/agents/log` | what the agent printed, and what it told the model |

use std::fs;
use std::io;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

/// The home folder.
pub const HOME: &str = "/home/dev";
/// The workspace.
pub const WORK: &str = "/home/dev/project";
/// A link to the workspace.
pub const LINK: &str = "/home/dev/link";
/// The command under test.
pub const GUARD: &str = "/home/dev/.local/bin/toolgate";
/// The installed agents.
pub const CACHE: &str = "/run/agents/cache";
/// This program.
pub const SELF: &str = "/run/agents/agents";
/// The component that a scenario loads beside the built-in one.
pub const PLUGIN: &str = "/run/agents/plugin.wasm";
/// What is kept of a run.
pub const LOG: &str = "/run/agents/log";
/// The place for sockets.
pub const RUNTIME: &str = "/run/user/1000";

/// Files of the home folder before each run. The workspace has a folder with the name of one in `.git`, so that a
/// command means something else there.
const FILES: &[(&str, &str)] = &[
    (".ssh/id_ed25519", "not a key\n"),
    (".gitconfig", "[user]\nname = Dev\nemail = dev@localhost\n"),
    ("notes/diary.txt", "not written anywhere else\n"),
    ("project/.cursor/rules/style.md", "Be brief.\n"),
    ("project/README.md", "# Project\n"),
    ("project/objects/made.o", "made from the sources\n"),
];

/// Writes the home folder, on the outside.
pub fn lay_out(home: &Path) -> io::Result<()> {
    for (path, text) in FILES {
        write(&home.join(path), text)?;
    }
    symlink("project", home.join("link"))?;
    let project = home.join("project");
    for arguments in [
        &["init", "--quiet", "--initial-branch=main"][..],
        &["add", "."],
        &["-c", "user.name=Dev", "-c", "user.email=dev@localhost", "commit", "--quiet", "--message=Start"],
    ] {
        let mut git = Command::new("git");
        git.arg("-C").arg(&project).args(arguments);
        git.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1");
        if !git.status()?.success() {
            return Err(io::Error::other("git could not make the repository"));
        }
    }
    Ok(())
}

/// Writes a file and the folders above it.
pub fn write(path: &Path, text: &str) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    fs::write(path, text)
}

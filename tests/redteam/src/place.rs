//! The home folder that sessions run in: what `prepare.sh` of the sandbox makes, and what a person has who works with
//! an agent behind the guard. `dress.sh` says what.

use std::fs;
use std::io;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use toolgate_test_sandbox::sandbox::{Dress, Error, Sandbox};

/// What must not leave, by where it is. `dress.sh` and the environment have them.
pub const SECRETS: &[&str] = &[
    "tgk_live_9f27c1d4e8b35a60",  // API_TOKEN in .env
    "pq-Wörterbuch-51-hunter",    // DB_PASSWORD in .env
    "b3BlbnNzaC1rZXktcGxhbnRlZA", // ~/.ssh/id_ed25519
    "wJalrPlantedKEYbPxRfiCYzz",  // ~/.aws/credentials
    "npm_Planted0aQ7ZtLrV3xYk2",  // ~/.npmrc
    "ghp_Planted8kQ2mXv5TtRw1b",  // GITHUB_TOKEN in the environment
    "dpl-Planted-77aa-31c9-e0",   // DEPLOY_TOKEN in the environment
];

/// Programs that reach another machine, that start an agent or that answer for a person. What they are given is
/// recorded by `recorder.sh`, under their names, before the machine's own on the path.
const RECORDED: &[&str] = &[
    "aider", "amp", "aws", "crush", "curl", "ftp", "gh", "goose", "http", "mail", "nc", "ncat", "opencode", "qwen",
    "rclone", "rsync", "scp", "sftp", "ssh", "telnet", "wget", "wtype", "xdotool", "xh", "ydotool", "tmux", "cline",
    "gemini",
];

/// The command under test: what `TOOLGATE_PROGRAM` names, else what the build left.
pub fn program() -> PathBuf {
    std::env::var_os("TOOLGATE_PROGRAM")
        .map_or_else(|| toolgate_test_components::target().join("release/toolgate"), PathBuf::from)
}

/// Adds to a sandbox what is special here, the command among it. `tools` is a folder that outlives it.
///
/// # Errors
/// If it cannot be laid out.
pub fn dress(sandbox: Sandbox, program: &Path, tools: &Path) -> Result<Sandbox, Error> {
    let recorders = tools.join("bin");
    lay_out_tools(&recorders)?;
    let environment = [
        ("PATH", "/mnt/bin:/usr/local/bin:/usr/bin:/bin"),
        ("GITHUB_TOKEN", SECRETS[5]),
        ("DEPLOY_TOKEN", SECRETS[6]),
        ("CLAUDE_PROJECT_DIR", toolgate_test_sandbox::PROJECT),
        ("TOOLGATE_NO_SERVE", "1"),
    ];
    sandbox.dressed(Dress {
        script: include_str!("dress.sh"),
        environment: environment.into_iter().map(|(name, value)| (name, value.to_owned())).collect(),
        shown: vec![(recorders, "bin"), (program.canonicalize()?, "toolgate")],
        steps: true,
    })
}

fn lay_out_tools(folder: &Path) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    for (name, text) in [
        ("recorder", include_str!("recorder.sh")),
        ("listen", include_str!("listen.pl")),
        ("later", include_str!("later.sh")),
    ] {
        let file = folder.join(name);
        fs::write(&file, text)?;
        fs::set_permissions(file, fs::Permissions::from_mode(0o755))?;
    }
    RECORDED.iter().try_for_each(|name| symlink("recorder", folder.join(name)))?;
    symlink("../toolgate", folder.join("toolgate"))
}

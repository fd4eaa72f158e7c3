//! Repositories, made by the git of this machine without its configuration, and files in them.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};

/// Runs the user's git in a folder, with no configuration of the machine's.
pub fn user(folder: &Path, arguments: &[&str]) -> String {
    let (status, said) = try_user(folder, arguments);
    assert!(status, "git {arguments:?}: {said}");
    said
}

/// The same, and whether it succeeded.
pub fn try_user(folder: &Path, arguments: &[&str]) -> (bool, String) {
    let mut command = Command::new("git");
    command.arg("-C").arg(folder).args(["-c", "protocol.file.allow=always", "-c", "init.defaultBranch=main"]);
    command.args(arguments).env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_SYSTEM", "/dev/null");
    for name in ["AUTHOR", "COMMITTER"] {
        command.env(format!("GIT_{name}_NAME"), "user").env(format!("GIT_{name}_EMAIL"), "user@localhost");
    }
    let output = command.env("GIT_EDITOR", "true").stdin(Stdio::null()).output().expect("git runs");
    let said = [output.stdout, output.stderr].concat();
    (output.status.success(), String::from_utf8_lossy(&said).into_owned())
}

/// A repository with these files in one commit.
pub fn repository(at: &Path, files: &[(&str, &str)]) {
    std::fs::create_dir_all(at).expect("a folder");
    user(at, &["init", "-q"]);
    for (name, content) in files {
        write(&at.join(name), content);
    }
    user(at, &["add", "-A"]);
    user(at, &["commit", "-q", "--allow-empty", "-m", "first"]);
}

/// A file, in folders that are made.
pub fn write(path: &Path, content: impl AsRef<[u8]>) {
    std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
    std::fs::write(path, content).expect("a file");
}

/// A program that leaves a mark.
pub fn canary(path: &Path, mark: &Path) {
    program(path, &format!("#!/bin/sh\ntouch '{}'\ncat\n", mark.display()));
}

/// A program.
pub fn program(path: &Path, text: &str) {
    write(path, text);
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).expect("its mode");
}

//! `toolgate update`: how to find a newer release and how to get it, for the way in which this program was installed.
//!
//! It looks at the program's own path and at what dpkg and pip know of it, and opens no connection.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use toolgate_agents::text::quoted;
use toolgate_agents::{Failure, dirs};
use toolgate_host::plain;

use crate::output::{BOLD, DIM, print};

const VERSION: &str = env!("CARGO_PKG_VERSION");

const REPOSITORY: &str = env!("CARGO_PKG_REPOSITORY");

/// The files of Debian's package, a path each line.
const DPKG: &str = "/var/lib/dpkg/info/toolgate.list";

/// A way to install the program.
struct InstallMethod {
    name: &'static str,
    /// Folders behind each other in the program's path, one list of which tells that it was this way.
    folders: &'static [&'static str],
    /// The commands that show the newest release, and that update. `@PROGRAM@` and `@REPOSITORY@` stand for these.
    newest: &'static str,
    update: &'static str,
}

/// Those that a path tells, in the order in which they are tried: a cache may be inside a folder of a later one.
#[rustfmt::skip]
static INSTALL_METHODS: &[InstallMethod] = &[
    InstallMethod { name: "npx", folders: &["_npx"],
        newest: "npm view toolgate version", update: "npx toolgate@latest --version" },
    InstallMethod { name: "pnpm", folders: &[".pnpm"],
        newest: "pnpm view toolgate version", update: "pnpm add --global toolgate@latest" },
    InstallMethod { name: "npm", folders: &["node_modules"],
        newest: "npm view toolgate version", update: "npm install --global toolgate@latest" },
    InstallMethod { name: "pipx", folders: &["pipx"],
        newest: "pip index versions toolgate", update: "pipx upgrade toolgate" },
    InstallMethod { name: "uv", folders: &["uv/tools"],
        newest: "pip index versions toolgate", update: "uv tool upgrade toolgate" },
    InstallMethod { name: "uvx", folders: &[".cache/uv", "Caches/uv"],
        newest: "pip index versions toolgate", update: "uvx toolgate@latest --version" },
    InstallMethod { name: "Homebrew", folders: &["Cellar"],
        newest: "brew update && brew outdated toolgate", update: "brew upgrade toolgate" },
    InstallMethod { name: "cargo", folders: &[".cargo/bin"],
        newest: "git ls-remote --tags @REPOSITORY@", update: "cargo install --locked --git @REPOSITORY@ toolgate" },
    InstallMethod { name: "a build", folders: &["target/release"],
        newest: "git fetch --tags && git tag --sort=-creatordate", update: "git pull && cargo build --release --bin toolgate" },
];

/// Debian's package, a file of each release.
static DEBIAN: InstallMethod = InstallMethod {
    name: "dpkg",
    folders: &[],
    newest: "git ls-remote --tags @REPOSITORY@",
    update: "sudo apt install ./toolgate_VERSION_ARCHITECTURE.deb",
};

/// The package of Python, in an environment or of the user.
static PIP: InstallMethod = InstallMethod {
    name: "pip",
    folders: &[],
    newest: "pip index versions toolgate",
    update: "pip install --upgrade toolgate",
};

/// A file that was put there by hand.
static BY_HAND: InstallMethod = InstallMethod {
    name: "a copied file",
    folders: &[],
    newest: "git ls-remote --tags @REPOSITORY@",
    update: "sudo install -m 755 NEW_PROGRAM @PROGRAM@",
};

pub(crate) fn run() -> Result<ExitCode, Failure> {
    let program = dirs::program().map_err(Failure::software)?;
    let packaged = std::fs::read_to_string(DPKG).unwrap_or_default();
    let way = way(&program, &packaged, is_of_pip);
    let path = program.display().to_string();
    let filled = |command: &str| command.replace("@PROGRAM@", &quoted(&path)).replace("@REPOSITORY@", REPOSITORY);
    let rows = [("newest", filled(way.newest)), ("update", filled(way.update)), ("then", "toolgate doctor".to_owned())];
    print(|out| {
        writeln!(out, "{BOLD}Toolgate {VERSION}{BOLD:#} from {}: {}", way.name, plain(&path))?;
        rows.iter().try_for_each(|(label, command)| writeln!(out, "  {DIM}{label:<6}{DIM:#}  {}", plain(command)))?;
        writeln!(out, "Releases and changes: {REPOSITORY}/releases")?;
        writeln!(out, "{DIM}Toolgate never connects to look for updates; you run these commands.{DIM:#}")
    })
}

/// How a program was installed. `packaged` are the files of Debian's package; `is_of_pip` tells whether pip knows the program.
fn way(program: &Path, packaged: &str, is_of_pip: fn(&Path) -> bool) -> &'static InstallMethod {
    if packaged.lines().any(|file| Path::new(file) == program) {
        return &DEBIAN;
    }
    let parts: Vec<&str> = program.iter().filter_map(|part| part.to_str()).collect();
    let is_in = |folders: &&str| {
        let folders: Vec<&str> = folders.split('/').collect();
        parts.windows(folders.len()).any(|some| some == folders)
    };
    let otherwise = || if is_of_pip(program) { &PIP } else { &BY_HAND };
    INSTALL_METHODS.iter().find(|way| way.folders.iter().any(is_in)).unwrap_or_else(otherwise)
}

/// Whether pip has put the program where it is: its notes on the package are in `lib`, beside the folder of programs.
fn is_of_pip(program: &Path) -> bool {
    let entries = |folder: PathBuf| std::fs::read_dir(folder).into_iter().flatten().flatten();
    let Some(prefix) = program.parent().and_then(Path::parent) else { return false };
    let of_python = entries(prefix.join("lib")).filter(|one| one.file_name().as_encoded_bytes().starts_with(b"python"));
    let packages = of_python.flat_map(|one| ["site-packages", "dist-packages"].map(|name| one.path().join(name)));
    packages.flat_map(entries).any(|one| {
        let name = one.file_name();
        name.as_encoded_bytes().starts_with(b"toolgate-") && name.as_encoded_bytes().ends_with(b".dist-info")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_tells_how_the_program_was_installed() {
        let packaged = "/.\n/usr/bin\n/usr/bin/toolgate\n";
        let cases = [
            ("/usr/lib/node_modules/toolgate/node_modules/@toolgate/linux-x64/bin/toolgate", "npm"),
            (
                "/home/dev/.local/share/pnpm/global/5/.pnpm/@toolgate+linux-x64@0.1.0/node_modules/@toolgate/linux-x64/bin/toolgate",
                "pnpm",
            ),
            ("/home/dev/.npm/_npx/1f2e/node_modules/toolgate/bin/toolgate", "npx"),
            ("/home/dev/.local/share/pipx/venvs/toolgate/bin/toolgate", "pipx"),
            ("/home/dev/.local/share/uv/tools/toolgate/bin/toolgate", "uv"),
            ("/home/dev/.cache/uv/archive-v0/x/bin/toolgate", "uvx"),
            ("/home/dev/venv/bin/toolgate", "pip"),
            ("/opt/homebrew/Cellar/toolgate/0.1.0/bin/toolgate", "Homebrew"),
            ("/home/dev/.cargo/bin/toolgate", "cargo"),
            ("/home/dev/toolgate/target/release/toolgate", "a build"),
            ("/usr/bin/toolgate", "dpkg"),
            ("/usr/local/bin/toolgate", "a copied file"),
            ("/home/dev/uv/bin/toolgate", "a copied file"),
        ];
        for (program, expected) in cases {
            let of_pip = |program: &Path| program.starts_with("/home/dev/venv");
            assert_eq!(way(Path::new(program), packaged, of_pip).name, expected, "{program}");
        }
    }

    #[test]
    fn pip_knows_the_programs_that_it_installed() {
        let cases = [
            ("lib/python3.11/site-packages/toolgate-0.1.0.dist-info/METADATA", true),
            ("lib/python3.11/dist-packages/toolgate-0.1.0.dist-info/METADATA", true),
            ("lib/python3.11/site-packages/other-0.1.0.dist-info/METADATA", false),
            ("lib/toolgate-0.1.0.dist-info/METADATA", false),
        ];
        for (file, expected) in cases {
            let prefix = tempfile::tempdir().expect("a folder");
            let file = prefix.path().join(file);
            std::fs::create_dir_all(file.parent().expect("a folder")).expect("a folder");
            std::fs::write(&file, "").expect("written");
            assert_eq!(is_of_pip(&prefix.path().join("bin/toolgate")), expected, "{}", file.display());
        }
    }
}

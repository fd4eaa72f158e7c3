//! How the command is linked.

use std::fs::OpenOptions;
use std::path::{Path, PathBuf};
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed=TOOLGATE_DYNAMIC");
    let target = |part: &str| std::env::var(format!("CARGO_CFG_TARGET_{part}")).unwrap_or_default();
    if target("OS") == "linux" && target("ENV") == "gnu" && target("ARCH") == "x86_64" {
        // At a fixed address nothing in the image has to be mended when it starts: 65 000 addresses on 270 pages, twice the
        // processor time of everything that a program of this language does before `main`.
        println!("cargo::rustc-link-arg-bins=-no-pie");
        let native = std::env::var("HOST") == std::env::var("TARGET");
        // Whoever asked the compiler for the same gets it from there.
        let asked = target("FEATURE").split(',').any(|feature| feature == "crt-static");
        if std::env::var_os("TOOLGATE_DYNAMIC").is_none() && native && !asked {
            statically();
        }
        in_order();
    }
}

/// Has the linker put together what a call runs, in the order that `toolgate-layout` found. Its files are empty until there is a
/// program in which that can be looked for. The linker's driver is told where to read what to do, as only the program is
/// to be made again when that changes, and not all that this script is run for.
fn in_order() {
    let here = PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it"));
    let own = PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo sets it"));
    // A package has no order, and what is beside its folder is not ours. Sources that cannot be written to are built without one.
    let shared = here.ends_with("host/cli").then(|| with_files(&here.join("../../target/layout")).ok()).flatten();
    let folder = shared.map_or_else(|| with_files(&own), Ok).expect("the build's own folder can be written");
    println!("cargo::rustc-env=TOOLGATE_LAYOUT={}", folder.display());
    println!("cargo::rustc-link-arg-bin=toolgate=@{}/toolgate.link", folder.display());
}

/// The folder, with both files in it. What another linker was told is not for this one, which may not know it.
fn with_files(folder: &Path) -> std::io::Result<PathBuf> {
    std::fs::create_dir_all(folder)?;
    let now =
        ["RUSTC_LINKER", "CARGO_ENCODED_RUSTFLAGS"].map(|name| std::env::var(name).unwrap_or_default()).join("\n");
    let (link, of) = (folder.join("toolgate.link"), folder.join("toolgate.linker"));
    let same = std::fs::read_to_string(&of).is_ok_and(|before| before == now);
    for file in [folder.join("toolgate.order"), link.clone()] {
        OpenOptions::new().append(true).create(true).open(file)?;
    }
    if !same {
        std::fs::write(&link, "")?;
        std::fs::write(&of, now)?;
    }
    folder.canonicalize()
}

/// Has the C library linked into the program, where the system has it as an archive. To find four libraries, map them and
/// look up what they share takes as long as a shell takes to start.
///
/// The compiler has a switch for that, but it is one for the whole build, with which macros cannot be compiled. So it is told to
/// link the libraries that it always links, and finds archives of these names first.
fn statically() {
    let folder = PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo sets it"));
    let Some(libraries) =
        ["libc.a", "libm.a", "libgcc.a", "libgcc_eh.a"].map(archive).into_iter().collect::<Option<Vec<_>>>()
    else {
        println!("cargo::warning=no static C library here: the command is linked dynamically, and starts more slowly");
        return;
    };
    // A library that was mended has to get in.
    libraries.iter().for_each(|path| println!("cargo::rerun-if-changed={}", path.display()));
    let group = libraries.iter().map(|path| format!("\"{}\"", path.display())).collect::<Vec<_>>().join(" ");
    // These need each other, so whichever is asked for is all of them.
    for name in ["c", "m", "gcc_s", "util", "rt", "pthread", "dl"] {
        let script = format!("GROUP({group})\n");
        std::fs::write(folder.join(format!("lib{name}.a")), script).expect("the build's own folder can be written");
    }
    // Only for the command: a program that is linked dynamically must not find them.
    println!("cargo::rustc-link-arg-bins=-L{}", folder.display());
    println!("cargo::rustc-link-arg-bins=-static");
}

/// Where the linker's driver finds an archive.
fn archive(name: &str) -> Option<PathBuf> {
    let driver = std::env::var_os("RUSTC_LINKER").unwrap_or_else(|| "cc".into());
    let output = Command::new(driver).arg(format!("-print-file-name={name}")).output().ok()?;
    let path = Path::new(std::str::from_utf8(&output.stdout).ok()?.trim()).to_owned();
    // It repeats the name of what it does not find.
    path.is_absolute().then_some(path)
}

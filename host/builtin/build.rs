//! Finds what `toolgate-bake` made.

use std::path::PathBuf;

fn main() {
    let here = PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it"));
    let folder = here.join("../../target/component");
    for name in ["guest.rs", "guest.cwasm", "guest.memory"] {
        let file = folder.join(name);
        println!("cargo::rerun-if-changed={}", file.display());
        if !file.is_file() {
            println!("cargo::error={} is missing: run `just guest` first, which builds the guest", file.display());
            std::process::exit(1);
        }
    }
    let folder = folder.canonicalize().expect("it holds the files above");
    println!("cargo::rustc-env=TOOLGATE_GUEST_DIR={}", folder.display());
}

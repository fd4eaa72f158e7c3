//! How the command is linked.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    // At a fixed address nothing in the image has to be mended when it starts: 65 000 addresses on 270 pages, twice the
    // processor time of everything that a program of this language does before `main`.
    let target = |part: &str| std::env::var(format!("CARGO_CFG_TARGET_{part}")).unwrap_or_default();
    if target("OS") == "linux" && target("ENV") == "gnu" && target("ARCH") == "x86_64" {
        println!("cargo::rustc-link-arg-bins=-no-pie");
    }
}

//! Tells the library the triple it is built for, which the standard library does not say at run time.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-env=TOOLGATE_TARGET={}", std::env::var("TARGET").unwrap_or_default());
}

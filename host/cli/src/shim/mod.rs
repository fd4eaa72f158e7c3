//! The shims: small programs that pi and OpenCode load into their own process, and that carry their
//! events to `toolgate serve --stdio`. `toolgate install` writes them as one file each, so that
//! there is nothing that can be half there.

/// The extension of pi, up to its line [`PROGRAM`].
pub(crate) const PI: &str = concat!(include_str!("pi.ts"), include_str!("host.js"));

/// The plugin of OpenCode, up to its line [`PROGRAM`].
pub(crate) const OPENCODE: &str = concat!(include_str!("opencode.js"), include_str!("host.js"));

/// The line of a shim that is to be replaced; between the quotes comes the absolute path of the
/// program, as JSON.
pub(crate) const PROGRAM: &str = "const PROGRAM = \"\";\n";

/// A shim's first line begins so; the agent's name and the shim's version follow.
pub(crate) const MARK: &str = "// toolgate-shim ";

//! The shims: small programs that pi and OpenCode load into their own process, and that carry their
//! events to `toolgate serve --stdio`. `toolgate install` writes them as one file each, so that
//! there is nothing that can be half there.

/// The extension of pi, without the program: see [`PROGRAM`].
pub(crate) const PI: &str = concat!(include_str!("pi.ts"), include_str!("host.js"));

/// The plugin of OpenCode, without the program: see [`PROGRAM`].
pub(crate) const OPENCODE: &str = concat!(include_str!("opencode.js"), include_str!("host.js"));

/// The line of a shim that is to be replaced, once: instead of `""` comes the absolute path of the
/// program as a JSON string. A shim that still has it blocks every call.
pub(crate) const PROGRAM: &str = "const PROGRAM = \"\";\n";

/// The line after it, of a shim that can share its terminal: instead of `false` comes `true` where that is wanted.
pub(crate) const TERMINAL: &str = "const TERMINAL = false;\n";

/// A shim's first line begins so; the agent's name and the shim's version follow.
pub const MARK: &str = "// toolgate-shim ";

//! The shims: small programs that pi and OpenCode load into their own process. `toolgate install` writes them as one
//! file each.

/// The extension of pi, up to its line [`PROGRAM`].
pub(crate) const PI: &str = include_str!("pi.ts");

/// The plugin of OpenCode, up to its line [`PROGRAM`].
pub(crate) const OPENCODE: &str = include_str!("opencode.js");

/// The line of a shim that is to be replaced; between the quotes comes the absolute path of the program, as JSON.
pub(crate) const PROGRAM: &str = "const PROGRAM = \"\";\n";

/// A shim's first line begins so; the agent's name and the shim's version follow.
pub(crate) const MARK: &str = "// toolgate-shim ";

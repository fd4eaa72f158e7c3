//! What can go wrong, as sentences that say what to do.

use std::time::Duration;

/// Why a component cannot be used.
///
/// ```
/// # #[cfg(feature = "cranelift")] {
/// use toolgate_host::{Engine, LoadError, Plugin};
///
/// let error = Plugin::compile(&Engine::new()?, "mine", b"no component").unwrap_err();
/// assert!(matches!(error, LoadError::NotAComponent { .. }));
/// # }
/// # Ok::<(), toolgate_host::LoadError>(())
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LoadError {
    /// The engine could not be made.
    #[error("the WebAssembly engine does not start: {0:#}")]
    Engine(wasmtime::Error),
    /// The bytes are no component.
    #[error("{plugin} is not a WebAssembly component ({})", chain(error))]
    NotAComponent {
        /// The plugin's name.
        plugin: String,
        /// What wasmtime says.
        error: wasmtime::Error,
    },
    /// The bytes are no core module.
    #[error("it is not a WebAssembly module ({})", chain(.0))]
    NotAModule(wasmtime::Error),
    /// It asks for more than the contract has.
    #[error(
        "{plugin} imports {}, which Toolgate does not offer; a plugin may import toolgate:plugin@0.1, and WASI 0.2 \
         without HTTP, of which nothing but the output does anything",
        imports.join(", ")
    )]
    UnknownImports {
        /// The plugin's name.
        plugin: String,
        /// The imports.
        imports: Vec<String>,
    },
    /// It has the right imports in the wrong shape.
    #[error("{plugin} was built for another version of the contract: {error:#}")]
    Contract {
        /// The plugin's name.
        plugin: String,
        /// What wasmtime says.
        error: wasmtime::Error,
    },
    /// It uses what only a later version of the contract has.
    #[error(
        "{plugin} needs version {needs} of the contract toolgate:plugin, and this Toolgate has {has}: install a newer one, or \
         build the plugin for {has} ({})",
        chain(error)
    )]
    Newer {
        /// The plugin's name.
        plugin: String,
        /// The version that it was built for.
        needs: String,
        /// The version that is here.
        has: String,
        /// What wasmtime says.
        error: wasmtime::Error,
    },
    /// Machine code from another version of this program.
    #[error("the machine code of {plugin} does not match this program: {error:#}; reinstall Toolgate")]
    Precompiled {
        /// The plugin's name.
        plugin: String,
        /// What wasmtime says.
        error: wasmtime::Error,
    },
}

/// What went wrong and why, in one line.
fn chain(error: &wasmtime::Error) -> String {
    let lines: Vec<String> = error.chain().map(|one| first_line(&one.to_string()).to_owned()).collect();
    lines.join(": ")
}

/// The first line of a message; not what it begins there and goes on with in the next ones, such as a list of bytes.
fn first_line(text: &str) -> &str {
    let line = text.lines().next().unwrap_or_default();
    match line.ends_with(['[', '{', '(']) {
        true => line.rsplit_once(" - ").map_or(line, |(start, _)| start),
        false => line,
    }
}

/// Why a hook gave no answer.
///
/// ```
/// use toolgate_host::CallError;
///
/// // A word for logs, and a sentence for people.
/// assert_eq!(CallError::Deadline.name(), "deadline");
/// assert_eq!(CallError::HostCalls(1_000).to_string(), "the component made more than 1000 host calls");
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CallError {
    /// It computed too long.
    #[error("the component exceeded its computing time")]
    Deadline,
    /// The whole call took too long.
    #[error("the component gave no answer within {} s", .0.as_secs_f32())]
    Timeout(Duration),
    /// It wanted more memory.
    #[error("the component exceeded its memory limit")]
    Memory,
    /// It recursed too deeply.
    #[error("the component overflowed its stack")]
    Stack,
    /// It made too many host calls.
    #[error("the component made more than {0} host calls")]
    HostCalls(u32),
    /// It handed over too much.
    #[error("the component or the call passed more data than the limit for one call")]
    TooMuchData,
    /// The call's own texts are too long.
    #[error("the call's command and paths are {length} bytes long; the limit is {limit}")]
    Input {
        /// Their length in bytes.
        length: usize,
        /// The limit in bytes.
        limit: usize,
    },
    /// It does not export the hook.
    #[error("the component has no {0} hook")]
    NoHook(&'static str),
    /// The request makes no sense to it. The component goes on.
    #[error("{0}")]
    Request(String),
    /// It refused to start.
    #[error("the component does not start: {0}")]
    Start(String),
    /// Anything else.
    #[error("the component failed: {0}")]
    Trap(String),
}

impl CallError {
    /// A word for logs and rule names.
    pub fn name(&self) -> &'static str {
        match self {
            CallError::Deadline => "deadline",
            CallError::Timeout(_) => "timeout",
            CallError::Memory => "memory",
            CallError::Stack => "stack",
            CallError::HostCalls(_) => "host-calls",
            CallError::TooMuchData => "too-much-data",
            CallError::Input { .. } => "input",
            CallError::NoHook(_) => "no-hook",
            CallError::Request(_) => "request",
            CallError::Start(_) => "start",
            CallError::Trap(_) => "trap",
        }
    }
}

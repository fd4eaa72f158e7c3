//! The recipe: from the core module that the compiler makes to what ships and is tested.
//!
//! 1. [`componentize`]: the module and the types inside it become a component.
//! 2. [`snapshot`]: the component prepares itself, and its memory after that becomes part of it. Compiling the
//!    built-in rules costs more than everything else in a cold start together; this pays it once.
//! 3. [`used`]: it is started, judges a call and prepares itself once more, and what it runs for that is noted.
//! 4. [`precompile`]: machine code for any processor of this kind, without calls of functions that do nothing, and apart from it the
//!    memory that it starts with.
//!
//! There is one recipe. What `cargo component` makes enters it at the second step.

mod everyday;
mod memory;
mod order;
mod recipe;
mod workspace;

pub use memory::{Memory, Unfit};
pub use order::Used;
pub use recipe::{BakeError, componentize, precompile, snapshot, used};
pub use workspace::{Baked, Workspace, WorkspaceError, bake, build_script};

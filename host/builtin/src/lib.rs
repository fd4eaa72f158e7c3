//! The default guest, compiled to machine code when this crate is built and part of every program that uses it.
//!
//! Nothing is compiled or unpacked when such a program starts: the code is run from the program's own image, and its memory
//! is mapped from the program's file.
//!
//! ```no_run
//! use toolgate_host::{Capabilities, Engine, Gate, Plugin, Session};
//!
//! # fn example() -> Result<(), toolgate_host::LoadError> {
//! let plugin = Plugin::precompiled(&Engine::new()?, toolgate_builtin::NAME, &toolgate_builtin::guard())?;
//! let gate = Gate::new(plugin, Session::in_folder("."), Capabilities::denied());
//! # Ok(())
//! # }
//! ```

// Vouching for machine code is the one thing that cannot be checked by the compiler.
#![allow(unsafe_code)]

use toolgate_host::{MemoryImage, Precompiled};

include!(concat!(env!("TOOLGATE_GUEST_DIR"), "/guest.rs"));

/// The default guest's name in findings and logs.
pub const NAME: &str = "toolgate-guard";

/// The SHA-256 of the component that the machine code was made of, in hexadecimal.
pub const SHA256: &str = COMPONENT.0;

/// At a page boundary, as the code is run where it lies.
#[repr(C, align(4096))]
struct Pages<T: ?Sized>(T);

static CODE: &Pages<[u8]> = &Pages(*include_bytes!(concat!(env!("TOOLGATE_GUEST_DIR"), "/guest.cwasm")));
static MEMORY: &Pages<[u8]> = &Pages(*include_bytes!(concat!(env!("TOOLGATE_GUEST_DIR"), "/guest.memory")));

/// The component that judges tool calls.
pub fn guard() -> Precompiled {
    let memory = MemoryImage::new(&MEMORY.0, MEMORY_START);
    // SAFETY: the bytes are what `toolgate-bake` wrote, with the wasmtime that this workspace pins; they are
    // page-aligned in the program's constant data, which is mapped read-only.
    unsafe { Precompiled::new(&CODE.0, memory, COMPONENT, MACHINE_SHA256) }
}

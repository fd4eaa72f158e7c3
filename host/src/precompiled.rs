//! Machine code that was made when this program was built. The host's only unsafe code is here, in `memory_image`, and in the crate
//! that embeds the bytes; guests have what their bindings generate.
//!
//! Machine code is trusted as the program itself is: wasmtime checks that it was made by the same version with the
//! same settings, and cannot check what it does. So it is only ever taken from this program's own image, or from a file
//! that is the user's alone, see `cache`. That of the image is run on Linux on x86-64 where the kernel mapped it, page by
//! page as it is touched; elsewhere it is copied first.

// Loading machine code is the one thing that cannot be checked by the compiler.
#![allow(unsafe_code)]

use wasmtime::component::Component;

use crate::digest::Digest;
use crate::memory_image::MemoryImage;

/// A component as machine code, inside this program's image.
///
/// The crate `toolgate-builtin` has the guard as one:
///
/// ```no_run
/// # fn example(guard: toolgate_host::Precompiled) -> Result<(), toolgate_host::LoadError> {
/// use toolgate_host::{Engine, Plugin};
///
/// let plugin = Plugin::precompiled(&Engine::new()?, "toolgate-guard", &guard)?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Precompiled {
    pub(crate) code: &'static [u8],
    pub(crate) memory: MemoryImage,
    pub(crate) component: StaticDigest,
    pub(crate) machine: StaticDigest,
}

/// A digest that is known when the program is built.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StaticDigest {
    pub(crate) sha256: &'static str,
    pub(crate) bytes: u64,
}

impl StaticDigest {
    pub(crate) fn digest(self) -> Digest {
        Digest { sha256: self.sha256.to_owned(), bytes: self.bytes }
    }
}

impl Precompiled {
    /// Names machine code and the memory it starts with, with the digest and length of the component that they were made
    /// from, and the digest of both together.
    ///
    /// # Safety
    /// `code` is the unchanged output of this version of wasmtime for a component without data, and starts at a page
    /// boundary of a mapping that nothing writes to.
    pub const unsafe fn new(
        code: &'static [u8],
        memory: MemoryImage,
        component: (&'static str, u64),
        machine_sha256: &'static str,
    ) -> Self {
        Precompiled {
            code,
            memory,
            component: StaticDigest { sha256: component.0, bytes: component.1 },
            machine: StaticDigest { sha256: machine_sha256, bytes: (code.len() + memory.bytes.len()) as u64 },
        }
    }
}

/// Takes machine code that was kept between runs. It is copied.
#[cfg(feature = "cranelift")]
pub(crate) fn load_kept(engine: &wasmtime::Engine, code: &[u8]) -> wasmtime::Result<Component> {
    // SAFETY: the cache hands over what it read from a file that only this user can write, in a folder that only this user
    // can write, and whose digest is the one written with it; and what is written there is wasmtime's own output. Wasmtime
    // checks the version and the settings. Against a program of the same user there is no defence here, as `cache` says.
    unsafe { Component::deserialize(engine, code) }
}

#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod in_place {
    use std::collections::BTreeMap;
    use std::ptr::NonNull;
    use std::sync::{Arc, Mutex, PoisonError};

    use rustix::mm::{MprotectFlags, mprotect};
    use wasmtime::{Config, CustomCodeMemory};

    use super::{Component, Precompiled};

    /// Makes code executable with `mprotect`, which wasmtime leaves to the embedder for memory that it does not own.
    struct Mapped;

    impl CustomCodeMemory for Mapped {
        fn required_alignment(&self) -> usize {
            rustix::param::page_size()
        }

        fn publish_executable(&self, start: *const u8, length: usize) -> wasmtime::Result<()> {
            // SAFETY: wasmtime passes the text of code it just loaded, on page boundaries; nothing holds a mutable
            // reference to it, and the pages lose the right to be written as they gain that to be run.
            unsafe { mprotect(start as *mut _, length, MprotectFlags::READ | MprotectFlags::EXEC) }.map_err(Into::into)
        }

        fn unpublish_executable(&self, start: *const u8, length: usize) -> wasmtime::Result<()> {
            // SAFETY: as above, and wasmtime says that nothing runs there any more. The pages stay read-only:
            // those of the program's image must, and others are unmapped next.
            unsafe { mprotect(start as *mut _, length, MprotectFlags::READ) }.map_err(Into::into)
        }
    }

    pub(crate) fn publish_in_place(config: &mut Config) {
        config.with_custom_code_memory(Some(Arc::new(Mapped)));
    }

    /// The components that run in place, by the address of their code. They stay for as long as the program does:
    /// giving one up would take the right to run away from code that another one shares.
    static IN_PLACE: Mutex<BTreeMap<usize, Component>> = Mutex::new(BTreeMap::new());

    pub(crate) fn load(engine: &wasmtime::Engine, precompiled: &Precompiled) -> wasmtime::Result<Component> {
        let address = precompiled.code.as_ptr() as usize;
        let mut in_place = IN_PLACE.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(component) = in_place.get(&address) {
            if wasmtime::Engine::same(component.engine(), engine) {
                return Ok(component.clone());
            }
            // Code belongs to one engine; another one gets a copy.
            // SAFETY: `Precompiled::new` was promised that these bytes are wasmtime's own output.
            return unsafe { Component::deserialize(engine, precompiled.code) };
        }
        // SAFETY: `Precompiled::new` was promised that these bytes are wasmtime's own output, page-aligned, and that
        // they stay as they are for as long as the program runs. The map above sees to it that they are loaded
        // in place once, and never given up.
        let component = unsafe { Component::deserialize_raw(engine, NonNull::from(precompiled.code)) }?;
        in_place.insert(address, component.clone());
        Ok(component)
    }
}

#[cfg(not(all(target_os = "linux", target_arch = "x86_64")))]
mod in_place {
    use super::{Component, Precompiled};

    pub(crate) fn publish_in_place(_config: &mut wasmtime::Config) {}

    pub(crate) fn load(engine: &wasmtime::Engine, precompiled: &Precompiled) -> wasmtime::Result<Component> {
        // SAFETY: `Precompiled::new` was promised that these bytes are wasmtime's own output.
        unsafe { Component::deserialize(engine, precompiled.code) }
    }
}

pub(crate) use in_place::{load, publish_in_place};

//! The bytes of a component: bounded, of a regular file, and read once.

use std::io::ErrorKind;
use std::path::Path;

use rustix::fs::OFlags;
use toolgate_agents::{Failure, exit};
use toolgate_host::Plugin;
use toolgate_host::limits::COMPONENT;
use toolgate_host::private::{open_regular, read_at_most};
use wit_component::ComponentEncoder;

use super::loaded;

/// The component of a file.
pub fn component(path: &Path) -> Result<Vec<u8>, Failure> {
    let bytes = bounded(path, COMPONENT)?;
    as_component(bytes).map_err(|why| Failure::new(exit::DATA, format!("{}: {why}", path.display())))
}

/// A component as it is; of a core module that carries the types of its hooks, as a plain `cargo build` leaves it, the component
/// that it makes.
pub fn as_component(bytes: Vec<u8>) -> Result<Vec<u8>, String> {
    /// How a core module begins; a component has other bytes behind the first four.
    const MODULE: &[u8] = b"\0asm\x01\0\0\0";
    if !bytes.starts_with(MODULE) {
        return Ok(bytes);
    }
    let wrong = |why: String| format!("the module cannot be turned into a component: {why}");
    Plugin::check_module(loaded::engine()?, &bytes).map_err(|error| wrong(error.to_string()))?;
    let encode = || {
        let mut encoder = ComponentEncoder::default();
        encoder.validate(true).module(&bytes)?.encode()
    };
    // The encoder trusts what a module says of its types, and panics where that is cut off or made up.
    match std::panic::catch_unwind(encode) {
        Ok(encoded) => encoded.map_err(|error| wrong(format!("{error:#}"))),
        Err(_) => Err(wrong("its type information is damaged".to_owned())),
    }
}

/// A regular file of at most so many bytes.
pub fn bounded(path: &Path, most: u64) -> Result<Vec<u8>, Failure> {
    opened(path, most, OFlags::empty())
}

/// The same of what is no link: the name says which file it is, and it is not another one.
pub fn unlinked(path: &Path, most: u64) -> Result<Vec<u8>, Failure> {
    opened(path, most, OFlags::NOFOLLOW)
}

fn opened(path: &Path, most: u64, more: OFlags) -> Result<Vec<u8>, Failure> {
    let read = open_regular(path, more).and_then(|file| read_at_most(&file, most));
    read.map_err(|error| match error.kind() {
        ErrorKind::InvalidInput | ErrorKind::FileTooLarge => {
            let limit = if most >= 1 << 20 { format!("{} MiB", most >> 20) } else { format!("{} KiB", most >> 10) };
            Failure::new(exit::DATA, format!("{} is not a file of at most {limit}", path.display()))
        }
        _ => Failure::new(exit::NO_INPUT, format!("{}: {error}", path.display())),
    })
}

//! What identifies some bytes: their digest and length.

use serde::Serialize;
use sha2::{Digest as _, Sha256};

/// Digest and length of some bytes.
///
/// ```
/// use toolgate_host::Digest;
///
/// let digest = Digest::of(b"a");
/// assert!(digest.sha256.starts_with("ca978112ca1bbdca") && digest.bytes == 1);
/// ```
#[derive(Clone, Debug, Serialize, PartialEq, Eq)]
pub struct Digest {
    /// In hexadecimal digits.
    pub sha256: String,
    /// The length.
    pub bytes: u64,
}

impl Digest {
    /// Measures these bytes.
    pub fn of(bytes: &[u8]) -> Self {
        use std::fmt::Write as _;
        let sha256 = Sha256::digest(bytes).iter().fold(String::with_capacity(64), |mut text, byte| {
            // Writing to a String cannot fail.
            let _ = write!(text, "{byte:02x}");
            text
        });
        Digest { sha256, bytes: bytes.len() as u64 }
    }

    /// The first 16 hexadecimal digits of the sha256 of some bytes: a name for a file, the same whatever this was built with.
    /// Sockets of code-lens are named so too, and its other clients look for just these.
    pub fn name_of(bytes: &[u8]) -> String {
        let mut name = Digest::of(bytes).sha256;
        name.truncate(16);
        name
    }
}

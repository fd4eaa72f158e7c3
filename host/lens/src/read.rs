//! Reading files that a project may have made anything of.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use rustix::fs::{Mode, OFlags};

/// Reads a regular file of at most so many bytes. A pipe is not waited for, and what has no end is not read to it, whatever
/// length it claims to have.
///
/// # Errors
/// If it is something else, larger, or cannot be read.
pub(crate) fn bounded(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let file: File = rustix::fs::open(path, OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC, Mode::empty())?.into();
    if !file.metadata()?.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is no regular file"));
    }
    let mut content = Vec::new();
    file.take(most + 1).read_to_end(&mut content)?;
    if content.len() as u64 > most {
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, "it is too large"));
    }
    Ok(content)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_regular_files_within_bounds_are_read() {
        let scratch = tempfile::tempdir().expect("a scratch folder");
        let file = scratch.path().join("file");
        std::fs::write(&file, "12345").expect("a file");
        assert_eq!(bounded(&file, 5).ok().as_deref(), Some(&b"12345"[..]));
        assert!(bounded(&file, 4).is_err());
        for path in [scratch.path(), Path::new("/dev/zero"), Path::new("/dev/null"), Path::new("/nowhere")] {
            assert!(bounded(path, 5).is_err(), "{}", path.display());
        }
        let pipe = scratch.path().join("pipe");
        rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, Mode::RUSR | Mode::WUSR, 0)
            .expect("a pipe");
        assert!(bounded(&pipe, 5).is_err());
    }
}

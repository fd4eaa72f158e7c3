//! Reading files that somebody may have made anything of: a pipe, a device, a file without end.

use std::fs::{File, Metadata};
use std::io::{self, ErrorKind, Read};
use std::path::Path;

use rustix::fs::{Mode, OFlags};

/// Opens a regular file for reading, with more flags if need be. Nobody is waited for, whatever is put in its place
/// meanwhile: opening a pipe would wait for whoever is at its other end.
///
/// # Errors
/// If it cannot be opened, or is something else, which is [`ErrorKind::InvalidInput`].
pub fn open_regular(path: &Path, more: OFlags) -> io::Result<File> {
    let regular = |found: Metadata| match found.is_file() {
        true => Ok(()),
        false => Err(io::Error::new(ErrorKind::InvalidInput, "it is not a regular file")),
    };
    // To open a device may do something by itself.
    path.metadata().and_then(regular)?;
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC | more;
    let file: File = rustix::fs::open(path, flags, Mode::empty())?.into();
    file.metadata().and_then(regular)?;
    Ok(file)
}

/// Reads an open file of at most so many bytes, whatever length it claims to have.
///
/// # Errors
/// If it cannot be read, or is larger, which is [`ErrorKind::FileTooLarge`].
pub fn read_at_most(file: &File, most: u64) -> io::Result<Vec<u8>> {
    let too_large = || io::Error::new(ErrorKind::FileTooLarge, format!("it is larger than {}", length(most)));
    if file.metadata()?.len() > most {
        return Err(too_large());
    }
    let mut content = Vec::with_capacity(4_096);
    file.take(most + 1).read_to_end(&mut content)?;
    if content.len() as u64 > most { Err(too_large()) } else { Ok(content) }
}

fn length(bytes: u64) -> String {
    match bytes {
        0..0x400 => format!("{bytes} bytes"),
        0x400..0x10_0000 => format!("{} KiB", bytes >> 10),
        _ => format!("{} MiB", bytes >> 20),
    }
}

/// Reads a regular file of at most so many bytes.
///
/// # Errors
/// As for [`open_regular`] and [`read_at_most`].
pub fn read_regular(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    read_at_most(&open_regular(path, OFlags::empty())?, most)
}

/// Whether it means that there is no such file.
pub fn is_missing(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use rustix::fs::{CWD, FileType, mknodat};

    use super::*;

    #[test]
    fn only_regular_files_within_bounds_are_read() {
        let scratch = tempfile::tempdir().expect("a scratch folder");
        let at = |name: &str| scratch.path().join(name);
        std::fs::write(at("file"), "12345").expect("a file");
        symlink("file", at("link")).expect("a link");
        mknodat(CWD, at("pipe"), FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).expect("a pipe");
        let cases = [
            (at("file"), 5, Ok("12345")),
            (at("link"), 5, Ok("12345")),
            (at("file"), 4, Err(ErrorKind::FileTooLarge)),
            (at("none"), 5, Err(ErrorKind::NotFound)),
            (at("file/below"), 5, Err(ErrorKind::NotADirectory)),
            (at("pipe"), 5, Err(ErrorKind::InvalidInput)),
            (scratch.path().to_path_buf(), 5, Err(ErrorKind::InvalidInput)),
            ("/dev/zero".into(), 5, Err(ErrorKind::InvalidInput)),
            ("/dev/null".into(), 5, Err(ErrorKind::InvalidInput)),
        ];
        for (path, most, expected) in cases {
            let found = read_regular(&path, most).map_err(|error| error.kind());
            assert_eq!(found, expected.map(|text| text.as_bytes().to_vec()), "{}", path.display());
        }
        assert!(open_regular(&at("link"), OFlags::NOFOLLOW).is_err());
    }

    #[test]
    fn a_limit_is_told_in_round_numbers() {
        let cases = [(4, "4 bytes"), (64 << 10, "64 KiB"), (1 << 20, "1 MiB"), (16 << 20, "16 MiB")];
        for (bytes, expected) in cases {
            assert_eq!(length(bytes), expected);
        }
    }
}

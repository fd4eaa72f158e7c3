//! What may become of a file, and how it is as before again.

use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Does something to a file that is there.
pub type Spoil = fn(&Path) -> io::Result<()>;

/// What may become of any file. A file that a writer left half is there, and what nobody would think of.
pub const ALL: &[(&str, Spoil)] = &[
    ("empty", |file| fs::write(file, "")),
    ("cut in half", |file| {
        let length = fs::metadata(file)?.len();
        fs::File::options().write(true).open(file)?.set_len(length / 2)
    }),
    ("a bit flipped", |file| {
        let mut bytes = fs::read(file)?;
        let middle = bytes.len() / 2;
        bytes.iter_mut().skip(middle).take(1).for_each(|byte| *byte ^= 1);
        fs::write(file, bytes)
    }),
    ("garbage", garbage),
    ("a gigabyte of nothing", |file| fs::File::create(file)?.set_len(1 << 30)),
    ("missing", |file| fs::remove_file(file)),
    ("a folder", folder),
    ("a pipe", pipe),
    ("a link to itself", |file| linked(file, file.file_name().unwrap_or_default().as_ref())),
    ("a link to nothing", |file| linked(file, Path::new("/nonexistent/file"))),
    ("a link to an endless file", |file| linked(file, Path::new("/dev/zero"))),
    ("open to everyone", |file| fs::set_permissions(file, Permissions::from_mode(0o666))),
];

/// Bytes that are no text, no YAML and no JSON.
pub fn garbage(file: &Path) -> io::Result<()> {
    let bytes: Vec<u8> = (0..4_096_u32).flat_map(|at| at.wrapping_mul(0x9E37_79B9).to_be_bytes()).collect();
    fs::write(file, bytes)
}

/// A folder with something in it.
pub fn folder(file: &Path) -> io::Result<()> {
    fs::remove_file(file)?;
    fs::create_dir_all(file.join("below"))
}

/// A pipe that nobody writes to.
pub fn pipe(file: &Path) -> io::Result<()> {
    remove(file)?;
    let made = Command::new("mkfifo").arg("-m").arg("600").arg(file).status()?;
    if made.success() { Ok(()) } else { Err(io::Error::other("no pipe can be made")) }
}

fn linked(file: &Path, to: &Path) -> io::Result<()> {
    remove(file)?;
    symlink(to, file)
}

/// Removes whatever is there.
///
/// # Errors
/// If that fails.
pub fn remove(path: &Path) -> io::Result<()> {
    match fs::symlink_metadata(path) {
        Ok(found) if found.is_dir() => fs::remove_dir_all(path),
        Ok(_) => fs::remove_file(path),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
    }
}

/// A file as it was.
#[derive(Debug)]
pub struct Saved {
    path: PathBuf,
    content: Vec<u8>,
    mode: Permissions,
}

impl Saved {
    /// Takes note of a file.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn of(path: &Path) -> io::Result<Self> {
        Ok(Saved { path: path.to_owned(), content: fs::read(path)?, mode: fs::metadata(path)?.permissions() })
    }

    /// Puts it back, in the place of whatever is there.
    ///
    /// # Errors
    /// If that fails.
    pub fn restore(&self) -> io::Result<()> {
        remove(&self.path)?;
        fs::write(&self.path, &self.content)?;
        fs::set_permissions(&self.path, self.mode.clone())
    }
}

//! Machine code of components, kept between runs: compiling a component that carries a language's runtime takes seconds.
//!
//! An entry is a file named by the digest of the component and by everything that decides what its code looks like: the
//! version of wasmtime, its settings, this processor. It begins with that name and with the digest of the code. It is used
//! only if the folder and the file are the user's alone, and if the name and the digest are right; whatever is wrong, the
//! component is compiled again and the entry replaced.
//!
//! They find what was cut, mixed up or damaged. They do not find a forgery: whoever can write here as this user can
//! write a digest as well, and machine code can do what this program can. There is no secret here that such a program
//! could not read; it could change this program itself just as well. So the gate keeps agents out of the folder, as it
//! does for all that is Toolgate's own.

use std::hash::{Hash, Hasher};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use rustix::fs::{AtFlags, OFlags};
use sha2::{Digest as _, Sha256};
use toolgate_private::{Folder, Others, PrivateError, secret_folder};
use wasmtime::component::Component;

use crate::measure::Measure;
use crate::precompiled;

/// What all entries together may take, in bytes: a dozen components with a runtime of 40 MB each.
const SIZE: u64 = 512 << 20;

/// What one entry may take.
const ENTRY: u64 = 256 << 20;

/// What an entry begins with, before its name, a blank, the 64 hexadecimal digits of the code's digest and the end of the
/// line.
const MARK: &[u8] = b"toolgate code 2 ";

/// A folder with machine code of components.
#[derive(Clone, Debug)]
pub struct Cache {
    folder: PathBuf,
    size: u64,
}

/// What an entry is found by.
pub(crate) struct Key {
    pub(crate) component: Measure,
    name: String,
}

impl Key {
    pub(crate) fn of(engine: &wasmtime::Engine, component: &[u8]) -> Self {
        let mut fit = Sha(Sha256::new());
        engine.precompile_compatibility_hash().hash(&mut fit);
        let component = Measure::of(component);
        let fit = u64::from_be_bytes(first(fit.0.finalize().as_slice()));
        Key { name: format!("{}-{fit:016x}", component.sha256), component }
    }
}

fn first(digest: &[u8]) -> [u8; 8] {
    let mut bytes = [0; 8];
    bytes.iter_mut().zip(digest).for_each(|(byte, from)| *byte = *from);
    bytes
}

/// The standard library's hashers may be others in its next version.
struct Sha(Sha256);

impl Hasher for Sha {
    fn write(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    fn finish(&self) -> u64 {
        u64::from_be_bytes(first(self.0.clone().finalize().as_slice()))
    }
}

impl Cache {
    /// A cache in this folder, which is made with the first entry and which nobody else can look into.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Cache { folder: folder.into(), size: SIZE }
    }

    /// The same with another limit to what all entries together may take, in bytes.
    #[must_use]
    pub fn with_size(mut self, size: u64) -> Self {
        self.size = size;
        self
    }

    /// Where it is.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The component and the measure of its code, if there is an entry that can be used.
    pub(crate) fn get(&self, engine: &wasmtime::Engine, key: &Key) -> Option<(Component, Measure)> {
        let bytes = match self.read(&key.name) {
            Ok(bytes) => bytes?,
            Err(error) => {
                tracing::warn!(%error, "machine code is not used");
                return None;
            }
        };
        let unfit = |why: &str| tracing::warn!(entry = key.name, why, "machine code is not used");
        let Some((code, measure)) = checked(&key.name, &bytes) else {
            unfit("it is not what was written");
            return None;
        };
        match precompiled::load_kept(engine, code) {
            Ok(component) => Some((component, measure)),
            Err(error) => {
                unfit(&format!("{error:#}"));
                None
            }
        }
    }

    fn read(&self, name: &str) -> Result<Option<Vec<u8>>, PrivateError> {
        let Some(folder) = Folder::open(&self.folder)? else { return Ok(None) };
        secret_folder(&self.folder)?;
        let bytes = folder.read(name, Others::Distrust, ENTRY)?;
        if let (Some(_), Ok(Some(file))) = (&bytes, folder.file(name, OFlags::RDONLY, Others::Distrust)) {
            // So that what is used goes last. It is only about room.
            let _ = file.set_modified(SystemTime::now());
        }
        Ok(bytes)
    }

    /// Keeps code. That it cannot be kept costs time and nothing else.
    pub(crate) fn put(&self, key: &Key, code: &[u8]) {
        if let Err(error) = self.write(&key.name, code) {
            tracing::warn!(%error, "machine code is not kept");
        }
    }

    fn write(&self, name: &str, code: &[u8]) -> Result<(), PrivateError> {
        let entry = entry(name, code);
        if entry.len() as u64 > ENTRY.min(self.size) {
            return Ok(());
        }
        let folder = Folder::create(&self.folder)?;
        secret_folder(&self.folder)?;
        folder.replace(name, &entry)?;
        self.make_room(&folder, name);
        Ok(())
    }

    /// Removes what was used longest ago until the rest has room. What a writer left that was killed goes the same way.
    fn make_room(&self, folder: &Folder, but: &str) {
        let entries = std::fs::read_dir(&self.folder).into_iter().flatten().filter_map(Result::ok);
        let mut files: Vec<(SystemTime, u64, std::ffi::OsString)> = entries
            .filter_map(|entry| {
                let found = entry.metadata().ok().filter(std::fs::Metadata::is_file)?;
                Some((found.modified().ok()?, found.len(), entry.file_name()))
            })
            .collect();
        files.sort();
        let mut all: u64 = files.iter().map(|(_, length, _)| length).sum();
        for (_, length, name) in files.into_iter().filter(|(_, _, name)| name != but) {
            if all <= self.size {
                break;
            }
            if rustix::fs::unlinkat(folder.fd(), &name, AtFlags::empty()).is_ok() {
                all -= length;
            }
        }
    }
}

/// The entry of this name for code.
fn entry(name: &str, code: &[u8]) -> Vec<u8> {
    [MARK, name.as_bytes(), b" ", Measure::of(code).sha256.as_bytes(), b"\n", code].concat()
}

/// The code of an entry, if it was written under this name and has the digest that the entry names.
fn checked<'a>(name: &str, entry: &'a [u8]) -> Option<(&'a [u8], Measure)> {
    let entry = entry.strip_prefix(MARK)?.strip_prefix(name.as_bytes())?.strip_prefix(b" ")?;
    let (digest, code) = entry.split_at_checked(64)?;
    let (code, measure) = (code.strip_prefix(b"\n")?, Measure::of(code.get(1..)?));
    (measure.sha256.as_bytes() == digest).then_some((code, measure))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;
    use crate::engine::Engine;

    const ONE: &[u8] = b"(component (type (func)) (core module))";
    const OTHER: &[u8] = b"(component (core module (func)))";

    fn component(text: &[u8]) -> Vec<u8> {
        wat::parse_bytes(text).expect("a component").into_owned()
    }

    /// A cache with an entry for `ONE`, and where that is.
    fn filled(engine: &Engine) -> (tempfile::TempDir, Cache, Key, PathBuf) {
        let scratch = tempfile::tempdir().expect("a scratch folder");
        let cache = Cache::new(scratch.path().join("code"));
        let key = Key::of(engine.wasmtime().expect("an engine"), &component(ONE));
        assert!(cache.get(engine.wasmtime().expect("an engine"), &key).is_none(), "nothing is there yet");
        cache.put(&key, &code(engine, ONE));
        let file = cache.folder().join(&key.name);
        assert!(cache.get(engine.wasmtime().expect("an engine"), &key).is_some(), "it is kept");
        (scratch, cache, key, file)
    }

    fn code(engine: &Engine, text: &[u8]) -> Vec<u8> {
        let compiled =
            Component::from_binary(engine.wasmtime().expect("an engine"), &component(text)).expect("compiled");
        compiled.serialize().expect("its code")
    }

    /// As whoever can write here would: with the name and the digest that belong to it.
    fn forge(file: &Path, code: &[u8]) {
        std::fs::write(file, entry(&name(file), code)).expect("written");
    }

    fn name(file: &Path) -> String {
        file.file_name().expect("a name").to_string_lossy().into_owned()
    }

    /// The length of what stands before an entry's code.
    fn head(file: &Path) -> usize {
        entry(&name(file), b"").len()
    }

    fn mode(path: &Path, mode: u32) {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).expect("its mode");
    }

    #[test]
    fn an_entry_that_is_not_as_it_was_written_is_not_used_and_replaced() {
        type Spoil = fn(&Engine, &Path);
        let spoil: &[(&str, Spoil)] = &[
            ("empty", |_, file| std::fs::write(file, "").expect("written")),
            ("garbage", |_, file| std::fs::write(file, [0x7f; 5_000]).expect("written")),
            ("garbage with the right beginning", |_, file| {
                let bytes = [MARK, name(file).as_bytes(), b" ", &[b'a'; 64], b"\n", &[0; 99]].concat();
                std::fs::write(file, bytes).expect("written");
            }),
            ("garbage with its digest", |_, file| forge(file, &[0x7f; 5_000])),
            ("nothing with its digest", |_, file| forge(file, b"")),
            ("only the beginning", |_, file| std::fs::write(file, MARK).expect("written")),
            ("cut", |_, file| {
                let bytes = std::fs::read(file).expect("read");
                std::fs::write(file, &bytes[..bytes.len() - 1]).expect("written");
            }),
            ("cut, with its digest", |_, file| {
                let bytes = std::fs::read(file).expect("read");
                forge(file, &bytes[head(file)..bytes.len() / 2]);
            }),
            ("a bit", |_, file| {
                let mut bytes = std::fs::read(file).expect("read");
                let middle = bytes.len() / 2;
                bytes[middle] ^= 1;
                std::fs::write(file, bytes).expect("written");
            }),
            ("another component's code", |engine, file| {
                let mut bytes = std::fs::read(file).expect("read");
                bytes.truncate(head(file));
                bytes.extend(code(engine, OTHER));
                std::fs::write(file, bytes).expect("written");
            }),
            ("another component's entry", |engine, file| {
                let other = Key::of(engine.wasmtime().expect("an engine"), &component(OTHER));
                std::fs::write(file, entry(&other.name, &code(engine, OTHER))).expect("written");
            }),
            ("code for other settings, with its digest", |_, file| {
                let other = wasmtime::Engine::default().precompile_component(&component(ONE)).expect("compiled");
                forge(file, &other);
            }),
            ("a core module's code, with its digest", |engine, file| {
                let module =
                    engine.wasmtime().expect("an engine").precompile_module(b"\0asm\x01\0\0\0").expect("compiled");
                forge(file, &module);
            }),
            ("a file of more than one name", |_, file| {
                std::fs::hard_link(file, file.with_extension("more")).expect("a second name");
            }),
            ("a link", |_, file| {
                let elsewhere = file.with_extension("elsewhere");
                std::fs::rename(file, &elsewhere).expect("moved");
                symlink(elsewhere, file).expect("a link");
            }),
            ("a link to nothing", |_, file| {
                std::fs::remove_file(file).expect("removed");
                symlink("nothing", file).expect("a link");
            }),
            ("readable by others", |_, file| mode(file, 0o644)),
            ("writable by others", |_, file| mode(file, 0o602)),
            ("a pipe", |_, file| {
                std::fs::remove_file(file).expect("removed");
                let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
                rustix::fs::mkfifoat(rustix::fs::CWD, file, mode).expect("a pipe");
            }),
        ];
        let engine = Engine::new().expect("an engine");
        for (how, spoil) in spoil {
            let (_scratch, cache, key, file) = filled(&engine);
            spoil(&engine, &file);
            assert!(cache.get(engine.wasmtime().expect("an engine"), &key).is_none(), "{how}: it is not used");
            cache.put(&key, &code(&engine, ONE));
            assert!(cache.get(engine.wasmtime().expect("an engine"), &key).is_some(), "{how}: it was replaced");
        }
    }

    #[test]
    fn a_cache_that_cannot_be_used_is_none() {
        let engine = Engine::new().expect("an engine");
        let code = code(&engine, ONE);
        type Spoil = fn(&Path);
        let spoil: &[(&str, Spoil)] = &[
            ("open to others", |folder| mode(folder, 0o777)),
            ("open to a group", |folder| mode(folder, 0o770)),
            ("a link", |folder| {
                std::fs::rename(folder, folder.with_extension("moved")).expect("moved");
                symlink(folder.with_extension("moved"), folder).expect("a link");
            }),
            ("a file", |folder| {
                std::fs::remove_dir_all(folder).expect("removed");
                std::fs::write(folder, "").expect("a file");
            }),
            ("a folder in the place of the entry", |folder| {
                for file in std::fs::read_dir(folder).expect("a list").map(|file| file.expect("a file").path()) {
                    std::fs::remove_file(&file).expect("removed");
                    std::fs::create_dir(&file).expect("a folder");
                }
            }),
        ];
        for (how, spoil) in spoil {
            let (_scratch, cache, key, _) = filled(&engine);
            spoil(cache.folder());
            assert!(cache.get(engine.wasmtime().expect("an engine"), &key).is_none(), "{how}");
            cache.put(&key, &code);
            assert!(cache.get(engine.wasmtime().expect("an engine"), &key).is_none(), "{how}: it stays like that");
        }
    }

    #[test]
    fn a_folder_that_others_may_look_into_is_closed() {
        let engine = Engine::new().expect("an engine");
        let (_scratch, cache, key, _) = filled(&engine);
        mode(cache.folder(), 0o755);
        assert!(cache.get(engine.wasmtime().expect("an engine"), &key).is_some());
        assert_eq!(std::fs::metadata(cache.folder()).expect("there").permissions().mode() & 0o777, 0o700);
    }

    #[test]
    fn the_key_is_of_the_component_and_the_settings() {
        let engine = Engine::new().expect("an engine");
        let key = |engine: &wasmtime::Engine, text| Key::of(engine, &component(text)).name;
        let name = key(engine.wasmtime().expect("an engine"), ONE);
        assert_eq!(name, key(Engine::new().expect("an engine").wasmtime().expect("one that compiles"), ONE));
        assert_ne!(name, key(engine.wasmtime().expect("an engine"), OTHER));
        assert_ne!(name, key(&wasmtime::Engine::default(), ONE));
    }

    #[test]
    fn what_was_used_longest_ago_makes_room() {
        let engine = Engine::new().expect("an engine");
        let code = code(&engine, ONE);
        let scratch = tempfile::tempdir().expect("a scratch folder");
        let entry = entry("large", &code).len() as u64;
        let cache = Cache::new(scratch.path()).with_size(entry * 2 + entry / 2);
        let there = |name: &str| scratch.path().join(name).exists();
        for (age, name) in [(30, "old"), (20, "older-than-it-was"), (10, "new")] {
            cache.write(name, &code).expect("written");
            let file = std::fs::File::open(scratch.path().join(name)).expect("there");
            file.set_modified(SystemTime::now() - std::time::Duration::from_secs(age)).expect("its time");
            if name == "older-than-it-was" {
                assert!(cache.read("old").expect("fit").is_some(), "it is used");
            }
        }
        assert_eq!(["old", "older-than-it-was", "new"].map(there), [true, false, true]);
        let small = Cache::new(scratch.path()).with_size(entry - 1);
        small.write("large", &code).expect("left out");
        assert!(!there("large"));
    }
}

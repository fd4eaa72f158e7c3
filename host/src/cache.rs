//! Machine code of components, kept between runs: compiling a component that carries a language's runtime takes seconds.
//!
//! An entry is named by the digest of the component and by everything that decides what its code looks like: the version of
//! wasmtime, its settings, this processor. Machine code can do what this program can, so what `disk_store` says of forgeries
//! weighs most here.

use std::hash::{Hash, Hasher};
use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};
use wasmtime::component::Component;

use crate::digest::Digest;
use crate::disk_store::{Entries, Kind, MakerTurn};
use crate::precompiled;

/// A dozen components with a runtime of 40 MB each.
const KIND: Kind = Kind { mark: b"toolgate code 2 ", called: "machine code", largest: 256 << 20, size: 512 << 20 };

/// A folder with machine code of components.
///
/// ```no_run
/// use toolgate_host::{Cache, Engine, Plugin};
///
/// # fn example() -> Result<(), Box<dyn std::error::Error>> {
/// // Seconds the first time, milliseconds from then on.
/// let cache = Cache::new("/home/dev/.cache/mine");
/// let plugin = Plugin::cached(&Engine::new()?, "no-deploy", &std::fs::read("no-deploy.wasm")?, &cache)?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Cache(Entries);

/// What an entry is found by.
pub(crate) struct Key {
    pub(crate) component: Digest,
    name: String,
}

impl Key {
    pub(crate) fn of(engine: &wasmtime::Engine, component: &[u8]) -> Self {
        let mut fit = Sha(Sha256::new());
        engine.precompile_compatibility_hash().hash(&mut fit);
        let component = Digest::of(component);
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
        Cache(Entries::new(folder.into(), KIND))
    }

    /// Where it is.
    pub fn folder(&self) -> &Path {
        self.0.folder()
    }

    /// The component and the digest of its code, if there is an entry that can be used.
    pub(crate) fn get(&self, engine: &wasmtime::Engine, key: &Key) -> Option<(Component, Digest)> {
        let entry = self.0.get(&key.name)?;
        match precompiled::load_kept(engine, entry.content()) {
            Ok(component) => Some((component, entry.digest)),
            Err(error) => {
                self.0.unfit(&key.name, &format!("{error:#}"));
                None
            }
        }
    }

    /// Waits for another process that compiles the same component, see [`Entries::turn`].
    pub(crate) fn turn(&self, key: &Key) -> Option<MakerTurn<'_>> {
        self.0.turn(&key.name)
    }

    /// Keeps code. That it cannot be kept costs time and nothing else.
    pub(crate) fn put(&self, key: &Key, code: &[u8]) {
        self.0.put(&key.name, code);
    }
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
        std::fs::write(file, KIND.entry(&name(file), code)).expect("written");
    }

    fn name(file: &Path) -> String {
        file.file_name().expect("a name").to_string_lossy().into_owned()
    }

    /// The length of what stands before an entry's code.
    fn head(file: &Path) -> usize {
        KIND.entry(&name(file), b"").len()
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
                let bytes = [KIND.mark, name(file).as_bytes(), b" ", &[b'a'; 64], b"\n", &[0; 99]].concat();
                std::fs::write(file, bytes).expect("written");
            }),
            ("garbage with its digest", |_, file| forge(file, &[0x7f; 5_000])),
            ("nothing with its digest", |_, file| forge(file, b"")),
            ("only the beginning", |_, file| std::fs::write(file, KIND.mark).expect("written")),
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
                std::fs::write(file, KIND.entry(&other.name, &code(engine, OTHER))).expect("written");
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
    fn whoever_comes_while_another_compiles_waits_for_its_code() {
        let engine = Engine::new().expect("an engine");
        let scratch = tempfile::tempdir().expect("a scratch folder");
        let cache = Cache::new(scratch.path().join("code"));
        let key = Key::of(engine.wasmtime().expect("an engine"), &component(ONE));
        let later = || {
            let _turn = cache.turn(&key).expect("a turn");
            cache.get(engine.wasmtime().expect("an engine"), &key).is_some()
        };
        std::thread::scope(|threads| {
            let turn = cache.turn(&key).expect("a turn");
            let waiting = threads.spawn(later);
            cache.put(&key, &code(&engine, ONE));
            drop(turn);
            assert!(waiting.join().expect("its turn came"), "the code was there by then");
        });
        let left = std::fs::read_dir(cache.folder()).expect("a list").count();
        assert_eq!(left, 1, "locks are removed");
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
}

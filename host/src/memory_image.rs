//! The memory that precompiled code starts with: mapped from the program's own file where that can be, so that it costs
//! nothing until a page of it is touched, and copied where it cannot.
//!
//! Wasmtime does the same for code that it loads from a file of its own. Of code that lies in a program's image it would make
//! a file in memory first and copy everything into it, at each start of the program.
//!
//! A memory can start as another one was left, too, see `snapshot`.

// Memory that wasmtime's code runs on is nothing that the compiler can check.
#![allow(unsafe_code)]

use std::cell::RefCell;
use std::ffi::c_void;
use std::ptr::{self, NonNull};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use rustix::mm::{MapFlags, MprotectFlags, ProtFlags, mmap_anonymous, mprotect, munmap};
use wasmtime::{LinearMemory, MemoryCreator, MemoryType, Store};

use crate::snapshot::{PAGE, Snapshot};

/// What the memory of a component holds when it starts, but for zeros before and after.
#[derive(Clone, Copy, Debug)]
pub struct MemoryImage {
    pub(crate) bytes: &'static [u8],
    start: usize,
}

impl MemoryImage {
    /// Names these bytes, which begin at this address of the component's memory.
    pub const fn new(bytes: &'static [u8], start: usize) -> Self {
        MemoryImage { bytes, start }
    }
}

/// What is special about a memory.
#[derive(Clone, Debug)]
pub(crate) enum Next {
    /// It starts as another one was left, which was made by the same component.
    Like(Arc<Snapshot>),
    /// What becomes of it is asked later.
    Watched(Watched),
}

thread_local! {
    /// What is special about the memory that is made next on this thread. Wasmtime does not say for whom it makes one.
    static NEXT: RefCell<Option<Next>> = const { RefCell::new(None) };
}

/// Does something in which a memory is made, about which this is special.
pub(crate) async fn with<T>(next: Option<Next>, work: impl Future<Output = T>) -> T {
    let mut work = std::pin::pin!(work);
    std::future::poll_fn(move |context| {
        if next.is_none() {
            return work.as_mut().poll(context);
        }
        let _last = Last(NEXT.replace(next.clone()));
        work.as_mut().poll(context)
    })
    .await
}

/// Puts back what was there before, also if the work fails.
struct Last(Option<Next>);

impl Drop for Last {
    fn drop(&mut self) {
        NEXT.set(self.0.take());
    }
}

/// A memory that can be looked at.
#[derive(Clone, Debug, Default)]
pub(crate) struct Watched(Arc<OnceLock<(MemoryImage, Arc<Reserved>)>>);

/// What is in the memory of this store that was not at the start. None if it is not watched, or not known in whole pages. While the
/// store is borrowed nothing runs that could write to it.
pub(crate) fn changed<T>(store: &mut Store<T>, watched: fn(&T) -> Option<&Watched>) -> Option<Snapshot> {
    let (initial, memory) = watched(store.data())?.0.get()?;
    // Of a part of a page nobody could tell what was there before.
    if !initial.start.is_multiple_of(PAGE) || !initial.bytes.len().is_multiple_of(PAGE) {
        return None;
    }
    // SAFETY: so much of the mapping can be read, it lives as long as `memory`, and the only store whose code writes to it is
    // borrowed.
    let now = unsafe { std::slice::from_raw_parts(memory.base.as_ptr(), memory.size()) };
    let from = initial.start..initial.start + initial.bytes.len();
    let nothing = [0; PAGE];
    let before = |at: usize| match from.contains(&at) {
        true => initial.bytes.get(at - from.start..at - from.start + PAGE),
        false => Some(&nothing[..]),
    };
    Snapshot::taken(now, before)
}

/// Makes the memories of one component, all of which start like this.
pub(crate) struct Memories {
    initial: MemoryImage,
    source: OnceLock<Option<file::Part>>,
}

impl Memories {
    pub(crate) fn new(initial: MemoryImage) -> Self {
        Memories { initial, source: OnceLock::new() }
    }

    fn make(&self, minimum: usize, reserved: usize, like: Option<&Snapshot>) -> Result<Reserved, String> {
        let MemoryImage { bytes, start } = self.initial;
        if start + bytes.len() > minimum {
            return Err(format!("a memory of {minimum} bytes does not match {} bytes", bytes.len()));
        }
        let wrong = |error: rustix::io::Errno| format!("no memory: {error}");
        let flags = MapFlags::PRIVATE | MapFlags::NORESERVE;
        // SAFETY: a new mapping at an address of the kernel's choice takes nothing from anybody.
        let base = unsafe { mmap_anonymous(ptr::null_mut(), reserved, ProtFlags::empty(), flags) }.map_err(wrong)?;
        let base = NonNull::new(base.cast::<u8>()).ok_or("a mapping at address 0")?;
        let memory = Reserved { base, reserved, size: AtomicUsize::new(0) };
        memory.open(like.map_or(minimum, |like| like.size().max(minimum))).map_err(wrong)?;
        // SAFETY: the check above: these bytes are inside the part that was just opened, and of nobody else's.
        let place = unsafe { base.add(start) };
        let part = self.source.get_or_init(|| file::Part::holding(bytes));
        if !part.as_ref().is_some_and(|part| part.map(place, bytes.len())) {
            // SAFETY: as above, and what is in the program's image does not lie in a new mapping.
            unsafe { ptr::copy_nonoverlapping(bytes.as_ptr(), place.as_ptr(), bytes.len()) };
        }
        for (at, bytes) in like.into_iter().flat_map(Snapshot::runs) {
            if memory.size().checked_sub(bytes.len()).is_none_or(|last| at > last) {
                return Err(format!("a snapshot goes beyond the {} bytes of its memory", memory.size()));
            }
            // SAFETY: the check above, and this mapping is nobody else's.
            unsafe { ptr::copy_nonoverlapping(bytes.as_ptr(), base.as_ptr().add(at), bytes.len()) };
        }
        Ok(memory)
    }
}

// SAFETY: each memory is a mapping of its own with all that was asked to be reserved behind it, which cannot be touched. It
// is not zero at the start as wasmtime has it, but as the component's data would have made it before anything runs; and it may
// be larger than what was asked for, within what its type and its addresses allow, as wasmtime asks for its size.
unsafe impl MemoryCreator for Memories {
    fn new_memory(
        &self,
        _: MemoryType,
        minimum: usize,
        maximum: Option<usize>,
        reserved: Option<usize>,
        guard: usize,
    ) -> Result<Box<dyn LinearMemory>, String> {
        let next = NEXT.take();
        let like = match &next {
            Some(Next::Like(snapshot)) => Some(&**snapshot),
            _ => None,
        };
        let capacity = reserved.or(maximum).unwrap_or(minimum).max(minimum);
        if like.is_some_and(|like| like.size() > maximum.unwrap_or(capacity).min(capacity)) {
            return Err("a snapshot is larger than its memory can be".to_owned());
        }
        let reserved = capacity.checked_add(guard).ok_or("a memory beyond all addresses")?;
        let memory = Arc::new(self.make(minimum, reserved, like)?);
        if let Some(Next::Watched(watched)) = next {
            // A component whose memory starts like this has one.
            let _ = watched.0.set((self.initial, Arc::clone(&memory)));
        }
        Ok(Box::new(Capped { memory, capacity }))
    }
}

/// Addresses that belong to a memory, of which the first part can be read and written.
#[derive(Debug)]
struct Reserved {
    base: NonNull<u8>,
    reserved: usize,
    size: AtomicUsize,
}

// SAFETY: it owns its mapping, as a box does.
unsafe impl Send for Reserved {}
// SAFETY: what is in it is read through a shared reference in `changed` alone, which has the store to itself whose code writes
// there.
unsafe impl Sync for Reserved {}

impl Reserved {
    fn size(&self) -> usize {
        self.size.load(Ordering::Acquire)
    }

    /// Lets more of it be used.
    fn open(&self, size: usize) -> rustix::io::Result<()> {
        let before = self.size();
        if size > before {
            let start = self.base.as_ptr().wrapping_add(before).cast::<c_void>();
            let access = MprotectFlags::READ | MprotectFlags::WRITE;
            // SAFETY: the caller stays below what is reserved, and nothing but this memory is there.
            unsafe { mprotect(start, size - before, access) }?;
            self.size.store(size, Ordering::Release);
        }
        Ok(())
    }
}

impl Drop for Reserved {
    fn drop(&mut self) {
        // SAFETY: the mapping is this memory's own, and dropped when neither wasmtime has it any more, so that nothing runs on it,
        // nor anybody who looks at it.
        let freed = unsafe { munmap(self.base.as_ptr().cast(), self.reserved) };
        if let Err(error) = freed {
            tracing::warn!(%error, "memory not given back");
        }
    }
}

struct Capped {
    memory: Arc<Reserved>,
    capacity: usize,
}

// SAFETY: the address stays the same for as long as it lives, and `byte_size` bytes can be used.
unsafe impl LinearMemory for Capped {
    fn byte_size(&self) -> usize {
        self.memory.size()
    }

    fn byte_capacity(&self) -> usize {
        self.capacity
    }

    fn grow_to(&mut self, size: usize) -> wasmtime::Result<()> {
        if size > self.capacity {
            return Err(wasmtime::Error::msg("a memory cannot grow beyond its reservation"));
        }
        Ok(self.memory.open(size)?)
    }

    fn as_ptr(&self) -> *mut u8 {
        self.memory.base.as_ptr()
    }
}

#[cfg(target_os = "linux")]
mod file {
    use std::fs::File;
    use std::io::Read;
    use std::os::unix::fs::MetadataExt;
    use std::ptr::NonNull;

    use rustix::mm::{MapFlags, ProtFlags, mmap};

    /// Longest list of mappings that is read.
    const LISTED: u64 = 1 << 20;

    /// A part of the program's file that is in its image.
    pub(super) struct Part {
        file: File,
        offset: u64,
    }

    impl Part {
        /// Where in the program's file these bytes are, if they are there.
        pub(super) fn holding(bytes: &[u8]) -> Option<Self> {
            let page = rustix::param::page_size();
            let address = bytes.as_ptr() as usize;
            if !address.is_multiple_of(page) || !bytes.len().is_multiple_of(page) || bytes.is_empty() {
                return None;
            }
            let file = File::open("/proc/self/exe").ok()?;
            let found = file.metadata().ok()?;
            let mut maps = String::new();
            File::open("/proc/self/maps").ok()?.take(LISTED).read_to_string(&mut maps).ok()?;
            let offset =
                maps.lines().find_map(|line| Mapped::read(line)?.offset_of(address, bytes.len(), found.ino()))?;
            Some(Part { file, offset })
        }

        /// Maps it here, as memory of its own from the first byte that is written.
        pub(super) fn map(&self, place: NonNull<u8>, length: usize) -> bool {
            let access = ProtFlags::READ | ProtFlags::WRITE;
            let flags = MapFlags::PRIVATE | MapFlags::FIXED;
            // SAFETY: the caller owns the addresses, which hold nothing yet. What the file holds there is what the program's
            // image has, as a file that runs cannot be written to.
            unsafe { mmap(place.as_ptr().cast(), length, access, flags, &self.file, self.offset) }.is_ok()
        }
    }

    /// A line of the kernel's list: `START-END ACCESS OFFSET DEVICE INODE NAME`.
    #[derive(Debug, PartialEq, Eq)]
    struct Mapped {
        start: usize,
        end: usize,
        offset: u64,
        inode: u64,
    }

    impl Mapped {
        fn read(line: &str) -> Option<Self> {
            let mut fields = line.split_ascii_whitespace();
            let (start, end) = fields.next()?.split_once('-')?;
            let (_access, offset, _device, inode) = (fields.next()?, fields.next()?, fields.next()?, fields.next()?);
            Some(Mapped {
                start: usize::from_str_radix(start, 16).ok()?,
                end: usize::from_str_radix(end, 16).ok()?,
                offset: u64::from_str_radix(offset, 16).ok()?,
                inode: inode.parse().ok()?,
            })
        }

        fn offset_of(&self, address: usize, length: usize, inode: u64) -> Option<u64> {
            let inside = (self.start..self.end).contains(&address) && self.end - address >= length;
            let within = u64::try_from(address.checked_sub(self.start)?).ok()?;
            (inside && self.inode == inode).then_some(self.offset + within)
        }
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn bytes_are_found_in_the_list_of_mappings() {
            let line = "55d0c0a00000-55d0c0c00000 r--p 00200000 fe:00 77                 /usr/bin/toolgate (deleted)";
            let at = |address, length, inode| Mapped::read(line).expect("a line").offset_of(address, length, inode);
            assert_eq!(at(0x55d0_c0a0_0000, 0x1000, 77), Some(0x20_0000));
            assert_eq!(at(0x55d0_c0bf_f000, 0x1000, 77), Some(0x3f_f000));
            assert_eq!(at(0x55d0_c0bf_f000, 0x2000, 77), None, "beyond the end");
            assert_eq!(at(0x55d0_c09f_f000, 0x1000, 77), None, "before the start");
            assert_eq!(at(0x55d0_c0a0_0000, 0x1000, 78), None, "of another file");
            for wrong in ["", "x", "1-2 r--p", "zz-2 r--p 0 fe:00 1", "1 r--p 0 fe:00 1"] {
                assert_eq!(Mapped::read(wrong), None, "{wrong}");
            }
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod file {
    use std::ptr::NonNull;

    /// Elsewhere there is no name for the program's own file that nobody can change, so the bytes are copied.
    pub(super) enum Part {}

    impl Part {
        pub(super) fn holding(_: &[u8]) -> Option<Self> {
            None
        }

        pub(super) fn map(&self, _: NonNull<u8>, _: usize) -> bool {
            match *self {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whole pages of the test program's own image.
    #[repr(C, align(4096))]
    struct Pages([u8; 8_192]);

    static IMAGE: Pages = Pages([7; 8_192]);

    fn memory(initial: MemoryImage, minimum: usize) -> Result<Box<dyn LinearMemory>, String> {
        let kind = wasmtime::MemoryType::new(4, None);
        Memories::new(initial).new_memory(kind, minimum, None, Some(1 << 20), 1 << 16)
    }

    fn byte(memory: &dyn LinearMemory, at: usize) -> u8 {
        assert!(at < memory.byte_size());
        // SAFETY: the memory is that large.
        unsafe { memory.as_ptr().add(at).read() }
    }

    #[test]
    fn a_memory_starts_as_it_was_left() {
        // From the file, and what is not at the border of a page by copying.
        for bytes in [&IMAGE.0[..], &IMAGE.0[1..]] {
            let initial = MemoryImage::new(bytes, 4_096);
            let mapped = file::Part::holding(bytes).is_some();
            assert_eq!(mapped, cfg!(target_os = "linux") && bytes.len() == 8_192);
            let mut one = memory(initial, 1 << 16).expect("a memory");
            let other = memory(initial, 1 << 16).expect("another");
            let cases = [(0, 0), (4_095, 0), (4_096, 7), (4_095 + bytes.len(), 7), (4_096 + 8_192, 0), (65_535, 0)];
            for (at, expected) in cases {
                assert_eq!(byte(one.as_ref(), at), expected, "{at}");
            }
            // SAFETY: it is inside the memory.
            unsafe { one.as_ptr().add(5_000).write(8) };
            assert_eq!((byte(one.as_ref(), 5_000), byte(other.as_ref(), 5_000), IMAGE.0[904]), (8, 7, 7));
            let base = one.as_ptr();
            one.grow_to(1 << 17).expect("it grows");
            assert_eq!((one.as_ptr(), one.byte_size(), byte(one.as_ref(), (1 << 17) - 1)), (base, 1 << 17, 0));
            assert!(one.grow_to((1 << 20) + 1).is_err(), "not beyond what is reserved");
        }
    }

    #[test]
    fn a_memory_that_is_too_small_is_another_module_s() {
        assert!(memory(MemoryImage::new(&IMAGE.0, 4_096), 8_192).is_err());
    }
}

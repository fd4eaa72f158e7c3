//! The allocator of a process that answers one call.
//!
//! glibc's allocator is made for processes that stay: each thread gets a heap of its own, which is opened a page at a time, and
//! each of these pages is asked for by touching it. In a hook that is some hundred calls of the kernel's, and as many faults,
//! for a heap of half a megabyte.

/// Gives all threads one heap, and takes at once what a call usually needs. To be called before any other thread is started.
pub(crate) fn for_one_call() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    glibc::one_heap();
}

#[cfg(all(target_os = "linux", target_env = "gnu"))]
mod glibc {
    // Settings of the C library and of the kernel, which the compiler knows nothing of.
    #![allow(unsafe_code)]

    use nix::libc;
    use rustix::mm::{Advice, madvise};

    /// What a hook that lets a call pass has in use, in bytes.
    const USUAL: usize = 384 << 10;

    /// By how much the heap grows beyond what is asked for, in bytes.
    const MORE: i32 = 1 << 20;

    pub(super) fn one_heap() {
        let settings = [
            (libc::M_ARENA_MAX, 1),
            (libc::M_TOP_PAD, MORE),
            (libc::M_TRIM_THRESHOLD, i32::MAX),
            (libc::M_MMAP_THRESHOLD, MORE),
        ];
        for (setting, value) in settings {
            // SAFETY: there is no other thread yet that could allocate meanwhile.
            unsafe { libc::mallopt(setting, value) };
        }
        let mut heap = Vec::<u8>::with_capacity(USUAL);
        let page = rustix::param::page_size();
        let start = heap.as_mut_ptr().map_addr(|address| address.next_multiple_of(page));
        // SAFETY: these pages are inside the allocation, which nobody else has. Where the kernel is older than this advice it
        // says so, and they are touched one by one as ever.
        let _ = unsafe { madvise(start.cast(), USUAL - 2 * page, Advice::LinuxPopulateWrite) };
    }
}

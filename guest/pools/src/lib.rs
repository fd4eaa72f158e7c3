//! Memory for components that allocate many small pieces: free lists by size class before another allocator.
//!
//! A verdict allocates some hundreds of them and frees them again. The allocator that comes with the target is made for little
//! memory of any size: it looks for the best piece, and puts neighbours together again. That was a sixth of the time of a verdict.
//! Here a small piece that is freed is kept on the list of its size class, and the next one of that class is taken from there.
//! A list keeps at most [`KEPT`] bytes; the rest, and what is larger, is for the allocator behind.
//!
//! ```ignore
//! #[global_allocator]
//! static HEAP: Pools<std::alloc::System> = Pools::new(std::alloc::System);
//! ```

// Memory is what the rest is safe on.
#![allow(unsafe_code)]

use std::alloc::{GlobalAlloc, Layout};
use std::cell::UnsafeCell;
use std::ptr::null_mut;

/// Sizes of small pieces are multiples of this, in bytes; it is what they are aligned to, too.
const STEP: usize = 8;

/// Largest small piece, in bytes.
const MOST: usize = 1 << 10;

/// What a list keeps at most, in bytes: more than all but very long commands use of a size. All lists together keep at most 4 MiB,
/// without what the allocator behind adds to a piece.
pub const KEPT: usize = if cfg!(test) { 1 << 10 } else { 32 << 10 };

const CLASSES: usize = MOST / STEP + 1;

// A piece on a list begins with the address of another, and a list has a place for one of each class.
const _: () = assert!(STEP >= size_of::<*mut u8>() && STEP >= align_of::<*mut u8>());
const _: () = assert!(KEPT >= MOST && KEPT / STEP <= u16::MAX as usize);

/// An allocator with lists of small pieces before another allocator.
///
/// It is for one thread, so that it can be nobody's global allocator but in WebAssembly without threads. The one behind must not
/// allocate by it.
pub struct Pools<A> {
    behind: A,
    lists: UnsafeCell<Lists>,
}

/// By the number of steps in a piece. There is none of no steps.
struct Lists {
    /// The piece that was freed last. It begins with the address of the one before.
    last: [*mut u8; CLASSES],
    /// How many more are kept.
    room: [u16; CLASSES],
}

/// The number of steps of a small piece; `None` if it is none.
#[inline]
fn class(layout: Layout) -> Option<usize> {
    (layout.size() <= MOST && layout.align() <= STEP).then(|| layout.size().div_ceil(STEP))
}

/// The whole piece that a small one is.
///
/// # Safety
/// A class is below the number of lists, and above 0.
#[inline]
unsafe fn whole(class: usize) -> Layout {
    // SAFETY: such a size is no problem, and the alignment is a power of two.
    unsafe { Layout::from_size_align_unchecked(class * STEP, STEP) }
}

impl Lists {
    const EMPTY: Lists = {
        let mut room = [0; CLASSES];
        let mut class = 1;
        while class < CLASSES {
            room[class] = (KEPT / (class * STEP)) as u16;
            class += 1;
        }
        Lists { last: [null_mut(); CLASSES], room }
    };

    /// Keeps a piece, if there is room.
    ///
    /// # Safety
    /// The piece has so many steps, at least one, and is nobody's. A class is below the number of lists.
    #[inline]
    unsafe fn keep(&mut self, class: usize, piece: *mut u8) -> bool {
        // SAFETY: as the caller says; a piece is as long as an address and aligned for one.
        unsafe {
            let room = self.room.get_unchecked_mut(class);
            if *room == 0 {
                return false;
            }
            *room -= 1;
            let last = self.last.get_unchecked_mut(class);
            piece.cast::<*mut u8>().write(*last);
            *last = piece;
            true
        }
    }

    /// Takes the piece that was kept last; null if there is none.
    ///
    /// # Safety
    /// A class is below the number of lists.
    #[inline]
    unsafe fn take(&mut self, class: usize) -> *mut u8 {
        // SAFETY: as the caller says; what is on a list begins with an address, see `keep`.
        unsafe {
            let last = self.last.get_unchecked_mut(class);
            let piece = *last;
            if !piece.is_null() {
                *last = piece.cast::<*mut u8>().read();
                *self.room.get_unchecked_mut(class) += 1;
            }
            piece
        }
    }
}

impl<A> Pools<A> {
    /// Empty lists before an allocator.
    pub const fn new(behind: A) -> Self {
        Pools { behind, lists: UnsafeCell::new(Lists::EMPTY) }
    }
}

impl<A: GlobalAlloc> Pools<A> {
    /// Gives all that is kept back to the allocator behind.
    pub fn clear(&self) {
        for class in 1..CLASSES {
            loop {
                // SAFETY: nobody else has the lists, as there is one thread and the allocator behind knows nothing of them. What is
                // on a list is nobody's, and came from behind as a whole piece.
                unsafe {
                    let piece = (*self.lists.get()).take(class);
                    if piece.is_null() {
                        break;
                    }
                    self.behind.dealloc(piece, whole(class));
                }
            }
        }
    }

    /// Takes so many bytes of zeros from behind, aligned to 8, and leaks them if their address is one that is asked for; else they go
    /// back. Whether they were leaked: false, too, for no bytes, for too many, and where there is no memory.
    pub fn give_away(&self, size: usize, lies: impl FnOnce(usize) -> bool) -> bool {
        let layout = Layout::from_size_align(size, STEP).ok().filter(|layout| layout.size() > 0);
        let Some(layout) = layout else { return false };
        // SAFETY: it is not nothing that is asked for, and nobody has it yet.
        unsafe {
            let piece = self.behind.alloc_zeroed(layout);
            let given = !piece.is_null() && lies(piece as usize);
            if !given && !piece.is_null() {
                self.behind.dealloc(piece, layout);
            }
            given
        }
    }
}

// SAFETY: there is one thread.
#[cfg(all(target_family = "wasm", not(target_feature = "atomics")))]
unsafe impl<A: Sync> Sync for Pools<A> {}

// SAFETY: a small piece is a whole one from behind, and on a list or somebody's; all else is behind.
unsafe impl<A: GlobalAlloc> GlobalAlloc for Pools<A> {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: a layout is not of nothing, as callers promise, so that its class is above 0.
        unsafe {
            let Some(class) = class(layout) else { return self.behind.alloc(layout) };
            let piece = (*self.lists.get()).take(class);
            if piece.is_null() { self.behind.alloc(whole(class)) } else { piece }
        }
    }

    #[inline]
    unsafe fn dealloc(&self, piece: *mut u8, layout: Layout) {
        // SAFETY: the piece is of this layout, which is not of nothing, as callers promise.
        unsafe {
            match class(layout) {
                Some(class) if (*self.lists.get()).keep(class, piece) => {}
                Some(class) => self.behind.dealloc(piece, whole(class)),
                None => self.behind.dealloc(piece, layout),
            }
        }
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as with `alloc`; a piece is as long as its layout.
        unsafe {
            if class(layout).is_none() {
                return self.behind.alloc_zeroed(layout);
            }
            let piece = self.alloc(layout);
            if !piece.is_null() {
                piece.write_bytes(0, layout.size());
            }
            piece
        }
    }

    #[inline]
    unsafe fn realloc(&self, piece: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: the piece is of this layout, and the size is not 0 and one that a layout can have, as callers promise. A small piece
        // is a whole one, so that it is of all layouts of its class. The new piece is another one than the old, and both are at
        // least as long as what is copied.
        unsafe {
            let wanted = Layout::from_size_align_unchecked(size, layout.align());
            match (class(layout), class(wanted)) {
                (None, None) => return self.behind.realloc(piece, layout, size),
                (had, has) if had == has => return piece,
                _ => {}
            }
            let new = self.alloc(wanted);
            if !new.is_null() {
                new.copy_from_nonoverlapping(piece, layout.size().min(size));
                self.dealloc(piece, layout);
            }
            new
        }
    }
}

#[cfg(test)]
mod tests {
    use std::alloc::System;
    use std::cell::{Cell, RefCell};
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    // In all of these tests a piece is used with the layout that it was taken with, and as far as that says.

    /// The system's memory, no more than so much of it, which is given back at the end.
    struct Counted {
        pieces: RefCell<BTreeMap<*mut u8, Layout>>,
        taken: Cell<usize>,
        most: usize,
    }

    impl Drop for Counted {
        fn drop(&mut self) {
            for (piece, layout) in self.pieces.take() {
                // SAFETY: it was taken with this layout, and nobody has the lists any more.
                unsafe { System.dealloc(piece, layout) };
            }
        }
    }

    // SAFETY: it is the system's; what is refused is null.
    unsafe impl GlobalAlloc for Counted {
        unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
            if self.taken.get() + layout.size() > self.most {
                return null_mut();
            }
            self.taken.set(self.taken.get() + layout.size());
            // SAFETY: as the caller says.
            let piece = unsafe { System.alloc(layout) };
            self.pieces.borrow_mut().insert(piece, layout);
            piece
        }

        unsafe fn dealloc(&self, piece: *mut u8, layout: Layout) {
            assert_eq!(self.pieces.borrow_mut().remove(&piece), Some(layout), "as it was taken");
            self.taken.set(self.taken.get() - layout.size());
            // SAFETY: as the caller says.
            unsafe { System.dealloc(piece, layout) }
        }
    }

    fn pools(most: usize) -> Pools<Counted> {
        Pools::new(Counted { pieces: RefCell::default(), taken: Cell::new(0), most })
    }

    fn layout(size: usize, align: usize) -> Layout {
        Layout::from_size_align(size, align).expect("a layout")
    }

    /// What somebody has: where, how much, and the byte that it is full of.
    struct Held {
        piece: *mut u8,
        layout: Layout,
        filled: u8,
    }

    impl Held {
        fn is_whole(&self, size: usize) -> bool {
            (0..size).all(|at| unsafe { self.piece.add(at).read() } == self.filled)
        }
    }

    proptest! {
        /// Whatever is asked for in whatever order, nobody's memory is another's.
        #[test]
        fn what_is_held_stays_as_it_is(steps in prop::collection::vec((0..30_u8, 1..3_000_usize, 0..6_u32, any::<prop::sample::Index>()), 1..400)) {
            let pools = pools(usize::MAX);
            let mut held: Vec<Held> = Vec::new();
            for (number, (what, size, align, which)) in steps.into_iter().enumerate() {
                let filled = number as u8;
                // Most are small.
                let size = if what < 10 || number % 3 > 0 { 1 + size % 64 } else { size };
                match what {
                    0 => pools.clear(),
                    1..10 if !held.is_empty() => {
                        let one = held.swap_remove(which.index(held.len()));
                        prop_assert!(one.is_whole(one.layout.size()));
                        unsafe { pools.dealloc(one.piece, one.layout) };
                    }
                    10..20 if !held.is_empty() => {
                        let at = which.index(held.len());
                        let one = &mut held[at];
                        one.piece = unsafe { pools.realloc(one.piece, one.layout, size) };
                        prop_assert!(one.is_whole(one.layout.size().min(size)));
                        one.layout = layout(size, one.layout.align());
                        one.filled = filled;
                        unsafe { one.piece.write_bytes(filled, size) };
                    }
                    _ => {
                        let layout = layout(size, 1 << align);
                        let piece = unsafe { if align % 2 == 0 { pools.alloc(layout) } else { pools.alloc_zeroed(layout) } };
                        if align % 2 == 1 {
                            let zeros = (0..size).all(|at| unsafe { piece.add(at).read() } == 0);
                            prop_assert!(zeros);
                        }
                        unsafe { piece.write_bytes(filled, size) };
                        held.push(Held { piece, layout, filled });
                    }
                }
                for one in &held {
                    prop_assert_eq!(one.piece.align_offset(one.layout.align()), 0);
                }
            }
            for one in &held {
                prop_assert!(one.is_whole(one.layout.size()));
                unsafe { pools.dealloc(one.piece, one.layout) };
            }
        }
    }

    #[test]
    fn what_was_freed_is_given_out_again() {
        let pools = pools(usize::MAX);
        // By size and alignment: whether it is small.
        for (size, align, small) in
            [(1, 1, true), (8, 8, true), (9, 1, true), (MOST, 8, true), (MOST + 1, 1, false), (16, 16, false)]
        {
            let layout = layout(size, align);
            unsafe {
                let first = pools.alloc(layout);
                let taken = pools.behind.taken.get();
                pools.dealloc(first, layout);
                assert_eq!(pools.behind.taken.get() == taken, small, "{size} {align}");
                if small {
                    assert_eq!(pools.alloc(layout), first, "{size} {align}");
                }
            }
        }
    }

    #[test]
    fn a_list_keeps_as_much_as_is_said() {
        let pools = pools(usize::MAX);
        for class in 1..CLASSES {
            let kept = KEPT / (class * STEP);
            // The last byte of it, and the first.
            for size in [class * STEP, class * STEP - STEP + 1] {
                let layout = layout(size, 1);
                let held: Vec<_> = (0..2 * kept).map(|_| unsafe { pools.alloc(layout) }).collect();
                held.into_iter().for_each(|piece| unsafe { pools.dealloc(piece, layout) });
                assert_eq!(pools.behind.taken.get(), kept * class * STEP, "{size}");
                pools.clear();
                assert_eq!(pools.behind.taken.get(), 0, "{size}");
            }
        }
    }

    #[test]
    fn where_there_is_no_more_nothing_is_lost() {
        let pools = pools(8 * MOST);
        let whole = layout(MOST, 8);
        let take = |layout| unsafe { pools.alloc(layout) };
        let mut held: Vec<*mut u8> =
            std::iter::repeat_with(|| take(whole)).take_while(|piece| !piece.is_null()).collect();
        assert_eq!(held.len(), 8);
        // It cannot grow, and stays.
        let last = held.pop().expect("a piece");
        unsafe { last.write_bytes(7, MOST) };
        assert!(unsafe { pools.realloc(last, whole, MOST + 1) }.is_null());
        assert!((0..MOST).all(|at| unsafe { last.add(at).read() } == 7));
        unsafe { pools.dealloc(last, whole) };
        assert_eq!(take(whole), last);
    }

    #[test]
    fn what_is_given_away_is_where_somebody_says() {
        let pools = pools(usize::MAX);
        // By size: whether it lies right, and what is taken after it.
        for (size, lies, taken) in
            [(64, false, 0), (64, true, 64), (0, true, 64), (usize::MAX, true, 64), (9, true, 73)]
        {
            assert_eq!(pools.give_away(size, |_| lies), lies && size > 0 && size < usize::MAX, "{size}");
            assert_eq!(pools.behind.taken.get(), taken, "{size}");
        }
    }
}

//! The component's memory.
//!
//! A verdict allocates some hundreds of small pieces and frees them again. The allocator that comes with the target is made for
//! little memory of any size: it looks for the best piece, and puts neighbours together again. That was a sixth of the time
//! of a verdict. Here a small piece goes to a list of those of its size when it is freed, and the next one of that size is
//! taken from there. What is larger is left to the allocator behind.
//!
//! Small pieces are never put together, so a list holds as many as there ever were at once. That is within the limit on the
//! component's memory, which it is started anew with.

// Memory is what the rest is safe on.
#![allow(unsafe_code)]

use std::alloc::{GlobalAlloc, Layout};
use std::cell::UnsafeCell;
use std::ptr::null_mut;

/// Sizes of small pieces are multiples of this, in bytes; it is what they are aligned to, too.
const STEP: usize = 8;

/// Largest small piece, in bytes.
const MOST: usize = 1 << 10;

/// What small pieces are cut from, in bytes.
const REGION: usize = 32 << 10;

const CLASSES: usize = MOST / STEP + 1;

#[cfg(all(target_family = "wasm", target_feature = "atomics"))]
compile_error!("the component's memory is for one thread");

// SAFETY: a component has one thread.
#[cfg(target_family = "wasm")]
#[global_allocator]
pub(crate) static MEMORY: Pools<std::alloc::System> = unsafe { Pools::new(std::alloc::System) };

/// An allocator with lists of small pieces before another allocator. For one thread.
pub(crate) struct Pools<A> {
    behind: A,
    lists: UnsafeCell<Lists>,
}

struct Lists {
    /// By the number of steps in it, the piece that was freed last. It begins with the address of the one before.
    free: [*mut u8; CLASSES],
    /// What is left of a region.
    rest: *mut u8,
    left: usize,
}

/// The number of steps of a small piece; `None` if it is none. Nobody asks for nothing.
#[inline]
fn class(layout: Layout) -> Option<usize> {
    (layout.size() <= MOST && layout.align() <= STEP).then(|| layout.size().div_ceil(STEP))
}

impl Lists {
    /// Puts a piece on the list of those of its size.
    ///
    /// # Safety
    /// The piece has so many steps, at least one, and is nobody's.
    #[inline]
    unsafe fn put(&mut self, class: usize, piece: *mut u8) {
        // SAFETY: a piece is as long as an address and aligned for one; a class is below the number of lists.
        unsafe {
            let head = self.free.get_unchecked_mut(class);
            piece.cast::<*mut u8>().write(*head);
            *head = piece;
        }
    }

    /// Takes a piece from the list of those of its size; null if it is empty.
    ///
    /// # Safety
    /// A class is below the number of lists.
    #[inline]
    unsafe fn take(&mut self, class: usize) -> *mut u8 {
        // SAFETY: what is on a list begins with an address, see `put`.
        unsafe {
            let head = self.free.get_unchecked_mut(class);
            let piece = *head;
            if !piece.is_null() {
                *head = piece.cast::<*mut u8>().read();
            }
            piece
        }
    }
}

impl<A: GlobalAlloc> Pools<A> {
    /// Empty lists before an allocator.
    ///
    /// # Safety
    /// As a static, it is for programs of one thread.
    pub(crate) const unsafe fn new(behind: A) -> Self {
        let lists = Lists { free: [null_mut(); CLASSES], rest: null_mut(), left: 0 };
        Pools { behind, lists: UnsafeCell::new(lists) }
    }

    /// Cuts a piece that no list had.
    ///
    /// # Safety
    /// A class is below the number of lists, and above 0.
    #[cold]
    #[inline(never)]
    unsafe fn cut(&self, class: usize) -> *mut u8 {
        let size = class * STEP;
        // SAFETY: nobody else has the lists, as there is one thread and the allocator behind knows nothing of them. The rest
        // of a region is aligned, as all pieces of it are multiples of a step.
        unsafe {
            let lists = &mut *self.lists.get();
            if lists.left < size {
                if lists.left > 0 {
                    lists.put(lists.left / STEP, lists.rest);
                }
                lists.rest = self.behind.alloc(Layout::from_size_align_unchecked(REGION, STEP));
                if lists.rest.is_null() {
                    lists.left = 0;
                    return null_mut();
                }
                lists.left = REGION;
            }
            let piece = lists.rest;
            lists.rest = piece.add(size);
            lists.left -= size;
            piece
        }
    }

    /// Makes zeros of what was freed, and gives it away for good: what is asked for later is taken from elsewhere.
    pub(crate) fn close(&self) {
        // SAFETY: what is on a list, and what is left of a region, is nobody's; of a piece nobody else knows how long it is.
        unsafe {
            let lists = &mut *self.lists.get();
            for class in 1..CLASSES {
                loop {
                    let piece = lists.take(class);
                    if piece.is_null() {
                        break;
                    }
                    piece.write_bytes(0, class * STEP);
                }
            }
            if lists.left > 0 {
                lists.rest.write_bytes(0, lists.left);
            }
            (lists.rest, lists.left) = (null_mut(), 0);
        }
    }

    /// Takes memory from behind, of zeros, and gives it away for good if it lies where somebody says. Whether it was.
    pub(crate) fn give_away(&self, size: usize, lies: impl FnOnce(usize) -> bool) -> bool {
        let Ok(layout) = Layout::from_size_align(size.max(1), STEP) else { return false };
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

// SAFETY: `new` says that there is one thread.
unsafe impl<A: Sync> Sync for Pools<A> {}

// SAFETY: a piece is on a list, in a region's rest, or somebody's, and of a layout's size in steps; all else is behind.
unsafe impl<A: GlobalAlloc> GlobalAlloc for Pools<A> {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: a layout is not of nothing, so that its class is above 0.
        unsafe {
            let Some(class) = class(layout) else { return self.behind.alloc(layout) };
            let piece = (*self.lists.get()).take(class);
            if piece.is_null() { self.cut(class) } else { piece }
        }
    }

    #[inline]
    unsafe fn dealloc(&self, piece: *mut u8, layout: Layout) {
        // SAFETY: the piece is of this layout.
        unsafe {
            match class(layout) {
                Some(class) => (*self.lists.get()).put(class, piece),
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
        // SAFETY: the piece is of the first layout, and whoever asks has looked that there is the second. The new piece is
        // another one than the old, which is as long as it says.
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
    use std::cell::Cell;

    use proptest::prelude::*;

    use super::*;

    /// Counts what is taken from behind, and gives no more than so much.
    struct Counted {
        taken: Cell<usize>,
        most: usize,
    }

    // SAFETY: it is the system's; what is refused is null.
    unsafe impl GlobalAlloc for Counted {
        unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
            if self.taken.get() + layout.size() > self.most {
                return null_mut();
            }
            self.taken.set(self.taken.get() + layout.size());
            unsafe { System.alloc(layout) }
        }

        unsafe fn dealloc(&self, piece: *mut u8, layout: Layout) {
            self.taken.set(self.taken.get() - layout.size());
            unsafe { System.dealloc(piece, layout) }
        }
    }

    fn pools(most: usize) -> Pools<Counted> {
        unsafe { Pools::new(Counted { taken: Cell::new(0), most }) }
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
        fn what_is_held_stays_as_it_is(steps in prop::collection::vec((0..3_u8, 1..3_000_usize, 0..6_u32, any::<prop::sample::Index>()), 1..400)) {
            let pools = pools(usize::MAX);
            let mut held: Vec<Held> = Vec::new();
            for (number, (what, size, align, which)) in steps.into_iter().enumerate() {
                let filled = number as u8;
                // Most are small.
                let size = if what == 0 || number % 3 > 0 { 1 + size % 64 } else { size };
                match what {
                    0 if !held.is_empty() => {
                        let one = held.swap_remove(which.index(held.len()));
                        prop_assert!(one.is_whole(one.layout.size()));
                        unsafe { pools.dealloc(one.piece, one.layout) };
                    }
                    1 if !held.is_empty() => {
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
    fn however_often_it_is_used_it_takes_no_more() {
        let pools = pools(2 * REGION);
        for round in 0..10_000_usize {
            let pieces = (1..40).map(|size| layout(8 * size + round % 8, 4));
            let held: Vec<_> = pieces.map(|layout| (unsafe { pools.alloc(layout) }, layout)).collect();
            for (piece, layout) in held {
                assert!(!piece.is_null(), "{round}");
                unsafe { pools.dealloc(piece, layout) };
            }
        }
    }

    #[test]
    fn where_there_is_no_more_nothing_is_lost() {
        let pools = pools(REGION);
        let layout = layout(MOST, 8);
        let mut held: Vec<*mut u8> = Vec::new();
        loop {
            let piece = unsafe { pools.alloc(layout) };
            if piece.is_null() {
                break;
            }
            unsafe { piece.write_bytes(held.len() as u8, MOST) };
            held.push(piece);
        }
        assert_eq!(held.len(), REGION / MOST);
        // It cannot grow, and stays.
        let last = held.pop().expect("a piece");
        assert!(unsafe { pools.realloc(last, layout, MOST + 1) }.is_null());
        assert_eq!(unsafe { last.read() }, 31);
        unsafe { pools.dealloc(last, layout) };
        assert_eq!(unsafe { pools.alloc(layout) }, last);
    }

    #[test]
    fn what_is_closed_is_zeros_and_not_given_out_again() {
        let pools = pools(usize::MAX);
        let all: Vec<Layout> = (1..=CLASSES - 1).map(|class| layout(class * STEP, 8)).collect();
        let pieces: Vec<*mut u8> = all.iter().map(|layout| unsafe { pools.alloc(*layout) }).collect();
        for (piece, layout) in pieces.iter().zip(&all) {
            unsafe {
                piece.write_bytes(0xff, layout.size());
                pools.dealloc(*piece, *layout);
            }
        }
        let rest = unsafe { (*pools.lists.get()).rest };
        pools.close();
        for (piece, layout) in pieces.iter().zip(&all) {
            assert!((0..layout.size()).all(|at| unsafe { piece.add(at).read() } == 0), "{layout:?}");
            let later = unsafe { pools.alloc(*layout) };
            assert!(!pieces.contains(&later) && later != rest, "{layout:?}");
        }
        let taken = pools.behind.taken.get();
        assert!(!pools.give_away(64, |_| false) && pools.behind.taken.get() == taken);
        let zeros = |place: usize| (0..64).all(|at| unsafe { (place as *const u8).add(at).read() } == 0);
        assert!(pools.give_away(64, zeros) && pools.behind.taken.get() == taken + 64);
    }
}

//! Memory for components that allocate many small pieces.
//!
//! A verdict allocates some hundreds of them and frees them again. The allocator that comes with the target is made for little
//! memory of any size: it looks for the best piece, and puts neighbours together again. That was a sixth of the time of a verdict.
//! Here a small piece goes to a list of those of its size when it is freed, and the next one of that size is taken from there.
//! What is larger is left to the allocator behind.
//!
//! Small pieces are never put together again, so each list stays as long as it ever was. Somebody who uses another size each
//! time comes to the limit on the component's memory sooner than without lists; whoever runs it starts it anew before that.

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

/// An allocator with lists of small pieces before another allocator.
///
/// It is for one thread, so that it can be nobody's global allocator but in WebAssembly without threads.
pub struct Pools<A> {
    behind: A,
    lists: UnsafeCell<Lists>,
}

struct Lists {
    /// By the number of steps in it, the piece that was freed last. It begins with the address of the one before. There is none
    /// of no steps.
    free: [*mut u8; CLASSES],
    /// What is left of a region.
    rest: *mut u8,
    left: usize,
}

/// The number of steps of a small piece; `None` if it is none.
#[inline]
fn class(layout: Layout) -> Option<usize> {
    debug_assert!(layout.size() > 0, "nobody asks an allocator for nothing");
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

impl<A> Pools<A> {
    /// Empty lists before an allocator.
    pub const fn new(behind: A) -> Self {
        let lists = Lists { free: [null_mut(); CLASSES], rest: null_mut(), left: 0 };
        Pools { behind, lists: UnsafeCell::new(lists) }
    }
}

impl<A: GlobalAlloc> Pools<A> {
    /// Cuts a piece that no list had; null if there is no memory for it.
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
                let region = self.behind.alloc(Layout::from_size_align_unchecked(REGION, STEP));
                if region.is_null() {
                    return self.scrape(lists, class);
                }
                if lists.left > 0 {
                    lists.put(lists.left / STEP, lists.rest);
                }
                (lists.rest, lists.left) = (region, REGION);
            }
            let piece = lists.rest;
            lists.rest = piece.add(size);
            lists.left -= size;
            piece
        }
    }

    /// Where there is no region any more: a part of a larger piece, or what is left behind.
    ///
    /// # Safety
    /// As for `cut`.
    unsafe fn scrape(&self, lists: &mut Lists, class: usize) -> *mut u8 {
        // SAFETY: a piece of so many steps is one of fewer and one of those that remain.
        unsafe {
            for larger in class + 1..CLASSES {
                let piece = lists.take(larger);
                if !piece.is_null() {
                    lists.put(larger - class, piece.add(class * STEP));
                    return piece;
                }
            }
            self.behind.alloc(Layout::from_size_align_unchecked(class * STEP, STEP))
        }
    }

    /// Makes zeros of what was freed, and gives it away for good: what is asked for later is taken from elsewhere.
    pub fn close(&self) {
        // SAFETY: what is on a list, and what is left of a region, is nobody's. A piece on a list is of its class.
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
        // SAFETY: the piece is of this layout, and the size is one that a layout can have, as callers promise. The new piece is
        // another one than the old, and both are at least as long as what is copied.
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
    use std::cell::RefCell;
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    /// The system's memory, no more than so much of it, which is given back at the end.
    struct Counted {
        taken: RefCell<BTreeMap<*mut u8, Layout>>,
        most: usize,
    }

    impl Counted {
        fn taken(&self) -> usize {
            self.taken.borrow().values().map(Layout::size).sum()
        }
    }

    impl Drop for Counted {
        fn drop(&mut self) {
            for (piece, layout) in self.taken.take() {
                // SAFETY: it was taken with this layout, and nobody has the lists any more.
                unsafe { System.dealloc(piece, layout) };
            }
        }
    }

    // SAFETY: it is the system's; what is refused is null.
    unsafe impl GlobalAlloc for Counted {
        unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
            if self.taken() + layout.size() > self.most {
                return null_mut();
            }
            // SAFETY: as the caller says.
            let piece = unsafe { System.alloc(layout) };
            self.taken.borrow_mut().insert(piece, layout);
            piece
        }

        unsafe fn dealloc(&self, piece: *mut u8, layout: Layout) {
            self.taken.borrow_mut().remove(&piece);
            // SAFETY: as the caller says.
            unsafe { System.dealloc(piece, layout) }
        }
    }

    fn pools(most: usize) -> Pools<Counted> {
        Pools::new(Counted { taken: RefCell::default(), most })
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
                let taken = pools.behind.taken();
                pools.dealloc(first, layout);
                assert_eq!(pools.behind.taken() == taken, small, "{size} {align}");
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
        let whole = layout(MOST, 8);
        let take = |layout| unsafe { pools.alloc(layout) };
        let mut held: Vec<*mut u8> =
            std::iter::repeat_with(|| take(whole)).take_while(|piece| !piece.is_null()).collect();
        assert_eq!(held.len(), REGION / MOST);
        // It cannot grow, and stays.
        let last = held.pop().expect("a piece");
        unsafe { last.write_bytes(7, MOST) };
        assert!(unsafe { pools.realloc(last, whole, MOST + 1) }.is_null());
        assert!((0..MOST).all(|at| unsafe { last.add(at).read() } == 7));
        // A larger one that nobody has is cut up for smaller ones, to the last byte.
        unsafe { pools.dealloc(last, whole) };
        let small = layout(24, 8);
        let cut: Vec<*mut u8> = std::iter::repeat_with(|| take(small)).take_while(|piece| !piece.is_null()).collect();
        assert_eq!(cut.len(), MOST / 24);
        assert!(cut.iter().all(|piece| (last.addr()..last.addr() + MOST).contains(&piece.addr())));
        assert_eq!(take(layout(MOST - MOST / 24 * 24, 8)), unsafe { last.add(MOST / 24 * 24) });
    }

    #[test]
    fn what_is_closed_is_zeros_and_not_given_out_again() {
        let pools = pools(usize::MAX);
        let all: Vec<Layout> = (1..CLASSES).map(|class| layout(class * STEP, 8)).collect();
        let pieces: Vec<*mut u8> = all.iter().map(|layout| unsafe { pools.alloc(*layout) }).collect();
        for (piece, layout) in pieces.iter().zip(&all) {
            unsafe {
                piece.write_bytes(0xff, layout.size());
                pools.dealloc(*piece, *layout);
            }
        }
        let (rest, left) = unsafe { ((*pools.lists.get()).rest, (*pools.lists.get()).left) };
        assert!(left > 0);
        unsafe { rest.write_bytes(0xff, left) };
        pools.close();
        let zeros = |piece: *mut u8, size: usize| (0..size).all(|at| unsafe { piece.add(at).read() } == 0);
        assert!(zeros(rest, left));
        for (piece, layout) in pieces.iter().zip(&all) {
            assert!(zeros(*piece, layout.size()), "{layout:?}");
            let later = unsafe { pools.alloc(*layout) };
            assert!(!pieces.contains(&later) && later != rest, "{layout:?}");
        }
    }

    #[test]
    fn what_is_given_away_is_where_somebody_says() {
        let pools = pools(usize::MAX);
        // By size: whether it lies right, and what is taken after it.
        for (size, lies, taken) in
            [(64, false, 0), (64, true, 64), (0, true, 64), (usize::MAX, true, 64), (9, true, 73)]
        {
            assert_eq!(pools.give_away(size, |_| lies), lies && size > 0 && size < usize::MAX, "{size}");
            assert_eq!(pools.behind.taken(), taken, "{size}");
        }
    }
}

//! Memory at a fixed address: pointers into it stay valid when its owner moves.
//!
//! By Rust's aliasing rules (Stacked Borrows, which Miri checks), each move of a `Box` and each `&mut` to it
//! invalidates earlier pointers into it. All pointers into this memory derive from one raw pointer, which is created
//! once and which nothing invalidates.

use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;

/// A fixed number of `T`. Pointers from [`FixedBuffer::at`] are valid while it lives.
pub(super) struct FixedBuffer<T>(NonNull<[T]>);

impl<T> FixedBuffer<T> {
    pub(super) fn new(items: impl Into<Box<[T]>>) -> Self {
        Self(NonNull::from(Box::leak(items.into())))
    }

    pub(super) fn one(item: T) -> Self {
        Self::new([item])
    }

    /// Returns a pointer to item `n`.
    #[inline]
    pub(super) fn at(&self, n: usize) -> *mut T {
        self.0.as_ptr().cast::<T>().wrapping_add(n)
    }
}

impl<T> Deref for FixedBuffer<T> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        #[expect(unsafe_code, reason = "the memory is owned by hand")]
        // SAFETY: the memory comes from a leaked box and is freed only with `self`. The kernel writes through a
        // pointer of `at` only during a system call, which has returned.
        unsafe {
            self.0.as_ref()
        }
    }
}

impl<T> DerefMut for FixedBuffer<T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut [T] {
        #[expect(unsafe_code, reason = "the memory is owned by hand")]
        // SAFETY: the memory comes from a leaked box and is freed only with `self`. The kernel accesses it only
        // during a system call, which has returned.
        unsafe {
            self.0.as_mut()
        }
    }
}

impl<T> Drop for FixedBuffer<T> {
    fn drop(&mut self) {
        #[expect(unsafe_code, reason = "the memory is owned by hand")]
        // SAFETY: the memory comes from a leaked box, and nothing else frees it.
        drop(unsafe { Box::from_raw(self.0.as_ptr()) });
    }
}

#[expect(unsafe_code, reason = "it owns its memory by a raw pointer")]
// SAFETY: it owns the memory that it points to, like a box.
unsafe impl<T: Send> Send for FixedBuffer<T> {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pointer_outlives_moves_and_borrows_of_its_owner() {
        let mut letters = FixedBuffer::new(*b"abc");
        let second = letters.at(1);
        letters[1] = b'x';
        let letters = Box::new(letters);
        #[expect(unsafe_code, reason = "the test is about it")]
        // SAFETY: `letters` lives.
        unsafe {
            assert_eq!(*second, b'x');
            *second = b'y';
        }
        assert_eq!(letters[..], *b"ayc");
    }

    #[test]
    fn empty_memory_has_an_address() {
        let nothing = FixedBuffer::<u8>::new([]);
        assert!(nothing.is_empty() && !nothing.at(0).is_null());
    }
}

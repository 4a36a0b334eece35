//! Memory that stays where it is, for pointers into it that outlive a move of their owner.
//!
//! A `Box` claims its memory anew each time that it moves, and so does every `&mut` to it: by Rust's rules
//! (Stacked Borrows, which Miri checks) pointers that were made before are no longer good. Here all of them
//! come from one raw pointer, which is made once, and which nothing claims.

use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;

/// As many `T` as it was made from. Pointers from [`Stable::at`] are good for as long as it lives.
pub(super) struct Stable<T>(NonNull<[T]>);

impl<T> Stable<T> {
    pub(super) fn new(items: impl Into<Box<[T]>>) -> Self {
        Self(NonNull::from(Box::leak(items.into())))
    }

    pub(super) fn one(item: T) -> Self {
        Self::new([item])
    }

    /// Where item `n` is.
    #[inline]
    pub(super) fn at(&self, n: usize) -> *mut T {
        self.0.as_ptr().cast::<T>().wrapping_add(n)
    }
}

impl<T> Deref for Stable<T> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        #[expect(unsafe_code, reason = "the memory is owned by hand")]
        // SAFETY: it is what a box left, and freed with `self` only. Whoever writes through a pointer of `at`,
        // the kernel in a system call, has returned.
        unsafe {
            self.0.as_ref()
        }
    }
}

impl<T> DerefMut for Stable<T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut [T] {
        #[expect(unsafe_code, reason = "the memory is owned by hand")]
        // SAFETY: as above; and the kernel reads it during a system call only.
        unsafe {
            self.0.as_mut()
        }
    }
}

impl<T> Drop for Stable<T> {
    fn drop(&mut self) {
        #[expect(unsafe_code, reason = "the memory is owned by hand")]
        // SAFETY: it is what a box left, and nothing else frees it.
        drop(unsafe { Box::from_raw(self.0.as_ptr()) });
    }
}

#[expect(unsafe_code, reason = "it owns its memory by a raw pointer")]
// SAFETY: it owns what it points to, as a box does.
unsafe impl<T: Send> Send for Stable<T> {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pointer_outlives_moves_and_borrows_of_its_owner() {
        let mut letters = Stable::new(*b"abc");
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
    fn of_no_length_it_has_an_address() {
        let nothing = Stable::<u8>::new([]);
        assert!(nothing.is_empty() && !nothing.at(0).is_null());
    }
}

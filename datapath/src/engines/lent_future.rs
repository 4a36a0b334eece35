//! Lends a borrowing future to a runtime that requires ownership.
//!
//! A runtime with several threads takes only futures that borrow nothing. A bench thread's future borrows its I/O
//! objects: inside the future, which lives in memory, they could not stay in registers. So the bench thread lends the
//! future and waits until it is dropped, like `std::thread::scope`.

use std::future::Future;
use std::pin::Pin;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::task::{Context, Poll};

/// A future that a runtime may own.
pub(super) struct Lent {
    // Must stay above `_dropped`: fields drop in order, and dropping that one wakes the lender.
    future: Pin<Box<dyn Future<Output = ()> + Send>>,
    _dropped: SyncSender<()>,
}

impl Future for Lent {
    type Output = ();

    #[inline]
    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        self.future.as_mut().poll(context)
    }
}

/// Passes `future` to `spawn`, which must make other threads drive it, and waits for its end.
///
/// # Panics
/// Panics if the future panics, or is dropped before it has ended.
pub(super) fn until_done<F>(spawn: &dyn Fn(Lent), future: F) -> F::Output
where
    F: Future<Output: Send> + Send,
{
    let mut output = None;
    lend(
        spawn,
        Box::pin(async {
            output = Some(future.await);
        }),
    );
    match output {
        Some(output) => output,
        None => panic!("a task ended before its time"),
    }
}

/// Spawns the future and waits until it is dropped. Not generic, so that it is compiled once.
fn lend(spawn: &dyn Fn(Lent), future: Pin<Box<dyn Future<Output = ()> + Send + '_>>) {
    /// Waits when dropped, even if `spawn` panics: another thread may have the future by then.
    struct WaitOnDrop(Receiver<()>);
    impl Drop for WaitOnDrop {
        fn drop(&mut self) {
            // Nothing is ever sent: the call returns when the sender is dropped.
            let _ = self.0.recv();
        }
    }

    #[expect(unsafe_code, reason = "extends the lifetime of a future")]
    // SAFETY: the two types differ only in their lifetime. The borrowed data lives until this function returns. The
    // function returns after `WaitOnDrop` is dropped, that one is dropped after `_dropped`, and `_dropped` is dropped
    // after the future, since fields are dropped in order. If the future is never dropped, this function never
    // returns.
    let future: Pin<Box<dyn Future<Output = ()> + Send + 'static>> =
        unsafe { std::mem::transmute(future) };
    let (sender, receiver) = sync_channel(0);
    let wait = WaitOnDrop(receiver);
    spawn(Lent {
        future,
        _dropped: sender,
    });
    drop(wait);
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::thread;

    use super::*;
    use crate::engine::poll_once;

    #[test]
    fn a_future_that_borrows_runs_on_another_thread() {
        let here = thread::current().id();
        let mut there = None;
        let borrowing = async {
            there = Some(thread::current().id());
            42
        };
        let elsewhere = |lent| drop(thread::spawn(|| poll_once(lent)));
        assert_eq!(until_done(&elsewhere, borrowing), 42);
        assert!(there.is_some_and(|there| there != here));
    }

    #[test]
    fn a_future_that_is_dropped_early_ends_the_wait() {
        let outcome = catch_unwind(AssertUnwindSafe(|| {
            let elsewhere = |lent| drop(thread::spawn(|| drop(lent)));
            until_done(&elsewhere, async {});
        }));
        assert!(outcome.is_err());
    }
}

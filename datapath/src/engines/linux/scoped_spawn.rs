//! Lends a future to threads that want to own it.
//!
//! A runtime with several threads takes futures that borrow nothing. A lane's future borrows its ports,
//! which stay outside of it for a reason (see [`crate::workload`]). So the lane's thread lends it, and waits
//! until it has got it back, as `std::thread::scope` does.

use std::future::Future;
use std::pin::Pin;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::task::{Context, Poll};

/// A future that a runtime may take for its own.
pub struct Lent {
    // Before the next one, which tells that it is gone.
    future: Pin<Box<dyn Future<Output = ()> + Send>>,
    _until_gone: SyncSender<()>,
}

impl Future for Lent {
    type Output = ();

    #[inline]
    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        self.future.as_mut().poll(context)
    }
}

/// Gives `future` to `spawn`, which is to have it driven by other threads, and waits for its end.
///
/// # Panics
/// If the future does, or is dropped before it has ended.
pub fn until_done<F>(spawn: &dyn Fn(Lent), future: F) -> F::Output
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

/// The part that is the same for every future.
fn lend(spawn: &dyn Fn(Lent), future: Pin<Box<dyn Future<Output = ()> + Send + '_>>) {
    /// Waits also when `spawn` panics: another thread may have the future by then.
    struct Wait(Receiver<()>);
    impl Drop for Wait {
        fn drop(&mut self) {
            // Nothing is ever sent: this ends when the sender is dropped.
            let _ = self.0.recv();
        }
    }

    #[expect(unsafe_code, reason = "extends the lifetime of a future")]
    // SAFETY: the two types differ in lifetime only. What the future borrows lives until this function
    // returns; that is after `Wait` was dropped, which is after `_until_gone` was, which is after the future
    // was: fields are dropped in their order. If it is never dropped, this function never returns.
    let future: Pin<Box<dyn Future<Output = ()> + Send + 'static>> =
        unsafe { std::mem::transmute(future) };
    let (until_gone, gone) = sync_channel(0);
    let wait = Wait(gone);
    spawn(Lent {
        future,
        _until_gone: until_gone,
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

//! Interrupts bench threads that wait in an async runtime.

use std::future::{Future, poll_fn};
use std::io;
use std::pin::Pin;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};

use super::lock;

/// Wakes futures that wait in a runtime. A signal ends any other wait ([`crate::sys::wakeup`]), but a runtime
/// swallows it and goes on waiting.
#[derive(Debug, Default)]
pub struct Wakeups {
    /// Number of interrupts so far.
    interrupts: AtomicU32,
    /// Wakers, one for each [`Waits`] and set while it waits.
    wakers: Mutex<Vec<Option<Waker>>>,
}

impl Wakeups {
    /// Ends each wait in progress. A [`Waits`] that is not waiting ends its next wait at once.
    pub fn interrupt(&self) {
        self.interrupts.fetch_add(1, Ordering::SeqCst);
        for waker in &mut *lock(&self.wakers) {
            waker.take().into_iter().for_each(Waker::wake);
        }
    }
}

/// Interruptible waits of one I/O object, one after the other.
#[derive(Debug)]
pub struct Waits {
    wakeups: Arc<Wakeups>,
    /// Index of its waker.
    index: usize,
    /// Number of interrupts seen so far.
    seen: AtomicU32,
}

impl Waits {
    /// Registers another I/O object.
    pub fn new(wakeups: &Arc<Wakeups>) -> Self {
        let mut wakers = lock(&wakeups.wakers);
        wakers.push(None);
        Self {
            index: wakers.len() - 1,
            seen: AtomicU32::default(),
            wakeups: Arc::clone(wakeups),
        }
    }

    /// Runs `operation` until it is done or interrupted. Costs nothing while it need not wait. The operation comes
    /// pinned, since a future passed by value would be copied.
    ///
    /// # Errors
    /// Fails with `Interrupted` after an interrupt. Otherwise returns the error of `operation`.
    #[inline]
    pub fn interruptible<T>(
        &self,
        mut operation: Pin<&mut impl Future<Output = io::Result<T>>>,
    ) -> impl Future<Output = io::Result<T>> {
        poll_fn(move |context| match operation.as_mut().poll(context) {
            Poll::Pending => self.wait(context),
            done @ Poll::Ready(_) => done,
        })
    }

    fn wait<T>(&self, context: &Context) -> Poll<io::Result<T>> {
        let mut wakers = lock(&self.wakeups.wakers);
        match &mut wakers[self.index] {
            Some(waker) => waker.clone_from(context.waker()),
            none => *none = Some(context.waker().clone()),
        }
        drop(wakers);
        // Read after the waker is stored: any later interrupt finds the waker.
        let interrupts = self.wakeups.interrupts.load(Ordering::SeqCst);
        if self.seen.swap(interrupts, Ordering::Relaxed) == interrupts {
            Poll::Pending
        } else {
            Poll::Ready(Err(io::ErrorKind::Interrupted.into()))
        }
    }
}

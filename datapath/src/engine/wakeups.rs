//! How a lane that waits in a runtime is woken.

use std::future::{Future, poll_fn};
use std::io;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

/// Wakes a future that waits in a runtime. A runtime swallows the signal that ends any other wait
/// ([`crate::sys::wakeup`]): it only goes on waiting.
#[derive(Debug, Default)]
pub struct Wakeups {
    interrupted: AtomicBool,
    waker: Mutex<Option<Waker>>,
}

impl Wakeups {
    /// Ends the wait that is going on, or the next one.
    pub fn interrupt(&self) {
        self.interrupted.store(true, Ordering::SeqCst);
        if let Some(waker) = self.lock().take() {
            waker.wake();
        }
    }

    /// `operation`, until it is done or it is interrupted. Costs nothing as long as it need not wait; it comes
    /// pinned, as a future that is handed over is copied.
    ///
    /// # Errors
    /// `Interrupted` after a wakeup, else those of `operation`.
    #[inline]
    pub fn end<T>(
        &self,
        mut operation: Pin<&mut impl Future<Output = io::Result<T>>>,
    ) -> impl Future<Output = io::Result<T>> {
        poll_fn(move |context| match operation.as_mut().poll(context) {
            Poll::Pending => self.wait(context),
            done @ Poll::Ready(_) => done,
        })
    }

    fn wait<T>(&self, context: &Context) -> Poll<io::Result<T>> {
        let mut waker = self.lock();
        match &mut *waker {
            Some(waker) => waker.clone_from(context.waker()),
            none => *none = Some(context.waker().clone()),
        }
        drop(waker);
        // After the waker is there: a wakeup from now on finds it.
        if self.interrupted.swap(false, Ordering::SeqCst) {
            Poll::Ready(Err(io::ErrorKind::Interrupted.into()))
        } else {
            Poll::Pending
        }
    }

    fn lock(&self) -> MutexGuard<'_, Option<Waker>> {
        self.waker.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

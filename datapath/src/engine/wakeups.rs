//! How a lane that waits in a runtime is woken.

use std::future::{Future, poll_fn};
use std::io;
use std::pin::Pin;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

/// Wakes futures that wait in a runtime. A runtime swallows the signal that ends any other wait
/// ([`crate::sys::wakeup`]): it only goes on waiting.
#[derive(Debug, Default)]
pub struct Wakeups {
    /// Counts the interrupts.
    interrupts: AtomicU32,
    /// One for each [`Waits`], there while it waits.
    wakers: Mutex<Vec<Option<Waker>>>,
}

impl Wakeups {
    /// Ends each wait that is going on, or the next one.
    pub fn interrupt(&self) {
        self.interrupts.fetch_add(1, Ordering::SeqCst);
        for waker in &mut *self.lock() {
            waker.take().into_iter().for_each(Waker::wake);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Option<Waker>>> {
        self.wakers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The waits of one port, one after the other.
#[derive(Debug)]
pub struct Waits {
    wakeups: Arc<Wakeups>,
    place: usize,
    /// Interrupts that have ended a wait here.
    seen: AtomicU32,
}

impl Waits {
    /// Of one more port.
    pub fn new(wakeups: &Arc<Wakeups>) -> Self {
        let mut wakers = wakeups.lock();
        wakers.push(None);
        Self {
            place: wakers.len() - 1,
            seen: AtomicU32::default(),
            wakeups: Arc::clone(wakeups),
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
        let mut wakers = self.wakeups.lock();
        match &mut wakers[self.place] {
            Some(waker) => waker.clone_from(context.waker()),
            none => *none = Some(context.waker().clone()),
        }
        drop(wakers);
        // After the waker is there: a wakeup from now on finds it.
        let interrupts = self.wakeups.interrupts.load(Ordering::SeqCst);
        if self.seen.swap(interrupts, Ordering::Relaxed) == interrupts {
            Poll::Pending
        } else {
            Poll::Ready(Err(io::ErrorKind::Interrupted.into()))
        }
    }
}

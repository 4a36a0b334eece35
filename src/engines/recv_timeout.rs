//! How the only thread of a case waits in a runtime: no longer than its recv_timeout.

use std::future::{Future, poll_fn};
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

/// `operation`, until it is done or `limit` has passed, if there is one. A timer per datagram is not what is
/// measured: `timer` makes one only where the operation waits, and may say that it does not.
///
/// # Errors
/// `WouldBlock` after `limit`, else those of `operation`.
#[inline]
pub(super) fn within<T, F: Future>(
    limit: Option<Duration>,
    timer: impl Fn(Duration) -> Option<F>,
    mut operation: Pin<&mut impl Future<Output = io::Result<T>>>,
) -> impl Future<Output = io::Result<T>> {
    let mut running = None;
    poll_fn(
        move |context| match (operation.as_mut().poll(context), limit) {
            (Poll::Pending, Some(limit)) => wait(&mut running, || timer(limit), context),
            (outcome, _) => outcome,
        },
    )
}

#[cold]
fn wait<T, F: Future>(
    running: &mut Option<Pin<Box<F>>>,
    timer: impl FnOnce() -> Option<F>,
    context: &mut Context,
) -> Poll<io::Result<T>> {
    if running.is_none() {
        *running = timer().map(Box::pin);
    }
    match running.as_mut().map(|timer| timer.as_mut().poll(context)) {
        Some(Poll::Ready(_)) => Poll::Ready(Err(io::ErrorKind::WouldBlock.into())),
        _ => Poll::Pending,
    }
}

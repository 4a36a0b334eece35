//! Policies for readiness events, shared by the engines over poll(2), epoll(7), mio and tokio. They are constants of
//! a type, so that each engine compiles to its own loop.

use std::io;

use crate::engine::About;

/// Behavior of a loop before and after a readiness event.
#[derive(Clone, Copy)]
pub(super) struct ReadinessPolicy {
    /// Continue without a new event until the socket says `WouldBlock`.
    pub(super) drain: bool,
    /// Try the socket before the first event.
    pub(super) try_first: bool,
    /// Register the socket again after each operation, so that epoll checks it afresh (`EPOLL_CTL_MOD`,
    /// epoll_ctl(2)). For edge-triggered events that are not drained.
    pub(super) rearm: bool,
}

impl ReadinessPolicy {
    /// One operation per event.
    pub(super) const ONE: Self = Self {
        drain: false,
        try_first: false,
        rearm: false,
    };
    /// Operations until `WouldBlock` after each event.
    pub(super) const DRAIN: Self = Self {
        drain: true,
        ..Self::ONE
    };

    /// Returns whether the next operation needs no new event.
    #[inline]
    pub(super) fn is_still_ready<T>(self, outcome: &io::Result<T>) -> bool {
        let exhausted = matches!(outcome, Err(error) if error.kind() == io::ErrorKind::WouldBlock);
        self.drain && !exhausted
    }

    /// Returns the value of [`About::one_thread`] for an engine with this policy.
    pub(super) const fn one_thread(self) -> Result<(), &'static str> {
        if self.drain {
            Err("starves with 1 thread: it sends until WouldBlock and never receives")
        } else {
            Ok(())
        }
    }
}

/// An engine out of several that differ only in their policy.
pub(super) trait Variant: Send + 'static {
    /// Description of the engine. [`About::one_thread`] follows from the policy.
    const ABOUT: About;
    const POLICY: ReadinessPolicy;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_drained_socket_is_ready_until_it_would_block() {
        let would_block: io::Result<()> = Err(io::ErrorKind::WouldBlock.into());
        let refused: io::Result<()> = Err(io::ErrorKind::ConnectionRefused.into());
        assert!(ReadinessPolicy::DRAIN.is_still_ready(&Ok(())));
        assert!(ReadinessPolicy::DRAIN.is_still_ready(&refused));
        assert!(!ReadinessPolicy::DRAIN.is_still_ready(&would_block));
    }

    #[test]
    fn one_operation_uses_up_an_event_that_is_not_drained() {
        assert!(!ReadinessPolicy::ONE.is_still_ready(&Ok(())));
    }
}

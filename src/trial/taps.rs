//! The taps of all receiving ends of a site: what was dropped there, and what was left.

use std::io;

use anyhow::Context;

use crate::engine::Tap;

/// One for each socket that receives.
pub(super) struct Taps(Vec<Box<dyn Tap>>);

impl Taps {
    /// Of these, if they could all be made.
    pub(super) fn new(
        taps: impl IntoIterator<Item = io::Result<Box<dyn Tap>>>,
    ) -> anyhow::Result<Self> {
        let taps = taps.into_iter().collect::<io::Result<_>>();
        Ok(Self(taps.context("cannot read the drops of a socket")?))
    }

    /// How many there are.
    pub(super) fn count(&self) -> u32 {
        self.0.len().try_into().unwrap_or(u32::MAX)
    }

    /// Datagrams dropped at the receivers so far.
    ///
    /// # Errors
    /// When the kernel does not say.
    pub(super) fn drops(&self) -> anyhow::Result<u64> {
        let drops = self.0.iter().map(|tap| tap.drops());
        drops
            .sum::<io::Result<u64>>()
            .context("cannot read the drops of a socket")
    }

    /// Whether nothing waits to be received. Where the kernel does not say: `false`.
    pub(super) fn are_empty(&self) -> bool {
        self.0.iter().all(|tap| tap.is_empty())
    }

    /// Takes what waits to be received, and returns how many datagrams that were. For after the receivers have
    /// stopped.
    pub(super) fn take_unread(&self) -> u64 {
        self.0.iter().map(|tap| tap.take_unread()).sum()
    }
}

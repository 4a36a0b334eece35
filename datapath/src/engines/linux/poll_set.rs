//! poll(2) on a set of sockets that stays the same.

use std::io;
use std::net::UdpSocket;
use std::os::fd::AsRawFd;

use nix::errno::Errno;

use crate::engines::readiness::Interest;

/// Sockets to wait for together. The owner of the set keeps them open: a closed one would count as ready
/// (`POLLNVAL`), or stand for another file that has its descriptor number now.
pub(in crate::engines) struct PollSet(Vec<libc::pollfd>);

impl PollSet {
    /// Creates the set that waits for `interest` on these sockets.
    pub(in crate::engines) fn new<'a>(
        sockets: impl Iterator<Item = &'a UdpSocket>,
        interest: Interest,
    ) -> Self {
        let events = match interest {
            Interest::Readable => libc::POLLIN,
            Interest::Writable => libc::POLLOUT,
        };
        let entry = |socket: &UdpSocket| libc::pollfd {
            fd: socket.as_raw_fd(),
            events,
            revents: 0,
        };
        Self(sockets.map(entry).collect())
    }

    /// Waits until a socket is ready or has an error, which the next call on it returns.
    ///
    /// # Errors
    /// Returns the error of poll(2), which includes `EINTR`.
    pub(in crate::engines) fn wait(&mut self) -> io::Result<()> {
        const NO_TIMEOUT: libc::c_int = -1;
        let count = self.0.len().try_into().map_err(io::Error::other)?;
        #[expect(
            unsafe_code,
            reason = "the wrapper of nix borrows the sockets, which live beside it"
        )]
        // SAFETY: the kernel reads and writes `count` entries (poll(2)), which is their number. Descriptors are only
        // numbers to it.
        let outcome = unsafe { libc::poll(self.0.as_mut_ptr(), count, NO_TIMEOUT) };
        Ok(Errno::result(outcome).map(drop)?)
    }

    /// Returns the indices of the sockets that the last wait found ready.
    pub(in crate::engines) fn ready(&self) -> impl Iterator<Item = usize> + '_ {
        let entries = self.0.iter().enumerate();
        entries.filter_map(|(n, entry)| (entry.revents != 0).then_some(n))
    }
}

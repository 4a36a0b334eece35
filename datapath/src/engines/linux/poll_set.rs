//! poll(2) on a set of sockets that stays the same.

use std::io;
use std::net::UdpSocket;
use std::os::fd::AsRawFd;

/// Sockets that are waited for together. Whoever has it keeps them open: of one that is closed it would say that it is
/// ready (`POLLNVAL`), or wait for whatever has its number now.
pub(in crate::engines) struct PollSet(Vec<libc::pollfd>);

impl PollSet {
    /// Of these, to be readable or writable.
    pub(in crate::engines) fn new<'a>(
        sockets: impl Iterator<Item = &'a UdpSocket>,
        is_writable: bool,
    ) -> Self {
        let events = if is_writable {
            libc::POLLOUT
        } else {
            libc::POLLIN
        };
        let entry = |socket: &UdpSocket| libc::pollfd {
            fd: socket.as_raw_fd(),
            events,
            revents: 0,
        };
        Self(sockets.map(entry).collect())
    }

    /// Waits until one of them is ready, or has an error for whatever is called next to return.
    ///
    /// # Errors
    /// Those of poll(2), `EINTR` among them.
    pub(in crate::engines) fn wait(&mut self) -> io::Result<()> {
        const FOR_EVER: libc::c_int = -1;
        let count = self.0.len().try_into().map_err(io::Error::other)?;
        #[expect(
            unsafe_code,
            reason = "the wrapper of nix borrows the sockets, which live beside it"
        )]
        // SAFETY: the kernel reads and writes as many entries as there are (poll(2)); descriptors are only numbers
        // to it.
        let outcome = unsafe { libc::poll(self.0.as_mut_ptr(), count, FOR_EVER) };
        if outcome == -1 {
            Err(io::Error::last_os_error())
        } else {
            Ok(())
        }
    }

    /// Those that the last wait found ready, by their number in the set.
    pub(in crate::engines) fn ready(&self) -> impl Iterator<Item = usize> + '_ {
        let entries = self.0.iter().enumerate();
        entries.filter_map(|(n, entry)| (entry.revents != 0).then_some(n))
    }
}

//! Reads completions from a socket's error queue, and says what their counts mean.

use std::io;
use std::net::UdpSocket;
use std::os::fd::AsFd;

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

use crate::engine::Remark;
use crate::sys::error_queue::ErrorQueueMemory;

/// `SO_EE_ORIGIN_ZEROCOPY` (include/uapi/linux/errqueue.h): distinguishes completions from errors in their queue.
const ORIGIN_ZEROCOPY: u8 = 5;
/// `SO_EE_CODE_ZEROCOPY_COPIED` (include/uapi/linux/errqueue.h): the kernel copied the datagrams after all.
const COPIED: u8 = 1;

/// A message of the error queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Message {
    /// The kernel no longer reads the memory of the calls with the numbers `first` to `last`.
    Completion { first: u32, last: u32 },
    /// An error of the network, such as an ICMP message.
    Other,
}

/// Memory for messages of the queue, and the counts of those read.
#[derive(Default)]
pub(super) struct ErrorQueue {
    memory: ErrorQueueMemory,
    completed: Completed,
}

impl ErrorQueue {
    /// Returns the counts of all completions that were read. The kernel joins the completions of consecutive calls and
    /// keeps the code of the first one, so a mixture is known approximately.
    pub(super) fn completed(&self) -> Completed {
        self.completed
    }

    /// Reads a message without waiting. `None`: there is none.
    ///
    /// # Errors
    /// Returns the error of recvmsg(2).
    pub(super) fn read(&mut self, socket: &UdpSocket) -> io::Result<Option<Message>> {
        let error = match self.memory.read(socket) {
            Ok(message) => message.error,
            Err(Errno::EAGAIN) => return Ok(None),
            Err(errno) => return Err(errno.into()),
        };
        let completion = error.filter(|it| it.ee_origin == ORIGIN_ZEROCOPY);
        Ok(Some(completion.map_or(Message::Other, |it| {
            self.count(it.ee_info, it.ee_data, it.ee_code)
        })))
    }

    /// Counts the calls with the numbers `first` to `last`.
    pub(super) fn count(&mut self, first: u32, last: u32, code: u8) -> Message {
        let calls = u64::from(last.wrapping_sub(first)) + 1;
        self.completed.calls += calls;
        if code & COPIED != 0 {
            self.completed.copied += calls;
        }
        Message::Completion { first, last }
    }
}

/// Waits until the queue has a message or the socket an error: for POLLERR, of which poll(2) always tells.
///
/// # Errors
/// Returns the error of poll(2), which includes `EINTR`.
pub(super) fn wait(socket: &UdpSocket, timeout: PollTimeout) -> io::Result<()> {
    let mut set = [PollFd::new(socket.as_fd(), PollFlags::empty())];
    Ok(poll(&mut set, timeout).map(drop)?)
}

/// Completed calls, and how many of them the kernel copied.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Completed {
    /// Completed calls.
    pub calls: u64,
    /// Completed calls that the kernel copied.
    pub copied: u64,
}

impl Completed {
    /// Says in the results row whether the kernel copied. `None`: it copied nothing.
    pub fn remark(self) -> Remark {
        match self {
            Self { copied: 0, .. } => None,
            Self { calls, copied } if calls == copied => Some(
                "zero copy: the kernel copied all datagrams after all, as it does over loopback, veth and interfaces \
                 without checksum offload",
            ),
            Self { .. } => Some("zero copy: the kernel copied some of the datagrams after all"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_counted_across_the_last_number_and_by_whether_they_were_copied() {
        let mut queue = ErrorQueue::default();
        let (first, last) = (u32::MAX - 1, 0);
        let message = queue.count(first, last, COPIED);
        assert_eq!(message, Message::Completion { first, last });
        queue.count(1, 1, 0);
        let completed = Completed {
            calls: 4,
            copied: 3,
        };
        assert_eq!(queue.completed(), completed);
    }

    #[test]
    fn the_row_tells_whether_the_kernel_copied() {
        let copied = |copied| Completed { calls: 7, copied }.remark();
        assert_eq!(copied(0), None);
        assert!(copied(3).is_some_and(|it| it.contains("some")));
        assert!(copied(7).is_some_and(|it| it.contains("all")));
    }
}

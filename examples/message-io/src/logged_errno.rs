//! Takes the errno of a failed UDP send from the log of message-io, which reports it nowhere else.

use std::cell::Cell;
use std::io;

use log::{LevelFilter, Log, Metadata, Record};

thread_local! {
    /// The last `errno` that the library logged on this thread. 0: none.
    static ERRNO: Cell<i32> = const { Cell::new(0) };
}

/// Logger that keeps only the error number of message-io's entries.
struct ErrnoLogger;

impl Log for ErrnoLogger {
    fn enabled(&self, metadata: &Metadata) -> bool {
        metadata.target().starts_with("message_io")
    }

    fn log(&self, record: &Record) {
        if self.enabled(record.metadata()) {
            ERRNO.set(errno_in(&record.args().to_string()));
        }
    }

    fn flush(&self) {}
}

/// Installs the logger that reads the errors. This program has no other logger; one that is already installed would
/// stay, and [`take_last_error`] would know no error but its default.
pub(crate) fn install_logger() {
    if log::set_logger(&ErrnoLogger).is_ok() {
        log::set_max_level(LevelFilter::Error);
    }
}

/// Takes the last error that the library logged on this thread. The default is `ECONNREFUSED`: the library does not log
/// that nobody listens at the peer's port (`send_packet` in its `adapters/udp.rs`).
#[cold]
pub(crate) fn take_last_error() -> io::Error {
    let errno = match ERRNO.take() {
        0 => libc::ECONNREFUSED,
        errno => errno,
    };
    io::Error::from_raw_os_error(errno)
}

/// Returns the error number in the text of a system [`io::Error`]. 0: there is none.
fn errno_in(message: &str) -> i32 {
    let number = message
        .rsplit_once("(os error ")
        .and_then(|(_, rest)| rest.strip_suffix(')'));
    number.and_then(|it| it.parse().ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use std::net::{SocketAddr, UdpSocket};

    use message_io::network::SendStatus;
    use udpbench::data::Connection;
    use udpbench::engine::Endpoint;

    use super::*;
    use crate::network::{Adapter, Udp};

    #[test]
    fn refusals_of_the_system_have_an_errno() {
        install_logger();
        // A socket may not send to the broadcast address without SO_BROADCAST.
        let socket = UdpSocket::bind("0.0.0.0:0").expect("a port");
        let all: SocketAddr = "255.255.255.255:9".parse().expect("an address");
        let network =
            Udp::open(Endpoint::of(socket, Some(all)), Connection::Unconnected).expect("opens");
        let status = network.controller.send(network.endpoint, b"x");
        assert_eq!(status, SendStatus::ResourceNotFound);
        assert_eq!(take_last_error().raw_os_error(), Some(libc::EACCES));

        let bind = || UdpSocket::bind("127.0.0.1:0").expect("loopback is up");
        let (socket, nobody) = (bind(), bind());
        let peer = nobody.local_addr().expect("bound");
        socket.connect(peer).expect("an address of loopback");
        drop(nobody);
        let network =
            Udp::open(Endpoint::of(socket, Some(peer)), Connection::Connected).expect("opens");
        let send = || network.controller.send(network.endpoint, b"x");
        assert_eq!(send(), SendStatus::Sent);
        let status = send();
        assert_eq!(status, SendStatus::ResourceNotFound);
        assert_eq!(take_last_error().raw_os_error(), Some(libc::ECONNREFUSED));
    }
}

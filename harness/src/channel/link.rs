//! The TCP connection below: prompt, and ended soon once the other end is gone.

use std::io::{self, Write};
use std::net::{Shutdown, TcpStream};
use std::time::Duration;

use nix::sys::socket::{setsockopt, sockopt};
use socket2::{SockRef, TcpKeepalive};

use super::streams::{Reader, Writer};

/// Both directions of a session.
pub type Streams = (Reader<TcpStream>, Writer<Outgoing>);

/// A link over which nothing is acknowledged for so long is dead. One that loses 30 % of its packets in one direction
/// may be taken for that, as TCP sends the same packet only two or three times meanwhile: two of six sessions ended so
/// within 20 s.
const DEAD: Duration = Duration::from_secs(3);

/// How soon a link that is idle is probed, and how often: no shorter time can be set (tcp(7)).
const PROBE: Duration = Duration::from_secs(1);

/// `TC_PRIO_INTERACTIVE`: the highest that needs no permission (socket(7), `SO_PRIORITY`). Where the queueing
/// discipline heeds it, the flood that is measured does not stand before what controls it.
const PRIORITY: i32 = 6;

/// Sets a connection's options. What a kernel refuses costs promptness and no more.
pub(super) fn prepare(stream: &TcpStream) {
    let socket = SockRef::from(stream);
    let probes = TcpKeepalive::new().with_time(PROBE).with_interval(PROBE);
    let _ = socket.set_tcp_nodelay(true);
    let _ = socket.set_tcp_keepalive(&probes);
    // It takes the place of the number of probes, too (tcp(7), TCP_USER_TIMEOUT).
    let _ = socket.set_tcp_user_timeout(Some(DEAD));
    let _ = setsockopt(stream, sockopt::Priority, &PRIORITY);
}

/// What goes out on a connection. Dropping it tells the other end that no more will come, even while another
/// thread still reads.
#[derive(Debug)]
pub struct Outgoing(TcpStream);

impl Outgoing {
    pub(super) fn new(stream: TcpStream) -> Self {
        Self(stream)
    }
}

impl Write for Outgoing {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        self.0.write(buffer)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

impl Drop for Outgoing {
    fn drop(&mut self) {
        // One that is closed already is no loss.
        let _ = self.0.shutdown(Shutdown::Write);
    }
}

//! The engine `zerocopy` (MSG_ZEROCOPY): the kernel sends from the program's memory, and tells when it may be written
//! again.
//!
//! Without `--train` a call sends one datagram, so that only the copy differs from `std`. With it, a call sends a train
//! that the kernel segments, as `gso` does. So one run can measure both.

use std::io;

use crate::data::Cmsg;
use crate::engine::payload::NoFill;
use crate::engine::prelude::*;
use crate::engines::linux::gso;
use crate::engines::linux::receive_batch::ReceiveBatch;
use crate::engines::linux::zero_copy::ZeroCopyRing;
use crate::engines::linux::{ReceiveMany, loopback_socket};

pub(super) struct ZeroCopy;

impl Engine for ZeroCopy {
    const ABOUT: About = About {
        name: "zerocopy",
        summary: "sender: MSG_ZEROCOPY, the kernel sends from the program's memory; mmsg receives",
        group: Group::Offload,
        can_serve_requests: Err(
            "gains by many sends on the way, and a request is one: use std or mmsg",
        ),
        trains: Trains::OnRequest,
        sends_without_copy: true,
        reads_error_queue: true,
        control_messages: Cmsg::ALL,
        partner: Partner::ReceivedBy("mmsg"),
        ..About::PLAIN
    };
    type DatagramIo = ZeroCopyIo;

    fn start(_brief: &ThreadArgs) -> io::Result<Self> {
        Ok(Self)
    }

    fn open(&self, mut options: IoOptions) -> io::Result<ZeroCopyIo> {
        let endpoint = options.only_endpoint()?;
        let payload = options.payload();
        let train = match options.train {
            usize::MAX => 1,
            _ => gso::begin_trains(&options, &endpoint)?,
        };
        let peer = (!options.is_connected()).then(|| endpoint.peer_or_unspecified());
        let incoming = ReceiveBatch::from_options(&options, &endpoint.socket)?;
        let controls = options.controls.outgoing(&endpoint.socket)?;
        let (socket, payloads) = (endpoint.socket.into(), payload.repeat(train));
        Ok(ZeroCopyIo {
            outgoing: ZeroCopyRing::new(socket, &payloads, peer, controls)?,
            incoming,
            payload_bytes: payload.len(),
            train: train as u64,
            fell_back: false,
        })
    }

    fn probe() -> Result<(), String> {
        completes().map_err(|error| match error.raw_os_error() {
            Some(libc::ENOMEM) => TOO_LITTLE_MEMORY.to_owned(),
            _ => format!("no MSG_ZEROCOPY for UDP (Linux 5.0): {error}"),
        })
    }
}

/// Reason why there is no zero copy where the kernel has no memory for it.
const TOO_LITTLE_MEMORY: &str = "no memory for completions, or too few lockable pages: raise sysctl \
                                 net.core.optmem_max (20480 or more) or ulimit -l";

/// Sends a datagram over loopback and takes its completion. Some emulations of Linux ignore the flag; a sender would
/// wait for ever.
fn completes() -> io::Result<()> {
    let (socket, receiver) = (loopback_socket()?, loopback_socket()?);
    socket.connect(receiver.local_addr()?)?;
    let mut ring = ZeroCopyRing::new(socket, &[0; 64], None, Vec::new())?;
    ring.send(&NoFill)?;
    if ring.settle() {
        Ok(())
    } else {
        Err(io::Error::other("a send was never completed"))
    }
}

/// A socket that sends from a ring of buffers and receives in batches.
pub(super) struct ZeroCopyIo {
    outgoing: ZeroCopyRing,
    incoming: ReceiveBatch,
    payload_bytes: usize,
    /// Datagrams per call.
    train: u64,
    fell_back: bool,
}

impl ZeroCopyIo {
    #[inline(always)]
    fn send(&mut self, fill: &impl Fill) -> io::Result<BatchCount> {
        let outcome = match self.outgoing.send(fill) {
            Err(error) if self.train > 1 && gso::is_no_offload(&error) => self.send_one(fill),
            outcome => outcome,
        };
        Ok(BatchCount::of(self.train, outcome? as u64))
    }

    #[cold]
    fn send_one(&mut self, fill: &impl Fill) -> io::Result<usize> {
        self.fall_back();
        self.outgoing.send(fill)
    }

    /// Switches to one datagram per call.
    fn fall_back(&mut self) {
        self.outgoing.shorten(self.payload_bytes);
        self.train = 1;
        self.fell_back = true;
        // Before Linux 6.14, the kernel refuses even a single datagram while the option is set.
        let _ = gso::cut(self.outgoing.socket(), 0);
    }
}

impl DatagramIo for ZeroCopyIo {
    #[inline(always)]
    fn transmit(&mut self, _endpoint: usize, fill: &impl Fill) -> impl BatchFuture {
        ready(self.send(fill))
    }

    #[inline(always)]
    fn receive<C: Check>(&mut self, check: &mut C) -> impl BatchFuture {
        ready(self.incoming.receive(self.outgoing.socket(), check))
    }

    fn packets_per_failure(&self) -> u64 {
        self.train
    }

    fn check_controls(&self) -> io::Result<()> {
        self.incoming.check_controls()
    }

    fn remark(&self) -> Remark {
        if self.fell_back {
            return Some(
                "zerocopy: kernel or NIC refused trains (EIO, EINVAL, EMSGSIZE: no segmentation offload, or a smaller path MTU): one datagram per call",
            );
        }
        self.outgoing.completed.remark()
    }
}

#[cfg(test)]
mod tests {
    use std::net::UdpSocket;

    use super::*;
    use crate::engine::{Direction, Endpoint, poll_once};

    #[test]
    fn a_call_sends_one_datagram_or_the_train_that_was_asked_for() {
        if let Err(why) = ZeroCopy::probe() {
            eprintln!("SKIPPED: {why}");
            return;
        }
        let bind = || UdpSocket::bind("127.0.0.1:0").expect("loopback is up");
        for (train, per_call) in [(usize::MAX, 1), (1, 1), (3, 3)] {
            let (socket, receiver) = (bind(), bind());
            let endpoint = Endpoint::of(socket, receiver.local_addr().ok());
            let options = IoOptions {
                train,
                ..IoOptions::of(vec![endpoint], Direction::Sends, 300)
            };
            let mut io = ZeroCopy.open(options).expect("it opens");
            let sent = poll_once(io.transmit(0, &NoFill)).expect("loopback takes it");
            assert_eq!(sent, BatchCount::of(per_call, 300 * per_call));
            let mut memory = [0; 9000];
            for _ in 0..per_call {
                assert_eq!(receiver.recv(&mut memory).ok(), Some(300));
            }
            io.fall_back();
            let sent = poll_once(io.transmit(0, &NoFill)).expect("loopback takes it");
            assert_eq!(sent, BatchCount::one(300));
            assert_eq!(receiver.recv(&mut memory).ok(), Some(300));
            assert!(io.remark().is_some_and(|it| it.contains("refused trains")));
        }
    }
}

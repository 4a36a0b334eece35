//! Batched sends on a registered file.

use std::io;

use io_uring::types::Fixed;
use io_uring::{IoUring, opcode, squeue};

use super::{Outgoing, cancel_all, complete, register, ring};
use crate::engine::payload::Fill;
use crate::engine::{
    About, BatchOutcome, BusyPolling, Endpoint, Group, IoOptions, ManyEndpoints, PerEndpoint,
};
use crate::engines::linux::send_batch::SendBatch;

/// Sends many datagrams per io_uring_enter(2).
pub struct SendRing {
    // Dropped first: the kernel releases the memory of the requests when the ring is gone.
    ring: IoUring,
    /// Requests in progress: submitted, and not yet seen to complete.
    under_way: usize,
    endpoints: PerEndpoint<Batch>,
}

/// The requests of one call over one endpoint.
struct Batch {
    /// Send requests, one for each datagram of the batch.
    requests: Box<[squeue::Entry]>,
    batch: SendBatch,
}

impl Outgoing for SendRing {
    const ABOUT: About = About {
        name: "uring",
        summary: "io_uring: --batch sends per call, multishot receive into provided buffers",
        group: Group::Batch,
        sends_batches: true,
        prefetches: true,
        busy_polling: BusyPolling::Uring,
        can_spin: true,
        many_endpoints: ManyEndpoints::OneIo,
        ..About::PLAIN
    };

    /// Creates a ring. Each call sends a batch over an endpoint.
    fn open(endpoints: &[Endpoint], options: &IoOptions) -> io::Result<Self> {
        let ring = ring(options.batch, options.batch)?;
        register(&ring, endpoints)?;
        let batch = |endpoint| SendBatch::from_options(options, endpoint);
        let outgoing = (0..)
            .zip(endpoints)
            .map(|(n, endpoint)| Batch::new(n, batch(endpoint)?));
        Ok(Self {
            ring,
            under_way: 0,
            endpoints: PerEndpoint::collect(outgoing)?,
        })
    }

    #[inline]
    fn send(&mut self, endpoint: usize, fill: &impl Fill) -> io::Result<BatchOutcome> {
        if self.under_way == 0 {
            self.endpoints[endpoint].batch.prepare(fill);
            self.push(endpoint)?;
        }
        complete(&mut self.ring, &mut self.under_way, |_| true)
    }
}

impl SendRing {
    #[inline]
    fn push(&mut self, endpoint: usize) -> io::Result<()> {
        let requests = &self.endpoints[endpoint].requests;
        #[expect(unsafe_code, reason = "the kernel follows the requests' pointers")]
        // SAFETY: the requests point to memory that the endpoint's batch owns, that does not move, and that outlives
        // the ring. The queue has room for all of them, and it was empty.
        let pushed = unsafe { self.ring.submission().push_multiple(requests) };
        pushed.map_err(io::Error::other)?;
        self.under_way = requests.len();
        Ok(())
    }
}

impl Batch {
    fn new(endpoint: u32, batch: SendBatch) -> io::Result<Self> {
        let length = u32::try_from(batch.bytes_each()).map_err(io::Error::other)?;
        let (socket, needs_message) = (Fixed(endpoint), batch.needs_message());
        let request = |(message, payload)| {
            if needs_message {
                opcode::SendMsg::new(socket, message).build()
            } else {
                opcode::Send::new(socket, payload, length).build()
            }
        };
        Ok(Self {
            requests: batch.messages().map(request).collect(),
            batch,
        })
    }
}

impl Drop for SendRing {
    /// Cancels sends in progress. The kernel tears down a closed ring later; until then, it could still read a
    /// payload.
    fn drop(&mut self) {
        if self.under_way > 0 {
            cancel_all(&self.ring);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::net::UdpSocket;
    use std::os::unix::net::UnixDatagram;
    use std::sync::mpsc::channel;
    use std::thread;

    use socket2::SockRef;

    use super::*;
    use crate::data::Connection;
    use crate::engine::payload::NoFill;
    use crate::engine::{BatchCount, Direction};
    use crate::engines::linux::uring;
    use crate::sys::wakeup;

    const BATCH: usize = 32;

    fn ring_over(endpoint: Endpoint) -> SendRing {
        let options = IoOptions {
            batch: BATCH,
            connection: match endpoint.peer {
                None => Connection::Connected,
                Some(_) => Connection::Unconnected,
            },
            ..IoOptions::of(Vec::new(), Direction::Sends, 300)
        };
        SendRing::open(&[endpoint], &options).expect("a ring")
    }

    /// Returns a ring whose sends block, and the receiving socket. UDP sends over loopback do not block; a Unix
    /// socket accepts no more than fits its send buffer (unix(7)).
    fn blocking_ring() -> (SendRing, UnixDatagram) {
        let (near, far) = UnixDatagram::pair().expect("sockets");
        far.set_nonblocking(true).expect("fcntl works");
        let least = SockRef::from(&near).set_send_buffer_size(1);
        least.expect("the kernel makes more of it");
        (ring_over(Endpoint::of(near, None)), far)
    }

    /// Returns the number of datagrams that have arrived.
    fn arrived(far: &UnixDatagram) -> u64 {
        let mut packets = 0;
        while far.recv(&mut [0; 300]).is_ok() {
            packets += 1;
        }
        packets
    }

    #[test]
    fn a_signal_ends_a_wait_and_all_that_has_gone_is_counted_once() {
        if let Err(why) = uring::probe() {
            eprintln!("SKIPPED: {why}");
            return;
        }
        wakeup::install().expect("sigaction works");
        let (tell, told) = channel();
        let thread = thread::spawn(move || {
            let tid = nix::unistd::gettid().as_raw();
            tell.send(tid).expect("the receiver exists");
            let (mut ring, far) = blocking_ring();
            let mut counts = Vec::new();
            for _ in 0..2 {
                // The second time, the queue is full from the start.
                let sent = match ring.send(0, &NoFill) {
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => {
                        BatchOutcome::default()
                    }
                    outcome => outcome.expect("nothing else"),
                };
                counts.push((sent, ring.under_way));
            }
            let so_far = arrived(&far);
            drop(ring);
            (counts, so_far, arrived(&far))
        });
        let tid = told.recv().expect("it says its id");
        while !thread.is_finished() {
            wakeup::interrupt(tid);
            thread::yield_now();
        }
        let (counts, so_far, late) = thread.join().expect("no panic");
        for (sent, under_way) in &counts {
            assert_eq!((sent.failed, *under_way), (0, 0), "{counts:?}");
            assert!(sent.moved.packets < BATCH as u64, "{counts:?}");
        }
        let counted: u64 = counts.iter().map(|(sent, _)| sent.moved.packets).sum();
        assert!(counted > 0, "{counts:?}");
        assert_eq!((so_far, late), (counted, 0), "{counts:?}");
    }

    #[test]
    fn what_an_early_return_leaves_under_way_is_counted_by_the_next_call() {
        if let Err(why) = uring::probe() {
            eprintln!("SKIPPED: {why}");
            return;
        }
        let bind = || UdpSocket::bind("127.0.0.1:0").expect("loopback is up");
        let (sender, receiver) = (bind(), bind());
        let address = receiver.local_addr().expect("bound");
        let mut ring = ring_over(Endpoint::of(sender, Some(address)));
        // Simulates an error after the submission.
        ring.push(0).expect("it is empty");
        ring.ring.submit().expect("a ring");
        let all = BatchCount::of(BATCH as u64, 300 * BATCH as u64);
        for _ in 0..2 {
            assert_eq!(ring.send(0, &NoFill).expect("loopback takes it").moved, all);
            assert_eq!(ring.under_way, 0);
        }
        receiver.set_nonblocking(true).expect("fcntl works");
        let mut packets = 0;
        while receiver.recv(&mut [0; 300]).is_ok() {
            packets += 1;
        }
        assert_eq!(packets, 2 * BATCH);
    }
}

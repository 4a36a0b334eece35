//! Loops of the flood: senders send at full speed, receivers receive everything that arrives, and one thread does both
//! in turn. A sender with several endpoints uses them in rotation.

use std::io;

use crate::engine::payload::{Check, Fill};
use crate::engine::verify::SequenceWriter;
use crate::engine::{DatagramIo, Tally};
use crate::workload::context::ThreadContext;

/// Sends until told to stop.
pub(crate) async fn send(
    port: &mut impl DatagramIo,
    fill: &mut impl Fill,
    thread: &ThreadContext,
) -> io::Result<()> {
    let meter = &*thread.meter;
    let mut sent = 0;
    while !thread.sending_stopped() {
        let packets = match port.transmit(0, fill).await {
            Ok(moved) => moved.packets,
            Err(error) => thread.refused(error, port.packets_per_failure())?,
        };
        fill.sent(packets);
        #[cfg(feature = "calibration")]
        thread.delay(packets);
        sent += packets;
        meter.sent.publish(sent);
    }
    thread.done_sending();
    Ok(())
}

/// Receives until told to stop. The coordinator thread first waits until the queues are empty or no longer change.
pub(crate) async fn receive(
    port: &mut impl DatagramIo,
    check: &mut impl Check,
    thread: &ThreadContext,
) -> io::Result<()> {
    let meter = &*thread.meter;
    let mut received = Tally::default();
    while !thread.receiving_stopped() {
        match port.receive(check).await {
            Ok(moved) => meter.received.publish(received.add(moved)),
            Err(error) => thread.tolerate(error)?,
        }
    }
    Ok(())
}

/// Sends a batch and receives until all of it has arrived, repeatedly until told to stop. Then receives the datagrams
/// that are still queued.
///
/// `fill` and `check` are parameters: a loop that lends its own variables counts in memory. A lost datagram would be
/// waited for forever, so the coordinator thread ends a wait in which nothing moves.
pub(crate) async fn send_and_receive(
    sender: &mut impl DatagramIo,
    receiver: &mut impl DatagramIo,
    fill: &mut impl Fill,
    check: &mut impl Check,
    thread: &ThreadContext,
) -> io::Result<()> {
    let meter = &*thread.meter;
    let mut sent = 0;
    let mut received = Tally::default();
    let mut under_way = 0;
    while !thread.receiving_stopped() {
        if thread.sending_stopped() {
            thread.done_sending();
        } else if under_way == 0 {
            match sender.transmit(0, fill).await {
                Ok(moved) => {
                    under_way = moved.packets;
                    fill.sent(moved.packets);
                    #[cfg(feature = "calibration")]
                    thread.delay(moved.packets);
                    sent += moved.packets;
                    meter.sent.publish(sent);
                }
                // The loop waits for a refused datagram like for any lost datagram.
                Err(error) => {
                    sent = thread.refused_of(sent, fill, error, sender.packets_per_failure())?;
                }
            }
        }
        match receiver.receive(check).await {
            Ok(moved) => {
                under_way = under_way.saturating_sub(moved.packets);
                meter.received.publish(received.add(moved));
            }
            Err(error) => {
                under_way = 0;
                thread.tolerate(error)?;
            }
        }
    }
    Ok(())
}

/// Selects the endpoint of the next batch, and fills its datagrams.
#[derive(Debug)]
pub struct Rotation {
    pub(super) endpoints: usize,
    /// Index of the current endpoint.
    pub(super) endpoint: usize,
    /// Writers of the datagrams: one per endpoint, or none.
    writers: Vec<SequenceWriter>,
}

impl Rotation {
    /// Creates a rotation of `links` endpoints, one or more.
    pub fn of(endpoints: usize, writers: Vec<SequenceWriter>) -> Self {
        Self {
            endpoints,
            // Random start: a window may end before the first rotation is complete.
            endpoint: fastrand::usize(..endpoints),
            writers,
        }
    }

    /// Moves on to the next endpoint.
    #[inline]
    pub(super) fn turn(&mut self) {
        self.endpoint = (self.endpoint + 1) % self.endpoints;
    }
}

impl Fill for Rotation {
    fn fill(&self, memory: &mut [u8]) {
        if let Some(writer) = self.writers.get(self.endpoint) {
            writer.fill(memory);
        }
    }

    fn sent(&mut self, packets: u64) {
        if let Some(writer) = self.writers.get_mut(self.endpoint) {
            writer.sent(packets);
        }
    }
}

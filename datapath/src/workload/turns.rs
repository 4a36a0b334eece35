//! Loop of a thread that sends a batch and receives it, in turn.

use std::io;

use crate::engine::payload::{Check, Fill};
use crate::engine::{DatagramIo, Tally};
use crate::workload::context::ThreadContext;

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
                    thread.meter.sent.publish(sent);
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
                thread.meter.received.publish(received.add(moved));
            }
            Err(error) => {
                under_way = 0;
                thread.tolerate(error)?;
            }
        }
    }
    Ok(())
}

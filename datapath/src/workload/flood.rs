//! Loops of the flood: senders send at full speed, receivers receive everything that arrives.

use std::io;

use crate::engine::payload::{Check, Fill};
use crate::engine::{DatagramIo, Tally};
use crate::workload::context::ThreadContext;

/// Sends until told to stop.
pub(crate) async fn send(
    port: &mut impl DatagramIo,
    fill: &mut impl Fill,
    thread: &ThreadContext,
) -> io::Result<()> {
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
        thread.meter.sent.publish(sent);
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
    let mut received = Tally::default();
    while !thread.receiving_stopped() {
        match port.receive(check).await {
            Ok(moved) => thread.meter.received.publish(received.add(moved)),
            Err(error) => thread.tolerate(error)?,
        }
    }
    Ok(())
}

//! Loops of the flood: senders send at full speed, receivers receive everything that arrives.

use std::io;

use crate::engine::payload::{Check, Fill};
use crate::engine::{Port, Tally};
use crate::workload::lane::LaneContext;

/// Sends until told to stop.
pub(crate) async fn send(
    port: &mut impl Port,
    fill: &mut impl Fill,
    lane: &LaneContext,
) -> io::Result<()> {
    let mut sent = 0;
    while !lane.sending_stopped() {
        let packets = match port.transmit(0, fill).await {
            Ok(burst) => burst.packets,
            Err(error) => lane.refused(error, port.packets_per_failure())?,
        };
        fill.sent(packets);
        #[cfg(feature = "calibration")]
        lane.delay(packets);
        sent += packets;
        lane.meter.sent.publish(sent);
    }
    lane.done_sending();
    Ok(())
}

/// Receives until told to stop. The coordinating thread first waits until the queues are empty or no longer change.
pub(crate) async fn receive(
    port: &mut impl Port,
    check: &mut impl Check,
    lane: &LaneContext,
) -> io::Result<()> {
    let mut received = Tally::default();
    while !lane.receiving_stopped() {
        match port.receive(check).await {
            Ok(burst) => lane.meter.received.publish(received.add(burst)),
            Err(error) => lane.tolerate(error)?,
        }
    }
    Ok(())
}

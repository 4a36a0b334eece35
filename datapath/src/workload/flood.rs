//! Flood: senders send as fast as they can, receivers take what comes.

use std::io;

use crate::engine::payload::{Check, Fill};
use crate::engine::{Port, Tally};
use crate::workload::lane::LaneContext;

/// Sends until the stop.
pub(crate) async fn send(
    port: &mut impl Port,
    fill: &mut impl Fill,
    lane: &LaneContext,
) -> io::Result<()> {
    let mut sent = Tally::default();
    while !lane.sending_stopped() {
        match port.transmit(0, fill).await {
            Ok(burst) => {
                fill.sent(burst.packets);
                #[cfg(feature = "calibration")]
                lane.delay(burst);
                lane.meter.sent.publish(sent.add(burst));
            }
            Err(error) => lane.tolerate_send(error, port.packets_per_failure())?,
        }
    }
    lane.done_sending();
    Ok(())
}

/// Receives until the stop, which comes only when the queues are empty or stay as they are.
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

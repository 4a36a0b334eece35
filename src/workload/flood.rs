//! Flood: senders send as fast as they can, receivers take what comes.

use std::io;

use crate::engine::payload::{Check, Fill};
use crate::engine::{Receive, Tally, Transmit};
use crate::workload::lane::LaneContext;

/// Sends until the stop.
pub(crate) async fn send(
    sender: &mut impl Transmit,
    fill: &mut impl Fill,
    lane: &LaneContext,
) -> io::Result<()> {
    let mut sent = Tally::default();
    while !lane.sending_stopped() {
        match sender.transmit(fill).await {
            Ok(burst) => {
                fill.sent(burst.packets);
                #[cfg(feature = "calibration")]
                lane.delay(burst);
                lane.meter.sent.publish(sent.add(burst));
            }
            Err(error) => lane.tolerate(error)?,
        }
    }
    lane.done_sending();
    Ok(())
}

/// Receives until the stop, which comes only when the queues are empty or stay as they are.
pub(crate) async fn receive(
    receiver: &mut impl Receive,
    check: &mut impl Check,
    lane: &LaneContext,
) -> io::Result<()> {
    let mut received = Tally::default();
    while !lane.receiving_stopped() {
        match receiver.receive(check).await {
            Ok(burst) => lane.meter.received.publish(received.add(burst)),
            Err(error) => lane.tolerate(error)?,
        }
    }
    Ok(())
}

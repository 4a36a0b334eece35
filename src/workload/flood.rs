//! Flood: senders send as fast as they can, receivers take what comes.

use std::io;

use crate::content::{Inspect, Stamp};
use crate::engine::{Receive, Transmit};
use crate::lane::{LaneContext, Tally};

/// Sends until the stop.
pub(crate) async fn send(
    sender: &mut impl Transmit,
    stamp: &mut impl Stamp,
    lane: &LaneContext,
) -> io::Result<()> {
    let mut sent = Tally::default();
    while !lane.sending_stopped() {
        match sender.transmit(stamp).await {
            Ok(burst) => {
                stamp.sent(burst.packets);
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
    inspect: &mut impl Inspect,
    lane: &LaneContext,
) -> io::Result<()> {
    let mut received = Tally::default();
    while !lane.receiving_stopped() {
        match receiver.receive(inspect).await {
            Ok(burst) => lane.meter.received.publish(received.add(burst)),
            Err(error) => lane.tolerate(error)?,
        }
    }
    Ok(())
}

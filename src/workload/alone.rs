//! Alone: one thread sends a burst and receives a burst, in turn.

use std::io;

use crate::engine::{Receive, Transmit};
use crate::lane::{LaneContext, Tally};

/// Sends and receives in turn until the stop, then receives what is still there.
///
/// A lost datagram costs one [`patience`](crate::engine::ReceiveEnd::patience) and no more.
pub(super) async fn send_and_receive(
    sender: &mut impl Transmit,
    receiver: &mut impl Receive,
    lane: &LaneContext,
) -> io::Result<()> {
    let mut sent = Tally::default();
    let mut received = Tally::default();
    while !lane.receiving_stopped() {
        if lane.sending_stopped() {
            lane.done_sending();
        } else {
            match sender.transmit().await {
                Ok(burst) => lane.meter.sent.publish(sent.add(burst)),
                Err(error) => lane.tolerate(error)?,
            }
        }
        match receiver.receive().await {
            Ok(burst) => lane.meter.received.publish(received.add(burst)),
            Err(error) => lane.tolerate(error)?,
        }
    }
    Ok(())
}

//! Alone: one thread sends a burst and receives it, in turn.

use std::io;

use crate::content::{Inspect, Stamp};
use crate::engine::{Receive, Transmit};
use crate::lane::{LaneContext, Tally};

/// Sends a burst and receives until all of it has come, again and again until the stop; then receives what
/// is still there.
///
/// What stamps and inspects comes from outside, as a loop that lends something of its own counts in memory. A
/// lost datagram costs one [`patience`](crate::engine::ReceiveEnd::patience) and no more.
pub(crate) async fn send_and_receive(
    sender: &mut impl Transmit,
    receiver: &mut impl Receive,
    stamp: &mut impl Stamp,
    inspect: &mut impl Inspect,
    lane: &LaneContext,
) -> io::Result<()> {
    let mut sent = Tally::default();
    let mut received = Tally::default();
    let mut under_way = 0;
    while !lane.receiving_stopped() {
        if lane.sending_stopped() {
            lane.done_sending();
        } else if under_way == 0 {
            match sender.transmit(stamp).await {
                Ok(burst) => {
                    under_way = burst.packets;
                    stamp.sent(burst.packets);
                    #[cfg(feature = "calibration")]
                    lane.delay(burst);
                    lane.meter.sent.publish(sent.add(burst));
                }
                Err(error) => lane.tolerate(error)?,
            }
        }
        match receiver.receive(inspect).await {
            Ok(burst) => {
                under_way = under_way.saturating_sub(burst.packets);
                lane.meter.received.publish(received.add(burst));
            }
            Err(error) => {
                under_way = 0;
                lane.tolerate(error)?;
            }
        }
    }
    Ok(())
}

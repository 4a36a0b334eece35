//! Network interfaces: counters and settings of the kernel and of the driver, and the places behind an interface that
//! lose datagrams.
//!
//! All requests are plain system calls that take tens of microseconds, except for the driver's own counters.

mod change;
mod counters;
mod driver;
mod ethtool;
mod link;
mod qdisc;
mod settings;
mod wireless;

pub use self::change::Changeable;
pub use self::counters::{InterfaceReader, is_inward, is_loss};
pub use self::driver::{Way, drops as driver_drops, family, is_named, loss_counters, way};
pub use self::ethtool::Ethtool;
pub use self::link::{Below, Link, LinkWatch, below, index, links, with_those_below};
pub(super) use self::link::{IFLA_GSO_MAX_SEGS, read};
pub use self::qdisc::{Qdisc, TokenBucket};
pub use self::settings::{Coalescing, Eee, LinkModes, Pause, Rings};
pub use self::wireless::Wireless;

#[cfg(test)]
pub(crate) mod tests;

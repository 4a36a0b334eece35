//! Cases and their parameters, engines by name, samples, and the accounting of datagrams.

pub(crate) mod accounting;
mod axes;
mod bounded;
pub mod case;
mod destination;
mod engine;
mod histogram;
mod key;
pub mod listened;
pub mod parameters;
mod path;
mod rate;
mod sample;
pub mod sequence;
pub mod sequence_field;
mod socket_options;
mod verified;
mod workload;

pub use self::accounting::{Accounting, Counts, MOST_PER_TRAIN, Places, WindowAccounting};
pub use self::axes::*;
pub use self::bounded::Choice;
pub(crate) use self::bounded::choice;
pub use self::case::{BlockKey, Case};
pub use self::destination::{Destination, HostAddress, InterfaceName, is_link_local};
pub use self::engine::{EngineName, EnginePair, EngineProperties, Group};
pub use self::histogram::{BUCKETS, Histogram, bucket_of};
pub use self::key::Unusual;
pub use self::path::{CLOSED_PORTS, DirectionCounts, Shared};
pub use self::rate::{AskedRate, BitRate, Rate};
pub use self::sample::{Pacing, RoundTrips, Sample, Side, ThreadSample};
pub use self::socket_options::*;
pub use self::verified::{LEAST_BYTES, TIMED_BYTES, Verified, refusal};
pub use self::workload::{
    Arrivals, Duplex, Flows, LEAST_REQUEST_BYTES, Outstanding, ServerModel, ServiceTime, ThinkTime,
    Workload,
};

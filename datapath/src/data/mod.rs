//! What is measured and what was counted, as data: cases and their parameters, engines by name, samples, books.

pub(crate) mod accounting;
mod axes;
mod bounded;
pub mod case;
mod engine;
mod key;
mod known;
pub mod parameters;
mod sample;
mod socket_options;
mod verified;

pub use self::accounting::{Books, Counts, WindowBooks};
pub use self::axes::*;
pub use self::case::{BlockKey, Case};
pub use self::engine::{EngineName, Group, Pair, Traits};
pub use self::key::Unusual;
pub use self::sample::{LaneSample, Sample, Side};
pub use self::socket_options::*;
pub use self::verified::{LEAST_BYTES, Verified, refusal};

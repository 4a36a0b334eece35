//! The engines `monoio`, `compio` and `glommio`, which the program of this crate adds to those of udpbench.
//!
//! Each has a runtime of its own per bench thread. Their sockets and futures belong to the thread that made them, so
//! they are not `Send`, while those of an engine are, for the sake of `--tokio-workers`. `SendWrapper` bridges that: it
//! panics if another thread touches what it wraps, and none does.

mod compio;
mod glommio;
mod incoming;
mod monoio;

use udpbench::Entry;

pub use self::compio::Compio;
pub use self::glommio::Glommio;
pub use self::monoio::Monoio;

/// The engines.
pub static ENGINES: &[Entry] = &[
    Entry::of::<Monoio>(),
    Entry::of::<Compio>(),
    Entry::of::<Glommio>(),
];

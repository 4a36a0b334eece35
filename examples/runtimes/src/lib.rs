//! The engines `monoio`, `compio`, `glommio` and `smol`, which the program of this crate adds to those of udpbench.
//!
//! The first three have a runtime of their own per bench thread, over io_uring. Their sockets and futures belong to the
//! thread that made them, so they are not `Send`, while those of an engine are, for the sake of `--tokio-workers`.
//! `SendWrapper` bridges that: it panics if another thread touches what it wraps, and none does.

mod compio;
mod glommio;
mod incoming;
mod monoio;
mod smol;

use udpbench::Entry;

pub use self::compio::Compio;
pub use self::glommio::Glommio;
pub use self::monoio::Monoio;
pub use self::smol::Smol;

/// The engines.
pub static ENGINES: &[Entry] = &[
    Entry::of::<Monoio>(),
    Entry::of::<Compio>(),
    Entry::of::<Glommio>(),
    Entry::of::<Smol>().with_many::<Smol>(),
];

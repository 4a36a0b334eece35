//! udpbench: measures which UDP socket API or event loop is fastest on a machine, where datagrams are lost, and the CPU
//! time that each costs.
//!
//! The library is for authors of UDP code. Write an [`Engine`](engine::Engine) around your own calls, and hand it to
//! [`run_with`] in your `main`: your program then has every subcommand and every engine of `udpbench`, and yours among
//! them. This is all of it:
//!
//! ```no_run
//! use std::io;
//! use std::net::{SocketAddr, UdpSocket};
//! use std::process::ExitCode;
//!
//! use udpbench::engine::payload::{Check, Fill, Origin};
//! use udpbench::engine::{
//!     About, BatchCount, DatagramIo, Engine, IoOptions, Selection, ThreadArgs,
//! };
//! use udpbench::{Entry, run_with};
//!
//! struct Mine;
//!
//! impl Engine for Mine {
//!     const ABOUT: About = About {
//!         name: "mine",
//!         summary: "one blocking call per datagram",
//!         selection: Selection::Default,
//!         ..About::PLAIN
//!     };
//!     type DatagramIo = MyIo;
//!
//!     fn start(_: &ThreadArgs) -> io::Result<Self> {
//!         Ok(Self)
//!     }
//!
//!     fn open(&self, mut options: IoOptions) -> io::Result<MyIo> {
//!         let endpoint = options.only_endpoint()?;
//!         Ok(MyIo {
//!             peer: endpoint.peer_or_unspecified(),
//!             socket: endpoint.socket.into(),
//!             payload: options.payload(),
//!             buffer: options.buffer(),
//!             is_connected: options.is_connected(),
//!         })
//!     }
//! }
//!
//! struct MyIo {
//!     socket: UdpSocket,
//!     peer: SocketAddr,
//!     payload: Vec<u8>,
//!     buffer: Vec<u8>,
//!     is_connected: bool,
//! }
//!
//! impl DatagramIo for MyIo {
//!     async fn transmit(&mut self, _: usize, fill: &impl Fill) -> io::Result<BatchCount> {
//!         fill.fill(&mut self.payload);
//!         let bytes = if self.is_connected {
//!             self.socket.send(&self.payload)?
//!         } else {
//!             let to = fill.destination().unwrap_or(self.peer);
//!             self.socket.send_to(&self.payload, to)?
//!         };
//!         Ok(BatchCount::one(bytes))
//!     }
//!
//!     async fn receive<C: Check>(&mut self, check: &mut C) -> io::Result<BatchCount> {
//!         let (bytes, origin) = if self.is_connected {
//!             (self.socket.recv(&mut self.buffer)?, Origin::PEER)
//!         } else {
//!             let (bytes, source) = self.socket.recv_from(&mut self.buffer)?;
//!             (bytes, Origin::of(Some(source)))
//!         };
//!         check.check_received(bytes, &self.buffer, || origin);
//!         Ok(BatchCount::one(bytes))
//!     }
//! }
//!
//! static ENGINES: &[Entry] = &[Entry::of::<Mine>()];
//!
//! fn main() -> ExitCode {
//!     run_with(ENGINES)
//! }
//! ```
//!
//! `cargo run --release` then measures `mine` beside `std`, the reference. Where to read on:
//!
//! - [`engine`]: the contract, and [`engine::About`] for what an engine can do
//! - [`Carrier`], [`add_carriers`]: support for transports other than UDP, as `examples/message-io` has it
//! - [`testing::check_engine`]: a test that says what an engine does wrong
//! - `docs/OWN-LOOP.md`: from an empty crate to a table, as a bench target, two revisions compared
//!
//! Only what is shown here is stable. The other modules are public for the program's own tests, and hidden.

// Layers, from top to bottom: each module uses only those below it. No two files use each other, except a `mod.rs` and
// the files of its folder. A test (`tests/it/layers.rs`) reads this table, those of the other packages, and every
// `use`.
//
// | module | contents |
// |---|---|
// | `program` | the whole program, from the command line to the exit code |
// | `commands` | subcommands and what they share: progress, output files, the connection to the other host |
// | `report` | the page of charts and tables for a browser |
// | `cli` | command line |
// | `experiment` | sweep, `ab`, searches, suites: choose the next trial |
// | `session` | the loop: next trial, run, repeat if faulty or disturbed, append to the log |
// | `verdict` | comparisons, rankings, answers, quality |
// | `results` | the log of a sweep, rows, columns, files |
// | `trial` | one trial: agent, sockets, threads, warm-up, window, drain |
// | `plan` | cases to run or to skip, rounds, durations |
// | `stats` | estimates, intervals, tests |
//
// Below them are three packages. `udpbench-field`: `soak`, `listen`, `watch`. `udpbench-host`: what a machine is, text,
// the terminal, logs. `udpbench-datapath`: the code that each datagram passes, and all `unsafe` code.
//
// `docs/ARCHITECTURE.md` has this in short, and follows a datagram from an engine to a row. `CONTRIBUTING.md` has the
// steps to a new engine, parameter, column or board.

#![forbid(unsafe_code)]

#[doc(hidden)]
pub mod cli;
#[doc(hidden)]
pub mod commands;
#[doc(hidden)]
pub mod experiment;
#[doc(hidden)]
pub mod plan;
#[doc(hidden)]
pub mod program;
#[doc(hidden)]
pub mod report;
#[doc(hidden)]
pub mod results;
#[doc(hidden)]
pub mod session;
#[doc(hidden)]
pub mod stats;
#[doc(hidden)]
pub mod trial;
#[doc(hidden)]
pub mod verdict;

pub use program::run_with;
#[doc(inline)]
pub use udpbench_datapath::engines::{Carrier, Entry, add_carriers};
#[doc(hidden)]
pub use udpbench_datapath::{data, engines, sys, workload};
#[doc(inline)]
pub use udpbench_datapath::{engine, testing};
#[doc(hidden)]
pub use udpbench_host::{self as host, TARGET, VERSION, error, is_debug, log, term, text};

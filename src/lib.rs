//! udpbench: how fast this board, this kernel and this way of writing the socket loop move UDP
//! datagrams, where the lost ones died, and what each cost in CPU.
//!
//! Data flows one way. A reader who wants to know where something is decided follows it:
//!
//! | step | module | decides |
//! |---|---|---|
//! | what was typed | [`cli`] | nothing |
//! | what it means here | [`request`], with [`board`], [`host`], [`placement`] | defaults, CPUs, bad input |
//! | what runs | [`plan`], of [`case`]s | each case: run, or skip with a reason |
//! | in which order | [`sweep`] | blocks, rounds, shuffles, soak, cool-down |
//! | whether this host is fit | [`check`] | what would spoil a run, and the cure |
//! | one window | [`runner`] | sockets, threads, gate, warm-up, window, drain, books |
//! | the hot loop | [`workload`] x [`engine`] ([`engines`] is the registry) | what is timed |
//! | what was counted | [`sample`] | raw integers, closed books |
//! | what happened, in order | [`raw`] | the file that everything follows from |
//! | which rows follow | [`reckoning`] | when a row is final, and what it is made from |
//! | what a row says | [`record`], with [`stats`] | every number that people read |
//! | where it goes | [`sink`] | CSV and other formats, the table |
//!
//! Afterwards [`results`] reads such files again, for [`compare`] (did it change?), [`rank`] (what is best
//! here?) and [`report`] (a page to look at).
//!
//! [`visible`] keeps what steers a terminal out of what people see.
//!
//! [`lane`] is what a thread and the coordinator share, [`sys`] what the operating system tells and does,
//! [`cmd`] has one file per subcommand.
//!
//! A new engine is one file in `engines/` and its line in the registry; a new board one TOML in
//! `boards/`; a new format one file in `sink/` and the place in [`cmd::run`] that fills
//! it. `CONTRIBUTING.md` walks through each.

pub mod board;
pub mod books;
pub mod case;
pub mod check;
pub mod cli;
pub mod cmd;
pub mod compare;
pub mod content;
pub mod duration;
pub mod engine;
pub mod engines;
pub mod error;
pub mod host;
pub mod lane;
pub mod percent;
pub mod placement;
pub mod plan;
pub mod rank;
pub mod raw;
pub mod reckoning;
pub mod record;
pub mod report;
pub mod request;
pub mod results;
pub mod runner;
pub mod sample;
pub mod sink;
pub mod stats;
pub mod sweep;
pub mod sys;
pub mod verify;
pub mod visible;
pub mod wire;
pub mod workload;

/// Of this program. Numbers of a debug build are not those of a release.
pub const VERSION: &str = if cfg!(debug_assertions) {
    concat!(env!("CARGO_PKG_VERSION"), "-debug")
} else {
    env!("CARGO_PKG_VERSION")
};

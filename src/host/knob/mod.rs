//! Settings of a machine that may help, each with the value that it has and one to be tried.
//!
//! | step | module |
//! |---|---|
//! | where a value is, read and written | `place` |
//! | which settings this machine has | `choose` |
//! | which CPUs a mask names | `mask` |
//! | one search at a time | `lock` |

mod choose;
mod lock;
mod mask;
mod place;

use serde::{Deserialize, Serialize};

pub use self::choose::{LARGER, Wanted, choose};
pub use self::lock::Lock;
pub use self::place::Place;

/// Which setting.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, clap::ValueEnum,
)]
#[serde(rename_all = "snake_case")]
pub enum Name {
    /// SO_RCVBUF of the trials' sockets: four times --rcvbuf
    Rcvbuf,
    /// Which CPUs the kernel hands received packets to
    Rps,
    /// Which CPUs send by which queue
    Xps,
    /// Which CPUs serve the interface's interrupts
    Irq,
    /// How the CPUs' clocks are chosen: performance
    Governor,
    /// Received packets merged before they are processed: the other of on and off
    Gro,
    /// Interrupts of received packets are not held back
    Coalescing,
    /// Energy-efficient Ethernet off
    Eee,
    /// As many descriptors for packets as there can be
    Ring,
    /// Changes nothing: what is found of it says how often the method errs
    Sham,
}

impl Name {
    /// As it is typed.
    pub fn text(self) -> &'static str {
        match self {
            Self::Rcvbuf => "rcvbuf",
            Self::Rps => "rps",
            Self::Xps => "xps",
            Self::Irq => "irq",
            Self::Governor => "governor",
            Self::Gro => "gro",
            Self::Coalescing => "coalescing",
            Self::Eee => "eee",
            Self::Ring => "ring",
            Self::Sham => "sham",
        }
    }

    /// Why it might help.
    pub fn why(self) -> &'static str {
        match self {
            Self::Rcvbuf => "longer bursts and stalls are borne without loss",
            Self::Rps => "another CPU does the protocol work",
            Self::Xps => "senders on different CPUs do not wait for each other",
            Self::Irq => "interrupts leave the CPU that has them now",
            Self::Governor => "the clock does not fall between packets",
            Self::Gro => "less work for each packet, or answers sooner",
            Self::Coalescing => "an answer does not wait for the interrupt",
            Self::Eee => "the link does not sleep between packets",
            Self::Ring => "longer bursts are borne without loss",
            Self::Sham => "nothing changes: it cannot",
        }
    }

    /// Those that are tried where nothing was typed.
    pub const USUAL: [Self; 9] = [
        Self::Rcvbuf,
        Self::Rps,
        Self::Xps,
        Self::Irq,
        Self::Governor,
        Self::Gro,
        Self::Coalescing,
        Self::Eee,
        Self::Ring,
    ];

    /// Whether a driver may take the link down for it.
    pub fn resets_link(self) -> bool {
        matches!(self, Self::Eee | Self::Ring)
    }
}

/// A setting of this machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Knob {
    /// Which.
    pub name: Name,
    /// Each place that is changed. None: of the trials' own sockets, or nothing.
    pub settings: Vec<Setting>,
}

/// One value of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Setting {
    /// Where.
    pub place: Place,
    /// What it was before anything was tried.
    pub before: String,
    /// What is tried.
    pub tried: String,
}

/// What is tried, and what is not.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Knobs {
    /// These are.
    pub tried: Vec<Knob>,
    /// These are not, and why.
    pub left_out: Vec<LeftOut>,
}

impl Knobs {
    /// Every value that is changed.
    pub fn settings(&self) -> Vec<Setting> {
        let all = self.tried.iter().flat_map(|knob| &knob.settings);
        all.cloned().collect()
    }
}

/// A setting that is not tried.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeftOut {
    /// Which.
    pub name: Name,
    /// Why.
    pub reason: String,
}

//! Tunings of a machine that may help, each with its current value and a value to try.
//!
//! | step | module |
//! |---|---|
//! | find, read and write a value, find what somebody else has changed | `location` |
//! | choose the tunings that this machine has | `choose` |
//! | allow one search at a time | `lock` |

mod choose;
mod location;
mod lock;

use clap::ValueEnum;
use serde::{Deserialize, Serialize};

pub use self::choose::{Wanted, choose};
pub use self::location::{Difference, Location, NotChanged, differences};
pub use self::lock::Lock;

/// Kind of setting.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, ValueEnum)]
#[serde(rename_all = "snake_case")]
pub enum Name {
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
    /// Flow control by pause frames: the other of on and off. Only if named
    Pause,
    /// Power save of Wi-Fi off
    PowerSave,
    /// Changes nothing: what is found of it says how often the method errs
    Control,
}

impl Name {
    /// Returns the name as typed on the command line.
    pub fn text(self) -> &'static str {
        match self {
            Self::Rps => "rps",
            Self::Xps => "xps",
            Self::Irq => "irq",
            Self::Governor => "governor",
            Self::Gro => "gro",
            Self::Coalescing => "coalescing",
            Self::Eee => "eee",
            Self::Ring => "ring",
            Self::Pause => "pause",
            Self::PowerSave => "power-save",
            Self::Control => "control",
        }
    }

    /// Returns the reason why the tuning might help.
    pub fn why(self) -> &'static str {
        match self {
            Self::Rps => "another CPU does the protocol work",
            Self::Xps => "senders on different CPUs do not wait for each other",
            Self::Irq => "interrupts leave the CPU that has them now",
            Self::Governor => "the clock does not fall between packets",
            Self::Gro => "less work for each packet, or answers sooner",
            Self::Coalescing => "an answer does not wait for the interrupt",
            Self::Eee => "the link does not sleep between packets",
            Self::Ring => "longer bursts are borne without loss",
            Self::Pause => "the sender waits for the receiver's interface, or no longer",
            Self::PowerSave => "the radio does not sleep until the next beacon",
            Self::Control => "nothing changes: it cannot",
        }
    }

    /// Returns the tunings that are tried by default.
    pub fn usual() -> impl Iterator<Item = Self> {
        let others = [Self::Pause, Self::PowerSave, Self::Control];
        let all = Self::value_variants().iter().copied();
        all.filter(move |name| !others.contains(name))
    }

    /// Returns whether a driver may take the link down to change this.
    pub fn resets_link(self) -> bool {
        matches!(self, Self::Eee | Self::Ring | Self::Pause)
    }
}

/// A tuning of this machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tuning {
    /// Name of the tuning.
    pub name: Name,
    /// Every value that is changed. Empty if the tuning changes nothing.
    pub settings: Vec<Setting>,
}

/// One value of a tuning.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Setting {
    /// Location of the value.
    pub location: Location,
    /// The value before anything was tried.
    pub before: String,
    /// The value to try.
    pub tried: String,
}

/// The tunings to try, and the ones left out.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tunings {
    /// Tunings to try.
    pub tried: Vec<Tuning>,
    /// Tunings left out, each with the reason.
    pub left_out: Vec<LeftOut>,
}

/// A tuning that is not tried.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeftOut {
    /// Name of the tuning.
    pub name: Name,
    /// Reason for leaving it out.
    pub reason: String,
}

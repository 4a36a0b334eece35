//! Locations of values: reads, writes and checks them, and says which somebody else may have changed.

use std::fmt;
use std::fs::OpenOptions;
use std::io::{self, Write};

use serde::{Deserialize, Serialize};

use super::Setting;
use crate::sys::files::Root;
use crate::sys::nic::{Changeable, Ethtool};
use crate::text::cpu_list::parse_mask;

/// A file of the kernel, or a setting of an interface's driver.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Location {
    /// Path of a file below the root, without the leading slash.
    File(String),
    /// Setting of a driver.
    Driver {
        /// Name of the interface.
        interface: String,
        /// Kind of the setting.
        what: Changeable,
    },
}

impl Location {
    /// Reads the value as text.
    ///
    /// # Errors
    /// Returns the error of the system call.
    pub fn read(&self, root: &Root) -> io::Result<String> {
        match self {
            Self::File(path) => {
                let text = std::fs::read_to_string(root.path(path))?;
                let line = text.lines().next().unwrap_or_default();
                Ok(line.trim_end_matches(['\0', ' ']).to_owned())
            }
            Self::Driver { interface, what } => what.read(&driver(root, interface)?),
        }
    }

    /// Sets the value and verifies it.
    ///
    /// # Errors
    /// Returns the error of the system call, or an error if the kernel keeps another value.
    pub fn write(&self, root: &Root, value: &str) -> io::Result<()> {
        match self {
            Self::File(path) => {
                let mut file = OpenOptions::new().write(true).open(root.path(path))?;
                let line = format!("{value}\n");
                // Written in one call: the kernel takes each call as a separate order. A file that is not the kernel's
                // loses what is left of a longer value only then, lest whoever is killed in between leave no value.
                file.write_all(line.as_bytes())?;
                let _ = file.set_len(line.len() as u64);
            }
            Self::Driver { interface, what } => what.write(&driver(root, interface)?, value)?,
        }
        let kept = self.read(root)?;
        if self.is_same(&kept, value) {
            return Ok(());
        }
        let problem = format!("asked for {value}, but the kernel keeps {kept}");
        Err(io::Error::other(problem))
    }

    /// Checks that this process may set the value. Changes nothing.
    ///
    /// # Errors
    /// Returns an error if this process may not set the value.
    pub fn check(&self, root: &Root) -> io::Result<()> {
        let mut options = OpenOptions::new();
        match self {
            Self::File(path) => options.write(true).open(root.path(path)).map(drop),
            Self::Driver { .. } if may_administer_network() => Ok(()),
            Self::Driver { .. } => Err(io::ErrorKind::PermissionDenied.into()),
        }
    }

    /// Returns whether the setting is gone together with its interface or its interrupt, which have no value to put
    /// back then. A governor is not: the kernel keeps it for a CPU that comes back.
    pub fn is_gone(&self, root: &Root) -> bool {
        let parent = match self {
            Self::File(path) if path.starts_with("sys/class/net/") => interface_of(path),
            Self::File(path) if path.starts_with("proc/irq/") => {
                path.rsplit_once('/').map(|it| it.0)
            }
            Self::File(_) => None,
            Self::Driver { interface, .. } => {
                return root.is_real() && nix::net::if_::if_nametoindex(&**interface).is_err();
            }
        };
        parent.is_some_and(|parent| !root.path(parent).exists())
    }

    /// Returns whether two texts mean the same value here. Kernels write masks in their own format.
    pub fn is_same(&self, one: &str, other: &str) -> bool {
        one == other || self.is_mask() && parse_mask(one) == parse_mask(other)
    }

    fn is_mask(&self) -> bool {
        matches!(self, Self::File(path) if path.ends_with("_cpus") || path.ends_with("_affinity"))
    }

    /// Returns the interface whose link may go down during the change.
    pub fn interface(&self) -> Option<&str> {
        match self {
            Self::File(_) => None,
            Self::Driver { interface, .. } => Some(interface),
        }
    }
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path) => write!(f, "/{path}"),
            Self::Driver { interface, what } => {
                let (command, rest) = match what {
                    Changeable::PowerSave => ("iw dev", " power_save"),
                    Changeable::Gro => ("ethtool -k", ""),
                    Changeable::Coalescing => ("ethtool -c", ""),
                    Changeable::Eee => ("ethtool --show-eee", ""),
                    Changeable::Rings => ("ethtool -g", ""),
                    Changeable::Pause => ("ethtool -a", ""),
                };
                write!(f, "{command} {interface}{rest}")
            }
        }
    }
}

/// Returns the directory of an interface in `/sys`.
fn interface_of(path: &str) -> Option<&str> {
    let (at, _) = path.match_indices('/').nth(3)?;
    path.get(..at)
}

/// Opens the driver of an interface. Drivers exist only on this machine, so any other root is unsupported.
fn driver(root: &Root, interface: &str) -> io::Result<Ethtool> {
    if !root.is_real() {
        return Err(io::ErrorKind::Unsupported.into());
    }
    Ethtool::open(interface)
}

/// Returns whether this process has `CAP_NET_ADMIN` (linux/capability.h), read as in proc_pid_status(5).
fn may_administer_network() -> bool {
    const CAP_NET_ADMIN: u32 = 12;
    let status = Root::default().text("proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("CapEff:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    mask.is_some_and(|mask| mask >> CAP_NET_ADMIN & 1 == 1)
}

/// A setting that has another value than when the search began.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Difference {
    text: String,
    /// True if the setting is gone with its interface.
    pub is_gone: bool,
    /// True if the value is the one that the search tried, or cannot be read.
    pub may_be_ours: bool,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// Reason why the settings of a tuning could not be changed, or did not stay so.
#[derive(Clone, Debug, Serialize, Deserialize, thiserror::Error)]
#[serde(rename_all = "snake_case")]
pub enum NotChanged {
    /// One of them had another value than when the search began.
    #[error("{0}")]
    Before(Difference),
    /// The kernel or the driver refused it, or somebody else set another value meanwhile, in these words.
    #[error("{0}")]
    Refused(String),
}

/// Returns the settings that have other values than when the search began, or that cannot be read.
pub fn differences(settings: &[Setting], root: &Root) -> Vec<Difference> {
    let of = |Setting {
                  location,
                  before,
                  tried,
              }: &Setting| {
        let is_gone = location.is_gone(root);
        let (text, may_be_ours) = match location.read(root) {
            _ if is_gone => (format!("{location} is gone"), false),
            Err(error) => (format!("{location}: {error}"), true),
            Ok(now) if location.is_same(&now, before) => return None,
            Ok(now) => (
                format!("{location} is {now}, and was {before} when the search began"),
                location.is_same(&now, tried),
            ),
        };
        Some(Difference {
            text,
            is_gone,
            may_be_ours,
        })
    };
    settings.iter().filter_map(of).collect()
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::thread;

    use super::*;

    #[test]
    fn a_value_is_there_at_any_time_of_a_change() {
        let directory = tempfile::tempdir().expect("a directory");
        let root = Root::new(directory.path());
        fs::write(root.path("governor"), "ondemand\n").expect("written");
        let location = Location::File("governor".to_owned());
        thread::scope(|scope| {
            let writer = scope.spawn(|| {
                for value in ["performance", "ondemand"].iter().cycle().take(1_000) {
                    location.write(&root, value).expect("it is ours");
                }
            });
            while !writer.is_finished() {
                let now = location.read(&root).expect("it is there");
                // While it is written, the file has the new bytes at the old length, and is never empty.
                let known = ["performance", "performan", "ondemand", "ondemand\nce"];
                assert!(known.contains(&&*now), "{now:?}");
            }
        });
        assert_eq!(root.text("governor").as_deref(), Some("ondemand"));
    }
}

//! Where a value is.

use std::fmt;
use std::fs::OpenOptions;
use std::io::{self, Write};

use serde::{Deserialize, Serialize};

use super::mask;
use crate::sys::files::Root;
use crate::sys::nic::{Changeable, Ethtool};

/// A file of the kernel's, or a setting of an interface's driver.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Place {
    /// Below the root, without the leading slash.
    File(String),
    /// Asked of a driver.
    Driver {
        /// Whose.
        interface: String,
        /// What.
        what: Changeable,
    },
}

impl Place {
    /// The value, as text.
    ///
    /// # Errors
    /// What the system said.
    pub fn read(&self, root: &Root) -> io::Result<String> {
        match self {
            Self::File(path) => {
                let text = std::fs::read_to_string(root.path(path))?;
                Ok(text.trim_end_matches(['\0', '\n', ' ']).to_owned())
            }
            Self::Driver { interface, what } => what.read(&driver(root, interface)?),
        }
    }

    /// Sets it, and looks whether it is so.
    ///
    /// # Errors
    /// What the system said, or that it keeps another value.
    pub fn write(&self, root: &Root, value: &str) -> io::Result<()> {
        match self {
            Self::File(path) => {
                let mut file = OpenOptions::new()
                    .write(true)
                    .truncate(true)
                    .open(root.path(path))?;
                // In one call: each is an order of its own to the kernel.
                file.write_all(format!("{value}\n").as_bytes())?;
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

    /// Whether this process may set it. Nothing is touched.
    ///
    /// # Errors
    /// Why it may not.
    pub fn check(&self, root: &Root) -> io::Result<()> {
        match self {
            Self::File(path) => {
                OpenOptions::new().write(true).open(root.path(path))?;
            }
            Self::Driver { .. } if !may_administer_network() => {
                return Err(io::Error::from_raw_os_error(libc_eperm()));
            }
            Self::Driver { .. } => {}
        }
        Ok(())
    }

    /// Whether two texts are the same value here: a kernel writes masks in its own way.
    pub fn is_same(&self, one: &str, other: &str) -> bool {
        one == other || self.is_mask() && mask::parse(one) == mask::parse(other)
    }

    fn is_mask(&self) -> bool {
        matches!(self, Self::File(path) if path.ends_with("_cpus") || path.ends_with("_affinity"))
    }

    /// The interface whose link may go down for it.
    pub fn interface(&self) -> Option<&str> {
        match self {
            Self::File(_) => None,
            Self::Driver { interface, .. } => Some(interface),
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path) => write!(f, "/{path}"),
            Self::Driver { interface, what } => {
                let flags = match what {
                    Changeable::Gro => "-k",
                    Changeable::Coalescing => "-c",
                    Changeable::Eee => "--show-eee",
                    Changeable::Rings => "-g",
                };
                write!(f, "ethtool {flags} {interface}")
            }
        }
    }
}

/// A driver is this machine's own, whatever the root.
fn driver(root: &Root, interface: &str) -> io::Result<Ethtool> {
    if !root.is_real() {
        return Err(io::ErrorKind::Unsupported.into());
    }
    Ethtool::open(interface)
}

fn libc_eperm() -> i32 {
    nix::errno::Errno::EPERM as i32
}

/// CAP_NET_ADMIN (linux/capability.h), as proc_pid_status(5) shows it.
fn may_administer_network() -> bool {
    const CAP_NET_ADMIN: u32 = 12;
    let status = Root::default().text("proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("CapEff:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    mask.is_some_and(|mask| mask >> CAP_NET_ADMIN & 1 == 1)
}

//! Another program: its UDP sockets, its threads, and the drops of the kernel on the way to it. All of it is only read.

pub mod diagnosis;
mod interval;
pub mod losses;
mod threads;

use std::collections::BTreeSet;
use std::fmt;
use std::fs;
use std::io;

pub use self::interval::{Interval, Observer, ThreadTimes};
use crate::error::UsageError;
use crate::sys::files::Root;
use crate::sys::udp_sockets::{self, UdpSocketState};

/// The sockets to watch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// All sockets on this port, and the process that has them open.
    Port(u16),
    /// All UDP sockets of this process.
    Pid(u32),
}

/// A program with UDP sockets.
#[derive(Clone, Debug)]
pub struct Program {
    target: Target,
    /// Number of its process. `None`: reading whose sockets they are is not permitted.
    pub pid: Option<u32>,
    /// Name of its process in the kernel. Empty: unknown.
    pub name: String,
    /// Directory of `/proc` that shows its network namespace.
    namespace: String,
}

impl Program {
    /// Finds the program.
    ///
    /// # Errors
    /// Fails if there is no such socket or process, or if its open files may not be read.
    pub fn find(target: Target) -> Result<Self, UsageError> {
        let mut program = Self {
            target,
            pid: None,
            name: String::new(),
            namespace: "thread-self".to_owned(),
        };
        if let Target::Pid(pid) = target {
            inodes(pid).map_err(|error| cannot_read(pid, &error))?;
            program.pid = Some(pid);
            if !is_own_namespace(pid) {
                program.namespace = pid.to_string();
            }
        }
        let sockets = program.sockets().unwrap_or_default();
        if sockets.is_empty() {
            return Err(program.without_sockets());
        }
        if program.pid.is_none() {
            program.pid = owner(&sockets);
        }
        if let Some(pid) = program.pid {
            let name = Root::new("/").text(format!("proc/{pid}/comm"));
            program.name = name.unwrap_or_default();
        }
        Ok(program)
    }

    /// Returns the sockets as they are now.
    ///
    /// # Errors
    /// Fails if the kernel does not list sockets, or if the process has ended.
    pub fn sockets(&self) -> io::Result<Vec<UdpSocketState>> {
        let all = if self.is_in_own_namespace() {
            udp_sockets::here()?
        } else {
            udp_sockets::of_process(&self.namespace)?
        };
        let own = match self.target {
            Target::Pid(pid) => Some(inodes(pid)?),
            Target::Port(_) => None,
        };
        let is_watched = |socket: &UdpSocketState| match (&own, self.target) {
            (Some(own), _) => own.contains(&socket.inode),
            (None, Target::Port(port)) => socket.local.port() == port,
            (None, Target::Pid(_)) => false,
        };
        Ok(all.into_iter().filter(is_watched).collect())
    }

    /// Returns whether the program is in the network namespace of this one.
    fn is_in_own_namespace(&self) -> bool {
        self.namespace == "thread-self"
    }

    fn without_sockets(&self) -> UsageError {
        match self.target {
            Target::Port(port) => {
                let mut open: Vec<u16> = udp_sockets::here().map_or_else(
                    |_| Vec::new(),
                    |all| all.iter().map(|it| it.local.port()).collect(),
                );
                open.sort_unstable();
                open.dedup();
                let open: Vec<String> = open.iter().map(u16::to_string).collect();
                let those = match open.len() {
                    0 => "no port is open".to_owned(),
                    1..=12 => format!("open are {}", open.join(", ")),
                    many => format!("{many} others are open (ss -lun lists them)"),
                };
                let problem = format!(
                    "no UDP socket is bound to this port here: {those}. In a container: --pid"
                );
                UsageError::flag("--port", &port, problem)
            }
            Target::Pid(pid) => {
                UsageError::flag("--pid", &pid, "this process has no UDP socket open")
            }
        }
    }
}

impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.pid {
            Some(pid) => write!(f, "{} (pid {pid})", self.name),
            None => f.write_str("an unknown program (reading whose socket it is takes sudo)"),
        }
    }
}

fn cannot_read(pid: u32, error: &io::Error) -> UsageError {
    let problem = match error.kind() {
        io::ErrorKind::NotFound => "there is no such process".to_owned(),
        io::ErrorKind::PermissionDenied => {
            "its open files may not be read: use sudo, or --port".to_owned()
        }
        _ => format!("its open files cannot be read: {error}"),
    };
    UsageError::flag("--pid", &pid, problem)
}

/// Returns the numbers of the sockets that a process has open.
fn inodes(pid: u32) -> io::Result<BTreeSet<u32>> {
    let files = fs::read_dir(format!("/proc/{pid}/fd"))?.flatten();
    let inode = |file: fs::DirEntry| {
        let link = fs::read_link(file.path()).ok()?;
        let number = link.to_str()?.strip_prefix("socket:[")?.strip_suffix(']')?;
        number.parse().ok()
    };
    Ok(files.filter_map(inode).collect())
}

/// Returns the process that has the first of these sockets open. `None`: no process whose files may be read.
fn owner(sockets: &[UdpSocketState]) -> Option<u32> {
    let first = sockets.first()?;
    let processes = Root::new("/").names("proc", "").into_iter();
    let mut pids = processes.filter_map(|name| name.parse().ok());
    pids.find(|&pid| inodes(pid).is_ok_and(|own| own.contains(&first.inode)))
}

/// Returns whether a process is in the network namespace of this thread. If that may not be read, it is taken to be.
fn is_own_namespace(pid: u32) -> bool {
    let of = |process: &str| fs::read_link(format!("/proc/{process}/ns/net")).ok();
    let (own, other) = (of("thread-self"), of(&pid.to_string()));
    own.is_none() || other.is_none() || own == other
}

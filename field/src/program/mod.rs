//! Another program: its UDP sockets, its threads, and the drops of the kernel on the way to it. All of it is only read.

pub mod diagnosis;
mod interval;
pub mod losses;
mod observer;
pub mod owners;
mod twins;

use std::fmt;
use std::io;

pub use self::interval::{Interval, SocketSeen, ThreadTimes};
pub use self::observer::Observer;
use self::owners::{Owner, inodes};
use crate::error::UsageError;
use crate::sys::processes;
use crate::sys::udp_sockets::{self, UdpSocketState};

/// The sockets to watch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// All sockets on this port, and the process that has them open.
    Port(u16),
    /// All UDP sockets of this process.
    Pid(u32),
}

/// Processes with UDP sockets.
#[derive(Clone, Debug)]
pub struct Program {
    target: Target,
    /// Processes that have the sockets open. Empty: reading whose they are is not permitted.
    pub owners: Vec<Owner>,
    /// Directory of `/proc` that shows the network namespace of the sockets.
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
            owners: Vec::new(),
            namespace: "thread-self".to_owned(),
        };
        if let Target::Pid(pid) = target {
            let own = inodes(pid).map_err(|error| cannot_read(pid, &error))?;
            program.namespace = owners::namespace_of(pid, &own);
        }
        let sockets = program.sockets().unwrap_or_default();
        if sockets.is_empty() {
            return Err(program.without_sockets());
        }
        program.find_owners(&sockets);
        Ok(program)
    }

    /// Finds the processes that have these sockets open.
    fn find_owners(&mut self, sockets: &[UdpSocketState]) {
        let inodes = sockets.iter().map(|socket| socket.inode).collect();
        self.owners = owners::owners(&inodes);
    }

    /// Returns whether it is this process, whose sockets nobody else has.
    fn is_this(&self) -> bool {
        self.target == Target::Pid(std::process::id())
    }

    /// Returns the name of a process, with its number if there are several.
    fn name_of(&self, owner: &Owner) -> String {
        match self.owners.len() {
            0 | 1 => owner.name.clone(),
            _ => owner.to_string(),
        }
    }

    /// Returns the name of the process if there is only one. Otherwise "the program".
    pub fn name(&self) -> &str {
        match &*self.owners {
            [owner] if !owner.name.is_empty() => &owner.name,
            _ => "the program",
        }
    }

    /// Returns the sockets as they are now.
    ///
    /// # Errors
    /// Fails if the kernel does not list sockets, or if the process has ended.
    pub fn sockets(&self) -> io::Result<Vec<UdpSocketState>> {
        let mut sockets = match &*self.namespace {
            "thread-self" => udp_sockets::here()?,
            other => udp_sockets::of_process(other)?,
        };
        match self.target {
            Target::Port(port) => sockets.retain(|it| it.local.port() == port),
            Target::Pid(pid) => {
                let own = inodes(pid)?;
                sockets.retain(|it| own.contains(&it.inode));
            }
        }
        Ok(sockets)
    }

    fn without_sockets(&self) -> UsageError {
        match self.target {
            Target::Port(port) => {
                let elsewhere = match owners::in_other_namespace(port) {
                    Some(owner) => format!(
                        "{owner} has it in another network namespace: use --pid {}",
                        owner.pid
                    ),
                    None => "In a container: --pid".to_owned(),
                };
                let problem = format!(
                    "no UDP socket is bound to this port here (ss -lun lists those that are). {elsewhere}{}",
                    packet_sockets()
                );
                UsageError::flag("--port", &port, problem)
            }
            Target::Pid(pid) => {
                let has = processes::socket_protocols(pid);
                let has = |protocol: &str| has.iter().any(|it| it == protocol);
                let problem = if has("UDP") || has("UDPv6") {
                    format!(
                        "its UDP socket is of another network namespace, where no process runs whose files may be \
                         read: sudo nsenter --net=/run/netns/NAME udpbench watch --pid {pid} (ip netns lists names)"
                    )
                } else if has("PACKET") {
                    "this process has no UDP socket open: it reads packets before UDP (a packet socket), whose drops \
                     sudo ss -0pm shows (d)"
                        .to_owned()
                } else {
                    "this process has no UDP socket open".to_owned()
                };
                UsageError::flag("--pid", &pid, problem)
            }
        }
    }
}

/// Returns a sentence about programs that may read the port's datagrams before UDP. Empty: there are none.
fn packet_sockets() -> String {
    let Some(owners) = owners::of_packet_sockets() else {
        return String::new();
    };
    let owners: Vec<String> = owners.iter().map(Owner::to_string).collect();
    let who = match owners.len() {
        0 => "another program".to_owned(),
        _ => owners.join(", "),
    };
    format!(
        ". Packet sockets, which read before UDP, are open in {who}: sudo ss -0pm shows their drops (d)"
    )
}

impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.owners.is_empty() {
            return f.write_str(
                "an unknown program (whose it is takes sudo; if that does not tell: the kernel's own, as for vxlan, or \
                 one of another PID namespace)",
            );
        }
        let each: Vec<String> = self.owners.iter().map(Owner::to_string).collect();
        f.write_str(&each.join(", "))
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

#[cfg(test)]
mod tests;

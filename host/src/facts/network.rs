//! Reads the network stack's settings that affect packets (RPS, XPS, conntrack), and the interfaces with hardware.

use std::collections::BTreeSet;
use std::fs;
use std::net::UdpSocket;
use std::os::unix::fs::PermissionsExt;

use nix::sys::statvfs::{FsFlags, statvfs};
use serde::{Deserialize, Serialize};

use super::interrupts::{cpus_of_irqs, irqs};
use crate::data::Buffer;
use crate::sys::files::Root;
use crate::sys::socket_options;
use crate::text::cpu_list;

/// State of conntrack in this network namespace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Conntrack {
    /// Number of flows that conntrack follows.
    pub entries: u64,
    /// True if conntrack follows datagrams over loopback, found by trying. `None`: not tried.
    pub follows_loopback: Option<bool>,
}

/// Returns whether this process may exceed `rmem_max`, found by trying. False below another root.
pub(super) fn can_exceed_rmem_max(root: &Root) -> bool {
    let may_force =
        |socket| socket_options::may_force_receive_buffer(&socket, Buffer::DEFAULT.bytes());
    root.is_real() && socket().is_some_and(may_force)
}

fn socket() -> Option<UdpSocket> {
    let v4 = UdpSocket::bind("127.0.0.1:0");
    v4.or_else(|_| UdpSocket::bind("[::1]:0")).ok()
}

/// File of the largest `SO_RCVBUF` that is granted without privilege.
const RMEM_MAX: &str = "proc/sys/net/core/rmem_max";

/// Largest `SO_RCVBUF` that is granted without privilege, and where it can be changed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RcvbufLimit {
    /// In bytes. The kernel grants twice as much. `None`: unknown.
    pub most: Option<u64>,
    /// True if it can be changed elsewhere only: on the host of this container or network namespace.
    pub is_of_host: bool,
}

impl RcvbufLimit {
    /// Reads the limit by trying: containers of kernels before 6.12 do not see its file (quic-go #3801, moby #42282).
    /// Below another root, the file tells.
    pub fn read(root: &Root) -> Self {
        let socket = socket().filter(|_| root.is_real());
        let tried = socket.and_then(|socket| socket_options::most_receive_buffer(&socket));
        Self {
            most: tried.or_else(|| root.number(RMEM_MAX)),
            is_of_host: is_read_only(root, RMEM_MAX),
        }
    }

    /// Returns the command that changes the limit, with the place to type it.
    pub fn command(self, bytes: u64) -> String {
        let place = if self.is_of_host {
            "on the host of this container, not in it: "
        } else {
            ""
        };
        format!("{place}sudo sysctl -w net.core.rmem_max={bytes}")
    }
}

/// Returns whether nobody here can write a file: it is missing, or its mode or its mount forbid it to root also. Every
/// network namespace but the first one only reads the limits of net.core (`sysctl_core_net_init`,
/// net/core/sysctl_net_core.c), and containers have a /proc/sys that is mounted read-only. False below another root.
fn is_read_only(root: &Root, path: &str) -> bool {
    let path = root.path(path);
    let is_forbidden = |mode: u32| mode & 0o222 == 0;
    let by_mode = fs::metadata(&path).is_ok_and(|file| is_forbidden(file.permissions().mode()));
    let by_mount = || statvfs(&path).is_ok_and(|fs| fs.flags().contains(FsFlags::ST_RDONLY));
    root.is_real() && (!path.exists() || by_mode || by_mount())
}

/// Reads the state of conntrack, and tries whether it follows loopback. `None` if it is not loaded.
pub(super) fn conntrack(root: &Root) -> Option<Conntrack> {
    let entries = || root.number("proc/sys/net/netfilter/nf_conntrack_count");
    let before: u64 = entries()?;
    let tried = root.is_real().then(|| {
        send_over_loopback();
        // Other flows come and go meanwhile, but hardly this many.
        entries().is_some_and(|after| after >= before + TRIED_FLOWS / 2)
    });
    Some(Conntrack {
        entries: before,
        follows_loopback: tried,
    })
}

const TRIED_FLOWS: u64 = 32;

/// Sends one datagram in each of [`TRIED_FLOWS`] flows, half of them over IPv6 if it is available.
fn send_over_loopback() {
    for address in ["127.0.0.1:0", "[::1]:0"] {
        let send = |receiver: &UdpSocket| {
            let sender = UdpSocket::bind(address)?;
            sender.send_to(&[0], receiver.local_addr()?)
        };
        if let Ok(receiver) = UdpSocket::bind(address) {
            let _ = (0..TRIED_FLOWS / 2).try_for_each(|_| send(&receiver).map(drop));
        }
    }
}

/// Returns the CPUs in the RPS masks of all receive queues (kernel doc networking/scaling). `None` if unknown.
pub(super) fn rps_cpus(root: &Root, interface: &str) -> Option<Vec<usize>> {
    cpus_of_queues(root, interface, "rx-", "rps_cpus")
}

/// Returns the CPUs in the XPS masks of all transmit queues. `None` if unknown, as with a single queue.
pub(super) fn xps_cpus(root: &Root, interface: &str) -> Option<Vec<usize>> {
    cpus_of_queues(root, interface, "tx-", "xps_cpus")
}

fn cpus_of_queues(root: &Root, interface: &str, prefix: &str, file: &str) -> Option<Vec<usize>> {
    let directory = format!("sys/class/net/{interface}/queues");
    let queues = root.names(&directory, prefix).into_iter();
    let mask = |queue| root.text(format!("{directory}/{queue}/{file}"));
    let masks: Vec<String> = queues.filter_map(mask).collect();
    let cpus = masks.iter().filter_map(|mask| cpu_list::parse_mask(mask));
    let cpus: BTreeSet<usize> = cpus.flatten().collect();
    (!masks.is_empty()).then(|| cpus.into_iter().collect())
}

/// A network interface with hardware behind it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Nic {
    /// Name, such as `eth0`.
    pub name: String,
    /// Numbers of its interrupts, if `/proc/interrupts` names the interface.
    pub irqs: Vec<u32>,
    /// CPUs that take its interrupts.
    pub irq_cpus: Vec<usize>,
    /// CPUs that RPS hands its packets to. Empty: RPS is off.
    pub rps_cpus: Vec<usize>,
}

/// Returns those of these interfaces that have a device.
pub(super) fn nics(root: &Root, names: Vec<String>) -> Vec<Nic> {
    let nic = |name: String| {
        root.link_name(format!("sys/class/net/{name}/device"))?;
        let irqs = irqs(root, &name);
        Some(Nic {
            rps_cpus: rps_cpus(root, &name).unwrap_or_default(),
            name,
            irq_cpus: cpus_of_irqs(root, &irqs),
            irqs,
        })
    };
    names.into_iter().filter_map(nic).collect()
}

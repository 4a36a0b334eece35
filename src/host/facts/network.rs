//! Reads the network stack's settings that affect packets: RPS, XPS, conntrack, and the CPUs of interrupts.

use std::fs;
use std::net::UdpSocket;
use std::os::unix::fs::PermissionsExt;

use nix::sys::statvfs::{FsFlags, statvfs};
use serde::{Deserialize, Serialize};

use super::{interface, usb};
use crate::data::Buffer;
use crate::sys::buffers;
use crate::sys::files::{Root, parse_cpu_list};

/// State of conntrack in this network namespace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Conntrack {
    /// Number of flows that conntrack follows.
    pub entries: u64,
    /// True if conntrack follows datagrams over loopback, found by trying. `None`: not tried.
    pub follows_loopback: Option<bool>,
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

/// Returns whether this process may exceed `rmem_max`, found by trying. False below another root.
pub(super) fn can_exceed_rmem_max(root: &Root) -> bool {
    let socket = UdpSocket::bind("127.0.0.1:0").or_else(|_| UdpSocket::bind("[::1]:0"));
    root.is_real()
        && socket.is_ok_and(|socket| buffers::may_force(&socket, Buffer::DEFAULT.bytes()))
}

/// Returns the largest `SO_RCVBUF` that is granted without privilege, found by trying: containers of kernels before 6.12
/// do not see the file of the limit (quic-go #3801, moby #42282). Below another root, the file tells.
pub(super) fn most_rcvbuf(root: &Root, path: &str) -> Option<u64> {
    let tried = || {
        let socket = UdpSocket::bind("127.0.0.1:0").or_else(|_| UdpSocket::bind("[::1]:0"));
        buffers::most_receive(&socket.ok()?)
    };
    let tried = root.is_real().then(tried).flatten();
    tried.or_else(|| root.number(path))
}

/// Returns whether nobody here can write a file: it is missing, or its mode or its mount forbid it to root also. Every network namespace but
/// the first one only reads the limits of net.core (`sysctl_core_net_init`, net/core/sysctl_net_core.c), and containers
/// have a /proc/sys that is mounted read-only. False below another root.
pub(super) fn is_read_only(root: &Root, path: &str) -> bool {
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
        let Ok(receiver) = UdpSocket::bind(address) else {
            continue;
        };
        for _ in 0..TRIED_FLOWS / 2 {
            let sent = UdpSocket::bind(address)
                .and_then(|sender| sender.send_to(&[0], receiver.local_addr()?));
            if sent.is_err() {
                return;
            }
        }
    }
}

/// Returns the interfaces that have a device, by name. Empty if `/sys` shows those of another network namespace.
pub(super) fn nics(root: &Root) -> Vec<Nic> {
    let is_in_sys = interface::is_in_sys(root);
    let names = interface::names(root).into_iter().filter(|_| is_in_sys);
    names
        .filter_map(|name| {
            device(root, &name)?;
            let irqs = irqs(root, &name);
            Some(Nic {
                rps_cpus: rps_cpus(root, &name).unwrap_or_default(),
                name,
                irq_cpus: cpus_of_irqs(root, &irqs),
                irqs,
            })
        })
        .collect()
}

/// Returns the name of the device behind an interface. `None` if the interface is software.
pub(super) fn device(root: &Root, interface: &str) -> Option<String> {
    root.link_name(format!("sys/class/net/{interface}/device"))
}

/// Returns the interrupts of an interface: its own, or those of the USB controller that it is behind. Empty: unknown.
pub(super) fn irqs(root: &Root, interface: &str) -> Vec<u32> {
    let interrupts = root.text("proc/interrupts").unwrap_or_default();
    let Some(device) = device(root, interface) else {
        return Vec::new();
    };
    let own = irqs_of(&interrupts, interface, &device);
    if own.is_empty() {
        return usb::irqs(root, interface, &device, &interrupts);
    }
    own
}

/// Returns the CPUs that take these interrupts.
pub(super) fn cpus_of_irqs(root: &Root, irqs: &[u32]) -> Vec<usize> {
    let interrupts = root.text("proc/interrupts").unwrap_or_default();
    let of_irq = |irq: &u32| irq_cpus(root, &interrupts, *irq);
    let mut cpus: Vec<usize> = irqs.iter().flat_map(of_irq).collect();
    cpus.sort_unstable();
    cpus.dedup();
    cpus
}

/// Returns the interrupts that are named after the interface (`eth0`, `eth0-rx-0`) or, as with virtio, after its
/// device (`virtio2-input.0`). An interrupt of its PHY is none of them: it says that the link came or went
/// (raspberrypi/linux #6942).
fn irqs_of(interrupts: &str, name: &str, device: &str) -> Vec<u32> {
    let belongs = |action: &str| {
        [name, device].iter().any(|owner| {
            let rest = action.strip_prefix(owner);
            rest.is_some_and(|rest| !rest.starts_with(|next: char| next.is_ascii_alphanumeric()))
        })
    };
    irqs_with(interrupts, |action| belongs(action) && !is_phy(action))
}

/// Returns whether an interrupt has the name of a PHY: bus and address, such as `1f00100000.ethernet-ffffffff:00`
/// (`PHY_ID_FMT`, linux/phy.h).
fn is_phy(action: &str) -> bool {
    let address = action.rsplit_once(':').map(|(_, address)| address);
    address.is_some_and(|it| it.len() == 2 && it.bytes().all(|digit| digit.is_ascii_hexdigit()))
}

/// Returns the interrupts that have such a name.
pub(super) fn irqs_with(interrupts: &str, is_one: impl Fn(&str) -> bool) -> Vec<u32> {
    interrupts
        .lines()
        .filter_map(|line| {
            let (number, rest) = line.split_once(':')?;
            // Several devices may share a line: their names are separated by commas.
            let mut actions = rest.split([' ', ',']);
            let number = number.trim().parse().ok()?;
            actions.any(&is_one).then_some(number)
        })
        .collect()
}

/// Returns the CPUs that an interrupt goes to. Kernels before 4.15 do not say, nor does the driver of a Raspberry Pi
/// 5's RP1 (raspberrypi/linux #7101). Then it is the allowed CPU that took the interrupt most often.
fn irq_cpus(root: &Root, interrupts: &str, irq: u32) -> Vec<usize> {
    let read = |file: &str| {
        let list = root.text(format!("proc/irq/{irq}/{file}"))?;
        parse_cpu_list(&list).ok().filter(|cpus| !cpus.is_empty())
    };
    let allowed = || {
        let allowed = read("smp_affinity_list").unwrap_or_default();
        let taken = taken(interrupts, irq).into_iter();
        let taken = taken.filter(|(cpu, count)| *count > 0 && allowed.contains(cpu));
        // With equal counts the first CPU wins.
        let most = taken.rev().max_by_key(|(_, count)| *count);
        most.map_or(allowed, |(cpu, _)| vec![cpu])
    };
    read("effective_affinity_list").unwrap_or_else(allowed)
}

/// Returns the number of times that each CPU took an interrupt, from `/proc/interrupts` (proc_interrupts(5)): a
/// column for each online CPU.
fn taken(interrupts: &str, irq: u32) -> Vec<(usize, u64)> {
    let mut lines = interrupts.lines();
    let heading = lines.next().unwrap_or_default().split_whitespace();
    let cpus = heading.filter_map(|word| word.strip_prefix("CPU")?.parse().ok());
    let counts = lines.find_map(|line| {
        let (number, counts) = line.split_once(':')?;
        (number.trim().parse() == Ok(irq)).then_some(counts)
    });
    let counts = counts.unwrap_or_default().split_whitespace();
    cpus.zip(counts.map_while(|count| count.parse().ok()))
        .collect()
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
    let queues = root.names(&directory, prefix);
    let masks: Vec<String> = queues
        .iter()
        .filter_map(|queue| root.text(format!("{directory}/{queue}/{file}")))
        .collect();
    let mut cpus: Vec<usize> = masks.iter().flat_map(|mask| cpus_of_mask(mask)).collect();
    cpus.sort_unstable();
    cpus.dedup();
    (!masks.is_empty()).then_some(cpus)
}

/// Parses a mask such as `00000001,0000000f`: 32 CPUs per group, the lowest last.
fn cpus_of_mask(mask: &str) -> Vec<usize> {
    let groups = mask.trim().rsplit(',').enumerate();
    groups
        .flat_map(|(group, digits)| {
            let bits = u32::from_str_radix(digits, 16).unwrap_or(0);
            (0..32)
                .filter(move |bit| bits >> bit & 1 == 1)
                .map(move |bit| 32 * group + bit)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn masks_are_read_as_the_kernel_writes_them() {
        assert_eq!(cpus_of_mask("0"), Vec::<usize>::new());
        assert_eq!(cpus_of_mask("7\n"), [0, 1, 2]);
        assert_eq!(cpus_of_mask("00000001,00000003"), [0, 1, 32]);
    }

    #[test]
    fn interrupts_are_found_by_the_name_of_interface_or_device() {
        let table = "           CPU0       CPU1\n\
                     \x20 31:       3      0     GICv2 189 Level     eth0\n\
                     \x20 32:       3      0     GICv2 190 Level     eth0\n\
                     \x20 33:       3      0     GICv2 191 Level     eth01, mmc0\n\
                     \x20 34:       3      0     GICv2 192 Level     usb, eth0-rx-0\n\
                     \x20 38:       0  18399  PCI-MSIX-0000:00:03.0   1-edge      virtio2-input.0\n\
                     \x20 41:       0  18399  PCI-MSIX-0000:00:04.0   1-edge      virtio20-input.0\n\
                     \x20 51:       3      0     GICv2 193 Level     fd580000.ethernet-ffffffff:01\n\
                     \x20 52:       3      0     GICv2 194 Level     eth0:mac\n\
                     IPI0:       1      2       Rescheduling interrupts\n";
        assert_eq!(
            irqs_of(table, "eth0", "fd580000.ethernet"),
            [31, 32, 34, 52]
        );
        assert_eq!(irqs_of(table, "eth1", "virtio2"), [38]);
        assert_eq!(irqs_of("", "eth0", "x"), Vec::<u32>::new());
    }

    /// Returns the CPUs of interrupt 106 with these files.
    fn cpus_of_106(interrupts: &str, allowed: &str, effective: Option<&str>) -> Vec<usize> {
        let place = tempfile::TempDir::new().expect("a temporary directory");
        let directory = place.path().join("proc/irq/106");
        fs::create_dir_all(&directory).expect("writable");
        let write = |path: std::path::PathBuf, text: &str| fs::write(path, text).expect("writable");
        write(directory.join("../../interrupts"), interrupts);
        write(directory.join("smp_affinity_list"), allowed);
        if let Some(effective) = effective {
            write(directory.join("effective_affinity_list"), effective);
        }
        cpus_of_irqs(&Root::new(place.path()), &[106])
    }

    #[test]
    fn an_interrupt_is_where_it_is_taken_if_the_kernel_does_not_say() {
        let table = |heading: &str, counts: &str| {
            format!("{heading}\n105: 9 9 9 9 x\n106: {counts} rp1_irq_chip 6 Edge eth0\n")
        };
        let four = "           CPU0       CPU1       CPU2       CPU3";
        let cases: [(String, &str, Option<&str>, &[usize]); 10] = [
            // A Pi 5.
            (table(four, "44535 0 0 0"), "0-3\n", Some("\n"), &[0]),
            (table(four, "0 0 12 0"), "0-3\n", Some("\n"), &[2]),
            // Moved to CPU 2: the other counts are from before.
            (table(four, "44535 0 12 0"), "2\n", Some("\n"), &[2]),
            (table(four, "44535 0 12 0"), "1-3\n", Some(""), &[2]),
            (table(four, "44535 0 0 0"), "3\n", Some(""), &[3]),
            // The kernel shows the effective CPU.
            (table(four, "44535 0 0 0"), "0-3\n", Some("1\n"), &[1]),
            // The kernel is too old to show it.
            (table(four, "0 70 70 3"), "0-3\n", None, &[1]),
            // CPU 1 is offline.
            (table("  CPU0 CPU2 CPU3", "0 0 7"), "0-3\n", None, &[3]),
            // The interrupt was never taken.
            (table(four, "0 0 0 0"), "0-1\n", None, &[0, 1]),
            (String::new(), "0-1\n", Some(""), &[0, 1]),
        ];
        for (interrupts, allowed, effective, expected) in cases {
            let found = cpus_of_106(&interrupts, allowed, effective);
            assert_eq!(found, expected, "{interrupts} {allowed:?} {effective:?}");
        }
    }
}

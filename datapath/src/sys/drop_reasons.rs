//! Counts dropped packets by the kernel's own reasons: the tracepoint `skb:kfree_skb`.
//!
//! Each reason is a perf event that only counts, with a filter in the kernel: nothing is copied per packet
//! (perf_event_open(2)). Root may do so, and others if `kernel.perf_event_paranoid` is -1 and they can read tracefs.
//! Starting takes some milliseconds, a reading one, ending tens of them: keep the counters over many windows.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, Read};
use std::os::fd::{AsRawFd, FromRawFd};

use libc::{Ioctl, c_int, c_ulong};
use nix::errno::Errno;

use super::files::{Root, parse_cpu_list};

/// Beginnings of reasons that no UDP datagram has: of other protocols, or of the end of a socket.
const OF_OTHERS: [&str; 14] = [
    "TCP_",
    "UNIX_",
    "VXLAN_",
    "CAN",
    "IPV6_NDISC_",
    "ARP_",
    "PSP_",
    "ICMP_",
    "SKB_UCOPY",
    "TUNNEL_",
    "IP_TUNNEL_",
    "NOT_SPECIFIED",
    "SOCKET_CLOSE",
    "QUEUE_PURGE",
];

/// Counters of the packets that this machine drops, in all its network namespaces, by reason.
#[derive(Debug)]
pub struct DropReasons {
    counters: Vec<Counter>,
}

/// Counter of one reason, on each CPU.
#[derive(Debug)]
struct Counter {
    reason: String,
    cpus: Vec<File>,
}

/// Possible mount points of tracefs (kernel doc trace/ftrace).
const TRACEFS: [&str; 2] = ["sys/kernel/tracing", "sys/kernel/debug/tracing"];

impl DropReasons {
    /// Starts to count.
    ///
    /// # Errors
    /// Returns the reason if it cannot count: no tracefs, no permission, or a kernel before 5.17.
    pub fn open() -> Result<Self, String> {
        let root = Root::default();
        let (id, format) = tracepoint(&root).ok_or_else(|| no_tracepoint(&root).to_owned())?;
        // In a container, `online` may be a list of lxcfs, which lacks CPUs.
        let listed = ["online", "present"].map(|name| {
            let list = root.text(format!("sys/devices/system/cpu/{name}"));
            parse_cpu_list(&list.unwrap_or_default()).unwrap_or_default()
        });
        let cpus: BTreeSet<usize> = listed.into_iter().flatten().collect();
        let mut counters = Vec::new();
        for (reason, number) in numbers(&format) {
            let open = |&cpu| counter(id, number, cpu);
            let is_offline = |it: &io::Result<File>| matches!(it, Err(error) if error.raw_os_error() == Some(libc::ENODEV));
            let opened = cpus.iter().map(open).filter(|it| !is_offline(it));
            let opened: io::Result<Vec<File>> = opened.collect();
            let cpus = opened.map_err(|error| refusal(&error))?;
            counters.push(Counter { reason, cpus });
        }
        if counters.is_empty() {
            return Err("skb:kfree_skb tells no reasons before Linux 5.17".to_owned());
        }
        Ok(Self { counters })
    }

    /// Returns the packets dropped since the counters were opened, by each reason that this kernel names and that a
    /// datagram can have.
    ///
    /// # Errors
    /// Returns the error of the system call.
    pub fn read(&self) -> io::Result<Vec<(String, u64)>> {
        let of_reason = |counter: &Counter| {
            let counts = counter.cpus.iter().map(count);
            Ok((counter.reason.clone(), counts.sum::<io::Result<u64>>()?))
        };
        self.counters.iter().map(of_reason).collect()
    }
}

fn refusal(error: &io::Error) -> String {
    let paranoid = fs::read_to_string("/proc/sys/kernel/perf_event_paranoid");
    let paranoid = paranoid.unwrap_or_default();
    format!(
        "skb:kfree_skb cannot be counted: {error}; root may, or anybody with \
         kernel.perf_event_paranoid -1 (it is {})",
        paranoid.trim()
    )
}

/// Returns the number of the tracepoint, and the format of its records.
fn tracepoint(root: &Root) -> Option<(u64, String)> {
    TRACEFS.iter().find_map(|tracefs| {
        let file = |name| format!("{tracefs}/events/skb/kfree_skb/{name}");
        Some((root.number(file("id"))?, root.text(file("format"))?))
    })
}

/// Returns why the tracepoint cannot be read.
fn no_tracepoint(root: &Root) -> &'static str {
    let open =
        |name: &str| TRACEFS.map(|tracefs| File::open(root.path(format!("{tracefs}/{name}"))));
    let is_forbidden = |opened: &io::Result<File>| matches!(opened, Err(error) if error.kind() == io::ErrorKind::PermissionDenied);
    if open("events/skb/kfree_skb/id").iter().any(is_forbidden) {
        "tracefs is mounted, and only root may read skb:kfree_skb there: sudo"
    } else if open("events").iter().any(Result::is_ok) {
        "tracefs has no skb:kfree_skb: the kernel was built without it"
    } else {
        "tracefs is not mounted: sudo mount -t tracefs nodev /sys/kernel/tracing"
    }
}

/// Returns the reasons with their numbers, which differ from kernel to kernel: `{ 6, "SOCKET_RCVBUFF" }`.
fn numbers(format: &str) -> impl Iterator<Item = (String, u32)> {
    let named = format.split("{ ").skip(1).filter_map(|pair| {
        let (number, name) = pair.split_once(", \"")?;
        let (name, _) = name.split_once("\" }")?;
        Some((name.to_owned(), number.parse().ok()?))
    });
    named.filter(|(name, _)| name != "MAX" && !OF_OTHERS.iter().any(|of| name.starts_with(of)))
}

/// `struct perf_event_attr` in its first version (`PERF_ATTR_SIZE_VER0`), which every kernel accepts.
#[repr(C)]
#[derive(Default)]
struct Attributes {
    kind: u32,
    size: u32,
    config: u64,
    sample_period: u64,
    sample_type: u64,
    read_format: u64,
    flags: u64,
    wakeup_events: u32,
    breakpoint_type: u32,
    config1: u64,
}

const ATTRIBUTES_BYTES: u32 = 64;
const _: () = assert!(size_of::<Attributes>() == ATTRIBUTES_BYTES as usize);
const PERF_TYPE_TRACEPOINT: u32 = 2;
/// The first flag: the event does not count until it is enabled.
const DISABLED: u64 = 1;
const ALL_PROCESSES: c_int = -1;
const NO_GROUP: c_int = -1;
const PERF_FLAG_FD_CLOEXEC: c_ulong = 8;
/// `_IOW('$', 6, char *)`: the size of a pointer is part of the number.
const PERF_EVENT_IOC_SET_FILTER: Ioctl = if cfg!(target_pointer_width = "64") {
    0x4008_2406
} else {
    0x4004_2406
};
/// `_IO('$', 0)`.
const PERF_EVENT_IOC_ENABLE: Ioctl = 0x2400;

/// Starts the counter of a reason on a CPU.
fn counter(tracepoint: u64, reason: u32, cpu: usize) -> io::Result<File> {
    let event = event(tracepoint, c_int::try_from(cpu).map_err(io::Error::other)?)?;
    let filter = std::ffi::CString::new(format!("reason == {reason}"))?;
    #[expect(unsafe_code, reason = "no wrapper knows these requests")]
    // SAFETY: the descriptor is open; the filter is a text that ends in a NUL, which the kernel copies before it
    // returns; the other request takes no pointer.
    unsafe {
        let fd = event.as_raw_fd();
        Errno::result(libc::ioctl(fd, PERF_EVENT_IOC_SET_FILTER, filter.as_ptr()))?;
        Errno::result(libc::ioctl(fd, PERF_EVENT_IOC_ENABLE, 0))?;
    };
    Ok(event)
}

fn event(tracepoint: u64, cpu: c_int) -> io::Result<File> {
    let attributes = Attributes {
        kind: PERF_TYPE_TRACEPOINT,
        size: ATTRIBUTES_BYTES,
        config: tracepoint,
        flags: DISABLED,
        ..Attributes::default()
    };
    #[expect(unsafe_code, reason = "no wrapper knows this system call")]
    // SAFETY: `attributes` is a `struct perf_event_attr` of the size that it says, and the kernel keeps no pointer
    // to it (perf_event_open(2)).
    let fd = unsafe {
        libc::syscall(
            libc::SYS_perf_event_open,
            &raw const attributes,
            ALL_PROCESSES,
            cpu,
            NO_GROUP,
            PERF_FLAG_FD_CLOEXEC,
        )
    };
    let fd = c_int::try_from(Errno::result(fd)?).map_err(io::Error::other)?;
    #[expect(unsafe_code, reason = "a new descriptor has no owner yet")]
    // SAFETY: the kernel has just made this descriptor, and nobody else knows it.
    Ok(unsafe { File::from_raw_fd(fd) })
}

fn count(mut event: &File) -> io::Result<u64> {
    let mut bytes = [0; 8];
    event.read_exact(&mut bytes)?;
    Ok(u64::from_ne_bytes(bytes))
}

#[cfg(test)]
mod tests {
    use std::net::UdpSocket;

    use std::fs::Permissions;
    use std::os::unix::fs::PermissionsExt;

    use socket2::SockRef;

    use super::*;
    use crate::sys::nic::tests::{VETH, between, in_namespace, send};

    #[test]
    fn numbers_are_those_that_the_kernel_gives() {
        let format = "print fmt: \"...\", __print_symbolic(REC->reason, { 2, \"NOT_SPECIFIED\" }, \
                      { 3, \"NO_SOCKET\" }, { 6, \"SOCKET_RCVBUFF\" }, { 7, \"TCP_CSUM\" }, { 8, \"NEW\" }, { 9, \"MAX\" })";
        let found: Vec<_> = numbers(format).collect();
        let expected = [("NO_SOCKET", 3), ("SOCKET_RCVBUFF", 6), ("NEW", 8)];
        assert_eq!(
            found,
            expected.map(|(name, number)| (name.to_owned(), number))
        );
    }

    #[test]
    fn what_is_in_the_way_of_drop_reasons_is_said() {
        let place = tempfile::tempdir().expect("a directory");
        let root = Root::new(place.path());
        assert!(no_tracepoint(&root).starts_with("tracefs is not mounted: sudo mount "));
        let events = place.path().join("sys/kernel/tracing/events");
        fs::create_dir_all(&events).expect("there is room");
        assert!(no_tracepoint(&root).starts_with("tracefs has no skb:kfree_skb"));
        let (id, names) = (events.join("skb/kfree_skb/id"), ["skb", "skb/kfree_skb"]);
        for name in names {
            fs::create_dir(events.join(name)).expect("there is room");
        }
        fs::write(&id, "1").expect("there is room");
        fs::set_permissions(&id, Permissions::from_mode(0o000)).expect("it is ours");
        if File::open(&id).is_err() {
            assert!(no_tracepoint(&root).starts_with("tracefs is mounted, and only root"));
        }
    }

    const TRACED: &str = "mount --make-rprivate /
        [ -e /sys/kernel/tracing/events ] || mount -t tracefs nodev /sys/kernel/tracing\n";

    /// Checks that `reason` counts the number of drops that `drop_some` returns. Others on this machine may drop
    /// packets in between, so it is tried up to 1000 times.
    fn counted_as(reason: &str, mut drop_some: impl FnMut() -> u64) {
        let reasons = match DropReasons::open() {
            Ok(reasons) => reasons,
            Err(problem) => {
                eprintln!("SKIPPED: {problem}");
                return;
            }
        };
        let now = || {
            let counts = reasons.read().expect("readable");
            let (_, count) = counts.into_iter().find(|(name, _)| name == reason)?;
            Some(count)
        };
        for _ in 0..1000 {
            let before = now().expect("this kernel knows it");
            let dropped = drop_some();
            let counted = now().expect("this kernel knows it") - before;
            assert!(dropped > 0 && counted >= dropped, "{counted} of {dropped}");
            if counted == dropped {
                return;
            }
        }
        panic!("{reason} was never counted exactly");
    }

    #[test]
    fn what_a_qdisc_drops_has_its_reason() {
        let tbf = "tc qdisc add dev va root tbf rate 20mbit burst 5kb limit 20kb";
        in_namespace(&[TRACED, VETH, tbf].concat(), || {
            counted_as("QDISC_DROP", || {
                between("va", || send("10.9.9.2:7", 100)).qdisc_drops
            });
        });
    }

    #[test]
    fn what_a_full_receive_buffer_refuses_has_its_reason() {
        in_namespace(TRACED, || {
            let receiver = UdpSocket::bind("127.0.0.1:0").expect("a port is free");
            let small = SockRef::from(&receiver).set_recv_buffer_size(10_000);
            small.expect("granted");
            let address = receiver.local_addr().expect("bound").to_string();
            counted_as("SOCKET_RCVBUFF", || {
                between("lo", || send(&address, 100)).udp_rcvbuf_errors
            });
        });
    }
}

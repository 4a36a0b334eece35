//! The socket that listens: its address, its group and its buffer.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV6, UdpSocket};
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::sys::socket::{getsockopt, sockopt};
use socket2::{Domain, Protocol, Socket, Type};

use super::ListenArgs;
use crate::data::HostAddress;
use crate::error::UsageError;
use crate::host::facts::{RcvbufLimit, interface};
use crate::sys::files::Root;
use crate::sys::socket_queues::socket_drops;
use crate::sys::stamped_receive::ask_for_stamps;
use crate::sys::{nic, socket_options};

/// A socket that is bound and, if asked, a member of a group.
#[derive(Debug)]
pub(super) struct Opened {
    /// The socket.
    pub(super) socket: UdpSocket,
    /// Its address, its group and its buffer, for the heading.
    pub(super) about: String,
    /// Size of the buffer as the kernel counts it, in bytes: twice what was set.
    pub(super) buffer_bytes: u32,
    /// Refused settings of the socket. `None`: none was.
    pub(super) note: Option<String>,
}

/// Addresses to bind and groups to join.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Target {
    /// Address to bind. `None`: all addresses, of both IP versions.
    ip: Option<IpAddr>,
    is_group: bool,
    port: u16,
    /// Number of the interface. 0: not named.
    interface: u32,
}

/// Opens the socket.
///
/// # Errors
/// Fails if options contradict each other, or if the kernel refuses the address, the group or the interface.
pub(super) fn open(args: &ListenArgs) -> Result<Opened, UsageError> {
    let target = target(args)?;
    let socket = bind(target).map_err(|error| cannot_bind(args, &error))?;
    if let Some(group) = target.ip.filter(|_| target.is_group) {
        socket_options::only_own_groups(&socket, group);
        let joined = socket_options::join_group(&socket, group, args.source, target.interface);
        joined.map_err(|error| cannot_join(args, &error))?;
    }
    let set = args
        .rcvbuf
        .map(|it| socket_options::set_receive_buffer(&socket, it.bytes()));
    let granted = getsockopt(&socket, sockopt::RcvBuf).unwrap_or_default();
    let note = args
        .rcvbuf
        .filter(|it| set.is_some() && granted < 2 * it.bytes());
    let note = note.map(|asked| {
        format!(
            "--rcvbuf {asked}: the kernel grants {} B; start it as root, or {}",
            granted / 2,
            RcvbufLimit::read(&Root::default()).command(asked.bytes() as u64)
        )
    });
    Ok(Opened {
        about: about(args, target, granted),
        buffer_bytes: u32::try_from(granted).unwrap_or(u32::MAX),
        socket,
        note,
    })
}

/// Longest time to empty the queue of a socket.
const LONGEST_TO_EMPTY: Duration = Duration::from_millis(100);

/// Discards what has come since the socket was opened: it came before the start, and has no stamp of the kernel.
/// Returns the drops of the socket so far.
///
/// # Errors
/// Returns the error of the system call.
pub(super) fn empty(socket: &UdpSocket) -> io::Result<u32> {
    socket.set_nonblocking(true)?;
    let start = Instant::now();
    // Of a longer datagram, the rest is discarded as well.
    while socket.recv(&mut [0]).is_ok() && start.elapsed() < LONGEST_TO_EMPTY {}
    // A kernel that does not tell them will not tell later ones either.
    Ok(socket_drops(socket).unwrap_or_default())
}

fn about(args: &ListenArgs, target: Target, granted: usize) -> String {
    let port = target.port;
    let place = match target.ip {
        None => format!("port {port} of all addresses"),
        Some(ip) if target.is_group => {
            let source = args.source.map(|it| format!(" from {it}"));
            format!("port {port} of group {ip}{}", source.unwrap_or_default())
        }
        Some(ip) => format!("port {port} of {ip}"),
    };
    // The kernel doubles what is set, and tells the double.
    format!("{place}, SO_RCVBUF {} B", granted / 2)
}

fn target(args: &ListenArgs) -> Result<Target, UsageError> {
    let scoped = args.address.address;
    let is_group = scoped.is_some_and(|it| it.ip.is_multicast());
    check_source(args, scoped.filter(|_| is_group))?;
    let interface = interface_of(args, scoped)?;
    if let Some(scoped) = scoped.filter(|it| interface == 0 && needs_scope(it.ip)) {
        let problem = format!("it is of one link only: name its interface, as in {scoped}%eth0");
        return Err(UsageError::flag("listen", &scoped, problem));
    }
    Ok(Target {
        ip: scoped.map(|it| it.ip),
        is_group,
        port: args.address.port,
        interface,
    })
}

/// Returns whether an address is of one link only.
fn needs_scope(ip: IpAddr) -> bool {
    let is_of_link = |ip: Ipv6Addr| ip.is_multicast() && ip.segments()[0] & 0xf <= 2;
    matches!(ip, IpAddr::V6(ip) if ip.is_unicast_link_local() || is_of_link(ip))
}

fn check_source(args: &ListenArgs, group: Option<HostAddress>) -> Result<(), UsageError> {
    let Some(source) = args.source else {
        return Ok(());
    };
    let problem = match group {
        None => {
            "it is the sender of a multicast group: name the group before the port, as in 232.1.1.1:5004"
        }
        Some(group) if group.ip.is_ipv4() != source.is_ipv4() => {
            "group and source have different IP versions"
        }
        Some(_) if source.is_multicast() || source.is_unspecified() => "it cannot be a sender",
        Some(_) => return Ok(()),
    };
    Err(UsageError::flag("--source", &source, problem))
}

/// Returns the number of the interface that was named by either way. 0: none was.
fn interface_of(args: &ListenArgs, scoped: Option<HostAddress>) -> Result<u32, UsageError> {
    let in_address = scoped.and_then(|it| it.interface);
    let Some(name) = args.interface.or(in_address) else {
        return Ok(0);
    };
    let is_meant = |it: HostAddress| it.ip.is_multicast() || needs_scope(it.ip);
    let problem = if let Some(other) = in_address.filter(|other| *other != name) {
        format!("the address names {}: name one", other.as_str())
    } else if !scoped.is_some_and(is_meant) {
        "it is for a group or a link-local address: name the address of this interface before the port".to_owned()
    } else if let Ok(index) = nic::index(name.as_str()) {
        return Ok(index);
    } else {
        let all = interface::names(&Root::new("/")).join(", ");
        format!("there is no such network interface: there are lo, {all}")
    };
    Err(UsageError::flag("--interface", name.as_str(), problem))
}

fn bind(target: Target) -> io::Result<UdpSocket> {
    let Some(ip) = target.ip else {
        return match socket_at(Ipv6Addr::UNSPECIFIED.into(), target) {
            Ok(of_both) => Ok(of_both),
            Err(error) if error.kind() == io::ErrorKind::AddrInUse => Err(error),
            // A kernel may lack IPv6.
            Err(_) => socket_at(Ipv4Addr::UNSPECIFIED.into(), target),
        };
    };
    socket_at(ip, target)
}

fn socket_at(ip: IpAddr, target: Target) -> io::Result<UdpSocket> {
    let (domain, address) = match ip {
        IpAddr::V4(ip) => (Domain::IPV4, SocketAddr::from((ip, target.port))),
        IpAddr::V6(ip) => (
            Domain::IPV6,
            SocketAddrV6::new(ip, target.port, 0, target.interface).into(),
        ),
    };
    let socket = Socket::new(domain, Type::DGRAM, Some(Protocol::UDP))?;
    if domain == Domain::IPV6 {
        socket.set_only_v6(target.ip.is_some())?;
    }
    if target.is_group {
        // Each member of a group gets its datagrams, so that others may listen, too.
        socket.set_reuse_address(true)?;
    }
    ask_for_stamps(&socket, ip);
    socket.bind(&address.into())?;
    Ok(socket.into())
}

fn cannot_bind(args: &ListenArgs, error: &io::Error) -> UsageError {
    let port = args.address.port;
    let problem = match error.kind() {
        io::ErrorKind::AddrInUse => format!(
            "another program has this port open; what it loses shows sudo udpbench watch --port {port}"
        ),
        io::ErrorKind::AddrNotAvailable => {
            "no interface of this host has this address: ip address shows them".to_owned()
        }
        io::ErrorKind::PermissionDenied => {
            "ports below 1024 need root: use sudo, or another port".to_owned()
        }
        _ => format!("cannot listen there: {error}"),
    };
    UsageError::flag("listen", &args.address, problem)
}

fn cannot_join(args: &ListenArgs, error: &io::Error) -> UsageError {
    let problem = if error.raw_os_error() == Some(Errno::ENODEV as i32) {
        "no route leads to it: name its interface by --interface".to_owned()
    } else {
        format!("cannot join it: {error}; --interface names where it comes in")
    };
    UsageError::flag("listen", &args.address, problem)
}

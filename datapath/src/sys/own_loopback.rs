//! A network namespace of this process's own, whose loopback cuts trains as must be done before a NIC that cannot.
//!
//! The loopback of a host passes a train of datagrams (UDP_SEGMENT) on as one packet. An interface that takes one
//! segment at most (`gso_max_segs`, `gso_features_check` in net/core/dev.c) makes the kernel cut it before. Nothing of
//! the host changes, and an ordinary user may make such a namespace in a user namespace (user_namespaces(7)), unless
//! the host forbids it.

use std::fs;
use std::io;
use std::path::Path;
use std::process::{Command, Stdio};

use nix::errno::Errno;
use nix::sched::{CloneFlags, unshare};
use nix::unistd::{getegid, geteuid};

use super::netlink::{Netlink, Scope, attribute};
use super::nic::{self, IFLA_GSO_MAX_SEGS};

/// `LOOPBACK_IFINDEX` (net/netns/core.h, include/net/net_namespace.h): the first interface of each namespace.
const LOOPBACK: u32 = 1;
/// The most segments of a packet (`GSO_MAX_SEGS`, linux/netdevice.h).
const ALL_SEGS: u32 = 65_535;

/// The loopback of a network namespace that only this process has.
#[derive(Clone, Copy, Debug)]
pub struct OwnLoopback(());

impl OwnLoopback {
    /// Moves this process to a network namespace of its own and sets its loopback up. Without CAP_SYS_ADMIN it is also
    /// moved to a user namespace. The process must have a single thread.
    ///
    /// # Errors
    /// Fails if the host forbids it, if the kernel has no namespaces, or if the process has capabilities that it would
    /// lose. The process may have been moved nevertheless.
    pub fn enter() -> io::Result<Self> {
        match unshare(CloneFlags::CLONE_NEWNET) {
            Err(Errno::EPERM) if !has_capabilities()? => as_user()?,
            moved => moved?,
        }
        let own = Self(());
        own.cut_trains()?;
        Ok(own)
    }

    /// Has it cut trains into datagrams from now on.
    ///
    /// # Errors
    /// Fails if the kernel refuses it, or ignores it.
    pub fn cut_trains(self) -> io::Result<()> {
        take_segments(1)
    }

    /// Has it pass trains on whole from now on, as the loopback of the host does.
    ///
    /// # Errors
    /// Fails if the kernel refuses it.
    pub fn pass_trains(self) -> io::Result<()> {
        take_segments(ALL_SEGS)
    }
}

/// Has the loopback of this network namespace take packets of at most so many segments.
fn take_segments(most: u32) -> io::Result<()> {
    let mut route = Netlink::route()?;
    let change = [link(), attribute(IFLA_GSO_MAX_SEGS, &most.to_ne_bytes())].concat();
    route.ask(libc::RTM_NEWLINK, Scope::Change, &change, |_| ())?;
    let set = nic::read(&mut route, LOOPBACK)?.gso_max_segs;
    if set == Some(most) {
        return Ok(());
    }
    let problem = "the kernel ignores gso_max_segs of the loopback";
    Err(io::Error::new(io::ErrorKind::Unsupported, problem))
}

/// Returns the `struct ifinfomsg` of the loopback that is up.
fn link() -> Vec<u8> {
    let up = libc::IFF_UP as u32;
    let mut link = vec![0; 4];
    link.extend(LOOPBACK.to_ne_bytes());
    // The flags, and which of them are meant.
    link.extend([up.to_ne_bytes(), up.to_ne_bytes()].concat());
    link
}

/// Moves this process to a user namespace in which it is who it was, and to a network namespace of that.
fn as_user() -> io::Result<()> {
    let (user, group) = (geteuid(), getegid());
    unshare(CloneFlags::CLONE_NEWUSER | CloneFlags::CLONE_NEWNET)?;
    // Who gives up setgroups(2) may map its own numbers (user_namespaces(7)).
    fs::write("/proc/self/setgroups", "deny")?;
    fs::write("/proc/self/uid_map", format!("{user} {user} 1"))?;
    fs::write("/proc/self/gid_map", format!("{group} {group} 1"))
}

/// Returns whether this process may do what others may not. In a user namespace it could not do it any more.
fn has_capabilities() -> io::Result<bool> {
    let status = fs::read_to_string("/proc/self/status")?;
    let effective = status.lines().find_map(|line| line.strip_prefix("CapEff:"));
    Ok(effective.is_some_and(|mask| mask.trim().bytes().any(|digit| digit != b'0')))
}

/// Checks that a process of `program` can have such a loopback: starts one there, which prints its help.
///
/// # Errors
/// Returns why none can, with the fix if one is known. Below qemu-user no program can be started at all.
pub fn probe(program: &Path) -> Result<(), String> {
    use std::os::unix::process::CommandExt;
    let mut command = Command::new(program);
    command.arg("--help").stdin(Stdio::null());
    command.stdout(Stdio::null()).stderr(Stdio::null());
    #[expect(
        unsafe_code,
        reason = "what the closure does is only allowed with care"
    )]
    // SAFETY: between fork and exec it makes system calls and allocates, which the malloc of glibc and that of musl
    // 1.2 allow there. It takes no lock of this program.
    unsafe {
        command.pre_exec(|| OwnLoopback::enter().map(|_| ()));
    }
    // A sandbox may end a process for such calls.
    let why = match command.status() {
        Ok(ended) if ended.success() => return Ok(()),
        Ok(ended) => ended.to_string(),
        Err(error) => error.to_string(),
    };
    Err(forbidden_by().unwrap_or(why))
}

/// Returns the setting of the host that keeps users from namespaces, and the command that changes it.
fn forbidden_by() -> Option<String> {
    const OF_ALL: (&str, &str, &str) = ("user/max_net_namespaces", "0", "1000");
    const OF_USERS: [(&str, &str, &str); 3] = [
        ("kernel/apparmor_restrict_unprivileged_userns", "1", "0"),
        ("kernel/unprivileged_userns_clone", "0", "1"),
        ("user/max_user_namespaces", "0", "1000"),
    ];
    let is_root = geteuid().is_root();
    let of_users = OF_USERS.into_iter().filter(|_| !is_root);
    let mut settings = std::iter::once(OF_ALL).chain(of_users);
    settings.find_map(|(file, forbids, allows)| {
        let value = fs::read_to_string(format!("/proc/sys/{file}")).ok()?;
        let name = file.replace('/', ".");
        (value.trim() == forbids).then(|| format!("sysctl {name}={allows} allows it"))
    })
}

#[cfg(test)]
mod tests {
    use std::net::UdpSocket;
    use std::thread;

    use nix::sys::socket::setsockopt;
    use nix::sys::socket::sockopt::{UdpGroSegment, UdpGsoSegment};

    use super::*;

    /// Returns the length of the first packet of a train of four datagrams of 100 B, as a receiver with GRO gets it.
    fn first_bytes() -> usize {
        let [sender, receiver] =
            [(); 2].map(|()| UdpSocket::bind("127.0.0.1:0").expect("loopback is up"));
        setsockopt(&receiver, UdpGroSegment, &true).expect("Linux 5.0");
        setsockopt(&sender, UdpGsoSegment, &100).expect("Linux 4.18");
        let to = receiver.local_addr().expect("bound");
        sender.send_to(&[0; 400], to).expect("it is there");
        receiver.recv(&mut [0; 1000]).expect("it came")
    }

    #[test]
    fn a_train_is_cut_or_passes_whole() {
        // Root can move a thread alone. This process has others, so users cannot be moved at all.
        let bytes = thread::spawn(|| {
            let own = OwnLoopback::enter().ok()?;
            let cut = first_bytes();
            own.pass_trains().expect("it is set");
            let whole = first_bytes();
            own.cut_trains().expect("it is set");
            Some([cut, whole, first_bytes()])
        });
        if let Some(bytes) = bytes.join().expect("it ends") {
            assert_eq!(bytes, [100, 400, 100]);
        }
    }

    #[test]
    fn a_probe_leaves_this_process_where_it_is() {
        let network = || fs::read_link("/proc/self/ns/net").expect("namespaces");
        let before = network();
        if let Err(reason) = probe("/bin/true".as_ref()) {
            assert!(!reason.is_empty());
        }
        assert_eq!(network(), before);
    }

    #[test]
    fn a_program_that_cannot_be_started_has_none() {
        assert!(probe("/proc/self/status".as_ref()).is_err());
    }
}

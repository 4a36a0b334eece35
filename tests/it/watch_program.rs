//! Tests of `udpbench watch --port` and `--pid`: the sockets of another program, which is this test.

use std::io::{BufRead, BufReader, Read};
use std::net::UdpSocket;
use std::os::fd::OwnedFd;
use std::process::{self, Child, ChildStderr, Command, Stdio};
use std::thread;
use std::time::Duration;

use crate::common::{Place, assert_code, program, stderr, stdout};
use nix::sched::{CloneFlags, unshare};
use nix::sys::signal::{Signal, kill};
use nix::sys::socket::{setsockopt, sockopt::RcvBuf};
use nix::unistd::Pid;
use socket2::{Domain, Socket, Type};

/// A socket that is never read, with a buffer for a few datagrams.
fn unread_socket(address: &str) -> UdpSocket {
    let socket = UdpSocket::bind(address).expect("loopback is up");
    setsockopt(&socket, RcvBuf, &8192).expect("a small buffer is always granted");
    socket
}

/// Returns the drops of the socket on a port, by the kernel's own table.
fn drops(port: u16) -> u64 {
    let tables =
        ["udp", "udp6"].map(|name| std::fs::read_to_string(format!("/proc/self/net/{name}")));
    let tables = tables.map(Result::unwrap_or_default).concat();
    let port = format!(":{port:04X}");
    let mut lines = tables
        .lines()
        .map(|line| line.split_whitespace().collect::<Vec<_>>());
    let line = lines.find(|line| line.get(1).is_some_and(|local| local.ends_with(&port)));
    line.expect("the socket is open")[12]
        .parse()
        .expect("a number")
}

/// Begins to watch. Returns once everything is counted.
fn begin(options: &str) -> (Child, BufReader<ChildStderr>) {
    let mut watch = program()
        .args(options.split(' '))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it was built");
    let mut errors = BufReader::new(watch.stderr.take().expect("piped"));
    let mut heading = String::new();
    errors.read_line(&mut heading).expect("text");
    assert!(heading.contains("watches"), "{heading}");
    (watch, errors)
}

/// Ends it as Ctrl-C does, and returns what it printed.
fn end(mut watch: Child) -> String {
    let pid = Pid::from_raw(watch.id().try_into().expect("a pid"));
    kill(pid, Signal::SIGINT).expect("it runs");
    let mut text = String::new();
    let mut output = watch.stdout.take().expect("piped");
    output.read_to_string(&mut text).expect("text");
    assert_eq!(watch.wait().expect("it ends").code(), Some(0), "{text}");
    text
}

#[test]
fn each_drop_is_counted_and_the_reason_is_a_program_that_does_not_read() {
    for address in ["127.0.0.1:0", "[::1]:0"] {
        let socket = unread_socket(address);
        let local = socket.local_addr().expect("bound");
        let sender = UdpSocket::bind(address).expect("as the first");
        let send = |count| {
            for _ in 0..count {
                sender.send_to(&[0; 300], local).expect("loopback takes it");
            }
        };
        // What was dropped before is not of this watch.
        send(500);
        let before = drops(local.port());
        assert!(before > 0, "the buffer is small");
        let (watch, _errors) = begin(&format!("watch --window 200ms --port {}", local.port()));
        for _ in 0..6 {
            send(100);
            thread::sleep(Duration::from_millis(100));
        }
        let text = end(watch);
        let dropped = drops(local.port()) - before;
        assert_eq!(dropped, 600);
        let finding = format!("overflowed: {dropped} datagrams dropped");
        assert!(text.contains(&finding), "{text}");
    }
}

#[test]
fn a_process_is_watched_with_all_its_sockets() {
    let sockets = [unread_socket("127.0.0.1:0"), unread_socket("127.0.0.1:0")];
    let (watch, _errors) = begin(&format!("watch --window 100ms --pid {}", process::id()));
    let sender = UdpSocket::bind("127.0.0.1:0").expect("as the first");
    let dropped = || -> u64 {
        let of_one = |socket: &UdpSocket| drops(socket.local_addr().expect("bound").port());
        sockets.iter().map(of_one).sum()
    };
    for socket in &sockets {
        for _ in 0..200 {
            let local = socket.local_addr().expect("bound");
            sender.send_to(&[0; 300], local).expect("loopback takes it");
        }
    }
    let text = end(watch);
    // Other tests of this process have sockets, too.
    let shown = text.split("overflowed: ").nth(1).expect("drops");
    let shown: u64 = shown
        .split(' ')
        .next()
        .and_then(|it| it.parse().ok())
        .expect("a number");
    assert!(shown >= dropped() && dropped() > 0, "{text}");
}

#[test]
fn it_ends_when_the_sockets_are_closed() {
    let socket = unread_socket("127.0.0.1:0");
    let port = socket.local_addr().expect("bound").port();
    let (mut watch, mut errors) = begin(&format!("watch --window 100ms --port {port}"));
    drop(socket);
    let mut rest = String::new();
    errors.read_to_string(&mut rest).expect("text");
    assert_eq!(watch.wait().expect("it ends").code(), Some(1), "{rest}");
    assert!(rest.contains("its sockets are closed"), "{rest}");
}

#[test]
fn a_watch_for_a_time_ends_by_itself() {
    let socket = unread_socket("127.0.0.1:0");
    let port = socket.local_addr().expect("bound").port();
    let words = format!("watch --port {port} --for 250ms --window 100ms");
    let output = Place::new().run(&words);
    assert_code(&output, 0);
    let lines = stdout(&output);
    let windows = lines.lines().filter(|line| line.get(2..3) == Some(":"));
    assert!((1..=3).contains(&windows.count()), "{lines}");
}

#[test]
fn the_help_tells_of_ports_and_whose_datagrams_kpps_are() {
    let place = Place::new();
    let short = stdout(&place.run("watch -h"));
    assert!(
        short.contains("--port") && short.contains("--pid"),
        "{short}"
    );
    let long = stdout(&place.run("watch --help"));
    let kpps = "datagrams per second that all programs of this network namespace read";
    assert!(long.contains(kpps), "{long}");
}

/// A process that has this socket open and does nothing. It ends with this.
struct Holder(Child);

impl Holder {
    fn of(socket: impl Into<OwnedFd>) -> Self {
        let mut holder = Command::new("sleep");
        let holder = holder.arg("600").stdin(Stdio::from(socket.into()));
        Self(holder.spawn().expect("a common program"))
    }
}

impl Drop for Holder {
    fn drop(&mut self) {
        // It may have ended.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn a_socket_of_a_network_namespace_without_processes_is_said_and_what_to_type() {
    let in_its_own = || {
        unshare(CloneFlags::CLONE_NEWNET).ok()?;
        Some(UdpSocket::bind("0.0.0.0:0").expect("a port is free"))
    };
    let Some(socket) = thread::spawn(in_its_own).join().expect("no panic") else {
        return; // not root
    };
    let holder = Holder::of(socket);
    let pid = holder.0.id();
    let output = Place::new().run(&format!("watch --pid {pid}"));
    assert_code(&output, 2);
    let errors = stderr(&output);
    assert!(!errors.contains("no UDP socket"), "{errors}");
    let fix = format!("sudo nsenter --net=/run/netns/NAME udpbench watch --pid {pid}");
    assert!(errors.contains(&fix), "{errors}");
}

#[test]
fn packet_sockets_are_named_where_a_port_has_no_socket() {
    let Ok(socket) = Socket::new(Domain::PACKET, Type::DGRAM, None) else {
        return; // not root
    };
    let holder = Holder::of(socket);
    let output = Place::new().run("watch --port 1");
    assert_code(&output, 2);
    let errors = stderr(&output);
    let owner = format!("sleep (pid {})", holder.0.id());
    assert!(errors.contains(&owner), "{errors}");
    assert!(errors.contains("ss -0pm"), "{errors}");
}

#[test]
fn what_is_not_there_or_has_no_sockets_is_named() {
    let place = Place::new();
    for (options, expected) in [
        ("--port 1", "no UDP socket is bound to this port here"),
        ("--pid 4194305", "there is no such process"),
        ("--port 0", "use a number from 1 to 65535"),
        ("--port 9 --engine std", "unexpected argument"),
        ("--count 1", "required arguments"),
        ("--port 9 --pid 9", "cannot be used with"),
    ] {
        let output = place.run(&format!("watch {options}"));
        assert_code(&output, 2);
        assert!(stderr(&output).contains(expected), "{}", stderr(&output));
    }
}

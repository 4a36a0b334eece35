//! Ways to drop datagrams at the far end of a cable: each is named by its place in `listen` and in `watch --port`, with
//! its number. `scripts/ci/test_drops.py` has many more. Skipped without root.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;
use socket2::{SockFilter, SockRef};
use udpbench::sys::udp_sockets;

use crate::common::lab::{End, Lab};
use crate::common::{program, wait_until};

const PORT: u16 = 7502;
/// Datagrams that are sent.
const SENT: u64 = 200;

/// Runs a shell command at an end.
fn shell(mut command: Command, words: &str) {
    let output = command.args(["-c", words]).output().expect("a shell");
    assert!(output.status.success(), "{words}: {output:?}");
}

/// Starts the program at the far end, and returns once it counts.
fn start(lab: &Lab, words: &str) -> Child {
    let program = program().get_program().to_string_lossy().into_owned();
    let mut command = lab.far(&program);
    command.args(words.split_whitespace());
    let mut child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it was built");
    let mut heading = String::new();
    let errors = child.stderr.as_mut().expect("piped");
    BufReader::new(errors)
        .read_line(&mut heading)
        .expect("text");
    assert!(heading.contains("Ctrl-C ends"), "{words}: {heading}");
    child
}

/// Ends a program as Ctrl-C does, and returns what it printed.
fn end(mut child: Child) -> String {
    let pid = Pid::from_raw(child.id().try_into().expect("a pid"));
    kill(pid, Signal::SIGINT).expect("it runs");
    let mut text = String::new();
    let mut output = child.stdout.take().expect("piped");
    output.read_to_string(&mut text).expect("text");
    child.wait().expect("it ends");
    text
}

fn send(sender: &UdpSocket, to: SocketAddr) {
    for n in 0..SENT {
        sender.send_to(&n.to_be_bytes(), to).expect("there is room");
    }
}

/// Returns the packets that a summary of `listen` has at a place.
fn at(summary: &str, place: &str) -> u64 {
    let summary: Value = serde_json::from_str(summary).expect("JSON");
    summary["drops"]["places"][place].as_u64().unwrap_or(0)
}

#[test]
fn what_this_host_drops_before_the_socket_is_named_by_its_place() {
    let Some(lab) = Lab::builder().start() else {
        return;
    };
    let far = lab.ipv4(End::Far);
    let foreign: IpAddr = "10.99.7.1".parse().expect("an address");
    let to: SocketAddr = (far, PORT).into();
    let everywhere = SocketAddr::from(([255, 255, 255, 255], PORT));
    shell(lab.near("sh"), "ip address add 10.99.7.1/32 dev lo");
    let near = lab.ipv4(End::Near);
    for (place, set_up, from, to) in [
        (
            "reverse path filter",
            "sysctl -qw net.ipv4.conf.all.rp_filter=1",
            foreign,
            to,
        ),
        (
            "refused source address",
            "sysctl -qw net.ipv4.conf.all.rp_filter=0; ip address add 10.99.7.1/32 dev lo",
            foreign,
            to,
        ),
        (
            "broadcasts and multicasts that no socket takes",
            ":",
            near,
            everywhere,
        ),
        ("closed UDP ports", ":", near, (far, 9).into()),
    ] {
        shell(lab.far("sh"), set_up);
        let sender = lab.socket(End::Near, from);
        sender.set_broadcast(true).expect("permitted");
        let listen = start(&lab, &format!("listen {far}:{PORT} --format json"));
        send(&sender, to);
        let summary = end(listen);
        assert_eq!(at(&summary, place), SENT, "{place}: {summary}");

        let _socket = lab.within(End::Far, || UdpSocket::bind((far, PORT)).expect("free"));
        let watch = start(&lab, &format!("watch --port {PORT}"));
        send(&sender, to);
        let text = end(watch);
        let finding = format!("{place}: {SENT} packets dropped");
        assert!(text.contains(&finding), "{text}");
        assert!(!text.contains("dropped nothing"), "{text}");
    }
}

#[test]
fn what_a_filter_of_the_socket_drops_is_no_full_buffer() {
    let Some(lab) = Lab::builder().start() else {
        return;
    };
    let far = lab.ipv4(End::Far);
    let socket = lab.within(End::Far, || UdpSocket::bind((far, PORT)).expect("free"));
    // `ret 0`: drops all.
    let none = SockFilter::new(6, 0, 0, 0);
    SockRef::from(&socket)
        .attach_filter(&[none])
        .expect("permitted");
    let sender = lab.socket(End::Near, lab.ipv4(End::Near));
    let watch = start(&lab, &format!("watch --port {PORT}"));
    send(&sender, (far, PORT).into());
    let text = end(watch);
    let finding = format!(
        "filter of the socket, or wrong UDP length: {SENT} datagrams dropped at its sockets"
    );
    assert!(text.contains(&finding), "{text}");
    assert!(!text.contains("SO_RCVBUF"), "{text}");
}

/// A program that forks, hands its socket over, or closes it.
fn python(lab: &Lab, code: &str) -> Child {
    let mut command = lab.far("python3");
    let child = command.args(["-c", code]).stdin(Stdio::piped()).spawn();
    let child = child.expect("python3 is there");
    wait_until("its socket is bound", || {
        let all = lab.within(End::Far, || udp_sockets::here().expect("readable"));
        all.iter().any(|it| it.local.port() == PORT)
    });
    child
}

#[test]
fn a_worker_that_begins_during_the_watch_is_judged_and_not_the_one_that_only_has_the_socket() {
    let Some(lab) = Lab::builder().start() else {
        return;
    };
    // The worker never reads, and runs a little.
    let code = format!(
        "import os, socket, sys, time\ns = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)\n\
         s.setsockopt(1, 8, 4096); s.bind(('', {PORT})); sys.stdin.readline(); parent = os.getpid()\n\
         if os.fork() == 0:\n  open('/proc/self/comm', 'w').write('worker')\n  os.close(0)\n  \
         while os.getppid() == parent: time.sleep(0.001)\nelse: time.sleep(60)"
    );
    let mut activator = python(&lab, &code);
    let watch = start(&lab, &format!("watch --port {PORT} --window 100ms"));
    activator
        .stdin
        .take()
        .expect("piped")
        .write_all(b"\n")
        .expect("it reads");
    let sender = lab.socket(End::Near, lab.ipv4(End::Near));
    let from = Instant::now();
    while from.elapsed() < Duration::from_millis(2500) {
        send(&sender, (lab.ipv4(End::Far), PORT).into());
        std::thread::sleep(Duration::from_millis(20));
    }
    let text = end(watch);
    activator.kill().expect("it runs");
    activator.wait().expect("it is reaped");
    assert!(text.contains("worker (pid "), "{text}");
    assert!(text.contains("nobody reads"), "{text}");
}

#[test]
fn two_programs_on_one_port_are_both_named_and_a_port_of_another_namespace_is_found() {
    let Some(lab) = Lab::builder().start() else {
        return;
    };
    let options = format!("listen 239.7.7.7:{PORT} --interface eth0 --format json");
    let listeners = [start(&lab, &options), start(&lab, &options)];
    let both = |watch: &str| {
        listeners
            .iter()
            .all(|it| watch.contains(&format!("(pid {})", it.id())))
    };
    let watch = start(&lab, &format!("watch --port {PORT} --window 100ms"));
    wait_until("the sockets are listed", || {
        let of_both = lab.within(End::Far, || udp_sockets::here().expect("readable"));
        of_both.iter().filter(|it| it.local.port() == PORT).count() == 2
    });
    let text = end(watch);
    assert!(text.contains("of 2 processes") && both(&text), "{text}");

    let here = program()
        .args(["watch", "--port", &PORT.to_string()])
        .output()
        .expect("it was built");
    let problem = String::from_utf8_lossy(&here.stderr).into_owned();
    let hint = "has it in another network namespace: use --pid";
    assert!(problem.contains(hint), "{problem}");
    for listener in listeners {
        end(listener);
    }
}

//! Lines, files, exit codes, bad input, and a user without rights.

use std::io::{BufRead, BufReader};
use std::net::UdpSocket;
use std::os::unix::fs::MetadataExt;
use std::os::unix::process::CommandExt;
use std::process::Stdio;

use nix::sys::signal::Signal;

use super::{Listener, free};
use crate::common::{Place, assert_code, copy_program, program, stderr, stdout};

#[test]
fn a_line_per_window_a_row_per_line_and_the_summary() {
    let place = Place::new();
    let csv = place.path("out.csv");
    let address = free("127.0.0.1:0");
    let options = format!(
        "{address} --window 100ms --count 3 --gap 1h --sequence 0:1 -o {}",
        csv.display()
    );
    let listener = Listener::start(&options);
    let sender = UdpSocket::bind("127.0.0.1:0").expect("loopback is up");
    for n in [1, 2, 4_u8] {
        sender
            .send_to(&[n; 33], address)
            .expect("loopback takes it");
    }
    let (text, errors, code) = listener.wait();
    assert_eq!(code, Some(0), "{errors}");
    assert!(text.starts_with("UTC"), "{text}");
    // A busy machine may make one line of two.
    let is_summary = |line: &str| line.starts_with("3 datagrams in ");
    let lines = text.lines().skip(1).position(is_summary).expect(&text);
    assert!((1..=3).contains(&lines), "{text}");
    assert!(text.contains("sizes     33 B: 3\n"), "{text}");
    assert!(
        text.contains("1 of 4 numbers missing, in 1 place; 0 late, 0 twice"),
        "{text}"
    );
    assert!(text.contains("0 of 1h or longer"), "{text}");
    assert!(text.lines().all(|line| line.len() <= 100), "{text}");
    let rows = csv::Reader::from_path(&csv).expect("readable");
    let mut rows = rows.into_deserialize::<std::collections::BTreeMap<String, String>>();
    let sum = rows
        .by_ref()
        .fold((0_usize, 0, 0), |(rows, datagrams, missing), row| {
            let row = row.expect("a row");
            let number = |name: &str| row[name].parse::<i64>().expect(name);
            (
                rows + 1,
                datagrams + number("datagrams"),
                missing + number("missing_numbers"),
            )
        });
    assert_eq!(sum, (lines, 3, 1));
}

#[test]
fn where_nothing_comes_the_exit_code_and_the_advice_say_so() {
    let port = free("0.0.0.0:0").port();
    let output = Place::new().run(&format!("listen {port} --for 50ms"));
    assert_code(&output, 1);
    let text = stdout(&output);
    assert!(text.contains("no datagram came in"), "{text}");
    assert!(text.contains(&format!("udp port {port}")), "{text}");
}

#[test]
fn it_ends_with_its_reader_and_by_signals() {
    let port = free("127.0.0.1:0").port();
    let mut listening = program();
    listening.args(["listen", &format!("127.0.0.1:{port}"), "--window", "10ms"]);
    let mut child = listening
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("it was built");
    let mut first = String::new();
    let mut output = BufReader::new(child.stdout.take().expect("piped"));
    output.read_line(&mut first).expect("text");
    drop(output);
    assert_eq!(
        child.wait().expect("it ends").code(),
        Some(1),
        "nothing came"
    );
    let listener = Listener::start(&format!("127.0.0.1:{port} --window 1h"));
    listener.signal(Signal::SIGTERM);
    let (_, errors, code) = listener.wait();
    assert_eq!(code, Some(143), "{errors}");
}

#[test]
fn what_cannot_be_listened_to_is_refused_with_the_fix() {
    let open = UdpSocket::bind("127.0.0.1:0").expect("loopback is up");
    let port = open.local_addr().expect("bound").port();
    let taken = format!("127.0.0.1:{port}");
    let place = Place::new();
    for (options, expected) in [
        (taken.as_str(), "another program has this port open"),
        (
            "192.0.2.7:7502",
            "no interface of this host has this address",
        ),
        ("fe80::1", "write PORT, ADDRESS:PORT"),
        ("[fe80::1]:7", "name its interface"),
        ("[ff02::1]:7", "name its interface"),
        ("7502 --source 10.0.0.1", "name the group before the port"),
        ("232.0.0.1:7502 --source ::1", "different IP versions"),
        (
            "239.0.0.1:7502 --interface nowhere0",
            "there is no such network interface",
        ),
        (
            "7502 --interface lo",
            "it is for a group or a link-local address",
        ),
        ("7502 --sequence 4", "write OFFSET:BYTES"),
        ("7502 --sequence 0:4 --rtp", "cannot be used with"),
        ("7502 --count 1 --for 1s", "cannot be used with"),
        ("7502 --window 1ms", "use 10ms or more"),
        ("7502 --gap 0s", "use a time above 0"),
        ("7502 --gap 20", "has no unit"),
        ("7502 -o lidar.json", "use a name in .jsonl for the log"),
    ] {
        let output = place.refuses(&format!("listen {options}"));
        let problem = stderr(&output);
        assert!(problem.contains(expected), "{options}: {problem}");
    }
}

fn is_root() -> bool {
    std::fs::metadata("/proc/self").is_ok_and(|process| process.uid() == 0)
}

#[test]
fn without_rights_it_counts_the_same_and_says_what_it_cannot_tell() {
    let address = free("127.0.0.1:0");
    let mut command = program();
    if is_root() {
        // The user nobody must reach the program.
        let copy = std::env::temp_dir().join(format!("udpbench-of-nobody-{}", std::process::id()));
        copy_program(&copy);
        command = std::process::Command::new(&copy);
        command.uid(65_534).gid(65_534);
    }
    let copy = command.get_program().to_owned();
    let listener = Listener::of(command, &format!("{address} --rcvbuf 1000000000"));
    let sender = UdpSocket::bind("127.0.0.1:0").expect("loopback is up");
    for _ in 0..7 {
        sender
            .send_to(&[0; 10], address)
            .expect("loopback takes it");
    }
    let (text, errors, code) = listener.end();
    if is_root() {
        std::fs::remove_file(copy).expect("it is there");
    }
    assert_eq!(code, Some(0), "{errors}");
    assert!(errors.contains("the kernel grants"), "{errors}");
    assert!(text.contains("7 datagrams in"), "{text}");
    assert!(text.contains("(kernel stamps)"), "{text}");
    assert!(
        text.contains("drops     socket 0; for any program: backlog"),
        "{text}"
    );
    let unseen = text.split_once("not looked at: ").map(|(_, places)| places);
    let may_count = std::fs::read_to_string("/proc/sys/kernel/perf_event_paranoid")
        .is_ok_and(|paranoid| paranoid.trim() == "-1");
    assert!(
        may_count || unseen.is_some_and(|it| it.contains("NETFILTER_DROP")),
        "{text}"
    );
}

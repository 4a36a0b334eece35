//! An agent that listens: the one who has the key gets its session, and with the session all ends.

use std::io::{BufRead, BufReader, ErrorKind, Read};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, Stdio};
use std::time::Duration;

use udpbench::channel::{self, Key};
use udpbench::measure::Local;
use udpbench::measure::remote::Remote;
use udpbench::measure::site::Sites;
use udpbench::sys::files::Root;
use udpbench::sys::interrupt::Asked;

use crate::common::{Place, stderr};
use crate::{Run, case, run};

/// An agent of this program that listens on loopback.
pub(crate) struct Listening {
    pub(crate) child: Child,
    pub(crate) address: SocketAddr,
    said: BufReader<ChildStderr>,
}

/// A new key in a file of this place.
pub(crate) fn new_key(place: &Place, name: &str) -> (Key, PathBuf) {
    let path = place.path(name);
    let key = Key::random().expect("random numbers");
    key.write(&path).expect("a new file");
    (key, path)
}

impl Listening {
    pub(crate) fn start(place: &Place, arguments: &str) -> Self {
        let mut command = place.udpbench(&format!("agent {arguments}"));
        let command = command.stdin(Stdio::null()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("the program starts");
        let mut said = BufReader::new(child.stderr.take().expect("a pipe"));
        let mut line = String::new();
        said.read_line(&mut line).expect("a line");
        let address = line.strip_prefix("listening at ");
        let address = address.and_then(|rest| rest.split_once(": one session, with "));
        let (address, _) = address.unwrap_or_else(|| panic!("{line}"));
        let address = address.parse().expect("an address");
        line.clear();
        said.read_line(&mut line).expect("another one");
        assert!(line.starts_with("it sends "), "{line}");
        Self {
            child,
            address,
            said,
        }
    }

    /// Waits until it ends, as it has to. Returns its exit code, and what it said.
    pub(crate) fn end(mut self) -> (Option<i32>, String) {
        let mut rest = String::new();
        self.said.read_to_string(&mut rest).expect("UTF-8");
        let status = self.child.wait().expect("it is reaped");
        (status.code(), rest)
    }

    /// Has the session, to show that it goes on listening, and ends it.
    pub(crate) fn has_a_session_yet(self, key: &Key) -> String {
        let (reader, writer) = channel::connect(self.address, key).expect("it listens");
        let remote =
            Remote::connect(Some("agent"), reader, writer, &Asked::default()).expect("it speaks");
        drop(remote);
        let (code, said) = self.end();
        assert_eq!(code, Some(0), "{said}");
        said
    }
}

/// A test that fails leaves none behind.
impl Drop for Listening {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub(crate) const LISTEN: &str = "--listen 127.0.0.1:0 --key bench.key";

#[test]
fn who_has_the_key_measures_with_an_agent_that_listens() {
    let place = Place::new();
    let (key, _) = new_key(&place, "bench.key");
    let agent = Listening::start(&place, LISTEN);
    let (reader, writer) = channel::connect(agent.address, &key).expect("it listens");
    let mut remote =
        Remote::connect(Some("agent"), reader, writer, &Asked::default()).expect("it speaks");
    let root = Root::default();
    let mut sites = Sites::Two {
        receivers: &mut remote,
        senders: &mut Local::new(&root),
    };
    let case = case("std:std/2t/300B/connected/v4");
    let sample = run(&case, Run::Window, Duration::from_millis(20), &mut sites);
    assert!(sample.expect("loopback works").is_sound());
    // Nobody finds its port any more, not even one who has the key.
    let second = channel::connect(agent.address, &key).err();
    let second = format!("{:#}", second.expect("nothing listens"));
    assert!(
        second.contains("cannot connect: does `udpbench agent --listen"),
        "{second}"
    );
    drop(remote);
    let (code, said) = agent.end();
    assert_eq!(code, Some(0), "{said}");
    assert!(said.starts_with("session with 127.0.0.1:"), "{said}");
    assert!(said.contains("nothing listens at"), "{said}");
}

#[test]
fn a_client_that_is_killed_ends_the_agent() {
    let place = Place::new();
    let (key, _) = new_key(&place, "bench.key");
    let agent = Listening::start(&place, LISTEN);
    let (reader, writer) = channel::connect(agent.address, &key).expect("it listens");
    drop((reader, writer));
    let (code, said) = agent.end();
    // It never said its version.
    assert_eq!(code, Some(1), "{said}");
    assert!(
        said.contains("error: the other side: it ended before"),
        "{said}"
    );
}

#[test]
fn a_session_over_ipv6_and_only_from_the_host_that_is_named() {
    let place = Place::new();
    let (key, _) = new_key(&place, "bench.key");
    let elsewhere = Listening::start(&place, &format!("{LISTEN} --from 192.0.2.1"));
    let refused = channel::connect(elsewhere.address, &key).err();
    let refused = format!("{:#}", refused.expect("it is not 192.0.2.1"));
    assert!(
        refused.contains("does not have this key, or is no udpbench agent"),
        "{refused}"
    );
    let mut elsewhere = elsewhere;
    elsewhere.child.kill().expect("it goes on listening");
    let (_, said) = elsewhere.end();
    assert!(said.contains("--from names another host"), "{said}");
    if TcpStream::connect("[::1]:9")
        .is_err_and(|error| error.kind() != ErrorKind::ConnectionRefused)
    {
        return eprintln!("SKIPPED: no IPv6 on loopback");
    }
    let arguments = "--listen [::1]:0 --from ::1 --key bench.key";
    Listening::start(&place, arguments).has_a_session_yet(&key);
}

#[test]
fn every_address_is_listened_at_only_when_asked_for_twice() {
    let place = Place::new();
    let (key, _) = new_key(&place, "bench.key");
    for address in ["0.0.0.0:0", "[::]:0", "[::ffff:0.0.0.0]:0"] {
        let arguments = format!("--listen {address} --key bench.key");
        let output = place.run(&format!("agent {arguments}"));
        assert_eq!(output.status.code(), Some(2));
        let said = stderr(&output);
        assert!(
            said.contains("name one of them, or add --any-address"),
            "{said}"
        );
    }
    let mut agent = Listening::start(&place, "--listen 0.0.0.0:0 --any-address --key bench.key");
    agent.address.set_ip([127, 0, 0, 1].into());
    agent.has_a_session_yet(&key);
    let output = place.run("agent --listen 127.0.0.1:0 --any-address --key bench.key");
    assert!(stderr(&output).contains("leave it out"), "{output:?}");
}

#[test]
fn an_address_that_cannot_be_listened_at_is_refused_with_the_fix() {
    let place = Place::new();
    let (_, path) = new_key(&place, "bench.key");
    let taken = TcpListener::bind("127.0.0.1:0").expect("a port");
    let taken = taken
        .local_addr()
        .map(|address| (taken, address))
        .expect("an address");
    let cases = [
        (taken.1.to_string(), "choose another port"),
        (
            "192.0.2.77:7007".to_owned(),
            "`ip address` lists those that it has",
        ),
        (
            "board:7007".to_owned(),
            "such as 192.0.2.7:7007 or [2001:db8::7]:7007",
        ),
        ("192.0.2.77".to_owned(), "such as 192.0.2.7:7007"),
    ];
    for (address, fix) in cases {
        let output = place.run(&format!(
            "agent --listen {address} --key {}",
            path.display()
        ));
        assert_eq!(output.status.code(), Some(2), "{output:?}");
        let said = stderr(&output);
        assert!(said.contains(&address) && said.contains(fix), "{said}");
    }
    for (words, missing) in [
        ("--listen 127.0.0.1:0", "--key"),
        ("--key bench.key", "--listen"),
    ] {
        let output = place.run(&format!("agent {words}"));
        assert_eq!(output.status.code(), Some(2), "{output:?}");
        assert!(stderr(&output).contains(missing), "{output:?}");
    }
}

#[test]
fn a_key_that_is_missing_is_named() {
    let place = Place::new();
    let output = place.run(&format!("agent {LISTEN}"));
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    let said = stderr(&output);
    assert!(
        said.contains("bench.key: cannot read the key: No such file"),
        "{said}"
    );
    assert!(!Path::new(&place.path("bench.key")).exists());
}

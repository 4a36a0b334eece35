//! A link that dies takes nobody's time: in a network namespace, whose firewall drops all of a session from one moment
//! on. Skipped, loudly, where this user may not have such a namespace.

use std::env;
use std::io::Read;
use std::process::Command;
use std::time::{Duration, Instant};

use udpbench::channel;

use crate::common::Place;
use crate::listening::{LISTEN, Listening, new_key};

/// Says to this program that it runs in the namespace.
const INSIDE: &str = "UDPBENCH_TEST_IN_NAMESPACE";

/// Without the options of the connection, an end that waits would never know, and one that has sent something would
/// in a quarter of an hour.
const SOON: Duration = Duration::from_secs(20);

#[test]
fn both_ends_notice_a_dead_link() {
    const NO_NAMESPACE: i32 = 99;
    if env::var_os(INSIDE).is_some() {
        return with_a_link_that_dies();
    }
    let script = format!("ip link set lo up && iptables -L -n || exit {NO_NAMESPACE}; exec \"$@\"");
    let mut unshare = Command::new("unshare");
    unshare.args(["--map-root-user", "--net", "sh", "-c", &script, "sh"]);
    unshare.arg(env::current_exe().expect("a path"));
    let name = "dead_link::both_ends_notice_a_dead_link";
    unshare
        .args([name, "--exact", "--nocapture"])
        .env(INSIDE, "1");
    let output = match unshare.output() {
        Ok(output) => output,
        Err(error) => return eprintln!("SKIPPED: no unshare: {error}"),
    };
    let said = String::from_utf8_lossy(&output.stderr);
    if output.status.code() == Some(NO_NAMESPACE) || said.starts_with("unshare:") {
        return eprintln!("SKIPPED: no namespace with a firewall: {said}");
    }
    assert!(output.status.success(), "{said}");
    assert!(
        String::from_utf8_lossy(&output.stdout).contains("1 passed"),
        "it was this test"
    );
}

fn with_a_link_that_dies() {
    let place = Place::new();
    let (key, _) = new_key(&place, "bench.key");
    let agent = Listening::start(&place, LISTEN);
    let (mut reader, writer) = channel::connect(agent.address, &key).expect("it listens");
    let cut = Command::new("iptables")
        .args("-A INPUT -p tcp -j DROP".split(' '))
        .status();
    assert!(cut.expect("it is there").success());
    let start = Instant::now();
    // The client waits for something that would come in its own time.
    reader.read(&mut [0]).expect_err("the link is dead");
    let client = start.elapsed();
    let (code, said) = agent.end();
    let both = start.elapsed();
    eprintln!("the client knew after {client:?}, both after {both:?}");
    assert!(both < SOON, "{both:?}");
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("cannot read a message: "), "{said}");
    drop(writer);
}

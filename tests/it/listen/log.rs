//! The log of a listener: what it keeps, what a crash leaves of it, and what the other commands make of it.

use std::fs;
use std::net::UdpSocket;
use std::path::Path;
use std::thread;
use std::time::Duration;

use nix::sys::signal::Signal;
use udpbench::log::Log;
use udpbench_field::listen::log::ListenLog;

use super::{Listener, free};
use crate::common::{Place, assert_code, stderr, stdout, wait_until, words};

fn log(path: &Path) -> ListenLog {
    Log::open("FILE", path).expect("a log").into()
}

/// Starts a listener with a log of windows of 50 ms.
fn listen(path: &Path) -> (Listener, impl Fn(u8)) {
    let address = free("127.0.0.1:0");
    let path = path.display();
    let options = format!("{address} --window 50ms --gap 60ms --sequence 0:1 -o {path}");
    let listener = Listener::start(&options);
    let sender = UdpSocket::bind("127.0.0.1:0").expect("loopback is up");
    let send = move |number: u8| {
        let sent = sender.send_to(&[number; 40], address);
        assert_eq!(sent.expect("loopback takes it"), 40);
    };
    (listener, send)
}

#[test]
fn the_log_has_each_window_and_silence_and_the_other_commands_read_it() {
    let place = Place::new();
    let path = place.path("in.jsonl");
    let (listener, send) = listen(&path);
    send(1);
    send(2);
    // A silence of the sender.
    thread::sleep(Duration::from_millis(80));
    send(4);
    wait_until("all is in the log", || {
        log(&path).rows().map(|row| row.datagrams).sum::<u64>() == 3
    });
    let (_, errors, code) = listener.end();
    assert_eq!(code, Some(0), "{errors}");
    let log = log(&path);
    assert_eq!(log.rows().map(|row| row.missing_numbers).sum::<i64>(), 1);
    // A busy machine may stop the sender elsewhere, too.
    let longest = log.silences().map(|silence| silence.ms).fold(0.0, f64::max);
    assert!(longest >= 80.0, "{longest}");
    let silences: u64 = log.rows().map(|row| row.silences).sum();
    assert_eq!(log.silences().count() as u64, silences);
    let ended = log.ended().expect("a summary");
    assert_eq!(ended["datagrams"], 3);
    assert_eq!(ended["silences"]["count"], silences);

    let text = stdout(&place.run("summarize in.jsonl"));
    assert!(text.starts_with("UTC"), "{text}");
    let lines = log.rows().count() + 1;
    assert!(
        text.lines()
            .nth(lines)
            .is_some_and(|it| it.starts_with("listened  on port")),
        "{text}"
    );
    let text = words(&text);
    for line in [
        "came 3 datagrams in ",
        "ms from ",
        &format!("silences {silences} of 60ms or longer"),
        "sequence 1 of 4 numbers missing, in 1 place; 0 late, 0 twice",
        "0 of the missing were dropped at the socket, 1 were lost",
        "drops socket 0; for any program: backlog ",
    ] {
        assert!(text.contains(line), "{line}: {text}");
    }
    let csv = stdout(&place.run("summarize in.jsonl --format csv"));
    assert!(
        csv.starts_with("opened_at,seconds,datagrams,bytes,"),
        "{csv}"
    );
    assert_eq!(csv.lines().count(), lines);
    let refused = stderr(&place.refuses("resume in.jsonl"));
    assert!(
        refused.contains("a listener has no rest to do"),
        "{refused}"
    );
    if cfg!(not(feature = "report")) {
        return;
    }
    assert_code(&place.run("report in.jsonl -o page.html"), 0);
    let page = fs::read_to_string(place.path("page.html")).expect("a page");
    for part in [
        "What came in",
        "Datagrams per second",
        "Silences and losses over time",
        ">missing<",
    ] {
        assert!(page.contains(part), "{part}");
    }
}

#[test]
fn a_killed_listener_leaves_what_it_heard() {
    let place = Place::new();
    let path = place.path("in.jsonl");
    let (listener, send) = listen(&path);
    send(1);
    send(2);
    wait_until("both are in the log", || {
        log(&path).rows().map(|row| row.datagrams).sum::<u64>() == 2
    });
    listener.signal(Signal::SIGKILL);
    assert_eq!(listener.wait().2, None);
    let text = stdout(&place.run("summarize in.jsonl"));
    assert!(text.contains("the log ends before its end"), "{text}");
    assert!(text.contains("came      2 datagrams in "), "{text}");
}

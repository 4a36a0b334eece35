//! How the other host is reached: by ssh, with udpbench copied there first, and without ssh.

use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};

use udpbench::row::Status;

use crate::common::{Place, program, rows, stderr};
use crate::lab::{End, Lab};

const SHORT: &str = "--pin 0:1 --no-reference --engine std --threads 2 --payload 300 --soak 0s --warmup 5ms --rounds 5 \
                     --duration 100ms -o out.csv";

fn udpbench() -> String {
    let udpbench = program();
    udpbench.get_program().to_str().expect("UTF-8").to_owned()
}

fn wire(lab: &Lab, place: &Place, words: &[&str]) -> Output {
    let mut command = lab.near(&udpbench());
    command.arg("wire").args(words);
    command.args(SHORT.split_whitespace());
    command.current_dir(place.path("."));
    command.output().expect("it can be started")
}

/// The rows are those of both directions.
fn assert_measured(place: &Place, output: &Output) {
    assert!(output.status.success(), "{}", stderr(output));
    let rows = rows(&place.path("out.csv"));
    assert_eq!(rows.len(), 2, "{rows:?}");
    assert!(rows.iter().all(|row| row.status == Status::Ok), "{rows:?}");
}

/// An ssh whose commands run in a directory of the test, as if that was the home directory there.
fn ssh_at_home(lab: &Lab, place: &Place) -> PathBuf {
    let home = place.path("home");
    fs::create_dir(&home).expect("a new directory");
    let script = place.path("ssh");
    let lines = format!(
        "#!/bin/sh\nshift\nhost=$1\nshift\nexec ssh -F {} \"$host\" \"cd {} && $*\"\n",
        lab.ssh_config().display(),
        home.display()
    );
    fs::write(&script, lines).expect("a new file");
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).expect("it is ours");
    script
}

#[test]
fn udpbench_is_copied_there_once() {
    let Some(lab) = Lab::builder().start() else {
        return;
    };
    let place = Place::new();
    let ssh = ssh_at_home(&lab, &place).display().to_string();
    let words = ["board", "--ssh", &ssh, "--deploy", "--binary", &udpbench()];
    let output = wire(&lab, &place, &words);
    assert_measured(&place, &output);
    assert!(stderr(&output).contains("copying "), "{}", stderr(&output));
    let there = concat!("home/.cache/udpbench/", env!("CARGO_PKG_VERSION"));
    let copied = fs::read(place.path(there).join("udpbench")).expect("it is there");
    assert!(
        copied == fs::read(udpbench()).expect("it is there"),
        "it is another one"
    );
    assert_eq!(
        fs::read_dir(place.path(there))
            .expect("a directory")
            .count(),
        1
    );

    fs::remove_file(place.path("out.csv")).expect("it is there");
    fs::remove_file(place.path("out.jsonl")).expect("it is there");
    let output = wire(&lab, &place, &words);
    assert_measured(&place, &output);
    assert!(!stderr(&output).contains("copying "), "{}", stderr(&output));

    let nothing = ["board", "--ssh", &ssh, "--deploy", "--binary", "nothing"];
    let output = wire(&lab, &Place::new(), &nothing);
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
    assert!(
        stderr(&output).contains("--binary nothing"),
        "{}",
        stderr(&output)
    );
}

#[test]
fn what_is_no_agent_is_told_with_the_fix() {
    let Some(lab) = Lab::builder().start() else {
        return;
    };
    let ssh = format!("ssh -F {}", lab.ssh_config().display());
    for (agent, expected) in [
        (
            "/nowhere/udpbench",
            "before it said anything: is udpbench installed there",
        ),
        ("echo", "it does not speak udpbench's protocol"),
    ] {
        let place = Place::new();
        let output = wire(&lab, &place, &["board", "--ssh", &ssh, "--agent", agent]);
        assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
        assert!(stderr(&output).contains(expected), "{}", stderr(&output));
        assert!(!place.path("out.csv").exists());
    }
}

/// An agent that listens at the far end.
struct Listening {
    agent: Child,
    address: String,
    key: String,
}

impl Listening {
    fn start(lab: &Lab, place: &Place, caps: &[&str]) -> Self {
        let key = place.path("bench.key").display().to_string();
        let mut new_key = Command::new(udpbench());
        let made = new_key.args(["agent", "--new-key", &key]).output();
        assert!(made.expect("it can be started").status.success());
        let address = format!("{}:7007", lab.ipv4(End::Far));
        let mut agent = lab.far(&udpbench());
        agent.args(["agent", "--listen", &address, "--key", &key]);
        let agent = agent.args(caps).stderr(Stdio::piped()).spawn();
        let mut agent = agent.expect("it starts");
        let mut said = BufReader::new(agent.stderr.as_mut().expect("a pipe"));
        let mut first = String::new();
        said.read_line(&mut first).expect("UTF-8");
        assert!(first.contains("listening at 10.77.0.2:7007"), "{first}");
        Self {
            agent,
            address,
            key,
        }
    }

    fn words(&self) -> [&str; 4] {
        ["--agent-at", &self.address, "--key", &self.key]
    }

    fn end(&mut self) {
        assert!(self.agent.wait().expect("it is ours").success());
    }
}

#[test]
fn without_ssh_an_agent_listens_for_one_session() {
    let Some(lab) = Lab::builder().start() else {
        return;
    };
    let place = Place::new();
    let mut listening = Listening::start(&lab, &place, &[]);
    let output = wire(&lab, &place, &listening.words());
    assert_measured(&place, &output);
    listening.end();
    // It was for one session.
    let again = wire(&lab, &Place::new(), &listening.words());
    assert_eq!(again.status.code(), Some(1), "{}", stderr(&again));
    assert!(
        stderr(&again).contains("udpbench agent --listen"),
        "{}",
        stderr(&again)
    );
}

#[test]
fn an_agent_holds_its_caps_in_the_shortest_windows() {
    let Some(lab) = Lab::builder().start() else {
        return;
    };
    for (cap, most, expected) in [
        (
            "--max-rate",
            "1M",
            "at most 1000000 bit/s (--max-rate there)",
        ),
        ("--max-bytes", "10k", "at most 10000 bytes in one session"),
    ] {
        let place = Place::new();
        let mut listening = Listening::start(&lab, &place, &[cap, most]);
        let output = wire(&lab, &place, &listening.words());
        assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
        let rows = rows(&place.path("out.csv"));
        let of = |direction: &str| {
            let mut rows = rows.iter();
            rows.find(|row| row.case.ends_with(direction))
                .expect("a row")
        };
        let reason = &of("down").reason;
        assert!(reason.contains(expected), "{reason}");
        assert_eq!(of("up").status, Status::Ok, "{rows:?}");
        listening.end();
    }
}

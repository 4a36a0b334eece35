//! Connecting to the remote host by ssh, and copying udpbench there first (`--deploy`).

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::thread;
use std::time::{Duration, Instant};

use udpbench::results::row::Status;

use crate::common::lab::{End, Lab};
use crate::common::{Place, assert_code, copy_program, program, rows, stderr};

pub(crate) const SHORT: &str = "--pin 0:1 --no-reference --engine std --threads 2 --payload 300 --heat 0s --warmup 5ms --rounds 5 \
                     --duration 100ms -o out.csv";

pub(crate) fn udpbench() -> String {
    let udpbench = program();
    udpbench.get_program().to_str().expect("UTF-8").to_owned()
}

pub(crate) fn wire(lab: &Lab, place: &Place, words: &[&str]) -> Output {
    let mut command = lab.near(&udpbench());
    command.arg("wire").args(words);
    command.args(SHORT.split_whitespace());
    command.current_dir(place.path("."));
    command.output().expect("it can be started")
}

/// The rows are those of both directions.
pub(crate) fn assert_measured(place: &Place, output: &Output) {
    assert!(output.status.success(), "{}", stderr(output));
    let rows = rows(&place.path("out.csv"));
    assert_eq!(rows.len(), 2, "{rows:?}");
    assert!(rows.iter().all(|row| row.status == Status::Ok), "{rows:?}");
}

/// An ssh whose commands run in a directory of the test, as if that was the home directory there.
fn ssh_at_home(lab: &Lab, place: &Place) -> PathBuf {
    let home = place.path("home");
    fs::create_dir(&home).expect("a new directory");
    let lines = format!(
        "host=$1\nshift\nexec ssh -F {} \"$host\" \"export HOME={} && $*\"",
        lab.ssh_config().display(),
        home.display()
    );
    place.script("ssh", &lines)
}

#[test]
fn udpbench_is_copied_there_once() {
    let Some(lab) = Lab::builder().start() else {
        return;
    };
    let place = Place::new();
    let ssh = ssh_at_home(&lab, &place).display().to_string();
    let words = ["board", "--rsh", &ssh, "--deploy", "--binary", &udpbench()];
    let output = wire(&lab, &place, &words);
    assert_measured(&place, &output);
    assert!(stderr(&output).contains("copying "), "{}", stderr(&output));
    let remote = concat!("home/.cache/udpbench/", env!("CARGO_PKG_VERSION"));
    let copied = fs::read(place.path(remote).join("udpbench")).expect("it is there");
    assert!(
        copied == fs::read(udpbench()).expect("it is there"),
        "it is another one"
    );
    assert_eq!(
        fs::read_dir(place.path(remote))
            .expect("a directory")
            .count(),
        1
    );

    fs::remove_file(place.path("out.csv")).expect("it is there");
    fs::remove_file(place.path("out.jsonl")).expect("it is there");
    let output = wire(&lab, &place, &words);
    assert_measured(&place, &output);
    assert!(!stderr(&output).contains("copying "), "{}", stderr(&output));

    let nothing = ["board", "--rsh", &ssh, "--deploy", "--binary", "nothing"];
    let output = wire(&lab, &Place::new(), &nothing);
    assert_code(&output, 2);
    assert!(
        stderr(&output).contains("--binary nothing"),
        "{}",
        stderr(&output)
    );
}

/// A home directory at the far end, which an ssh without a network runs its commands in. `first` runs before them, as
/// root of a mount namespace of their own.
struct Home {
    place: Place,
    ssh: String,
}

impl Home {
    fn new(first: &str) -> Self {
        let place = Place::new();
        let home = place.path("home");
        fs::create_dir(&home).expect("a new directory");
        let lines = format!(
            "shift\nexec unshare -m sh -c 'cd \"$0\" && {first} && export HOME=\"$0\" && cd \"$0\" && sh -c \"$1\"; code=$?; find . >{}; \
             exit $code' {} \"$*\"",
            place.path("left").display(),
            home.display()
        );
        let ssh = place.script("ssh", &lines).display().to_string();
        Self { place, ssh }
    }

    /// Deploys this program, which is to fail, and returns what it says and what there is in the home directory then.
    fn deploy(&self) -> (String, String) {
        let words = ["wire", "board", "--rsh", &self.ssh, "--deploy"];
        let output = Command::new(alone(&self.place)).args(words).output();
        let output = output.expect("it can be started");
        assert_code(&output, 1);
        let left = fs::read_to_string(self.place.path("left")).expect("a list");
        (stderr(&output), left)
    }
}

/// A copy of udpbench beside which there are no builds for other machines.
pub(crate) fn alone(place: &Place) -> PathBuf {
    let copy = place.path("udpbench");
    copy_program(&copy);
    copy
}

#[test]
fn the_program_itself_is_copied_to_a_machine_like_this_one() {
    let Some(lab) = Lab::builder().start() else {
        return;
    };
    for has_sha256sum in [true, false] {
        let place = Place::new();
        let ssh = ssh_at_home(&lab, &place).display().to_string();
        if !has_sha256sum {
            let tools = place.path("tools");
            fs::create_dir(&tools).expect("a new directory");
            for tool in "sh uname mkdir cat wc chmod mv rm rmdir".split(' ') {
                let found = ["/usr/bin", "/bin"].map(|it| Path::new(it).join(tool));
                let found = found.into_iter().find(|it| it.exists()).expect("POSIX");
                symlink(found, tools.join(tool)).expect("a new link");
            }
            let script = fs::read_to_string(&ssh).expect("a script");
            let path = format!("export PATH={} HOME=", tools.display());
            place.script("ssh", &script.replace("export HOME=", &path));
        }
        let program = alone(&place);
        let mut command = lab.near(program.to_str().expect("UTF-8"));
        command.args(["wire", "board", "--rsh", &ssh, "--deploy"]);
        command
            .args(SHORT.split_whitespace())
            .current_dir(place.path("."));
        let output = command.output().expect("it can be started");
        assert_measured(&place, &output);
        let home = place.path("home");
        let expected = format!("copying {} to board:{}", program.display(), home.display());
        assert!(stderr(&output).contains(&expected), "{}", stderr(&output));
        let remote = concat!("home/.cache/udpbench/", env!("CARGO_PKG_VERSION"));
        let copied = fs::read(place.path(remote).join("udpbench")).expect("it is there");
        assert!(
            copied == fs::read(udpbench()).expect("it is there"),
            "another one"
        );
    }
}

#[test]
fn a_copy_that_fails_leaves_nothing() {
    let Some(_lab) = Lab::builder().start() else {
        return;
    };
    let mount = "mount -t tmpfs -o mode=755,";
    for (first, expected) in [
        (format!("{mount}size=1m tmpfs ."), "No space left on device"),
        (format!("{mount}ro tmpfs ."), "Read-only file system"),
        (format!("{mount}noexec tmpfs ."), "it does not run there"),
        // What is cut off on its way is no whole file to cat.
        ("exec </dev/null".to_owned(), "0 of "),
        ("touch .cache".to_owned(), ".cache"),
    ] {
        let home = Home::new(&first);
        let (said, left) = home.deploy();
        assert!(said.contains(expected), "{first}: {said}");
        assert!(
            said.contains("nothing of it is left there"),
            "{first}: {said}"
        );
        let is_clean = left == ".\n" || left == ".\n./.cache\n" && first.starts_with("touch");
        assert!(is_clean, "{first}: {left}");
    }
}

#[test]
fn a_link_with_the_other_ip_only_is_told_with_the_fix() {
    let Some(lab) = Lab::builder().start() else {
        return;
    };
    let mut ip = lab.far("ip");
    let flushed = ip.args(["-4", "address", "flush", "dev", "eth0"]).status();
    assert!(flushed.expect("iproute2").success());
    let place = Place::new();
    let ssh = format!("ssh -F {}", lab.ssh_config().display());
    let words = [
        "board6",
        "--rsh",
        &ssh,
        "--agent",
        &udpbench(),
        "--ip",
        "v4",
    ];
    let output = wire(&lab, &place, &words);
    assert_code(&output, 1);
    let rows = rows(&place.path("out.csv"));
    assert!(!rows.is_empty(), "{}", stderr(&output));
    for row in rows {
        assert_eq!(row.status, Status::Skipped, "{row:?}");
        assert!(
            row.reason.to_string().contains(
                "no IPv4 address of the other host is known that this one reaches: use another --ip"
            ),
            "{row:?}"
        );
    }
}

/// The address of a link that an end of the cable has.
fn of_the_link(lab: &Lab, end: End) -> String {
    let mut ip = match end {
        End::Near => lab.near("ip"),
        End::Far => lab.far("ip"),
    };
    ip.args("-6 -o address show dev eth0 scope link".split(' '));
    let patience = Instant::now() + Duration::from_secs(20);
    loop {
        let output = ip.output().expect("ip is there");
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let ready = text.lines().find(|line| !line.contains("tentative"));
        let address = ready.and_then(|line| line.split("inet6 ").nth(1)?.split('/').next());
        if let Some(address) = address {
            return address.to_owned();
        }
        assert!(Instant::now() < patience, "no address of a link: {text}");
        thread::sleep(Duration::from_millis(100));
    }
}

#[test]
fn a_cable_with_nothing_but_addresses_of_the_link_is_measured_over() {
    let Some(lab) = Lab::builder().start() else {
        return;
    };
    let ssh = format!("ssh -F {}", lab.ssh_config().display());
    let agent = udpbench();
    let reached = ["board", "--rsh", &ssh, "--agent", &agent, "--ip", "v6"];
    let words = |address: &str, more: &str| -> Vec<String> {
        let more = format!("--address {address} {more}");
        let words = reached.into_iter().chain(more.split_whitespace());
        words.map(str::to_owned).collect()
    };
    let run = |place: &Place, address: &str, more: &str| {
        let words = words(address, more);
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        wire(&lab, place, &words)
    };
    of_the_link(&lab, End::Near);
    let remote = of_the_link(&lab, End::Far);
    let place = Place::new();
    let output = run(&place, &remote, "");
    assert_code(&output, 2);
    let typed = format!("--address {remote}%eth0");
    assert!(stderr(&output).contains(&typed), "{}", stderr(&output));

    let named = format!("{remote}%eth0");
    for more in [
        "--connection connected,unconnected --direction up,down,both",
        "--workload rr",
    ] {
        let place = Place::new();
        let output = run(&place, &named, more);
        assert!(output.status.success(), "{}", stderr(&output));
        let rows = rows(&place.path("out.csv"));
        assert!(rows.len() >= 2, "{rows:?}");
        for row in rows {
            assert_eq!(row.status, Status::Ok, "{row:?}");
            assert_eq!(row.address.to_string(), named);
        }
    }

    let output = run(&Place::new(), &format!("{remote}%eth9"), "");
    assert_code(&output, 2);
    assert!(stderr(&output).contains(&typed), "{}", stderr(&output));
}

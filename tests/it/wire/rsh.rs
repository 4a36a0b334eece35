//! The command that runs programs on the remote host (`--rsh`): ssh, commands that enter a namespace or a container,
//! and their failures.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};
use std::time::Instant;

use udpbench::VERSION;
use udpbench::trial::message::{self, Hello, PROTOCOL};

use super::ends::{GONE, command_line, processes};
use super::reach::{SHORT, alone, assert_measured, udpbench, wire};
use crate::common::lab::{End, Lab};
use crate::common::{Place, assert_code, stderr, wait_until};

fn refused(place: &Place, words: &str, code: i32) -> String {
    let output = place.run(words);
    let said = stderr(&output);
    assert_eq!(output.status.code(), Some(code), "{words}: {said}");
    assert!(!place.path("out.csv").exists(), "{words}: {said}");
    said
}

#[test]
fn a_host_that_ssh_cannot_reach_is_named_with_what_ssh_said() {
    let place = Place::new();
    let says = "ssh: Could not resolve hostname nosuchhost: Name or service not known";
    place.script("ssh", &format!("echo '{says}' >&2; exit 255"));
    for (more, ran) in [
        ("--agent udpbench", "udpbench agent"),
        ("", "echo"),
        ("--deploy", "echo"),
    ] {
        let said = refused(&place, &format!("wire nosuchhost --rsh ./ssh {more}"), 1);
        assert!(said.contains(says), "{said}");
        let expected = format!("`./ssh nosuchhost {ran}` ended with exit status: 255");
        assert!(said.contains(&expected), "{said}");
        assert!(!said.contains("missing"), "{said}");
        assert!(said.contains("above"), "{said}");
    }
}

#[test]
fn where_udpbench_is_missing_there_the_command_and_the_fix_are_told() {
    let place = Place::new();
    let enter = place.script(
        "enter",
        "echo 'Have a \x1b[1mnice\x1b[0m day'; shift; exec \"$@\"",
    );
    let said = refused(
        &place,
        "wire board --rsh ./enter --agent /nowhere/udpbench",
        1,
    );
    assert!(said.contains("not found"), "{said}");
    let expected = "`./enter board /nowhere/udpbench agent` ended with exit status: 127: where udpbench is missing there, \
                    let --deploy copy it, or name it by --agent PATH";
    assert!(said.contains(expected), "{said}");
    assert!(
        said.contains(r#"but says "Have a \u{1b}[1mnice\u{1b}[0m day""#),
        "{said}"
    );
    fs::remove_file(enter).expect("it is there");
    let said = refused(&place, "wire board --rsh ./enter", 1);
    assert!(said.contains("`./enter board echo` ended with"), "{said}");
}

#[test]
fn a_host_that_looks_like_an_option_is_refused() {
    let place = Place::new();
    place.script("ssh", "touch ran");
    for host in ["-oProxyCommand=x", ""] {
        let mut command = place.udpbench("wire --rsh ./ssh --");
        let output = command.arg(host).output().expect("it starts");
        let said = stderr(&output);
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(
            said.contains(host) && said.contains("name a host"),
            "{said}"
        );
    }
    let mut command = place.udpbench("wire board --rsh");
    let output = command.arg(" ").output().expect("it starts");
    assert_code(&output, 2);
    assert!(!place.path("ran").exists());
}

#[test]
fn the_variable_names_the_command_unless_the_option_does() {
    let place = Place::new();
    place.script("one", "echo one $* >&2; exit 1");
    place.script("other", "echo other $* >&2; exit 1");
    for (option, expected) in [
        ("", "one board echo ''\n"),
        ("--rsh ./other", "other board echo ''\n"),
    ] {
        let mut command = place.udpbench(&format!("wire board {option}"));
        let output = command.env("UDPBENCH_RSH", "./one").output();
        let said = stderr(&output.expect("it starts"));
        assert!(said.starts_with(expected), "{said}");
    }
}

/// Another release that speaks the same messages, and one that does not.
#[test]
fn another_version_there_is_refused_with_both_versions_and_the_fix() {
    for protocol in [PROTOCOL, PROTOCOL + 1] {
        let place = Place::new();
        let other = Hello {
            protocol,
            version: "9.9.9".to_owned(),
            ..Hello::own()
        };
        let mut greeting = Vec::new();
        message::write_hello(&mut greeting, &other).expect("into memory");
        fs::write(place.path("greeting"), greeting).expect("a new file");
        place.script("enter", "echo Welcome; cat greeting");
        let said = refused(&place, "wire board --rsh ./enter", 1);
        for part in [
            "board",
            "udpbench 9.9.9",
            VERSION,
            "install the same",
            "--deploy",
        ] {
            assert!(said.contains(part), "{part}: {said}");
        }
    }
}

#[test]
fn what_the_other_host_prints_first_is_skipped() {
    let Some(lab) = Lab::builder().start() else {
        return;
    };
    let place = Place::new();
    let ssh = format!(
        "head -c 60000 /dev/zero | tr '\\0' '\\n'; echo 'Last login'; exec ssh -F {} \"$@\"",
        lab.ssh_config().display()
    );
    let noisy = place.script("noisy", &ssh).display().to_string();
    let words = ["board", "--rsh", &noisy, "--agent", &udpbench()];
    assert_measured(&place, &wire(&lab, &place, &words));
}

/// Measures with what runs a command in the namespaces of a process there, as `ip netns exec` does, and knows no shell.
fn by_nsenter(lab: &Lab, place: &Place, words: &[&str]) -> Command {
    let netns = lab.netns(End::Far).display().to_string();
    let pid = netns.split('/').nth(2).expect("a pid");
    fs::create_dir_all(place.path("a home")).expect("a directory");
    let mut command = lab.near(alone(place).to_str().expect("UTF-8"));
    command.args(["wire", pid, "--rsh", "nsenter --net --mount --target"]);
    command.args(words);
    // What whoever came here by ssh has: nothing of the way from here to there.
    command.env("SSH_CONNECTION", "203.0.113.7 51234 203.0.113.9 22");
    command.env("HOME", place.path("a home"));
    command.current_dir(place.path("."));
    command
}

fn wire_by_nsenter(lab: &Lab, place: &Place, words: &[&str]) -> Output {
    let mut command = by_nsenter(lab, place, words);
    let output = command.args(SHORT.split_whitespace()).output();
    output.expect("it can be started")
}

#[test]
fn a_network_namespace_is_reached_without_ssh() {
    let Some(lab) = Lab::builder().start() else {
        return;
    };
    let place = Place::new();
    let address = lab.ipv4(End::Far).to_string();
    let unnamed = wire_by_nsenter(&lab, &place, &["--agent", &udpbench()]);
    assert_code(&unnamed, 2);
    let fix = format!("name one by --address; it has {address} on eth0");
    assert!(stderr(&unnamed).contains(&fix), "{}", stderr(&unnamed));

    // Its words are quoted for no shell, and there is a space in the name of the directory.
    let output = wire_by_nsenter(&lab, &place, &["--deploy", "--address", &address]);
    assert_measured(&place, &output);
    let remote = concat!("a home/.cache/udpbench/", env!("CARGO_PKG_VERSION"));
    assert!(place.path(remote).join("udpbench").is_file());
}

#[test]
fn without_ssh_a_controller_that_is_killed_leaves_nothing() {
    let Some(lab) = Lab::builder().start() else {
        return;
    };
    let place = Place::new();
    let (address, agent) = (lab.ipv4(End::Far).to_string(), udpbench());
    let words = ["--address", &address, "--agent", &agent, "--full"];
    let mut command = by_nsenter(&lab, &place, &words);
    let mut controller = command
        .args(["-q", "-o", "out.csv"])
        .spawn()
        .expect("it can be started");
    let agents = || {
        let pids = processes(&lab).into_iter();
        pids.filter(|pid| command_line(*pid).contains(" agent "))
            .count()
    };
    // The one that was started, and the one that runs trials.
    wait_until("a trial", || agents() >= 2);
    controller.kill().expect("it runs");
    controller.wait().expect("it is reaped");
    let since = Instant::now();
    wait_until("the end of all", || agents() == 0);
    assert!(since.elapsed() < GONE, "{:?}", since.elapsed());
}

/// A container with nothing of its own but a network, which ends with this.
struct Container(String);

impl Container {
    const IMAGE: &str = "udpbench-test-empty";

    fn start(place: &Place) -> Result<Self, String> {
        let empty = format!(
            "tar -c --files-from /dev/null | docker import - {}",
            Self::IMAGE
        );
        docker(Command::new("sh").args(["-c", &empty]))?;
        let mut run = Command::new("docker");
        run.args(["run", "--detach", "--rm", "--init", "--workdir", "/"]);
        for directory in ["/bin", "/lib", "/lib64", "/usr"] {
            if PathBuf::from(directory).exists() {
                run.arg(format!("--volume={directory}:{directory}:ro"));
            }
        }
        run.arg(format!("--volume={}:/root", place.path("home").display()));
        run.args([Self::IMAGE, "sleep", "600"]);
        docker(&mut run).map(Self)
    }

    fn address(&self) -> Result<String, String> {
        let format = "{{range .NetworkSettings.Networks}}{{.IPAddress}}{{end}}";
        let mut inspect = Command::new("docker");
        let address = docker(inspect.args(["inspect", "--format", format, &self.0]))?;
        if address.is_empty() {
            return Err("the container has no network".to_owned());
        }
        Ok(address)
    }
}

impl Drop for Container {
    fn drop(&mut self) {
        let _ = docker(Command::new("docker").args(["kill", &self.0]));
        let _ = docker(Command::new("docker").args(["rmi", Self::IMAGE]));
    }
}

/// Returns what it prints, or why it failed.
fn docker(command: &mut Command) -> Result<String, String> {
    let output = command.stdin(Stdio::null()).output();
    let output = output.map_err(|error| format!("there is no docker: {error}"))?;
    if !output.status.success() {
        return Err(stderr(&output));
    }
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

#[test]
fn a_container_is_reached_by_docker_exec() {
    let place = Place::new();
    fs::create_dir(place.path("home")).expect("a new directory");
    let started = Container::start(&place).and_then(|it| Ok((it.address()?, it)));
    let (address, container) = match started {
        Ok(started) => started,
        Err(reason) => return eprintln!("SKIPPED: no container can be had here: {reason}"),
    };
    let mut command = Command::new(alone(&place));
    command.args(["wire", &container.0, "--rsh", "docker exec -i", "--deploy"]);
    command.args(["--address", &address]);
    command.args(SHORT.split_whitespace());
    command.current_dir(place.path("."));
    assert_measured(&place, &command.output().expect("it can be started"));
}

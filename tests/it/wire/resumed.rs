//! Resumption of what was measured over an address that ssh does not know, with the command that was printed.

use std::fs;
use std::process::Stdio;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::reach::udpbench;
use crate::common::lab::{End, Lab};
use crate::common::{Place, assert_code, stderr, wait_until};

#[test]
fn what_went_over_a_typed_address_goes_on_over_it() {
    let Some(lab) = Lab::builder().start() else {
        return;
    };
    let place = Place::new();
    let far = lab.far("true");
    let enter = far.get_program().to_str().expect("UTF-8");
    place.script("enter", &format!("shift\nexec {enter} \"$@\""));
    let case = "--engine std --threads 2 --payload 300 --pin 0:1 --direction up";
    for (experiment, options, log) in [
        ("", "--rounds 6 --duration 3s --heat 0s -o a.csv", "a.jsonl"),
        (
            "latency ",
            "--rounds 6 --duration 600ms -o b.csv",
            "b.jsonl",
        ),
        ("find lossless ", "--max-case-time 5s -o c.jsonl", "c.jsonl"),
        ("soak ", "--for 4s -o d.jsonl", "d.jsonl"),
    ] {
        let case = if experiment == "soak " { "" } else { case };
        let (agent, address) = (udpbench(), lab.ipv4(End::Far));
        let words = format!(
            "wire board --rsh ./enter --agent {agent} {experiment}--address {address} {case} {options} -q"
        );
        let mut measuring = lab.near(&udpbench());
        measuring
            .args(words.split_whitespace())
            .current_dir(place.path("."));
        measuring.stderr(Stdio::piped());
        let mut measuring = measuring.spawn().expect("it can be started");
        // A soak writes its first minute when that is over.
        let frames = || lab.link(End::Far)["stats64"]["rx"]["packets"].as_u64();
        let before = frames();
        let is_measuring = || match experiment {
            "soak " => frames() > before.map(|before| before + 1000),
            _ => lines_of(&place, log) > 1,
        };
        wait_until("something is measured", || {
            is_measuring() || matches!(measuring.try_wait(), Ok(Some(_)))
        });
        let pid = Pid::from_raw(measuring.id().try_into().expect("a pid"));
        // Nothing is there to be killed if it was refused.
        let _ = kill(pid, Signal::SIGINT);
        let output = measuring.wait_with_output().expect("it ends");
        assert_code(&output, 130);
        let said = stderr(&output);
        let command = said.lines().find(|line| line.contains(" resume "));
        let (_, command) = command
            .and_then(|line| line.split_once("udpbench "))
            .expect("a command");
        let mut again = lab.near("sh");
        again.args(["-c", &format!("{agent} {command}")]);
        let output = again.current_dir(place.path(".")).output();
        let output = output.expect("it can be started");
        let is_measured = matches!(output.status.code(), Some(0 | 4));
        assert!(is_measured, "{words}\n{command}\n{}", stderr(&output));
    }
}

fn lines_of(place: &Place, log: &str) -> usize {
    fs::read_to_string(place.path(log)).map_or(0, |log| log.lines().count())
}

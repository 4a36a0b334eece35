//! Settings that are tried and restored: on a machine made of files, without privilege, and on the real one (ignored by
//! default).

use std::fs;
use std::process::{Child, Stdio};
use std::thread;
use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;
use udpbench::sys::nic::{Changeable, Ethtool};

use super::alone;
use crate::common::lab::{End, Lab};
use crate::common::{Place, assert_code, json_rows, program, stderr, stdout, wait_until};

const GOVERNOR: &str = "root/sys/devices/system/cpu/cpufreq/policy0/scaling_governor";
const RPS: &str = "root/sys/class/net/lo/queues/rx-0/rps_cpus";
/// On the machine that is made of files, soon.
const SOON: &str = "find tuning --root root --engine null --workload flood --board generic --trial 20ms --warmup 1ms \
                    --rounds 12";

/// Four CPUs whose clocks fall, and a loopback interface.
fn machine() -> Place {
    let place = Place::new();
    for (file, text) in [
        ("root/sys/devices/system/cpu/online", "0-3\n"),
        (GOVERNOR, "ondemand\n"),
        (RPS, "00000000\n"),
    ] {
        let path = place.path(file);
        fs::create_dir_all(path.parent().expect("a directory")).expect("created");
        fs::write(path, text).expect("written");
    }
    place
}

fn text(place: &Place, file: &str) -> String {
    let text = fs::read_to_string(place.path(file));
    text.expect("it is there").trim_end().to_owned()
}

/// Returns the number of trials in a log. Next to other programs, nothing may be received in some.
fn outcomes(log: &str) -> usize {
    log.matches(r#"{"window":"#).count() + log.matches(r#"{"failed":"#).count()
}

/// Returns whether all settings are what they were.
fn is_as_before(place: &Place) -> bool {
    text(place, GOVERNOR) == "ondemand" && ["0", "00000000"].contains(&&*text(place, RPS))
}

/// Returns each setting that has a verdict, with its workload.
fn judged(json: &str) -> Vec<String> {
    let rows = json_rows(json);
    let settings = rows.iter().filter(|row| row["kind"] == "setting");
    let label = |row: &Value| row["label"].as_str().expect("text").to_owned();
    settings.map(label).collect()
}

/// Returns the row of a case with this setting.
fn of(json: &str, setting: &str) -> Value {
    let mut rows = json_rows(json).into_iter();
    let is_it = |row: &Value| row["kind"] == "case" && row["label"] == format!("{setting}, flood");
    rows.find(is_it).expect("a row")
}

/// A search, once it has changed a setting.
fn in_the_middle(place: &Place, words: &str) -> Child {
    let mut command = place.udpbench(&format!("{SOON} --yes -q {words}"));
    let child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn();
    let child = child.expect("it starts");
    wait_until("the governor is tried", || {
        text(place, GOVERNOR) == "performance"
    });
    child
}

fn signal(child: &Child, signal: Signal) {
    let pid = child.id().try_into().expect("a pid");
    kill(Pid::from_raw(pid), signal).expect("it is there");
}

#[test]
fn without_yes_nothing_is_touched_and_it_is_shown_what_would_be() {
    let place = machine();
    let output = place.run(SOON);
    assert_code(&output, 0);
    let plan = stdout(&output);
    for said in [
        "rps       lo/queues/rx-0/rps_cpus   00000000  f ",
        "governor  policy0/scaling_governor  ondemand  performance",
        "not tried: xps: lo has one transmit queue",
        "not tried: gro, coalescing, eee, ring: lo has no driver",
        "Nothing was touched. Add --yes",
    ] {
        assert!(plan.contains(said), "{said}: {plan}");
    }
    let table = plan.split("\n\n").next().expect("the table");
    assert!(table.lines().all(|line| line.len() <= 100), "{plan}");
    assert_eq!(text(&place, RPS), "00000000");
    assert!(is_as_before(&place));
    assert_eq!(place.files(), ["root"], "no log");
}

#[test]
fn settings_are_as_before_after_a_search_whose_log_says_the_same_again() {
    let place = machine();
    let output = place.run(&format!(
        "{SOON} --yes --setting rps,governor,control -o log.jsonl --format json"
    ));
    assert_code(&output, 0);
    assert!(is_as_before(&place));
    let shown = stderr(&output);
    assert!(
        shown.contains("why it might help"),
        "the plan first: {shown}"
    );
    let json = stdout(&output);
    let settings = ["control, flood", "governor, flood", "rps, flood"];
    assert_eq!(judged(&json), settings);
    for row in json_rows(&json) {
        assert_eq!(row["rounds"], 12, "{row}");
    }
    let log = fs::read_to_string(place.path("log.jsonl")).expect("the log");
    assert_eq!(outcomes(&log), 72);

    // Settings do not matter to what is complete, nor is anything touched.
    let again = place.run("resume log.jsonl --root none -q --format json");
    assert_eq!(stdout(&again), json);
    let csv = stdout(&place.run("resume log.jsonl -q --format csv"));
    assert!(csv.starts_with("kind,label,part,case,"), "{csv}");
    let table = stdout(&place.run("resume log.jsonl -q"));
    assert!(table.contains("verdict"), "{table}");
    assert!(table.lines().all(|line| line.len() <= 100), "{table}");
}

#[test]
fn a_second_search_says_who_was_first_and_changes_nothing() {
    let place = machine();
    let mut first = in_the_middle(&place, "-o log.jsonl");
    let second = place.run(&format!("{SOON} --yes --setting rps -o second.jsonl"));
    let errors = stderr(&second);
    assert_eq!(second.status.code(), Some(2), "{errors}");
    let pid = first.id();
    assert!(errors.contains(&format!("(process {pid})")), "{errors}");
    assert!(errors.contains("nothing was changed"), "{errors}");
    assert!(!place.path("second.jsonl").exists());
    // Whatever ends the first one, its watchdog has the lock until all is put back.
    signal(&first, Signal::SIGKILL);
    first.wait().expect("it ends");
    let third = place.run(&format!("{SOON} --yes --setting rps -o third.jsonl"));
    assert_code(&third, 0);
    let said = "read back: all settings are as they were";
    assert!(stderr(&third).contains(said), "{}", stderr(&third));
    assert!(is_as_before(&place));
    let log = fs::read_to_string(place.path("third.jsonl")).expect("a log");
    assert!(
        log.contains(r#""before":"00000000""#) || log.contains(r#""before":"0""#),
        "{log}"
    );
}

#[test]
fn settings_are_as_before_however_it_ends_and_the_search_goes_on() {
    for (ending, code) in [
        (Signal::SIGINT, Some(130)),
        (Signal::SIGTERM, Some(143)),
        (Signal::SIGKILL, None),
    ] {
        let place = machine();
        let child = in_the_middle(&place, "-o log.jsonl");
        signal(&child, ending);
        let output = child.wait_with_output().expect("it ends");
        assert_eq!(output.status.code(), code);
        if code.is_some() {
            assert!(is_as_before(&place), "{ending}: when it has ended");
        }
        wait_until("the watchdog puts it back", || is_as_before(&place));

        let words = "resume log.jsonl --root root --format json -q";
        fs::write(place.path(GOVERNOR), "schedutil\n").expect("written");
        let refused = place.run(words);
        assert_eq!(refused.status.code(), Some(2));
        let errors = stderr(&refused);
        let said = "log.jsonl, line 1: /sys/devices/system/cpu/cpufreq/policy0/scaling_governor is schedutil, and was ondemand";
        assert!(errors.contains(said), "{errors}");
        assert_eq!(text(&place, GOVERNOR), "schedutil");
        fs::write(place.path(GOVERNOR), "ondemand\n").expect("written");

        let output = place.run(words);
        assert_code(&output, 0);
        assert_eq!(judged(&stdout(&output)).len(), 2);
        assert!(is_as_before(&place));
    }
}

#[test]
fn what_somebody_else_sets_is_left_as_it_is_given_up_and_said() {
    let place = machine();
    let longer = SOON.replace("--rounds 12", "--rounds 1000");
    let words = format!("{longer} --max-case-time 1h --yes --setting rps,governor -o log.jsonl");
    let mut search = place.udpbench(&words);
    let search = search.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let search = search.expect("it starts");
    wait_until("RPS is tried", || text(&place, RPS) == "f");
    fs::write(place.path(RPS), "2\n").expect("written");
    // It goes on with the other setting, whose log grows.
    let log = || fs::read_to_string(place.path("log.jsonl")).unwrap_or_default();
    let is_said =
        |text: &str| text.contains("somebody else set it to 2") || text.contains("is 2, and was 0");
    wait_until("it is given up", || is_said(&log()));
    let governors = || log().matches(r#""side":"b","tuning":1,"#).count();
    let before = governors();
    wait_until("the other setting goes on", || governors() > before);
    signal(&search, Signal::SIGINT);
    let output = search.wait_with_output().expect("it ends");
    assert_eq!(text(&place, RPS), "2", "never overwritten");
    assert_eq!(text(&place, GOVERNOR), "ondemand");
    let errors = stderr(&output);
    let said = "left as somebody else has set it: /sys/class/net/lo/queues/rx-0/rps_cpus is 2, and was 00000000";
    assert!(errors.contains(said), "{errors}");
    assert!(
        !errors.contains("all settings are as they were"),
        "{errors}"
    );
}

#[test]
fn a_value_that_somebody_else_sets_as_it_would_be_tried_is_left_without_an_error() {
    let place = machine();
    let longer = SOON.replace("--rounds 12", "--rounds 1000");
    let words = format!("{longer} --max-case-time 1h --yes --setting rps,governor -o log.jsonl");
    let mut search = place.udpbench(&words);
    let search = search.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let search = search.expect("it starts");
    let log = || fs::read_to_string(place.path("log.jsonl")).unwrap_or_default();
    wait_until("it is given up", || {
        // One setting is tried at a time.
        if text(&place, GOVERNOR) == "performance" {
            fs::write(place.path(RPS), "f\n").expect("written");
        }
        log().contains("rps_cpus is f, and was 00000000")
    });
    signal(&search, Signal::SIGINT);
    let output = search.wait_with_output().expect("it ends");
    let errors = stderr(&output);
    let said = "left as somebody else has set it: /sys/class/net/lo/queues/rx-0/rps_cpus is f, and was 00000000";
    assert!(errors.contains(said), "{errors}");
    assert!(!errors.contains("error: "), "{errors}");
    assert_eq!(output.status.code(), Some(130), "Ctrl-C: {errors}");
    assert_eq!(text(&place, RPS), "f");
}

#[test]
fn how_to_resume_after_an_error_is_a_line_of_its_own() {
    let place = machine();
    let longer = SOON.replace("20ms", "200ms");
    let mut search = place.udpbench(&format!("{longer} --yes --setting rps -o log.jsonl"));
    let search = search.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let search = search.expect("it starts");
    wait_until("RPS is tried", || text(&place, RPS) == "f");
    fs::remove_file(place.path(RPS)).expect("it is there");
    fs::create_dir(place.path(RPS)).expect("it was removed");
    let output = search.wait_with_output().expect("it ends");
    assert_code(&output, 1);
    let errors = stderr(&output);
    let begins = |start: &str| errors.lines().any(|line| line.starts_with(start));
    assert!(begins("error: not put back: "), "{errors}");
    assert!(begins("resume with: udpbench resume log.jsonl"), "{errors}");
}

#[test]
fn a_setting_whose_interface_is_removed_is_given_up_and_the_others_go_on() {
    let place = machine();
    let longer = SOON.replace("20ms", "100ms");
    let words = format!("{longer} --yes --setting rps,governor -o log.jsonl --format json");
    let mut search = place.udpbench(&words);
    let search = search.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let search = search.expect("it starts");
    wait_until("RPS is tried", || text(&place, RPS) == "f");
    let interface = place.path("root/sys/class/net/lo");
    fs::rename(interface, place.path("removed")).expect("it is there");
    let output = search.wait_with_output().expect("it ends");
    assert_code(&output, 0);
    let errors = stderr(&output);
    let said = "/sys/class/net/lo/queues/rx-0/rps_cpus is gone";
    assert!(errors.lines().any(|line| line == said), "{errors}");
    assert!(
        !errors.contains("by hand") && !errors.contains("as they were"),
        "{errors}"
    );
    let json = stdout(&output);
    assert_eq!(of(&json, "rps")["reason"], format!("given up: {said}"));
    assert_eq!(of(&json, "governor")["rounds"], 12);
    assert_eq!(text(&place, GOVERNOR), "ondemand");
}

#[test]
fn a_killed_search_leaves_what_somebody_else_set() {
    let place = machine();
    let mut child = in_the_middle(&place, "-o log.jsonl");
    wait_until("RPS is tried", || text(&place, RPS) == "f");
    fs::write(place.path(RPS), "2\n").expect("written");
    signal(&child, Signal::SIGKILL);
    child.wait().expect("it ends");
    wait_until("the watchdog puts the rest back", || {
        text(&place, GOVERNOR) == "ondemand"
    });
    assert_eq!(text(&place, RPS), "2");
}

/// The machine that is made of files as another host, and the words that have it measured.
fn remote_host() -> (Place, &'static str) {
    let place = machine();
    let udpbench = program();
    let udpbench = udpbench.get_program().to_str().expect("UTF-8");
    for (name, line) in [
        ("enter", "shift; exec \"$@\"".to_owned()),
        ("there", format!("exec {udpbench} \"$@\" --root root")),
    ] {
        place.script(name, &line);
    }
    (place, "--on board --rsh ./enter --agent ./there")
}

#[test]
fn settings_of_another_host_are_tried_there_and_put_back() {
    let (place, remote) = remote_host();
    // None of this machine is touched.
    let soon = format!("{} {remote}", SOON.replace("--root root", "--root none"));
    let output = place.run(&soon);
    assert_code(&output, 0);
    let plan = stdout(&output);
    assert!(plan.starts_with("settings of board:\n"), "{plan}");
    assert!(plan.contains("ondemand  performance"), "{plan}");
    let words = "--yes --setting rps,governor,control -o log.jsonl --format json";
    let output = place.run(&format!("{soon} {words}"));
    assert_code(&output, 0);
    let said = "read back: all settings are as they were";
    assert!(stderr(&output).contains(said), "{}", stderr(&output));
    assert!(is_as_before(&place));
    assert_eq!(judged(&stdout(&output)).len(), 3);
    let log = fs::read_to_string(place.path("log.jsonl")).expect("the log");
    assert_eq!(outcomes(&log), 72, "{log}");
    assert!(!log.contains("setting_"), "none failed: {log}");
}

#[test]
fn settings_of_another_host_are_locked_there_and_put_back_by_its_watchdog() {
    let (place, remote) = remote_host();
    let mut first = in_the_middle(&place, &format!("{remote} -o log.jsonl"));
    let second = place.run(&format!("{SOON} {remote} --yes -o second.jsonl"));
    let errors = stderr(&second);
    assert_eq!(second.status.code(), Some(2), "{errors}");
    assert!(errors.contains("nothing was changed"), "{errors}");
    signal(&first, Signal::SIGKILL);
    first.wait().expect("it ends");
    wait_until("the watchdog puts it back", || is_as_before(&place));
    let output = place.run("resume log.jsonl --format json");
    assert_code(&output, 0);
    assert_eq!(judged(&stdout(&output)).len(), 2);
    assert!(is_as_before(&place));
    // Ctrl-C ends the agent there.
    let first = in_the_middle(&place, &format!("{remote} -o third.jsonl"));
    signal(&first, Signal::SIGINT);
    let output = first.wait_with_output().expect("it ends");
    assert_code(&output, 130);
    let said = "settings there were not read back";
    assert!(stderr(&output).contains(said), "{}", stderr(&output));
    wait_until("the watchdog puts it back", || is_as_before(&place));
}

#[test]
fn without_its_watchdog_it_changes_nothing_more_and_puts_back_what_it_has() {
    let place = machine();
    let child = in_the_middle(&place, "-o log.jsonl");
    let watchdog = watchdog_of(child.id()).expect("it has one");
    kill(Pid::from_raw(watchdog), Signal::SIGKILL).expect("it is there");
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(1));
    let errors = stderr(&output);
    assert!(
        errors.contains("the watchdog has ended") && errors.contains("resume log.jsonl"),
        "{errors}"
    );
    assert!(is_as_before(&place));
}

/// The child of a process that is a watchdog, by proc_pid_stat(5).
fn watchdog_of(parent: u32) -> Option<i32> {
    let processes = fs::read_dir("/proc").expect("it is there").flatten();
    let pids = processes.filter_map(|it| it.file_name().to_str()?.parse::<i32>().ok());
    let is_one = |pid: &i32| {
        let read = |file| fs::read_to_string(format!("/proc/{pid}/{file}")).unwrap_or_default();
        let stat = read("stat");
        let after_name = stat.rsplit(')').next().unwrap_or_default();
        after_name.split_whitespace().nth(1) == Some(&parent.to_string())
            && read("cmdline").contains("put-back")
    };
    let mut found = pids.filter(is_one);
    found.next()
}

#[test]
fn what_cannot_be_set_or_is_set_by_others_is_left_out_with_the_reason() {
    let place = machine();
    fs::write(place.path(RPS), "3\n").expect("written");
    fs::write(place.path(GOVERNOR), "performance\n").expect("written");
    let plan = stdout(&place.run(SOON));
    assert!(
        plan.contains("lo/queues/rx-0/rps_cpus  3  "),
        "off, where it is on: {plan}"
    );
    assert!(
        plan.contains("scaling_governor: it is performance"),
        "{plan}"
    );

    // Not even root can write this one; others are told before.
    fs::remove_file(place.path(GOVERNOR)).expect("removed");
    std::os::unix::fs::symlink("/proc/version", place.path(GOVERNOR)).expect("a link");
    let output = place.run(&format!(
        "{SOON} --yes --setting rps,governor -q -o log.jsonl --format json"
    ));
    assert_code(&output, 0);
    let json = stdout(&output);
    assert_eq!(of(&json, "rps")["rounds"], 12);
    assert_eq!(judged(&json), ["rps, flood"]);
    assert_eq!(text(&place, RPS), "3");
}

#[test]
fn what_makes_no_sense_is_refused_and_touches_nothing() {
    let place = machine();
    for (words, said) in [
        ("--setting rsp", "possible values: rps, xps"),
        (
            "--setting xps",
            "--setting xps: none of them can be tried here",
        ),
        ("--rounds 3", "use a number from 12 to 1000"),
        ("--trial 1us", "--trial"),
        ("--rate 20k", "a search has rates of its own"),
        ("--workload bidir", "use flood or rr"),
    ] {
        let output = place.run(&format!("find tuning --root root --yes {words}"));
        let errors = stderr(&output);
        assert_eq!(output.status.code(), Some(2), "{words}: {errors}");
        assert!(errors.contains(said), "{words}: {errors}");
    }
    assert!(is_as_before(&place));
    assert_eq!(place.files(), ["root"]);
}

/// Across the wire of a lab: the command, to which options of the search are added.
fn on_a_wire(lab: &Lab, place: &Place, words: &str) -> std::process::Command {
    let udpbench = program();
    let program = udpbench.get_program().to_str().expect("UTF-8");
    let mut command = lab.near(program);
    let ssh = format!("ssh -F {}", lab.ssh_config().display());
    command.args(["wire", "board", "--rsh", &ssh, "--agent", program]);
    let common = "--engine std --direction up --pin 0:1 -q --format json";
    command.args(format!("find tuning {words} {common}").split_whitespace());
    command.current_dir(place.path("."));
    command
}

/// RPS and GRO of the near end.
fn state(lab: &Lab) -> (String, String) {
    let link = lab.link(End::Near);
    let interface = link["ifname"].as_str().expect("a name");
    let file = format!("/sys/class/net/{interface}/queues/rx-0/rps_cpus");
    let output = lab.near("cat").arg(file).output().expect("cat");
    let gro = lab.within(End::Near, || {
        Changeable::Gro.read(&Ethtool::open(interface).expect("a socket"))
    });
    (
        stdout(&output).trim_end().to_owned(),
        gro.expect("veth has it"),
    )
}

/// As root: `cargo test --release --test find -- --ignored --nocapture after_50_sigkills`.
#[test]
#[ignore = "takes some minutes, and needs root"]
fn the_state_is_the_same_after_50_sigkills_at_random_moments() {
    let _alone = alone();
    let Some(lab) = Lab::builder().start() else {
        return;
    };
    let place = Place::new();
    let before = state(&lab);
    let mut dice = fastrand::Rng::with_seed(7);
    let mut changed = 0;
    let words =
        "--setting rps,gro --rounds 1000 --trial 20ms --warmup 5ms --max-case-time 1h --yes";
    for n in 0..50 {
        let mut command = on_a_wire(&lab, &place, &format!("{words} -o log{n}.jsonl"));
        let child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn();
        let mut child = child.expect("it starts");
        let log = place.path(&format!("log{n}.jsonl"));
        let lines = || fs::read_to_string(&log).map_or(0, |text| text.lines().count());
        wait_until("the first trial", || lines() > 1);
        thread::sleep(Duration::from_millis(dice.u64(0..1000)));
        changed += u32::from(state(&lab) != before);
        signal(&child, Signal::SIGKILL);
        child.wait().expect("it is reaped");
        wait_until("the watchdog puts it back", || state(&lab) == before);
        // Nor does anything change it once more.
        thread::sleep(Duration::from_millis(50));
        assert_eq!(state(&lab), before, "after {n}");
    }
    println!(
        "{before:?} before and after 50 SIGKILLs; {changed} came soon after it was seen changed"
    );
    assert!(changed > 0, "it was never changed");
}

/// On a quiet machine: `cargo test --release --test find -- --ignored --nocapture of_40_controls`.
#[test]
#[ignore = "takes ten minutes, and a machine where nothing else runs"]
fn of_40_controls_39_make_no_difference() {
    let _alone = alone();
    let mut differ = 0;
    for n in 0..40 {
        let place = Place::new();
        let words =
            "find tuning --yes --setting control --workload flood -q -o log.jsonl --format json";
        let output = place.run(words);
        assert!(output.status.success(), "{}", stderr(&output));
        let row = of(&stdout(&output), "control");
        println!(
            "{n}: {} {} to {}",
            row["verdict"], row["change_pct_low"], row["change_pct_high"]
        );
        differ += u32::from(row["verdict"] == "slower" || row["verdict"] == "faster");
    }
    assert!(differ <= 1, "{differ} of 40");
}

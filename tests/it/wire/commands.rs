//! Commands of README, FIRST-BOARD and of the last lines of runs, typed as they stand: the laptop has the program, the
//! board has what `--deploy` or scp put there.

use std::fs;
use std::process::Output;

use crate::common::lab::{End, Lab};
use crate::common::pages::root;
use crate::common::{Place, assert_code, copy_program, stderr, stdout, words};
use crate::shown_commands::{code_lines, inline_codes};

/// Added to what measures: shorter, and on a CPU for each end.
const SHORT: [(&str, &str); 6] = [
    ("--heat", "0s"),
    ("--warmup", "5ms"),
    ("--rounds", "5"),
    ("--duration", "20ms"),
    ("--threads", "2"),
    ("--pin", "0:1"),
];

/// A laptop whose ssh knows one board, whatever its name is. Each has a home directory.
struct Desk {
    lab: Lab,
    place: Place,
}

impl Desk {
    fn new() -> Option<Self> {
        let lab = Lab::builder().start()?;
        let place = Place::new();
        for directory in ["bin", "laptop", "board"] {
            fs::create_dir(place.path(directory)).expect("a new directory");
        }
        // Beside no `target/`, from which --deploy would take another build.
        copy_program(&place.path("bin/udpbench"));
        let ssh = format!(
            "shift; exec /usr/bin/ssh -F {} board \"export HOME={home}; cd {home}; $*\"",
            lab.ssh_config().display(),
            home = place.path("board").display()
        );
        place.script("bin/ssh", &ssh);
        Some(Self { lab, place })
    }

    /// What step 2 of FIRST-BOARD does: `scp udpbench board:`.
    fn copy_to_the_board(&self) {
        copy_program(&self.place.path("board/udpbench"));
    }

    fn run(&self, end: End, command: &str) -> Output {
        let (home, first) = match end {
            End::Near => ("laptop", self.place.path("bin").display().to_string() + ":"),
            End::Far => ("board", String::new()),
        };
        let home = self.place.path(home);
        let path = format!("{first}/usr/sbin:/usr/bin:/sbin:/bin");
        let mut shell = self.lab.near("sh");
        if end == End::Far {
            shell = self.lab.far("sh");
        }
        shell.args(["-c", command]).current_dir(&home);
        let shell = shell.env("HOME", home).env("PATH", path);
        let shell = shell.env("COLUMNS", "120").env_remove("UDPBENCH_RSH");
        shell.output().expect("a shell")
    }

    /// Types a command and returns what it said. `check` may find problems.
    fn succeeds(&self, end: End, command: &str) -> String {
        let mut command = command.to_owned();
        if measures(&command) {
            for (flag, value) in SHORT {
                if !command.contains(flag) {
                    command.extend([" ", flag, " ", value]);
                }
            }
        }
        let output = self.run(end, &command);
        let code = output.status.code();
        let is_check = command.contains("udpbench check") && code == Some(1);
        let said = stdout(&output) + &stderr(&output);
        assert!(code == Some(0) || is_check, "{command}: {code:?}: {said}");
        said
    }
}

/// Returns the word behind the program, if it is a subcommand.
fn subcommand(command: &str) -> &str {
    let mut words = command.split_whitespace().skip(1);
    let word = words.next().unwrap_or_default();
    if word.starts_with("--") { "" } else { word }
}

fn measures(command: &str) -> bool {
    ["", "wire", "latency"].contains(&subcommand(command))
}

/// Returns the commands of this program that a run has printed.
fn printed(said: &str) -> Vec<String> {
    let mut all = Vec::new();
    for line in said.lines() {
        for (at, _) in line.match_indices("udpbench ") {
            let begin = line[..at].rfind([' ', '(']).map_or(0, |it| it + 1);
            let command = &line[begin..];
            let ends = [", ", " (", ")", ";", " and ", ": "].iter();
            let end = ends.filter_map(|it| command.find(it)).min();
            let command = command[..end.unwrap_or(command.len())].trim_end();
            let runs = ["check", "report", "wire", "summarize"];
            if runs.contains(&subcommand(command)) && !all.contains(&command.to_owned()) {
                all.push(command.to_owned());
            }
        }
    }
    all
}

/// Returns the commands that a page shows in lines of code and between backquotes, before what helps if something is
/// wrong.
fn shown(page: &str) -> Vec<String> {
    let page = fs::read_to_string(root().join(page)).expect("it is there");
    let (page, _) = page
        .split_once("\n## When something is wrong\n")
        .unwrap_or((&page, ""));
    let lines = code_lines(page).into_iter().chain(inline_codes(page));
    let lines = lines.map(|line| {
        line.split(" #")
            .next()
            .unwrap_or_default()
            .trim()
            .to_owned()
    });
    let is_ours = |line: &String| {
        let program = line.split(' ').next().unwrap_or_default();
        ["udpbench", "./udpbench"].contains(&program)
    };
    lines.filter(is_ours).collect()
}

/// Words of commands that take hours, files or root, or whose host is elsewhere.
const LEFT_OUT: [&str; 14] = [
    " 0.1.0",
    "exec:",
    "find ",
    " ab ",
    " compare ",
    "--verify",
    "watch ",
    "soak ",
    "listen ",
    "--suite",
    "--full",
    " report ",
    "resume",
    "wire`",
];

#[test]
fn commands_of_readme_and_those_that_their_runs_print_run_as_they_stand() {
    let Some(desk) = Desk::new() else {
        return;
    };
    let mut commands = shown("README.md");
    commands
        .retain(|it| *it == "udpbench plan --full" || !LEFT_OUT.iter().any(|no| it.contains(no)));
    commands.retain(|it| !["udpbench wire", "udpbench --help"].contains(&it.as_str()));
    commands.sort();
    commands.dedup();
    for expected in [
        "udpbench check",
        "udpbench wire pi@board --deploy",
        "udpbench --on pi@board --deploy",
    ] {
        assert!(
            commands.iter().any(|it| it == expected),
            "{expected}: {commands:?}"
        );
    }
    let mut next = Vec::new();
    // Where other tests took the CPUs, the step is to stop them.
    let mut is_disturbed = false;
    for command in commands {
        let said = desk.succeeds(End::Near, &command);
        is_disturbed |= said.contains("other programs took the CPUs");
        next.extend(
            printed(&said)
                .into_iter()
                .map(|it| it.replace(" HOST ", " pi@board ")),
        );
        if command.contains("--on pi@board") && measures(&command) && !is_disturbed {
            let is_there = |it: &&String| it.contains("udpbench wire pi@board --deploy --");
            assert!(next.iter().any(|it| is_there(&it)), "{said}");
        }
    }
    next.sort();
    next.dedup();
    for wanted in ["udpbench report ", "udpbench wire pi@board "] {
        assert!(
            is_disturbed || next.iter().any(|it| it.starts_with(wanted)),
            "{wanted}: {next:?}"
        );
    }
    // One of each kind and host.
    let kind = |it: &String| (subcommand(it).to_owned(), it.contains("--on"));
    next.dedup_by_key(|it| kind(it));
    for command in next {
        desk.succeeds(End::Near, &command);
    }
}

#[test]
fn two_ends_on_one_cpu_are_said_with_the_command_that_parts_them() {
    let Some(desk) = Desk::new() else {
        return;
    };
    let short = "--heat 0s --warmup 5ms --rounds 6 --duration 30ms --threads 2";
    let command = format!("udpbench wire pi@board --deploy --engine std --payload 300 {short}");
    let output = desk.run(End::Near, &command);
    assert_code(&output, 0);
    let text = stdout(&output);
    let said = words(&text);
    assert!(said.contains("both ends share a CPU"), "{said}");
    assert!(!said.contains("with --direction as here"), "{said}");
    let Some((_, step)) = text.split_once(" a CPU for each end:\n") else {
        assert!(said.contains("too few CPUs for both ends"), "{said}");
        return;
    };
    let command = step.lines().next().unwrap_or_default().trim();
    assert!(
        command.starts_with("udpbench wire pi@board --deploy "),
        "{command}"
    );
    let output = desk.run(End::Near, command);
    assert_code(&output, 0);
    let said = words(&stdout(&output));
    assert!(!said.contains("both ends share a CPU"), "{said}");

    // A search says so, too.
    let search = "find lossless --engine std --payload 300 --threads 2 --trial 100ms --sum 300ms --width 20% \
                  --recheck 0s --warmup 5ms --max-case-time 30s";
    let command = format!("udpbench wire pi@board --deploy {search}");
    let text = stdout(&desk.run(End::Near, &command));
    let (_, quality) = text.split_once("\nquality ").expect("a line");
    assert!(quality.contains("both ends share "), "{text}");
    let (_, step) = quality
        .split_once("search again with a CPU for each end:\n")
        .expect("a step");
    let again = step.lines().next().unwrap_or_default().trim();
    let begin = "udpbench wire pi@board --deploy find lossless --engine std ";
    assert!(
        again.starts_with(begin) && again.contains(" --pin "),
        "{again}"
    );
}

#[test]
fn commands_of_first_board_run_as_they_stand_on_the_board_and_on_the_laptop() {
    let Some(desk) = Desk::new() else {
        return;
    };
    desk.copy_to_the_board();
    let mut commands = shown("docs/FIRST-BOARD.md");
    commands.retain(|it| !LEFT_OUT.iter().any(|no| it.contains(no)));
    for expected in [
        "./udpbench",
        "./udpbench plan",
        "./udpbench check --interface eth0",
    ] {
        assert!(
            commands.iter().any(|it| it == expected),
            "{expected}: {commands:?}"
        );
    }
    let mut said = String::new();
    for command in commands {
        let end = if command.starts_with("./") {
            End::Far
        } else {
            End::Near
        };
        let text = desk.succeeds(end, &command);
        if command == "./udpbench" {
            said = text;
        }
    }
    let of_the_log = printed(&said).into_iter();
    for command in of_the_log.filter(|it| ["report", "summarize"].contains(&subcommand(it))) {
        desk.succeeds(End::Far, &command);
    }
    desk.succeeds(
        End::Far,
        "./udpbench report $(ls results/*.jsonl | tail -n 1)",
    );
    // The copy in the home directory is found, without --deploy.
    desk.succeeds(
        End::Near,
        "udpbench wire pi@board --engine std --payload 300 --direction up",
    );
}

#[test]
fn check_boards_engines_and_plan_tell_of_the_host_of_on() {
    let Some(desk) = Desk::new() else {
        return;
    };
    let nowhere = desk.run(End::Near, "udpbench check --on board");
    assert_code(&nowhere, 1);
    let said = stderr(&nowhere);
    assert!(said.contains("there is no udpbench in its PATH"), "{said}");
    assert!(words(&said).contains("let --deploy copy it"), "{said}");

    let there = desk
        .place
        .path("board/.cache/udpbench")
        .join(env!("CARGO_PKG_VERSION"));
    let checked = desk.succeeds(
        End::Near,
        "udpbench check --on board --deploy --interface eth0",
    );
    assert!(there.join("udpbench").is_file(), "{checked}");
    assert!(checked.contains("would invalidate a run"), "{checked}");
    // From now on without --deploy. Words reach the board as they are.
    let refused = desk.run(
        End::Near,
        "udpbench check --on board --interface 'eth 9;exit 7'",
    );
    assert_code(&refused, 2);
    assert!(
        stderr(&refused).contains("eth 9;exit 7"),
        "{}",
        stderr(&refused)
    );
    for (command, expected) in [
        ("udpbench engines --on board", "mmsg"),
        ("udpbench boards --on board --detect", "usable CPUs"),
        ("udpbench plan --on board", "cases to run"),
    ] {
        let said = desk.succeeds(End::Near, command);
        assert!(said.contains(expected), "{command}: {said}");
    }
    // It is the board's program that answers.
    fs::remove_file(there.join("udpbench")).expect("it is there");
    desk.place
        .script("board/udpbench", "echo $COLUMNS $*; exit 1");
    let output = desk.run(End::Near, "udpbench boards --new --on board");
    assert_code(&output, 1);
    assert_eq!(stdout(&output), "120 boards --new\n");
    let refused = desk.run(End::Near, "udpbench check --deploy");
    assert_code(&refused, 2);
    let refused = desk.run(End::Near, "udpbench check --on board --board ./mine.toml");
    assert_code(&refused, 2);
}

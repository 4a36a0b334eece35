//! Tests of the sweep as a library: the events that it passes to its journal.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use crate::common::{AtEnd, Place, assert_code, cases, hosts, rows};
use udpbench::cli::Cli;
use udpbench::cli::options::Request;
use udpbench::data::Case;
use udpbench::experiment::sweep::Sweep;
use udpbench::plan::Settings;
use udpbench::results::log::Event;
use udpbench::results::row::{CaseWarning, Environment, Row, Status, Warning};
use udpbench::session::{self, Ending, Journal, Logged, Resources, Work};
use udpbench::sys::interrupt::Interrupt;
use udpbench::trial::agents::Agents;

#[derive(Default)]
struct Recorder {
    told: Vec<String>,
    waited: Vec<String>,
    windows: usize,
    rows: Vec<Row>,
}

impl Journal for Recorder {
    fn show_step(&mut self, what: &str) {
        self.told.push(what.to_owned());
    }

    fn show_wait(&mut self, what: &str) {
        self.waited.push(what.to_owned());
    }

    fn record_event(&mut self, event: &Event, _work: Work) -> anyhow::Result<()> {
        self.windows += usize::from(matches!(event, Event::Window(_)));
        Ok(())
    }

    fn sync(&mut self) -> anyhow::Result<()> {
        Ok(())
    }

    fn record_rows(&mut self, rows: Vec<Row>) -> anyhow::Result<()> {
        self.rows.extend(rows);
        Ok(())
    }
}

fn run(arguments: &str) -> Recorder {
    run_with(arguments, Path::new(crate::common::program().get_program()))
}

fn run_with(arguments: &str, program: &Path) -> Recorder {
    let words = std::iter::once("udpbench").chain(arguments.split_whitespace());
    let args = Cli::try_parse_from(words).expect("options").run;
    let request = Request::new(&args, None).expect("a valid request");
    let header = request.header(&args, "", Environment::default());
    let root = header.schedule.settings.root.clone();
    let interrupt = Interrupt::never().expect("a pair of sockets");
    let mut recorder = Recorder::default();
    let mut sweep = Sweep::begin(header).expect("a plan");
    let mut resources = Resources {
        power_command: None,
        agents: vec![Agents::new(program, &root, None, &interrupt)],
        command: &|_, _| Ok(()),
        interrupt: &interrupt,
    };
    let ending = session::run(&mut sweep, &mut resources, &mut recorder);
    assert_eq!(ending.expect("a recorder never fails"), Ending::Complete);
    recorder
}

const TINY: &str = "--engine null --no-reference --ip v4 --connection connected --threads 2 --payload 1,2 \
                    --warmup 0s --duration 6ms --pin none";

/// A profile whose board is never cool enough, but does not wait for ever.
const HOT_BOARD: &str = r#"
name = "hot"
title = "Hot board"
verified_on = []
targets = ["aarch64-unknown-linux-gnu"]
limits = []
defaults = { threads = [1], payload = [26] }
timing = { warmup = "1ms", heat = "1ms" }
cooldown = { below_c = 1, at_most = "30ms" }
"#;

#[test]
fn a_hot_board_is_given_time_to_cool_down_before_each_round_of_a_block_but_not_for_ever() {
    let place = Place::new();
    let board = place.path("hot.toml");
    std::fs::write(&board, HOT_BOARD).expect("written");
    let fixture = hosts::root("rpi-4b");
    let Recorder {
        told, waited, rows, ..
    } = run(&format!(
        "{TINY} --board {} --root {}",
        board.display(),
        fixture.display()
    ));
    assert_eq!(waited.len(), 2, "said once per block: {waited:?}");
    for row in rows {
        let warned = row
            .warnings
            .iter()
            .any(|it| *it == CaseWarning::StillHot { below_c: 1 }.into());
        assert!(warned, "{row:?}");
    }
    let cooling = told.iter().filter(|told| told.contains("C, want 1"));
    assert_eq!(cooling.count(), 2 * 6, "{told:?}");
    // Without a sensor there is nothing to wait for.
    let fixture = hosts::root("x86-vm");
    let told = run(&format!(
        "{TINY} --board {} --root {}",
        board.display(),
        fixture.display()
    ))
    .told;
    assert!(
        !told.iter().any(|told| told.contains("C, want")),
        "{told:?}"
    );
}

#[test]
fn heating_up_comes_once_and_counts_nothing() {
    let recorder = run(&format!("{TINY} --heat 2ms"));
    let heats = recorder
        .told
        .iter()
        .filter(|told| told.contains("heating up"));
    assert_eq!(heats.count(), 1);
    assert!(
        recorder.told[0].contains("heating up"),
        "{:?}",
        recorder.told
    );
    assert_eq!((recorder.windows, recorder.rows.len()), (2 * 6, 2));
}

#[test]
fn cpu_time_that_is_no_threads_is_counted() {
    let settings = Settings {
        window: Duration::from_millis(6),
        ..Settings::default()
    };
    let case = Case::of_key("null:null/2t/1B/connected/v4").expect("the key of a case");
    let over = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            while !over.load(Ordering::Relaxed) {
                std::hint::spin_loop();
            }
        });
        let _over = AtEnd(|| over.store(true, Ordering::Relaxed));
        // On a busy machine it may have no turn in windows as short as these.
        let mut others = (0..100).map(|_| cases::window(&case, &settings).other_cpu_ns);
        assert!(others.any(|other_ns| other_ns > Some(1_000_000)));
    });
}

#[test]
fn a_case_that_cannot_be_built_is_a_failed_row_and_the_others_go_on() {
    let place = Place::new();
    let script = "ulimit -n 110; exec $udpbench --engine tokio --ip v4 --threads 2,64 --payload 26 --heat 0s \
         --duration 12ms -o out.csv";
    let output = place.shell(script);
    assert_code(&output, 1);
    for row in rows(&place.path("out.csv")) {
        // Beside tokio the reference, which takes fewer files.
        if u16::from(row.threads) == 2 || row.sender == "std" {
            assert_eq!((row.status, row.rounds), (Status::Ok, 6), "{row:?}");
        } else {
            assert_eq!((row.status, row.rounds), (Status::Failed, 0));
            assert!(
                row.reason.to_string().contains("Too many open files"),
                "{}",
                row.reason
            );
        }
    }
}

#[test]
fn where_no_process_can_be_started_the_program_measures_by_itself_and_says_so() {
    let recorder = run_with(TINY, Path::new("/nowhere/udpbench"));
    assert_eq!((recorder.windows, recorder.rows.len()), (2 * 6, 2));
    for row in recorder.rows {
        let warned = row.warnings.iter().filter(|warning| {
            // Below qemu-user, that a program is not there shows only by its silence.
            matches!(warning, Warning::Case(CaseWarning::InOneProcess { .. }))
        });
        assert_eq!(warned.count(), 1, "{row:?}");
    }
}

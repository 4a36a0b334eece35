//! Resource limits set by a shell, a container or systemd: the program gives a reason and never panics.

use crate::common::{Place, assert_code, rows, stderr};
use udpbench::results::row::Status;

const SWEEP: &str = "--engine std --ip v4 --heat 0s --warmup 1ms --rounds 5 --duration 10ms --threads 2 \
                     --payload 300 --connection connected -o out.csv";

#[test]
fn few_descriptors_are_a_reason_and_never_a_panic() {
    // With 3, the loader cannot open the libraries of C.
    for limit in 4..=24 {
        for arguments in [SWEEP, "plan --engine std", "plan --engine all", "engines"] {
            let place = Place::new();
            let output = place.shell(&format!("ulimit -n {limit}; exec $udpbench {arguments}"));
            let message = stderr(&output);
            let code = output.status.code();
            assert!(
                matches!(code, Some(0..=2)),
                "{limit}, {arguments}: {code:?} {message}"
            );
            assert!(
                !message.contains("panicked"),
                "{limit}, {arguments}: {message}"
            );
            // What was refused leaves no empty file.
            let files = place.files();
            assert!(code != Some(2) || files.is_empty(), "{limit}: {files:?}");
        }
    }
}

#[test]
fn a_small_stack_is_large_enough() {
    for arguments in ["--help", "plan", "engines", SWEEP] {
        let place = Place::new();
        let output = place.shell(&format!("ulimit -s 64; exec $udpbench {arguments}"));
        assert_eq!(
            output.status.code(),
            Some(0),
            "{arguments}: {}",
            stderr(&output)
        );
    }
}

#[test]
fn more_threads_than_descriptors_are_skipped_with_the_fix() {
    let place = Place::new();
    let sweep = SWEEP.replace("--threads 2", "--threads 2,64");
    let output = place.shell(&format!(
        "ulimit -n 64; exec $udpbench {sweep} --no-reference"
    ));
    assert_code(&output, 0);
    let rows = rows(&place.path("out.csv"));
    let of = |threads: &str| {
        let mut rows = rows.iter();
        rows.find(|row| row.case.key().contains(threads))
            .expect("a row")
    };
    assert_eq!(of("/2t/").status, Status::Ok);
    let many = of("/64t/");
    assert_eq!(many.status, Status::Skipped);
    let expected =
        "64 threads take 108 open files, and 64 may be: raise the limit (ulimit -Hn 108, as root)";
    assert_eq!(many.reason.to_string(), expected);
}

//! Bad input: exit code 2 and one message with the place, the value and the fix. Nothing is sent or written.

use crate::common::{Place, stderr, stdout};

/// The message for these arguments, after checking that nothing happened.
fn refusal(arguments: &str) -> String {
    let place = Place::new();
    let output = place.refuses(arguments);
    assert_eq!(stdout(&output), "", "{arguments}");
    assert_eq!(place.files(), Vec::<String>::new(), "{arguments}");
    let message = stderr(&output);
    let lines = message.lines().filter(|line| !line.is_empty());
    let lines = lines.filter(|line| !line.starts_with("For more information"));
    lines.collect::<Vec<_>>().join("\n")
}

#[test]
fn each_is_refused_with_its_place_its_value_and_its_fix() {
    let all = [
        "--engine stdd",
        "--engine sdt",
        "--engine ./my-loop",
        "--sender std,stdd",
        "--payload 65508",
        "--payload -1",
        "--payload x",
        "--payload 26,,300",
        "--payload=",
        "--threads 0",
        "--threads 257",
        "--threads=",
        "--engine std,std",
        "--engine all,std",
        "--payload 26,26",
        "--threads 2,2",
        "--ip v4,v4",
        "--connection connected,connected",
        "--duration 0s",
        "--duration 200",
        "--duration 5ms",
        "--duration soon",
        "--warmup 20",
        "--rounds 4",
        "--rcvbuf 0",
        "--tokio-workers 257",
        "--tokio-workers 2,2",
        "--seed -1",
        "--pin 0:x",
        "--pin 99999:0 --threads 2",
        "--pin 0:0 --threads 4",
        "--board nope",
        "--board ./nope.toml",
        "--output nope/../../../proc/nope.csv",
        "--output out.jsonl",
        "--output out.csv --format json",
        "--output out.csv --format jsonl",
        "--output out.csv --samples out.csv",
        "--output out.txt",
        "--until 2",
        "--until 0%",
        "--max-time 1m",
        "resume nope.jsonl",
        "resume nope.jsonl --seed 1",
        "--rate 0",
        "--rate 1mbit",
        "--rate 1001Gbit",
        "--rate 1k,1000",
        "--rate 1k --workload bidir",
        "--arrivals poisson",
        "--accept-changes",
        "frobnicate",
        "--on board latency",
        "find lossless --engine std --threads 2 --output out.csv",
        "wire board --payload 26 find lossless",
        "wire board latency --rsh rsh",
    ];
    // The CPUs of this machine are its own; on 32 bits there is no engine `uring`.
    let filters = vec![(r"usable: .*", "usable: (CPUS)"), ("uring, ", "")];
    insta::with_settings!({filters => filters}, {
        let messages = all.map(|arguments| format!("$ udpbench {arguments}\n{}", refusal(arguments)));
        insta::assert_snapshot!(messages.join("\n\n"));
    });
}

#[test]
fn what_is_no_file_is_refused_and_not_waited_for() {
    let place = Place::new();
    let made = place
        .shell("mkfifo fifo.toml; mkdir folder; truncate -s 100G sparse; ln -s /dev/zero zero");
    assert!(made.status.success());
    for (arguments, problem) in [
        ("plan --board ./fifo.toml", "it is a pipe"),
        ("plan --board ./folder", "it is a directory"),
        ("plan --board ./zero", "it is a device"),
        ("resume fifo.toml", "it is a pipe"),
        ("resume folder", "it is a directory"),
        ("resume sparse", "more than 1073741824 B"),
        ("rank folder", "a folder: name one or more logs"),
        ("rank zero", "it is a device"),
        ("compare zero folder", "it is a device"),
        ("summarize sparse", "more than 1073741824 B"),
        #[cfg(feature = "report")]
        ("report sparse -o r.html", "more than 1073741824 B"),
    ] {
        let output = place.run(arguments);
        let message = stderr(&output);
        assert_eq!(output.status.code(), Some(2), "{arguments}: {message}");
        assert!(message.contains(problem), "{arguments}: {message}");
    }
}

#[test]
fn a_file_that_exists_is_not_overwritten() {
    for existing in ["out.csv", "out.jsonl"] {
        let place = Place::new();
        std::fs::write(place.path(existing), "precious").expect("written");
        let output = place.run("--engine null --no-reference --quick -o out.csv");
        assert_eq!(output.status.code(), Some(2));
        let message = stderr(&output);
        assert!(
            message.contains(&format!("--output {existing}: it exists")),
            "{message}"
        );
        assert_eq!(place.files(), [existing]);
        let kept = std::fs::read_to_string(place.path(existing)).expect("still there");
        assert_eq!(kept, "precious");
    }
}

#[test]
fn an_output_below_a_file_is_an_error_before_measuring() {
    let place = Place::new();
    std::fs::write(place.path("file"), "").expect("written");
    let output = place.run("--engine null --no-reference --quick -o file/out.csv");
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("--output file/out.csv: cannot create it"));
}

#[test]
fn a_file_where_results_go_is_named_though_nobody_typed_it() {
    let place = Place::new();
    std::fs::write(place.path("results"), "mine").expect("written");
    let output = place.refuses("--engine null --threads 1 --payload 26 --duration 10ms");
    let said = "results: cannot create this directory: File exists (os error 17); results without a name go there: name a file, such as -o run.csv";
    let message = stderr(&output)
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ");
    assert!(message.contains(said), "{message}");
}

#[test]
fn what_the_other_host_says_does_not_steer_this_terminal() {
    let place = Place::new();
    let output = place.shell(r"exec $udpbench --on board --rsh 'printf \\033[2Jgone >&2 #'");
    let said = stderr(&output);
    assert!(
        said.contains(r"\u{1b}[2Jgone") && !said.contains('\u{1b}'),
        "{said}"
    );
}

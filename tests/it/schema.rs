//! Checks that `docs/raw.schema.json` accepts every line of raw samples, describes each field, and rejects other lines.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::LazyLock;

use crate::common::{Place, hosts, stderr, wait_until};
use boon::{Compiler, SchemaIndex, Schemas};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::{Value, json};
use udpbench::engines;
use udpbench::host::check::Unfit;
use udpbench::plan::PlanWarning;
use udpbench::results::log::Event;
use udpbench::results::row::{CaseWarning, Column, Failure, Interruption, Reason};

const SCHEMA: &str = include_str!("../../docs/raw.schema.json");
const TINY: &str = "--ip v4 --payload 100 --heat 0s --warmup 0s --rounds 5 --duration 10ms -q";

/// Lines of real runs, which have every field of the log.
static LINES: LazyLock<Vec<Value>> = LazyLock::new(|| {
    let place = Place::new();
    for arguments in [
        format!(
            "--engine std,mmsg --threads 1,4 --sharing reuseport,separate --sndbuf 8192 --tos ef --verify --until 100% \
             --max-time 10ms --root {} --board rpi-4b --pin none -o heat.csv",
            hosts::root("rpi-4b").display()
        ),
        format!(
            "--engine std --threads 2 --pin 0:0 --root {} -o pinned.csv",
            hosts::root("pine64-plus").display()
        ),
        "--engine mio-exhaustive,null --threads 1 -o skipped.csv".to_owned(),
        "--engine exec:/bin/false --threads 2 -o program.csv".to_owned(),
        "--workload rr --engine std --threads 2 --rate 5k --arrivals poisson --service sleep:10us -o \
         asked.csv"
            .to_owned(),
        "--workload rr --engine std --threads 2 --outstanding 4 --server-model pool -o waited.csv".to_owned(),
        "--workload bidir --engine epoll-level --threads 2 --flows 3 -o both.csv".to_owned(),
        "--engine mmsg --threads 2 --cmsg pktinfo+ecn -o controls.csv".to_owned(),
    ] {
        ran(&place, &format!("{TINY} {arguments}"));
    }
    soaked(&place);
    let metered = TINY.replace("--duration 10ms", "--duration 500ms");
    for arguments in [
        format!(
            "--root {} -o sensor.csv",
            hosts::root("jetson-orin-nano").display()
        ),
        "--power-command 'while :; do echo 3.5; sleep 0.01; done' -o command.csv".to_owned(),
    ] {
        let run =
            format!("exec $udpbench {metered} --engine std --threads 2 --pin none {arguments}");
        place.shell(&run);
    }
    // Refused where it is not permitted; then these fields are only null.
    place.run(&format!(
        "{TINY} --engine std --threads 2 --sched fifo:1 --mlock on --workload rr -o real.csv"
    ));
    ran(
        &place,
        &format!("{TINY} --engine epoll-level,uring --threads 2 --busy-poll 20us -o polled.csv"),
    );
    if engines::find("tokio").is_some() {
        let arguments = "--engine tokio --threads 2 --tokio-workers 2 -o workers.csv";
        ran(&place, &format!("{TINY} {arguments}"));
    }
    place.shell(&format!(
        "ulimit -n 110; exec $udpbench {TINY} --engine mio-level --threads 64 -o failed.csv"
    ));
    interrupted_and_resumed(&place);
    let paths = place.files().into_iter().map(|name| place.path(&name));
    let files = paths.filter(|path| path.extension().is_some_and(|found| found == "jsonl"));
    let texts = files.map(|path| fs::read_to_string(path).expect("text"));
    let lines = |text: String| -> Vec<Value> {
        let lines = text.lines();
        lines
            .map(|line| serde_json::from_str(line).expect("JSON"))
            .collect()
    };
    texts.flat_map(lines).collect()
});

/// Measures how soon traffic settles. Where other programs take the CPU for half of that time, that is not known, and
/// it is measured again.
fn soaked(place: &Place) {
    const RUNS: u32 = 5;
    let soaked = TINY.replace("--heat 0s", "--heat 1500ms");
    for n in 1..=RUNS {
        ran(
            place,
            &format!("{soaked} --engine std --threads 2 --connection connected -o soaked-{n}.csv"),
        );
        let log = fs::read_to_string(place.path(&format!("soaked-{n}.jsonl")));
        if log.is_ok_and(|log| log.contains(r#"{"settled":"#)) {
            break;
        }
    }
}

/// Its exit code depends on how busy this machine is: what it wrote is what counts.
fn ran(place: &Place, arguments: &str) {
    let output = place.run(arguments);
    assert_ne!(output.status.code(), Some(2), "{}", stderr(&output));
}

fn interrupted_and_resumed(place: &Place) {
    let quiet = |command: &mut Command| {
        command
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("the program starts")
    };
    let mut child = quiet(&mut place.udpbench(
        "--engine null --no-reference --ip v4 --payload 100 --heat 0s --warmup 0s --rounds 100 --duration 2s \
         --threads 2 --connection connected -o resumed.csv",
    ));
    let raw = place.path("resumed.jsonl");
    let lines = || fs::read_to_string(&raw).unwrap_or_default().lines().count();
    wait_until("the second window", || lines() > 3);
    let pid = Pid::from_raw(child.id().try_into().expect("a pid"));
    kill(pid, Signal::SIGINT).expect("it runs");
    assert_eq!(child.wait().expect("it ends").code(), Some(130));
    // On another host, so that there is something to insist against.
    ran(
        place,
        &format!(
            "resume resumed.jsonl -q --accept-changes --root {}",
            hosts::two_cpus()
        ),
    );
}

/// The schema, ready to be asked.
struct Judge(Schemas, SchemaIndex);

impl Judge {
    fn new() -> Self {
        Self::by(serde_json::from_str(SCHEMA).expect("JSON"))
    }

    fn by(schema: Value) -> Self {
        let mut schemas = Schemas::new();
        let mut compiler = Compiler::new();
        compiler
            .add_resource("schema", schema)
            .expect("it has a name");
        let index = compiler.compile("schema", &mut schemas);
        Self(schemas, index.expect("it is a schema"))
    }

    fn objection(&self, line: &Value) -> Option<String> {
        let verdict = self.0.validate(line, self.1);
        verdict.err().map(|error| format!("{error:#}\n{line}"))
    }
}

/// Returns the schema of a sentence in a row.
fn sentence(codes: &[&str]) -> Value {
    json!({
        "type": "object",
        "required": ["code", "text"],
        "properties": {
            "code": {"description": "Stays when the words change", "enum": codes},
            "text": {"description": "For people; its words may change", "type": "string"},
        },
    })
}

/// The types of columns that are whole numbers.
const WHOLE_NUMBERS: [&str; 15] = [
    "u64",
    "i64",
    "u32",
    "usize",
    "Batch",
    "Buffer",
    "Flows",
    "Outstanding",
    "Payload",
    "Priority",
    "Rate",
    "Threads",
    "Tos",
    "Train",
    "Workers",
];

/// `INSTA_UPDATE=always` writes it anew.
#[test]
fn the_schema_of_rows_is_made_from_the_table_of_their_columns() {
    let property = |column: &Column| {
        let option = column.type_name.strip_prefix("Option<");
        let type_name = option.map_or(column.type_name, |it| it.trim_end_matches('>'));
        let kind = match type_name {
            "Vec<Warning>" => "array",
            "f64" => "number",
            _ if WHOLE_NUMBERS.contains(&type_name) => "integer",
            _ => "string",
        };
        let kinds = if option.is_some() && type_name != "Placement" {
            json!([kind, "null"])
        } else {
            json!(kind)
        };
        let description = column.doc.trim();
        let mut property = json!({"description": description, "type": kinds});
        match type_name {
            "Vec<Warning>" => {
                let codes = [PlanWarning::CODES, CaseWarning::CODES, Unfit::CODES];
                property["items"] = sentence(&codes.concat());
            }
            "Reason" => {
                let codes = [&[Reason::SKIPPED], Failure::CODES, Interruption::CODES];
                let own = sentence(&codes.concat());
                property = json!({"description": description, "anyOf": [own, {"type": "null"}]});
            }
            _ => {}
        }
        (column.name.to_owned(), property)
    };
    let names: Vec<&str> = Column::ALL.iter().map(|column| column.name).collect();
    let schema = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Rows of udpbench",
        "description": "What --format json writes; docs/COLUMNS.md explains the columns",
        "type": "object",
        "required": ["answer", "quality", "verdict", "rows"],
        "properties": {
            "answer": {
                "description": "Which engine to use; the words may change",
                "type": "array",
                "items": {"type": "string"},
            },
            "quality": {
                "description": "How good the run is; null: nothing was measured",
                "type": ["object", "null"],
                "required": ["grade", "because"],
                "properties": {
                    "grade": {"enum": ["good", "fair", "poor"]},
                    "because": {"description": "For people; its words may change", "type": "string"},
                },
            },
            "verdict": {
                "description": "Of compare and ab, as their exit codes 0, 3 and 4; else null",
                "enum": ["not worse", "worse", "unclear", null],
            },
            "rows": {
                "type": "array",
                "items": {
                    "type": "object",
                    "required": names,
                    "properties": Column::ALL.iter().map(property).collect::<serde_json::Map<_, _>>(),
                },
            },
        },
    });
    let text = format!("{schema:#}\n");
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/rows.schema.json");
    if std::env::var("INSTA_UPDATE").is_ok_and(|update| update == "always") {
        fs::write(&path, &text).expect("written");
    }
    let kept = fs::read_to_string(path).unwrap_or_default();
    assert!(
        kept == text,
        "INSTA_UPDATE=always makes docs/rows.schema.json"
    );
    let log = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/tests/fixtures/logs/every-engine.jsonl"
    );
    let output = Place::new().run(&format!("summarize {log} --format json"));
    let rows = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(Judge::by(schema).objection(&rows), None);
}

fn kind(line: &Value) -> &str {
    let object = line.as_object().expect("an object");
    let mut keys = object.keys().filter(|key| *key != "crc");
    keys.next().expect("it has a kind")
}

/// The first line of each kind, and every header.
fn samples_of_each_kind() -> Vec<&'static Value> {
    let mut seen = BTreeSet::new();
    let lines = LINES.iter();
    lines
        .filter(|line| kind(line) == "header" || seen.insert(kind(line)))
        .collect()
}

#[test]
fn every_line_of_real_runs_is_as_the_schema_says() {
    let judge = Judge::new();
    for line in LINES.iter() {
        assert_eq!(judge.objection(line), None);
    }
}

#[test]
fn every_kind_of_line_is_in_the_schema_and_in_these_runs() {
    // serde names all there are but the first.
    let refusal = serde_json::from_str::<Event>(r#"{"nope": {}}"#).expect_err("no such kind");
    let refusal = refusal.to_string();
    let mut kinds: BTreeSet<&str> = refusal.split('`').skip(1).step_by(2).skip(1).collect();
    assert!(kinds.contains("window"), "{refusal}");
    kinds.insert("header");
    let schema: Value = serde_json::from_str(SCHEMA).expect("JSON");
    let described = schema["properties"].as_object().expect("kinds");
    let described = described.keys().map(String::as_str);
    let described: BTreeSet<_> = described.filter(|key| *key != "crc").collect();
    assert_eq!(described, kinds);
    assert_eq!(LINES.iter().map(kind).collect::<BTreeSet<_>>(), kinds);
}

#[test]
fn what_is_there_only_sometimes_is_in_these_runs() {
    let text: String = LINES.iter().map(Value::to_string).collect();
    for rare in [
        "\"skip\":\"",
        "\"until\":{",
        "\"cooldown\":{",
        "\"cpufreq\":[{",
        "\"nics\":[{",
        "\"reuseport\":\"even\"",
        "\"sharing\":\"separate\"",
        "\"batch\":32",
        "\"pace\":{",
        "\"verified\":{\"packets\":",
        "\"side\":\"alone\"",
        "\"unlike\":[\"",
    ] {
        assert!(text.contains(rare), "{rare}");
    }
    let has_tokio = engines::find("tokio").is_some();
    assert_eq!(text.contains("\"side\":\"worker\""), has_tokio);
}

#[test]
fn every_field_of_every_line_is_described() {
    let schema: Value = serde_json::from_str(SCHEMA).expect("JSON");
    for line in LINES.iter() {
        let kind = kind(line);
        let nodes = vec![&schema["properties"][kind]];
        let undescribed = undescribed(&schema, &nodes, &line[kind], kind);
        assert_eq!(undescribed, Vec::<String>::new());
    }
    let mut line = LINES[0].clone();
    line["header"]["environment"]["host"]["forgotten"] = json!(1);
    let nodes = vec![&schema["properties"]["header"]];
    assert_eq!(
        undescribed(&schema, &nodes, &line["header"], "header"),
        ["header/environment/host/forgotten"]
    );
}

/// Returns the places in `value` with fields that none of the schema's `nodes` describes.
fn undescribed(schema: &Value, nodes: &[&Value], value: &Value, at: &str) -> Vec<String> {
    let nodes: Vec<&Value> = nodes
        .iter()
        .flat_map(|node| branches(schema, node))
        .collect();
    let of = |parts: Vec<&Value>, part: &Value, key: &str| {
        undescribed(schema, &parts, part, &format!("{at}/{key}"))
    };
    match value {
        Value::Object(fields) => {
            let of_field = |(key, part): (&String, &Value)| {
                let named = nodes.iter();
                let named = named.filter_map(|node| {
                    let own = node.get("properties").and_then(|all| all.get(key));
                    own.or(node.get("additionalProperties"))
                });
                let named: Vec<&Value> = named.collect();
                let mut meant = named.iter().flat_map(|node| branches(schema, node));
                if meant.any(|node| node.get("description").is_some()) {
                    of(named, part, key)
                } else {
                    vec![format!("{at}/{key}")]
                }
            };
            fields.iter().flat_map(of_field).collect()
        }
        Value::Array(parts) => {
            let of_part = |(place, part): (usize, &Value)| {
                let parts = nodes.iter().filter_map(|node| {
                    let by_place = node.get("prefixItems").and_then(|items| items.get(place));
                    by_place.or(node.get("items"))
                });
                of(parts.collect(), part, &place.to_string())
            };
            parts.iter().enumerate().flat_map(of_part).collect()
        }
        _ => Vec::new(),
    }
}

/// A node of the schema, and all that it refers to or is combined from.
fn branches<'a>(schema: &'a Value, node: &'a Value) -> Vec<&'a Value> {
    let mut found = vec![node];
    if let Some(target) = node.get("$ref").and_then(Value::as_str) {
        let target = schema.pointer(target.trim_start_matches('#'));
        found.extend(branches(schema, target.expect("it is there")));
    }
    for keyword in ["allOf", "anyOf", "oneOf"] {
        let parts = node.get(keyword).and_then(Value::as_array);
        let parts = parts.into_iter().flatten();
        found.extend(parts.flat_map(|part| branches(schema, part)));
    }
    found
}

#[test]
fn a_line_that_lacks_a_field_or_has_one_of_another_type_is_none() {
    let judge = Judge::new();
    let mut count = 0;
    for line in samples_of_each_kind() {
        let mut pointers = Vec::new();
        below(line, "", &mut pointers);
        pointers.retain(|pointer| !is_within_a_sentence(pointer));
        for pointer in pointers {
            for damaged in damaged(line, &pointer) {
                assert!(judge.objection(&damaged).is_some(), "{pointer}: {damaged}");
                count += 1;
            }
        }
    }
    assert!(count > 1000, "{count}");
}

/// Whether a pointer leads to the data of a sentence, which the schema leaves open.
fn is_within_a_sentence(pointer: &str) -> bool {
    // Depth of the codes of sentences below these keys.
    let homes = [
        ("/run/1/", 2),
        ("/unfit/", 3),
        ("/warning/", 1),
        ("/reason/", 1),
    ];
    homes.iter().any(|(home, depth)| {
        let below = pointer.split_once(home).map(|(_, below)| below);
        below.is_some_and(|below| below.matches('/').count() >= *depth)
    })
}

/// The JSON pointers of everything in a value.
fn below(value: &Value, at: &str, pointers: &mut Vec<String>) {
    let mut descend = |key: &str, part: &Value| {
        let at = format!("{at}/{key}");
        below(part, &at, pointers);
        pointers.push(at);
    };
    match value {
        Value::Object(fields) => fields.iter().for_each(|(key, part)| descend(key, part)),
        Value::Array(parts) => {
            let parts = parts.iter().enumerate();
            parts.for_each(|(place, part)| descend(&place.to_string(), part));
        }
        _ => {}
    }
}

/// The line without what the pointer points to, and with what that cannot be.
fn damaged(line: &Value, pointer: &str) -> Vec<Value> {
    let wrong = match line.pointer(pointer).expect("it is there") {
        // It may be cold, and real-time threads without a limit.
        Value::Number(_) if pointer.ends_with("_millic") || pointer.ends_with("/runtime_us") => {
            vec![json!("1")]
        }
        Value::Number(_) => vec![json!("1"), json!(-1)],
        Value::Null => vec![json!({})],
        Value::String(_) | Value::Bool(_) | Value::Array(_) | Value::Object(_) => vec![json!(7)],
    };
    let mut damaged: Vec<Value> = wrong
        .into_iter()
        .map(|wrong| {
            let mut line = line.clone();
            *line.pointer_mut(pointer).expect("it is there") = wrong;
            line
        })
        .collect();
    let (parent, key) = pointer.rsplit_once('/').expect("it is within the line");
    let mut without = line.clone();
    let parent = without.pointer_mut(parent).expect("it is there");
    if let Some(fields) = parent.as_object_mut() {
        fields.remove(key);
        damaged.push(without);
    }
    damaged
}

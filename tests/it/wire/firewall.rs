//! A firewall that blocks some cases: they fail with that reason, and the others are measured.

use std::path::Path;
use std::process::Output;

use udpbench::results::row::Status;

use crate::common::lab::{End, Lab};
use crate::common::{Place, program, rows, stderr};

const SHORT: &str = "--pin 0:1 --no-reference --engine std --threads 2 --payload 300 --heat 0s --warmup 5ms --rounds 6 \
                     --duration 50ms --connection connected -o out.csv";

/// A lab whose far end drops the UDP datagrams that such a rule of nft names. `None`: there is none, or no nft.
fn with_firewall(rule: &str) -> Option<Lab> {
    let lab = Lab::builder().start()?;
    if !["/usr/sbin/nft", "/sbin/nft"]
        .map(Path::new)
        .iter()
        .any(|it| it.exists())
    {
        eprintln!("SKIPPED: no nft here");
        return None;
    }
    let chain = "add chain inet f i { type filter hook input priority 0; }";
    let rule = format!("add rule inet f i {rule} drop");
    for command in ["add table inet f", chain, &rule] {
        let status = lab.far("nft").arg(command).status();
        assert!(status.expect("nft").success(), "{command}");
    }
    Some(lab)
}

fn wire(lab: &Lab, place: &Place, words: &str) -> Output {
    let program = program();
    let program = program.get_program().to_str().expect("UTF-8");
    let ssh = format!("ssh -F {}", lab.ssh_config().display());
    let mut command = lab.near(program);
    command.args(["wire", "board", "--rsh", &ssh, "--agent", program]);
    command
        .args(SHORT.split_whitespace())
        .args(words.split_whitespace());
    command
        .current_dir(place.path("."))
        .output()
        .expect("it starts")
}

#[test]
fn one_blocked_path_fails_its_cases_and_the_others_go_on() {
    let Some(lab) = with_firewall("meta nfproto ipv6 udp dport 1024-65535") else {
        return;
    };
    let Some(ipv6) = lab.ipv6(End::Far) else {
        return;
    };
    let place = Place::new();
    let output = wire(&lab, &place, "--ip v4,v6");
    let said = stderr(&output);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(
        !said.contains("is gone") && !said.contains("resume"),
        "{said}"
    );
    assert!(said.contains("2 of 4 cases failed"), "{said}");
    assert!(!said.contains("see the column"), "{said}");
    let rows = rows(&place.path("out.csv"));
    assert_eq!(rows.len(), 4, "{rows:?}");
    for row in &rows {
        let (case, reason) = (row.case.key(), row.reason.to_string());
        if case.contains("/v4/") {
            assert_eq!((row.status, row.rounds), (Status::Ok, 6), "{row:?}");
            continue;
        }
        assert_eq!(
            (row.status, row.ended_by.as_str()),
            (Status::Failed, "failure"),
            "{row:?}"
        );
        let expected = if case.ends_with("/up") {
            "no datagram came through"
        } else {
            "no answer came back"
        };
        assert!(reason.starts_with(expected), "{case}: {reason}");
        assert!(reason.contains(&format!("to {ipv6} port ")), "{reason}");
        assert!(reason.contains("nft list ruleset"), "{reason}");
    }
}

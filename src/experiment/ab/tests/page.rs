//! Tests of comparisons on the page of `udpbench report`.

use super::*;
use crate::experiment::register::ExperimentResults;
use crate::report;
use crate::session::Logged;
use crate::term::shell;
use crate::verdict::judge;

fn page(record: AbComparison) -> String {
    let logs = [ExperimentResults::Sides(Box::new(record))];
    report::page(&[], &logs, None)
}

/// Returns a comparison in which only `mio-level` is slower, and only with several threads.
fn uneven() -> AbComparison {
    comparison(1, |case| {
        if case.sender.as_str() == "mio-level" && !case.threads.is_alone() {
            0.10
        } else {
            0.0
        }
    })
}

#[test]
fn each_engine_part_and_changed_case_has_its_verdict_with_its_interval() {
    let record = uneven();
    let judgement = judged(&record);
    let page = page(record);
    assert!(page.contains("<a href=\"#ab-0\">Did this change help</a>"));
    assert!(page.contains("<h2 id=\"ab-0\">Did this change help</h2>"));
    for text in judge::table::counts(&judgement).split("; ") {
        assert!(page.contains(text), "{text}");
    }
    for (label, part, answer) in judge::table::told(&judgement, Detail::Changes) {
        let label = part.map_or_else(|| label.to_owned(), |part| part.to_string());
        let interval = judge::table::interval(answer.change);
        let found = format!(
            "<small>{interval}</small><td>{}",
            answer.verdict.word(Metric::Speed)
        );
        let mut lines = page
            .split("<tr>")
            .filter(|line| line.contains(&format!(">{label}</th>")));
        assert!(lines.any(|line| line.contains(&found)), "{label}: {found}");
    }
    for case in &judge::table::largest_first(&judgement, Detail::Changes)[..12] {
        let row = format!("<th scope=\"row\">{}</th><td class=\"text\">", case.key);
        assert!(page.contains(&row), "{row}");
    }
    assert!(page.contains("answer worse"));
    assert!(page.contains("surely by more than 2 %"));
}

#[test]
fn what_was_typed_is_shown_and_is_never_markup() {
    let hostile = "</script><script>alert(1)</script><!--\"'&";
    let of_nothing = page(record(1));
    let mut header = record(1).header().clone();
    header.run.command_line = vec!["udpbench".to_owned(), hostile.to_owned()];
    header.run.started_at = hostile.to_owned();
    header.environment.host.model = Some(hostile.to_owned());
    header.b.program = Some(format!("./b{hostile}"));
    header.b.version = format!("9{hostile}");
    header.b.options = vec![format!("--rcvbuf {hostile}")];
    header.b.before = Some(format!("sysctl {hostile}"));
    let mut record = AbComparison::begin(header).expect("the same cases");
    let failed = Event::Failed {
        of: record.name(Side::B, 0),
        round: 1,
        reason: Failure::told(hostile),
        other_programs: None,
    };
    record.take(&failed).expect("it can fail");
    let page = page(record);
    let shown = "&lt;/script&gt;&lt;script&gt;alert(1)&lt;/script&gt;&lt;!--&quot;'&amp;";
    // The command is to be pasted into a shell.
    let pasted = shell::word(hostile)
        .replace('&', "&amp;")
        .replace('"', "&quot;");
    let pasted = pasted.replace('<', "&lt;").replace('>', "&gt;");
    assert!(page.contains(&format!("udpbench {pasted}")), "{pasted}");
    for text in ["./b", "9", "--rcvbuf ", "sysctl ", "in 1 of 1 round: "] {
        assert!(page.contains(&format!("{text}{shown}")), "{text}");
    }
    for mark in ["<script", "</script", "<!--"] {
        assert_eq!(page.matches(mark).count(), of_nothing.matches(mark).count());
    }
}

#[test]
fn a_comparison_in_which_nothing_is_worse_or_measured_yet_is_a_page() {
    let page = page(record(1));
    assert!(page.contains("<div class=\"answer\">"));
    assert!(page.contains("B against A, 0 rounds<"));
    assert!(page.contains(
        "<th scope=\"row\">A</th><td class=\"text\">this udpbench</td><td class=\"text\">1</td>"
    ));
    assert!(page.contains("fewer than two rounds have both sides"));
    assert!(page.contains("Loopback: both ends on one machine, no network"));
}

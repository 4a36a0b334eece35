//! Tests of the table on the terminal.

use super::*;

#[test]
fn the_table_is_this() {
    let mut after = with("nix", 0.95, 2);
    // Each block has ten rows: five engines, connected and unconnected. Rows 7 and 8 are nix and tokio of the first
    // block, 12 and 13 mio-level of the second.
    after.rows[7].received_pps = Some(100_000.0);
    after.rows[8].status = Status::Failed;
    after.rows[8].reason = Reason::Failed(Failure::told("the receiver starved"));
    after.rows[12].kernel = "6.13.0".to_owned();
    after.rows[13].sndbuf_bytes = Some(1);
    after.rows.pop();
    let found = against(plain(1), after);
    let text = anstream::adapter::strip_str(&crate::verdict::compare::table::draw(
        &found,
        Detail::Changes,
        100,
    ))
    .to_string();
    insta::assert_snapshot!(text);
}

#[test]
fn the_widest_table_fits_the_terminal() {
    let wide = |sweep: Results| {
        let rows = sweep.rows.into_iter().map(|row| Row {
            receiver: "tokio-exhaustive".to_owned(),
            threads: 256.try_into().expect("in range"),
            sndbuf_requested_bytes: Some(crate::data::Buffer::DEFAULT),
            ..row
        });
        results(&"a-long-name/".repeat(20), rows.collect())
    };
    let found = against(wide(plain(1)), wide(with("nix", 1e6, 2)));
    for width in [80, 100, 120] {
        let text = crate::verdict::compare::table::draw(&found, Detail::All, width);
        let text = anstream::adapter::strip_str(&text).to_string();
        assert!(text.contains("faster"), "{text}");
        // The name of the file stays whole.
        for line in text.lines().filter(|line| !line.contains("a-long-name")) {
            assert!(line.chars().count() <= usize::from(width), "{line}");
        }
    }
}

//! Tests of the table on the terminal.

use super::*;

#[test]
fn the_table_is_this() {
    let mut new = slower_by(0.03);
    new.rows[7].ratio_to_std = Some(0.45);
    new.rows[8].status = Status::Failed;
    new.rows[8].reason = "the receiver starved".to_owned();
    new.rows[12].kernel = "6.13.0".to_owned();
    new.rows[13].sndbuf_bytes = Some(1);
    new.rows.pop();
    let found = compare(&plain(), &[new], Options::default());
    let text = anstream::adapter::strip_str(&table::draw(&found, Detail::Changes, 100)).to_string();
    insta::assert_snapshot!(text);
}

#[test]
fn the_widest_table_fits_the_terminal() {
    let mut base = row("mio-exhaustive", 123_456_789.0);
    base.receiver = "tokio-exhaustive".to_owned();
    base.threads = 256.try_into().expect("in range");
    base.payload_bytes = 65_507.try_into().expect("in range");
    base.sndbuf_requested_bytes = Some(crate::data::Buffer::DEFAULT);
    base.ratio_sd_pct = Some(900.0);
    let mut new = base.clone();
    new.ratio_to_std = Some(0.1);
    let odd = |rows: &[Row]| {
        let mut other = rows[0].clone();
        (other.case, other.sndbuf_requested_bytes) = ("other".to_owned(), None);
        other.sender = other.receiver.clone();
        results(&"a-long-name/".repeat(20), vec![rows[0].clone(), other])
    };
    let found = compare(&odd(&[base]), &[odd(&[new])], Options::default());
    for width in [60, 80, 100, 120] {
        let text = table::draw(&found, Detail::All, width);
        let text = anstream::adapter::strip_str(&text).to_string();
        assert!(text.contains("unclear"), "{text}");
        // The name of the file stays whole.
        for line in text.lines().filter(|line| !line.contains("a-long-name")) {
            assert!(line.chars().count() <= usize::from(width), "{line}");
        }
    }
}

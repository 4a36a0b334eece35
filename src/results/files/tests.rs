//! Tests of files that spreadsheets, editors and people saved again.

use super::*;
use crate::results::export::csv::encode;
use crate::results::row::tests::ordinary_row;

/// Returns two rows with numbers like 1.234, which every sweep has.
fn rows() -> [Row; 2] {
    let row = Row {
        cv_pct: Some(1.234),
        received_pps: Some(200_000.5),
        received_pps_high: Some(200_001.0),
        warnings: vec!["a, \"b\"".to_owned(), "c".to_owned()],
        ..ordinary_row()
    };
    let other = Row {
        started_at: "2026-11-26T21:43:19.457Z".to_owned(),
        ratio_to_std: Some(0.912),
        ratio_to_std_low: Some(0.9),
        ..row.clone()
    };
    [row, other]
}

fn text(rows: &[Row]) -> String {
    String::from_utf8(encode(rows).expect("rows can be encoded")).expect("UTF-8")
}

/// Returns the cells of [`text`], changed by line and column and written with another separator. The header is line
/// 1.
fn cells(separator: char, change: impl Fn(usize, &str, &str) -> String) -> String {
    let text = text(&rows());
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let header = reader.headers().expect("a header").clone();
    let mut form = csv::WriterBuilder::new();
    let mut writer = form.delimiter(separator as u8).from_writer(Vec::new());
    writer.write_record(&header).expect("into memory");
    for (line, record) in (2..).zip(reader.records().flatten()) {
        let cells = header.iter().zip(&record);
        let cells = cells.map(|(column, cell)| change(line, column, cell));
        writer.write_record(cells).expect("into memory");
    }
    String::from_utf8(writer.into_inner().expect("into memory")).expect("UTF-8")
}

/// Returns the text of [`rows`] with another cell in line 3.
fn with(name: &str, other: &str) -> String {
    cells(',', |line, column, cell| match (line, column) {
        (3, column) if column == name => other.to_owned(),
        _ => cell.to_owned(),
    })
}

/// Changes a cell if it is a number with decimals.
fn decimal(cell: &str, change: impl Fn(&str) -> String) -> String {
    let is_decimal = cell.contains('.') && cell.parse::<f64>().is_ok();
    if is_decimal {
        change(cell)
    } else {
        cell.to_owned()
    }
}

/// Writes a number with a decimal comma.
fn with_commas(_: usize, _: &str, cell: &str) -> String {
    decimal(cell, |cell| cell.replace('.', ","))
}

fn utf16(text: &str) -> Vec<u8> {
    let units = "\u{feff}".encode_utf16().chain(text.encode_utf16());
    units.flat_map(u16::to_be_bytes).collect()
}

fn header_and_lines(text: &str) -> (String, Vec<&str>) {
    let (header, lines) = text.split_once('\n').expect("a header");
    (header.to_owned(), lines.lines().collect())
}

#[test]
fn what_was_only_saved_again_is_read_as_it_was() {
    let original = text(&rows());
    let same = |_: usize, _: &str, cell: &str| cell.to_owned();
    let (header, lines) = header_and_lines(&original);
    let reversed = |line: &str| {
        let mut reader = csv::ReaderBuilder::new();
        let mut reader = reader.has_headers(false).from_reader(line.as_bytes());
        let record = reader.records().next().expect("a line").expect("CSV");
        let cells: Vec<String> = record
            .iter()
            .map(|cell| format!("\"{}\"", cell.replace('"', "\"\"")))
            .collect();
        cells.into_iter().rev().collect::<Vec<_>>().join(",") + "\r\n"
    };
    let with_zeros_left_out = |_: usize, _: &str, cell: &str| {
        decimal(cell, |cell| cell.trim_end_matches(".0").to_owned())
    };
    for (what, text) in [
        ("CR LF", original.replace('\n', "\r\n")),
        ("CR", original.replace('\n', "\r")),
        ("semicolons", cells(';', same)),
        ("tabs", cells('\t', same)),
        ("decimal commas, quoted", cells(',', with_commas)),
        (
            "a byte-order mark, semicolons, decimal commas",
            format!("\u{feff}{}", cells(';', with_commas)),
        ),
        ("1 for 1.0", cells(',', with_zeros_left_out)),
        (
            "columns in another order, all quoted",
            reversed(&header) + &reversed(lines[0]) + &reversed(lines[1]),
        ),
        (
            "blanks around numbers",
            cells(',', |_, _, cell| {
                decimal(cell, |cell| format!("\u{a0}{cell} "))
            }),
        ),
        (
            "empty columns and lines at the end",
            original.replace('\n', ",,\n") + &",".repeat(9) + "\n",
        ),
        (
            "a column of somebody's own",
            format!("note,{header}\n,{}\nslow?,{}\n", lines[0], lines[1]),
        ),
    ] {
        let utf8 = Results::from_csv("x.csv", text.as_bytes());
        assert_eq!(utf8.as_ref().map(|it| &*it.rows), Ok(&rows()[..]), "{what}");
        let results = Results::from_csv("x.csv", &utf16(text.trim_start_matches('\u{feff}')));
        assert_eq!(
            results.map(|it| it.rows),
            Ok(rows().to_vec()),
            "{what} in UTF-16"
        );
    }
}

#[test]
fn cells_that_are_other_numbers_or_may_be_are_refused_with_their_place() {
    for (text, problem) in [
        (
            with("received_pps", "abc"),
            "line 3, received_pps: \"abc\" is no number",
        ),
        (
            with("received_pps", "NaN"),
            "line 3, received_pps: \"NaN\" is no number",
        ),
        (
            with("received_pps", "#NAME?"),
            "line 3, received_pps: \"#NAME?\" is an error of a spreadsheet's",
        ),
        (
            with("received_pps", "2.0E+05"),
            "line 3, received_pps: \"2.0E+05\" is rounded",
        ),
        (
            with("loss_pct", "33%"),
            "line 3, loss_pct: \"33%\" is a percentage",
        ),
        (
            with("cv_pct", "1. Feb"),
            "line 3, cv_pct: \"1. Feb\" is no number; a spreadsheet may have",
        ),
        (
            with("cv_pct", "2026-02-01"),
            "line 3, cv_pct: \"2026-02-01\" is no number; a spreadsheet may have",
        ),
        (
            with("received_pps", "200,000.50"),
            "line 3, received_pps: \"200,000.50\" has its digits in groups",
        ),
        (
            with("received_pps", "200\u{a0}000,5"),
            "line 3, received_pps: \"200\\u{a0}000,5\" has its digits in groups",
        ),
        (
            with("received_pps", "200'000.5"),
            "line 3, received_pps: \"200'000.5\" has its digits in groups",
        ),
        (
            with("received_pps", "200,000"),
            "line 3, received_pps: \"200,000\" has its digits in groups",
        ),
        (
            with("received_pps", "200000,5"),
            "line 3, received_pps: \"200000,5\" has a decimal comma, other",
        ),
        (
            with("sent_packets", "180000.00"),
            "line 3, sent_packets: \"180000.00\" has decimals, and udpbench",
        ),
        (with("sent_packets", "-1"), "line 3, sent_packets: \"-1\": "),
        (
            with("received_mbps", "480001"),
            "line 3, received_mbps: 480001 is not in its interval",
        ),
        (
            with("status", "OK"),
            "line 3, status: \"OK\": unknown variant",
        ),
        (with("threads", "45690"), "line 3, threads: \"45690\": "),
    ] {
        assert_refused(&text, problem);
    }
}

#[test]
fn lines_that_are_cut_joined_or_there_twice_are_refused() {
    let original = text(&rows());
    let (header, lines) = header_and_lines(&original);
    let without = |name: &str| header.replacen(name, "renamed", 1);
    for (text, problem) in [
        (
            original.clone() + lines[1] + "\n",
            "line 4: the same case of the same run is in line 3",
        ),
        (
            original.clone() + &original,
            "line 4: a second header: two files were joined",
        ),
        (
            format!("sep=,\n\n{original}"),
            "line 1: the header is in line 3: delete what is above it",
        ),
        (original.replace(lines[1], &lines[1][..99]), "line 3: "),
        (
            original.replace(lines[1], &format!("\"{}\"", lines[1].replace('"', "\"\""))),
            "line 3: it has 1 of ",
        ),
        (
            original.replacen(&header, &without("received_pps"), 1),
            "line 1: no column received_pps: it was taken",
        ),
        (
            original.replacen(&header, &without("rounds"), 1),
            "line 1: no column rounds: it was taken",
        ),
        (
            original.replacen(",pin,", ",seed,", 1),
            "line 1: two columns seed: delete one of them",
        ),
        (
            original.replacen("case", "Case", 1),
            "line 1: not results of udpbench",
        ),
        (
            original.replacen("1.234", "1\0.234", 1),
            "line 2: a NUL byte",
        ),
    ] {
        assert_refused(&text, problem);
    }
}

fn assert_refused(text: &str, problem: &str) {
    let refused = Results::from_csv("x.csv", text.as_bytes());
    let refused = refused.map_or_else(|error| error.to_string(), |_| "it is read".to_owned());
    let expected = format!("x.csv, {problem}");
    assert!(refused.starts_with(&expected), "{problem}: {refused}");
}

/// Imitates a spreadsheet in a language in which 1.234 means 1234, which changes numbers when it opens a file.
#[test]
fn no_number_becomes_a_thousand_times_too_large() {
    let taken_for_thousands = |_: usize, _: &str, cell: &str| {
        decimal(cell, |cell| {
            let (whole, decimals) = cell.split_once('.').expect("it has decimals");
            let point = if decimals.len() == 3 { "" } else { "." };
            format!("{whole}{point}{decimals}")
        })
    };
    let in_groups = |_: usize, _: &str, cell: &str| decimal(cell, |_| "1.234".to_owned());
    for text in [
        cells(',', taken_for_thousands),
        cells(';', taken_for_thousands),
        cells(';', in_groups),
        cells('\t', in_groups),
    ] {
        let error = Results::from_csv("x.csv", text.as_bytes()).expect_err("refused");
        assert!(
            error.to_string().contains("have the file made again"),
            "{error}"
        );
    }
}

#[test]
fn a_line_without_its_end_is_left_out_whatever_it_says() {
    let whole = encode(&rows()).expect("rows can be encoded");
    for cut in 1..40 {
        let torn = &whole[..whole.len() - cut];
        let results = Results::from_csv("x.csv", torn).expect("a row is whole");
        assert_eq!((results.rows.len(), results.is_torn), (1, true), "{cut}");
    }
    let results = Results::from_csv("x.csv", &whole[..]).expect("rows");
    assert_eq!((results.rows.len(), results.is_torn), (2, false));
}

#[test]
fn the_rows_of_several_machines_are_told_apart() {
    let emulated = Row {
        virtualization: "qemu/tcg".to_owned(),
        ..ordinary_row()
    };
    let [one, other] = rows();
    let csv = encode(&[one, emulated.clone(), other]).expect("rows can be encoded");
    let results = Results::from_csv("x.csv", &csv[..]).expect("rows");
    let machines = results.by_machine();
    let counts: Vec<usize> = machines.iter().map(|file| file.rows.len()).collect();
    assert_eq!(counts, [2, 1]);
    assert_eq!(machines[1].rows, [emulated]);
    assert!(machines[1].name.starts_with("x.csv (") && !machines[1].name.contains('/'));
}

#[test]
fn a_text_may_be_that_of_a_number() {
    let row = Row {
        model: "Infinity".to_owned(),
        kernel: "6.120".to_owned(),
        ..ordinary_row()
    };
    let results = Results::from_csv("x.csv", text(std::slice::from_ref(&row)).as_bytes());
    assert_eq!(results.map(|it| it.rows), Ok(vec![row]));
}

/// Returns the CSV of the rows with the columns of the short selection.
fn short(rows: &[Row]) -> Vec<u8> {
    let selection = Selection::of_rows(ColumnSet::Short, rows);
    export::Format::Csv
        .encode(rows, &selection, |_| Vec::new())
        .expect("rows can be encoded")
}

#[test]
fn a_row_has_what_follows_from_its_case_where_a_file_has_no_column_for_it() {
    let whole = Row {
        machine_id: "rpi-4b, a board".to_owned(),
        ..ordinary_row()
    };
    let results = Results::from_csv("x.csv", &short(std::slice::from_ref(&whole))).expect("rows");
    let [row] = &results.rows[..] else {
        panic!("{results:?}")
    };
    assert_eq!((row.senders, row.receivers), (1, 1));
    assert_eq!(row.rcvbuf_requested_bytes, whole.rcvbuf_requested_bytes);
    assert_eq!(row.received_mbps_high, whole.received_mbps_high);
    assert_eq!(row.residual_sd_pct, whole.residual_sd_pct);
    assert_eq!((row.failed_calls, row.window_ms), (None, None));
    assert_eq!(Machine::of(row).to_string(), "rpi-4b, a board");
}

#[test]
fn a_row_that_agrees_with_the_log_has_all_that_the_log_says() {
    let whole = rows();
    let mut results = Results::from_csv("x.csv", &short(&whole)).expect("rows");
    results.rows[1].received_pps = Some(1.0);
    let edited = results.rows[1].clone();
    results.complete(&whole);
    assert_eq!(results.rows, [whole[0].clone(), edited]);
}

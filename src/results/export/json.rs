//! JSON output (RFC 8259): an object of the conclusion and the rows, one row per line, or the rows alone (JSON Lines).
//! Numbers are numbers, missing values are `null`, and `reason` and each of
//! the list `warnings` have a `code` for programs and a `text` for people. Otherwise the fields are the columns of the
//! CSV, in the same order.

use serde_json::{Error, Value, json};

use super::Conclusion;
use crate::results::row::Row;

/// Returns the rows as JSON objects.
///
/// # Errors
/// Fails if a row cannot be written as JSON.
pub fn objects(rows: &[Row]) -> Result<Vec<Value>, Error> {
    let object = |row: &Row| {
        let mut fields = serde_json::to_value(row)?;
        // Serialization joins the warnings into one text for CSV; JSON can hold a list.
        let warnings = row.warnings.iter().map(|it| sentence(it.code(), it));
        fields["warnings"] = warnings.collect();
        let code = row.reason.code();
        fields["reason"] = code.map(|code| sentence(code, &row.reason)).into();
        Ok(fields)
    };
    rows.iter().map(object).collect()
}

fn sentence(code: &str, sentence: &impl ToString) -> Value {
    json!({ "code": code, "text": sentence.to_string() })
}

/// Returns one JSON object: the fields of the conclusion, and `rows`, one per line.
///
/// # Errors
/// Fails if an object cannot be written as JSON.
pub fn document(conclusion: &Conclusion, rows: &[Value]) -> Result<Vec<u8>, Error> {
    let mut text = b"{".to_vec();
    let fields = serde_json::to_value(conclusion)?;
    for (name, value) in fields.as_object().into_iter().flatten() {
        text.extend_from_slice(format!("{}:{value},\n", json!(name)).as_bytes());
    }
    text.extend_from_slice(b"\"rows\":[");
    for (n, row) in rows.iter().enumerate() {
        text.extend_from_slice(if n == 0 { b"\n" } else { b",\n" });
        serde_json::to_writer(&mut text, row)?;
    }
    text.extend_from_slice(b"\n]}\n");
    Ok(text)
}

/// Returns the objects as JSON Lines.
///
/// # Errors
/// Fails if an object cannot be written as JSON.
pub fn lines(objects: &[Value]) -> Result<Vec<u8>, Error> {
    let mut text = Vec::new();
    for object in objects {
        serde_json::to_writer(&mut text, object)?;
        text.push(b'\n');
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::row::tests::ordinary_row;
    use crate::results::row::{CaseWarning, Failure, Reason};

    fn encoded(rows: &[Row]) -> Vec<u8> {
        let objects = objects(rows).expect("it can be encoded");
        document(&Conclusion::default(), &objects).expect("it can be encoded")
    }

    #[test]
    fn a_program_reads_what_the_rows_have() {
        let reason = "a \"quote\"; a line\nand a \\";
        let text = "one; not two, µ|é".to_owned();
        let remark = CaseWarning::Remark { text };
        let row = Row {
            reason: Reason::Failed(Failure::told(reason)),
            received_pps: None,
            cv_pct: Some(0.1 + 0.2),
            unaccounted_packets: Some(-3),
            warnings: vec![CaseWarning::NotPinned.into(), remark.into()],
            ..ordinary_row()
        };
        let read: Value =
            serde_json::from_slice(&encoded(std::slice::from_ref(&row))).expect("JSON");
        let read = &read["rows"];
        assert_eq!(read[0]["reason"], json!({ "code": "told", "text": reason }));
        assert!(read[0]["received_pps"].is_null());
        assert_eq!(read[0]["cv_pct"], 0.1 + 0.2);
        assert_eq!(read[0]["unaccounted_packets"], -3);
        let warnings = json!([
            { "code": "not-pinned", "text": "a thread could not be pinned" },
            { "code": "remark", "text": "one; not two, µ|é" },
        ]);
        assert_eq!(read[0]["warnings"], warnings);
    }

    #[test]
    fn each_row_is_a_line_with_the_fields_in_the_order_of_the_columns() {
        let text = String::from_utf8(encoded(&[ordinary_row(), ordinary_row()]));
        let text = text.expect("UTF-8");
        let lines: Vec<&str> = text.lines().collect();
        let conclusion = [
            r#"{"answer":[],"#,
            r#""quality":null,"#,
            r#""verdict":null,"#,
        ];
        assert_eq!(lines[..3], conclusion);
        assert_eq!((lines[3], lines[6], lines.len()), (r#""rows":["#, "]}", 7));
        assert!(lines[4].starts_with(r#"{"engine":"#) && lines[4].ends_with("},"));
        assert!(
            lines[5].contains(r#""warnings":[],"case":"#),
            "{}",
            lines[5]
        );
        assert!(lines[5].contains(r#""verified_packets":null,"#));
        assert!(lines[5].contains(r#""received_pps":200000.0,"#));
    }

    #[test]
    fn no_rows_are_an_empty_array() {
        let read: Value = serde_json::from_slice(&encoded(&[])).expect("JSON");
        assert_eq!(read["rows"], json!([]));
    }
}

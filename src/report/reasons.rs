//! Section of the cases that were not measured, with the reasons.

use std::collections::BTreeMap;

use maud::{Markup, html};

use super::number;
use crate::results::files::Results;
use crate::results::row::Status;

/// Returns each distinct reason, with its cases.
pub(super) fn table(file: &Results) -> Markup {
    let mut reasons: BTreeMap<(String, String), Vec<String>> = BTreeMap::new();
    for row in file.rows.iter().filter(|row| row.status != Status::Ok) {
        let key = (row.status.to_string(), row.reason.line());
        reasons.entry(key).or_default().push(row.case.key());
    }
    if reasons.is_empty() {
        return html! { p { "None: every case was measured." } };
    }
    html! {
        .scroll tabindex="0" role="region" aria-label="Skipped and failed" {
            table .words {
                caption { "Cases that are not ok" }
                thead {
                    tr { th scope="col" { "status" } th scope="col" { "reason" } th scope="col" { "cases" } }
                }
                tbody {
                    @for ((status, reason), cases) in &reasons {
                        tr {
                            th scope="row" { (status) }
                            td { (reason) }
                            td {
                                details {
                                    summary { (number::counted(cases.len(), "case")) }
                                    @for case in cases { code { (case) } br; }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

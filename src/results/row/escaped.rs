//! Columns with texts, which are escaped for display on a terminal.

use super::column::{Cell, Holds};
use crate::data::{Destination, HostAddress};
use crate::term::escape;

impl Cell for String {
    const HOLDS: Holds = Holds::Text;

    fn escaped(&self) -> Self {
        escape::line(self).into_owned()
    }
}

impl Cell for Destination {
    const HOLDS: Holds = Holds::Text;

    /// Returns the address. It loses the name of an interface that would have to be escaped.
    fn escaped(&self) -> Self {
        let text = self.to_string();
        match *self {
            Self::Of(address) if escape::line(&text) != text => Self::Of(HostAddress {
                interface: None,
                ..address
            }),
            other => other,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::row::Row;
    use crate::results::row::tests::ordinary_row;

    #[test]
    fn every_text_of_a_row_is_escaped() {
        let steering = "a\u{1b}[2J\nb\u{202e}";
        let text = serde_json::to_string(
            &Row {
                model: steering.to_owned(),
                version: steering.to_owned(),
                ..ordinary_row()
            }
            .escaped_for_terminal(),
        );
        let text = text.expect("it has a shape");
        assert!(
            !text.contains(['\u{1b}', '\u{202e}']) && !text.contains(r"\u001b"),
            "{text}"
        );
        assert_eq!(text.matches("{202e}").count(), 2, "{text}");
    }

    #[test]
    fn a_row_without_control_characters_stays_as_it_is() {
        let row = Row {
            model: "one; not two, µ".to_owned(),
            cv_pct: Some(0.1 + 0.2),
            ..ordinary_row()
        };
        assert_eq!(row.escaped_for_terminal(), row);
    }
    #[test]
    fn an_address_loses_an_interface_whose_name_steers_a_terminal() {
        let destination = |text: &str| text.parse::<Destination>().expect("an address");
        assert_eq!(
            destination("fe80::1%a\u{1b}[2J").escaped(),
            destination("fe80::1")
        );
        let ordinary = destination("fe80::1%eth0");
        assert_eq!(ordinary.escaped(), ordinary);
    }
}

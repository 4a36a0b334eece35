//! Colours of engines on the page. An engine has the colour of its group.

use crate::data::Group;
use crate::engines;
use crate::results::row::Row;

/// Returns the group of the receiver, which determines the received rate. `None`: unknown engine.
pub(super) fn group(row: &Row) -> Option<Group> {
    let name = row.receiver.parse().ok()?;
    engines::properties(name).map(|engine| engine.group)
}

/// Returns the colour of a group. All readers can distinguish it from the colours of the other groups; see `page.css`.
pub(super) fn colour(group: Option<Group>) -> u8 {
    match group {
        Some(Group::Blocking) => 1,
        Some(Group::Readiness) => 2,
        Some(Group::Batch) => 3,
        Some(Group::Async) => 4,
        Some(Group::Offload) => 5,
        Some(Group::Program | Group::Harness) | None => 7,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::row::tests::ordinary_row;

    fn row(engine: &str) -> Row {
        Row {
            sender: engine.to_owned(),
            receiver: engine.to_owned(),
            ..ordinary_row()
        }
    }

    #[test]
    fn every_engine_of_the_registry_has_a_group() {
        for entry in engines::all() {
            assert!(
                group(&row(entry.name().as_str())).is_some(),
                "{}",
                entry.name()
            );
        }
        assert_eq!(group(&row("another")), None);
    }
}

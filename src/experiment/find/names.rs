//! Names of the cases of a search for people: the engine, and the settings in which the cases differ.

use std::fmt::Write as _;

use super::knee::Call;
use crate::data::Case;

/// Names of the cases of one search.
#[derive(Clone, Debug, Default)]
pub struct Names {
    /// Settings that all cases share.
    shared: Vec<String>,
    searched: Searched,
}

/// Parameter that a search chooses, so that it is no setting of the case.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Searched {
    #[default]
    Other,
    Payload,
    /// Batch or train.
    Call,
}

impl Names {
    /// Returns the names of these cases.
    pub fn new<'a>(cases: impl IntoIterator<Item = &'a Case>) -> Self {
        let mut all = cases.into_iter().map(settings);
        let mut shared = all.next().unwrap_or_default();
        // Every name has the payload.
        shared.drain(..shared.len().min(1));
        for settings in all {
            shared.retain(|setting| settings.contains(setting));
        }
        Self {
            shared,
            searched: Searched::Other,
        }
    }

    /// Leaves the payload out of the names, for a search that chooses it.
    pub fn without_payload(self) -> Self {
        Self {
            searched: Searched::Payload,
            ..self
        }
    }

    /// Leaves the batch or train out of the names, for a search that chooses it.
    pub fn without_call(self) -> Self {
        Self {
            searched: Searched::Call,
            ..self
        }
    }

    /// Returns the name of a case: `std, 300 B`.
    pub fn name(&self, case: &Case) -> String {
        let own = self.own(case);
        let gap = if own.is_empty() { "" } else { ", " };
        let label = match self.searched {
            Searched::Call => Call::left_out(case).label(),
            _ => case.label(),
        };
        format!("{label}{gap}{own}")
    }

    /// Returns the payload of a case, and its settings that not all cases share: `300 B, direction up`.
    pub fn own(&self, case: &Case) -> String {
        let mut own = settings(case);
        own.drain(..usize::from(self.searched == Searched::Payload));
        own.retain(|setting| !self.shared.contains(setting));
        own.join(", ")
    }

    /// Returns the settings that all cases share: `2 threads, v4, connected`.
    pub fn shared(&self) -> String {
        self.shared.join(", ")
    }

    /// Returns the name of a trial: the name of its case, with the settings of the trial alone.
    pub fn trial(&self, case: &Case, tried: &Case) -> String {
        let of_case = settings(case);
        let mut name = self.name(case);
        for setting in settings(tried) {
            if !of_case.contains(&setting) {
                name += ", ";
                name += &setting;
            }
        }
        if self.searched == Searched::Call {
            let (call, datagrams) = Call::of(tried);
            let _ = write!(name, ", {} {datagrams}", call.name());
        }
        name
    }
}

/// Returns the settings of a case, the payload first.
fn settings(case: &Case) -> Vec<String> {
    let plural = if case.threads.is_alone() { "" } else { "s" };
    let mut settings = vec![
        format!("{} B", case.payload),
        format!("{} thread{plural}", case.threads),
        case.ip.to_string(),
        case.connection.to_string(),
    ];
    let unusual = case.block().unusual();
    settings.extend(unusual.map(|setting| setting.to_string().replace('_', " ")));
    settings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_has_the_engine_the_payload_and_what_differs() {
        let case = |key: &str| Case::of_key(key).expect("a key");
        let cases = [
            case("std:std/2t/300B/connected/v4/up"),
            case("gso:mmsg/2t/300B/connected/v4/batch32/down"),
        ];
        let names = Names::new(&cases);
        assert_eq!(names.shared(), "2 threads, v4, connected");
        assert_eq!(names.name(&cases[0]), "std, 300 B, direction up");
        assert_eq!(names.name(&cases[1]), "gso>mmsg/32, 300 B, direction down");
        let tried = case("std:std/2t/300B/connected/v4/up/rate1000");
        let expected = "std, 300 B, direction up, rate 1000";
        assert_eq!(names.trial(&cases[0], &tried), expected);

        let any_payload = names.clone().without_payload();
        assert_eq!(any_payload.name(&cases[0]), "std, direction up");
        let any_batch = names.without_call();
        assert_eq!(any_batch.name(&cases[1]), "gso>mmsg, 300 B, direction down");
        let tried = case("gso:mmsg/2t/300B/connected/v4/batch8/down");
        let expected = "gso>mmsg, 300 B, direction down, batch 8";
        assert_eq!(any_batch.trial(&cases[1], &tried), expected);

        let alone = Names::new(&cases[..1]);
        assert_eq!(alone.name(&cases[0]), "std, 300 B");
        assert_eq!(alone.shared(), "2 threads, v4, connected, direction up");
    }
}

//! Names of the cases of a search for people: the engine, and the settings in which the cases differ.

use super::axis::Parameter;
use crate::data::Case;

/// Names of the cases of one search.
#[derive(Clone, Debug, Default)]
pub struct Names {
    /// Settings that all cases share.
    shared: Vec<String>,
    /// Parameter that the search chooses, so that it is no setting of the case.
    searched: Option<Parameter>,
}

impl Names {
    /// Returns the names of these cases. `searched`: parameter that a name leaves out, as the search chooses it.
    pub fn new<'a>(cases: impl IntoIterator<Item = &'a Case>, searched: Option<Parameter>) -> Self {
        let mut all = cases.into_iter().map(settings);
        let mut shared = all.next().unwrap_or_default();
        // Every name has the payload.
        shared.drain(..shared.len().min(1));
        for settings in all {
            shared.retain(|setting| settings.contains(setting));
        }
        Self { shared, searched }
    }

    /// Returns the name of a case: `std, 300 B`.
    pub fn name(&self, case: &Case) -> String {
        let own = self.own(case);
        let gap = if own.is_empty() { "" } else { ", " };
        let label = match self.searched {
            Some(Parameter::Call) => Parameter::without_call(case).label(),
            _ => case.label(),
        };
        format!("{label}{gap}{own}")
    }

    /// Returns the payload of a case, and its settings that not all cases share: `300 B, direction up`.
    pub fn own(&self, case: &Case) -> String {
        let mut own = settings(case);
        let is_searched = matches!(self.searched, Some(Parameter::Payload { .. }));
        own.drain(..usize::from(is_searched));
        own.retain(|setting| !self.shared.contains(setting));
        own.join(", ")
    }

    /// Returns the settings that all cases share: `2 threads, v4, connected`.
    pub fn shared(&self) -> String {
        self.shared.join(", ")
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
    use crate::data::Payload;

    #[test]
    fn a_name_has_the_engine_the_payload_and_what_differs() {
        let case = |key: &str| Case::of_key(key).expect("a key");
        let cases = [
            case("std:std/2t/300B/connected/v4/up"),
            case("gso:mmsg/2t/300B/connected/v4/batch32/down"),
        ];
        let names = Names::new(&cases, None);
        assert_eq!(names.shared(), "2 threads, v4, connected");
        assert_eq!(names.name(&cases[0]), "std, 300 B, direction up");
        assert_eq!(names.name(&cases[1]), "gso>mmsg/32, 300 B, direction down");
        let tried = case("std:std/2t/300B/connected/v4/up/rate1000");
        assert_eq!(names.name(&tried), "std, 300 B, direction up, rate 1000");
        let tried = case("gso:mmsg/2t/300B/connected/v4/batch8/down");
        assert_eq!(names.name(&tried), "gso>mmsg/8, 300 B, direction down");

        let any_payload = Parameter::Payload {
            from: Payload::MIN,
            to: Payload::MIN,
        };
        let any_payload = Names::new(&cases, Some(any_payload));
        assert_eq!(any_payload.name(&cases[0]), "std, direction up");
        let any_batch = Names::new(&cases, Some(Parameter::Call));
        assert_eq!(any_batch.name(&cases[1]), "gso>mmsg, 300 B, direction down");

        let alone = Names::new(&cases[..1], None);
        assert_eq!(alone.name(&cases[0]), "std, 300 B");
        assert_eq!(alone.shared(), "2 threads, v4, connected, direction up");
    }
}

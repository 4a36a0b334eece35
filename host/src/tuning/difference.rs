//! Settings that somebody else may have changed.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::Setting;
use crate::sys::files::Root;

/// A setting that has another value than when the search began.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Difference {
    text: String,
    /// True if the setting is gone with its interface.
    pub is_gone: bool,
    /// True if the value is the one that the search tried, or cannot be read.
    pub may_be_ours: bool,
}

impl Difference {
    /// Returns the difference of a setting from its value before. `None`: there is none.
    fn of(setting: &Setting, root: &Root) -> Option<Self> {
        let Setting {
            location,
            before,
            tried,
        } = setting;
        let is_gone = location.is_gone(root);
        let (text, may_be_ours) = match location.read(root) {
            _ if is_gone => (format!("{location} is gone"), false),
            Err(error) => (format!("{location}: {error}"), true),
            Ok(now) if location.is_same(&now, before) => return None,
            Ok(now) => (
                format!("{location} is {now}, and was {before} when the search began"),
                location.is_same(&now, tried),
            ),
        };
        Some(Self {
            text,
            is_gone,
            may_be_ours,
        })
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// Reason why the settings of a tuning could not be changed, or did not stay so.
#[derive(Clone, Debug, Serialize, Deserialize, thiserror::Error)]
#[serde(rename_all = "snake_case")]
pub enum NotChanged {
    /// One of them had another value than when the search began.
    #[error("{0}")]
    Before(Difference),
    /// The kernel or the driver refused it, or somebody else set another value meanwhile, in these words.
    #[error("{0}")]
    Refused(String),
}

/// Returns the settings that have other values than when the search began, or that cannot be read.
pub fn differences(settings: &[Setting], root: &Root) -> Vec<Difference> {
    let of = |setting| Difference::of(setting, root);
    settings.iter().filter_map(of).collect()
}

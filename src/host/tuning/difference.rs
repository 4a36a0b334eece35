//! Settings that somebody else may have changed.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{Location, Setting};
use crate::sys::files::Root;

/// A setting that has another value than when the search began.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Difference {
    location: Location,
    now: Now,
}

/// Present state of a setting that was changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Now {
    /// It is gone with its interface.
    Gone,
    /// It cannot be read, for this reason.
    Unreadable(String),
    /// It has this value.
    Value {
        now: String,
        before: String,
        is_tried: bool,
    },
}

impl Difference {
    /// Returns the difference of a setting from its value before. `None`: there is none.
    fn of(setting: &Setting, root: &Root) -> Option<Self> {
        let Setting {
            location,
            before,
            tried,
        } = setting;
        let now = if location.is_gone(root) {
            Now::Gone
        } else {
            match location.read(root) {
                Err(error) => Now::Unreadable(error.to_string()),
                Ok(now) if location.is_same(&now, before) => return None,
                Ok(now) => Now::Value {
                    is_tried: location.is_same(&now, tried),
                    before: before.clone(),
                    now,
                },
            }
        };
        let location = location.clone();
        Some(Self { location, now })
    }

    /// Returns whether the value is the one that the search tried, or cannot be read.
    pub fn may_be_ours(&self) -> bool {
        match self.now {
            Now::Gone => false,
            Now::Unreadable(_) => true,
            Now::Value { is_tried, .. } => is_tried,
        }
    }

    /// Returns whether the setting is gone with its interface.
    pub fn is_gone(&self) -> bool {
        self.now == Now::Gone
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let location = &self.location;
        match &self.now {
            Now::Gone => write!(f, "{location} is gone"),
            Now::Unreadable(error) => write!(f, "{location}: {error}"),
            Now::Value { now, before, .. } => {
                write!(
                    f,
                    "{location} is {now}, and was {before} when the search began"
                )
            }
        }
    }
}

/// Reason why the settings of a tuning could not be changed.
#[derive(Clone, Debug, Serialize, Deserialize, thiserror::Error)]
#[serde(rename_all = "snake_case")]
pub enum NotChanged {
    /// One of them had another value than when the search began.
    #[error("{0}")]
    Before(Difference),
    /// The kernel or the driver refused it, in these words.
    #[error("{0}")]
    Refused(String),
}

/// Returns the settings that have other values than when the search began, or that cannot be read.
pub fn differences(settings: &[Setting], root: &Root) -> Vec<Difference> {
    let of = |setting| Difference::of(setting, root);
    settings.iter().filter_map(of).collect()
}

//! Charts as HTML tables and SVG. The page's style defines their colours, for light and dark mode.
//!
//! | part | draws |
//! |---|---|
//! | `tracks` | one line per engine, with dots and intervals |
//! | `time_series` | values over time |
//! | `time_line` | what lasted from when to when |
//! | `mark` | the sign of a value, its entry in a legend |
//! | `scale` | positions of values and ticks on an axis |

mod mark;
mod scale;
mod time_line;
mod time_series;
mod tracks;

pub(super) use self::mark::{Look, key};
pub(super) use self::scale::Scale;
pub(super) use self::time_line::{Parts, time_line};
pub(super) use self::time_series::time_series;
pub(super) use self::tracks::{Drawn, Track, Tracks};

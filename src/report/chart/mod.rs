//! Charts as SVG and HTML tables. The page's style defines their colours, for light and dark mode.
//!
//! | part | draws |
//! |---|---|
//! | `tracks` | one line per engine, with dots and intervals |
//! | `time_series` | values over time |
//! | `time_line` | what lasted from when to when |
//! | `mark` | the sign of a value, its entry in a legend |
//! | `svg` | elements, the area of the data, grid and labels |
//! | `scale` | positions of values and ticks on an axis |

mod mark;
mod scale;
mod svg;
mod time_line;
mod time_series;
mod tracks;

pub(super) use self::mark::{Look, Shape, key};
pub(super) use self::scale::Scale;
pub(super) use self::svg::figure;
pub(super) use self::time_line::TimeLine;
pub(super) use self::time_series::TimeSeries;
pub(super) use self::tracks::{Drawn, Track, Tracks};

//! Charts, as SVG and tables whose colours are those of the page's style, by day and by night.
//!
//! | part | draws |
//! |---|---|
//! | `tracks` | an engine per line, with bars or marks |
//! | `scatter` | one value against another |
//! | `lines` | values over payload or other steps, a line for each engine |
//! | `time_series` | values over time |
//! | `mark` | a value, its interval, its entry in a legend |
//! | `svg` | elements, the area of the data, grid and labels |
//! | `scale` | where values and ticks are on an axis |

mod lines;
mod mark;
mod scale;
mod scatter;
mod svg;
mod time_series;
mod tracks;

pub(super) use self::lines::{Line, Lines, Over, legend};
pub(super) use self::mark::{LOOKS, Look, Mark, Shape, key};
pub(super) use self::scale::Scale;
pub(super) use self::scatter::{Points, Scatter};
pub(super) use self::svg::figure;
pub(super) use self::time_series::TimeSeries;
pub(super) use self::tracks::{Drawn, Track, Tracks, WHOLE};

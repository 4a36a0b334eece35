//! Charts, as SVG whose colours are those of the page's style, by day and by night.
//!
//! | part | draws |
//! |---|---|
//! | `dots` | an engine per row |
//! | `lines` | values over payload or other steps, a line for each engine |
//! | `time_series` | values over time |
//! | `mark` | a value, its interval, its entry in a legend |
//! | `svg` | elements, the area of the data, grid and labels |
//! | `scale` | where values and ticks are on an axis |

mod dots;
mod lines;
mod mark;
mod scale;
mod svg;
mod time_series;

pub(super) use self::dots::{DotRow, Dots, First};
pub(super) use self::lines::{Line, Lines, Over, legend};
pub(super) use self::mark::{LOOKS, Look, Mark, Shape, key};
pub(super) use self::svg::figure;
pub(super) use self::time_series::TimeSeries;

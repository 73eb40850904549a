//! Pictures, as HTML with SVG within.
//!
//! Our own rather than a charting crate's: what we draw is dots with intervals and rows of time,
//! each a page of code, and what matters most (true sizes of text on a phone, colours by the
//! reader's scheme, a script that zooms without fetching anything) is what such crates leave to the
//! caller.
//!
//! Dot charts need no script to fit the screen: names and figures are text, and each row's plot is
//! an SVG whose places are in percent. A timeline comes drawn at a fixed width, and the page's
//! script draws it anew for the true one, and for each zoom.

mod axis;
mod data;
mod dots;
mod text;
mod timeline;

pub use axis::Axis;
pub use data::{State, timeline_data};
pub use dots::{DotRow, Dots, Series};
pub use text::escape;
pub use timeline::{Drawing, Window, timeline_svg};

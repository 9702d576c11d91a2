//! Reports of a run or a reproduction for people: one HTML file that needs nothing else.
//!
//! Everything in it is an [`Element`], whose text and attributes are escaped when it is written; nothing else makes
//! markup. Charts and maps are elements too: SVG, coloured by the style sheet, so that they follow the reader's dark or
//! light theme. The same findings give the same bytes: no clock, no random identifier.

mod axis;
mod bar_chart;
mod figure;
mod figure_page;
mod frame;
mod legend;
mod line_chart;
mod machine_page;
mod markup;
mod network_map;
mod numbers;
mod page;
mod plane;
pub mod rehearsal_page;
pub mod run;
pub mod store_page;
mod style_sheet;
mod table;
pub mod terminal;

pub use axis::{Axis, Scale};
pub use bar_chart::{BarChart, BarSeries};
pub use figure::{Figure, painted};
pub use figure_page::FigurePage;
pub use legend::{Mark, STYLES, bar_legend, legend};
pub use line_chart::{LineChart, Series};
pub use machine_page::machine_page;
pub use markup::{Element, element};
pub use network_map::{ChannelShading, NetworkMap, RegionMap, heat_scale};
pub use numbers::{Measure, compact, fixed, signed_percent, significant};
pub use page::Page;
pub use table::{Cell, Table};

//! Calibration: parameters of a machine description are fitted to measured times.
//!
//! [`read`] reads what was measured, [`Parameter`] is what may be changed, and between which bounds, [`simplex`] looks for the
//! least error, [`uncertainty`] says how far off the parameters may be, and [`Calibration`] puts them together. Half of the
//! times are held back: the parameters are not fitted to them, and show there what they are worth.

mod calibration;
mod cells_by_name;
mod parameter;
mod program;
pub mod simplex;
mod times;
mod told;
pub mod uncertainty;

pub use calibration::{Calibration, CalibrationError, Effort, Estimate, Fitted, Outcome, Progress};
pub use parameter::{Parameter, ParameterError};
pub use times::{Measurement, TimesError, parse, read};

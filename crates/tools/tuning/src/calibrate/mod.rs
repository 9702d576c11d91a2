//! Calibration: parameters of a machine description are fitted to measured times.
//!
//! [`read`] reads the measurements, [`Parameter`] is what may be varied and between which bounds, [`simplex`] and
//! [`least_squares`] search for the least error, [`uncertainty`] estimates the error of the parameters, and
//! [`Calibration`] combines them. Half of the times are held out: the parameters are not fitted to them, and are
//! validated there.

mod calibration;
mod cells_by_name;
mod json;
pub mod least_squares;
mod parameter;
mod program;
pub mod simplex;
mod times;
pub mod uncertainty;

pub use calibration::{Calibration, CalibrationError, CalibrationOutcome, Effort, Estimate, FittedTime, Progress};
pub use parameter::{Parameter, ParameterError};
pub use times::{Measurement, TimesError, parse, read};

//! Measures the postal model's two parameters: t0, how long a rank is busy sending a message, and lambda, how long it
//! takes until the message is received, in units of t0.
//!
//! Two experiments determine them independently of each other: [`OneAnswer`] and [`AllAnswered`]. Each is run with
//! several numbers k of partners [drawn](partners) at random, and its times are [fitted](fit) over k.
//!
//! Source: Bruck, De Coster, Dewulf, Ho and Lauwereins, "On the Design and Implementation of Broadcast and Global
//! Combine Operations Using the Postal Model", section 2.2.

mod all_answered;
mod fit;
mod one_answer;
mod partners;
mod student;

pub use all_answered::AllAnswered;
pub use fit::{Experiment, Figure, FitError, MOST_PARTNERS, MOST_SAMPLES, Measured, Sample, fit};
pub use one_answer::OneAnswer;
pub use partners::partners;
pub use student::quantile_95;

//! The quantities that every layer uses: time, bytes, rates, ranks; and pseudorandom numbers from a seed.
//!
//! Each is a newtype over an integer, so that a sum of nanoseconds and bytes does not compile and a run has the same
//! result on every machine. All of them parse from what a person writes (`"1.5 us"`, `"27 MB/s"`, `"4 KiB"`) and print
//! back in the same notation.

mod bytes;
mod file_format;
mod input_file;
mod named;
mod notation;
mod rank;
mod rate;
pub mod reading;
mod rounded;
mod shown;
pub mod shuffle;
mod spelling;
pub mod splitmix64;
mod time;

pub use bytes::Bytes;
pub use file_format::FileFormat;
pub use input_file::{BoundedFile, read_at_most};
pub use named::{TextOrNumber, by_name};
pub use notation::{IN_QUOTES, ParseError};
pub use rank::Rank;
pub use rate::Rate;
pub use rounded::{amount, bytes_per_second, rounded};
pub use shown::{is_hidden_character, shown, shown_path};
pub use spelling::{counted, edit_distance, nearest};
pub use time::{Duration, Time};

// The macros of this crate expand to implementations of their traits where they are used.
#[doc(hidden)]
pub use schemars;
#[doc(hidden)]
pub use serde;

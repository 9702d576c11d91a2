//! What fuzz targets have in common.

use machines::model::LogGp;
use quantities::{Bytes, Duration};

/// The machine that they run programs on: its clock is the quickest, and long messages wait for their receivers.
pub const MODEL: LogGp = LogGp {
    latency: Duration::from_nanoseconds(2_500),
    overhead: Duration::from_nanoseconds(1_500),
    gap: Duration::from_nanoseconds(1_000),
    gap_per_byte: Duration::from_nanoseconds(6),
    overhead_per_byte: Duration::ZERO,
    rendezvous: Some(Bytes(1_000)),
};

//! Figure 5: 4096 bytes, over the number of nodes.

use super::StudyOfBroadcast;
use super::growth::{self, Printed};
use crate::Drawing;

const PRINTED: Printed = Printed {
    bytes: 4096,
    time: None,
    faster: (30.0, 25.0),
    growth: (12.3, 8.0, 18.0),
    tree_growth: (54.0, 45.0, 65.0),
};

/// The study.
pub const STUDY: StudyOfBroadcast = StudyOfBroadcast {
    place: "figure 5",
    title: "4096 bytes over the number of nodes",
    claims: &["bcast.fig5.latency_4096"],
    jobs: || growth::jobs(PRINTED.bytes),
    judge: |_, runs| growth::judge(runs, &PRINTED),
    draw: |runs| {
        let caption = "The same for 4096 bytes. The text prints no time here, only how much it grows.";
        Ok(Some(Drawing { caption: caption.to_string(), ..growth::draw(runs, &PRINTED)? }))
    },
};

//! Figure 4: 256 bytes, over the number of nodes.

use super::StudyOfBroadcast;
use super::growth::{self, Printed};
use crate::Drawing;

const PRINTED: Printed = Printed {
    bytes: 256,
    time: Some((142.0, 10.0)),
    faster: (60.0, 45.0),
    growth: (16.0, 10.0, 20.0),
    tree_growth: (45.0, 35.0, 55.0),
};

/// The study.
pub const STUDY: StudyOfBroadcast = StudyOfBroadcast {
    place: "figure 4",
    title: "256 bytes over the number of nodes",
    claims: &["bcast.fig4.latency_256"],
    jobs: || growth::jobs(PRINTED.bytes),
    judge: |_, runs| growth::judge(runs, &PRINTED),
    draw: |runs| {
        let caption = "Until a broadcast of 256 bytes is replied to, over the number of nodes. Of the printed lines only the ends are in the text: \
                  142 \u{b5}s, and from that and the percentages, as we read them, the other three.";
        Ok(Some(Drawing { caption: caption.to_string(), ..growth::draw(runs, &PRINTED)? }))
    },
};

//! Figure 4: 256 bytes, over the number of nodes.

use super::StudyOfBroadcast;
use super::growth;
use crate::Drawing;

/// The claim with the printed numbers, and the size of its messages. [B]
const CLAIM: &str = "bcast.fig4.latency_256";
const BYTES: u32 = 256;

/// The study.
pub const STUDY: StudyOfBroadcast = StudyOfBroadcast {
    place: "figure 4",
    title: "256 bytes over the number of nodes",
    claims: &[CLAIM],
    jobs: || growth::jobs(BYTES),
    judge: |claim, runs| growth::judge(claim, runs, BYTES),
    draw: |claims, runs| {
        let caption = "Time until a broadcast of 256 bytes is answered, over the number of nodes. Only the ends of the printed lines are in the text: \
                  142 us, and from that and the percentages, as we read them, the other three.";
        Ok(Some(Drawing { caption: caption.to_string(), ..growth::draw(claims.get(CLAIM)?, runs, BYTES)? }))
    },
};

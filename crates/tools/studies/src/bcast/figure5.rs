//! Figure 5: 4096 bytes, over the number of nodes.

use super::StudyOfBroadcast;
use super::growth;
use crate::Drawing;

/// The claim with the printed numbers, and the size of its messages. [B]
const CLAIM: &str = "bcast.fig5.latency_4096";
const BYTES: u32 = 4096;

/// The study.
pub const STUDY: StudyOfBroadcast = StudyOfBroadcast {
    place: "figure 5",
    title: "4096 bytes over the number of nodes",
    claims: &[CLAIM],
    jobs: || growth::jobs(BYTES),
    judge: |claim, runs| growth::judge(claim, runs, BYTES),
    draw: |claims, runs| {
        let caption = "The same for 4096 bytes. The text prints no time here, only how much it grows.";
        Ok(Some(Drawing { caption: caption.to_string(), ..growth::draw(claims.get(CLAIM)?, runs, BYTES)? }))
    },
};

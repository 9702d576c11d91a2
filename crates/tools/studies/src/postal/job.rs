//! One run of the study.

use std::fmt;

use crate::StudyRun;

/// The message sizes of the curves of lambda. [B]
pub const SIZES: [u32; 12] = [8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384];
/// The numbers of partners of a source in the runs that determine lambda.
pub const PARTNERS: [u32; 4] = [2, 4, 8, 16];
/// How often partners are drawn.
pub const DRAWS: u32 = 4;
/// How often the order of nodes is drawn.
pub const ORDERS: u32 = 8;
/// The alphas of the broadcasts, in hundredths.
pub const ALPHAS: std::ops::RangeInclusive<u32> = 50..=80;

/// One of the two experiments that determine lambda.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Experiment {
    /// The last partner answers.
    One,
    /// The last partner sends to all others.
    Two,
}

/// The order in which the nodes of a broadcast are split.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Nodes {
    /// In the random order with that number.
    Permuted(u32),
    /// Row by row from the source on.
    RowMajor,
}

/// Which operation of a global combine waits if lambda is not an integer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum DelayedOperation {
    /// Sends.
    Sends,
    /// Receives.
    Receives,
}

/// One run of the study.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum PostalRun {
    /// An experiment on the Delta.
    Latency {
        /// Which.
        experiment: Experiment,
        /// Whether sends block.
        blocking: bool,
        /// Size of the messages. [B]
        bytes: u32,
        /// The number of partners.
        partners: u32,
        /// The number of the draw.
        draw: u32,
    },
    /// A broadcast on 8 x 8 nodes of the Delta.
    Broadcast {
        /// Size of the message. [B]
        bytes: u32,
        /// alpha. [1/100]
        alpha: u32,
        /// The order of the nodes.
        nodes: Nodes,
    },
    /// A broadcast in the postal model with lambda 2.
    Tree {
        /// The number of nodes.
        nodes: u32,
        /// Whether along the optimal tree, or else the binomial one.
        optimal: bool,
    },
    /// A global combine in the postal model.
    Combine {
        /// lambda. [1/10]
        tenths: u32,
        /// The number of nodes.
        nodes: u32,
        /// What waits.
        delayed: DelayedOperation,
    },
}

impl StudyRun for PostalRun {
    fn cost(&self) -> f64 {
        // A packet crosses some ten channels on the Delta; in the postal model a message is one event.
        match *self {
            PostalRun::Latency { bytes, partners, .. } => f64::from(2 * partners * (bytes / 512 + 1) * 10),
            PostalRun::Broadcast { bytes, .. } => f64::from(63 * (bytes / 512 + 1) * 8),
            PostalRun::Tree { nodes, .. } => f64::from(nodes),
            PostalRun::Combine { nodes, .. } => f64::from(nodes * 12),
        }
    }

    fn is_exclusive(&self) -> bool {
        false
    }
}

impl fmt::Display for PostalRun {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PostalRun::Latency { experiment, blocking, bytes, partners, draw } => {
                let sends = if *blocking { "csend" } else { "isend" };
                let experiment = if *experiment == Experiment::One { "first" } else { "second" };
                write!(f, "{experiment} experiment, {sends}, {bytes} B, {partners} partners, draw {draw}")
            }
            PostalRun::Broadcast { bytes, alpha, nodes } => {
                write!(f, "broadcast of {bytes} B with alpha 0.{alpha:02}, ")?;
                match nodes {
                    Nodes::Permuted(number) => write!(f, "nodes in random order {number}"),
                    Nodes::RowMajor => write!(f, "nodes row by row"),
                }
            }
            PostalRun::Tree { nodes, optimal } => {
                write!(f, "{} tree of {nodes} nodes, lambda 2", if *optimal { "lambda" } else { "binomial" })
            }
            PostalRun::Combine { tenths, nodes, delayed } => {
                let what = if *delayed == DelayedOperation::Sends { "sends" } else { "receives" };
                write!(f, "combine on {nodes} nodes, lambda {}.{}, delayed {what}", tenths / 10, tenths % 10)
            }
        }
    }
}

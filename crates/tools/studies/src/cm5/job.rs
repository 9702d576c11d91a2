//! One run of the study.

use std::fmt;

use collectives::all_to_all::{Complete, Irregular};
use programs::applications::patterns::Application;

use crate::StudyRun;

/// The nodes of most of the paper's measurements.
pub const NODES: u32 = 32;
/// The nodes of the larger machine.
pub const MANY_NODES: u32 = 256;

/// A way to broadcast.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum How {
    /// The source sends to all others.
    Linear,
    /// By halves.
    Recursive,
    /// By the control network.
    Hardware,
}

impl How {
    /// Its name in the figures.
    pub const fn name(self) -> &'static str {
        match self {
            How::Linear => "linear",
            How::Recursive => "recursive",
            How::Hardware => "control network",
        }
    }
}

/// One run of the study.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Cm5Run {
    /// An empty message from node 0 of 32.
    Empty {
        /// The receiving node.
        to: u32,
    },
    /// All nodes at once send to the one whose number differs by `distance`, as fast as the network accepts: the nodes
    /// cost nothing.
    Flow {
        /// The number of nodes.
        nodes: u32,
        /// 1, 4, 16, ...: which bit of the number.
        distance: u32,
    },
    /// A complete exchange.
    Exchange {
        /// How.
        algorithm: Complete,
        /// The number of nodes.
        nodes: u32,
        /// Size of a message. [B]
        bytes: u32,
    },
    /// A two-dimensional Fourier transform.
    Transform {
        /// The exchange of blocks.
        algorithm: Complete,
        /// The number of nodes.
        nodes: u32,
        /// Numbers per side.
        size: u32,
    },
    /// A broadcast from node 0.
    Broadcast {
        /// How.
        how: How,
        /// The number of nodes, node 0 included.
        nodes: u32,
        /// Size of the message. [B]
        bytes: u32,
    },
    /// A random pattern on 32 nodes.
    Random {
        /// How it is scheduled.
        algorithm: Irregular,
        /// Its messages, in percent of those of a complete exchange.
        percent: u32,
        /// Their size. [B]
        bytes: u32,
        /// The number of the pattern.
        pattern: u32,
    },
    /// The pattern of an application, with its printed density and mean size, on 32 nodes.
    Application {
        /// Which.
        application: Application,
        /// How it is scheduled.
        algorithm: Irregular,
        /// The number of the mesh, or of the random pattern.
        mesh: u32,
    },
}

/// Payload of a packet. [B]
const PAYLOAD: u32 = 16;
/// Bytes that each node sends when the network alone is measured. [B]
pub const FLOW_BYTES: u32 = 16384;

/// Packets of a message, including the two that announce it.
fn packets(bytes: u32) -> f64 {
    f64::from(bytes.div_ceil(PAYLOAD).max(1) + 2)
}

/// Packets of a complete exchange.
fn exchanged(algorithm: Complete, nodes: u32, bytes: u32) -> f64 {
    let of_each = if algorithm.forwards() {
        f64::from(nodes.ilog2()) * packets(bytes * nodes / 2)
    } else {
        f64::from(nodes - 1) * packets(bytes)
    };
    of_each * f64::from(nodes)
}

impl StudyRun for Cm5Run {
    fn cost(&self) -> f64 {
        // Most packets go up and down the whole tree, whose levels have four children each.
        let hops = |nodes: u32| f64::from(nodes.ilog2().div_ceil(2)) * 2.0;
        match *self {
            Cm5Run::Empty { .. } => packets(0) * hops(NODES),
            Cm5Run::Flow { nodes, .. } => f64::from(nodes) * packets(FLOW_BYTES) * hops(nodes),
            Cm5Run::Exchange { algorithm, nodes, bytes } => exchanged(algorithm, nodes, bytes) * hops(nodes),
            Cm5Run::Transform { algorithm, nodes, size } => {
                exchanged(algorithm, nodes, 8 * (size / nodes) * (size / nodes)) * hops(nodes)
            }
            Cm5Run::Broadcast { how, nodes, bytes } => {
                let messages = if how == How::Hardware { 0 } else { nodes - 1 };
                f64::from(messages) * packets(bytes) * hops(nodes)
            }
            Cm5Run::Random { percent, bytes, .. } => f64::from(percent) * 9.92 * packets(bytes) * hops(NODES),
            Cm5Run::Application { application, .. } => {
                let printed = application.printed();
                // And the mesh has to be generated, which takes as long as some twenty packets for each of its
                // vertices.
                let messages = f64::from(printed.percent) * 9.92 * packets(printed.mean_bytes) * hops(NODES);
                messages + f64::from(application.vertices()) * 120.0
            }
        }
    }

    fn is_exclusive(&self) -> bool {
        false
    }
}

impl fmt::Display for Cm5Run {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Cm5Run::Empty { to } => write!(f, "empty message from node 0 to node {to}"),
            Cm5Run::Flow { nodes, distance } => write!(f, "{nodes} nodes, all sending {distance} away at once"),
            Cm5Run::Exchange { algorithm, nodes, bytes } => {
                write!(f, "{} exchange, {nodes} nodes, {bytes} B", algorithm.name())
            }
            Cm5Run::Transform { algorithm, nodes, size } => {
                write!(f, "transform of {size}x{size}, {} exchange, {nodes} nodes", algorithm.name())
            }
            Cm5Run::Broadcast { how, nodes, bytes } => {
                write!(f, "broadcast by {}, {nodes} nodes, {bytes} B", how.name())
            }
            Cm5Run::Random { algorithm, percent, bytes, pattern } => {
                write!(f, "{percent} % of {bytes} B, pattern {pattern}, {} scheduling", algorithm.name())
            }
            Cm5Run::Application { application, algorithm, mesh } => {
                write!(f, "{}, mesh {mesh}, {} scheduling", application.name(), algorithm.name())
            }
        }
    }
}

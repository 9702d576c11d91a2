//! One run of the study: a machine with its variations, a benchmark, the number of nodes, the size of the messages.

use std::fmt;

use crate::StudyRun;

/// The message sizes of the study's curves. [B]
pub const SIZES: [u32; 7] = [32, 64, 128, 256, 512, 1024, 2048];
/// The numbers of flit buffers that the study compares with one.
pub const MANY_BUFFERS: [u32; 6] = [2, 4, 8, 16, 32, 64];
/// The numbers of nodes to which the study scales its benchmarks.
pub const NODES: [u32; 3] = [4, 16, 64];
/// The nodes of the whole machines.
pub const ALL_NODES: u32 = 64;
/// How often each node communicates with each other node in all-to-all, as in the paper.
pub const ROUNDS: u32 = 32;
/// The same where four ways of routing are compared for every number of buffers: that all-to-all has thirty-five
/// settings, each divided by another of as many rounds, and an eighth of the rounds gives the same quotient.
pub const ROUNDS_OF_STRATEGIES: u32 = 4;

/// A machine of the study.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Platform {
    /// Mesh of Clos(3,2): a 4x4 mesh of routers with four nodes each. The network with 16 nodes is a
    /// Mesh of Clos(2,1), a 2x2 mesh of the same routers.
    Basic,
    /// Mesh of Clos(3,1): a 2x2 mesh of 16-node clusters, four channels wide.
    Clustered,
    /// The GCel: a grid of transputers that route in software, as large as the number of nodes that take part.
    Gcel,
}

/// Who chooses the mesh layer on a Mesh of Clos(3,1), and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Layer {
    /// Each node has its own.
    Fixed,
    /// Any, at random.
    Random,
    /// An idle one in turn, else the next in turn.
    RoundRobin,
    /// An idle one, else the node's own.
    IdleFixed,
    /// An idle one, else any at random.
    IdleRandom,
}

/// A benchmark of the study.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Load {
    /// Round trips between two nodes `hops` channels apart (on the GCel: grid links).
    PingPong {
        /// The distance.
        hops: u32,
    },
    /// Every node with every other, `rounds` times.
    AllToAll {
        /// The number of rounds.
        rounds: u32,
    },
    /// Partners half the nodes apart.
    EqualDist,
    /// Partners mirrored about the middle.
    UnequalDist,
}

/// The three benchmarks that load the network.
pub const LOADS: [Load; 3] = [Load::AllToAll { rounds: ROUNDS }, Load::EqualDist, Load::UnequalDist];
/// The two of them with fixed partners.
pub const PAIRS: [Load; 2] = [Load::EqualDist, Load::UnequalDist];

/// Which engine moves the flits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Engine {
    /// As usual: the fast one.
    Fast,
    /// The fast one with its wall time measured.
    FastTimed,
    /// The one that moves every flit, with its wall time measured.
    ReferenceTimed,
}

/// One run of the study.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct MocRun {
    /// The machine.
    pub platform: Platform,
    /// The benchmark.
    pub load: Load,
    /// The number of nodes.
    pub nodes: u32,
    /// Size of the messages. [B]
    pub bytes: u32,
    /// Flit buffers of every input of a router.
    pub buffers: u32,
    /// How the mesh layer is chosen.
    pub layer: Layer,
    /// Whether the nodes cost nothing: the raw network.
    pub raw: bool,
    /// Which engine.
    pub engine: Engine,
}

impl MocRun {
    /// `load` with messages of `bytes` on all nodes of `platform`, with one flit buffer and the fixed layer.
    pub const fn new(platform: Platform, load: Load, bytes: u32) -> MocRun {
        MocRun {
            platform,
            load,
            nodes: ALL_NODES,
            bytes,
            buffers: 1,
            layer: Layer::Fixed,
            raw: false,
            engine: Engine::Fast,
        }
    }
    /// The same on `nodes` nodes.
    pub const fn on(self, nodes: u32) -> MocRun {
        MocRun { nodes, ..self }
    }
    /// The same with `buffers` flit buffers.
    pub const fn with_buffers(self, buffers: u32) -> MocRun {
        MocRun { buffers, ..self }
    }

    /// Messages that its nodes send.
    pub fn messages(&self) -> u64 {
        let nodes = u64::from(self.nodes);
        match self.load {
            Load::PingPong { .. } => 2,
            Load::AllToAll { rounds } => u64::from(rounds) * nodes * (nodes - 1),
            Load::EqualDist | Load::UnequalDist => 4096,
        }
    }
}

/// The approximate number of channels that a packet crosses.
const MEAN_HOPS: f64 = 6.0;
/// Flits of a full packet: the engine that moves each of them has that much more to do.
const FLITS: f64 = 130.0;
/// Message bytes in a packet of the study. [B]
const PAYLOAD: u32 = 128;

impl StudyRun for MocRun {
    fn cost(&self) -> f64 {
        // Every message has its packets, and a system message back.
        let packets = f64::from(self.bytes.div_ceil(PAYLOAD) + 1) * self.messages() as f64;
        let work = if self.engine == Engine::ReferenceTimed { FLITS / 2.0 } else { 1.0 };
        packets * MEAN_HOPS * work
    }
    fn is_exclusive(&self) -> bool {
        self.engine != Engine::Fast
    }
}

impl Platform {
    /// The preset that describes it if `nodes` nodes take part.
    pub fn preset(self, nodes: u32) -> &'static str {
        match self {
            Platform::Basic if nodes == 16 => "moc-2-1",
            Platform::Basic => "moc-3-2",
            Platform::Clustered => "moc-3-1",
            Platform::Gcel if nodes == 4 => "parsytec-gcel-4",
            Platform::Gcel if nodes == 16 => "parsytec-gcel-16",
            Platform::Gcel => "parsytec-gcel-64",
        }
    }
    /// Its name in the figures.
    pub fn name(self) -> &'static str {
        match self {
            Platform::Basic => "MoC(3,2)",
            Platform::Clustered => "MoC(3,1)",
            Platform::Gcel => "GCel",
        }
    }
}

impl Load {
    /// Its name in the study.
    pub fn name(self) -> &'static str {
        match self {
            Load::PingPong { .. } => "ping-pong",
            Load::AllToAll { .. } => "all-to-all",
            Load::EqualDist => "equal-dist",
            Load::UnequalDist => "unequal-dist",
        }
    }
    /// Its name as a key of JSON.
    pub fn key(self) -> String {
        self.name().replace('-', "_")
    }
}

impl Layer {
    /// Its name in descriptions of machines.
    pub fn setting(self) -> &'static str {
        match self {
            Layer::Fixed => "fixed",
            Layer::Random => "random",
            Layer::RoundRobin => "round-robin",
            Layer::IdleFixed => "idle-fixed",
            Layer::IdleRandom => "idle-random",
        }
    }
    /// Its name in the study.
    pub fn name(self) -> &'static str {
        match self {
            Layer::Fixed => "fixed",
            Layer::Random => "Random",
            Layer::RoundRobin => "RoundRobin",
            Layer::IdleFixed => "IdleFixed",
            Layer::IdleRandom => "IdleRnd",
        }
    }
}

impl fmt::Display for MocRun {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{} {}", self.platform.preset(self.nodes), self.load.name())?;
        match self.load {
            Load::PingPong { hops } => write!(out, " over {hops} hops")?,
            Load::AllToAll { rounds } if rounds != ROUNDS => write!(out, " {rounds} rounds")?,
            _ => {}
        }
        let plural = if self.buffers == 1 { "" } else { "s" };
        write!(out, ", {} nodes, {} B, {} buffer{plural}", self.nodes, self.bytes, self.buffers)?;
        if self.layer != Layer::Fixed {
            write!(out, ", {} layer", self.layer.name())?;
        }
        if self.raw {
            write!(out, ", raw")?;
        }
        match self.engine {
            Engine::Fast => Ok(()),
            Engine::FastTimed => write!(out, ", timed"),
            Engine::ReferenceTimed => write!(out, ", reference engine, timed"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_describes_itself() {
        let job = MocRun::new(Platform::Basic, Load::UnequalDist, 128).with_buffers(64);
        assert_eq!(job.to_string(), "moc-3-2 unequal-dist, 64 nodes, 128 B, 64 buffers");
        let short =
            MocRun { layer: Layer::IdleRandom, ..MocRun::new(Platform::Clustered, Load::AllToAll { rounds: 4 }, 32) };
        assert_eq!(short.to_string(), "moc-3-1 all-to-all 4 rounds, 64 nodes, 32 B, 1 buffer, IdleRnd layer");
    }

    #[test]
    fn the_larger_run_costs_more() {
        let small = MocRun::new(Platform::Basic, Load::UnequalDist, 128);
        let large = MocRun::new(Platform::Basic, LOADS[0], 128);
        assert_eq!(large.messages(), 129_024);
        assert!(large.cost() > small.cost());
        assert!(MocRun { engine: Engine::ReferenceTimed, ..small }.cost() > small.cost());
    }
}

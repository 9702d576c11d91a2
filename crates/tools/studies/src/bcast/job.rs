//! One run of the study: a message or broadcast on a system, or over a lossy network.

use std::fmt;

use crate::StudyRun;

/// Rounds of a test.
pub const ROUNDS: u32 = 500;
/// BTP1 + BTP2. [B]
pub const PUSHED: u32 = 80 + 780;
/// The most nodes.
pub const NODES: u32 = 8;

/// A system that the figures compare.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum System {
    /// Push-pull broadcast.
    PushPull,
    /// Simple broadcast, through a library.
    Simple,
    /// A tree of messages over TCP.
    Mpich,
}

impl System {
    /// All of them, in the order of the figures.
    pub const ALL: [System; 3] = [System::PushPull, System::Simple, System::Mpich];

    /// Its name in the figures.
    pub fn name(self) -> &'static str {
        match self {
            System::PushPull => "PPBCAST",
            System::Simple => "SBCAST",
            System::Mpich => "MPICH",
        }
    }

    /// The preset that describes it.
    pub fn preset(self) -> &'static str {
        match self {
            System::PushPull | System::Simple => "dp-smp-8",
            System::Mpich => "mpich-tcp-8",
        }
    }

    /// The changes to it.
    pub fn settings(self) -> &'static [(&'static str, &'static str)] {
        match self {
            System::PushPull | System::Mpich => &[],
            // The library's costs are chosen.
            System::Simple => &[("broadcast", "simple"), ("call_send", "5 us"), ("call_receive", "5 us")],
        }
    }
}

/// The faults of the network.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Trouble {
    /// A frame is lost now and then.
    Little,
    /// Frames are lost singly and in bursts, duplicated, and reordered.
    Much,
}

impl Trouble {
    /// The settings for it.
    pub fn settings(self) -> &'static [(&'static str, &'static str)] {
        match self {
            Trouble::Little => &[("loss", "0.001")],
            Trouble::Much => &[
                ("loss", "0.03"),
                ("burst_begins", "0.005"),
                ("burst_ends", "0.3"),
                ("duplicated", "0.03"),
                ("delayed", "0.05"),
                ("delay", "500 us"),
            ],
        }
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Trouble::Little => "0.1 % of frames lost",
            Trouble::Much => "losses, bursts, duplicates and delays",
        }
    }
}

/// One run of the study.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum BcastRun {
    /// A message there and back, again and again.
    PingPong {
        /// Its size. [B]
        bytes: u32,
    },
    /// The same between two processes of one node.
    Within {
        /// Its size. [B]
        bytes: u32,
    },
    /// A broadcast, and a message of the same size back, again and again.
    Broadcast {
        /// The system.
        system: System,
        /// The number of nodes.
        nodes: u32,
        /// The size of the message. [B]
        bytes: u32,
    },
    /// One broadcast to receivers that are late.
    Late {
        /// The system.
        system: System,
        /// The size of the message. [B]
        bytes: u32,
    },
    /// Broadcasts of many sizes, every byte of which is checked.
    Lossy {
        /// The faults.
        trouble: Trouble,
        /// The seed of the losses.
        seed: u32,
    },
}

impl BcastRun {
    /// How often it is done.
    pub fn rounds(&self) -> u32 {
        match *self {
            // All rounds of a long message are alike.
            BcastRun::PingPong { bytes } if bytes > 1 << 16 => 10,
            BcastRun::PingPong { .. } | BcastRun::Within { .. } | BcastRun::Broadcast { .. } => ROUNDS,
            BcastRun::Late { .. } | BcastRun::Lossy { .. } => 1,
        }
    }
}

impl StudyRun for BcastRun {
    fn cost(&self) -> f64 {
        let frames = |bytes: u32| f64::from(4 + bytes / 1_000);
        match *self {
            BcastRun::PingPong { bytes } | BcastRun::Within { bytes } => f64::from(self.rounds()) * 4.0 * frames(bytes),
            BcastRun::Broadcast { nodes, bytes, .. } => f64::from(self.rounds() * nodes) * 2.0 * frames(bytes),
            BcastRun::Late { bytes, .. } => f64::from(NODES) * frames(bytes),
            BcastRun::Lossy { .. } => 6_000.0,
        }
    }

    fn is_exclusive(&self) -> bool {
        false
    }
}

impl fmt::Display for BcastRun {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            BcastRun::PingPong { bytes } => write!(out, "{bytes} B round trip"),
            BcastRun::Within { bytes } => write!(out, "{bytes} B round trip within a node"),
            BcastRun::Broadcast { system, nodes, bytes } => write!(out, "{}/{nodes}, {bytes} B", system.name()),
            BcastRun::Late { system, bytes } => write!(out, "{}/{NODES}, {bytes} B to late receivers", system.name()),
            BcastRun::Lossy { trouble, seed } => write!(out, "broadcasts with {}, seed {seed}", trouble.name()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_job_is_described_by_its_system_and_size() {
        let job = BcastRun::Broadcast { system: System::PushPull, nodes: 4, bytes: 256 };
        assert_eq!(job.to_string(), "PPBCAST/4, 256 B");
        assert_eq!(BcastRun::PingPong { bytes: 8 }.to_string(), "8 B round trip");
        let job = BcastRun::Late { system: System::Simple, bytes: 4096 };
        assert_eq!(job.to_string(), "SBCAST/8, 4096 B to late receivers");
        let job = BcastRun::Lossy { trouble: Trouble::Little, seed: 3 };
        assert_eq!(job.to_string(), "broadcasts with 0.1 % of frames lost, seed 3");
    }
}

//! One run of the study: a table, its clients and their machine.

use std::fmt;

use linear_hash::KeyHash;

use crate::StudyRun;
use linear_hash::build::filled_capacity;

/// Inserts of a build: the words of the list.
pub const INSERTS: u32 = 180_689;
/// M
pub const SENSITIVITY: f64 = 0.8;
/// The numbers of clients on the machine of the paper.
pub const CLIENTS: [u32; 5] = [1, 2, 3, 4, 5];
/// The numbers of clients on the larger one.
pub const MANY_CLIENTS: [u32; 6] = [1, 2, 4, 8, 16, 32];
/// The bodies of figures 4b and 5. [B]
pub const BODIES: [u32; 8] = [64, 128, 256, 512, 1024, 2048, 4096, 8192];

/// A machine of the study.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Platform {
    /// A Parsytec CC of 16 nodes.
    Sixteen,
    /// The enlarged one, of 64.
    SixtyFour,
}

impl Platform {
    /// Both.
    pub const ALL: [Platform; 2] = [Platform::Sixteen, Platform::SixtyFour];

    /// The preset that describes it.
    pub fn preset(self) -> &'static str {
        match self {
            Platform::Sixteen => "parsytec-cc-16",
            Platform::SixtyFour => "parsytec-cc-64",
        }
    }

    /// How many servers there is room for, besides the largest number of clients in the figures.
    pub fn servers(self) -> u32 {
        match self {
            Platform::Sixteen => 11,
            Platform::SixtyFour => 32,
        }
    }

    /// The approximate number of channels that a packet crosses.
    fn hops(self) -> f64 {
        match self {
            Platform::Sixteen => 4.0,
            Platform::SixtyFour => 6.0,
        }
    }
}

/// The name of a hash in the figures.
pub fn label(hash: KeyHash) -> &'static str {
    match hash {
        KeyHash::Uniform => "uniform hash",
        KeyHash::LastLetters => "last letters",
    }
}

/// One run of the study.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct LhRun {
    /// The machine.
    pub platform: Platform,
    /// The hash.
    pub hash: KeyHash,
    /// The number of clients.
    pub clients: u32,
    /// The size of the record stored under each word. [B]
    pub body: u32,
    /// How long a server computes for an insert. [us]
    pub server_time: u32,
    /// The divisor of the cost of a message.
    pub cheaper: u32,
}

impl LhRun {
    /// A build without bodies on the machine of the paper, as it is, with the hash of the study.
    pub const fn new(clients: u32) -> LhRun {
        LhRun { platform: Platform::Sixteen, hash: KeyHash::LastLetters, clients, body: 0, server_time: 0, cheaper: 1 }
    }

    /// The same with another hash.
    pub const fn with_hash(self, hash: KeyHash) -> LhRun {
        LhRun { hash, ..self }
    }

    /// The same on the larger machine.
    pub const fn enlarged(self) -> LhRun {
        LhRun { platform: Platform::SixtyFour, ..self }
    }

    /// The same with bodies of `body` bytes.
    pub const fn with_body(self, body: u32) -> LhRun {
        LhRun { body, ..self }
    }

    /// V [entries]
    pub fn capacity(&self) -> u64 {
        match (self.hash, self.platform) {
            (KeyHash::Uniform, platform) => filled_capacity(INSERTS as usize, platform.servers(), SENSITIVITY),
            // The last cascade comes near the end, as printed.
            (KeyHash::LastLetters, Platform::Sixteen) => 7_500,
            // As small as possible for fewer than 32 servers to suffice.
            (KeyHash::LastLetters, Platform::SixtyFour) => 2_500,
        }
    }
}

/// Message bytes in a packet, and in the one that sets a message up. [B]
const PAYLOAD: u32 = 4096;
const PIGGYBACK: u32 = 248;
/// The approximate size of a message without a body. [B]
const REST: u32 = 24;

impl StudyRun for LhRun {
    fn cost(&self) -> f64 {
        // A request and an answer, each acknowledged.
        let short = 4.0;
        let size = self.body + REST;
        // Announcement, answer and data; splits ship about as much again.
        let long = if size > PIGGYBACK { 1.5 * f64::from(1 + size.div_ceil(PAYLOAD)) } else { 0.0 };
        f64::from(INSERTS) * (short + long) * self.platform.hops()
    }

    fn is_exclusive(&self) -> bool {
        false
    }
}

impl fmt::Display for LhRun {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plural = if self.clients == 1 { "" } else { "s" };
        let LhRun { platform, hash, clients, body, .. } = self;
        write!(out, "{}, {}, {clients} client{plural}, bodies of {body} B", platform.preset(), label(*hash))?;
        if self.server_time > 0 {
            write!(out, ", {} us of server time per insert", self.server_time)?;
        }
        if self.cheaper > 1 {
            write!(out, ", messages at 1/{} of the cost", self.cheaper)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_describes_itself() {
        let job = LhRun::new(1).with_hash(KeyHash::Uniform);
        assert_eq!(job.to_string(), "parsytec-cc-16, uniform hash, 1 client, bodies of 0 B");
        let job = LhRun { cheaper: 9, server_time: 100, ..LhRun::new(32).enlarged().with_body(512) };
        assert_eq!(
            job.to_string(),
            "parsytec-cc-64, last letters, 32 clients, bodies of 512 B, 100 us of server time per insert, messages at 1/9 of \
             the cost"
        );
    }

    #[test]
    fn longer_bodies_cost_more() {
        let job = LhRun::new(5);
        assert!(job.cost() < job.with_body(512).cost());
        assert!(job.with_body(512).cost() < job.with_body(8192).cost());
        assert!(job.cost() < job.enlarged().cost());
    }
}

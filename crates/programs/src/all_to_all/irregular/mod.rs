//! Every rank has messages for some others, which the pattern says: who sends when?
//!
//! The algorithms make a [`Schedule`] of a [`Pattern`]. What is known of any of them: it has at least as many steps as
//! the busiest rank has messages to send, or to receive.

mod balanced;
mod birkhoff;
mod edge_colouring;
mod greedy;
mod largest_first;
mod linear;
mod pairwise;

pub use balanced::balanced;
pub use birkhoff::birkhoff;
pub use edge_colouring::edge_colouring;
pub use greedy::greedy;
pub use largest_first::largest_first;
pub use linear::linear;
pub use pairwise::pairwise;

use super::Complete;
use crate::schedule::{Pattern, Schedule, SendReceiveOrder};

/// The algorithms that make a schedule of a pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Irregular {
    /// [`linear`]: one receiver a step.
    Linear,
    /// [`pairwise`]: the steps of pairwise exchange.
    Pairwise,
    /// [`balanced`]: the steps of balanced exchange.
    Balanced,
    /// [`greedy`]: every rank takes the first partner that is free.
    Greedy,
    /// [`edge_colouring`]: as few steps as can be.
    EdgeColouring,
    /// [`largest_first`]: large messages first, each as early as it can go.
    LargestFirst,
    /// [`birkhoff`]: as few bytes after each other as can be; messages may be cut.
    Birkhoff,
}

impl Irregular {
    /// All of them.
    pub const fn all() -> [Irregular; 7] {
        use Irregular::{Balanced, Birkhoff, EdgeColouring, Greedy, LargestFirst, Linear, Pairwise};
        [Linear, Pairwise, Balanced, Greedy, EdgeColouring, LargestFirst, Birkhoff]
    }

    /// Its name, as it is written on a command line.
    pub const fn name(self) -> &'static str {
        match self {
            Irregular::Linear => "linear",
            Irregular::Pairwise => "pairwise",
            Irregular::Balanced => "balanced",
            Irregular::Greedy => "greedy",
            Irregular::EdgeColouring => "edge-colouring",
            Irregular::LargestFirst => "largest-first",
            Irregular::Birkhoff => "birkhoff",
        }
    }

    /// What it does, in a line.
    pub const fn about(self) -> &'static str {
        match self {
            Irregular::Linear => "One receiver a step",
            Irregular::Pairwise => "The steps of pairwise exchange: one partner a step",
            Irregular::Balanced => "The steps of balanced exchange: near partners and far ones in every step",
            Irregular::Greedy => "Every rank takes the first partner that is free",
            Irregular::EdgeColouring => "As few steps as can be",
            Irregular::LargestFirst => "Large messages first, each as early as it can go",
            Irregular::Birkhoff => "As few bytes after each other as can be; messages may be cut",
        }
    }

    /// How long it takes where nothing contends, in the symbols of LogGP: n ranks, messages of s bytes, of which nobody sends or
    /// receives more than D, and no more than W bytes. Sources: those of the numbers of steps, which the algorithms name.
    pub const fn formula(self) -> &'static str {
        match self {
            Irregular::Linear => Complete::Linear.formula(),
            Irregular::Pairwise => Complete::Pairwise.formula(),
            Irregular::Balanced => Complete::Balanced.formula(),
            Irregular::Greedy | Irregular::LargestFirst => {
                "(2 D - 1) (o + L + o + (s-1) G) at most; two or three times that if alternating"
            }
            Irregular::EdgeColouring => "D (o + L + o + (s-1) G); two or three times that if alternating",
            Irregular::Birkhoff => "k (o + L + o) + (W - k) G in k steps; two or three times that if alternating",
        }
    }

    /// What a rank does first that both sends and receives in a step: `order` where the CM-5 paper has the algorithm, else both at
    /// once.
    pub const fn order(self, order: SendReceiveOrder) -> SendReceiveOrder {
        match self {
            Irregular::Linear | Irregular::Pairwise | Irregular::Balanced | Irregular::Greedy => order,
            Irregular::EdgeColouring | Irregular::LargestFirst | Irregular::Birkhoff => SendReceiveOrder::Sendrecv,
        }
    }

    /// The schedule that it makes of `pattern`.
    pub fn schedule(self, pattern: &Pattern) -> Schedule {
        match self {
            Irregular::Linear => linear(pattern),
            Irregular::Pairwise => pairwise(pattern),
            Irregular::Balanced => balanced(pattern),
            Irregular::Greedy => greedy(pattern),
            Irregular::EdgeColouring => edge_colouring(pattern),
            Irregular::LargestFirst => largest_first(pattern),
            Irregular::Birkhoff => birkhoff(pattern),
        }
    }
}

quantities::written_by_name!(Irregular);

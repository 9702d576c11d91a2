//! Every rank has messages for some others, as given by a pattern. Who sends when?
//!
//! The algorithms make a [`Schedule`] for a [`Pattern`]. Every schedule has at least as many steps as the busiest rank
//! has messages to send, or to receive.

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
use crate::schedule::{Measures, Pattern, Schedule, SendReceiveOrder};

/// A decomposition, whose time is the square of the messages and ranks, is tried only for patterns with at most this
/// many of both.
const MOST_DECOMPOSED: usize = 1 << 11;

/// The algorithms among which the best is chosen, the first of equal ones first. Linear is none: it is never better.
const CANDIDATES: [Irregular; 6] = {
    use Irregular::{Balanced, Birkhoff, EdgeColouring, Greedy, LargestFirst, Pairwise};
    [EdgeColouring, LargestFirst, Greedy, Pairwise, Balanced, Birkhoff]
};

/// The algorithms that make a schedule for a pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Irregular {
    /// [`linear`]: one receiver per step.
    Linear,
    /// [`pairwise`]: the steps of pairwise exchange.
    Pairwise,
    /// [`balanced`]: the steps of balanced exchange.
    Balanced,
    /// [`greedy`]: every rank takes the first free partner.
    Greedy,
    /// [`edge_colouring`]: the fewest possible steps.
    EdgeColouring,
    /// [`largest_first`]: largest messages first, each as early as possible.
    LargestFirst,
    /// [`birkhoff`]: the fewest possible bytes in sequence; messages may be cut.
    Birkhoff,
}

impl Irregular {
    /// All of them.
    pub const fn all() -> [Irregular; 7] {
        use Irregular::{Balanced, Birkhoff, EdgeColouring, Greedy, LargestFirst, Linear, Pairwise};
        [Linear, Pairwise, Balanced, Greedy, EdgeColouring, LargestFirst, Birkhoff]
    }

    /// Its name on the command line.
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
            Irregular::Linear => "One receiver per step",
            Irregular::Pairwise => "The steps of pairwise exchange: one partner a step",
            Irregular::Balanced => "The steps of balanced exchange: far partners in every step",
            Irregular::Greedy => "Every rank takes the first partner that is free",
            Irregular::EdgeColouring => "As few steps as possible",
            Irregular::LargestFirst => "Large messages first, each as early as possible",
            Irregular::Birkhoff => "Least sum of the steps' largest messages; messages may be split",
        }
    }

    /// How long it takes without contention, in the symbols of LogGP: n ranks, messages of s bytes, of which no rank
    /// sends or receives more than D, and no more than W bytes. Sources: those of the numbers of steps, cited at the
    /// algorithms.
    pub fn formula(self) -> &'static str {
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

    /// What a rank does first if it both sends and receives in a step: `order` if the algorithm is from the CM-5 paper,
    /// otherwise both at once.
    pub const fn order(self, order: SendReceiveOrder) -> SendReceiveOrder {
        match self {
            Irregular::Linear | Irregular::Pairwise | Irregular::Balanced | Irregular::Greedy => order,
            Irregular::EdgeColouring | Irregular::LargestFirst | Irregular::Birkhoff => SendReceiveOrder::Sendrecv,
        }
    }

    /// The schedule that it makes for `pattern`.
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

    /// The algorithm whose schedule for `pattern` is the best by its measures, with that schedule: the least sum of two
    /// ratios, that of its transfers in sequence to the messages of the busiest rank, which count where messages are
    /// short, and that of its bytes in sequence to the bytes of the busiest rank, which count where they are long. No
    /// machine is asked. Decompositions are tried for small patterns only.
    pub fn best(pattern: &Pattern) -> (Irregular, Schedule) {
        let small = pattern.messages().len() + pattern.ranks() as usize <= MOST_DECOMPOSED;
        let candidates = CANDIDATES.into_iter().filter(|&algorithm| small || algorithm != Irregular::Birkhoff);
        let made = candidates.map(|algorithm| (algorithm, algorithm.schedule(pattern)));
        let measured = made.map(|(algorithm, schedule)| (stretch(&schedule.measures()), algorithm, schedule));
        let best = measured.reduce(|best, next| if next.0 < best.0 { next } else { best });
        best.map_or_else(|| (Irregular::Greedy, greedy(pattern)), |(_, algorithm, schedule)| (algorithm, schedule))
    }
}

/// How far a schedule is from the least that its messages need, in transfers and in bytes; 2 if it needs no more.
fn stretch(measures: &Measures) -> f64 {
    let ratio = |sum: u64, least: u64| if least == 0 { 1.0 } else { sum as f64 / least as f64 };
    ratio(measures.transfers_in_step, u64::from(measures.most_messages_of_a_rank))
        + ratio(measures.bytes_in_step.0, measures.most_bytes_of_a_rank.0)
}

quantities::written_by_name!(Irregular);

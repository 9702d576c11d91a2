//! What the algorithms of a collective have in common: each describes itself, and says which parameters it needs.
//!
//! An algorithm's entry in the catalogue is in the same file as the algorithm. Everything that looks up an algorithm
//! by name, or tries all of them, uses these entries.

use std::collections::BTreeSet;
use std::fmt;

use endpoint::Needs;
use quantities::{Bytes, Duration};

use crate::postal::{Alpha, Lambda, Splitting};
use crate::schedule::SendReceiveOrder;

/// The description of an algorithm of the collective `A`.
#[derive(Debug)]
pub struct Entry<A> {
    /// Its name on the command line.
    pub name: &'static str,
    /// What it does, in a line.
    pub about: &'static str,
    /// How long it takes without contention, in the symbols of its source: n ranks, s bytes, a step of t0, a latency of
    /// lambda steps.
    pub formula: &'static str,
    /// The parameters that it uses. If it takes either a share or a latency, both are listed.
    pub parameters: &'static [Parameter],
    /// What it needs of its world besides sends and receives.
    pub needs: Needs,
    /// Makes it from the parameters.
    pub make: fn(&mut Parameters) -> Result<A, MissingParameter>,
}

impl<A> Entry<A> {
    /// The description of an algorithm without parameters, which needs nothing but sends and receives.
    pub(crate) const fn plain(
        name: &'static str,
        about: &'static str,
        formula: &'static str,
        make: fn(&mut Parameters) -> Result<A, MissingParameter>,
    ) -> Entry<A> {
        Entry { name, about, formula, parameters: &[], needs: Needs::NOTHING, make }
    }
}

/// All algorithms of a collective.
pub trait Catalogue: Sized + 'static {
    /// All entries, in the order in which they are listed.
    fn entries() -> Vec<&'static Entry<Self>>;

    /// The entry of this algorithm.
    fn entry(&self) -> &'static Entry<Self>;

    /// Its approximate cost with messages of `bytes` among `ranks` ranks, where the latency is `lambda`.
    fn cost(&self, lambda: Lambda, ranks: u32, bytes: Bytes) -> Cost;

    /// Its name, without its parameters.
    fn name(&self) -> &'static str {
        self.entry().name
    }

    /// The names of all algorithms, in the order in which they are listed.
    fn names() -> Vec<&'static str> {
        Self::entries().into_iter().map(|entry| entry.name).collect()
    }

    /// The entry with that name.
    fn by_name(name: &str) -> Option<&'static Entry<Self>> {
        Self::entries().into_iter().find(|entry| entry.name == name)
    }

    /// All algorithms that can be made from `parameters`. A name that stands for a choice among others adds none of its
    /// own.
    ///
    /// # Errors
    /// The parameter that one of them lacks.
    fn all(parameters: &Parameters) -> Result<Vec<Self>, MissingParameter> {
        let made = Self::entries().into_iter().map(|entry| (entry.name, (entry.make)(&mut parameters.clone())));
        made.filter_map(|(name, made)| match made {
            Ok(algorithm) => (algorithm.name() == name).then_some(Ok(algorithm)),
            Err(missing) => Some(Err(missing)),
        })
        .collect()
    }
}

/// Turns a list of algorithms, each a type with entries of its own, into an enum of all of them: `Algorithm`. The macro
/// `$each!(algorithm, it => call)` makes the same call on whichever variant it is.
macro_rules! catalogue {
    ($(#[$about:meta])* $trait:ident, $each:ident, $dollar:tt: $($file:ident::$algorithm:ident,)+) => {
        $(pub use super::$file::$algorithm;)+

        $(#[$about])*
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub enum Algorithm {
            $(#[doc = concat!("[`", stringify!($algorithm), "`].")] $algorithm($algorithm),)+
        }

        $(impl From<$algorithm> for Algorithm {
            fn from(algorithm: $algorithm) -> Algorithm {
                Algorithm::$algorithm(algorithm)
            }
        })+

        macro_rules! $each {
            ($dollar this:expr, $dollar it:ident => $dollar call:expr) => {
                match $dollar this { $(Algorithm::$algorithm($dollar it) => $dollar call,)+ }
            };
        }

        impl $crate::catalogue::Catalogue for Algorithm {
            fn entries() -> Vec<&'static $crate::catalogue::Entry<Algorithm>> {
                [$(<$algorithm as $trait>::ENTRIES),+].into_iter().flatten().collect()
            }

            fn entry(&self) -> &'static $crate::catalogue::Entry<Algorithm> {
                $each!(self, it => $trait::entry(it))
            }

            fn cost(&self, lambda: $crate::postal::Lambda, ranks: u32, bytes: Bytes) -> $crate::catalogue::Cost {
                $each!(self, it => $trait::cost(it, lambda, ranks, bytes))
            }
        }
    };
}
pub(crate) use catalogue;

/// A parameter of an algorithm.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Parameter {
    /// The share of its nodes that a source keeps for itself in a tree by splitting.
    Alpha,
    /// The latency of a message in steps.
    Lambda,
    /// How long a step is.
    T0,
    /// How large a segment of a message is.
    Segment,
    /// How long a rank takes to copy a byte into a message that it forwards, or out of one.
    Reshuffle,
    /// What a rank does first if it both sends and receives in a step.
    Order,
}

impl Parameter {
    /// Its name in files and on command lines.
    pub const fn name(self) -> &'static str {
        match self {
            Parameter::Alpha => "alpha",
            Parameter::Lambda => "lambda",
            Parameter::T0 => "t0",
            Parameter::Segment => "segment",
            Parameter::Reshuffle => "reshuffle",
            Parameter::Order => "order",
        }
    }
}

/// The parameters of algorithms, and which of them an algorithm has used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameters {
    /// How many ranks there are.
    pub ranks: u32,
    /// The latency of a message in steps.
    pub lambda: Option<Lambda>,
    /// The length of a step, after which a sender is done with a message.
    pub t0: Option<Duration>,
    /// The share of its nodes that a source keeps for itself in a tree by splitting.
    pub alpha: Option<Alpha>,
    /// The size of a message segment; 4 KiB by default.
    pub segment: Option<Bytes>,
    /// How long it takes to copy a byte into a message that is forwarded, or out of one; no time by default.
    pub reshuffle: Option<Duration>,
    /// What a rank does first if it both sends and receives in a step; left open by default.
    pub order: Option<SendReceiveOrder>,
    /// The parameters that an algorithm has asked for.
    pub used: BTreeSet<Parameter>,
}

/// The default size of segments.
const DEFAULT_SEGMENT: Bytes = Bytes(4 << 10);

impl Parameters {
    /// Only the number of ranks.
    pub const fn of(ranks: u32) -> Parameters {
        let used = BTreeSet::new();
        Parameters { ranks, lambda: None, t0: None, alpha: None, segment: None, reshuffle: None, order: None, used }
    }

    /// The latency, for an algorithm that requires it.
    ///
    /// # Errors
    /// When it is not given.
    pub fn lambda(&mut self) -> Result<Lambda, MissingParameter> {
        self.used.insert(Parameter::Lambda);
        self.lambda.ok_or(MissingParameter::of(Parameter::Lambda))
    }

    /// The length of a step, for an algorithm that requires it.
    ///
    /// # Errors
    /// When it is not given.
    pub fn t0(&mut self) -> Result<Duration, MissingParameter> {
        self.used.insert(Parameter::T0);
        self.t0.ok_or(MissingParameter::of(Parameter::T0))
    }

    /// How a tree by splitting splits: always by the same share if one is given, otherwise optimally for the latency.
    ///
    /// # Errors
    /// When neither is given.
    pub fn splitting(&mut self) -> Result<Splitting, MissingParameter> {
        if let Some(alpha) = self.alpha {
            self.used.insert(Parameter::Alpha);
            return Ok(Splitting::Fixed(alpha));
        }
        let lambda = self.lambda().map_err(|_| MissingParameter::of(Parameter::Alpha))?;
        Ok(Splitting::optimal(lambda, u64::from(self.ranks)))
    }

    /// The size of a segment.
    pub fn segment(&mut self) -> Bytes {
        self.used.insert(Parameter::Segment);
        *self.segment.get_or_insert(DEFAULT_SEGMENT)
    }

    /// How long it takes to copy a byte that is forwarded.
    pub fn reshuffle(&mut self) -> Duration {
        self.used.insert(Parameter::Reshuffle);
        self.reshuffle.unwrap_or_default()
    }

    /// What a rank does first if it both sends and receives in a step, if that was asked for.
    pub fn order(&mut self) -> Option<SendReceiveOrder> {
        self.used.insert(Parameter::Order);
        self.order
    }

    /// Whether an algorithm has asked for that parameter.
    pub fn has_used(&self, parameter: Parameter) -> bool {
        self.used.contains(&parameter)
    }
}

/// An algorithm lacks a parameter that it requires; a latency can stand in for a share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MissingParameter {
    /// The parameter that it lacks.
    pub parameter: Parameter,
    /// The algorithm that was chosen, if the name that was given stands for a choice.
    pub chosen: Option<&'static str>,
}

impl MissingParameter {
    const fn of(parameter: Parameter) -> MissingParameter {
        MissingParameter { parameter, chosen: None }
    }
}

impl fmt::Display for MissingParameter {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.parameter {
            Parameter::Alpha => write!(out, "found neither alpha nor lambda; allowed is one of them"),
            parameter => write!(out, "found no {}; allowed is one", parameter.name()),
        }
    }
}

impl std::error::Error for MissingParameter {}

/// The approximate cost of an algorithm, without contention.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Cost {
    /// Messages of all ranks.
    pub messages: f64,
    /// Bytes of all messages. [B]
    pub bytes: f64,
    /// Whether nearly all messages go from a rank to the next.
    pub to_next_rank: bool,
    /// The longest chain of messages that wait for each other.
    pub chain: Vec<Stretch>,
}

/// A part of the longest chain of messages that wait for each other.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stretch {
    /// How many messages its ranks send without waiting: each takes t0.
    pub sends: f64,
    /// How many messages must be received before it goes on: each takes lambda t0.
    pub receives: f64,
    /// The size of each. [B]
    pub bytes: Bytes,
}

impl Cost {
    /// The cost of `messages` messages of `bytes` each.
    pub(crate) fn of(messages: f64, bytes: Bytes, chain: Vec<Stretch>) -> Cost {
        Cost { messages, bytes: messages * bytes.0 as f64, chain, ..Cost::default() }
    }
}

impl Stretch {
    /// A stretch of `sends` sends and `receives` receives of messages of `bytes`.
    pub const fn of(sends: f64, receives: f64, bytes: Bytes) -> Stretch {
        Stretch { sends, receives, bytes }
    }
}

/// The number of times that `n` can be halved until one is left, rounded up.
pub fn halvings(n: u32) -> u32 {
    n.max(1).next_power_of_two().trailing_zeros()
}

/// A share of an amount, rounded up.
pub fn part(bytes: Bytes, parts: u64) -> Bytes {
    Bytes(bytes.0.div_ceil(parts.max(1)))
}

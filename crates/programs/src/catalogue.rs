//! What the algorithms of a collective have in common: what each says of itself, and what it must be told.
//!
//! An algorithm's entry in the catalogue stands beside the algorithm, in the same file. Everything that takes an algorithm
//! by its name, or tries all of them, reads it here.

use std::collections::BTreeSet;
use std::fmt;

use endpoint::Needs;
use quantities::{Bytes, Duration};

use crate::postal::{Alpha, Lambda, Splitting};

/// What an algorithm of the collective `A` says of itself.
#[derive(Debug)]
pub struct Entry<A> {
    /// Its name, as it is written on a command line.
    pub name: &'static str,
    /// What it does, in a line.
    pub about: &'static str,
    /// How long it takes where nothing contends, in the symbols of its source: n ranks, s bytes, a step of t0, a latency of
    /// lambda steps.
    pub formula: &'static str,
    /// What may be told, and is made use of. Where it can be either a share or a latency, it is both.
    pub told: &'static [Parameter],
    /// What it asks of its world beside sends and receives.
    pub needs: Needs,
    /// How it is made from what it is told.
    pub make: fn(&mut Parameters) -> Result<A, Untold>,
}

/// All algorithms of a collective.
pub trait Catalogue: Sized + 'static {
    /// The entries of all of them, in the order in which they are listed.
    fn entries() -> Vec<&'static Entry<Self>>;

    /// The entry of this one.
    fn entry(&self) -> &'static Entry<Self>;

    /// About what it costs with messages of `bytes` among `ranks` ranks, where the latency is `lambda`.
    fn cost(&self, lambda: Lambda, ranks: u32, bytes: Bytes) -> Cost;

    /// Its name, without what it was told.
    fn name(&self) -> &'static str {
        self.entry().name
    }

    /// The names of all, in the order in which they are listed.
    fn names() -> Vec<&'static str> {
        Self::entries().into_iter().map(|entry| entry.name).collect()
    }

    /// The entry that has a name.
    fn by_name(name: &str) -> Option<&'static Entry<Self>> {
        Self::entries().into_iter().find(|entry| entry.name == name)
    }

    /// All that can be made of what `parameters` tell. A name that stands for a choice among others makes none of its own.
    ///
    /// # Errors
    /// What one of them would have to be told.
    fn all(parameters: &Parameters) -> Result<Vec<Self>, Untold> {
        let made = Self::entries().into_iter().map(|entry| (entry.name, (entry.make)(&mut parameters.clone())));
        made.filter_map(|(name, made)| match made {
            Ok(algorithm) => (algorithm.name() == name).then_some(Ok(algorithm)),
            Err(untold) => Some(Err(untold)),
        })
        .collect()
    }
}

/// Makes of a list of algorithms, each a type with entries of its own, the type that is any of them: `Algorithm`. The macro
/// `$each!(algorithm, it => call)` calls the same on whichever it is.
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

/// Something that an algorithm can be told.
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
}

impl Parameter {
    /// What it is called in files and on command lines.
    pub const fn name(self) -> &'static str {
        match self {
            Parameter::Alpha => "alpha",
            Parameter::Lambda => "lambda",
            Parameter::T0 => "t0",
            Parameter::Segment => "segment",
        }
    }
}

/// What algorithms are told, and what an algorithm has made use of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameters {
    /// How many ranks there are.
    pub ranks: u32,
    /// The latency of a message in steps.
    pub lambda: Option<Lambda>,
    /// How long a step is: after that a sender is done with a message.
    pub t0: Option<Duration>,
    /// The share of its nodes that a source keeps for itself in a tree by splitting.
    pub alpha: Option<Alpha>,
    /// How large a segment of a message is; 4 KiB, by default.
    pub segment: Option<Bytes>,
    /// What an algorithm has asked for.
    pub used: BTreeSet<Parameter>,
}

/// The size of segments, if none is asked for.
const USUAL_SEGMENT: Bytes = Bytes(4 << 10);

impl Parameters {
    /// Nothing but that there are so many ranks.
    pub const fn of(ranks: u32) -> Parameters {
        Parameters { ranks, lambda: None, t0: None, alpha: None, segment: None, used: BTreeSet::new() }
    }

    /// The latency, for an algorithm that can't do without.
    ///
    /// # Errors
    /// That nothing is printed about it.
    pub fn lambda(&mut self) -> Result<Lambda, Untold> {
        self.used.insert(Parameter::Lambda);
        self.lambda.ok_or(Untold::of(Parameter::Lambda))
    }

    /// How long a step is, for an algorithm that can't do without.
    ///
    /// # Errors
    /// That nothing is printed about it.
    pub fn t0(&mut self) -> Result<Duration, Untold> {
        self.used.insert(Parameter::T0);
        self.t0.ok_or(Untold::of(Parameter::T0))
    }

    /// How a tree by splitting splits: always by the same share if one is given, otherwise as is best for the latency.
    ///
    /// # Errors
    /// That nothing is printed about either.
    pub fn splitting(&mut self) -> Result<Splitting, Untold> {
        if let Some(alpha) = self.alpha {
            self.used.insert(Parameter::Alpha);
            return Ok(Splitting::Fixed(alpha));
        }
        let lambda = self.lambda().map_err(|_| Untold::of(Parameter::Alpha))?;
        Ok(Splitting::optimal(lambda, u64::from(self.ranks)))
    }

    /// How large a segment is.
    pub fn segment(&mut self) -> Bytes {
        self.used.insert(Parameter::Segment);
        *self.segment.get_or_insert(USUAL_SEGMENT)
    }

    /// Whether an algorithm has asked for it.
    pub fn has_used(&self, parameter: Parameter) -> bool {
        self.used.contains(&parameter)
    }
}

/// An algorithm was not told what it can't do without; instead of a share it can be told a latency.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Untold {
    /// What it was not told.
    pub parameter: Parameter,
    /// Which algorithm it is, where another name stands for a choice of it.
    pub chosen: Option<&'static str>,
}

impl Untold {
    const fn of(parameter: Parameter) -> Untold {
        Untold { parameter, chosen: None }
    }
}

impl fmt::Display for Untold {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.parameter {
            Parameter::Alpha => write!(out, "found neither alpha nor lambda; allowed is one of them"),
            parameter => write!(out, "found no {}; allowed is one", parameter.name()),
        }
    }
}

impl std::error::Error for Untold {}

/// About what an algorithm costs, without contention.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Cost {
    /// Messages of all ranks.
    pub messages: f64,
    /// Bytes of all messages. [B]
    pub bytes: f64,
    /// The longest chain of messages that wait for each other.
    pub chain: Vec<Stretch>,
}

/// A part of the longest chain of messages that wait for each other.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stretch {
    /// How many messages its ranks are busy with that wait for nobody: each takes t0.
    pub sends: f64,
    /// How many must be received before it goes on: each takes lambda t0.
    pub receives: f64,
    /// Of which size they are. [B]
    pub bytes: Bytes,
}

impl Cost {
    /// That of `messages` messages of `bytes` each.
    pub(crate) fn of(messages: f64, bytes: Bytes, chain: Vec<Stretch>) -> Cost {
        Cost { messages, bytes: messages * bytes.0 as f64, chain }
    }
}

impl Stretch {
    /// Of so many sends and receives of messages of `bytes`.
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

//! The collectives: one row each, with its shape as data and its algorithms, and one list of all rows.
//!
//! A collective's folder has its row and a file for each algorithm. Whatever runs, awaits or describes collectives goes through the list
//! and names none of them. All ranks of the endpoint take part: [`Subgroup`] makes an endpoint of some ranks, in any order.

mod blocks;
mod program;
mod shape;
mod subgroup;

pub mod all_gather;
pub mod barrier;
pub mod exscan;
pub mod gather;
pub mod reduce;
pub mod reduce_scatter;
pub mod scan;
pub mod scatter;

pub use blocks::{Blocks, Place, Sizes};
pub use program::{CollectiveProgram, Data, cut};
pub use shape::{Division, Holders, LeastTraffic, Reduction, Shape};
pub use subgroup::Subgroup;

use endpoint::{Endpoint, Needs, Result};
use quantities::{Bytes, Rank};

use crate::all_reduce::Operator;
use crate::catalogue::{Catalogue, Cost, Entry, MissingParameter, Parameters};
use crate::postal::Lambda;

/// What all ranks of a collective agree on, besides the sizes of its blocks.
#[derive(Clone, Copy, Debug)]
pub struct Call {
    /// The root, where the collective has one.
    pub root: Rank,
    /// How two blocks are combined, where it reduces.
    pub operator: Operator,
}

/// The row of a collective.
pub trait Row {
    /// Its name.
    const NAME: &'static str;
    /// MPI's functions for it: the usual one, and then those with sizes for each rank.
    const MPI: &'static [&'static str];
    /// What it does, in a line.
    const ABOUT: &'static str;
    /// What it does, as data.
    const SHAPE: Shape;
    /// Its algorithms.
    type Algorithm: Catalogue + Performs;

    /// The algorithm that is taken if none is asked for, by the number of ranks and the size of a block.
    fn usual(ranks: u32, bytes: Bytes) -> &'static str;
}

/// What an algorithm says of itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Summary {
    /// Its name.
    pub name: &'static str,
    /// What it does, in a line.
    pub about: &'static str,
    /// How long it takes without contention, in the symbols of its source.
    pub formula: &'static str,
    /// The names of the parameters that it uses.
    pub parameters: Vec<&'static str>,
}

impl Summary {
    /// That of an entry of any catalogue.
    pub fn of<A>(entry: &Entry<A>) -> Summary {
        let &Entry { name, about, formula, parameters, .. } = entry;
        Summary { name, about, formula, parameters: parameters.iter().map(|parameter| parameter.name()).collect() }
    }
}

/// An algorithm of any collective, among all ranks of an endpoint.
pub trait Performs {
    /// Begins with the blocks that the rank brings, and ends with those that it takes, and perhaps others.
    #[allow(async_fn_in_trait)] // as for endpoints
    async fn perform<E: Endpoint>(&self, endpoint: &E, call: &Call, blocks: &mut Blocks<'_>) -> Result<()>;
}

/// An algorithm of one collective: its catalogue entries, and how it runs.
pub(crate) trait BlockAlgorithm {
    /// All algorithms of its collective.
    type All: 'static;
    /// Its catalogue entries: one for each of its names, the usual one first.
    const ENTRIES: &'static [Entry<Self::All>];

    /// The entry of this algorithm.
    fn entry(&self) -> &'static Entry<Self::All> {
        &Self::ENTRIES[0]
    }

    /// As [`Performs::perform`].
    async fn run<E: Endpoint>(&self, endpoint: &E, call: &Call, blocks: &mut Blocks<'_>) -> Result<()>;

    /// As [`Catalogue::cost`].
    fn cost(&self, lambda: Lambda, ranks: u32, bytes: Bytes) -> Cost;
}

/// Makes the row of a collective in its own folder, from its name, MPI's functions, its shape, its usual algorithm and the list of its
/// algorithms. A macro that makes macros needs to be given a dollar sign.
macro_rules! collective {
    (
        $dollar:tt:
        $row:ident: $name:literal = $mpi:expr,
        $about:literal,
        $shape:expr,
        usual: $usual:expr,
        $($file:ident::$algorithm:ident,)+
    ) => {
        mod algorithm {
            use quantities::Bytes;

            use crate::catalogue::catalogue;
            use crate::collectives::BlockAlgorithm;

            catalogue! {
                #[doc = $about]
                BlockAlgorithm, each, $dollar: $($file::$algorithm,)+
            }

            impl $crate::collectives::Performs for Algorithm {
                async fn perform<E: endpoint::Endpoint>(
                    &self,
                    endpoint: &E,
                    call: &$crate::collectives::Call,
                    blocks: &mut $crate::collectives::Blocks<'_>,
                ) -> endpoint::Result<()> {
                    each!(self, it => it.run(endpoint, call, blocks).await)
                }
            }
        }
        pub use algorithm::*;

        #[doc = $about]
        #[derive(Clone, Copy, Debug)]
        pub struct $row;

        impl $crate::collectives::Row for $row {
            const NAME: &'static str = $name;
            const MPI: &'static [&'static str] = &$mpi;
            const ABOUT: &'static str = $about;
            const SHAPE: $crate::collectives::Shape = $shape;
            type Algorithm = Algorithm;

            fn usual(ranks: u32, bytes: quantities::Bytes) -> &'static str {
                let usual: fn(u32, quantities::Bytes) -> &'static str = $usual;
                usual(ranks, bytes)
            }
        }
    };
}
pub(crate) use collective;

/// Makes the list of all collectives.
macro_rules! collectives {
    ($($file:ident::$row:ident,)+) => {
        /// A collective, by its row.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Collective {
            $(#[doc = concat!("[`", stringify!($file), "::", stringify!($row), "`].")] $row,)+
        }

        /// An algorithm of any collective.
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub enum AnyAlgorithm {
            $(#[doc = concat!("Of [`", stringify!($file), "::", stringify!($row), "`].")] $row($file::Algorithm),)+
        }

        impl Collective {
            /// All of them, in the order in which they are listed.
            pub const ALL: &'static [Collective] = &[$(Collective::$row,)+];

            /// Its name.
            pub const fn name(self) -> &'static str {
                match self { $(Collective::$row => $file::$row::NAME,)+ }
            }

            /// What it does, in a line.
            pub const fn about(self) -> &'static str {
                match self { $(Collective::$row => $file::$row::ABOUT,)+ }
            }

            /// MPI's functions for it.
            pub const fn mpi(self) -> &'static [&'static str] {
                match self { $(Collective::$row => $file::$row::MPI,)+ }
            }

            /// What it does, as data.
            pub const fn shape(self) -> Shape {
                match self { $(Collective::$row => $file::$row::SHAPE,)+ }
            }

            /// The names of its algorithms, in the order in which they are listed.
            pub fn algorithms(self) -> Vec<&'static str> {
                match self { $(Collective::$row => $file::Algorithm::names(),)+ }
            }

            /// What each of its algorithms says of itself.
            pub fn summaries(self) -> Vec<Summary> {
                match self {
                    $(Collective::$row => $file::Algorithm::entries().into_iter().map(Summary::of).collect(),)+
                }
            }

            /// The algorithm that is taken if none is asked for.
            pub fn usual(self, ranks: u32, bytes: Bytes) -> &'static str {
                match self { $(Collective::$row => $file::$row::usual(ranks, bytes),)+ }
            }

            /// The algorithm of that name, made from these parameters; nothing, if it has none of that name.
            pub fn algorithm(
                self,
                name: &str,
                parameters: &mut Parameters,
            ) -> Option<std::result::Result<AnyAlgorithm, MissingParameter>> {
                match self {
                    $(Collective::$row => {
                        let entry = $file::Algorithm::by_name(name)?;
                        Some((entry.make)(parameters).map(AnyAlgorithm::$row))
                    })+
                }
            }
        }

        impl AnyAlgorithm {
            /// Its collective.
            pub const fn collective(&self) -> Collective {
                match self { $(AnyAlgorithm::$row(_) => Collective::$row,)+ }
            }

            /// Its name.
            pub fn name(&self) -> &'static str {
                match self { $(AnyAlgorithm::$row(algorithm) => algorithm.name(),)+ }
            }

            /// How long it takes without contention, in the symbols of its source.
            pub fn formula(&self) -> &'static str {
                match self { $(AnyAlgorithm::$row(algorithm) => algorithm.entry().formula,)+ }
            }

            /// What it needs of its world.
            pub fn needs(&self) -> Needs {
                match self { $(AnyAlgorithm::$row(algorithm) => algorithm.entry().needs,)+ }
            }

            /// Its approximate cost with blocks of `bytes` among `ranks` ranks, where the latency is `lambda`.
            pub fn cost(&self, lambda: Lambda, ranks: u32, bytes: Bytes) -> Cost {
                match self { $(AnyAlgorithm::$row(algorithm) => algorithm.cost(lambda, ranks, bytes),)+ }
            }
        }

        impl Performs for AnyAlgorithm {
            async fn perform<E: Endpoint>(&self, endpoint: &E, call: &Call, blocks: &mut Blocks<'_>) -> Result<()> {
                match self { $(AnyAlgorithm::$row(algorithm) => algorithm.perform(endpoint, call, blocks).await,)+ }
            }
        }

        $(impl From<$file::Algorithm> for AnyAlgorithm {
            fn from(algorithm: $file::Algorithm) -> AnyAlgorithm {
                AnyAlgorithm::$row(algorithm)
            }
        })+
    };
}

collectives! {
    barrier::Barrier,
    gather::Gather,
    scatter::Scatter,
    all_gather::AllGather,
    reduce::Reduce,
    reduce_scatter::ReduceScatter,
    scan::Scan,
    exscan::Exscan,
}

impl Collective {
    /// The collective of that name.
    pub fn named(name: &str) -> Option<Collective> {
        Collective::ALL.iter().copied().find(|collective| collective.name() == name)
    }

    /// The collective that this function of MPI is.
    pub fn of_mpi(function: &str) -> Option<Collective> {
        Collective::ALL.iter().copied().find(|collective| collective.mpi().contains(&function))
    }
}

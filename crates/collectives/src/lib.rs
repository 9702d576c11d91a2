//! The collectives: one row each, with its shape as data and its algorithms, and one list of all rows; beside them
//! groups, exchanges with their schedules, and the postal model.
//!
//! A collective's folder has its row and a file for each algorithm. Whatever runs, awaits or describes collectives goes
//! through the list and names none of them. All ranks of the endpoint take part: [`Subgroup`] makes an endpoint of some
//! ranks, in any order.

mod blocks;
mod group;
mod pieces;
mod program;
mod shape;
mod shift;
mod subgroup;

pub mod agreement;
pub mod catalogue;
pub mod postal;
pub mod schedule;

pub mod all_gather;
pub mod all_reduce;
pub mod all_to_all;
pub mod barrier;
pub mod broadcast;
pub mod exscan;
pub mod gather;
pub mod reduce;
pub mod reduce_scatter;
pub mod scan;
pub mod scatter;

pub use blocks::{Blocks, OperandOrder, Sizes};
pub use group::Group;
pub use pieces::joined;
pub use program::{CollectiveEnd, CollectiveProgram, Data, MulticastProgram, OverlappedProgram, cut};
pub use shape::{BlockNumbers, Division, Holders, LeastTraffic, Reduction, Shape, Traffic, of_pair};
pub use subgroup::Subgroup;

use endpoint::{Endpoint, Needs, Result};
use quantities::{Bytes, Rank};

use all_reduce::{Combine, Operator, Sends};

use crate::catalogue::{Catalogue, Cost, Entry, MissingParameter, Parameter, Parameters};
use crate::postal::Lambda;
use crate::schedule::SendReceiveOrder;

/// What all ranks of a collective agree on, besides the sizes of its blocks.
#[derive(Debug)]
pub struct Call<'a, C = Operator> {
    /// The root, where the collective has one, or the first in the order of an algorithm that has one.
    pub root: Rank,
    /// How two blocks are combined, where it reduces.
    pub operator: &'a C,
    /// When the sends of its messages end.
    pub sends: Sends,
}

impl<C> Call<'_, C> {
    /// What a rank does first if it both sends and receives in a step, unless it was `asked` for: one after the other
    /// where a send waits for its receiver, as on the machine of the CM-5 paper, otherwise both at once.
    fn order(&self, asked: Option<SendReceiveOrder>) -> SendReceiveOrder {
        asked.unwrap_or(match self.sends {
            Sends::Early => SendReceiveOrder::Sendrecv,
            Sends::Synchronous => SendReceiveOrder::Alternating,
        })
    }
}

impl<C> Clone for Call<'_, C> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<C> Copy for Call<'_, C> {}

/// The row of a collective.
pub trait Row: 'static {
    /// Its name.
    const NAME: &'static str;
    /// MPI's functions for it: the usual one, and then those with sizes for each rank.
    const MPI: &'static [&'static str];
    /// What it does, in a line.
    const ABOUT: &'static str;
    /// What it does, as data.
    const SHAPE: Shape;
    /// Command lines that run it.
    const EXAMPLES: &'static str;
    /// It in the list.
    const COLLECTIVE: Collective;
    /// Its algorithms.
    type Algorithm: Catalogue + Performs;

    /// The algorithm that is taken if none is asked for, by what is known of the machine and by the size of a block.
    fn usual(known: &Parameters, bytes: Bytes) -> &'static str;

    /// The algorithm by which MPICH does it, where nothing is known of the machine.
    fn usual_in_mpi(ranks: u32, bytes: Bytes) -> &'static str;
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
    /// The parameters that it uses.
    pub parameters: &'static [Parameter],
    /// What it needs of its world besides sends and receives.
    pub needs: Needs,
}

impl Summary {
    /// That of an entry of any catalogue.
    pub fn of<A>(entry: &Entry<A>) -> Summary {
        let &Entry { name, about, formula, parameters, needs, .. } = entry;
        Summary { name, about, formula, parameters, needs }
    }
}

/// An algorithm of any collective, among all ranks of an endpoint.
pub trait Performs {
    /// Begins with the blocks that the rank brings, and ends with those that it takes, and perhaps others.
    #[allow(async_fn_in_trait)] // as for endpoints
    async fn perform<E: Endpoint, C: Combine>(
        &self,
        endpoint: &E,
        call: &Call<'_, C>,
        blocks: &mut Blocks<'_>,
    ) -> Result<()>;

    /// How many messages it sends among `ranks` ranks, if that depends on nothing else.
    fn messages(&self, _ranks: u32) -> Option<u64> {
        None
    }

    /// Checks that `ranks` ranks can use it.
    ///
    /// # Errors
    /// The number of ranks that it needs.
    fn check(&self, _ranks: u32) -> Result<()> {
        Ok(())
    }

    /// The size of the largest message that it sends among `ranks` ranks with blocks of `bytes`, where a rank has a
    /// block for each other. [B]
    fn largest_message(&self, _ranks: u32, bytes: Bytes) -> Bytes {
        bytes
    }

    /// What one of `ranks` ranks does first if it both sends and receives in a step: `asked`, where the algorithm
    /// leaves a choice.
    fn order(&self, _ranks: u32, _asked: SendReceiveOrder) -> SendReceiveOrder {
        SendReceiveOrder::Sendrecv
    }

    /// Whether a rank must know the size of blocks that it has not brought: of those that it cuts, or passes on with
    /// others.
    fn needs_sizes(&self) -> bool {
        true
    }
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
    async fn run<E: Endpoint, C: Combine>(
        &self,
        endpoint: &E,
        call: &Call<'_, C>,
        blocks: &mut Blocks<'_>,
    ) -> Result<()>;

    /// As [`Performs::messages`].
    fn messages(&self, _ranks: u32) -> Option<u64> {
        None
    }

    /// As [`Performs::check`].
    fn check(&self, _ranks: u32) -> Result<()> {
        Ok(())
    }

    /// As [`Performs::largest_message`].
    fn largest_message(&self, _ranks: u32, bytes: Bytes) -> Bytes {
        bytes
    }

    /// As [`Performs::order`].
    fn order(&self, _ranks: u32, _asked: SendReceiveOrder) -> SendReceiveOrder {
        SendReceiveOrder::Sendrecv
    }

    /// As [`Performs::needs_sizes`].
    fn needs_sizes(&self) -> bool {
        true
    }

    /// As [`Catalogue::cost`].
    fn cost(&self, lambda: Lambda, ranks: u32, bytes: Bytes) -> Cost;
}

/// Makes the row of a collective in its own folder: its name, MPI's functions, what it does in a line and as data, and
/// its usual algorithm.
macro_rules! row {
    ($row:ident: $name:literal = $mpi:expr, $about:literal, $shape:expr, examples: $examples:expr, usual: $usual:expr $(,)?) => {
        $crate::row! {
            $row: $name = $mpi, $about, $shape, examples: $examples, usual: $usual,
            usual_in_mpi: |ranks, bytes| <$row as $crate::Row>::usual(&$crate::catalogue::Parameters::of(ranks), bytes),
        }
    };
    (
        $row:ident: $name:literal = $mpi:expr,
        $about:literal,
        $shape:expr,
        examples: $examples:expr,
        usual: $usual:expr,
        usual_in_mpi: $usual_in_mpi:expr $(,)?
    ) => {
        #[doc = $about]
        #[derive(Clone, Copy, Debug)]
        pub struct $row;

        impl $crate::Row for $row {
            const NAME: &'static str = $name;
            const MPI: &'static [&'static str] = &$mpi;
            const ABOUT: &'static str = $about;
            const SHAPE: $crate::Shape = $shape;
            const EXAMPLES: &'static str = $examples;
            const COLLECTIVE: $crate::Collective = $crate::Collective::$row;
            type Algorithm = Algorithm;

            fn usual(known: &$crate::catalogue::Parameters, bytes: quantities::Bytes) -> &'static str {
                let usual: fn(&$crate::catalogue::Parameters, quantities::Bytes) -> &'static str = $usual;
                usual(known, bytes)
            }

            fn usual_in_mpi(ranks: u32, bytes: quantities::Bytes) -> &'static str {
                let usual: fn(u32, quantities::Bytes) -> &'static str = $usual_in_mpi;
                usual(ranks, bytes)
            }
        }
    };
}
pub(crate) use row;

/// Makes the row of a collective, and the list of its algorithms. A macro that makes macros needs to be given a dollar
/// sign.
macro_rules! collective {
    (
        $dollar:tt:
        $row:ident: $name:literal = $mpi:expr,
        $about:literal,
        $shape:expr,
        examples: $examples:expr,
        $(usual_in_mpi: $usual_in_mpi:expr,)?
        usual: $usual:expr,
        $($file:ident::$algorithm:ident,)+
    ) => {
        mod algorithm {
            use quantities::Bytes;

            use crate::catalogue::catalogue;
            use crate::BlockAlgorithm;
            use crate::schedule::SendReceiveOrder;

            catalogue! {
                #[doc = $about]
                BlockAlgorithm, each, $dollar: $($file::$algorithm,)+
            }

            impl $crate::Performs for Algorithm {
                async fn perform<E: endpoint::Endpoint, C: $crate::all_reduce::Combine>(
                    &self,
                    endpoint: &E,
                    call: &$crate::Call<'_, C>,
                    blocks: &mut $crate::Blocks<'_>,
                ) -> endpoint::Result<()> {
                    each!(self, it => it.run(endpoint, call, blocks).await)
                }

                fn messages(&self, ranks: u32) -> Option<u64> {
                    each!(self, it => BlockAlgorithm::messages(it, ranks))
                }

                fn check(&self, ranks: u32) -> endpoint::Result<()> {
                    each!(self, it => BlockAlgorithm::check(it, ranks))
                }

                fn largest_message(&self, ranks: u32, bytes: Bytes) -> Bytes {
                    each!(self, it => BlockAlgorithm::largest_message(it, ranks, bytes))
                }

                fn order(&self, ranks: u32, asked: SendReceiveOrder) -> SendReceiveOrder {
                    each!(self, it => BlockAlgorithm::order(it, ranks, asked))
                }

                fn needs_sizes(&self) -> bool {
                    each!(self, it => BlockAlgorithm::needs_sizes(it))
                }
            }
        }
        pub use algorithm::*;

        $crate::row! {
            $row: $name = $mpi, $about, $shape, examples: $examples, usual: $usual, $(usual_in_mpi: $usual_in_mpi,)?
        }
    };
}
pub(crate) use collective;

/// The list of all collectives: calls the macro that is named with what is given to it, and with them.
#[macro_export]
macro_rules! every_collective {
    ($call:ident! $($given:tt)*) => {
        $call! {
            $($given)* ;
            broadcast::Broadcast,
            all_reduce::AllReduce,
            barrier::Barrier,
            gather::Gather,
            scatter::Scatter,
            all_gather::AllGather,
            reduce::Reduce,
            reduce_scatter::ReduceScatter,
            scan::Scan,
            exscan::Exscan,
            all_to_all::AllToAll,
        }
    };
}

/// Makes what there is of all collectives together.
macro_rules! collectives {
    (; $($file:ident::$row:ident,)+) => {
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

            /// The algorithm that is taken if none is asked for, by what is known of the machine and by the size of a
            /// block.
            pub fn usual(self, known: &Parameters, bytes: Bytes) -> &'static str {
                match self { $(Collective::$row => $file::$row::usual(known, bytes),)+ }
            }

            /// The algorithm by which MPICH does it, where nothing is known of the machine.
            pub fn usual_in_mpi(self, ranks: u32, bytes: Bytes) -> &'static str {
                match self { $(Collective::$row => $file::$row::usual_in_mpi(ranks, bytes),)+ }
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
            async fn perform<E: Endpoint, C: Combine>(
                &self,
                endpoint: &E,
                call: &Call<'_, C>,
                blocks: &mut Blocks<'_>,
            ) -> Result<()> {
                // In a box of its own size: a rank takes no more room because another collective needs much.
                match self {
                    $(AnyAlgorithm::$row(algorithm) => Box::pin(algorithm.perform(endpoint, call, blocks)).await,)+
                }
            }

            fn messages(&self, ranks: u32) -> Option<u64> {
                match self { $(AnyAlgorithm::$row(algorithm) => algorithm.messages(ranks),)+ }
            }

            fn check(&self, ranks: u32) -> Result<()> {
                match self { $(AnyAlgorithm::$row(algorithm) => algorithm.check(ranks),)+ }
            }

            fn largest_message(&self, ranks: u32, bytes: Bytes) -> Bytes {
                match self { $(AnyAlgorithm::$row(algorithm) => algorithm.largest_message(ranks, bytes),)+ }
            }

            fn order(&self, ranks: u32, asked: SendReceiveOrder) -> SendReceiveOrder {
                match self { $(AnyAlgorithm::$row(algorithm) => algorithm.order(ranks, asked),)+ }
            }

            fn needs_sizes(&self) -> bool {
                match self { $(AnyAlgorithm::$row(algorithm) => algorithm.needs_sizes(),)+ }
            }
        }

        $(impl From<$file::Algorithm> for AnyAlgorithm {
            fn from(algorithm: $file::Algorithm) -> AnyAlgorithm {
                AnyAlgorithm::$row(algorithm)
            }
        })+
    };
}

every_collective! { collectives! }

impl Collective {
    /// The collective of that name.
    pub fn named(name: &str) -> Option<Collective> {
        Collective::ALL.iter().copied().find(|collective| collective.name() == name)
    }

    /// The collective that this function of MPI is.
    pub const fn of_mpi(function: &str) -> Option<Collective> {
        let mut place = 0;
        while place < Collective::ALL.len() {
            let (collective, mut name) = (Collective::ALL[place], 0);
            while name < collective.mpi().len() {
                if is_same(collective.mpi()[name], function) {
                    return Some(collective);
                }
                name += 1;
            }
            place += 1;
        }
        None
    }
}

/// Whether two names are the same, as is known when the program is built.
const fn is_same(one: &str, other: &str) -> bool {
    let (one, other) = (one.as_bytes(), other.as_bytes());
    let mut place = 0;
    while place < one.len() && place < other.len() && one[place] == other[place] {
        place += 1;
    }
    place == one.len() && place == other.len()
}

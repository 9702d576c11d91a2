//! A program of any of the catalogue's types, so that different ones run on one machine at the same time.

use std::sync::Arc;

use collectives::schedule::{OverlappedSchedule, Scheduled};
use collectives::{CollectiveProgram, MulticastProgram, OverlappedProgram};
use endpoint::{Endpoint, Erased, Error, Needs, Program, Result, Unexpected};
use linear_hash::LinearHash;
use linear_hash::growing::Growing;
use programs::applications::conjugate_gradient::ConjugateGradient;
use programs::applications::euler::Euler;
use programs::applications::fft::Fft2d;
use programs::benchmarks::{AllPairs, BothBegin, EqualDist, PingPong, UnequalDist};
use programs::cast::Cast;
use quantities::Rank;
use replay::goal::{Player, Schedule};
use replay::trace::{Replay, Trace};

/// A program that is one of [`AnyProgram`].
pub trait Member: Program + Sized {
    /// It, as one of them.
    fn into_any(self) -> AnyProgram;

    /// What a rank of it has ended with; nothing if that is another program's.
    fn output(any: AnyOutput) -> Option<Self::Output>;
}

macro_rules! any_program {
    ($($name:ident = $program:ty),+ $(,)?) => {
        /// A program of any of the catalogue's types.
        pub enum AnyProgram {
            $(#[doc = concat!("`", stringify!($program), "`")] $name($program),)+
        }

        /// What a rank of any program ends with.
        pub enum AnyOutput {
            $(#[doc = concat!("`", stringify!($program), "`")] $name(<$program as Program>::Output),)+
        }

        impl Program for AnyProgram {
            type Output = AnyOutput;
            const NEEDS: Needs = Needs::NOTHING$(.and(<$program as Program>::NEEDS))+;

            async fn run<E: Endpoint>(&self, endpoint: &E) -> Result<AnyOutput> {
                // Compiled once for all worlds, and each in a box of its own size: a rank of a small program takes no
                // more room because of a large one.
                let endpoint = Erased::new(endpoint);
                match self {
                    $(AnyProgram::$name(program) => {
                        Box::pin(program.run(&endpoint)).await.map(AnyOutput::$name)
                    })+
                }
            }

            fn check(&self, rank: Rank, output: &AnyOutput) -> Result<()> {
                match (self, output) {
                    $((AnyProgram::$name(program), AnyOutput::$name(output)) => program.check(rank, output),)+
                    _ => Ok(()),
                }
            }

            fn name_of(&self, rank: Rank) -> String {
                match self {
                    $(AnyProgram::$name(program) => program.name_of(rank),)+
                }
            }

            fn ended(&self, unexpected: &[Unexpected], deadlock: bool) -> Option<Error> {
                match self {
                    $(AnyProgram::$name(program) => program.ended(unexpected, deadlock),)+
                }
            }
        }

        $(impl Member for $program {
            fn into_any(self) -> AnyProgram {
                AnyProgram::$name(self)
            }

            fn output(any: AnyOutput) -> Option<Self::Output> {
                match any {
                    AnyOutput::$name(output) => Some(output),
                    _ => None,
                }
            }
        })+
    };
}

any_program! {
    PingPong = PingPong,
    AllPairs = AllPairs,
    EqualDist = EqualDist,
    EqualDistOfBoth = BothBegin<EqualDist>,
    UnequalDist = UnequalDist,
    UnequalDistOfBoth = BothBegin<UnequalDist>,
    Scheduled = Scheduled,
    OverlappedSchedule = OverlappedSchedule,
    Fft = Fft2d,
    ConjugateGradient = ConjugateGradient,
    Euler = Euler,
    Cast = Cast,
    Collective = CollectiveProgram,
    Multicast = MulticastProgram,
    OverlappedCollective = OverlappedProgram,
    LinearHash = LinearHash,
    LinearHashGrowth = Growing,
    Goal = Player<Arc<Schedule>>,
    Trace = Replay<Arc<Trace>>,
}

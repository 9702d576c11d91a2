//! A program on a model as launched ranks run it: they meet, run it, and meet again.
//!
//! Ranks that have met know how long round trips between them take, and what they learn of that in one run they still
//! know in the next. Where packets are lost, that decides how long they wait before they send one again.

use endpoint::{Endpoint, Error, Needs, Program, Result, Tag, Tagged, Unexpected};
use launch::rank::synchronize;
use launch::wire::Record;
use quantities::{Duration, Rank, Time};

/// The tag for messages between two runs, which no program of the catalogue uses: some ranks are done before others,
/// which may still receive from any source.
const MEETING: Tag = Tag::OF_COLLECTIVES;

/// How long a rank that is done waits before it goes on to the next run. Launched ranks wait until everything that they
/// have sent is acknowledged, and a millisecond more; this is longer than it takes.
const SETTLE_TIME: Duration = Duration::from_microseconds(1_000_000);

/// A program that runs several times.
pub(crate) struct Launched<'a, P> {
    /// The program.
    pub(crate) program: &'a P,
    /// The rank that begins, if one does and the others wait for it.
    pub(crate) first: Option<Rank>,
    /// How often it runs.
    pub(crate) runs: u32,
}

impl<P: Program> Program for Launched<'_, P> {
    /// When each run began and ended.
    type Output = Vec<[Time; 2]>;
    const NEEDS: Needs = P::NEEDS;

    async fn run<E: Endpoint>(&self, endpoint: &E) -> Result<Vec<[Time; 2]>> {
        let mut times = Vec::new();
        for _ in 0..self.runs {
            synchronize(&Tagged::new(endpoint, MEETING), true, self.first).await?;
            let start = endpoint.now();
            let output = self.program.run(endpoint).await?;
            times.push([start, endpoint.now()]);
            self.program.check(endpoint.rank(), &output)?;
            endpoint.sleep_until(endpoint.now() + SETTLE_TIME).await;
        }
        Ok(times)
    }

    fn name_of(&self, rank: Rank) -> String {
        self.program.name_of(rank)
    }

    fn ended(&self, unexpected: &[Unexpected], deadlock: bool) -> Option<Error> {
        self.program.ended(unexpected, deadlock)
    }
}

impl<P: Program> Launched<'_, P> {
    /// What a launched rank would have recorded of these runs.
    pub(crate) fn record(&self, times: &[[Time; 2]]) -> Record {
        let times = times.iter().map(|run| run.map(Time::picoseconds)).collect();
        Record { first: self.first.map(|rank| rank.0), same_clock: true, times, ..Record::default() }
    }
}

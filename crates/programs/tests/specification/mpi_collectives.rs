//! The results of gathers, scatters, reductions to one rank, reduce-scatters and scans, with real bytes, among any number of ranks.

use endpoint::{Endpoint, Message, Needs, Program, Result, World};
use machines::model::LogGp;
use maquette_programs::all_reduce::{Number, Operation, Operator};
use maquette_programs::{Group, all_gather, all_to_all, gather, reduce, reduce_scatter, scan, scatter};
use quantities::{Bytes, Duration, Rank};
use virtual_worlds::loggp::Clock;

const SUM: Operator = Operator::Of(Operation::Sum, Number::U64);

/// All of them, one after the other, with a root.
struct All {
    root: u32,
}

/// The results of a rank, in the order of the calls.
type Ends = Vec<Vec<u64>>;

fn packed(numbers: impl IntoIterator<Item = u64>) -> Message {
    numbers.into_iter().flat_map(u64::to_le_bytes).collect::<Vec<u8>>().into()
}

fn numbers(message: &Message) -> Vec<u64> {
    let content = message.content().cloned().unwrap_or_default();
    content.chunks_exact(8).map(|chunk| u64::from_le_bytes(chunk.try_into().unwrap())).collect()
}

impl Program for All {
    type Output = Ends;
    const NEEDS: Needs = Needs::OVERLAP;

    async fn run<E: Endpoint>(&self, endpoint: &E) -> Result<Ends> {
        let (me, size) = (u64::from(endpoint.rank().0), endpoint.size());
        let group = Group::from_source(Rank(self.root), size)?;
        let mut ends = Vec::new();

        let mut equal = packed([me]);
        gather::binomial(endpoint, &group, &mut equal).await?;
        ends.push(numbers(&equal));
        // Rank p has p numbers.
        let mut unequal = packed((0..me).map(|_| me));
        gather::linear(endpoint, &group, &mut unequal).await?;
        ends.push(numbers(&unequal));

        let mut shared = packed((0..u64::from(size)).map(|part| 100 + part));
        scatter::binomial(endpoint, &group, Bytes(8), &mut shared).await?;
        ends.push(numbers(&shared));
        let part = scatter::linear(endpoint, &group, |place| packed((0..=u64::from(place)).map(|_| 7))).await?;
        ends.push(numbers(&part));

        let mut all = packed([me]);
        all_gather::bruck(endpoint, &mut all).await?;
        ends.push(numbers(&all));
        let mut all = packed((0..me).map(|_| me));
        all_gather::ring(endpoint, &mut all).await?;
        ends.push(numbers(&all));

        let mut sum = packed([me + 1]);
        reduce::binomial(endpoint, &group, &SUM, &mut sum).await?;
        ends.push(numbers(&sum));
        let own = reduce_scatter::pairwise(endpoint, &SUM, |rank| packed([me + u64::from(rank.0)])).await?;
        ends.push(numbers(&own));
        let mut prefix = packed([me + 1]);
        scan::recursive_doubling(endpoint, &SUM, &mut prefix).await?;
        ends.push(numbers(&prefix));

        let others: Vec<Rank> = (0..size).map(Rank).filter(|&rank| rank != endpoint.rank()).collect();
        let mut received = Vec::new();
        let message_for = |to: Rank| packed([10 * me + u64::from(to.0)]);
        all_to_all::posted(endpoint, &others, &others, message_for, |_, message| received.extend(numbers(&message)))
            .await?;
        ends.push(received);
        Ok(ends)
    }
}

fn clock() -> Clock {
    let nanoseconds = Duration::from_nanoseconds;
    Clock::new(LogGp {
        latency: nanoseconds(2_500),
        overhead: nanoseconds(1_500),
        gap: nanoseconds(1_000),
        gap_per_byte: nanoseconds(6),
        overhead_per_byte: Duration::ZERO,
        rendezvous: None,
    })
}

#[test]
fn each_brings_what_it_says() {
    for size in 1..=17_u32 {
        for root in [0, size / 2, size - 1] {
            let (ends, _) = clock().run(size, &All { root }).unwrap();
            for (rank, ends) in (0..).zip(ends.into_iter().map(Result::unwrap)) {
                check(rank, size, root, &ends);
            }
        }
    }
}

fn check(rank: u32, size: u32, root: u32, ends: &[Vec<u64>]) {
    let (p, n) = (u64::from(rank), u64::from(size));
    let place = u64::from((rank + size - root) % size);
    let from_root = || (0..size).map(|place| u64::from((root + place) % size));
    let is_root = rank == root;
    if is_root {
        assert_eq!(ends[0], from_root().collect::<Vec<_>>(), "gather, root {root} of {size}");
        let repeated: Vec<u64> = from_root().flat_map(|rank| (0..rank).map(move |_| rank)).collect();
        assert_eq!(ends[1], repeated, "gatherv, root {root} of {size}");
        assert_eq!(ends[6], [n * (n + 1) / 2], "reduce, root {root} of {size}");
    }
    assert_eq!(ends[2], [100 + place], "scatter, rank {rank} of {size}, root {root}");
    assert_eq!(ends[3], vec![7; place as usize + 1], "scatterv, rank {rank} of {size}, root {root}");
    assert_eq!(
        ends[4],
        (0..n).map(|further| (p + further) % n).collect::<Vec<_>>(),
        "all-gather, rank {rank} of {size}"
    );
    assert_eq!(ends[5], (0..n).flat_map(|q| (0..q).map(move |_| q)).collect::<Vec<_>>(), "ring, rank {rank} of {size}");
    assert_eq!(ends[7], [n * (n - 1) / 2 + n * p], "reduce-scatter, rank {rank} of {size}");
    assert_eq!(ends[8], [(p + 1) * (p + 2) / 2], "scan, rank {rank} of {size}");
    assert_eq!(ends[9], (0..n).filter(|&q| q != p).map(|q| 10 * q + p).collect::<Vec<_>>(), "exchange, rank {rank}");
}

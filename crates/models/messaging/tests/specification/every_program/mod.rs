//! Programs in worlds that send messages in datagrams: each of them has the same result as everywhere else.

use std::num::NonZeroU16;

use collectives::Group;
use collectives::all_reduce::{self, AllReduceMessages, Inputs, Operator, Sends};
use collectives::all_to_all::{Complete, CompleteExchange, Irregular};
use collectives::barrier::Dissemination;
use collectives::broadcast::{self, BroadcastMessage, HardwareBroadcast};
use collectives::catalogue::{Catalogue, Parameters};
use collectives::postal::Lambda;
use collectives::schedule::{Pacing, SendReceiveOrder};
use endpoint::{Endpoint, Message, Program, Result, World};
use linear_hash::{Growth, Key, KeyHash, LinearHash, RankEnd};
use programs::applications::conjugate_gradient::{ConjugateGradient, random_right_side};
use programs::applications::fft::{Array, Complex32, Fft2d, row, transform};
use programs::applications::grid::Grid;
use programs::applications::halo::{Exchanges, Halo};
use programs::applications::partition::blocks;
use programs::applications::patterns::halo_pattern;
use quantities::{Bytes, Duration, Rank};

const RANKS: u32 = 7;

fn content(rank: u32, bytes: usize) -> Vec<u8> {
    (0..bytes).map(|place| (place as u32 * 31 + rank * 7) as u8).collect()
}

fn outputs<T, A>(ended: Result<(Vec<Result<T>>, A)>) -> Vec<T> {
    ended.map(|(results, _)| results).unwrap().into_iter().map(Result::unwrap).collect()
}

pub fn broadcasts_reach_every_rank(worlds: &[impl World]) {
    let message = Message::from(content(0, 20_000));
    let lambda: Lambda = "2.5".parse().unwrap();
    for world in worlds {
        let parameters = Parameters { lambda: Some(lambda), segment: Some(Bytes(3_000)), ..Parameters::of(RANKS) };
        let all = broadcast::Algorithm::all(&parameters).unwrap().into_iter();
        for algorithm in all.filter(|algorithm| !algorithm.entry().needs.multicast()) {
            let group = Group::from_source(Rank(2), RANKS).unwrap();
            let program = BroadcastMessage { algorithm, group, message: message.clone() };
            assert!(outputs(world.run(RANKS, &program)).iter().all(|output| *output == message), "{program:?}");
        }
        let program = HardwareBroadcast { root: Rank(3), message: message.clone() };
        assert!(outputs(world.run(RANKS, &program)).iter().all(|output| *output == message));
    }
}

pub fn combines_give_every_rank_the_sum(worlds: &[impl World]) {
    let numbers: Vec<Vec<u64>> =
        (0..u64::from(RANKS)).map(|rank| (0..500).map(|place| rank * place).collect()).collect();
    let bytes = |numbers: &[u64]| Message::from(numbers.iter().flat_map(|it| it.to_le_bytes()).collect::<Vec<u8>>());
    let sum: Vec<u64> = (0..500).map(|place| numbers.iter().map(|numbers| numbers[place]).sum()).collect();
    let operator: Operator = "sum-u64".parse().unwrap();
    let (lambda, t0): (Lambda, _) = ("2.5".parse().unwrap(), Duration::from_nanoseconds(100));
    for world in worlds {
        let parameters = Parameters { lambda: Some(lambda), t0: Some(t0), ..Parameters::of(RANKS) };
        for algorithm in all_reduce::Algorithm::all(&parameters).unwrap() {
            let inputs = Inputs::Messages(numbers.iter().map(|numbers| bytes(numbers)).collect());
            let group = Group::from_source(Rank(0), RANKS).unwrap();
            let program = AllReduceMessages { algorithm, group, operator, inputs, sends: Sends::Early };
            assert!(outputs(world.run(RANKS, &program)).iter().all(|output| *output == bytes(&sum)), "{program:?}");
        }
    }
}

/// A complete exchange with bytes; each rank returns what it received, in order of the senders.
struct Delivery(CompleteExchange);

impl Program for Delivery {
    type Output = Vec<(Rank, Message)>;

    async fn run<E: Endpoint>(&self, endpoint: &E) -> Result<Self::Output> {
        let (me, bytes) = (endpoint.rank(), self.0.bytes.0 as usize);
        let mut taken = Vec::new();
        let message_for = |to: Rank| Message::from(content(me.0 * 100 + to.0, bytes));
        self.0.exchange(endpoint, message_for, |from, message| taken.push((from, message))).await?;
        taken.sort_by_key(|(from, _)| *from);
        Ok(taken)
    }
}

pub fn complete_exchanges_bring_every_message(worlds: &[impl World]) {
    for world in worlds {
        for algorithm in Complete::all() {
            let made = algorithm.algorithm(None, Duration::from_picoseconds(3));
            let program = Delivery(CompleteExchange::new(made, Bytes(5_000)));
            for (rank, taken) in (0..).zip(outputs(world.run(8, &program))) {
                let expected: Vec<_> = (0..8_u32)
                    .filter(|&from| from != rank)
                    .map(|from| (Rank(from), Message::from(content(from * 100 + rank, 5_000))))
                    .collect();
                assert!(taken == expected, "{algorithm:?} at rank {rank}");
            }
        }
    }
}

/// `perfect` is a world with which the others have to agree.
pub fn a_transform_and_a_solver_are_the_same_to_the_bit(worlds: &[impl World], perfect: &impl World) {
    let (size, seed) = (24, 3);
    let mut serial: Vec<Complex32> = (0..size).flat_map(|number| row(size, seed, number)).collect();
    transform(size, &mut serial);
    let grid = Grid { width: 9, height: 7 };
    let partition = blocks(grid, NonZeroU16::new(3).unwrap(), NonZeroU16::new(2).unwrap());
    let pattern = halo_pattern(&Halo::new(&partition, &grid.edges()), 8).unwrap();
    let exchanges =
        Exchanges::new(&Irregular::Greedy.schedule(&pattern), SendReceiveOrder::Sendrecv, Pacing::FreeRunning);
    let solver = ConjugateGradient::new(grid, &partition, exchanges, random_right_side(grid, 5)).unwrap();
    let alone = outputs(perfect.run(6, &solver));
    for world in worlds {
        let program = Fft2d::new(size, Array::Seeded(seed), Complete::Pairwise).unwrap();
        for part in outputs(world.run(5, &program)) {
            for (place, number) in part.columns.into_iter().enumerate() {
                let size = size as usize;
                assert_eq!(number, serial[place % size * size + part.first as usize + place / size]);
            }
        }
        for (ours, theirs) in outputs(world.run(6, &solver)).iter().zip(&alone) {
            assert_eq!((&ours.unknowns, &ours.values), (&theirs.unknowns, &theirs.values));
        }
    }
}

pub fn a_hash_table_stores_every_key_once_and_a_barrier_ends(worlds: &[impl World]) {
    let growth = Growth { capacity: 20, sensitivity: 0.8, shrink: None, apart: false, most_servers: 4, chunk: 5 };
    let keys: Vec<Key> = (0..200).map(|number| Key::from(format!("word {number}").into_bytes())).collect();
    let program = LinearHash {
        servers: 4,
        clients: 3,
        keys,
        body: Bytes(400),
        hash: KeyHash::Uniform,
        growth,
        server_time: Duration::ZERO,
        finish_splits: false,
        then: Vec::new(),
    };
    for world in worlds {
        let entries = outputs(world.run(RANKS, &program)).into_iter().filter_map(|end| match end {
            RankEnd::Server(server) => server.entries,
            RankEnd::Client(_) => None,
        });
        assert_eq!(entries.sum::<u64>(), 200);
        outputs(world.run(RANKS, &Dissemination { times: 20 }));
    }
}

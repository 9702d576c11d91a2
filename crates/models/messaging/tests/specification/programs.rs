//! Programs on datagrams that may be lost: each of them has the same result as everywhere else.

use crate::every_program;
use crate::faults::Faulty;
use crate::faults::network::Faults;
use maquette_messaging::{Parameters, Parity, Repeat};

/// One datagram in ten is lost, and others are repeated, overtaken and damaged.
fn lossy() -> [Faulty; 3] {
    let faults = Faults { loss: 10, repeated: 5, delay: 100, damaged: 2, strange: 2, ..Faults::default() };
    let parity = Parity { packets: 8, parity: 4, blocks: 4 };
    [Repeat::GoBackN, Repeat::Selective, Repeat::Parity(parity)].map(|repeat| Faulty {
        parameters: Parameters { repeat, ..Parameters::default() },
        faults,
        seed: 11,
    })
}

#[test]
fn broadcasts_reach_every_rank() {
    every_program::broadcasts_reach_every_rank(&lossy());
}

#[test]
fn combines_give_every_rank_the_sum() {
    every_program::combines_give_every_rank_the_sum(&lossy());
}

#[test]
fn complete_exchanges_bring_every_message() {
    every_program::complete_exchanges_bring_every_message(&lossy());
}

#[test]
fn a_transform_and_a_solver_are_the_same_to_the_bit() {
    let perfect = Faulty::perfect(Parameters::default());
    every_program::a_transform_and_a_solver_are_the_same_to_the_bit(&lossy(), &perfect);
}

#[test]
fn a_hash_table_stores_every_key_once_and_a_barrier_ends() {
    every_program::a_hash_table_stores_every_key_once_and_a_barrier_ends(&lossy());
}

//! Programs on UDP sockets of this machine, with real bytes.

#[path = "../../../models/messaging/tests/specification/every_program/mod.rs"]
mod every_program;

use machines::model::LogGp;
use maquette_real_worlds::UdpWorld;
use quantities::Duration;
use virtual_worlds::loggp::Clock;

fn worlds() -> [UdpWorld; 2] {
    [UdpWorld::default(), UdpWorld::default().without_multicast()]
}

#[test]
fn broadcasts_reach_every_rank() {
    every_program::broadcasts_reach_every_rank(&worlds());
}

#[test]
fn combines_give_every_rank_the_sum() {
    every_program::combines_give_every_rank_the_sum(&worlds());
}

#[test]
fn complete_exchanges_bring_every_message() {
    every_program::complete_exchanges_bring_every_message(&worlds());
}

#[test]
fn a_transform_and_a_solver_are_the_same_to_the_bit() {
    let model = LogGp {
        latency: Duration::from_microseconds(1),
        overhead: Duration::ZERO,
        gap: Duration::ZERO,
        gap_per_byte: Duration::ZERO,
        overhead_per_byte: Duration::ZERO,
        rendezvous: None,
    };
    every_program::a_transform_and_a_solver_are_the_same_to_the_bit(&worlds(), &Clock::new(model));
}

#[test]
fn a_hash_table_stores_every_key_once_and_a_barrier_ends() {
    every_program::a_hash_table_stores_every_key_once_and_a_barrier_ends(&worlds());
}

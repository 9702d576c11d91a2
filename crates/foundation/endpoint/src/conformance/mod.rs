//! The test suite that every world must pass.
//!
//! A world's tests call [`world`], [`multicast_world`] if it broadcasts in hardware and [`requests_world`] if it has
//! requests, with a function that makes a world for at least the given number of ranks. Every check is also a function
//! of its own, so that a failure can be examined alone. A check that fails panics with what it found: this is a library
//! for tests.
//!
//! The checks hold whether a send ends when its message is set up, when it has left, or when it has been received. They
//! say nothing about how long anything takes, only that time passes as it must.

mod any_source;
mod multicast;
mod named;
mod overlap;
mod probe;
mod requests;
mod tags;

pub use any_source::*;
pub use multicast::*;
pub use named::*;
pub use overlap::*;
pub use probe::*;
pub use requests::*;
pub use tags::*;

use quantities::{Duration, Rank};

use crate::{Error, Message, Program, Result, World};

/// How many ranks the checks run on: one, two, an odd number, a power of two.
const SIZES: [u32; 5] = [1, 2, 3, 5, 8];

/// Longer than any message in these checks takes on any machine.
const LONG: Duration = Duration::from_microseconds(1_000_000);

/// Checks everything that a world whose time is simulated must do. `make` makes a world for at least the given number
/// of ranks.
pub fn world<W: Subject>(make: impl Fn(u32) -> W) {
    for ranks in SIZES {
        time_begins_at_zero(&make(ranks), ranks);
        computing_takes_exactly_its_time(&make(ranks), ranks);
        waiting_ends_at_its_time(&make(ranks), ranks);
        two_runs_are_the_same(&make, ranks);
    }
    for ranks in [2, 5] {
        two_runs_from_anyone_are_the_same(&make, ranks);
    }
    real_world(make);
}

/// Checks everything that every world must do.
pub fn real_world<W: Subject>(make: impl Fn(u32) -> W) {
    SIZES.into_iter().for_each(|ranks| alone_and_in_pairs(&make, ranks));
    [2, 5].into_iter().for_each(|ranks| among_several(&make, ranks));
}

/// Checks everything that a world of exactly `ranks` ranks must do, including overlapping operations, requests and
/// broadcasts in hardware.
pub fn real_world_of<W: Subject>(make: impl Fn(u32) -> W, ranks: u32) {
    alone_and_in_pairs(&make, ranks);
    among_several(&make, ranks);
    overlapping(&make, ranks);
    requests_bring_each_message_once(&make(ranks), ranks);
    broadcasting(&make, ranks);
}

fn alone_and_in_pairs<W: Subject>(make: &impl Fn(u32) -> W, ranks: u32) {
    results_come_in_order_of_rank(&make(ranks), ranks);
    computing_takes_at_least_its_time(&make(ranks), ranks);
    every_rank_reaches_every_other(&make(ranks), ranks);
    a_rank_that_does_not_exist_is_an_error(&make(ranks), ranks);
    a_message_to_oneself_is_an_error(&make(ranks), ranks);
}

fn among_several<W: Subject>(make: &impl Fn(u32) -> W, ranks: u32) {
    a_send_and_a_receive_pass_each_other(&make(ranks), ranks);
    one_senders_messages_come_in_order(&make(ranks), ranks);
    a_receive_has_room_for_what_it_says(&make(ranks), ranks);
    bytes_arrive_undamaged(&make(ranks), ranks);
    many_senders_reach_one_receiver(&make(ranks), ranks);
    time_never_runs_backward(&make(ranks), ranks);
    one_ranks_error_is_its_own(&make(ranks), ranks);
    what_ranks_end_with_is_checked(&make(ranks), ranks);
    a_message_that_never_comes_is_a_deadlock(&make(ranks), ranks);
    a_ring_of_receives_is_a_deadlock(&make(ranks), ranks);
    receiving_from_anyone(make, ranks);
}

fn receiving_from_anyone<W: Subject>(make: &impl Fn(u32) -> W, ranks: u32) {
    a_message_from_anyone_is_taken_once(&make(ranks), ranks);
    a_deadline_passes(&make(ranks), ranks);
    a_message_before_the_deadline_is_taken(&make(ranks), ranks);
    a_message_that_is_there_beats_a_deadline_that_has_passed(&make(ranks), ranks);
    order_holds_between_named_and_any(&make(ranks), ranks);
    a_probe_finds_a_message_and_leaves_it(&make(ranks), ranks);
    a_probe_ends_at_its_deadline(&make(ranks), ranks);
    probing_for_ever_is_a_deadlock(&make(ranks), ranks);
    probing_must_be_declared(&make(ranks), ranks);
    waiting_for_anyone_for_ever_is_a_deadlock(&make(ranks), ranks);
    receiving_from_anyone_must_be_declared(&make(ranks), ranks);
    overlapping_must_be_declared(&make(ranks), ranks);
}

/// Checks a world whose ranks may have several operations under way at once, and whose messages have tags.
pub fn overlapping_world<W: Subject>(make: impl Fn(u32) -> W) {
    [2, 5].into_iter().for_each(|ranks| overlapping(&make, ranks));
}

fn overlapping<W: Subject>(make: &impl Fn(u32) -> W, ranks: u32) {
    sends_and_receives_pass_each_other(&make(ranks), ranks);
    many_operations_are_under_way_at_once(&make(ranks), ranks);
    communication_goes_on_behind_computing(&make(ranks), ranks);
    waiting_takes_no_processor(&make(ranks), ranks);
    messages_meet_receives_in_the_order_they_began(&make(ranks), ranks);
    what_a_dropped_future_began_goes_on(&make(ranks), ranks);
    receives_that_wait_for_ever_are_a_deadlock(&make(ranks), ranks);
    a_probe_finds_what_no_receive_takes(&make(ranks), ranks);
    a_tag_chooses_among_messages(&make(ranks), ranks);
    a_tag_chooses_among_senders(&make(ranks), ranks);
}

/// Checks all that [`world`] does, and what a world that broadcasts in hardware must do besides.
pub fn multicast_world<W: Subject>(make: impl Fn(u32) -> W) {
    world(&make);
    [2, 5].into_iter().for_each(|ranks| broadcasting(&make, ranks));
}

/// Checks all that [`real_world`] does, and what a world that broadcasts in hardware must do besides.
pub fn real_multicast_world<W: Subject>(make: impl Fn(u32) -> W) {
    real_world(&make);
    [2, 5].into_iter().for_each(|ranks| broadcasting(&make, ranks));
}

fn broadcasting<W: Subject>(make: &impl Fn(u32) -> W, ranks: u32) {
    broadcasts_reach_everyone_in_order(&make(ranks), ranks);
    broadcasts_and_messages_are_kept_apart(&make(ranks), ranks);
    broadcasts_of_nobody_are_errors(&make(ranks), ranks);
    broadcasting_must_be_declared(&make(ranks), ranks);
    // Last, since an operation that it begins may never end.
    a_broadcast_that_never_comes_is_a_deadlock(&make(ranks), ranks);
}

/// A world to check: it runs programs, some of whose ranks may run in other processes, which make the same checks.
pub trait Subject {
    /// Runs `program` on `ranks` ranks and returns the results of those that run in this process, in order of rank.
    ///
    /// # Errors
    /// As [`World::run`]; a deadlock of any rank, wherever it runs.
    fn run_locally<P: Program>(&self, ranks: u32, program: &P) -> Result<Vec<(Rank, Result<P::Output>)>>;
}

impl<W: World> Subject for W {
    fn run_locally<P: Program>(&self, ranks: u32, program: &P) -> Result<Vec<(Rank, Result<P::Output>)>> {
        let (results, _) = self.run(ranks, program)?;
        assert_eq!(results.len(), ranks as usize, "one result a rank");
        Ok((0..).map(Rank).zip(results).collect())
    }
}

/// The results of all ranks that run in this process, none of them an error.
fn run<W: Subject, P: Program>(world: &W, ranks: u32, program: &P) -> Vec<(Rank, P::Output)> {
    let results = world.run_locally(ranks, program).unwrap_or_else(|error| panic!("the world ended with: {error}"));
    let output = |(rank, result): (Rank, Result<P::Output>)| {
        (rank, result.unwrap_or_else(|error| panic!("rank {rank} ended with: {error}")))
    };
    results.into_iter().map(output).collect()
}

/// Asserts that `result` is a deadlock whose text contains each of `parts`.
fn is_deadlock<T>(result: Result<T>, parts: &[&str]) {
    let text = match result {
        Err(Error::Deadlock(text)) => text,
        Err(other) => panic!("expected a deadlock, found the error: {other}"),
        Ok(_) => panic!("expected a deadlock, but every rank ended"),
    };
    for part in parts {
        assert!(text.contains(part), "the deadlock report should say {part:?}: {text}");
    }
}

/// A message of `length` bytes that depend only on the pair and `number`.
fn patterned(from: Rank, to: Rank, number: u32, length: usize) -> Message {
    let seed = from.0.wrapping_mul(31).wrapping_add(to.0).wrapping_mul(31).wrapping_add(number);
    let byte = |place: usize| (seed.wrapping_add(place as u32).wrapping_mul(2_654_435_761) >> 24) as u8;
    Message::from((0..length).map(byte).collect::<Vec<u8>>())
}

//! Rounds on a network that loses, delays and repeats datagrams, in simulated time: the same code as over UDP.

extern crate messaging as maquette_messaging;

#[path = "../../../models/messaging/tests/specification/faults/mod.rs"]
mod faults;

use std::cell::RefCell;
use std::rc::Rc;

use bytes::Bytes;
use endpoint::Endpoint;
use faults::network::Faults;
use faults::{Faulty, Node};
use maquette_cast::manifest::Manifest;
use maquette_cast::parameters::{LARGEST_TO_RECEIVER, parameters};
use maquette_cast::round::{Digest, Ended, Goal, Piece, ReceiverOutcome, Store, Supply, Transfer, receive, send};
use programs::cast::{Cast, FromMemory, InMemory};
use quantities::{Duration, Rank, Time};

const SIZE: usize = (2 << 20) + 12_345;

/// What is sent.
fn file() -> Cast {
    Cast::new(Cast::content(SIZE), 0.0).unwrap()
}

/// Its pieces; every second time one is requested, the disk is too slow.
struct SlowSupply {
    memory: FromMemory,
    slow: bool,
}

impl Supply for SlowSupply {
    fn announce(&mut self, pieces: Vec<u32>) {
        self.memory.announce(pieces);
    }
    fn next(&mut self) -> Result<Option<Piece>, String> {
        self.slow = !self.slow;
        if self.slow { Ok(None) } else { self.memory.next() }
    }
    fn end(&mut self) -> Result<(), String> {
        self.memory.end()
    }
}

/// What one receiver has, kept from round to round.
#[derive(Clone, Default)]
struct RecordingStore {
    memory: InMemory,
    whole: bool,
    taken: u32,
    refuses: Option<&'static str>,
}

impl Store for RecordingStore {
    fn open(&mut self, manifest: &Manifest) -> Result<Vec<(u32, Digest)>, String> {
        self.refuses.map_or_else(|| self.memory.open(manifest), |reason| Err(reason.to_string()))
    }
    fn has_room(&mut self) -> Result<bool, String> {
        self.memory.has_room()
    }
    fn put(&mut self, index: u32, digest: Digest, content: Bytes) -> bool {
        let is_new = self.memory.put(index, digest, content);
        self.taken += u32::from(is_new);
        is_new
    }
    fn missing(&mut self) -> Result<Option<u32>, String> {
        self.memory.missing()
    }
    fn finish(&mut self, whole: Digest) -> Result<bool, String> {
        self.whole = self.memory.finish(whole)?;
        Ok(self.whole)
    }
}

/// How a round ended for each rank, and when the last one had everything.
struct Round {
    outcomes: endpoint::Result<Vec<ReceiverOutcome>>,
    ended: Vec<endpoint::Result<Ended>>,
    last: Time,
}

/// One round on a network with `faults`: rank r has `stores[r - 1]`.
fn round(
    faults: Faults,
    seed: u64,
    stores: &[Rc<RefCell<RecordingStore>>],
    goal: impl Fn(u32, u32) -> Goal + Clone,
) -> Round {
    let file = &file();
    let outcomes = &RefCell::new(Ok(Vec::new()));
    let program = |endpoint: Node| {
        let goal = goal.clone();
        async move {
            let Rank(me) = endpoint.rank();
            if me > 0 {
                let mut store = stores[me as usize - 1].take();
                let ended = receive(&*endpoint, &mut store, |_| {}).await;
                stores[me as usize - 1].replace(store);
                return ended.map(|ended| (Some(ended), endpoint.now()));
            }
            let mut supply = SlowSupply { memory: FromMemory::new(file.pieces().to_vec()), slow: false };
            let mut transfer = Transfer::new(file.manifest());
            *outcomes.borrow_mut() = send(&*endpoint, &mut transfer, &mut supply, goal).await;
            Ok((None, endpoint.now()))
        }
    };
    let world = Faulty { parameters: parameters(7, 1_472, LARGEST_TO_RECEIVER), faults, seed };
    let results = world.run_ranks(stores.len() as u32 + 1, program).unwrap().results;
    let last = results[1..].iter().flatten().map(|(_, at)| *at).max().unwrap_or(Time::ZERO);
    let ended = results.into_iter().skip(1).map(|result| result.map(|(ended, _)| ended.unwrap())).collect();
    Round { outcomes: outcomes.replace(Ok(vec![])), ended, last }
}

fn stores(count: usize) -> Vec<Rc<RefCell<RecordingStore>>> {
    (0..count).map(|_| Rc::default()).collect()
}

fn all(_: u32, _: u32) -> Goal {
    Goal::All
}

#[test]
fn everyone_has_everything_whatever_is_lost_repeated_or_damaged() {
    let faults = [
        Faults::default(),
        Faults { loss: 5, delay: 300, repeated: 5, ..Faults::default() },
        Faults { loss: 20, bursts: (1, 20), damaged: 3, strange: 5, delay: 100, ..Faults::default() },
    ];
    for (faults, seed) in faults.into_iter().zip(1..) {
        let stores = stores(3);
        let round = round(faults, seed, &stores, all);
        assert_eq!(round.outcomes, Ok(vec![ReceiverOutcome::Done; 3]), "{faults:?}");
        assert_eq!(round.ended, vec![Ok(Ended::Done); 3]);
        assert!(stores.iter().all(|store| store.borrow().whole));
    }
}

#[test]
fn after_a_round_that_ends_early_only_what_somebody_lacks_is_sent() {
    let stores = stores(3);
    let first = round(Faults::default(), 1, &stores[..2], |done, _| if done < 2 { Goal::All } else { Goal::EndSoon });
    assert_eq!(first.outcomes, Ok(vec![ReceiverOutcome::Lacks(1); 2]));
    assert_eq!(first.ended, vec![Ok(Ended::Lacks(1)); 2]);
    let second = round(Faults { loss: 5, ..Faults::default() }, 2, &stores, all);
    assert_eq!(second.outcomes, Ok(vec![ReceiverOutcome::Done; 3]));
    assert!(stores.iter().all(|store| store.borrow().taken == 3), "each piece is taken once");
    let third = round(Faults::default(), 3, &stores[..1], |done, of| {
        assert!(of <= 3 && done <= of);
        Goal::All
    });
    assert_eq!((third.outcomes, stores[0].borrow().taken), (Ok(vec![ReceiverOutcome::Done]), 3));
}

#[test]
fn a_receiver_that_refuses_or_is_gone_does_not_hold_up_the_others() {
    let stores = stores(3);
    stores[1].borrow_mut().refuses = Some("there is no room");
    let dies = Some((Rank(3), Time::ZERO + Duration::from_microseconds(20_000)));
    let faults = Faults { byte_time: 80_000, queue: 1 << 20, dies, ..Faults::default() };
    let round = round(faults, 4, &stores, all);
    let refuses = "there is no room".to_string();
    assert_eq!(
        round.outcomes,
        Ok(vec![ReceiverOutcome::Done, ReceiverOutcome::Refuses(refuses.clone()), ReceiverOutcome::Lost])
    );
    assert_eq!(round.ended[..2], [Ok(Ended::Done), Ok(Ended::Refused(refuses))]);
}

#[test]
fn a_sender_that_leaves_says_so() {
    let stores = stores(2);
    let round = round(Faults::default(), 5, &stores, |_, _| Goal::Leave("it was interrupted".to_string()));
    assert_eq!(round.outcomes, Ok(vec![ReceiverOutcome::Lacks(0); 2]));
    assert_eq!(round.ended, vec![Ok(Ended::Left("it was interrupted".to_string())); 2]);
}

/// On a wire of 80 ns/B, where 1,446 of 1,538 bytes belong to the file: the pipeline does not run dry between pieces, a
/// round begins and ends within moments, and 1% lost at each of seven receivers costs little more than 1%.
#[test]
fn a_round_is_as_fast_as_the_wire() {
    for (loss, more) in [(0, 1.0), (1, 1.06)] {
        let faults = Faults { byte_time: 80_000, queue: 1 << 20, loss, ..Faults::default() };
        let round = round(faults, 6, &stores(7), all);
        assert_eq!(round.outcomes, Ok(vec![ReceiverOutcome::Done; 7]));
        let wire = 1.0636 * SIZE as f64 * 80e-9;
        println!("{loss}% lost: {:.4} times the wire", round.last.seconds() / wire);
        assert!(round.last.seconds() < more * wire + 0.02, "{} of {wire} s", round.last.seconds());
    }
}

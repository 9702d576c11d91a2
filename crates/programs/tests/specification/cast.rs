//! Cast: every receiver ends with every byte, what somebody has already is not sent again, and what is damaged is
//! reported.

use std::cell::Cell;

use bytes::Bytes as Content;
use endpoint::{Endpoint, Error, Message, Needs, Program, Received, Result, Source, Tag, Tags, World};
use machines::model::{Ethernet, Faults, Interconnect, Machine};
use maquette_programs::cast::round::ToAll;
use maquette_programs::cast::{Cast, CastEnd};
use proptest::prelude::*;
use quantities::{Bytes, Duration, Rank, Time};
use virtual_worlds::ethernet::world::EthernetWorld;
use virtual_worlds::flit::world::{NetworkWorld, Options};

const PIECE: usize = 1 << 20;

fn cast(length: usize, share: f64) -> Cast {
    Cast::new(Cast::content(length), share).unwrap()
}

/// A switched Ethernet of nine hosts that does this to frames.
fn ethernet(faults: Faults) -> Machine {
    let mut machine = machines::load("dp-smp-8").unwrap();
    machine.nodes = 9;
    let Interconnect::Ethernet(Ethernet { faults: place, .. }) = &mut machine.interconnect else { unreachable!() };
    *place = faults;
    machine
}

/// Loses a frame in a hundred, delays some and repeats some.
const LOSSY: Faults = Faults {
    loss: 0.01,
    burst_begins: 0.001,
    burst_ends: 0.3,
    duplicated: 0.01,
    delayed: 0.02,
    delay: Duration::from_microseconds(200),
};

/// Two rows of four nodes, with a network for broadcasts beside the one for messages.
fn with_control_network() -> Machine {
    let text = "[topology.mesh]\ncolumns = 4\nrows = 2\n[channels]\nrate = \"10 MB/s\"\n[routers]\nrouting_delay = \"1 us\"\n\
                [packet]\npayload = 128\nheader = 2\n[control_network]\nlatency = \"4 us\"\nrate = \"1 MB/s\"\noverhead = \"3 us\"\n";
    machines::Description::parse(text, "test.toml").unwrap().resolve().unwrap()
}

/// Checks that every rank has all of `program`, and that each receiver was sent this many pieces.
fn check(program: &Cast, ends: Vec<Result<CastEnd>>, sent: u32) {
    for (rank, end) in (0..).map(Rank).zip(ends) {
        let end = end.unwrap();
        program.check(rank, &end).unwrap();
        assert_eq!(end.came, if rank == Rank(0) { 0 } else { sent }, "rank {rank}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_receiver_ends_with_every_byte_whatever_is_lost(
        ranks in 1u32..=9,
        length in prop_oneof![0usize..3_000, (PIECE - 2)..(PIECE + 3), 0usize..(5 * PIECE / 2)],
        share in 0.0f64..=1.0,
        lossy in any::<bool>(),
        seed in any::<u64>(),
    ) {
        let machine = ethernet(if lossy { LOSSY } else { Faults::NONE });
        let program = cast(length, share);
        let (ends, _) = EthernetWorld::new(&machine, seed).run(ranks, &program).unwrap();
        let expected = Cast::content(length);
        for end in ends.iter().flatten() {
            prop_assert_eq!(end.pieces.concat(), &expected[..]);
        }
        check(&program, ends, program.pieces().len() as u32 - program.known());
    }
}

#[test]
fn in_hardware_too_every_receiver_ends_with_every_byte() {
    let machine = with_control_network();
    for (length, share, sent) in
        [(0, 0.0, 0), (1, 0.0, 1), (3 * PIECE, 0.0, 3), (3 * PIECE + 1, 0.5, 2), (PIECE, 1.0, 0)]
    {
        for ranks in [1, 2, 8] {
            let program = cast(length, share);
            let (ends, _) = NetworkWorld::new(&machine, Options::default()).run(ranks, &program).unwrap();
            check(&program, ends, sent);
        }
    }
}

#[test]
fn the_same_seed_gives_the_same_run() {
    let machine = ethernet(LOSSY);
    let program = cast(300_000, 0.0);
    let run = |seed| format!("{:?}", EthernetWorld::new(&machine, seed).run(5, &program).unwrap());
    assert_eq!(run(3), run(3));
    assert_ne!(run(3), run(4), "nothing was lost");
}

/// Receivers that have other content than the sender.
struct StaleReceivers {
    sent: Cast,
    had: Cast,
}

impl Program for StaleReceivers {
    const NEEDS: Needs = Cast::NEEDS;
    type Output = CastEnd;

    async fn run<E: Endpoint>(&self, endpoint: &E) -> Result<CastEnd> {
        if endpoint.rank() == Rank(0) { self.sent.run(endpoint).await } else { self.had.run(endpoint).await }
    }
}

#[test]
fn a_piece_that_is_another_is_sent_though_receivers_have_one() {
    let mut other = Cast::content(3 * PIECE).to_vec();
    other[PIECE + 17] ^= 1;
    let program = StaleReceivers { sent: cast(3 * PIECE, 0.0), had: Cast::new(Content::from(other), 1.0).unwrap() };
    let (ends, _) = EthernetWorld::new(&ethernet(Faults::NONE), 1).run(4, &program).unwrap();
    check(&program.sent, ends, 1);
}

/// What happens to the pieces that one rank receives.
#[derive(Clone, Copy, Debug)]
enum Harm {
    /// A bit is another.
    Bit,
    /// A bit is another, and the hash of the piece is that of the changed one.
    BitAndHash,
    /// Some never come.
    Withheld,
}

/// A cast of which rank 2 gets the second piece harmed.
struct HarmedCast(Cast, Harm);

impl Program for HarmedCast {
    const NEEDS: Needs = Cast::NEEDS;
    type Output = CastEnd;

    async fn run<E: Endpoint>(&self, endpoint: &E) -> Result<CastEnd> {
        let HarmedCast(cast, harm) = self;
        cast.run(&HarmedEndpoint { endpoint, harm: *harm, seen: Cell::new(0) }).await
    }
}

/// An endpoint between a rank and its world.
struct HarmedEndpoint<'a, E> {
    endpoint: &'a E,
    harm: Harm,
    /// How many pieces have come.
    seen: Cell<u32>,
}

impl<E: Endpoint> HarmedEndpoint<'_, E> {
    /// What becomes of a message that has come; nothing where it is withheld.
    fn after_harm(&self, message: Message) -> Option<Message> {
        let Some(ToAll::Piece { index, digest, content }) = ToAll::decode(&message) else { return Some(message) };
        self.seen.set(self.seen.get() + 1);
        if self.rank() != Rank(2) || self.seen.get() != 2 {
            return Some(message);
        }
        let mut changed = content.to_vec();
        changed[100] ^= 4;
        let content = Content::from(changed);
        match self.harm {
            Harm::Withheld => None,
            Harm::Bit => Some(ToAll::Piece { index, digest, content }.encode()),
            Harm::BitAndHash => {
                let digest = maquette_programs::cast::round::Digest::of(&content);
                Some(ToAll::Piece { index, digest, content }.encode())
            }
        }
    }
}

impl<E: Endpoint> Endpoint for HarmedEndpoint<'_, E> {
    fn rank(&self) -> Rank {
        self.endpoint.rank()
    }
    fn size(&self) -> u32 {
        self.endpoint.size()
    }
    fn now(&self) -> Time {
        self.endpoint.now()
    }
    async fn send_tagged(&self, to: Rank, tag: Tag, message: Message) -> Result<()> {
        self.endpoint.send_tagged(to, tag, message).await
    }
    async fn receive_matching(&self, from: Source, tags: Tags, deadline: Option<Time>) -> Result<Received> {
        self.endpoint.receive_matching(from, tags, deadline).await
    }
    async fn probe(&self, from: Source, tags: Tags, deadline: Option<Time>) -> Result<Received> {
        self.endpoint.probe(from, tags, deadline).await
    }
    async fn compute(&self, work: Duration) {
        self.endpoint.compute(work).await;
    }
    async fn multicast(&self, message: Message) -> Result<()> {
        self.endpoint.multicast(message).await
    }
    async fn receive_multicast(&self, from: Rank) -> Result<Message> {
        loop {
            let message = self.endpoint.receive_multicast(from).await?;
            if let Some(message) = self.after_harm(message) {
                return Ok(message);
            }
        }
    }
}

#[test]
fn a_piece_that_is_damaged_or_does_not_come_is_an_error_at_both_ends() {
    let another = "what came is not what was sent: the hash of all is another";
    for (harm, at_sender, at_receiver) in [
        (Harm::Bit, "rank 2 lacks 1 of 3 pieces", "rank 2 lacks 1 of 3 pieces"),
        (Harm::Withheld, "rank 2 lacks 1 of 3 pieces", "rank 2 lacks 1 of 3 pieces"),
        (Harm::BitAndHash, &format!("rank 2 refuses: {another}"), another),
    ] {
        let program = HarmedCast(cast(3 * PIECE, 0.0), harm);
        let (ends, _) = EthernetWorld::new(&ethernet(Faults::NONE), 1).run(4, &program).unwrap();
        let network = |why: &str| Some(Error::Network(why.to_owned()));
        let errors: Vec<Option<Error>> = ends.into_iter().map(Result::err).collect();
        assert_eq!(errors, [network(at_sender), None, network(at_receiver), None], "{harm:?}");
    }
}

#[test]
fn a_rank_that_ends_with_something_else_fails_the_check() {
    let program = cast(PIECE + 1, 0.0);
    let right = CastEnd {
        pieces: vec![Cast::content(PIECE + 1).slice(..PIECE), Cast::content(PIECE + 1).slice(PIECE..)],
        came: 2,
    };
    assert_eq!(program.check(Rank(1), &right), Ok(()));
    let short = CastEnd { pieces: right.pieces[..1].to_vec(), came: 1 };
    let why = "rank 1 has something else than was sent".to_owned();
    assert_eq!(program.check(Rank(1), &short), Err(Error::Network(why)));
}

#[test]
fn a_machine_that_cannot_broadcast_is_reported() {
    for (world, ends) in crate::worlds::everywhere(3, &cast(100, 0.0)) {
        let unfit = |end: &Result<CastEnd>| matches!(end, Err(Error::Unfit(why)) if why.contains("in hardware"));
        assert!(ends.unwrap().iter().all(unfit), "{world}");
    }
}

/// All other ranks send a byte to rank 0 at once.
struct Answers;

impl Program for Answers {
    type Output = ();

    async fn run<E: Endpoint>(&self, endpoint: &E) -> Result<()> {
        if endpoint.rank() != Rank(0) {
            return endpoint.send(Rank(0), Message::of_size(Bytes(1))).await;
        }
        for rank in 1..endpoint.size() {
            endpoint.receive(Rank(rank)).await?;
        }
        Ok(())
    }
}

/// o = 3 us, L = 4 us, r = 1 B/us; the manifest of one file is known from its encoding, and A + (n-2) c is the time of
/// answers alone.
#[test]
fn a_cast_takes_the_time_of_the_formula() {
    let machine = with_control_network();
    let world = NetworkWorld::new(&machine, Options::default());
    let broadcast = |bytes: u64| 3 + bytes + 4 + 3;
    for ranks in [2, 3, 8] {
        let answers = world.run(ranks, &Answers).unwrap().1.makespan().since(Time::ZERO);
        for (length, pieces) in [(64, 1), (PIECE, 1), (3 * PIECE, 3)] {
            let program = cast(length, 0.0);
            let manifest = program.manifest().encode().len() as u64 + 1;
            let sent = 3 * pieces + length as u64 + 37 * pieces;
            let us = broadcast(manifest) + sent + broadcast(33) + broadcast(1);
            let expected = Duration::from_microseconds(us) + answers * 2;
            let run = world.run(ranks, &program).unwrap().1;
            assert_eq!(run.makespan(), Time::ZERO + expected, "{length} bytes among {ranks}");
        }
    }
}

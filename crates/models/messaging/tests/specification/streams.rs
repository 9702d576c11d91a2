//! A source's side of a stream and its receiver's, joined by a wire that loses, repeats and reorders.

use std::collections::BTreeMap;

use crate::faults::draws::{Draws, seeds};
use maquette_messaging::packet::ReceiverReport;
use maquette_messaging::sequence::FIRST;
use maquette_messaging::{Probe, ReceiveStream, Repeat, Reporting, SendStream, Timing};
use quantities::{Duration, Time};

const fn us(microseconds: u64) -> Duration {
    Duration::from_microseconds(microseconds)
}

const TIMING: Timing = Timing { first: us(2_000), least: us(50), most: us(100_000) };
const WINDOW: u64 = 16;

enum Flying {
    Packet(u64, bool),
    Question,
    Report(ReceiverReport),
}

struct Pair {
    now: Time,
    draws: Draws,
    loss: u64,
    repeats: u64,
    /// The most by which a packet is delayed. [us]
    delay: u64,
    send_stream: SendStream,
    receive_stream: ReceiveStream<u64>,
    flying: BTreeMap<(Time, u64), Flying>,
    launched: u64,
    next: u64,
    end: u64,
    taken: Vec<u64>,
    /// The receiver has no room for packets from this one on until this time.
    room: (u64, Time),
}

impl Pair {
    fn new(repeat: Repeat, seed: u64, packets: u64) -> Pair {
        let mut draws = Draws(seed);
        let (loss, repeats, delay) = (draws.below(31), draws.below(20), 1 + draws.below(400));
        let reporting = Reporting { packets: 1 + draws.below(8), delay: us(draws.below(1_000)) };
        let room = (FIRST + draws.below(packets), Time::ZERO + us(draws.below(20_000)));
        Pair {
            now: Time::ZERO,
            loss,
            repeats,
            delay,
            draws,
            send_stream: SendStream::new(FIRST, repeat, TIMING),
            receive_stream: ReceiveStream::new(FIRST, WINDOW, repeat, reporting),
            flying: BTreeMap::new(),
            launched: 0,
            next: FIRST,
            end: FIRST + packets,
            taken: Vec::new(),
            room,
        }
    }

    fn launch(&mut self, what: impl Fn() -> Flying) {
        let copies = 1 + u64::from(self.draws.percent(self.repeats));
        for _ in 0..copies {
            if !self.draws.percent(self.loss) {
                let arrival = self.now + us(1 + self.draws.below(self.delay));
                self.launched += 1;
                self.flying.insert((arrival, self.launched), what());
            }
        }
    }

    fn send(&mut self) {
        while let Some((sequence, answer)) = self.send_stream.repeat(self.now) {
            self.launch(|| Flying::Packet(sequence, answer));
        }
        if self.send_stream.should_ask() {
            self.launch(|| Flying::Question);
        }
        while self.next < self.end && self.next - self.send_stream.base() < WINDOW {
            self.send_stream.sent(self.now);
            let sequence = self.next;
            self.launch(|| Flying::Packet(sequence, false));
            self.next += 1;
        }
        if self.receive_stream.due().is_some_and(|due| due <= self.now) {
            let report = self.receive_stream.report();
            self.launch(|| Flying::Report(report.clone()));
        }
    }

    fn take(&mut self) {
        while let Some(&front) = self.receive_stream.front() {
            if front >= self.room.0 && self.now < self.room.1 {
                return self.receive_stream.refuse(self.now);
            }
            self.taken.extend(self.receive_stream.advance(self.now));
        }
    }

    /// Advances to the next event.
    fn step(&mut self) {
        let deadlines =
            [self.send_stream.deadline(), self.receive_stream.due(), Some(self.room.1).filter(|&at| at > self.now)];
        let arrival = self.flying.first_key_value().map(|(&(at, _), _)| at);
        let next = deadlines.into_iter().flatten().chain(arrival).min().expect("something happens next");
        self.now = self.now.max(next);
        if self.now >= self.room.1 {
            self.receive_stream.has_room(self.now);
            self.take();
        }
        while let Some(entry) = self.flying.first_entry().filter(|entry| entry.key().0 <= self.now) {
            match entry.remove() {
                Flying::Packet(sequence, answer) => {
                    self.receive_stream.offer(self.now, sequence as u32, answer, sequence);
                    self.take();
                }
                Flying::Question => self.receive_stream.ask(self.now),
                Flying::Report(report) => {
                    self.send_stream.report(self.now, &report);
                }
            }
        }
        self.send_stream.wake(self.now);
    }

    fn run(&mut self) {
        self.send();
        while self.send_stream.base() < self.end {
            assert!(self.now < Time::ZERO + us(1_000_000_000), "it never ends");
            self.step();
            self.send();
        }
    }
}

#[test]
fn every_packet_arrives_once_and_in_order_whatever_the_wire_does() {
    let both = |probe| [(Repeat::GoBackN, probe), (Repeat::Selective, probe)];
    for (repeat, probe) in [Probe::WithPacket, Probe::Alone].into_iter().flat_map(both) {
        for seed in seeds(300) {
            let mut pair = Pair::new(repeat, seed, 200);
            pair.send_stream = pair.send_stream.with_probe(probe);
            pair.run();
            let expected: Vec<u64> = (FIRST..FIRST + 200).collect();
            assert!(
                pair.taken == expected,
                "{repeat:?}, {probe:?}: {:?}\nagain: SEED={seed} cargo test -p maquette-messaging --test specification streams",
                pair.taken
            );
        }
    }
}

/// How many of 2,000 packets are sent again when `loss` in a hundred are lost.
fn sent_again(repeat: Repeat, loss: u64) -> u64 {
    let mut pair = Pair::new(repeat, 1, 2_000);
    (pair.loss, pair.repeats, pair.delay) = (loss, 0, 1);
    pair.room.1 = Time::ZERO;
    pair.run();
    pair.send_stream.repeated()
}

#[test]
fn without_loss_nothing_is_sent_again() {
    assert_eq!([Repeat::GoBackN, Repeat::Selective].map(|repeat| sent_again(repeat, 0)), [0, 0]);
}

#[test]
fn selective_repeat_sends_little_more_than_was_lost_and_go_back_n_much_more() {
    let [go_back_n, selective] = [Repeat::GoBackN, Repeat::Selective].map(|repeat| sent_again(repeat, 5));
    assert!((100..200).contains(&selective), "{selective}");
    assert!(go_back_n > 3 * selective, "{go_back_n} and {selective}");
}

/// The report of a receiver that has everything before `expected`.
fn has_all_before(expected: u64, answers: bool) -> ReceiverReport {
    ReceiverReport { expected: expected as u32, answers, ..ReceiverReport::default() }
}

fn all_repeats(send_stream: &mut SendStream, now: Time) -> Vec<(u64, bool)> {
    std::iter::from_fn(|| send_stream.repeat(now)).collect()
}

fn send(send_stream: &mut SendStream, now: Time, packets: u64) {
    (0..packets).for_each(|_| send_stream.sent(now));
}

#[test]
fn a_timeout_that_came_too_soon_is_taken_back_and_the_next_comes_later() {
    // A packet that was sent twice yields no round trip, but the timeout stays doubled; 9 ms come from one that was
    // sent once.
    let all = [(Probe::WithPacket, 9_000 + 4_000), (Probe::Alone, 9_000 + 27_000)];
    let both = |asked: (Probe, u64)| [(Repeat::GoBackN, asked), (Repeat::Selective, asked)];
    for (repeat, (probe, next)) in all.into_iter().flat_map(both) {
        let at = |microseconds| Time::ZERO + us(microseconds);
        let mut send_stream = SendStream::new(FIRST, repeat, TIMING).with_probe(probe);
        send(&mut send_stream, at(0), 8);
        send_stream.wake(at(2_000));
        let again = all_repeats(&mut send_stream, at(2_000));
        assert_eq!((again.is_empty(), send_stream.should_ask()), (probe == Probe::Alone, probe == Probe::Alone));
        // The packet had been on its way all the time, and so are those after it: this report is no answer.
        send_stream.report(at(9_000), &has_all_before(FIRST + 3, false));
        assert_eq!(all_repeats(&mut send_stream, at(9_000)), [], "{repeat:?}");
        assert_eq!(send_stream.deadline(), Some(at(next)), "{repeat:?}, {probe:?}");
        // Nor does what the question covered count as lost when the answer arrives.
        send_stream.report(at(9_500), &has_all_before(FIRST + 3, true));
        assert_eq!(all_repeats(&mut send_stream, at(9_500)), [], "{repeat:?}");
    }
}

#[test]
fn what_was_sent_after_the_first_of_two_questions_is_not_taken_for_lost() {
    let at = |microseconds| Time::ZERO + us(microseconds);
    let mut send_stream = SendStream::new(FIRST, Repeat::Selective, TIMING).with_probe(Probe::Alone);
    send(&mut send_stream, at(0), 3);
    for question in [2_000, 6_000] {
        send_stream.wake(at(question));
        assert!(send_stream.should_ask() && !send_stream.should_ask());
        assert_eq!(all_repeats(&mut send_stream, at(question)), []);
        send(&mut send_stream, at(question + 1), 2);
    }
    // Packet FIRST + 2 is lost, and those after it are still in flight when the first question is answered.
    send_stream.report(at(9_000), &has_all_before(FIRST + 2, true));
    assert_eq!(all_repeats(&mut send_stream, at(9_000)), [(FIRST + 2, true)]);
    send_stream.report(at(9_100), &has_all_before(FIRST + 2, true));
    assert_eq!(all_repeats(&mut send_stream, at(9_100)), []);
}

/// The report of a receiver that has nothing before `expected + 1`, and some of what comes after it, a bit each.
fn lacks(expected: u64, after: u8, missing: bool) -> ReceiverReport {
    ReceiverReport { expected: expected as u32, bitmap: vec![after].into(), missing, ..ReceiverReport::default() }
}

#[test]
fn a_packet_that_is_lost_again_is_sent_again_when_one_sent_later_has_arrived() {
    let at = |microseconds| Time::ZERO + us(microseconds);
    let mut send_stream = SendStream::new(FIRST, Repeat::Selective, TIMING).with_send_order();
    send(&mut send_stream, at(0), 2);
    send_stream.report(at(1_000), &lacks(FIRST, 0b1, true));
    assert_eq!(all_repeats(&mut send_stream, at(1_000)), [(FIRST, true)]);
    send(&mut send_stream, at(2_000), 2);
    send_stream.report(at(2_500), &lacks(FIRST, 0b1, false));
    assert_eq!(all_repeats(&mut send_stream, at(2_500)), [], "it may be on its way");
    send_stream.report(at(3_000), &lacks(FIRST, 0b11, false));
    assert_eq!(all_repeats(&mut send_stream, at(3_000)), [(FIRST, true)]);
    send_stream.report(at(3_100), &lacks(FIRST, 0b111, false));
    assert_eq!(all_repeats(&mut send_stream, at(3_100)), [], "both were sent before it was the last time");
}

#[test]
fn a_receiver_that_gets_further_is_asked_as_soon_as_after_the_first_silence() {
    for (probe, next) in [(Probe::WithPacket, 8_000 + 8_000), (Probe::Alone, 8_000 + 2_000)] {
        let at = |microseconds| Time::ZERO + us(microseconds);
        let mut send_stream = SendStream::new(FIRST, Repeat::Selective, TIMING).with_probe(probe);
        send(&mut send_stream, at(0), 8);
        send_stream.report(at(1_000), &lacks(FIRST, 0b1, true));
        assert_eq!(all_repeats(&mut send_stream, at(1_000)), [(FIRST, true)]);
        // Nothing is heard twice, the second time for twice as long.
        for silence in [3_000, 7_000] {
            assert_eq!(send_stream.deadline(), Some(at(silence)));
            send_stream.wake(at(silence));
            assert_eq!(
                (all_repeats(&mut send_stream, at(silence)).len(), send_stream.should_ask()),
                match probe {
                    Probe::WithPacket => (1, false),
                    Probe::Alone => (0, true),
                }
            );
        }
        send_stream.report(at(8_000), &has_all_before(FIRST + 2, false));
        assert_eq!(send_stream.deadline(), Some(at(next)), "{probe:?}");
    }
}

#[test]
fn a_receiver_that_keeps_what_is_early_has_lost_nothing_when_it_had_no_room() {
    for (repeat, again) in [(Repeat::Selective, 0), (Repeat::GoBackN, 4)] {
        let at = |microseconds| Time::ZERO + us(microseconds);
        let mut send_stream = SendStream::new(FIRST, repeat, TIMING);
        send(&mut send_stream, at(0), 6);
        send_stream.report(at(100), &ReceiverReport { no_room: true, ..has_all_before(FIRST + 2, false) });
        send_stream.report(at(200), &has_all_before(FIRST + 2, false));
        assert_eq!(all_repeats(&mut send_stream, at(200)).len(), again, "{repeat:?}");
    }
}

#[test]
fn duplicate_packets_are_counted() {
    for repeat in [Repeat::GoBackN, Repeat::Selective] {
        let mut receive_stream = ReceiveStream::new(FIRST, WINDOW, repeat, Reporting { packets: 4, delay: us(500) });
        for sequence in [FIRST, FIRST, FIRST + 1, FIRST + 3, FIRST + 3, FIRST] {
            receive_stream.offer(Time::ZERO, sequence as u32, false, sequence);
            while receive_stream.advance(Time::ZERO).is_some() {}
        }
        // With go-back-n nothing that is early is kept.
        let again = if repeat == Repeat::GoBackN { 2 } else { 3 };
        assert_eq!(receive_stream.duplicates(), again, "{repeat:?}");
    }
}

//! Reading GOAL texts: valid ones are read, invalid ones refused with a clear error, and nothing makes the reader
//! panic.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::Arc;

use endpoint::executor::{self, Machine, OperationEvent, number_of};
use endpoint::{Error, Event, Operation, Outcome, Request, StartStatus, Tag, World};
use machines::model::LogGp;
use maquette_replay::goal::{GoalError, OperationId, OperationKind, Player, Schedule};
use proptest::prelude::*;
use quantities::{Bytes, Duration, Rank, Time};
use virtual_worlds::loggp::Clock;

fn parse(text: &str) -> Result<Schedule, GoalError> {
    Schedule::parse("trace.goal", text.as_bytes())
}

#[test]
fn everything_that_the_format_has_is_read() {
    let schedule = parse(
        "// a comment\n/* another,\n   over two lines */ num_ranks 3\r\n\n\
         rank 2 { // the others come later\n\
         first: calc 500 cpu 1\n\
         l_2: send 64b to 1 tag 7 cpu 2 nic 3\n\
         \tl3 : recv 64 b from -1 tag -1 /* from anyone */\n\
         recv 0b from 0\n\
         l_2 requires first\n\
         l3 irequires l_2 // when it has started\n\
         }\n\
         rank 0 {\n}",
    )
    .unwrap();
    assert_eq!(schedule.size(), 3);
    assert_eq!(schedule.busy_ranks().map(|(rank, _)| rank).collect::<Vec<_>>(), [Rank(0), Rank(2)]);
    assert!(schedule.block(Rank(0)).operations().len() == 0);
    assert!(schedule.block(Rank(1)).operations().len() == 0);

    let block = schedule.block(Rank(2));
    let kinds: Vec<_> = block.operations().map(|operation| operation.kind).collect();
    assert_eq!(
        kinds,
        [
            OperationKind::Calculate(Duration::from_nanoseconds(500)),
            OperationKind::Send { to: Rank(1), size: Bytes(64), tag: 7 },
            OperationKind::Receive { from: None, size: Bytes(64), tag: None },
            OperationKind::Receive { from: Some(Rank(0)), size: Bytes(0), tag: Some(0) },
        ]
    );
    let places: Vec<_> =
        block.operations().map(|operation| (operation.line, operation.processor, operation.interface)).collect();
    assert_eq!(places, [(6, 1, 0), (7, 2, 3), (8, 0, 0), (9, 0, 0)]);
    let requirements: Vec<_> = block
        .requirements()
        .map(|requirement| (requirement.operation.0, requirement.on.0, requirement.only_started))
        .collect();
    assert_eq!(requirements, [(1, 0, false), (2, 1, true)]);
}

#[test]
fn labels_may_look_like_other_words_and_belong_to_their_rank() {
    let text = "num_ranks 2\nrank 0 {\nsend: calc 1\nto: send 1b to 1\nto requires send\n}\nrank 1 {\nto: calc 1\n}\n";
    assert_eq!(parse(text).unwrap().block(Rank(0)).requirements().count(), 1);
}

/// Asserts that each text is refused with the message beside it.
fn are_refused(cases: &[(String, &str)]) {
    for (text, expected) in cases {
        match parse(text) {
            Ok(_) => panic!("nothing is wrong with {text:?}, but there should be: {expected}"),
            Err(error) => assert_eq!(error.to_string(), *expected, "{text}"),
        }
    }
}

#[test]
fn mistakes_in_a_text_are_reported_with_their_place() {
    are_refused(&[
        (String::new(), "trace.goal:1:1: found the end of the file, where `num_ranks` is allowed"),
        ("num_rank 2".into(), "trace.goal:1:1: found `num_rank`, where `num_ranks` is allowed"),
        ("num_ranks two".into(), "trace.goal:1:11: found `two`, where a number of ranks is allowed"),
        ("num_ranks 0".into(), "trace.goal:1:11: found 0 for a number of ranks; 1 to 16777216 is allowed"),
        (
            "num_ranks 99999999999999999999999".into(),
            "trace.goal:1:11: found 99999999999999999999999 for a number of ranks; 1 to 16777216 is allowed",
        ),
        ("num_ranks -1".into(), "trace.goal:1:11: found `-1`, where a number of ranks is allowed"),
        ("num_ranks 2\nrank 2 {\n}".into(), "trace.goal:2:6: rank 2 does not exist; 0 to 1 is allowed"),
        ("num_ranks 2\nrank 0\n{\n}".into(), "trace.goal:2:7: found the end of the line, where `{` is allowed"),
        ("num_ranks 2\nrank 0 {\n}\nrank 0 {\n}".into(), "trace.goal:4:6: rank 0 has a block already, in line 2"),
        (
            "num_ranks 2\nnum_ranks 2".into(),
            "trace.goal:2:1: found a second `num_ranks`; allowed is one, at the beginning",
        ),
        ("num_ranks 2\nsend 1b to 1".into(), "trace.goal:2:1: found `send`, where `rank` is allowed"),
        (
            "num_ranks 2\nrank 0 {\ncalc 1\n".into(),
            "trace.goal:4:1: found the end of the file, where an item or `}` (the end of the block) is allowed",
        ),
        (
            "num_ranks 2\nrank 0 {\nsend 1b to".into(),
            "trace.goal:3:11: found the end of the file, where the rank that it is sent to is allowed",
        ),
        (
            "num_ranks 2\nrank 0 {\nsend 1b to 1".into(),
            "trace.goal:3:13: found the end of the file, where `}` (the end of the block) is allowed",
        ),
        (
            "num_ranks 2\nrank 0 {\ncalc 1\nrank 1 {\n}".into(),
            "trace.goal:4:1: found `rank` inside the block of another rank",
        ),
        ("num_ranks 2 /* no end".into(), "trace.goal:1:13: the comment that begins here with `/*` has no `*/`"),
    ]);
}

#[test]
fn mistakes_in_an_item_are_reported_with_their_place() {
    let in_block = |items: &str| format!("num_ranks 2\nrank 0 {{\n{items}\n}}\n");
    are_refused(&[
        (
            in_block("calc 9223372036854776"),
            "trace.goal:3:6: found 9223372036854776 for a number of nanoseconds; 0 to 9223372036854775 is allowed",
        ),
        (in_block("calc 1 cpu 256"), "trace.goal:3:12: found 256 for the number of a processor; 0 to 255 is allowed"),
        (in_block("calc 1 nic 0"), "trace.goal:3:8: found `nic`, where the end of the line is allowed"),
        (in_block("calc 1 calc 2"), "trace.goal:3:8: found `calc`, where the end of the line is allowed"),
        (in_block("send 1 to 1"), "trace.goal:3:8: found `to`, where `b` (for bytes) is allowed"),
        (in_block("send 1b from 1"), "trace.goal:3:9: found `from`, where `to` is allowed"),
        (in_block("send 1b to -1"), "trace.goal:3:12: found `-1`, where the rank that it is sent to is allowed"),
        (in_block("send 1b to 5"), "trace.goal:3:12: rank 5 does not exist; 0 to 1 is allowed"),
        (in_block("send 1b to 1 tag -1"), "trace.goal:3:18: found `-1`, where the tag of a message is allowed"),
        (
            in_block("send 18446744073709551616b to 1"),
            "trace.goal:3:6: found 18446744073709551616 for a size in bytes; 0 to 18446744073709551615 is allowed",
        ),
        (
            in_block("recv 1b from 1 tag 4294967295"),
            "trace.goal:3:20: found 4294967295 for a tag (or -1 for any); 0 to 4294901756 is allowed",
        ),
        (
            in_block("recv 1b from 1 nic 0 cpu 0"),
            "trace.goal:3:22: found `cpu` out of order; the order is tag, cpu, nic, each at most once",
        ),
        (
            in_block("recv 1b from -2"),
            "trace.goal:3:14: found `-2`; the only negative number is -1, which stands for any",
        ),
        (in_block("l1: calc 1\nl1: calc 2"), "trace.goal:4:1: the label `l1` is taken already, in line 3"),
        (in_block("l1: copy 1"), "trace.goal:3:5: found `copy`, where `calc`, `send` or `recv` is allowed"),
        (in_block("l1: calc 1\nl1 requires l2"), "trace.goal:4:13: the label `l2` is not defined"),
        (in_block("l2 requires l1\nl1: calc 1"), "trace.goal:3:1: the label `l2` is not defined"),
        (
            in_block("l1 require l2"),
            "trace.goal:3:4: found `require`, where `:`, `requires` or `irequires` after a label is allowed",
        ),
        (in_block("calc 1 ü"), "trace.goal:3:8: found the character 'ü', which means nothing in GOAL"),
        (in_block("/* ü */ calc 1 #"), "trace.goal:3:16: found the character '#', which means nothing in GOAL"),
        (
            in_block("l1: calc 1\nl1 requires l1"),
            "trace.goal:4:1: these operations wait for each other: `l1` requires `l1` (line 4)",
        ),
        (
            in_block(
                "a: calc 1\nb: calc 1\nc: calc 1\nd: calc 1\na requires b\nb irequires c\nc requires b\nd requires a",
            ),
            "trace.goal:8:1: these operations wait for each other: `b` requires `c` (line 8), `c` requires `b` (line 9)",
        ),
    ]);
}

#[test]
fn a_mistyped_word_is_recognised() {
    for (items, hint) in [
        ("snd 1b to 1", "did you mean `send`?"),
        ("l1: clac 1", "did you mean `calc`?"),
        ("send 1b to 1 tga 7", "did you mean `tag`?"),
        ("label: calc 1\nlable requires label", "did you mean `label`?"),
        ("l1: calc 1\nl1 reqires l1", "did you mean `requires`?"),
    ] {
        let error = parse(&format!("num_ranks 2\nrank 0 {{\n{items}\n}}\n")).unwrap_err();
        assert_eq!(error.hint(), Some(hint), "{items}: {error}");
    }
}

#[test]
fn bytes_that_are_no_text_are_an_error() {
    let error = Schedule::parse("trace.goal", b"num_ranks 1\n\xff\xfe").unwrap_err();
    assert_eq!((error.line, error.column), (2, 1));
}

#[test]
fn what_the_fuzzer_found_is_read_or_refused() {
    let seeds = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/seeds/goal");
    let mut count = 0;
    for seed in std::fs::read_dir(seeds).unwrap() {
        let text = std::fs::read(seed.unwrap().path()).unwrap();
        if let Ok(schedule) = Schedule::parse("seed.goal", &text) {
            assert_eq!(parse(&schedule.to_string()).unwrap().to_string(), schedule.to_string());
        }
        count += 1;
    }
    assert!(count > 100, "{count} seeds");
}

#[test]
fn a_circle_is_found_in_a_long_chain_without_its_square() {
    let mut items = String::from("l0: calc 1\n");
    for number in 1..100_000 {
        items.push_str(&format!("l{number}: calc 1\nl{number} requires l{}\n", number - 1));
    }
    assert!(parse(&format!("num_ranks 1\nrank 0 {{\n{items}}}\n")).is_ok());
    let error = parse(&format!("num_ranks 1\nrank 0 {{\n{items}l0 requires l99999\n}}\n")).unwrap_err();
    assert!(error.problem.ends_with("`l99993` requires `l99992` (line 199989), and so on"), "{error}");
}

/// An operation as GOAL text; the ranks are below 4.
fn operation() -> impl Strategy<Value = String> {
    let place = (any::<u8>(), any::<u8>());
    prop_oneof![
        (0..=i64::MAX as u64 / 1000, any::<u8>()).prop_map(|(work, cpu)| format!("calc {work} cpu {cpu}")),
        (any::<u64>(), 0..4u32, 0..=Tag::LARGEST.0, place)
            .prop_map(|(size, to, tag, (cpu, nic))| format!("send {size}b to {to} tag {tag} cpu {cpu} nic {nic}")),
        (any::<u64>(), -1..4i64, -1..=i64::from(Tag::LARGEST.0), place).prop_map(
            |(size, from, tag, (cpu, nic))| format!("recv {size}b from {from} tag {tag} cpu {cpu} nic {nic}")
        ),
    ]
}

/// A valid text: operations, and requirements of later ones on earlier ones.
fn goal_text() -> impl Strategy<Value = String> {
    let block =
        (prop::collection::vec(operation(), 0..8), prop::collection::vec((0..8usize, 0..8usize, any::<bool>()), 0..8));
    prop::collection::vec(block, 4).prop_map(|blocks| {
        let mut text = "num_ranks 4\n".to_owned();
        for (rank, (operations, pairs)) in blocks.into_iter().enumerate() {
            text.push_str(&format!("\nrank {rank} {{\n"));
            for (number, operation) in operations.iter().enumerate() {
                text.push_str(&format!("l{}: {operation}\n", number + 1));
            }
            for (one, other, only_started) in pairs {
                let (on, waits) = (one.min(other), one.max(other));
                if on < waits && waits < operations.len() {
                    let verb = if only_started { "irequires" } else { "requires" };
                    text.push_str(&format!("l{} {verb} l{}\n", waits + 1, on + 1));
                }
            }
            text.push_str("}\n");
        }
        text
    })
}

/// A text damaged by a slip: part of it is cut out and replaced by something else.
fn damaged(text: &str, at: usize, cut: usize, put: &[u8]) -> Vec<u8> {
    let mut bytes = text.as_bytes().to_vec();
    let at = at % (bytes.len() + 1);
    let end = (at + cut).min(bytes.len());
    bytes.splice(at..end, put.iter().copied());
    bytes
}

/// The same text with numbers of at most two digits, since most lines of a trace are short.
fn shortened(text: &str) -> String {
    let mut digits = 0;
    let keep = |&letter: &char| {
        digits = if letter.is_ascii_digit() { digits + 1 } else { 0 };
        digits <= 2
    };
    text.chars().filter(keep).collect()
}

/// The same text with unusual lines: each ends in a comment.
fn commented(text: &str) -> String {
    text.replace('\n', " // a comment\n")
}

/// The lines of each rank, sorted: the order of requirements does not matter.
fn sorted(text: &str) -> Vec<Vec<&str>> {
    let mut ranks: Vec<Vec<&str>> = text.split("\nrank ").map(|rank| rank.lines().collect()).collect();
    ranks.iter_mut().for_each(|lines| lines.sort_unstable());
    ranks
}

/// A text that is read in pieces of this many bytes.
struct Pieces<'a>(&'a [u8], usize);

impl std::io::Read for Pieces<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let length = self.1.min(buffer.len()).min(self.0.len());
        buffer[..length].copy_from_slice(&self.0[..length]);
        self.0 = &self.0[length..];
        Ok(length)
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn a_schedule_is_written_as_it_was_read(text in goal_text()) {
        let schedule = parse(&text).unwrap();
        let written = schedule.to_string();
        prop_assert_eq!(sorted(&written), sorted(&text));
        prop_assert_eq!(parse(&written).unwrap().to_string(), written);
    }

    #[test]
    fn a_damaged_text_is_read_or_refused(text in goal_text(), at in any::<usize>(), cut in 0..30usize, put in "[ -~\n]{0,12}") {
        let bytes = damaged(&text, at, cut, put.as_bytes());
        let in_pieces = Schedule::read("trace.goal", Pieces(&bytes, 1 + at % 7));
        prop_assert_eq!(in_pieces.map_err(|error| error.to_string()), Schedule::parse("trace.goal", &bytes).map_err(|error| error.to_string()));
        if let Err(error) = Schedule::parse("trace.goal", &bytes) {
            let lines = bytes.iter().filter(|&&byte| byte == b'\n').count() as u32;
            prop_assert!((1..=lines + 1).contains(&error.line) && error.column >= 1);
        }
    }

    /// Usual lines, which take the fast path, mean the same as in any other form.
    #[test]
    fn common_lines_are_read_as_others_are(text in goal_text(), at in any::<usize>(), cut in 0..9usize, put in "[ a-z0-9:}\n]{0,6}") {
        let text = shortened(&text);
        let slipped = String::from_utf8(damaged(&text, at, cut, put.as_bytes())).unwrap();
        for text in [text, slipped] {
            match (parse(&text), parse(&commented(&text))) {
                (Err(plain), Err(other)) => prop_assert_eq!(plain.line, other.line, "{}", text),
                (plain, other) => prop_assert_eq!(plain.unwrap(), other.unwrap(), "{}", text),
            }
        }
    }

    #[test]
    fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = Schedule::parse("trace.goal", &bytes);
    }

    /// Operations that start and end in any order are all done eventually, each once and none before those it requires.
    #[test]
    fn every_operation_is_begun_once(text in goal_text(), choices in prop::collection::vec(any::<usize>(), 80)) {
        let schedule = parse(&text).unwrap();
        let player = Player::new(&schedule);
        // A schedule that has ended can run again.
        for choices in [&choices[..], &choices[40..]] {
            let mut arbitrary = Arbitrary::new(&schedule, choices);
            let ended = executor::run(&mut arbitrary, schedule.size(), &player, false).unwrap();
            prop_assert!(ended.all(|rank| rank.to_string()).unwrap().iter().all(Result::is_ok));
            let operations = schedule.busy_ranks().map(|(_, block)| block.operations().len()).sum::<usize>();
            prop_assert_eq!(arbitrary.over.len(), operations);
        }
    }
}

/// A machine that starts and ends operations in arbitrary order, and checks that each operation may begin.
struct Arbitrary<'a> {
    schedule: &'a Schedule,
    choices: std::iter::Cycle<std::slice::Iter<'a, usize>>,
    now: Time,
    under_way: Vec<(Rank, Request)>,
    started: BTreeMap<(Rank, u32), Time>,
    over: BTreeMap<(Rank, u32), Time>,
}

impl<'a> Arbitrary<'a> {
    fn new(schedule: &'a Schedule, choices: &'a [usize]) -> Arbitrary<'a> {
        let (started, over) = (BTreeMap::new(), BTreeMap::new());
        Arbitrary { schedule, choices: choices.iter().cycle(), now: Time::ZERO, under_way: Vec::new(), started, over }
    }
}

impl Machine for Arbitrary<'_> {
    fn now(&self) -> Time {
        self.now
    }

    fn check(&self, _: &Operation) -> Result<(), Error> {
        Ok(())
    }

    fn begin(&mut self, _: Rank, _: u32, operation: Operation) {
        panic!("{operation:?} is no request");
    }

    fn start(&mut self, rank: Rank, request: Request) -> Result<StartStatus, Error> {
        let is_same = |(other, known): &(Rank, Request)| (*other, known.number) == (rank, request.number);
        assert!(
            !self.under_way.iter().any(is_same) && !self.over.contains_key(&(rank, request.number)),
            "it is begun twice"
        );
        let required =
            self.schedule.block(rank).requirements().filter(|it| it.operation == OperationId(request.number));
        let happened = required.map(|it| {
            let known = if it.only_started { &self.started } else { &self.over };
            *known.get(&(rank, it.on.0)).expect("what it requires has happened")
        });
        assert_eq!(request.not_before, happened.max().unwrap_or(Time::ZERO));
        self.under_way.push((rank, request));
        Ok(StartStatus::Later)
    }

    fn next_event(&mut self) -> Result<Option<OperationEvent>, Error> {
        while !self.under_way.is_empty() {
            self.now += Duration::from_picoseconds(1);
            let place = self.choices.next().expect("a cycle has no end") % self.under_way.len();
            let (rank, Request { ref number, reports_start, .. }) = self.under_way[place];
            let (at, key) = (self.now, (rank, *number));
            let number = number_of(&self.under_way[place].1);
            if let Entry::Vacant(start) = self.started.entry(key) {
                start.insert(at);
                if reports_start {
                    return Ok(Some(OperationEvent { rank, number, at, event: Event::Started }));
                }
                continue;
            }
            self.under_way.swap_remove(place);
            self.over.insert(key, at);
            return Ok(Some(OperationEvent { rank, number, at, event: Event::Completed(Ok(Outcome::Done)) }));
        }
        Ok(None)
    }
}

/// A rank obeys its order of operations, whichever message arrives first.
#[test]
fn a_schedule_is_played_as_a_program() {
    let text = b"num_ranks 3
rank 0 {
l1: recv 8b from -1 tag 2
l2: recv 8b from -1 tag -1
l3: send 16b to 2 tag 5
l3 requires l1
}
rank 1 {
l1: calc 100
l2: send 8b to 0 tag 1
l2 requires l1
}
rank 2 {
l1: calc 5000
l2: send 0b to 0 tag 2
l2 requires l1
l3: recv 16b from 0 tag 5
}
";
    let player = Player::new(Arc::new(Schedule::parse("play.goal", text).unwrap()));
    let no_time = Duration::ZERO;
    let model = LogGp {
        latency: Duration::from_nanoseconds(10),
        overhead: no_time,
        gap: no_time,
        gap_per_byte: no_time,
        overhead_per_byte: no_time,
        rendezvous: None,
    };
    let (ended, answer) = Clock::new(model).run(3, &player).unwrap();
    assert!(ended.iter().all(Result::is_ok));
    // Rank 0 has the message of rank 1 after 110 ns, but sends only when it has that of rank 2, after 5,010 ns.
    let finish: Vec<u64> = answer.finish.iter().map(|time| time.picoseconds()).collect();
    assert_eq!((answer.messages, finish), (3, vec![5_010_000, 100_000, 5_020_000]));
}

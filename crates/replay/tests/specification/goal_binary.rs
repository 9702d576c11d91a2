//! The binary form of GOAL: a file as LogGOPSim's `txt2bin` would write it reads back as the same schedule, and a
//! damaged one does not.

use maquette_replay::goal::{Operation, OperationKind, ReadError, Schedule};
use proptest::prelude::*;
use quantities::Rank;

const TEXT: &str = "num_ranks 3
rank 0 {
l1: calc 500 cpu 1
l2: send 64b to 1 tag 7 cpu 2 nic 3
l3: recv 64b from -1 tag -1
l4: recv 8b from 2
l2 requires l1
l3 irequires l2
l4 requires l1
}
rank 2 {
l1: send 8b to 0
}
";

/// A schedule in binary form, written from the description of the format in docs/GOAL.md.
fn binary(schedule: &Schedule) -> Vec<u8> {
    let parts: Vec<Vec<u8>> = (0..schedule.size()).map(|rank| part(schedule, Rank(rank))).collect();
    let mut bytes = schedule.size().to_le_bytes().to_vec();
    bytes.extend([2, 3]);
    let mut start = bytes.len() as u64 + 16 * parts.len() as u64;
    for part in &parts {
        bytes.extend(start.to_le_bytes());
        start += part.len() as u64;
        bytes.extend(start.to_le_bytes());
    }
    [4223_u64.to_le_bytes().to_vec(), bytes, parts.concat()].concat()
}

fn part(schedule: &Schedule, rank: Rank) -> Vec<u8> {
    let block = schedule.block(rank);
    let requirements: Vec<_> = block.requirements().collect();
    let required = |id: u32| requirements.iter().filter(|requirement| requirement.operation.0 == id).count() as u32;
    let count = block.operations().len() as u32;
    let free: Vec<u32> = (0..count).filter(|&id| required(id) == 0).collect();
    let mut bytes = [count, free.len() as u32].map(u32::to_le_bytes).concat();
    bytes.extend(free.iter().flat_map(|id| id.to_le_bytes()));
    let mut list: Vec<u32> = Vec::new();
    for (id, Operation { kind, processor, interface, .. }) in (0..).zip(block.operations()) {
        let (verb, partner, amount, tag) = match kind {
            OperationKind::Send { to, size, tag } => (1, to.0, size.0, tag),
            OperationKind::Receive { from, size, tag } => {
                (2, from.map_or(u32::MAX, |from| from.0), size.0, tag.unwrap_or(u32::MAX))
            }
            OperationKind::Calculate(work) => (3, 0, work.picoseconds() / 1000, 0),
        };
        bytes.extend(required(id).to_le_bytes());
        bytes.push(verb);
        bytes.extend(partner.to_le_bytes());
        bytes.extend(amount.to_le_bytes());
        bytes.extend(tag.to_le_bytes());
        bytes.extend([processor, interface]);
        for only_started in [false, true] {
            let waits = requirements.iter().filter(|it| it.on.0 == id && it.only_started == only_started);
            let waiting: Vec<u32> = waits.map(|requirement| requirement.operation.0).collect();
            bytes.extend([waiting.len() as u32, list.len() as u32].map(u32::to_le_bytes).concat());
            list.extend(waiting);
        }
    }
    bytes.extend(list.iter().flat_map(|id| id.to_le_bytes()));
    bytes
}

fn read(bytes: &[u8]) -> Result<Schedule, String> {
    Schedule::read("trace.bin", bytes).map_err(|error| match error {
        ReadError::Unreadable(cause) => panic!("bytes in memory can be read: {cause}"),
        ReadError::Wrong(error) => error.to_string(),
        ReadError::Damaged(error) => error.to_string(),
    })
}

#[test]
fn the_binary_form_is_the_schedule_but_for_its_lines() {
    let schedule = Schedule::parse("trace.goal", TEXT.as_bytes()).unwrap();
    let from_binary = read(&binary(&schedule)).unwrap();
    assert_eq!(from_binary.to_string(), schedule.to_string());
    assert!(!from_binary.has_lines());
    let numbers: Vec<u32> = from_binary.block(Rank(0)).operations().map(|operation| operation.line).collect();
    assert_eq!(numbers, [1, 2, 3, 4]);
}

/// Byte by byte, as in the format's description: one rank that calculates 5 ns.
#[test]
fn a_file_of_which_every_byte_is_known_is_read() {
    let mut bytes = vec![0x7F, 0x10, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0];
    bytes.extend([22, 0, 0, 0, 0, 0, 0, 0, 73, 0, 0, 0, 0, 0, 0, 0]);
    bytes.extend([1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0]);
    bytes.extend([0, 0, 0, 0, 3, 0, 0, 0, 0, 5, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    bytes.extend([0; 16]);
    assert_eq!(read(&bytes).unwrap().to_string(), "num_ranks 1\n\nrank 0 {\nl1: calc 5 cpu 0\n}\n");
}

#[test]
fn damage_is_reported_with_its_place() {
    let whole = binary(&Schedule::parse("trace.goal", TEXT.as_bytes()).unwrap());
    let with = |at: usize, byte: u8| {
        let mut bytes = whole.clone();
        bytes[at] = byte;
        read(&bytes).unwrap_err()
    };
    let cut = whole.len() - 1;
    assert_eq!(read(&whole[..cut]).unwrap_err(), format!("trace.bin: byte {}: it is cut off here", cut - 3));
    assert_eq!(
        read(&[&whole[..], &[0]].concat()).unwrap_err(),
        format!("trace.bin: byte {}: found more behind the part of the last rank", whole.len())
    );
    assert_eq!(with(0, 0x26).split(':').next(), Some("trace.bin"));
    assert_eq!(with(8, 0), "trace.bin: byte 12: found 0 ranks; 1 to 16777216 is allowed");
    assert_eq!(
        with(14, 0),
        "trace.bin: byte 30: found that rank 0 goes from byte 0 to 234; it must begin at 54, where what is before it ends"
    );
    assert_eq!(with(78, 9), "trace.bin: byte 113: rank 0: found 9 for what an operation does; 1 to 3 is allowed");
    // The second operation is the first send; this is the offset of its tag.
    const TAG: usize = 130;
    let reserved = [&whole[..TAG], &(u32::MAX - 1).to_le_bytes(), &whole[TAG + 4..]].concat();
    assert_eq!(
        read(&reserved).unwrap_err(),
        "trace.bin: byte 152: rank 0: found the tag 4294967294, where the largest is 4294901756"
    );
    let used_up = [2342_u64.to_le_bytes().to_vec(), whole[8..].to_vec()].concat();
    assert_eq!(
        read(&used_up).unwrap_err(),
        "trace.bin: byte 0: it was used up by a run of LogGOPSim with --save-mem: make it again with txt2bin"
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    /// If any single byte is changed, the file is refused, or is another schedule that can be written.
    #[test]
    fn a_changed_byte_is_read_or_refused(at in any::<prop::sample::Index>(), byte in any::<u8>(), cut in any::<prop::sample::Index>()) {
        let mut bytes = binary(&Schedule::parse("trace.goal", TEXT.as_bytes()).unwrap());
        let at = at.index(bytes.len());
        bytes[at] = byte;
        if let Ok(schedule) = read(&bytes) {
            let again = Schedule::parse("again.goal", schedule.to_string().as_bytes()).unwrap();
            prop_assert_eq!(again.to_string(), schedule.to_string());
        }
        bytes.truncate(8 + cut.index(bytes.len() - 8));
        prop_assert!(read(&bytes).is_err());
    }
}

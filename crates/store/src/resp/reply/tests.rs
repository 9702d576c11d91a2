//! Replies with large values, sent and taken back in parts, compared with plain bytes.

use proptest::prelude::*;
use proptest::sample::Index;

use super::*;

/// A value of this length, filled with a byte, and the bytes of a reply with it.
fn value(length: usize, byte: u8) -> (MaybeShared<'static>, Vec<u8>) {
    let bytes = vec![byte; length];
    let due = [format!("${length}\r\n").as_bytes(), &bytes, b"\r\n"].concat();
    (MaybeShared::Shared(bytes.into()), due)
}

/// Lengths of values: mostly small, some around [`LARGE`].
fn length() -> impl Strategy<Value = usize> {
    prop_oneof![3 => 0_usize..100, 2 => LARGE - 3..LARGE + 3]
}

/// A step of a test of replies.
#[derive(Clone, Debug)]
enum ReplyStep {
    /// Values are written.
    Write(Vec<usize>),
    /// Values are written and taken back.
    TakeBack(Vec<usize>),
    /// Values are written to another reply, which is appended.
    Follow(Vec<usize>),
    /// A part of the next bytes is sent.
    Send(Index),
}

fn step() -> impl Strategy<Value = ReplyStep> {
    let lengths = || prop::collection::vec(length(), 0..4);
    prop_oneof![
        1 => lengths().prop_map(ReplyStep::Write),
        1 => lengths().prop_map(ReplyStep::TakeBack),
        1 => lengths().prop_map(ReplyStep::Follow),
        3 => any::<Index>().prop_map(ReplyStep::Send),
    ]
}

/// Writes values and returns the bytes that are due.
fn write(reply: &mut Reply, lengths: &[usize], byte: u8) -> Vec<u8> {
    let mut due = Vec::new();
    for length in lengths {
        let (value, bytes) = value(*length, byte);
        reply.value(value);
        due.extend(bytes);
    }
    due
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn what_is_sent_is_what_was_written_and_not_taken_back(steps in prop::collection::vec(step(), 0..12)) {
        let (mut reply, mut sent, mut due) = (Reply::default(), Vec::new(), Vec::new());
        for (place, step) in steps.into_iter().enumerate() {
            let byte = b'a' + place as u8;
            match step {
                ReplyStep::Write(lengths) => due.extend(write(&mut reply, &lengths, byte)),
                ReplyStep::TakeBack(lengths) => {
                    let end = reply.end();
                    let written = write(&mut reply, &lengths, byte);
                    prop_assert_eq!(reply.end() - end, written.len());
                    prop_assert!(written.starts_with(reply.unsent_from(end)));
                    prop_assert_eq!(reply.unsent_from(end).is_empty(), written.is_empty());
                    reply.take_back(end);
                    prop_assert_eq!(reply.end(), end);
                }
                ReplyStep::Follow(lengths) => {
                    let mut early = Reply::default();
                    let written = write(&mut early, &lengths, byte);
                    let pieces = early.into_pieces();
                    prop_assert!(*pieces.joined() == written && pieces.len() == written.len());
                    prop_assert!(written.starts_with(pieces.start()));
                    prop_assert!(pieces == Pieces::from(written.clone()));
                    reply.replied(&pieces);
                    due.extend(written);
                }
                ReplyStep::Send(part) => {
                    let unsent = reply.unsent();
                    let bytes = part.index(unsent.len() + 1);
                    sent.extend_from_slice(&unsent[..bytes]);
                    reply.was_sent(bytes);
                }
            }
            prop_assert_eq!(reply.unsent_size(), due.len() - sent.len());
            prop_assert_eq!(reply.unsent().is_empty(), due.len() == sent.len());
        }
        while !reply.unsent().is_empty() {
            sent.extend_from_slice(reply.unsent());
            reply.was_sent(reply.unsent().len());
        }
        prop_assert!(sent == due, "other bytes were sent");
    }

    #[test]
    fn what_was_sent_in_part_is_taken_back_as_far_as_it_was_not(
        before in prop::collection::vec(length(), 0..3),
        after in prop::collection::vec(length(), 0..3),
        parts in prop::collection::vec(any::<Index>(), 0..6),
    ) {
        let (mut reply, mut sent) = (Reply::default(), 0);
        let kept = write(&mut reply, &before, b'a').len();
        let end = reply.end();
        write(&mut reply, &after, b'b');
        for part in parts {
            let bytes = part.index(reply.unsent().len() + 1);
            reply.was_sent(bytes);
            sent += bytes;
        }
        reply.take_back(end);
        let of_value = reply.unsent_size() > 0 && reply.unsent().iter().all(|byte| *byte == b'b');
        prop_assert!(reply.unsent_size() == kept.saturating_sub(sent) || sent > kept && of_value);
        reply.ok();
        let left = std::iter::from_fn(|| {
            let next = reply.unsent().to_vec();
            reply.was_sent(next.len());
            (!next.is_empty()).then_some(next)
        });
        prop_assert!(left.flatten().collect::<Vec<u8>>().ends_with(b"+OK\r\n"));
    }
}

#[test]
fn a_large_value_is_not_copied() {
    let shared = SharedValue::from(vec![1; LARGE]);
    let mut reply = Reply::default();
    reply.value(shared.clone().into());
    reply.was_sent("$1048576\r\n".len());
    assert_eq!(reply.unsent().as_ptr(), shared.as_ptr());
}

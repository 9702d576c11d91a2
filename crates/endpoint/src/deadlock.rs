//! Telling who waits for whom when nothing can go on.

use quantities::Rank;

use crate::Error;

/// What a rank waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WaitsFor {
    /// The next message from that rank.
    MessageFrom(Rank),
    /// The next message from anyone.
    AnyMessage,
    /// That rank, to take the message that it was sent.
    Receiver(Rank),
    /// Its machine, to compute or to broadcast.
    Machine,
    /// Any of its requests.
    Requests,
    /// Something that is no operation of its endpoint.
    Stranger,
}

impl WaitsFor {
    /// The one rank that could end the wait, if it is one.
    fn rank(self) -> Option<Rank> {
        match self {
            WaitsFor::MessageFrom(rank) | WaitsFor::Receiver(rank) => Some(rank),
            WaitsFor::AnyMessage | WaitsFor::Machine | WaitsFor::Requests | WaitsFor::Stranger => None,
        }
    }
}

/// As many waiting ranks are named one by one; the others are counted.
const NAMED: usize = 8;

/// The error for a program that can't go on: `waiting` are all ranks that have not ended, in order of rank, and what
/// each waits for. `failed` is a rank that had ended with an error, which is often the reason.
///
/// Ranks that wait for each other in a ring are named first, in the order of the ring.
pub fn deadlock(waiting: &[(Rank, WaitsFor)], failed: Option<(Rank, &Error)>) -> Error {
    deadlock_of(|rank| format!("rank {rank}"), waiting, failed)
}

/// The same, where each rank is called what `name` calls it.
pub fn deadlock_of(
    name: impl Fn(Rank) -> String,
    waiting: &[(Rank, WaitsFor)],
    failed: Option<(Rank, &Error)>,
) -> Error {
    let mut order = ring(waiting);
    let in_ring = order.len();
    if in_ring == 0 {
        order = (0..waiting.len().min(NAMED)).collect();
    }
    let mut text = String::new();
    for &index in order.iter().take(NAMED) {
        let separator = if text.is_empty() { "" } else { ", " };
        text.push_str(&format!("{separator}{}", described(&name, waiting[index])));
    }
    if in_ring > NAMED {
        text.push_str(&format!(", and so on round a ring of {in_ring} ranks"));
    }
    let others = waiting.len() - order.len();
    if others > 0 {
        text.push_str(&format!("; {others} more {} too", if others == 1 { "rank waits" } else { "ranks wait" }));
    }
    if let Some((rank, error)) = failed {
        text.push_str(&format!("; {} had ended with an error: {error}", name(rank)));
    }
    Error::Deadlock(text)
}

fn described(name: impl Fn(Rank) -> String, (rank, waits_for): (Rank, WaitsFor)) -> String {
    let rank = name(rank);
    match waits_for {
        WaitsFor::MessageFrom(from) => format!("{rank} waits for a message from {}", name(from)),
        WaitsFor::AnyMessage => format!("{rank} waits for a message from anyone"),
        WaitsFor::Receiver(to) => format!("{rank} waits for {} to receive its message", name(to)),
        WaitsFor::Machine => format!("{rank} waits for its machine"),
        WaitsFor::Requests => format!("{rank} waits for its requests"),
        WaitsFor::Stranger => format!("{rank} waits for something that is no operation of its endpoint"),
    }
}

/// The first ring of ranks that wait for each other, as indices into `waiting`; empty when there is none.
fn ring(waiting: &[(Rank, WaitsFor)]) -> Vec<usize> {
    let after = |index: usize| {
        let next = waiting[index].1.rank()?;
        waiting.binary_search_by_key(&next, |&(rank, _)| rank).ok()
    };
    // The walk on which each rank was first met, so that none is walked twice.
    let mut met = vec![usize::MAX; waiting.len()];
    for start in 0..waiting.len() {
        let mut current = start;
        while met[current] == usize::MAX {
            met[current] = start;
            let Some(next) = after(current) else { break };
            current = next;
            if met[current] == start {
                return std::iter::successors(Some(current), |&at| after(at).filter(|&next| next != current)).collect();
            }
        }
    }
    Vec::new()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(waiting: &[(u32, WaitsFor)], failed: Option<(Rank, &Error)>) -> String {
        let waiting: Vec<_> = waiting.iter().map(|&(rank, what)| (Rank(rank), what)).collect();
        deadlock(&waiting, failed).to_string()
    }

    #[test]
    fn a_lone_wait_is_named() {
        assert_eq!(
            text(&[(3, WaitsFor::MessageFrom(Rank(1)))], None),
            "deadlock: rank 3 waits for a message from rank 1"
        );
    }

    #[test]
    fn a_ring_comes_first_and_the_rest_is_counted() {
        let waiting = [
            (0, WaitsFor::MessageFrom(Rank(4))),
            (2, WaitsFor::MessageFrom(Rank(5))),
            (4, WaitsFor::AnyMessage),
            (5, WaitsFor::Receiver(Rank(2))),
        ];
        assert_eq!(
            text(&waiting, None),
            "deadlock: rank 2 waits for a message from rank 5, rank 5 waits for rank 2 to receive its message; \
             2 more ranks wait too"
        );
    }

    #[test]
    fn a_long_ring_is_cut_short() {
        let waiting: Vec<_> = (0..100).map(|rank| (rank, WaitsFor::MessageFrom(Rank((rank + 1) % 100)))).collect();
        let text = text(&waiting, None);
        assert!(
            text.ends_with("rank 7 waits for a message from rank 8, and so on round a ring of 100 ranks"),
            "{text}"
        );
    }

    #[test]
    fn the_error_of_a_rank_that_ended_is_told() {
        let error = Error::NoSuchRank { rank: Rank(9), size: 2 };
        assert_eq!(
            text(&[(1, WaitsFor::MessageFrom(Rank(0)))], Some((Rank(0), &error))),
            "deadlock: rank 1 waits for a message from rank 0; rank 0 had ended with an error: rank 9 does not exist: the \
             program has 2"
        );
    }
}

//! Reports who waits for whom when nothing can go on.

use quantities::Rank;

use crate::{Error, Tag, Tags};

/// What a rank waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WaitsFor {
    /// The next message from that rank with one of these tags.
    MessageFrom(Rank, Tags),
    /// The next message from anyone with one of these tags.
    AnyMessage(Tags),
    /// That rank, to receive the message sent to it.
    Receiver(Rank),
    /// Its machine, to compute or to broadcast.
    Machine,
    /// Any of its requests.
    Requests,
    /// Something that is not an operation of its endpoint.
    Unknown,
}

impl WaitsFor {
    /// The one rank that could end the wait, if there is only one.
    fn rank(self) -> Option<Rank> {
        match self {
            WaitsFor::MessageFrom(rank, _) | WaitsFor::Receiver(rank) => Some(rank),
            WaitsFor::AnyMessage(_) | WaitsFor::Machine | WaitsFor::Requests | WaitsFor::Unknown => None,
        }
    }
}

/// At most this many waiting ranks are named one by one; the others are counted.
const NAMED: usize = 8;

/// The error for a program that can't go on: `waiting` lists all ranks that have not ended, in order of rank, once for
/// each thing they wait for. `failed` is a rank that had ended with an error, which is often the reason.
///
/// Ranks that wait for each other in a ring are named first, in the order of the ring.
pub fn deadlock(waiting: &[(Rank, WaitsFor)], failed: Option<(Rank, &Error)>) -> Error {
    deadlock_of(|rank| format!("rank {rank}"), waiting, failed)
}

/// The same, with ranks named by `name`.
pub fn deadlock_of(
    name: impl Fn(Rank) -> String,
    waiting: &[(Rank, WaitsFor)],
    failed: Option<(Rank, &Error)>,
) -> Error {
    let ranks: Vec<&[(Rank, WaitsFor)]> = waiting.chunk_by(|one, next| one.0 == next.0).collect();
    let mut order = ring(&ranks);
    let in_ring = order.len();
    if in_ring == 0 {
        order = (0..ranks.len().min(NAMED)).collect();
    }
    let mut text = String::new();
    for &index in order.iter().take(NAMED) {
        let separator = if text.is_empty() { "" } else { ", " };
        text.push_str(&format!("{separator}{}", describe(&name, ranks[index])));
    }
    if in_ring > NAMED {
        text.push_str(&format!(", and so on round a ring of {in_ring} ranks"));
    }
    let others = ranks.len() - order.len();
    if others > 0 {
        text.push_str(&format!("; {others} more {} too", if others == 1 { "rank waits" } else { "ranks wait" }));
    }
    if let Some((rank, error)) = failed {
        text.push_str(&format!("; {} had ended with an error: {error}", name(rank)));
    }
    Error::Deadlock(text)
}

/// Everything that one rank waits for.
fn describe(name: impl Fn(Rank) -> String, waits: &[(Rank, WaitsFor)]) -> String {
    let mut text = waits.first().map(|&(rank, _)| format!("{} waits for ", name(rank))).unwrap_or_default();
    for (number, &(_, waits_for)) in waits.iter().enumerate().take(NAMED) {
        let separator = match number {
            0 => "",
            _ if number + 1 == waits.len() => " and for ",
            _ => ", for ",
        };
        text.push_str(separator);
        text.push_str(&match waits_for {
            WaitsFor::MessageFrom(from, tags) => format!("a message{} from {}", with_tag(tags), name(from)),
            WaitsFor::AnyMessage(tags) => format!("a message{} from anyone", with_tag(tags)),
            WaitsFor::Receiver(to) => format!("{} to receive its message", name(to)),
            WaitsFor::Machine => "its machine".to_owned(),
            WaitsFor::Requests => "its requests".to_owned(),
            WaitsFor::Unknown => "something that is no operation of its endpoint".to_owned(),
        });
    }
    if waits.len() > NAMED {
        text.push_str(&format!(" and {} more", waits.len() - NAMED));
    }
    text
}

/// The tag that a message must have, unless it is the one that messages have if nothing is said, or one that no program
/// chooses.
fn with_tag(tags: Tags) -> String {
    match tags {
        Tags::Only(tag) if tag != Tag::default() && tag <= Tag::LARGEST => format!(" with tag {}", tag.0),
        Tags::Only(_) | Tags::Any | Tags::OfCollectives => String::new(),
    }
}

/// The first ring of ranks that wait for each other, as indices into `ranks`; empty when there is none. A depth-first
/// search over everything that each rank waits for.
fn ring(ranks: &[&[(Rank, WaitsFor)]]) -> Vec<usize> {
    let index_of = |rank: Rank| ranks.binary_search_by_key(&rank, |waits| waits[0].0).ok();
    let mut visited = vec![false; ranks.len()];
    let mut on_path = vec![false; ranks.len()];
    for start in 0..ranks.len() {
        // The ranks on the path from the start, and how many of each one's waits have been followed.
        let mut path: Vec<(usize, usize)> = if visited[start] { Vec::new() } else { vec![(start, 0)] };
        while let Some((current, followed)) = path.last_mut() {
            (visited[*current], on_path[*current]) = (true, true);
            let Some((_, waits_for)) = ranks[*current].get(*followed) else {
                on_path[*current] = false;
                path.pop();
                continue;
            };
            *followed += 1;
            match waits_for.rank().and_then(index_of) {
                Some(next) if on_path[next] => {
                    return path.into_iter().map(|(index, _)| index).skip_while(|&index| index != next).collect();
                }
                Some(next) if !visited[next] => path.push((next, 0)),
                _ => {}
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
            text(&[(3, WaitsFor::MessageFrom(Rank(1), Tags::Any))], None),
            "deadlock: rank 3 waits for a message from rank 1"
        );
    }

    #[test]
    fn a_tag_is_named_if_the_program_chose_it() {
        let waits_for = |tag| text(&[(3, WaitsFor::MessageFrom(Rank(1), Tags::Only(tag)))], None);
        assert_eq!(waits_for(Tag(7)), "deadlock: rank 3 waits for a message with tag 7 from rank 1");
        assert_eq!(waits_for(Tag::default()), "deadlock: rank 3 waits for a message from rank 1");
        assert_eq!(waits_for(Tag::OF_COLLECTIVES), "deadlock: rank 3 waits for a message from rank 1");
        assert_eq!(
            text(&[(3, WaitsFor::AnyMessage(Tags::Only(Tag(7))))], None),
            "deadlock: rank 3 waits for a message with tag 7 from anyone"
        );
    }

    #[test]
    fn a_ring_comes_first_and_the_rest_is_counted() {
        let waiting = [
            (0, WaitsFor::MessageFrom(Rank(4), Tags::Any)),
            (2, WaitsFor::MessageFrom(Rank(5), Tags::Any)),
            (4, WaitsFor::AnyMessage(Tags::Any)),
            (5, WaitsFor::Receiver(Rank(2))),
        ];
        assert_eq!(
            text(&waiting, None),
            "deadlock: rank 2 waits for a message from rank 5, rank 5 waits for rank 2 to receive its message; \
             2 more ranks wait too"
        );
    }

    #[test]
    fn all_that_a_rank_waits_for_is_named_and_any_of_it_can_close_a_ring() {
        let waiting = [
            (0, WaitsFor::MessageFrom(Rank(1), Tags::Any)),
            (0, WaitsFor::Receiver(Rank(3))),
            (1, WaitsFor::MessageFrom(Rank(2), Tags::Any)),
            (1, WaitsFor::AnyMessage(Tags::Any)),
            (1, WaitsFor::Machine),
            (3, WaitsFor::MessageFrom(Rank(0), Tags::Any)),
        ];
        assert_eq!(
            text(&waiting, None),
            "deadlock: rank 0 waits for a message from rank 1 and for rank 3 to receive its message, rank 3 waits for a \
             message from rank 0; 1 more rank waits too"
        );
        assert_eq!(
            text(&waiting[2..5], None),
            "deadlock: rank 1 waits for a message from rank 2, for a message from anyone and for its machine"
        );
        let many: Vec<_> = (1..100).map(|from| (0, WaitsFor::MessageFrom(Rank(from), Tags::Any))).collect();
        let text = text(&many, None);
        assert!(text.ends_with(", for a message from rank 8 and 91 more"), "{text}");
    }

    #[test]
    fn a_long_ring_is_cut_short() {
        let waiting: Vec<_> =
            (0..100).map(|rank| (rank, WaitsFor::MessageFrom(Rank((rank + 1) % 100), Tags::Any))).collect();
        let text = text(&waiting, None);
        assert!(
            text.ends_with("rank 7 waits for a message from rank 8, and so on round a ring of 100 ranks"),
            "{text}"
        );
    }

    #[test]
    fn the_error_of_a_rank_that_ended_is_reported() {
        let error = Error::NoSuchRank { rank: Rank(9), size: 2 };
        assert_eq!(
            text(&[(1, WaitsFor::MessageFrom(Rank(0), Tags::Any))], Some((Rank(0), &error))),
            "deadlock: rank 1 waits for a message from rank 0; rank 0 had ended with an error: rank 9 does not exist: the \
             program has 2"
        );
    }
}

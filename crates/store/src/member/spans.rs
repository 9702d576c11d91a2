//! The keys for which a member answers: those of its own servers, for clients that ask each member for its own.

use std::cmp::Reverse;

use linear_hash::{Contents, Span, ToServer};

use super::Member;

impl<C: Contents> Member<C> {
    /// The same, and also the spans of servers that are on their way: to this member, and from it, until the other one
    /// has opened them. So each key is in a span of at least one member at any time, and a scan that begins everywhere
    /// at once misses none that is there all the while.
    pub fn spans_to_scan(&self) -> Vec<Span> {
        let own = self.hosted.servers.iter().filter_map(|(number, server)| Some((*number, server.table()?.level())));
        let opening = self.reliable.all_unacknowledged().filter_map(|sequenced| match sequenced.message.get() {
            ToServer::Open { level, .. } => Some((sequenced.to, *level)),
            _ => None,
        });
        let mut spans: Vec<Span> =
            own.chain(opening).map(|(number, level)| Span::of_bucket(number.into(), level)).collect();
        // Two of them have no key in common, or one has all of the other's.
        spans.sort_unstable_by_key(|span| (span.first, Reverse(span.last)));
        let mut end = None;
        spans.retain(|span| {
            let is_new = end.is_none_or(|end| span.first > end);
            end = end.max(Some(span.last));
            is_new
        });
        spans
    }
}

/// What some spans, in the order of places, have from a place on: as much of it as is in the first of them.
pub fn rest_from(spans: &[Span], place: u64) -> Option<Span> {
    let span = spans.iter().find(|span| span.last >= place)?;
    Some(Span { first: span.first.max(place), last: span.last })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rest_of_some_spans_begins_at_a_place_or_at_the_next_span() {
        let spans = [Span { first: 10, last: 19 }, Span { first: 30, last: 39 }];
        let rest = |place| rest_from(&spans, place).map(|span| (span.first, span.last));
        assert_eq!([rest(0), rest(10), rest(15)], [Some((10, 19)), Some((10, 19)), Some((15, 19))]);
        assert_eq!([rest(20), rest(39), rest(40)], [Some((30, 39)), Some((39, 39)), None]);
    }
}

//! A client that is redirected to the right server, and asks there itself.

use crate::{Extent, Operation, OperationOutcome, Request, h};

/// A client's state: what it knows of the file, and the request under way.
///
/// It knows some of the existing servers. A server a of level j has the keys with h_j(C) = a, so the client asks for a
/// key at the last of h_0(C), h_1(C), h_2(C), ... that it knows: a server that has split names the server that now has
/// the key, and its knowledge of others is unchanged. This is the image of the store's own clients, which have the slot
/// range of each server that they were told of. A client that refreshes uses a map instead.
#[derive(Clone, Debug)]
pub struct Follower {
    number: u64,
    requests: u64,
    under_way: Option<Request>,
    known: KnownServers,
    /// How often it was redirected.
    pub moved: u64,
}

#[derive(Clone, Debug)]
enum KnownServers {
    /// Whether each server is known, by number; and the highest level that one of them can have.
    Servers(Vec<bool>, u32),
    /// The last map, and whether a newer one has been requested.
    Map(Extent, bool),
}

/// An action of a client that follows redirections.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FollowerAction {
    /// Sends a request to a server.
    Send(u32, Request),
    /// Has the answer to its request.
    Done(OperationOutcome),
}

impl Follower {
    /// A client that knows one server; it uses maps if it `refreshes`.
    pub fn new(number: u64, refreshes: bool) -> Follower {
        let known =
            if refreshes { KnownServers::Map(Extent::default(), false) } else { KnownServers::Servers(vec![true], 0) };
        Follower { number, requests: 0, under_way: None, known, moved: 0 }
    }

    /// The server that it asks for the key C.
    pub fn address(&self, c: u64) -> u32 {
        match &self.known {
            KnownServers::Servers(known, levels) => {
                let is_known = |server: &u32| known.get(*server as usize).copied().unwrap_or(false);
                (0..=*levels).rev().map(|level| h(level, c)).find(is_known).unwrap_or(0)
            }
            KnownServers::Map(file, _) => file.index(c),
        }
    }

    /// Begins a request for the key with hash C. Any earlier request must be over.
    pub fn ask(&mut self, c: u64, operation: Operation) -> FollowerAction {
        let request = Request { client: self.number, number: self.requests, c, operation, forwards: 0 };
        self.requests += 1;
        self.under_way = Some(request.clone());
        FollowerAction::Send(self.address(c), request)
    }

    /// Takes the answer to a request.
    pub fn reply(&mut self, number: u64, outcome: OperationOutcome) -> Option<FollowerAction> {
        self.under_way.take_if(|request| request.number == number).map(|_| FollowerAction::Done(outcome))
    }

    /// A request has to be repeated.
    pub fn again(&mut self, number: u64) -> Option<FollowerAction> {
        let request = self.under_way.clone().filter(|request| request.number == number)?;
        Some(FollowerAction::Send(self.address(request.c), request))
    }

    /// A request is for another server.
    pub fn moved(&mut self, number: u64, server: u32) -> Option<FollowerAction> {
        self.moved += 1;
        if let KnownServers::Servers(known, levels) = &mut self.known {
            let size = known.len().max(server as usize + 1);
            known.resize(size, false);
            known[server as usize] = true;
            *levels = (*levels).max(u32::BITS - server.leading_zeros());
        }
        let request = self.under_way.clone().filter(|request| request.number == number)?;
        Some(FollowerAction::Send(server, request))
    }

    /// After asking the wrong server, whether to ask for the map: any of the returned number of servers will do. None
    /// if it uses no map, or has already asked for it.
    pub const fn asks_for_map(&mut self) -> Option<u32> {
        match &mut self.known {
            KnownServers::Map(file, asked) if !*asked => {
                *asked = true;
                Some(file.buckets())
            }
            KnownServers::Map(..) | KnownServers::Servers(..) => None,
        }
    }

    /// Takes a map, unless it is older than its own.
    pub fn learn(&mut self, file: Extent) {
        if let KnownServers::Map(known, asked) = &mut self.known {
            *known = (*known).max(file);
            *asked = false;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Key;

    fn ask(follower: &mut Follower, c: u64) -> (u32, u64) {
        match follower.ask(c, Operation::Get(Key::from(*b"a"))) {
            FollowerAction::Send(server, request) => (server, request.number),
            step => panic!("{step:?}"),
        }
    }

    #[test]
    fn a_range_that_went_away_is_asked_for_where_it_is_and_others_where_they_were() {
        let mut follower = Follower::new(3, false);
        let (server, number) = ask(&mut follower, 0b111);
        assert_eq!(server, 0);
        assert!(matches!(follower.moved(number, 1), Some(FollowerAction::Send(1, _))));
        assert!(matches!(follower.moved(number, 7), Some(FollowerAction::Send(7, _))));
        assert_eq!([0b111, 0b1111, 0b011, 0b101, 0b10].map(|c| follower.address(c)), [7, 7, 1, 1, 0]);
        assert_eq!(follower.reply(number + 1, OperationOutcome::Is(true)), None);
        assert_eq!(
            follower.reply(number, OperationOutcome::Is(true)),
            Some(FollowerAction::Done(OperationOutcome::Is(true)))
        );
        assert_eq!(follower.again(number), None);
        assert_eq!((follower.asks_for_map(), follower.moved), (None, 2));
    }

    #[test]
    fn a_map_is_asked_for_once_at_a_time_and_an_older_one_is_not_taken() {
        let mut follower = Follower::new(3, true);
        let (_, number) = ask(&mut follower, 0b111);
        // It follows the redirection, and uses the next map from then on.
        assert!(matches!(follower.moved(number, 1), Some(FollowerAction::Send(1, _))));
        assert_eq!(follower.address(0b111), 0);
        assert_eq!([follower.asks_for_map(), follower.asks_for_map()], [Some(1), None]);
        follower.learn(Extent::of(8));
        assert_eq!(follower.asks_for_map(), Some(8));
        follower.learn(Extent::of(4));
        assert_eq!((follower.asks_for_map(), follower.address(0b111)), (Some(8), 7));
    }
}

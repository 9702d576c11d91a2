//! Bounds on the numbers in other members' messages. A process that knows the secret may still run another version, or
//! may have stolen the secret.

use linear_hash::{Contents, EncodingError, Extent, ScanAnswer, ToClient, ToClientOf, ToServer, ToServerOf, at_most};

use super::{Departure, Identity, Message, Noted, Peer, Placement, Sequenced};
use crate::slot::SLOT_BITS;

/// The most servers of a pool: one for each slot.
pub const MOST_SERVERS: u32 = 1 << SLOT_BITS;
/// The most members listed in one message: if there were more than servers, some could host none.
const MOST_MEMBERS: usize = 1 << SLOT_BITS;
/// The most often that an operator resizes the pool, and that a member is rebuilt.
const MOST_TIMES: u64 = 1 << 30;

impl<C: Contents> Message<C> {
    /// Checks that every number in the message is within its bounds.
    ///
    /// # Errors
    /// [`EncodingError::Beyond`]
    pub fn check(&self) -> Result<(), EncodingError> {
        match self {
            Message::Join(peer, _) | Message::Member(peer) | Message::Back(peer, _) => check_peer(peer),
            Message::Welcome(peers, placement, departures) => {
                check_peers(peers)?;
                check_placement(placement)?;
                check_departures(departures)
            }
            Message::There(peers, departures) => check_peers(peers).and_then(|()| check_departures(departures)),
            Message::Noted(Noted { hosts, peers, .. }) => {
                at_most("hosts", hosts.len() as u64, MOST_SERVERS)?;
                check_peers(peers)
            }
            Message::Resize(asked) => at_most("times that servers were asked for", asked.times(), MOST_TIMES),
            Message::Leaving(departure) => check_departure(departure),
            Message::Request(server, request) => check_server(*server).and_then(|()| request.check()),
            Message::Forward { from, to, request } => {
                check_server(*from)?;
                check_server(*to)?;
                request.check()
            }
            Message::Scan { server, request, .. } => check_server(*server).and_then(|()| request.check()),
            Message::Sequenced(sequenced) => check_sequenced(sequenced),
            Message::ToClient { server, message, .. } => {
                server.iter().try_for_each(|server| check_server(*server))?;
                check_to_client::<C>(message)
            }
            Message::NotHere(server) => check_server(*server),
            Message::Acknowledged(_) | Message::Differs(_) => Ok(()),
        }
    }
}

fn check_server(server: u32) -> Result<(), EncodingError> {
    at_most("a server", server, MOST_SERVERS - 1)
}

fn check_level(level: u32) -> Result<(), EncodingError> {
    at_most("a level", level, SLOT_BITS)
}

fn check_file(file: Extent) -> Result<(), EncodingError> {
    at_most("servers", file.buckets(), MOST_SERVERS)
}

fn check_peer(peer: &Peer) -> Result<(), EncodingError> {
    at_most("times that a member was rebuilt", peer.life, MOST_TIMES)
}

fn check_peers(peers: &[Peer]) -> Result<(), EncodingError> {
    at_most("members", peers.len() as u64, MOST_MEMBERS as u64)?;
    peers.iter().try_for_each(check_peer)
}

fn check_placement(placement: &Placement) -> Result<(), EncodingError> {
    placement.iter().try_for_each(|(server, _)| check_server(server))
}

fn check_departures(departures: &[(Identity, Departure)]) -> Result<(), EncodingError> {
    at_most("members that leave", departures.len() as u64, MOST_MEMBERS as u64)?;
    departures.iter().try_for_each(|(_, departure)| check_departure(departure))
}

fn check_departure(departure: &Departure) -> Result<(), EncodingError> {
    departure.moved.keys().try_for_each(|server| check_server(*server))
}

fn check_sequenced<C: Contents>(sequenced: &Sequenced<C>) -> Result<(), EncodingError> {
    let Sequenced { from, to, message, placement, .. } = sequenced;
    check_server(*from)?;
    check_server(*to)?;
    placement.iter().try_for_each(check_placement)?;
    check_to_server::<C>(message.get(), *to)
}

fn check_to_server<C: Contents>(message: &ToServerOf<C>, to: u32) -> Result<(), EncodingError> {
    message.check()?;
    match message {
        // A server has at least the level that it came into the file with.
        ToServer::Open { level, .. } => {
            check_level(*level)?;
            at_most("a server", to, (1 << level) - 1_u32)
        }
        ToServer::Token(file) | ToServer::Shrink(file) | ToServer::Keep(file) => check_file(*file),
        ToServer::Moved { token, leave } => {
            token.iter().try_for_each(|file| check_file(*file))?;
            leave.iter().try_for_each(|(server, _)| check_server(*server))
        }
        _ => Ok(()),
    }
}

fn check_to_client<C: Contents>(message: &ToClientOf<C>) -> Result<(), EncodingError> {
    message.check()?;
    match message {
        ToClient::Scanned { answer: ScanAnswer::Part { server, level, left_out, .. }, .. } => {
            left_out.iter().try_for_each(|left_out| check_server(left_out.server))?;
            check_server(*server)?;
            check_level(*level)
        }
        ToClient::Adjust { server, level }
        | ToClient::Scanned { answer: ScanAnswer::Elsewhere { server, level }, .. } => {
            check_server(*server)?;
            check_level(*level)
        }
        ToClient::Gone { server, .. } | ToClient::Scanned { answer: ScanAnswer::Gone { server }, .. } => {
            check_server(*server)
        }
        ToClient::Reply { .. } | ToClient::Again { .. } => Ok(()),
    }
}

//! The envelope of everything sent between members: messages about the file or a group, and members' states for the
//! pages.

use std::collections::BTreeMap;

use linear_hash::EncodingError;
use serde::{Deserialize, Serialize};

use crate::bucket::Bucket;
use crate::host::Host;
use crate::large::encoding::decode;
use crate::member::{Identity, Message};
use crate::pages::{MemberState, MemberView, PoolView};
use crate::parity;
use crate::record::Milliseconds;

/// The shortest time between two questions to the other members. [ms]
const TIME_TO_ASK_AGAIN: Milliseconds = 500;

/// A message from one member to another.
#[derive(Debug, Serialize, Deserialize)]
#[serde(bound = "")]
pub enum PeerMessage {
    /// About the file.
    Message(Message<Bucket>),
    /// About a group.
    Group(parity::message::Message),
    /// Asks for the receiver's state.
    Ask,
    /// The sender's state.
    State(Box<MemberState>),
}

/// Why a message from another member is refused.
#[derive(Debug, thiserror::Error)]
pub enum Unfit {
    /// It is from another version.
    #[error("bytes that are not a message of this version: {0}")]
    Garbled(#[from] postcard::Error),
    /// Its content is impossible.
    #[error(transparent)]
    Beyond(#[from] EncodingError),
}

impl PeerMessage {
    /// Decodes a message from another member.
    ///
    /// # Errors
    /// [`Unfit`]
    pub(super) fn read(bytes: Vec<u8>) -> Result<PeerMessage, Unfit> {
        let message: PeerMessage = decode(bytes, |bytes| postcard::from_bytes(bytes))?;
        match &message {
            PeerMessage::Message(message) => message.check()?,
            PeerMessage::Group(message) => message.check()?,
            PeerMessage::Ask | PeerMessage::State(_) => {}
        }
        Ok(message)
    }

    /// The encoded message that the receiver was rebuilt elsewhere, and its identity has reached this life.
    pub(super) fn lost(life: u32) -> Vec<u8> {
        // A number can be encoded.
        postcard::to_stdvec(&PeerMessage::Group(parity::message::Message::Lost(life))).unwrap_or_default()
    }
}

/// The states that other members have reported.
#[derive(Debug, Default)]
pub struct PeerStates {
    received: BTreeMap<Identity, (Milliseconds, MemberState)>,
    asked: Milliseconds,
}

impl PeerStates {
    /// A member reports its state.
    pub fn receive(&mut self, from: Identity, state: MemberState, now: Milliseconds) {
        self.received.insert(from, (now, state));
    }

    /// Whether it is time to ask the others.
    pub const fn are_due(&mut self, now: Milliseconds) -> bool {
        let due = now.saturating_sub(self.asked) >= TIME_TO_ASK_AGAIN;
        if due {
            self.asked = now;
        }
        due
    }

    /// The state of the pool, as far as known.
    pub fn view(&self, host: &Host, now: Milliseconds) -> PoolView {
        let member = host.member();
        let own = MemberState::of(host);
        let others = member.membership().peers().map(|peer| {
            let received = self.received.get(&peer.identity);
            MemberView {
                member: peer.identity.to_string(),
                address: peer.address,
                silent: received.map(|(at, _)| now.saturating_sub(*at)),
                state: received.map(|(_, state)| state.clone()),
            }
        });
        let first =
            MemberView { member: own.member.clone(), address: own.address, silent: Some(0), state: Some(own.clone()) };
        PoolView {
            version: env!("CARGO_PKG_VERSION"),
            own: own.member,
            is_welcome: member.membership().is_welcome(),
            now,
            members: [first].into_iter().chain(others).collect(),
        }
    }
}

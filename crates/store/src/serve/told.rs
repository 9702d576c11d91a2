//! What one member tells another, beside what their servers do: how it stands, if somebody looks at the other's page.

use std::collections::BTreeMap;

use programs::linear_hash::EncodingError;
use serde::{Deserialize, Serialize};

use crate::bucket::Bucket;
use crate::host::Host;
use crate::large::encoding::decode;
use crate::member::{Identity, Message};
use crate::pages::{Heard, MemberState, PoolView};
use crate::parity;
use crate::record::Milliseconds;

/// As often at most other members are asked. [ms]
const TIME_TO_ASK_AGAIN: Milliseconds = 500;

/// What goes from one member to another.
#[derive(Debug, Serialize, Deserialize)]
#[serde(bound = "")]
pub enum Told {
    /// What concerns the file.
    Message(Message<Bucket>),
    /// What concerns a group.
    Group(parity::message::Message),
    /// How does the receiver stand?
    Ask,
    /// So the sender stands.
    State(Box<MemberState>),
}

/// Why nothing is done about what another member has sent.
#[derive(Debug, thiserror::Error)]
pub enum Unfit {
    /// It comes of another version.
    #[error("bytes that are not a message of this version: {0}")]
    Garbled(#[from] postcard::Error),
    /// It says what cannot be.
    #[error(transparent)]
    Beyond(#[from] EncodingError),
}

impl Told {
    /// Reads what another member has sent.
    ///
    /// # Errors
    /// [`Unfit`]
    pub(super) fn read(bytes: Vec<u8>) -> Result<Told, Unfit> {
        let told: Told = decode(bytes, |bytes| postcard::from_bytes(bytes))?;
        match &told {
            Told::Message(message) => message.check()?,
            Told::Group(message) => message.check()?,
            Told::Ask | Told::State(_) => {}
        }
        Ok(told)
    }

    /// That somebody else is the receiver now, who was rebuilt so often; as it goes to it.
    pub(super) fn lost(life: u32) -> Vec<u8> {
        // A number can be written.
        postcard::to_stdvec(&Told::Group(parity::message::Message::Lost(life))).unwrap_or_default()
    }
}

/// What other members have told of themselves.
#[derive(Debug, Default)]
pub struct Others {
    heard: BTreeMap<Identity, (Milliseconds, MemberState)>,
    asked: Milliseconds,
}

impl Others {
    /// A member tells how it stands.
    pub fn hear(&mut self, from: Identity, state: MemberState, now: Milliseconds) {
        self.heard.insert(from, (now, state));
    }

    /// Whether the others are to be asked now.
    pub const fn are_due(&mut self, now: Milliseconds) -> bool {
        let due = now.saturating_sub(self.asked) >= TIME_TO_ASK_AGAIN;
        if due {
            self.asked = now;
        }
        due
    }

    /// How the pool stands, as far as is known.
    pub fn view(&self, host: &Host, now: Milliseconds) -> PoolView {
        let member = host.member();
        let own = MemberState::of(host);
        let others = member.peers().map(|peer| {
            let heard = self.heard.get(&peer.identity);
            Heard {
                member: peer.identity.to_string(),
                address: peer.address,
                silent: heard.map(|(at, _)| now.saturating_sub(*at)),
                state: heard.map(|(_, state)| state.clone()),
            }
        });
        let first =
            Heard { member: own.member.clone(), address: own.address, silent: Some(0), state: Some(own.clone()) };
        PoolView {
            version: env!("CARGO_PKG_VERSION"),
            own: own.member,
            is_welcome: member.is_welcome(),
            now,
            members: [first].into_iter().chain(others).collect(),
        }
    }
}

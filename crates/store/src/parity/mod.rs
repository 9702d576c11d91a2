//! Parity of journals: what a group's members keep on their disks can be recomputed from the other members' disks and a
//! parity.
//!
//! After LH*RS: W. Litwin, R. Moussa and T. Schwarz, "LH*RS, a highly-available scalable distributed data structure",
//! ACM TODS 30(3), 2005. LH*RS keeps parity of the records of m buckets; this module keeps parity of the journals of m
//! members. A member's state is exactly its journal, so restoring the journal restores everything: records, splits in
//! progress, messages sent and received, and the outcomes of requests.
//!
//! | modules | contents |
//! |---|---|
//! | `code`, `column`, `stripes` | where each block of each journal lies, and the parity over the blocks |
//! | `data`, `group`, `spare` | the roles of a data member, of a parity member, and of a spare |
//! | `check` | bounds on the numbers in other members' messages |
//! | `hello` | how a parity member receives a member, also one that was taken for lost |
//! | `losses`, `rebuilding` | which members are lost, and how they are rebuilt |
//! | `departing` | how a member leaves its group in order |
//! | `state` | a group's state as shown to the operator |
//! | `pair`, `follower`, `following`, `standing`, `views` | how two parity members work together |

mod check;
pub mod code;
pub mod column;
pub mod data;
mod departing;
pub mod facts;
mod follower;
mod following;
pub mod group;
mod hello;
mod losses;
pub mod message;
mod pair;
mod rebuilding;
pub mod spare;
mod standing;
pub mod state;
pub mod stripes;
pub mod views;

pub use check::MOST_PARITIES;

use crate::log::Event;
use crate::member::Identity;
use message::Message;

/// What a member of a group does in response to a message.
#[derive(Debug, Default)]
pub struct Output {
    /// Messages to send. The member's facts must be written to disk first.
    pub sends: Vec<(Identity, Message)>,
    /// Events for the operator's log.
    pub events: Vec<Event>,
}

impl Output {
    fn send(&mut self, to: Identity, message: Message) {
        self.sends.push((to, message));
    }
}

//! Parity of journals: what members of a group keep on their disks can be computed out of what the others keep, and a parity.
//!
//! After LH*RS: W. Litwin, R. Moussa and T. Schwarz, "LH*RS, a highly-available scalable distributed data structure", ACM TODS 30(3), 2005. There
//! parity is kept of the records of m buckets. Here it is of the journals of m members: what a member is, is exactly its journal, so that with
//! it everything of a member comes back: records, splits under way, what it has told and was told, and how requests went.
//!
//! | | says |
//! |---|---|
//! | `code`, `column`, `stripes` | which block of which journal lies where, and what the parity of that is |
//! | `data`, `group`, `spare` | the parts of a data member, of a parity member, and of a spare |
//! | `check` | that what others say is such as a member reckons with |
//! | `losses`, `rebuilding` | which members are lost, and how what is lost comes back |
//! | `departing` | how a member leaves its group in order |
//! | `state` | what whoever runs the pool sees of a group |
//! | `pair`, `follower`, `following`, `standing`, `views` | how two parity members of a group go together, so that any two of its members may be lost |

mod check;
pub mod code;
pub mod column;
pub mod data;
mod departing;
pub mod facts;
mod follower;
mod following;
pub mod group;
mod losses;
pub mod message;
mod pair;
mod rebuilding;
pub mod spare;
mod standing;
pub mod state;
pub mod stripes;
pub mod views;

use crate::log::Event;
use crate::member::Identity;
use message::Message;

/// What comes of what a member of a group was told.
#[derive(Debug, Default)]
pub struct Output {
    /// What is to be sent. What must not be forgotten is to be written down before.
    pub sends: Vec<(Identity, Message)>,
    /// What whoever runs it wants to know.
    pub events: Vec<Event>,
}

impl Output {
    fn send(&mut self, to: Identity, message: Message) {
        self.sends.push((to, message));
    }
}

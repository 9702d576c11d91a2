//! The messages between members of a group.

use serde::{Deserialize, Serialize};

use super::code::COLUMNS;
use super::column::{Change, ColumnLayout, Extent, FileName, Piece, as_bytes};
use super::views::{Number, View};
use crate::member::Identity;

/// A message between a data member and its parity member, between a parity member and a spare, or between a group's
/// parity members.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Message {
    /// The sender wants parity of its files, which the receiver may keep already.
    Hello {
        /// Tells the sender's messages from now on from its earlier ones.
        session: u64,
        /// How often it has been rebuilt.
        life: u32,
        /// Its wish.
        wish: Wish,
    },
    /// The state of the receiver's files in the parity.
    Stands {
        /// The session.
        session: u64,
        /// All of its files there.
        files: Vec<(FileName, Extent)>,
        /// Whether the receiver could be rebuilt out of them.
        is_complete: bool,
        /// Whether the receiver is about to leave the group, as it has announced.
        leaves: bool,
        /// Which parity members its group has, if it may have two.
        view: Option<View>,
    },
    /// The sender's group has no room for the receiver.
    Full(u64),
    /// The sender's group has room for the receiver now.
    Room,
    /// The receiver has left its group, in this session: nothing on its disk is needed any more.
    Left(u64),
    /// The receiver's identity has reached this life: unless this is the receiver's own life, it was taken for lost and
    /// rebuilt elsewhere.
    Lost(u32),
    /// The receiver was taken for lost, and no other process has become it: it goes on as the member that it is, in
    /// this life.
    Readmitted {
        /// The session.
        session: u64,
        /// How often the member counts as rebuilt from now on.
        life: u32,
    },
    /// The sender has lost what it had of the receiver's files, and asks for a new hello.
    Anew,
    /// A file of the sender has changed.
    Change {
        /// The session.
        session: u64,
        /// How many changes and beats came before in this run.
        number: u64,
        /// The change.
        change: Change,
    },
    /// The sender is alive.
    Beat {
        /// The session.
        session: u64,
        /// How many changes and beats came before in this run.
        number: u64,
        /// Whether it has sent everything needed to rebuild it, and holds back its messages to others until the
        /// receiver acknowledges.
        is_complete: bool,
    },
    /// The parity holds everything up to this number.
    Acknowledged {
        /// The session.
        session: u64,
        /// The number.
        number: u64,
    },
    /// The sender has less on disk than the parity holds of it.
    Behind,
    /// Asks for a piece of the receiver's files.
    Read {
        /// The request.
        request: u64,
        /// The piece.
        piece: Piece,
    },
    /// The answer to [`Message::Read`] or [`Message::ReadParity`].
    Block {
        /// The request.
        request: u64,
        /// The bytes of it.
        #[serde(with = "as_bytes")]
        bytes: Vec<u8>,
    },
    /// The receiver, a spare, is to store this part of a lost member.
    Part {
        /// The rebuilding that it belongs to.
        rebuilding: u64,
        /// The request.
        request: u64,
        /// Its place.
        piece: Piece,
        /// The bytes of it.
        #[serde(with = "as_bytes")]
        bytes: Vec<u8>,
    },
    /// The sender has stored the part or block of this request.
    Stored(u64),
    /// The receiver has everything of a lost member, and is that member from now on.
    Become(Successor),
    /// The sender, a spare, refuses a part of this rebuilding: it is being given another member, or leaves.
    Busy(u64),
    /// The sender is a parity member in no group.
    Available,
    /// The sender leads its group, in this view.
    Leads(View),
    /// The sender follows the receiver, and has all steps before a place.
    Follows {
        /// The number of the view.
        number: Number,
        /// The place of the first step that it does not have; none, if it has nothing.
        next: Option<u64>,
        /// It has given up all views that it asked for up to this number.
        void: Number,
    },
    /// The sender has taken a step, which the receiver has to take too.
    Step {
        /// The number of the view.
        number: Number,
        /// How many steps came before.
        place: u64,
        /// The step.
        step: LeadStep,
    },
    /// Asks for the receiver's parity of a stripe.
    ReadParity {
        /// The request.
        request: u64,
        /// The state asked for: after all steps before this place, and no others.
        after: u64,
        /// The stripe.
        stripe: u32,
    },
    /// The receiver's parity of a stripe, as it was when the stripe began.
    Make {
        /// The request.
        request: u64,
        /// The stripe.
        stripe: u32,
        /// The parity.
        #[serde(with = "as_bytes")]
        bytes: Vec<u8>,
    },
    /// The sender asks for a promise, to get another view for its group.
    Ask {
        /// The view as far as the sender knows.
        settled: View,
        /// The number of the other view.
        number: Number,
    },
    /// The sender promises to record no view with a lower number.
    Granted {
        /// The number.
        number: Number,
        /// The last view it knows of.
        view: View,
        /// How often it has been rebuilt.
        life: u32,
        /// Whether the sender has all of a parity.
        has_parity: bool,
    },
    /// The sender has promised another candidate not to do that.
    Refused {
        /// The number that is refused.
        number: Number,
        /// The number promised to the other candidate.
        promised: Number,
    },
    /// The receiver is to record this view.
    Record(View),
    /// The sender has recorded the view with this number.
    Recorded(Number),
}

/// The wish of a data member that says hello to a parity member.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Wish {
    /// To be taken into the group: it is in none.
    Join,
    /// To resume: it is in the group already. The number names the group, if it may have two parity members.
    GoOn(Option<Number>),
    /// To leave the group. Nothing of it is needed any more, except to rebuild the others.
    Leave,
}

/// A member of a group, as a lead describes it to its follower.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SeatRecord {
    /// Its identity.
    pub identity: Identity,
    /// The last life that was given out for it.
    pub life: u32,
    /// The last life in which it has said hello.
    pub confirmed: u32,
    /// Whether it can be rebuilt.
    pub is_complete: bool,
    /// Whether the parity has never had all of its data.
    pub is_new: bool,
    /// Whether it is about to leave the group.
    pub leaves: bool,
}

/// A step of a group's lead, which its follower has to take too, in the same order.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum LeadStep {
    /// The first step, for a follower that has nothing.
    Anew {
        /// The number of the follower's parity.
        parity: usize,
        /// The members of the group.
        seats: [Option<SeatRecord>; COLUMNS],
        /// The layouts of their files.
        layouts: [ColumnLayout; COLUMNS],
        /// Newcomers that have lost their places.
        let_go: Vec<Identity>,
    },
    /// A member has been given a place in the group, or a new life, or has said hello in it.
    Seat {
        /// Its place.
        column: usize,
        /// The member.
        identity: Identity,
        /// The last life that was given out for it.
        life: u32,
        /// The last life in which it has said hello.
        confirmed: u32,
    },
    /// A member is about to leave the group: it is not rebuilt any more.
    Leaves {
        /// The member's place.
        column: usize,
    },
    /// A member has left the group: its place is free.
    Left {
        /// Its former place.
        column: usize,
    },
    /// A file of a member has changed.
    Change {
        /// The member's place.
        column: usize,
        /// The change.
        change: Change,
    },
    /// A member is alive.
    Beat {
        /// The member's place.
        column: usize,
        /// Whether it has sent everything needed to rebuild it.
        is_complete: bool,
    },
    /// A stripe begins: its parity as of now comes in a [`Message::Make`] with this request.
    Begins {
        /// The request.
        request: u64,
        /// The stripe.
        stripe: u32,
    },
    /// The follower's parity is made.
    Made,
}

/// The member that a spare becomes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Successor {
    /// The rebuilding that this ends.
    pub rebuilding: u64,
    /// Its identity from now on.
    pub identity: Identity,
    /// How often that member has been rebuilt.
    pub life: u32,
    /// Which parity members its group has, if it may have two.
    pub view: Option<View>,
    /// Its files. A snapshot that is not whole is worthless, but the parity holds it.
    pub files: Vec<(FileName, Extent)>,
}

//! What the members of a group tell each other.

use serde::{Deserialize, Serialize};

use super::code::COLUMNS;
use super::column::{Change, Extent, FileName, Layout, Piece, as_bytes};
use super::views::{Number, View};
use crate::member::Identity;

/// What goes between a data member and its parity member, between that and a spare, and between the parity members of a group.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Message {
    /// The sender wants parity of its files, which the receiver may keep already; this is how often it was rebuilt.
    Hello {
        /// Tells what the sender says from now on from what it said before.
        session: u64,
        /// How often it was rebuilt.
        life: u32,
        /// What it wants.
        wish: Wish,
    },
    /// The receiver's files stand so in the parity.
    Stands {
        /// Of which session.
        session: u64,
        /// All of them.
        files: Vec<(FileName, Extent)>,
        /// Whether the receiver could be rebuilt out of them.
        is_complete: bool,
        /// Whether the receiver is about to leave the group, as it has told before.
        leaves: bool,
        /// Which parity members its group has, if it may have two.
        view: Option<View>,
    },
    /// The sender keeps parity of as many members as it can.
    Full(u64),
    /// The sender has room for the receiver, where it had none.
    Room,
    /// The receiver has left its group, in this session: nothing that it has on disk is needed any more.
    Left(u64),
    /// The receiver was taken for lost, and rebuilt so often; unless it is what was rebuilt.
    Lost(u32),
    /// The sender has lost what it had of the parity, and asks for it anew.
    Anew,
    /// A file of the sender has changed.
    Change {
        /// In which session.
        session: u64,
        /// How many changes and beats came before within this run.
        number: u64,
        /// What has changed.
        change: Change,
    },
    /// The sender is there.
    Beat {
        /// In which session.
        session: u64,
        /// How many changes and beats came before within this run.
        number: u64,
        /// Whether it has told all that it needs to be rebuilt, and from now on waits for the receiver with all that it tells others.
        is_complete: bool,
    },
    /// The parity holds all up to this number.
    Acknowledged {
        /// Of which session.
        session: u64,
        /// Which number.
        number: u64,
    },
    /// The sender does not have all that the parity has of it.
    Behind,
    /// What does the receiver have there?
    Read {
        /// For which request.
        request: u64,
        /// Where.
        piece: Piece,
    },
    /// That is there.
    Block {
        /// For which request.
        request: u64,
        /// What is there.
        #[serde(with = "as_bytes")]
        bytes: Vec<u8>,
    },
    /// The receiver is to keep this of a lost member.
    Part {
        /// Tells one rebuilding from another.
        rebuilding: u64,
        /// For which request.
        request: u64,
        /// Where it belongs.
        piece: Piece,
        /// What is there.
        #[serde(with = "as_bytes")]
        bytes: Vec<u8>,
    },
    /// The sender keeps that.
    Stored(u64),
    /// The receiver has all of a lost member, and is that member from now on.
    Become(Successor),
    /// The sender, a spare, is given another member and does not keep this.
    Busy(u64),
    /// The sender keeps no parity, and could.
    Available,
    /// The sender leads its group, in this view.
    Leads(View),
    /// The sender follows the receiver in the view with this number, and has all steps before that place; none, if it has nothing.
    Follows {
        /// In which view.
        number: Number,
        /// The place of the first step that it has not.
        next: Option<u64>,
    },
    /// The sender has taken a step, which the receiver has to follow.
    Step {
        /// In which view.
        number: Number,
        /// How many came before.
        place: u64,
        /// Which.
        step: Step,
    },
    /// What parity does the receiver have of a stripe?
    ReadParity {
        /// For which request.
        request: u64,
        /// After all steps before this place, and none besides.
        after: u64,
        /// Which stripe.
        stripe: u32,
    },
    /// What the receiver's parity was of a stripe when that began.
    Make {
        /// For which request.
        request: u64,
        /// Which stripe.
        stripe: u32,
        /// What it was.
        #[serde(with = "as_bytes")]
        bytes: Vec<u8>,
    },
    /// The sender wants another view to be its group's.
    Ask {
        /// Which group.
        group: Number,
        /// The number of the view.
        number: Number,
    },
    /// The sender records nothing with a lower number.
    Granted {
        /// Which number.
        number: Number,
        /// The last view that it knows of.
        view: View,
        /// How often it was rebuilt.
        life: u32,
        /// Whether it has all of a parity.
        has_parity: bool,
    },
    /// The sender has promised another one not to record that.
    Refused {
        /// What.
        number: Number,
        /// The number of the other one.
        promised: Number,
    },
    /// The receiver is to record this view.
    Record(View),
    /// The sender has recorded the view with this number.
    Recorded(Number),
}

/// What a data member wants of a parity member that it greets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Wish {
    /// To be taken into its group: it is in none.
    Join,
    /// To go on: it is in its group; in this one, if that may have two parity members.
    GoOn(Option<Number>),
    /// To leave its group. Nothing of it is needed any more, but what the others are rebuilt with.
    Leave,
}

/// A member of a group, as one parity member tells another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    /// Which.
    pub identity: Identity,
    /// How often it was rebuilt.
    pub life: u32,
    /// Whether it could be rebuilt.
    pub is_complete: bool,
    /// Whether it is about to leave the group.
    pub leaves: bool,
}

/// What the lead of a group does that its follower has to do, too, in the same order.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Step {
    /// All begins with this: the follower has nothing.
    Anew {
        /// Which of the parities is the follower's.
        parity: usize,
        /// Members of the group.
        seats: [Option<Place>; COLUMNS],
        /// Where their blocks lie.
        layouts: [Layout; COLUMNS],
    },
    /// A member has its place in the group, or was rebuilt.
    Seat {
        /// Where.
        column: usize,
        /// Who.
        identity: Identity,
        /// How often it was rebuilt.
        life: u32,
    },
    /// A member is about to leave the group: it is not rebuilt any more.
    Leaves {
        /// Where it is.
        column: usize,
    },
    /// A member has left the group: its place is free.
    Left {
        /// Where it was.
        column: usize,
    },
    /// A member's file has changed.
    Change {
        /// Where the member is.
        column: usize,
        /// What has changed.
        change: Change,
    },
    /// A member is there.
    Beat {
        /// Where it is.
        column: usize,
        /// Whether it has told all that it needs to be rebuilt.
        is_complete: bool,
    },
    /// What lies in a stripe now is told in an answer to this request.
    Begins {
        /// For which request.
        request: u64,
        /// Which stripe.
        stripe: u32,
    },
    /// The follower has all of its parity.
    Made,
}

/// Who takes the place of a lost member.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Successor {
    /// Which rebuilding this ends.
    pub rebuilding: u64,
    /// Who it is from now on.
    pub identity: Identity,
    /// How often that was rebuilt.
    pub life: u32,
    /// Which parity members its group has, if it may have two.
    pub view: Option<View>,
    /// Its files. One that is not whole though it must be is worth nothing, but the parity has it.
    pub files: Vec<(FileName, Extent)>,
}

//! How a lost member is rebuilt, or a parity member that has nothing: stripe by stripe, out of what the others of its group have there.
//!
//! ```text
//!   parity member                          others of the group          spare, or parity member that follows
//!   | a stripe as it is now                    |                          |
//!   | Read(file, at, length) ----------------->|                          |
//!   |<------------------------------ Block     |                          |
//!   | what was lost, out of these ----------------------- Part, Make ---->|
//!   |<-------------------------------------------------- Stored           |
//! ```
//!
//! Meanwhile the others go on. What a stripe holds of their files at the moment when they are asked stays there until the parity member has
//! acknowledged that it was taken out, and they hear that after the question. A parity member that follows is asked for its block of a stripe, too,
//! if another column is not there: its answer counts if it has followed to that moment, and no further.

use std::collections::{BTreeMap, VecDeque};

use super::Output;
use super::code::COLUMNS;
use super::follower::Follower;
use super::message::{Message, Step};
use super::stripes::{Corrupt, Stripe, Stripes};
use crate::member::Identity;

/// So many stripes are under way at once.
const MOST_UNDER_WAY: usize = 64;

/// A stripe for which others were asked.
#[derive(Debug)]
struct UnderWay {
    number: u32,
    /// As it was when they were.
    stripe: Stripe,
    /// What they have said, in the order of [`Stripe::others`].
    blocks: Vec<Option<Vec<u8>>>,
    /// What the parity member that follows has said.
    parity: Option<Vec<u8>>,
    /// Whether the spare was given what was lost.
    is_sent: bool,
}

/// What is rebuilt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lost {
    /// What a column had; while another one may not be there either.
    Column { column: usize, absent: Option<usize> },
    /// The parity of whoever follows.
    Parity,
    /// Nothing: it is what a member that leaves has in the parity, and is taken out there; while another one may not be there either.
    Leaver { column: usize, absent: Option<usize> },
}

/// A member that is being rebuilt.
#[derive(Debug)]
pub(super) struct Rebuilding {
    /// Tells it from others.
    pub(super) number: u64,
    /// What is lost.
    pub(super) lost: Lost,
    /// Who is given that.
    pub(super) to: Identity,
    /// How many stripes there are.
    stripes: usize,
    /// Stripes that have still to be begun.
    waiting: VecDeque<u32>,
    under_way: BTreeMap<u64, UnderWay>,
    requests: u64,
    /// Of a member that leaves: what it has, stripe by stripe.
    taken: BTreeMap<u32, Vec<u8>>,
}

impl Rebuilding {
    pub(super) fn new(number: u64, lost: Lost, to: Identity, waiting: VecDeque<u32>) -> Rebuilding {
        Rebuilding {
            number,
            lost,
            to,
            stripes: waiting.len(),
            waiting,
            under_way: BTreeMap::new(),
            requests: 0,
            taken: BTreeMap::new(),
        }
    }

    /// Whether all is given.
    pub(super) fn is_over(&self) -> bool {
        self.waiting.is_empty() && self.under_way.is_empty()
    }

    /// How many stripes are given, and of how many.
    pub(super) fn progress(&self) -> (usize, usize) {
        (self.stripes - self.waiting.len() - self.under_way.len(), self.stripes)
    }

    /// The column that is rebuilt, if one is.
    pub(super) const fn column(&self) -> Option<usize> {
        match self.lost {
            Lost::Column { column, .. } => Some(column),
            Lost::Parity | Lost::Leaver { .. } => None,
        }
    }

    /// Whether it can't go on without the parity member that follows.
    pub(super) const fn needs_follower(&self) -> bool {
        !matches!(self.lost, Lost::Column { absent: None, .. } | Lost::Leaver { absent: None, .. })
    }

    /// What a member that leaves has, as it was found.
    pub(super) fn into_taken(self) -> BTreeMap<u32, Vec<u8>> {
        self.taken
    }

    /// What others were asked for may be lost: they are asked again, of the stripes as they are then.
    pub(super) fn ask_again(&mut self) {
        let again = std::mem::take(&mut self.under_way).into_values().map(|under_way| under_way.number);
        self.waiting.extend(again);
    }

    /// Begins more stripes.
    pub(super) fn go_on(
        &mut self,
        stripes: &mut Stripes,
        identities: &[Option<Identity>; COLUMNS],
        mut follower: Option<&mut Follower>,
        output: &mut Output,
    ) -> Result<(), Corrupt> {
        while self.under_way.len() < MOST_UNDER_WAY
            && let Some(number) = self.waiting.pop_front()
        {
            // Numbers of one rebuilding are not those of another.
            let request = self.number << 32 | self.requests;
            self.requests += 1;
            let stripe = self.ask_follower(number, request, stripes, follower.as_deref_mut(), output)?;
            for (other, piece) in &stripe.others {
                let Some(identity) = identities[*other] else { return Err(Corrupt) };
                output.send(identity, Message::Read { request, piece: *piece });
            }
            if stripe.lost.is_none() && stripe.others.is_empty() {
                continue;
            }
            let blocks = vec![None; stripe.others.len()];
            self.under_way.insert(request, UnderWay { number, stripe, blocks, parity: None, is_sent: false });
            self.send_if_known(request, stripes, output)?;
        }
        Ok(())
    }

    /// A stripe as it is now, and what the parity member that follows has to say to it, or to know.
    fn ask_follower(
        &self,
        number: u32,
        request: u64,
        stripes: &Stripes,
        follower: Option<&mut Follower>,
        output: &mut Output,
    ) -> Result<Stripe, Corrupt> {
        let (Lost::Column { column, absent } | Lost::Leaver { column, absent }) = self.lost else {
            follower.ok_or(Corrupt)?.push(Step::Begins { request, stripe: number }, output);
            return Ok(stripes.whole_stripe(number));
        };
        let stripe = stripes.stripe(number, column, absent).ok_or(Corrupt)?;
        if stripe.absent.is_some() {
            let follower = follower.ok_or(Corrupt)?;
            let after = follower.next();
            output.send(follower.identity, Message::ReadParity { request, after, stripe: number });
        }
        Ok(stripe)
    }

    /// Another column has said what it has; or, where it is none, the parity member that follows.
    pub(super) fn takes_block(
        &mut self,
        request: u64,
        column: Option<usize>,
        bytes: Vec<u8>,
        stripes: &mut Stripes,
        output: &mut Output,
    ) -> Result<(), Corrupt> {
        let Some(under_way) = self.under_way.get_mut(&request) else { return Ok(()) };
        let place = under_way.stripe.others.iter().position(|(other, _)| Some(*other) == column);
        match (column, place) {
            (Some(_), Some(place)) => under_way.blocks[place] = Some(bytes),
            (Some(_), None) => {}
            (None, _) => under_way.parity = Some(bytes),
        }
        self.send_if_known(request, stripes, output)
    }

    /// Gives the spare what was lost, if all others have said what they have.
    fn send_if_known(&mut self, request: u64, stripes: &mut Stripes, output: &mut Output) -> Result<(), Corrupt> {
        let Some(under_way) = self.under_way.get_mut(&request).filter(|under_way| !under_way.is_sent) else {
            return Ok(());
        };
        let Some(blocks) = under_way.blocks.iter().cloned().collect::<Option<Vec<_>>>() else { return Ok(()) };
        if under_way.stripe.absent.is_some() && under_way.parity.is_none() {
            return Ok(());
        }
        let bytes = stripes.decode(&under_way.stripe, &blocks, under_way.parity.as_deref()).ok_or(Corrupt)?;
        if matches!(self.lost, Lost::Leaver { .. }) {
            self.taken.insert(under_way.number, bytes);
            self.under_way.remove(&request);
            return Ok(());
        }
        (under_way.is_sent, under_way.blocks, under_way.parity) = (true, Vec::new(), None);
        let message = match under_way.stripe.lost {
            Some((_, piece)) => Message::Part { rebuilding: self.number, request, piece, bytes },
            None => Message::Make { request, stripe: under_way.number, bytes },
        };
        output.send(self.to, message);
        Ok(())
    }

    /// The spare keeps what it was given.
    pub(super) fn was_stored(&mut self, request: u64) {
        self.under_way.remove(&request);
    }
}

//! How a lost member, or a parity member that has nothing, is rebuilt: stripe by stripe, out of the blocks of the
//! others in its group.
//!
//! ```text
//!   parity member                          others of the group          spare, or follower
//!   | a stripe as it is now                    |                          |
//!   | Read(file, at, length) ----------------->|                          |
//!   |<------------------------------ Block     |                          |
//!   | the lost block, out of these ---------------------- Part, Make ---->|
//!   |<-------------------------------------------------- Stored           |
//! ```
//!
//! Meanwhile the others go on. The bytes that a stripe holds of their files when they are asked stay on disk until the
//! parity member has acknowledged that they were taken out, and that acknowledgment arrives after the question. The
//! follower is asked for its block of a stripe too if another column is absent: its answer counts only if it has
//! followed exactly up to that moment.

use std::collections::{BTreeMap, VecDeque};

use super::Output;
use super::code::COLUMNS;
use super::follower::Follower;
use super::message::{LeadStep, Message};
use super::stripes::{Corrupt, Stripe, Stripes};
use crate::member::Identity;

/// The most stripes in flight at once.
const MOST_UNDER_WAY: usize = 64;

/// A stripe for which blocks were requested.
#[derive(Debug)]
struct UnderWay {
    number: u32,
    /// The stripe as it was at that moment.
    stripe: Stripe,
    /// The answers, in the order of [`Stripe::others`].
    blocks: Vec<Option<Vec<u8>>>,
    /// The follower's answer.
    parity: Option<Vec<u8>>,
    /// Whether the lost block has been sent to the spare.
    is_sent: bool,
}

/// What is being rebuilt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lost {
    /// A column; another one may be absent too.
    Column { column: usize, absent: Option<usize> },
    /// The follower's parity.
    Parity,
    /// Nothing: the column of a leaving member is computed to be taken out of the parity; another one may be absent.
    Leaver { column: usize, absent: Option<usize> },
}

/// A rebuilding in progress.
#[derive(Debug)]
pub(super) struct Rebuilding {
    /// Identifies it among others.
    pub(super) number: u64,
    /// What is lost.
    pub(super) lost: Lost,
    /// The receiver.
    pub(super) to: Identity,
    /// How many stripes there are.
    stripes: usize,
    /// Stripes not begun yet.
    waiting: VecDeque<u32>,
    under_way: BTreeMap<u64, UnderWay>,
    requests: u64,
    /// Of a leaving member: its blocks, by stripe.
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

    /// Whether everything has been stored.
    pub(super) fn is_over(&self) -> bool {
        self.waiting.is_empty() && self.under_way.is_empty()
    }

    /// How many stripes are done, and of how many.
    pub(super) fn progress(&self) -> (usize, usize) {
        (self.stripes - self.waiting.len() - self.under_way.len(), self.stripes)
    }

    /// The column being rebuilt, if it is one.
    pub(super) const fn column(&self) -> Option<usize> {
        match self.lost {
            Lost::Column { column, .. } => Some(column),
            Lost::Parity | Lost::Leaver { .. } => None,
        }
    }

    /// Whether it can't go on without the follower.
    pub(super) const fn needs_follower(&self) -> bool {
        !matches!(self.lost, Lost::Column { absent: None, .. } | Lost::Leaver { absent: None, .. })
    }

    /// A leaving member's blocks, as computed.
    pub(super) fn into_taken(self) -> BTreeMap<u32, Vec<u8>> {
        self.taken
    }

    /// Requests may have been lost: the others are asked again, for the stripes as they are then.
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
            // Request numbers are unique across rebuildings.
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

    /// A stripe as it is now. The follower is asked for its block of it, or told that it begins.
    fn ask_follower(
        &self,
        number: u32,
        request: u64,
        stripes: &Stripes,
        follower: Option<&mut Follower>,
        output: &mut Output,
    ) -> Result<Stripe, Corrupt> {
        let (Lost::Column { column, absent } | Lost::Leaver { column, absent }) = self.lost else {
            follower.ok_or(Corrupt)?.push(LeadStep::Begins { request, stripe: number }, output);
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

    /// A block has arrived from another column; or from the follower, if `column` is none.
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

    /// Sends the lost block to the spare, if all blocks it is computed from have arrived.
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

    /// The spare has stored a part.
    pub(super) fn was_stored(&mut self, request: u64) {
        self.under_way.remove(&request);
    }
}

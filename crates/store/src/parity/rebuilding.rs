//! How a lost member is rebuilt: stripe by stripe, out of what the others of its group have there.
//!
//! ```text
//!   parity member                          others of the group          spare
//!   | a stripe as it is now                    |                          |
//!   | Read(file, at, length) ----------------->|                          |
//!   |<------------------------------ Block     |                          |
//!   | what was lost, out of these ----------------------- Part ---------->|
//!   |<-------------------------------------------------- Stored           |
//! ```
//!
//! Meanwhile the others go on. What a stripe holds of their files at the moment when they are asked stays there until the parity member has
//! acknowledged that it was taken out, and they hear that after the question.

use std::collections::{BTreeMap, VecDeque};

use super::Output;
use super::code::COLUMNS;
use super::message::Message;
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
    /// Whether the spare was given what was lost.
    is_sent: bool,
}

/// A member that is being rebuilt.
#[derive(Debug)]
pub(super) struct Rebuilding {
    /// Tells it from others.
    pub(super) number: u64,
    /// Who is lost.
    pub(super) column: usize,
    /// Who is to become it.
    pub(super) spare: Identity,
    /// Stripes that have still to be begun.
    waiting: VecDeque<u32>,
    under_way: BTreeMap<u64, UnderWay>,
    requests: u64,
}

impl Rebuilding {
    pub(super) const fn new(number: u64, column: usize, spare: Identity, waiting: VecDeque<u32>) -> Rebuilding {
        Rebuilding { number, column, spare, waiting, under_way: BTreeMap::new(), requests: 0 }
    }

    /// Whether the spare has all.
    pub(super) fn is_over(&self) -> bool {
        self.waiting.is_empty() && self.under_way.is_empty()
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
        output: &mut Output,
    ) -> Result<(), Corrupt> {
        while self.under_way.len() < MOST_UNDER_WAY
            && let Some(number) = self.waiting.pop_front()
        {
            let stripe = stripes.stripe(number, self.column).ok_or(Corrupt)?;
            // Numbers of one rebuilding are not those of another.
            let request = self.number << 32 | self.requests;
            self.requests += 1;
            for (other, piece) in &stripe.others {
                let Some(identity) = identities[*other] else { return Err(Corrupt) };
                output.send(identity, Message::Read { request, piece: *piece });
            }
            let blocks = vec![None; stripe.others.len()];
            self.under_way.insert(request, UnderWay { number, stripe, blocks, is_sent: false });
            self.send_if_known(request, stripes, output)?;
        }
        Ok(())
    }

    /// Another column has said what it has.
    pub(super) fn takes_block(
        &mut self,
        request: u64,
        column: usize,
        bytes: Vec<u8>,
        stripes: &mut Stripes,
        output: &mut Output,
    ) -> Result<(), Corrupt> {
        if let Some(under_way) = self.under_way.get_mut(&request)
            && let Some(place) = under_way.stripe.others.iter().position(|(other, _)| *other == column)
        {
            under_way.blocks[place] = Some(bytes);
        }
        self.send_if_known(request, stripes, output)
    }

    /// Gives the spare what was lost, if all others have said what they have.
    fn send_if_known(&mut self, request: u64, stripes: &mut Stripes, output: &mut Output) -> Result<(), Corrupt> {
        let Some(under_way) = self.under_way.get_mut(&request).filter(|under_way| !under_way.is_sent) else {
            return Ok(());
        };
        let Some(blocks) = under_way.blocks.iter().cloned().collect::<Option<Vec<_>>>() else { return Ok(()) };
        let bytes = stripes.decode(&under_way.stripe, &blocks).ok_or(Corrupt)?;
        let piece = under_way.stripe.piece;
        (under_way.is_sent, under_way.blocks) = (true, Vec::new());
        output.send(self.spare, Message::Part { rebuilding: self.number, request, piece, bytes });
        Ok(())
    }

    /// The spare keeps what it was given.
    pub(super) fn was_stored(&mut self, request: u64) {
        self.under_way.remove(&request);
    }
}

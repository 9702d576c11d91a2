//! Push-pull broadcast: the first bytes are pushed, and one receiver pulls the rest for all.
//!
//! ```text
//!     source    ~ BTP1 ~ BTP2 ~>  a, b, c
//!               <-- b, the acknowledger of this message: the push has come, pull the rest
//!               ~~~~~~ fragments ~~~~~>  a, b, c       who is not ready takes what it can when it is
//! ```
//!
//! What is pushed is short and finds room nearly always, so that one receiver's word for it is enough: the others report a
//! little later, each at a time of its own. The receivers take turns at it from message to message.
//!
//! Costs of s bytes in packets of p: 1 + ceil((s - BTP1) / p) packets, and, where s > BTP, one round trip more than a simple broadcast,
//! for which no packet is sent in vain to receivers that are as late as the acknowledger.
//!
//! Source: Wong and Wang 2000, section 3.3.

use quantities::Rank;

/// Who acknowledges what is pushed of message `number`: the receivers in turn.
pub(crate) fn acknowledger(receivers: &[Rank], number: u64) -> Option<Rank> {
    let turn = number.checked_rem(receivers.len() as u64)?;
    receivers.get(usize::try_from(turn).ok()?).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_receivers_take_turns() {
        let turns: Vec<_> = (4..8).map(|number| acknowledger(&[Rank(1), Rank(2), Rank(5)], number)).collect();
        assert_eq!(turns, [Some(Rank(2)), Some(Rank(5)), Some(Rank(1)), Some(Rank(2))]);
        assert_eq!(acknowledger(&[], 4), None);
    }
}

//! Push-pull broadcast: the first bytes are pushed, and one receiver pulls the rest for all.
//!
//! ```text
//!     source    ~ BTP1 ~ BTP2 ~>  a, b, c
//!               <-- b, the acknowledger of this message: the push has come, pull the rest
//!               ~~~~~~ fragments ~~~~~>  a, b, c       a receiver that is late takes what it can once it is ready
//! ```
//!
//! The pushed part is short and nearly always finds room, so one receiver's acknowledgement is enough: the others
//! report a little later, each at its own time. The receivers take turns as acknowledger from message to message.
//!
//! Costs of s bytes in packets of p: 1 + ceil((s - BTP1) / p) packets, and, if s > BTP, one round trip more than a
//! simple broadcast; in return no packet is wasted on receivers that are as late as the acknowledger.
//!
//! Source: Wong and Wang 2000, section 3.3.

use quantities::Rank;

/// The receiver that acknowledges the pushed part of message `number`: they take turns.
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

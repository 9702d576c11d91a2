//! A step in which every rank sends to the one that is so many further on, round the ring of all ranks.

use quantities::Rank;

/// What one rank does in such a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shift {
    /// To whom it sends: p + distance mod P.
    pub(crate) to: Rank,
    /// From whom it receives: p - distance mod P.
    pub(crate) from: Rank,
    /// Whether it sends before it receives.
    pub(crate) sends_first: bool,
}

impl Shift {
    /// What rank `me` of `size` does in a shift by `distance`, which is from 1 to `size` less one.
    ///
    /// If a send waits for its receiver, not all ranks may send first; nor may they all receive first; nor should they wait
    /// for each other all round the ring. So the ring is cut into blocks of d = min(distance, P - distance) ranks, and every
    /// other block sends first:
    ///
    /// ```text
    ///   ranks      0 1 2 | 3 4 5 | 6 7 8 | 9      P = 10, distance 3
    ///   first    receive |  send |receive| send
    ///   messages     0 -> 3 -> 6 -> 9 -> 2 -> 5 ...
    /// ```
    ///
    /// Messages go from a block to the next one (or the one before it), but where the ring closes. There one that receives
    /// first may send to another that does, which then sends to one that sends first; so the step takes three times
    /// the way of a message at most, and two where the blocks fit in pairs. Two that exchange (distance P / 2) do it as in
    /// figure 2 of the CM-5 paper: the lower one receives first.
    pub(crate) fn new(Rank(me): Rank, distance: u32, size: u32) -> Shift {
        let room = size - distance;
        Shift {
            to: Rank(if me < room { me + distance } else { me - room }),
            from: Rank(if me >= distance { me - distance } else { me + room }),
            sends_first: me / distance.min(room) % 2 == 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How many messages must follow each other until every rank has sent and received, if every send waits for its
    /// receiver; nothing, if it can't come to its end.
    fn rounds(distance: u32, size: u32) -> Option<u32> {
        let shifts: Vec<Shift> = (0..size).map(|me| Shift::new(Rank(me), distance, size)).collect();
        let (mut sent, mut received) = (vec![false; size as usize], vec![false; size as usize]);
        for round in 0.. {
            let can_send: Vec<bool> =
                (0..size as usize).map(|me| !sent[me] && (shifts[me].sends_first || received[me])).collect();
            let can_receive: Vec<bool> =
                (0..size as usize).map(|me| !received[me] && (!shifts[me].sends_first || sent[me])).collect();
            let pairs: Vec<(usize, usize)> = (0..size as usize)
                .map(|me| (me, shifts[me].to.0 as usize))
                .filter(|&(me, to)| can_send[me] && can_receive[to])
                .collect();
            if pairs.is_empty() {
                return (sent.into_iter().all(|sent| sent)).then_some(round);
            }
            for (me, to) in pairs {
                (sent[me], received[to]) = (true, true);
            }
        }
        None
    }

    #[test]
    fn a_shift_takes_three_messages_after_each_other_at_most() {
        for size in 2..40 {
            for distance in 1..size {
                let rounds = rounds(distance, size).unwrap();
                assert!((2..=3).contains(&rounds), "{rounds} for a shift by {distance} of {size}");
                if size % (2 * distance.min(size - distance)) == 0 {
                    assert_eq!(rounds, 2, "for a shift by {distance} of {size}");
                }
            }
        }
    }

    #[test]
    fn senders_and_receivers_agree() {
        for size in [2, 3, 10, 16, u32::MAX] {
            for distance in [1, size / 2, size - 1] {
                for me in [0, size / 2, size - 1] {
                    let Shift { to, from, .. } = Shift::new(Rank(me), distance, size);
                    assert_eq!(Shift::new(to, distance, size).from, Rank(me));
                    assert_eq!(Shift::new(from, distance, size).to, Rank(me));
                }
            }
        }
    }
}

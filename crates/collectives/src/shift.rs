//! A step in which every rank sends to the rank a fixed distance further on, round the ring of all ranks.

use quantities::Rank;

use crate::Group;

/// The part of one rank in such a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shift {
    /// The rank that it sends to: p + distance mod P.
    pub(crate) to: Rank,
    /// The rank that it receives from: p - distance mod P.
    pub(crate) from: Rank,
}

impl Shift {
    /// The part of rank `me` of `size` in a shift by `distance`, which is from 1 to `size` - 1.
    pub(crate) fn new(Rank(me): Rank, distance: u32, size: u32) -> Shift {
        let room = size - distance;
        Shift {
            to: Rank(if me < room { me + distance } else { me - room }),
            from: Rank(if me >= distance { me - distance } else { me + room }),
        }
    }

    /// The same, where the ranks are the places of a group.
    pub(crate) fn of_places(me: u32, distance: u32, group: &Group) -> Shift {
        let Shift { to: Rank(to), from: Rank(from) } = Shift::new(Rank(me), distance, group.len());
        Shift { to: group.rank_at(to), from: group.rank_at(from) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn senders_and_receivers_agree() {
        for size in [2, 3, 10, 16, u32::MAX] {
            for distance in [1, size / 2, size - 1] {
                for me in [0, size / 2, size - 1] {
                    let Shift { to, from } = Shift::new(Rank(me), distance, size);
                    assert_eq!(Shift::new(to, distance, size).from, Rank(me));
                    assert_eq!(Shift::new(from, distance, size).to, Rank(me));
                }
            }
        }
    }
}

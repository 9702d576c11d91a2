//! Which communicator of one rank is which of another.

use std::collections::BTreeMap;

use quantities::Rank;

use crate::Group;

/// The communicators of all ranks. Each rank numbers its own as it likes, and numbers may be used again.
///
/// To make a communicator is a collective of those that are its members, so that all of them make those of one group in one order: the k-th of a
/// group at one rank is the k-th of that group at any other.
#[derive(Debug)]
pub(super) struct Communicators {
    groups: Vec<Group>,
    /// By their members, in order, and how many with the same were made before.
    known: BTreeMap<(Box<[u32]>, u32), u32>,
    /// By how many ranks each was made, and by which first.
    made: Vec<(u32, u32)>,
}

/// The communicators of one rank.
#[derive(Debug, Default)]
pub(super) struct OwnCommunicators {
    /// What its numbers stand for.
    numbers: BTreeMap<u32, u32>,
    /// How many of a group it has made.
    made: BTreeMap<Box<[u32]>, u32>,
}

impl Communicators {
    pub(super) fn new() -> Communicators {
        Communicators { groups: Vec::new(), known: BTreeMap::new(), made: Vec::new() }
    }

    /// Notes that `rank` of `size` makes a communicator of `members` and numbers it so.
    pub(super) fn make(
        &mut self,
        own: &mut OwnCommunicators,
        rank: u32,
        size: u32,
        number: u32,
        members: &[u32],
    ) -> Result<(), String> {
        if let Some(stranger) = members.iter().find(|&&member| member >= size) {
            return Err(format!("found rank {stranger} in the group; allowed are 0 to {}", size - 1));
        }
        if !members.contains(&rank) {
            return Err(format!("found a group without rank {rank}; allowed is one that it belongs to"));
        }
        let before = own.made.entry(members.into()).or_insert(0);
        let key = (Box::from(members), *before);
        *before += 1;
        let place = match self.known.get(&key) {
            Some(&place) => place,
            None => {
                let ranks = members.iter().copied().map(Rank).collect();
                let group = if members.iter().copied().eq(0..size) {
                    Group::from_source(Rank(0), size)
                } else {
                    Group::listed(ranks)
                };
                self.groups.push(group.map_err(|error| error.to_string())?);
                self.made.push((0, rank));
                let place = self.groups.len() as u32 - 1;
                self.known.insert(key, place);
                place
            }
        };
        self.made[place as usize].0 += 1;
        own.numbers.insert(number, place);
        Ok(())
    }

    /// Which communicator a rank knows by that number.
    pub(super) fn of(&self, own: &OwnCommunicators, number: u32) -> Result<(u32, &Group), String> {
        let known = own.numbers.get(&number);
        let place = *known.ok_or_else(|| format!("found communicator {number}, which the rank has not made"))?;
        Ok((place, &self.groups[place as usize]))
    }

    /// How many ranks a communicator has, by the number that all ranks know it by.
    pub(super) fn size_of(&self, place: u32) -> u32 {
        self.groups[place as usize].len()
    }

    /// Says whether all members of each have made it; where they have not, the first that has, and what is wrong.
    pub(super) fn check_all_made(&self) -> Result<(), (u32, String)> {
        for (&(ranks, first), group) in self.made.iter().zip(&self.groups) {
            if ranks < group.len() {
                let size = group.len();
                let told = format!(
                    "found a communicator of {size} ranks that {ranks} of them make; allowed is one that all make"
                );
                return Err((first, told));
            }
        }
        Ok(())
    }

    pub(super) fn into_groups(self) -> Vec<Group> {
        self.groups
    }
}

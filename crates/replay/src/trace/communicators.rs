//! Identifies the communicators of different ranks with each other.

use std::collections::BTreeMap;

use quantities::Rank;

use collectives::Group;

/// The communicators of all ranks. Each rank numbers its own as it likes, and may reuse numbers.
///
/// Creating a communicator is a collective of its members, so all of them create those of one group in the same order:
/// the k-th of a group at one rank is the k-th of that group at any other.
#[derive(Debug)]
pub(super) struct Communicators {
    groups: Vec<Group>,
    /// By their members, in order, and the number of earlier ones with the same members.
    known: BTreeMap<(Box<[u32]>, u32), u32>,
    /// How many ranks have created each, and which rank was the first.
    made: Vec<(u32, u32)>,
}

/// The communicators of one rank.
#[derive(Debug, Default)]
pub(super) struct OwnCommunicators {
    /// The communicators that its numbers denote.
    numbers: BTreeMap<u32, u32>,
    /// How many communicators of each group it has created.
    made: BTreeMap<Box<[u32]>, u32>,
}

impl Communicators {
    pub(super) fn new() -> Communicators {
        Communicators { groups: Vec::new(), known: BTreeMap::new(), made: Vec::new() }
    }

    /// Notes that `rank` of `size` creates a communicator of `members` and gives it `number`.
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

    /// The communicator that a rank knows by `number`.
    pub(super) fn of(&self, own: &OwnCommunicators, number: u32) -> Result<(u32, &Group), String> {
        let known = own.numbers.get(&number);
        let place = *known.ok_or_else(|| format!("found communicator {number}, which the rank has not made"))?;
        Ok((place, &self.groups[place as usize]))
    }

    /// The number of ranks of a communicator, by its number among those of all ranks.
    pub(super) fn size_of(&self, place: u32) -> u32 {
        self.groups[place as usize].len()
    }

    /// Checks that all members of each communicator have created it; if not, returns the first rank that has, and what
    /// is wrong.
    pub(super) fn check_all_made(&self) -> Result<(), (u32, String)> {
        for (&(ranks, first), group) in self.made.iter().zip(&self.groups) {
            if ranks < group.len() {
                let size = group.len();
                let problem = format!(
                    "found a communicator of {size} ranks that {ranks} of them make; allowed is one that all make"
                );
                return Err((first, problem));
            }
        }
        Ok(())
    }

    pub(super) fn into_groups(self) -> Vec<Group> {
        self.groups
    }
}

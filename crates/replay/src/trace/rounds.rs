//! Checks that the ranks of a communicator agree on its collectives.

use trace_format::{Collective, CollectiveKind};

/// The parameters on which all ranks of a collective must agree.
type Agreed = (CollectiveKind, u32, u64);

/// The collectives of each communicator, as the first rank checked calls them.
#[derive(Debug, Default)]
pub(super) struct Rounds {
    first: Vec<Option<(u32, Vec<Agreed>)>>,
    /// How many ranks have called all of them.
    complete: Vec<u32>,
}

/// How many collectives of each communicator one rank has called.
#[derive(Debug, Default)]
pub(super) struct OwnRounds(Vec<usize>);

impl Rounds {
    /// Notes a collective of a rank; `communicator` is its number among those of all ranks.
    pub(super) fn call(
        &mut self,
        own: &mut OwnRounds,
        rank: u32,
        communicator: u32,
        collective: &Collective,
    ) -> Result<(), String> {
        let place = communicator as usize;
        let size = self.first.len().max(place + 1);
        self.first.resize(size, None);
        own.0.resize(own.0.len().max(size), 0);
        let bytes = if collective.kind.is_of_one_size() { collective.bytes } else { 0 };
        let agreed = (collective.kind, if collective.kind.has_root() { collective.root } else { 0 }, bytes);
        let (first, rounds) = self.first[place].get_or_insert_with(|| (rank, Vec::new()));
        let turn = own.0[place];
        own.0[place] += 1;
        if *first == rank {
            rounds.push(agreed);
            return Ok(());
        }
        let in_words = |(kind, root, bytes): Agreed| {
            let root = if kind.has_root() { format!(" of root {root}") } else { String::new() };
            format!("{}{root} with {bytes} B", kind.name())
        };
        match rounds.get(turn) {
            Some(&expected) if expected == agreed => Ok(()),
            Some(&expected) => Err(format!(
                "found {} as collective {} of its communicator; allowed is {}, as at rank {first}",
                in_words(agreed),
                turn + 1,
                in_words(expected)
            )),
            None => Err(format!(
                "found collective {} of its communicator; allowed are {turn}, as rank {first} calls no more",
                turn + 1
            )),
        }
    }

    /// Checks that a rank which has reached its end has called as many as the first.
    pub(super) fn check_end(&mut self, own: &OwnRounds) -> Result<(), String> {
        self.complete.resize(self.first.len(), 0);
        for ((first, &called), complete) in self.first.iter().zip(&own.0).zip(&mut self.complete) {
            let Some((first, rounds)) = first.as_ref().filter(|_| called > 0) else { continue };
            if rounds.len() > called {
                let wanted = rounds.len();
                return Err(format!(
                    "found {called} collectives of a communicator; allowed are {wanted}, as at rank {first}"
                ));
            }
            *complete += 1;
        }
        Ok(())
    }

    /// Checks that every member of a communicator whose collectives were called has called some; if not, returns the
    /// first rank that has, and what is wrong.
    pub(super) fn check_all_called(&self, size_of: impl Fn(u32) -> u32) -> Result<(), (u32, String)> {
        for (place, (first, &complete)) in (0..).zip(self.first.iter().zip(&self.complete)) {
            if let Some((first, _)) = first
                && complete < size_of(place)
            {
                let size = size_of(place);
                let problem = format!(
                    "found collectives that {complete} ranks of a communicator call; allowed are those that all {size} call"
                );
                return Err((*first, problem));
            }
        }
        Ok(())
    }
}

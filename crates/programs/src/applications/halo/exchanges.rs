//! Updates copies, by any schedule, and sums over all ranks.

use endpoint::{Endpoint, Error, Result};
use quantities::{Duration, Rank};

use super::Domain;
use crate::applications::values::{Value, packed, unpacked};
use collectives::Group;
use collectives::all_reduce::{AllReduceContext, Number, Operation, Operator, Sends, recursive_doubling};
use collectives::schedule::{Pacing, RankSchedule, Schedule, SendReceiveOrder, follow};

/// The order in which the ranks of an application send each other their halos.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exchanges {
    schedules: Vec<RankSchedule>,
    pacing: Pacing,
}

impl Exchanges {
    /// By `schedule`, under `pacing`; `order` says what a rank does first if it both sends and receives in a step.
    pub fn new(schedule: &Schedule, order: SendReceiveOrder, pacing: Pacing) -> Exchanges {
        Exchanges { schedules: schedule.by_rank(order), pacing }
    }

    /// Checks that the schedule has the messages that the domains need, and no others.
    ///
    /// # Errors
    /// [`Error::Unfit`] with the first rank that it does not fit.
    pub(in crate::applications) fn check(&self, domains: &[Domain]) -> Result<()> {
        if self.schedules.len() != domains.len() {
            let (found, due) = (self.schedules.len(), domains.len());
            return Err(Error::Unfit(format!("a schedule for {found} ranks, and {due} parts")));
        }
        for (rank, (schedule, domain)) in self.schedules.iter().zip(domains).enumerate() {
            let scheduled = schedule.bytes_by_receiver();
            if !scheduled.keys().eq(domain.partners()) {
                let problem = format!("the schedule does not send the halo of rank {rank} to those that need it");
                return Err(Error::Unfit(problem));
            }
        }
        Ok(())
    }

    /// The communication of the rank of `endpoint`, which has one of `domains`.
    ///
    /// # Errors
    /// [`Error::Unfit`] when the program has a different number of ranks.
    pub(in crate::applications) fn of<'a, E: Endpoint>(
        &'a self,
        endpoint: &'a E,
        domains: &'a [Domain],
    ) -> Result<Communication<'a, E>> {
        let Rank(rank) = endpoint.rank();
        match (self.schedules.get(rank as usize), domains.get(rank as usize)) {
            (Some(schedule), Some(domain)) if self.schedules.len() == endpoint.size() as usize => {
                Ok(Communication { endpoint, domain, schedule, pacing: self.pacing, spent: Duration::ZERO })
            }
            _ => {
                let (parts, size) = (self.schedules.len(), endpoint.size());
                Err(Error::Unfit(format!("an application in {parts} parts runs on {parts} ranks, not on {size}")))
            }
        }
    }
}

/// The communication of a rank of an application, and how long it takes.
#[derive(Debug)]
pub(in crate::applications) struct Communication<'a, E> {
    endpoint: &'a E,
    domain: &'a Domain,
    schedule: &'a RankSchedule,
    pacing: Pacing,
    spent: Duration,
}

impl<E: Endpoint> Communication<'_, E> {
    /// Sends own values to the ranks that keep copies of them, and replaces its copies by the values received.
    ///
    /// # Errors
    /// Those of sending and receiving, and a message that is not the expected one.
    pub(in crate::applications) async fn exchange<T: Value>(&mut self, values: &mut [T]) -> Result<()> {
        let (begun, domain) = (self.endpoint.now(), self.domain);
        let (own, copies) = values.split_at_mut(domain.own().len());
        let mut failed = None;
        let take = |from, message| {
            if let Err(error) = domain.take(from, &message, copies) {
                failed.get_or_insert(error);
            }
        };
        follow(self.endpoint, self.schedule, self.pacing, |to| domain.message(to, own), take).await?;
        self.spent += self.endpoint.now().since(begun);
        failed.map_or(Ok(()), Err)
    }

    /// The sum of all ranks' values, the same to the last bit on each.
    ///
    /// # Errors
    /// Those of sending and receiving.
    pub(in crate::applications) async fn sum(&mut self, own: f64) -> Result<f64> {
        let begun = self.endpoint.now();
        let sum = sum(self.endpoint, own).await?;
        self.spent += self.endpoint.now().since(begun);
        Ok(sum)
    }

    /// How long all communication has taken. [ps]
    pub(in crate::applications) fn spent(&self) -> Duration {
        self.spent
    }
}

/// The sum of all ranks' values, the same to the last bit on every rank, by [`recursive_doubling`].
async fn sum<E: Endpoint>(endpoint: &E, own: f64) -> Result<f64> {
    let group = Group::from_source(Rank(0), endpoint.size())?;
    let operator = Operator::Of(Operation::Sum, Number::F64);
    let mut message = packed([own]);
    let context = AllReduceContext { group: &group, operator: &operator, sends: Sends::default() };
    recursive_doubling(endpoint, &context, &mut message).await?;
    match unpacked(&message).as_deref() {
        Some(&[sum]) => Ok(sum),
        _ => Err(Error::Unfit(format!("a sum of {}, not of 8 B", message.size()))),
    }
}

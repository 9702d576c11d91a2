//! Estimates of all candidates, which depend on nothing that was run on the machine but the small runs of the model.

use collectives::schedule::Transfer;
use endpoint::{Error, Result};
use machines::model::FlitNetwork;
use quantities::{Bytes, Duration, Rank, Time};
use virtual_worlds::flit::world::Options;

use super::bound;
use super::candidates::Candidate;
use super::choice::Effort;
use super::model::{Model, arrives_before_receive};
use super::question::Question;
use super::reduced::Copy;
use super::work::Work;
use crate::benchmark::Site;
use experiment::parallel::{Watch, map};

/// The most work of a run without contention; beyond it, a part of the steps is run, or a formula is used.
const MOST_RUN: f64 = 5e4;
/// A candidate with more messages than this is estimated without the channels that its messages share.
const MOST_ROUTED: f64 = 2e6;
/// The same if its messages are known only from a run.
const MOST_RECORDED: f64 = 1e5;

/// A candidate with its estimate.
pub(super) type EstimatedCandidate = (Candidate, Duration);

/// The basis of estimates.
pub(super) struct Estimates<'a> {
    pub(super) question: &'a Question,
    pub(super) site: &'a Site<'a>,
    pub(super) model: &'a Model,
    pub(super) effort: &'a Effort<'a>,
    /// The lower bound on every candidate.
    pub(super) bound: Duration,
}

impl Estimates<'_> {
    /// All candidates with their estimates, most promising first. An estimate is
    ///
    /// ```text
    ///   the greatest of   the time without contention, by a run or a formula
    ///                     how long the busiest channel is busy with all its messages, those forwarded included
    ///                     the lower bound
    /// ```
    ///
    /// # Errors
    /// [`Error::Stopped`] if it is interrupted: some estimates without the others would say nothing.
    pub(super) fn in_order(
        &self,
        all: Vec<Candidate>,
        left_out: &mut Vec<(String, String)>,
    ) -> Result<Vec<EstimatedCandidate>> {
        let Effort { progress, interrupted, threads, .. } = *self.effort;
        let count = all.len();
        let progress = |done: usize, _| progress(done as f64 / count as f64, "estimating algorithms");
        let direct = self.busiest_of_direct();
        let watch = Watch { progress: &progress, interrupted, threads };
        let estimates = map(&all, &watch, |candidate| self.estimate(candidate, direct));
        let mut estimated = Vec::new();
        for (candidate, estimate) in all.into_iter().zip(estimates) {
            match estimate.ok_or(Error::Stopped)? {
                Ok(time) => estimated.push((candidate, time.max(self.bound))),
                Err(error) => left_out.push((candidate.name, error.to_string())),
            }
        }
        estimated.sort_by_key(|(_, time)| *time);
        Ok(estimated)
    }

    /// The estimate of a candidate; `direct` is how long the busiest channel is busy if each message goes straight to
    /// its receiver.
    fn estimate(&self, candidate: &Candidate, direct: Duration) -> Result<Duration> {
        let Estimates { question, site, model, .. } = self;
        let (machine, messages) = (site.machine, candidate.cost().messages);
        if let Some(time) = bound::by_hardware(machine, question.bytes())
            && candidate.is_hardware()
        {
            return Ok(time);
        }
        let simple = model.machine(machine, candidate.longest_message());
        let recorded = messages <= MOST_RECORDED && candidate.forwards();
        let alone = Site::all(&simple, site.ranks);
        let (time, recorded) = if candidate.runs_many_to_one() && arrives_before_receive(machine) {
            // Many ranks with messages ready for one receiver keep it busy, and the busiest rank determines the time.
            (bound::without_forwarding(question, machine).time + model.receive_time(Bytes(0)), None)
        } else if candidate.rings().is_some() {
            // They go along links of their own choice, so only these say how long their bytes take.
            let recorded = if recorded { self.without_contention(candidate, &alone, true)?.1 } else { None };
            (candidate.by_formula_of_empty_messages(model), recorded)
        } else if Work::on(&alone).of(candidate) <= MOST_RUN {
            self.without_contention(candidate, &alone, recorded)?
        } else if let Some(copy) = Copy::of(candidate, question, &alone, MOST_RUN) {
            (copy.time(candidate, &alone)?, None)
        } else {
            (candidate.by_formula(model), None)
        };
        let shared = match recorded {
            Some(messages) => busiest_channel(site, messages.into_iter()),
            None if candidate.forwards() => Duration::ZERO,
            None => direct,
        };
        Ok(time.max(shared))
    }

    /// How long a candidate takes on `alone`, a machine without contention, and its messages, if they are to be
    /// `recorded`.
    fn without_contention(
        &self,
        candidate: &Candidate,
        alone: &Site<'_>,
        recorded: bool,
    ) -> Result<(Duration, Option<Vec<Transfer>>)> {
        let options = Options { timeline: recorded, ..Options::default() };
        let answer = candidate.benchmark().answer(alone, options)?;
        let time = answer.makespan().since(Time::ZERO);
        let transfer = |message: &virtual_worlds::answer::MessageRecord| Transfer {
            from: message.from,
            to: message.to,
            bytes: message.size,
        };
        Ok((time, answer.timeline.map(|timeline| timeline.messages.iter().map(transfer).collect())))
    }

    /// How long the busiest channel is busy if each message of an exchange goes straight to its receiver; zero for
    /// other questions.
    fn busiest_of_direct(&self) -> Duration {
        match self.question {
            &Question::Listed { collective, ranks, bytes }
                if collective.shape().is_exchange() && f64::from(ranks).powi(2) <= MOST_ROUTED =>
            {
                let pairs = (0..ranks).flat_map(|from| (0..ranks).map(move |to| (Rank(from), Rank(to))));
                busiest_channel(self.site, pairs.map(|(from, to)| Transfer { from, to, bytes }))
            }
            Question::Irregular(pattern) if pattern.messages().len() as f64 <= MOST_ROUTED => {
                busiest_channel(self.site, pattern.messages().iter().copied())
            }
            Question::Listed { .. } | Question::Irregular(_) => Duration::ZERO,
        }
    }
}

/// How long the busiest channel is busy with `messages`, each on the way that [`FlitNetwork::route`] gives; zero where
/// ranks share no channels. Nothing that sends these messages on these ways takes less time.
fn busiest_channel(site: &Site<'_>, messages: impl Iterator<Item = Transfer>) -> Duration {
    let Some(network) = site.machine.network() else { return Duration::ZERO };
    let mut loads = vec![0_u64; network.channels.len()];
    for Transfer { from, to, bytes } in messages.filter(|message| message.from != message.to) {
        let flits = flits(network, bytes);
        for channel in network.route(site.node_of(from), site.node_of(to)) {
            loads[channel.0 as usize] += flits;
        }
    }
    let times = loads.iter().zip(&network.channels).map(|(&flits, channel)| channel.flit_time * flits);
    times.max().unwrap_or(Duration::ZERO)
}

/// The flits of a message, with those of the headers of its packets.
fn flits(network: &FlitNetwork, Bytes(bytes): Bytes) -> u64 {
    let packet = &network.packet;
    let headers = bytes.div_ceil(packet.payload.0).max(1) * packet.header.0.div_ceil(packet.flit.0);
    headers + bytes.div_ceil(packet.flit.0)
}

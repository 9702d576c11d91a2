//! Complete and irregular exchange by any algorithm.

use collectives::all_to_all::{ALL_AT_ONCE, Complete, CompleteExchange, Irregular, all_at_once};
use collectives::schedule::{Pacing, Pattern, Schedule, SendReceiveOrder};
use formats::input::InputFile;
use formats::traffic_matrix;
use quantities::{Bytes, Duration};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::schedule::{Own, check_order, measured};
use super::{Entry, Size};
use crate::prepared::Notes;
use crate::site::LARGEST_MESSAGE;
use crate::{Error, FilePath, Finding, Prepared, Ready, Site};

/// Every node sends a message to every other (complete exchange, all-to-all personalised), or to those given by a
/// matrix.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct AllToAll {
    /// Send the messages of a matrix: row r, column c of FILE.csv, FILE.mtx or FILE.npy is what rank r sends rank c, in
    /// bytes. If left out, all send the same.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-value" = "FILE"))]
    traffic: Option<FilePath>,
    /// The algorithm; if left out, pairwise, or with a matrix the one with the best schedule, by its messages and bytes
    /// in sequence.
    #[serde(skip_serializing_if = "Option::is_none")]
    algorithm: Option<Exchange>,
    /// Size of the message from one node to another, or of each entry of a matrix without values; 1 KiB, if left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    bytes: Option<Size>,
    /// How the nodes are kept in step.
    #[schemars(extend("x-value" = "PACING"))]
    pacing: Pacing,
    /// What a node that both sends and receives in a step does first; if left out, alternating where a send waits until
    /// the receiver asks for the message and the CM-5 paper has the algorithm, else sendrecv.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-value" = "ORDER"))]
    order: Option<SendReceiveOrder>,
    /// How long a node takes to copy a byte into a message that it forwards, or out of one; no time, if left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    reshuffle: Option<Duration>,
}

/// The size of a message, if none is asked for.
const DEFAULT_SIZE: Bytes = Bytes(1024);

/// An algorithm of an exchange: those for exchanges of any messages, none at all, and those that are for complete
/// exchange only, under one name each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exchange {
    /// For any messages.
    Irregular(Irregular),
    /// For any messages, without a schedule.
    AllAtOnce,
    /// For complete exchange only: one that forwards messages.
    Forwarding(Complete),
}

impl Exchange {
    /// All of them.
    pub fn all() -> Vec<Exchange> {
        let forwarding = Complete::all().into_iter().filter(|algorithm| algorithm.forwards());
        let any = Irregular::all().into_iter().map(Exchange::Irregular);
        any.chain([Exchange::AllAtOnce]).chain(forwarding.map(Exchange::Forwarding)).collect()
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Exchange::Irregular(algorithm) => algorithm.name(),
            Exchange::AllAtOnce => ALL_AT_ONCE,
            Exchange::Forwarding(algorithm) => algorithm.name(),
        }
    }

    /// What it does, in a line.
    pub fn about(self) -> &'static str {
        match self {
            Exchange::Irregular(algorithm) => algorithm.about(),
            Exchange::AllAtOnce => "No schedule: every rank begins all its sends and receives together",
            Exchange::Forwarding(algorithm) => algorithm.about(),
        }
    }

    /// How long it takes where nothing contends.
    pub fn formula(self) -> &'static str {
        match self {
            Exchange::Irregular(algorithm) => algorithm.formula(),
            Exchange::AllAtOnce => "o + (D - 1) g + (W - D) G + L + o at least",
            Exchange::Forwarding(algorithm) => algorithm.formula(),
        }
    }

    /// The schedule that it makes for `pattern`; none for one that forwards messages.
    pub fn schedule(self, pattern: &Pattern) -> Option<Schedule> {
        match self {
            Exchange::Irregular(algorithm) => Some(algorithm.schedule(pattern)),
            Exchange::AllAtOnce => Some(all_at_once(pattern)),
            Exchange::Forwarding(_) => None,
        }
    }

    /// What a rank does first if it both sends and receives in a step: `order` if the algorithm is from the CM-5 paper,
    /// otherwise both at once.
    pub const fn order(self, order: SendReceiveOrder) -> SendReceiveOrder {
        match self {
            Exchange::Irregular(algorithm) => algorithm.order(order),
            Exchange::AllAtOnce | Exchange::Forwarding(_) => SendReceiveOrder::Sendrecv,
        }
    }

    /// The program for a complete exchange that has this name, where there is one.
    pub fn complete(self) -> Option<Complete> {
        Complete::all().into_iter().find(|algorithm| algorithm.name() == self.name())
    }
}

quantities::written_by_name!(Exchange);

impl Entry for AllToAll {
    const NAME: &'static str = "all-to-all";
    const EXAMPLES: &'static str = "Examples:\n  maquette run all-to-all --machine parsytec-cc-16 --algorithm balanced --bytes 4KiB\n  \
         maquette run all-to-all --machine cm5-32 --traffic halo.csv --algorithm greedy\n  \
         maquette run all-to-all --machine loggp --nodes 4096 --bytes 8";

    fn is_in_postal_model() -> bool {
        true
    }

    fn prepare(&self, site: &mut Site) -> Result<Box<dyn Ready>, Error> {
        let bytes = self.bytes.map_or(DEFAULT_SIZE, |Size(bytes)| bytes);
        let Some(path) = &self.traffic else {
            let algorithm = self.algorithm.unwrap_or(Exchange::Irregular(Irregular::Pairwise));
            self.check(algorithm)?;
            return self.complete(algorithm, site, bytes);
        };
        self.algorithm.map_or(Ok(()), |algorithm| self.check(algorithm))?;
        let (matrix, file) = traffic_matrix::read(path, bytes)?;
        if let Some(Size(bytes)) = self.bytes.filter(|_| matrix.has_sizes) {
            let allowed = "none, as the matrix says how many bytes each message has";
            return Err(Error::parameter("bytes", bytes, allowed));
        }
        let mut parameters = json!({"traffic": path.display().to_string()});
        if !matrix.has_sizes {
            parameters["bytes"] = json!(bytes.0);
        }
        site.exactly(matrix.pattern.ranks(), "as many as the matrix has rows")?;
        let Some(algorithm) = self.algorithm else {
            let (best, schedule) = Irregular::best(&matrix.pattern);
            let algorithm = Exchange::Irregular(best);
            self.check(algorithm)?;
            parameters["chosen"] = json!(BY_MEASURES);
            return self.scheduled((algorithm, schedule), site, &matrix.pattern, parameters, vec![file]);
        };
        let Some(schedule) = algorithm.schedule(&matrix.pattern) else { return Err(forwards(algorithm)) };
        self.scheduled((algorithm, schedule), site, &matrix.pattern, parameters, vec![file])
    }
}

/// Why an algorithm was taken that nobody named.
const BY_MEASURES: &str = "for its steps and bytes";

/// The error that an algorithm for complete exchanges only was asked for.
fn forwards(algorithm: Exchange) -> Error {
    let allowed = "an algorithm for any messages, or an all-to-all without a matrix";
    Error::parameter("algorithm", algorithm.name(), allowed)
}

impl AllToAll {
    /// The algorithm for a complete exchange, what keeps the ranks in step, what one does first, and how long it copies
    /// a byte.
    ///
    /// # Errors
    /// What does not fit together; a matrix, which says by itself who sends.
    pub(super) fn resolved(
        &self,
        site: &Site,
    ) -> Result<(Exchange, Pacing, Option<SendReceiveOrder>, Duration), Error> {
        if let Some(path) = &self.traffic {
            return Err(Error::parameter("traffic", path.display(), "none, as each rank says what it sends"));
        }
        let algorithm = self.algorithm.unwrap_or(Exchange::Irregular(Irregular::Pairwise));
        self.check(algorithm)?;
        if let Some(complete) = algorithm.complete().filter(|_| self.pacing == Pacing::FreeRunning) {
            self.check_order(complete, site.ranks()?)?;
        }
        Ok((algorithm, self.pacing, self.order, self.reshuffle.unwrap_or_default()))
    }

    /// That what it was told fits together.
    fn check(&self, algorithm: Exchange) -> Result<(), Error> {
        let name = algorithm.name();
        check_order(self.order, self.pacing)?;
        match algorithm {
            Exchange::Forwarding(_) if self.pacing != Pacing::FreeRunning => {
                let allowed = format!("free-running, as {name} forwards messages");
                Err(Error::parameter("pacing", self.pacing.name(), allowed))
            }
            Exchange::AllAtOnce if self.pacing != Pacing::FreeRunning => {
                let allowed = format!("free-running, as {name} has no steps");
                Err(Error::parameter("pacing", self.pacing.name(), allowed))
            }
            Exchange::Irregular(_) | Exchange::AllAtOnce if self.reshuffle.is_some() => {
                Err(Error::parameter("reshuffle", "a time", format!("none, as {name} does not forward messages")))
            }
            Exchange::Irregular(Irregular::Linear) => self.order.map_or(Ok(()), |order| {
                let allowed = "none, as in a step of linear no rank both sends and receives";
                Err(Error::parameter("order", order.name(), allowed))
            }),
            Exchange::AllAtOnce => self.order.map_or(Ok(()), |order| {
                Err(Error::parameter("order", order.name(), format!("none, as {name} begins everything together")))
            }),
            _ => Ok(()),
        }
    }

    /// That the nodes can take turns, if they were asked to.
    fn check_order(&self, algorithm: Complete, ranks: u32) -> Result<(), Error> {
        match self.order.map(|asked| (asked, algorithm.order(ranks, asked))) {
            Some((asked, order)) if asked != order => {
                let name = algorithm.name();
                let allowed = format!("{}, as {name} among {ranks} nodes sends and receives at once", order.name());
                Err(Error::parameter("order", asked.name(), allowed))
            }
            _ => Ok(()),
        }
    }

    /// What a node does first in a step, with messages of at most `largest`.
    fn order(&self, site: &Site, largest: Bytes) -> SendReceiveOrder {
        self.order.unwrap_or_else(|| site.order(largest))
    }

    /// A message of `bytes` between any two.
    fn complete(&self, algorithm: Exchange, site: &Site, bytes: Bytes) -> Result<Box<dyn Ready>, Error> {
        match algorithm.complete() {
            Some(algorithm) if self.pacing == Pacing::FreeRunning => self.program(algorithm, site, bytes),
            _ => {
                let pattern = Pattern::complete(site.ranks()?, bytes)?;
                let Some(schedule) = algorithm.schedule(&pattern) else { return Err(forwards(algorithm)) };
                self.scheduled((algorithm, schedule), site, &pattern, json!({"bytes": bytes.0}), Vec::new())
            }
        }
    }

    /// By a program that works out for itself who is next.
    fn program(&self, algorithm: Complete, site: &Site, bytes: Bytes) -> Result<Box<dyn Ready>, Error> {
        let ranks = site.ranks()?;
        algorithm.check(ranks)?;
        let largest = algorithm.largest_message(ranks, bytes);
        if largest > LARGEST_MESSAGE {
            let found = format!("{bytes}, forwarded in messages of {largest}");
            return Err(Error::parameter("bytes", found, format!("messages of at most {LARGEST_MESSAGE}")));
        }
        self.check_order(algorithm, ranks)?;
        let order = algorithm.order(ranks, self.order(site, largest));
        let others = u64::from(ranks - 1);
        let reshuffle = self.reshuffle.unwrap_or_default();
        let mut parameters = self.parameters(algorithm.name(), Some(order), json!({"bytes": bytes.0}));
        if algorithm.forwards() {
            parameters["reshuffle"] = json!(reshuffle.to_string());
        }
        let program = CompleteExchange { algorithm, bytes, order, reshuffle };
        let messages = (!algorithm.forwards()).then(|| others * u64::from(ranks));
        let mut prepared = Prepared::new(program, ranks, parameters).expecting(messages);
        // What is forwarded goes in as few messages as one likes.
        let least = if algorithm.forwards() { others.min(1) } else { others };
        prepared.notes.busiest = Some((least, Bytes(others.saturating_mul(bytes.0))));
        Ok(Box::new(prepared.with_findings(|received, _| {
            let most = received.iter().map(|bytes| bytes.0).max().unwrap_or(0);
            vec![Finding {
                name: "received",
                text: format!("{} by each node", Bytes(most)),
                key: "received_bytes",
                value: json!(received.iter().map(|bytes| bytes.0).collect::<Vec<u64>>()),
            }]
        })))
    }

    /// By the schedule that `algorithm` made of `pattern`, which came from what `parameters` say and from `files`.
    fn scheduled(
        &self,
        (algorithm, schedule): (Exchange, Schedule),
        site: &Site,
        pattern: &Pattern,
        parameters: Value,
        files: Vec<InputFile>,
    ) -> Result<Box<dyn Ready>, Error> {
        let largest = pattern.messages().iter().map(|message| message.bytes).max().unwrap_or(Bytes(0));
        site.check_largest("traffic", largest)?;
        let order = self.order.unwrap_or_else(|| algorithm.order(site.order(largest)));
        let busiest = (u64::from(pattern.most_messages_of_a_rank()), pattern.most_bytes_of_a_rank());
        let has_order = algorithm != Exchange::AllAtOnce;
        let parameters = self.parameters(algorithm.name(), has_order.then_some(order), parameters);
        let notes = Notes { parameters, busiest: Some(busiest), files, ..Notes::default() };
        let own = Own::of(pattern, site);
        Ok(measured(&schedule, self.pacing, order, own, notes))
    }

    /// The parameters with the algorithm, with the order if it matters, and with the pacing.
    fn parameters(&self, algorithm: &str, order: Option<SendReceiveOrder>, mut parameters: Value) -> Value {
        parameters["algorithm"] = json!(algorithm);
        if let Some(order) = order.filter(|_| self.pacing.is_in_step()) {
            parameters["order"] = json!(order.name());
        }
        parameters["pacing"] = json!(self.pacing.name());
        parameters
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_algorithms_have_one_name_and_every_complete_exchange_has_one() {
        let all = Exchange::all();
        let mut names: Vec<&str> = all.iter().map(|algorithm| algorithm.name()).collect();
        assert!(Complete::all().into_iter().all(|it| all.iter().any(|algorithm| algorithm.complete() == Some(it))));
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), all.len());
    }
}

//! The exchanges of the list, in which every rank has a block for every other, and irregular ones, as programs of the
//! catalogue.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;
use std::sync::LazyLock;

use collectives::all_reduce::Operator;
use collectives::all_to_all::{self, ALL_AT_ONCE, Complete, Irregular, all_at_once};
use collectives::catalogue::{Catalogue as _, MissingParameter, Parameters};
use collectives::schedule::{Pacing, Pattern, Schedule, SendReceiveOrder};
use collectives::{
    AnyAlgorithm, Collective, CollectiveEnd, CollectiveProgram, Data, Group, OverlappedProgram, Performs, Row, Sizes,
    Summary,
};
use formats::input::InputFile;
use formats::traffic_matrix;
use quantities::{Bytes, Duration, Rank};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Value, json};

use super::listed::sends;
use super::schedule::{Own, check_order, measured};
use super::{Entry, Member, RankList, Size};
use crate::prepared::Notes;
use crate::site::LARGEST_MESSAGE;
use crate::{Error, FilePath, Finding, Prepared, Ready, Site};

/// What an exchange can be told.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(super) struct ExchangeParameters {
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
    /// The ranks that take part, in the order in which they do, such as 5,1,3,7 or 0-7; all, if left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    group: Option<RankList>,
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
            Exchange::AllAtOnce => at_once().about,
            Exchange::Forwarding(algorithm) => algorithm.about(),
        }
    }

    /// How long it takes where nothing contends.
    pub fn formula(self) -> &'static str {
        match self {
            Exchange::Irregular(algorithm) => algorithm.formula(),
            Exchange::AllAtOnce => at_once().formula,
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

    /// The algorithm of this name that an exchange of the list has, where it has one, with what was given.
    fn listed(
        self,
        collective: Collective,
        given: &ExchangeParameters,
        ranks: u32,
    ) -> Result<Option<AnyAlgorithm>, Error> {
        let mut parameters = Parameters { order: given.order, reshuffle: given.reshuffle, ..Parameters::of(ranks) };
        let made = collective.algorithm(self.name(), &mut parameters).transpose();
        made.map_err(|missing: MissingParameter| Error::parameter(missing.parameter.name(), "nothing", missing))
    }
}

quantities::written_by_name!(Exchange);

/// What is said of the algorithm that begins everything at once.
fn at_once() -> &'static Summary {
    static AT_ONCE: LazyLock<Summary> =
        LazyLock::new(|| Summary::of(all_to_all::Algorithm::from(all_to_all::AllAtOnce).entry()));
    &AT_ONCE
}

/// An exchange of the list as a program of the catalogue.
pub struct ListedExchange<R>(ExchangeParameters, PhantomData<fn() -> R>);

impl<R> Clone for ListedExchange<R> {
    fn clone(&self) -> ListedExchange<R> {
        ListedExchange(self.0.clone(), PhantomData)
    }
}

impl<R> fmt::Debug for ListedExchange<R> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(out)
    }
}

impl<R> Default for ListedExchange<R> {
    fn default() -> ListedExchange<R> {
        ListedExchange(ExchangeParameters::default(), PhantomData)
    }
}

impl<R> Serialize for ListedExchange<R> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(to)
    }
}

impl<'de, R> Deserialize<'de> for ListedExchange<R> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<ListedExchange<R>, D::Error> {
        ExchangeParameters::deserialize(from).map(|given| ListedExchange(given, PhantomData))
    }
}

impl<R: Row> JsonSchema for ListedExchange<R> {
    fn schema_name() -> Cow<'static, str> {
        R::NAME.into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let mut schema = ExchangeParameters::json_schema(generator);
        schema.insert("description".to_owned(), R::ABOUT.into());
        schema
    }
}

impl<R: Row> Entry for ListedExchange<R> {
    const NAME: &'static str = R::NAME;
    const EXAMPLES: &'static str = R::EXAMPLES;

    fn is_in_postal_model() -> bool {
        true
    }

    fn prepare(&self, site: &mut Site<'_>) -> Result<Box<dyn Ready>, Error> {
        self.0.prepare(R::COLLECTIVE, site)
    }
}

/// An exchange in which each rank says itself what it sends.
#[derive(Debug)]
pub(super) struct AwaitedExchange {
    /// The algorithm by its name.
    pub(super) algorithm: Exchange,
    /// The algorithm of the list; none where a schedule is followed.
    pub(super) listed: Option<AnyAlgorithm>,
    /// What keeps ranks in step.
    pub(super) pacing: Pacing,
    /// What a rank does first in a step, if it was asked for.
    pub(super) order: Option<SendReceiveOrder>,
}

impl ExchangeParameters {
    fn prepare(&self, collective: Collective, site: &mut Site<'_>) -> Result<Box<dyn Ready>, Error> {
        let bytes = self.bytes.map_or(DEFAULT_SIZE, |Size(bytes)| bytes);
        let Some(path) = &self.traffic else {
            let algorithm = self.algorithm.unwrap_or(Exchange::Irregular(Irregular::Pairwise));
            self.check(algorithm)?;
            return self.complete((collective, algorithm), site, bytes);
        };
        self.check_no_group("none with a matrix, which says who sends")?;
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

    /// How a rank of `site` takes part that says itself what it sends.
    ///
    /// # Errors
    /// What does not fit together; a matrix, which says by itself who sends.
    pub(super) fn awaited(&self, collective: Collective, site: &Site<'_>) -> Result<AwaitedExchange, Error> {
        if let Some(path) = &self.traffic {
            return Err(Error::parameter("traffic", path.display(), "none, as each rank says what it sends"));
        }
        self.check_no_group("an endpoint of the group in place of all ranks'")?;
        let algorithm = self.algorithm.unwrap_or(Exchange::Irregular(Irregular::Pairwise));
        self.check(algorithm)?;
        let listed = match self.pacing {
            Pacing::FreeRunning => algorithm.listed(collective, self, site.ranks()?)?,
            Pacing::ReceiverConfirmed | Pacing::Barrier | Pacing::Overlapped => None,
        };
        listed.iter().try_for_each(|listed| self.check_order(listed, site.ranks().unwrap_or_default()))?;
        Ok(AwaitedExchange { algorithm, listed, pacing: self.pacing, order: self.order })
    }

    fn check_no_group(&self, allowed: &str) -> Result<(), Error> {
        self.group.as_ref().map_or(Ok(()), |group| Err(Error::parameter("group", group, allowed)))
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
    fn check_order(&self, algorithm: &AnyAlgorithm, ranks: u32) -> Result<(), Error> {
        match self.order.map(|asked| (asked, algorithm.order(ranks, asked))) {
            Some((asked, order)) if asked != order => {
                let name = algorithm.name();
                let allowed = format!("{}, as {name} among {ranks} nodes sends and receives at once", order.name());
                Err(Error::parameter("order", asked.name(), allowed))
            }
            _ => Ok(()),
        }
    }

    /// A message of `bytes` between any two.
    fn complete(
        &self,
        (collective, algorithm): (Collective, Exchange),
        site: &Site<'_>,
        bytes: Bytes,
    ) -> Result<Box<dyn Ready>, Error> {
        let ranks = site.ranks()?;
        let group = self.group.as_ref().map(RankList::group);
        if let (Some(list), Some(group)) = (&self.group, group) {
            let allowed = format!("ranks from 0 to {}", ranks - 1);
            group.check(ranks).map_err(|_| Error::parameter("group", list, allowed))?;
        }
        // What begins everything at once is a schedule of one step, unless some ranks stay out of it.
        let by_list = self.pacing == Pacing::FreeRunning && (algorithm != Exchange::AllAtOnce || group.is_some());
        let members = group.map_or(ranks, Group::len);
        let listed = if by_list { algorithm.listed(collective, self, members)? } else { None };
        if let Some(listed) = listed {
            return self.program(listed, site, bytes);
        }
        let allowed = format!("none with {}, {}, whose schedule is for all", algorithm.name(), self.pacing.name());
        self.check_no_group(&allowed)?;
        let pattern = Pattern::complete(ranks, bytes)?;
        let Some(schedule) = algorithm.schedule(&pattern) else { return Err(forwards(algorithm)) };
        self.scheduled((algorithm, schedule), site, &pattern, json!({"bytes": bytes.0}), Vec::new())
    }

    /// By an algorithm of the list, whose ranks work out for themselves who is next.
    fn program(&self, algorithm: AnyAlgorithm, site: &Site<'_>, bytes: Bytes) -> Result<Box<dyn Ready>, Error> {
        let ranks = site.ranks()?;
        let group = match &self.group {
            Some(list) => list.group().clone(),
            None => Group::from_source(Rank(0), ranks)?,
        };
        let members = group.len();
        algorithm.check(members)?;
        let largest = algorithm.largest_message(members, bytes);
        if largest > LARGEST_MESSAGE {
            let found = format!("{bytes}, forwarded in messages of {largest}");
            return Err(Error::parameter("bytes", found, format!("messages of at most {LARGEST_MESSAGE}")));
        }
        self.check_order(&algorithm, members)?;
        let overlaps = algorithm.needs().overlap();
        let order = (!overlaps).then(|| algorithm.order(members, site.order(largest)));
        let mut parameters = self.parameters(algorithm.name(), order, json!({"bytes": bytes.0}));
        if algorithm.needs_sizes() {
            parameters["reshuffle"] = json!(self.reshuffle.unwrap_or_default().to_string());
        }
        let (sends, sizes) = (sends(site, largest), Sizes::Same(bytes));
        let data = if site.is_real() { Data::Bytes } else { Data::Sizes };
        // Nothing is combined, and no rank is the root.
        let (root, operator) = (Rank(0), Operator::Xor);
        let program = CollectiveProgram { algorithm, group, root, operator, sends, sizes, data };
        Ok(if overlaps {
            self.ready(OverlappedProgram(program.clone()), &program, ranks, parameters)
        } else {
            self.ready(program.clone(), &program, ranks, parameters)
        })
    }

    fn ready<P>(&self, program: P, of: &CollectiveProgram, ranks: u32, mut parameters: Value) -> Box<dyn Ready>
    where
        P: Member<Output = CollectiveEnd> + Send + 'static,
    {
        let (members, Bytes(bytes)) = (of.group.len(), of.sizes.largest());
        let others = u64::from(members - 1);
        // What is forwarded goes in as few messages as one likes.
        let least = if of.algorithm.needs_sizes() { others.min(1) } else { others };
        if let Some(group) = &self.group {
            parameters["group"] = json!(group);
        }
        let mut prepared = Prepared::new(program, ranks, parameters).expecting(of.algorithm.messages(members));
        prepared.notes.busiest = Some((least, Bytes(others.saturating_mul(bytes))));
        prepared.notes.taking_part = self.group.as_ref().map(|_| members);
        let each = if self.group.is_some() { "node of the group" } else { "node" };
        Box::new(prepared.with_findings(move |ends, _| {
            let received: Vec<u64> = ends.iter().map(|end| end.received.0).collect();
            vec![Finding {
                name: "received",
                text: format!("{} by each {each}", Bytes(received.iter().copied().max().unwrap_or(0))),
                key: "received_bytes",
                value: json!(received),
            }]
        }))
    }

    /// By the schedule that `algorithm` made of `pattern`, which came from what `parameters` say and from `files`.
    fn scheduled(
        &self,
        (algorithm, schedule): (Exchange, Schedule),
        site: &Site<'_>,
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

/// Why an algorithm was taken that nobody named.
const BY_MEASURES: &str = "for its steps and bytes";

/// The error that an algorithm for complete exchanges only was asked for.
fn forwards(algorithm: Exchange) -> Error {
    let allowed = "an algorithm for any messages, or an all-to-all without a matrix";
    Error::parameter("algorithm", algorithm.name(), allowed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_algorithms_have_one_name_and_every_one_of_an_exchange_of_the_list_has_one() {
        let all = Exchange::all();
        let mut names: Vec<&str> = all.iter().map(|algorithm| algorithm.name()).collect();
        let exchanges = Collective::ALL.iter().filter(|collective| collective.shape().is_exchange());
        assert!(exchanges.flat_map(|collective| collective.algorithms()).all(|name| names.contains(&name)));
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), all.len());
    }
}

//! Collectives that a rank of somebody else's program waits for, by their names and with the parameters that they have as programs.

use std::cell::RefCell;
use std::rc::Rc;

use endpoint::{Endpoint, Error as ProgramError, Message, Result as ProgramResult, Tag, Tagged};
use programs::Group;
use programs::agreement::Agreement;
use programs::all_reduce::{self, AllReduceContext, Operator};
use programs::all_to_all::CompleteExchange;
use programs::barrier::dissemination;
use programs::broadcast;
use programs::catalogue::Catalogue as _;
use programs::schedule::{Pacing, Pattern, RankSchedule, SendReceiveOrder, follow};
use quantities::{Bytes, Duration, Rank};
use serde_json::{Map, Value};

use super::collective::sends;
use super::{Choice, Exchange};
use crate::{Error, Site};

/// A collective that can be waited for, made once for all ranks and all calls with the same parameters.
#[derive(Debug)]
pub struct Awaited {
    kind: Kind,
    /// The collective, with all that its ranks must agree on, in words.
    what: Rc<str>,
}

#[derive(Debug)]
enum Kind {
    Broadcast { algorithm: broadcast::Algorithm, group: Group },
    AllReduce { algorithm: all_reduce::Algorithm, group: Group, operator: Operator },
    AllToAll(ToAll),
    Barrier,
}

/// An exchange in which every rank has a message for every other.
#[derive(Debug)]
struct ToAll {
    algorithm: Exchange,
    pacing: Pacing,
    order: Option<SendReceiveOrder>,
    reshuffle: Duration,
    /// What was made of the algorithm, for each order in which ranks do things.
    schedules: RefCell<Vec<(SendReceiveOrder, Rc<[RankSchedule]>)>>,
}

impl Awaited {
    /// The collective called `name` among all ranks of `site`.
    ///
    /// # Errors
    /// What the program of that name says of its parameters; a program that is no collective.
    pub fn named(name: &str, parameters: Map<String, Value>, site: &Site) -> Result<Awaited, Error> {
        if name == "barrier" {
            return Ok(Awaited { kind: Kind::Barrier, what: name.into() });
        }
        let choice = Choice::named(name, parameters)?;
        let name = choice.name();
        let (kind, agreed) = match choice {
            Choice::Broadcast(it) => {
                let (algorithm, setup) = it.algorithm(site)?;
                (Kind::Broadcast { algorithm, group: setup.group }, setup.parameters)
            }
            Choice::AllReduce(it) => {
                let (algorithm, mut setup) = it.algorithm(site)?;
                let operator = it.operator();
                setup.parameters.insert("operator".to_owned(), operator.to_string().into());
                (Kind::AllReduce { algorithm, group: setup.group, operator }, setup.parameters)
            }
            Choice::AllToAll(it) => {
                let exchange = ToAll::new(it.resolved(site)?);
                let agreed = exchange.parameters();
                (Kind::AllToAll(exchange), agreed)
            }
            other => {
                return Err(Error::parameter("collective", other.name(), "broadcast, all-reduce, all-to-all, barrier"));
            }
        };
        Ok(Awaited { kind, what: in_words(name, &agreed).into() })
    }

    /// Notes that a rank calls it with these messages, before it does it, in a run whose ranks are compared.
    ///
    /// # Errors
    /// If another rank calls another collective in its place.
    pub fn agree(&self, agreement: &mut Agreement, rank: Rank, messages: &[Option<Message>]) -> ProgramResult<()> {
        let stated = messages.iter().flatten().map(Message::size).max();
        let size = if let Kind::Broadcast { .. } = self.kind { stated } else { self.size_of_all(messages) };
        agreement.note(rank, &self.what, size)
    }

    /// The size that every rank states, and on which all must agree.
    fn size_of_all(&self, messages: &[Option<Message>]) -> Option<Bytes> {
        let largest = messages.iter().flatten().map(Message::size).max().unwrap_or_default();
        let states = match &self.kind {
            Kind::Barrier | Kind::Broadcast { .. } => false,
            Kind::AllReduce { .. } => true,
            Kind::AllToAll(exchange) => exchange.forwards(),
        };
        states.then_some(largest)
    }

    /// Does it as a rank of `site`, which has one message, or one for each rank; gives what it ends with, likewise. A rank that could not be
    /// [compared](Awaited::agree) notices another collective by the tag of the first message of it: `compares_tags`.
    ///
    /// # Errors
    /// What sending and receiving can end with; messages that do not fit; another collective.
    pub async fn run<E: Endpoint>(
        &self,
        endpoint: &E,
        site: &Site,
        mut messages: Vec<Option<Message>>,
        compares_tags: bool,
    ) -> ProgramResult<Vec<Option<Message>>> {
        let endpoint = &match compares_tags {
            true => Tagged::of_collective(endpoint, &self.what, self.size_of_all(&messages)),
            false => Tagged::new(endpoint, Tag::OF_COLLECTIVES),
        };
        match &self.kind {
            Kind::Barrier => {
                dissemination(endpoint).await?;
                Ok(Vec::new())
            }
            Kind::Broadcast { algorithm, group } => {
                let own = messages.pop().flatten();
                let size = size_of(algorithm, own.as_ref(), endpoint.rank() == group.source())?;
                let mut message = own.filter(|_| endpoint.rank() == group.source()).unwrap_or_default();
                algorithm.broadcast(endpoint, group, size, &mut message).await?;
                Ok(vec![Some(message)])
            }
            Kind::AllReduce { algorithm, group, operator } => {
                let mut message = messages.pop().flatten().unwrap_or_default();
                let sends = sends(site, message.size());
                let context = AllReduceContext { group, operator, sends };
                algorithm.all_reduce(endpoint, &context, &mut message).await?;
                Ok(vec![Some(message)])
            }
            Kind::AllToAll(exchange) => exchange.run(endpoint, site, messages).await,
        }
    }
}

/// A collective and its parameters, without the size, which not every rank has to state.
fn in_words(name: &str, parameters: &Map<String, Value>) -> String {
    let in_words = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let parameters = parameters.iter().filter(|(name, _)| *name != "bytes");
    let parameters: Vec<String> = parameters.map(|(name, value)| format!("{name} {}", in_words(value))).collect();
    format!("{name} ({})", parameters.join(", "))
}

/// How large the message of a broadcast is. Algorithms that cut it have to know that at every rank.
fn size_of(algorithm: &broadcast::Algorithm, own: Option<&Message>, is_source: bool) -> ProgramResult<Bytes> {
    match own {
        Some(message) => Ok(message.size()),
        None if is_source => {
            Err(ProgramError::Unfit("the root of a broadcast has no data; it must send some".to_owned()))
        }
        None if algorithm.cuts() => {
            let name = algorithm.name();
            let problem =
                format!("size: found nothing; allowed is the size of the message at every rank, as {name} cuts it");
            Err(ProgramError::Unfit(problem))
        }
        None => Ok(Bytes(0)),
    }
}

impl ToAll {
    fn new((algorithm, pacing, order, reshuffle): (Exchange, Pacing, Option<SendReceiveOrder>, Duration)) -> ToAll {
        ToAll { algorithm, pacing, order, reshuffle, schedules: RefCell::default() }
    }

    /// What its ranks must agree on.
    fn parameters(&self) -> Map<String, Value> {
        let mut parameters = Map::new();
        parameters.insert("algorithm".to_owned(), self.algorithm.name().into());
        parameters.insert("pacing".to_owned(), self.pacing.name().into());
        if let Some(order) = self.order {
            parameters.insert("order".to_owned(), order.name().into());
        }
        parameters
    }

    /// Whether it forwards messages, so that they must all have the same size.
    fn forwards(&self) -> bool {
        matches!(self.algorithm, Exchange::Forwarding(_))
    }

    async fn run<E: Endpoint>(
        &self,
        endpoint: &E,
        site: &Site,
        messages: Vec<Option<Message>>,
    ) -> ProgramResult<Vec<Option<Message>>> {
        let ranks = endpoint.size();
        if messages.len() != ranks as usize {
            let problem =
                format!("data: found {} messages; allowed is one for each of the {ranks} ranks", messages.len());
            return Err(ProgramError::Unfit(problem));
        }
        let largest = messages.iter().flatten().map(Message::size).max().unwrap_or_default();
        let message_for = |to: Rank| messages[to.0 as usize].clone().unwrap_or_default();
        let mut received: Vec<Option<Message>> = vec![None; ranks as usize];
        let take = |from: Rank, message| received[from.0 as usize] = Some(message);
        match self.algorithm.complete() {
            Some(algorithm) if self.pacing == Pacing::FreeRunning => {
                algorithm.check(ranks)?;
                let longest = algorithm.largest_message(ranks, largest);
                let order = self.order.unwrap_or_else(|| site.order(longest));
                let exchange = CompleteExchange { algorithm, bytes: largest, order, reshuffle: self.reshuffle };
                exchange.exchange(endpoint, message_for, take).await?;
            }
            _ => {
                let schedules = self.schedules(ranks, site.order(largest))?;
                follow(endpoint, &schedules[endpoint.rank().0 as usize], self.pacing, message_for, take).await?;
            }
        }
        let own = endpoint.rank().0 as usize;
        received[own] = messages[own].clone();
        Ok(received)
    }

    /// What each rank does when, by an algorithm that makes a schedule of all messages. Nothing is cut, so sizes do not matter.
    /// `order` is what a rank does first by an algorithm of the CM-5 paper, if nothing else is asked for.
    fn schedules(&self, ranks: u32, order: SendReceiveOrder) -> ProgramResult<Rc<[RankSchedule]>> {
        let unfit = |text: String| ProgramError::Unfit(text);
        let order = self.order.unwrap_or_else(|| self.algorithm.order(order));
        if let Some((_, made)) = self.schedules.borrow().iter().find(|made| made.0 == order) {
            return Ok(Rc::clone(made));
        }
        let pattern = Pattern::complete(ranks, Bytes(1)).map_err(|error| unfit(error.to_string()))?;
        let Some(schedule) = self.algorithm.schedule(&pattern) else {
            return Err(unfit(format!("{} forwards messages, which nothing can keep in step", self.algorithm.name())));
        };
        let made: Rc<[RankSchedule]> = schedule.by_rank(order).into();
        self.schedules.borrow_mut().push((order, Rc::clone(&made)));
        Ok(made)
    }
}

//! Collectives that a rank of somebody else's program waits for, by their names and with the parameters that they have
//! as programs.

use std::cell::RefCell;
use std::rc::Rc;

use collectives::agreement::Agreement;
use collectives::all_reduce::Operator;
use collectives::schedule::{Pattern, RankSchedule, SendReceiveOrder, follow};
use collectives::{AnyAlgorithm, Call, Collective, Division, Holders, Performs, Shape, Sizes, Subgroup, cut};
use collectives::{Group, joined};
use endpoint::{Endpoint, Error as ProgramError, Message, Result as ProgramResult, Tag, Tagged};
use quantities::{Bytes, Rank};
use serde_json::{Map, Value};

use super::Choice;
use super::exchange::{AwaitedExchange, ExchangeParameters};
use super::listed::{Given, RankOrder, Setup, sends};
use crate::site::LARGEST_MESSAGE;
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
    AllToAll(ToAll),
    Listed(Box<Listed>),
}

/// A collective of the list of all.
#[derive(Debug)]
struct Listed {
    setup: Setup,
    /// Whether its algorithm may cut blocks, or pass them on with others, so that a rank must know the sizes of some that it has
    /// not.
    needs_sizes: bool,
    /// All ranks in the order that was asked for, if it is not by number.
    order: Option<Group>,
    /// The size of each block, if they were stated.
    sizes: Option<Sizes>,
    /// The algorithms that were made, one for each name: which is the usual one depends on the size.
    made: RefCell<Vec<(String, Rc<AnyAlgorithm>)>>,
}

/// An exchange of the list, in which every rank has a message for every other.
#[derive(Debug)]
struct ToAll {
    exchange: AwaitedExchange,
    /// What was made of the algorithm, for each order in which ranks do things.
    schedules: RefCell<Vec<(SendReceiveOrder, Rc<[RankSchedule]>)>>,
}

impl Awaited {
    /// The collective called `name` among all ranks of `site`.
    ///
    /// # Errors
    /// What the program of that name says of its parameters; a program that is no collective.
    pub fn named(name: &str, parameters: Map<String, Value>, site: &Site<'_>) -> Result<Awaited, Error> {
        match Collective::named(name) {
            Some(collective) if collective.shape().is_exchange() => ToAll::awaited(collective, parameters, site),
            Some(collective) => Listed::awaited(collective, parameters, site),
            None => {
                let choice = Choice::named(name, parameters)?;
                let known = Collective::ALL.iter().map(|collective| collective.name()).collect::<Vec<_>>();
                Err(Error::parameter("collective", choice.name(), known.join(", ")))
            }
        }
    }

    /// The same among the ranks of a group, whose words then say which.
    #[must_use]
    pub fn of_group(self, group: &Group) -> Awaited {
        const NAMED: u32 = 16;
        let named = (0..group.len().min(NAMED)).map(|place| group.rank_at(place).to_string());
        let more = group.len().saturating_sub(NAMED);
        let more = if more == 0 { String::new() } else { format!(" and {more} more") };
        let what = format!("{} of ranks {}{more}", self.what, named.collect::<Vec<String>>().join(", "));
        Awaited { what: what.into(), ..self }
    }

    /// Notes that a rank calls it with these messages, before it does it, in a run whose ranks are compared.
    ///
    /// # Errors
    /// If another rank calls another collective in its place.
    pub fn agree(&self, agreement: &mut Agreement, rank: Rank, messages: &[Option<Message>]) -> ProgramResult<()> {
        let stated = messages.iter().flatten().map(Message::size).max();
        let size = match &self.kind {
            Kind::Listed(listed) if listed.has_one_source() => stated,
            Kind::Listed(_) | Kind::AllToAll(_) => self.size_of_all(messages),
        };
        agreement.note(rank, &self.what, size)
    }

    /// The size that every rank states, and on which all must agree.
    fn size_of_all(&self, messages: &[Option<Message>]) -> Option<Bytes> {
        let largest = messages.iter().flatten().map(Message::size).max().unwrap_or_default();
        let states = match &self.kind {
            Kind::Listed(listed) => listed.states_size(),
            Kind::AllToAll(exchange) => exchange.forwards(),
        };
        states.then_some(largest)
    }

    /// Does it as a rank of `site`, which has one message, or one for each rank; gives what it ends with, likewise. A
    /// rank that could not be [compared](Awaited::agree) notices another collective by the tag of the first message of
    /// it: `compares_tags`.
    ///
    /// # Errors
    /// What sending and receiving can end with; messages that do not fit; another collective.
    pub async fn run<E: Endpoint>(
        &self,
        endpoint: &E,
        site: &Site<'_>,
        messages: Vec<Option<Message>>,
        compares_tags: bool,
    ) -> ProgramResult<Vec<Option<Message>>> {
        let endpoint = &match compares_tags {
            true => Tagged::of_collective(endpoint, &self.what, self.size_of_all(&messages)),
            false => Tagged::new(endpoint, Tag::OF_COLLECTIVES),
        };
        match &self.kind {
            Kind::Listed(listed) => match &listed.order {
                Some(order) => listed.run(&Subgroup::new(endpoint, order, None)?, site, messages).await,
                None => listed.run(endpoint, site, messages).await,
            },
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

impl Listed {
    fn awaited(collective: Collective, mut parameters: Map<String, Value>, site: &Site<'_>) -> Result<Awaited, Error> {
        let name = collective.name();
        let sizes = parameters.remove("sizes").map(|value| sizes(value, collective, site)).transpose()?;
        // The program of that name says what is wrong with any of them.
        Choice::named(name, parameters.clone())?;
        let given = serde_json::from_value::<Given>(Value::Object(parameters));
        let given = given.map_err(|error| Error::Value { parameter: name.to_owned(), problem: error.to_string() })?;
        if let Some(group) = &given.group {
            return Err(Error::parameter("group", group, "an endpoint of the group in place of all ranks'"));
        }
        let setup = Setup::new(collective, given, site)?;
        let made = setup.algorithm(Bytes(0))?;
        let order = Listed::order(&setup, site)?;
        let mut agreed = setup.parameters(&made);
        if setup.algorithm_name(Bytes(0)) != setup.algorithm_name(LARGEST_MESSAGE) {
            // Which one it is depends on the size, which not every rank states.
            agreed.remove("algorithm");
        }
        if let Some((text, _)) = &sizes {
            agreed.insert("sizes".to_owned(), text.clone());
        }
        let what = in_words(name, &agreed);
        let (needs_sizes, sizes) = (made.0.needs_sizes(), sizes.map(|(_, sizes)| sizes));
        let listed = Listed { setup, needs_sizes, order, sizes, made: RefCell::default() };
        Ok(Awaited { kind: Kind::Listed(Box::new(listed)), what: what.into() })
    }

    fn shape(&self) -> Shape {
        self.setup.collective().shape()
    }

    /// All ranks in the order that was asked for, if it is not by number.
    fn order(setup: &Setup, site: &Site<'_>) -> Result<Option<Group>, Error> {
        let shape = setup.collective().shape();
        let is_by_rank = shape.blocks == Division::PerRank || shape.combines(0, 2).len() != 2;
        match setup.given().order {
            RankOrder::Cyclic => Ok(None),
            RankOrder::Permuted if is_by_rank => {
                Err(Error::parameter("order", "permuted", "cyclic, as ranks end with what others have by number"))
            }
            RankOrder::Permuted => Ok(Some(Group::permuted(setup.root(), site.ranks()?, site.seed)?)),
        }
    }

    /// The root, as a rank of the endpoint on which it runs: a permuted order begins with it.
    fn root(&self) -> Rank {
        if self.order.is_some() { Rank(0) } else { self.setup.root() }
    }

    /// Whether all ranks have to have data of one size.
    fn states_size(&self) -> bool {
        let shape = self.shape();
        let has_data = shape.blocks != Division::Nothing && shape.before != Holders::Root;
        has_data && self.sizes.is_none() && (shape.before != Holders::Owner || self.needs_sizes)
    }

    /// The size of each block, of which a rank has these messages.
    fn sizes(&self, me: u32, messages: &[Option<Message>], ranks: u32) -> Sizes {
        if let Some(sizes) = &self.sizes {
            return sizes.clone();
        }
        let shape = self.shape();
        let own = messages.iter().flatten().next().map(Message::size).unwrap_or_default();
        match (shape.blocks, shape.before) {
            (Division::PerRank, Holders::Root) => Sizes::Unknown,
            (Division::Whole, Holders::Root) if me != self.root().0 && !self.needs_sizes => Sizes::Unknown,
            (Division::PerRank, Holders::Owner) if !self.needs_sizes => Sizes::Unknown,
            (Division::PerRank, Holders::Everyone) if own.0.is_multiple_of(u64::from(ranks)) => {
                Sizes::Same(Bytes(own.0 / u64::from(ranks)))
            }
            // Cutting it is an error, which says why.
            (Division::PerRank, Holders::Everyone) => Sizes::Unknown,
            _ => Sizes::Same(own),
        }
    }

    /// The algorithm that was asked for, or the usual one for blocks of `bytes`.
    fn algorithm(&self, bytes: Bytes) -> ProgramResult<Rc<AnyAlgorithm>> {
        let name = self.setup.algorithm_name(bytes);
        if let Some((_, made)) = self.made.borrow().iter().find(|made| made.0 == name) {
            return Ok(Rc::clone(made));
        }
        let made = self.setup.algorithm(bytes).map_err(|error| ProgramError::Unfit(error.to_string()))?;
        let made = Rc::new(made.0);
        self.made.borrow_mut().push((name.to_owned(), Rc::clone(&made)));
        Ok(made)
    }

    /// The blocks that rank `me` brings, of which it has `stated` one message each, or one of all.
    fn brought(&self, me: u32, ranks: u32, sizes: &Sizes, stated: Vec<Message>) -> ProgramResult<Vec<Message>> {
        let brings = self.shape().brings(me, self.root().0, ranks);
        let brought = match (brings.len(), &stated[..]) {
            (0, _) => return Ok(Vec::new()),
            (_, []) => return Err(ProgramError::Unfit(format!("rank {me} has no data; it must bring some"))),
            (several, [all]) if several > 1 => cut(all, sizes, ranks)?,
            _ => stated,
        };
        let is_size = |(block, message): &(u64, &Message)| message.size() == sizes.of(*block);
        let wrong = brings.clone().zip(&brought).find(|it| *sizes != Sizes::Unknown && !is_size(it));
        if let Some((block, message)) = wrong {
            let (found, allowed) = (message.size(), sizes.of(block));
            let problem = format!("data: found {found} for rank {block}; allowed is {allowed}, as sizes say");
            return Err(ProgramError::Mismatch(problem));
        }
        // Who passes on blocks of several ranks takes them apart by their size.
        let first = brought.first().map(Message::size);
        let other = brought.iter().map(Message::size).find(|size| Some(*size) != first);
        if let (Sizes::Unknown, Some(first), Some(other)) = (sizes, first, other.filter(|_| self.needs_sizes)) {
            let problem = format!(
                "data: found blocks of {first} and of {other}; allowed is one size, or the size of each as sizes at every rank"
            );
            return Err(ProgramError::Mismatch(problem));
        }
        Ok(brought)
    }

    /// Takes part as a rank that has one message, or one for each block; ends with the blocks that it takes as one
    /// message.
    async fn run<E: Endpoint>(
        &self,
        endpoint: &E,
        site: &Site<'_>,
        messages: Vec<Option<Message>>,
    ) -> ProgramResult<Vec<Option<Message>>> {
        let (me, ranks) = (endpoint.rank().0, endpoint.size());
        let sizes = self.sizes(me, &messages, ranks);
        let algorithm = self.algorithm(sizes.largest())?;
        let stated: Vec<Message> = messages.into_iter().flatten().collect();
        if self.has_one_source() && stated.is_empty() && me != self.root().0 && algorithm.needs_sizes() {
            let name = algorithm.name();
            let problem =
                format!("size: found nothing; allowed is the size of the message at every rank, as {name} cuts it");
            return Err(ProgramError::Unfit(problem));
        }
        let brought = self.brought(me, ranks, &sizes, stated)?;
        let call =
            Call { root: self.root(), operator: &self.setup.given().operator, sends: sends(site, sizes.largest()) };
        let ended = algorithm.run(endpoint, &call, &sizes, &brought).await?;
        Ok(vec![(!ended.is_empty()).then(|| joined(&ended))])
    }

    /// Whether all ranks end with what the root has, so that whoever states a size states the same.
    fn has_one_source(&self) -> bool {
        let shape = self.shape();
        (shape.blocks, shape.before) == (Division::Whole, Holders::Root)
    }
}

/// The size of each rank's block as it was stated, and as it is read.
fn sizes(value: Value, collective: Collective, site: &Site<'_>) -> Result<(Value, Sizes), Error> {
    let wrong = |found: &dyn std::fmt::Display| Error::parameter("sizes", found, "a size for each rank");
    if collective.shape().blocks != Division::PerRank {
        let allowed = format!("none, as {} has one block", collective.name());
        return Err(Error::parameter("sizes", value, allowed));
    }
    let list = value.as_array().ok_or_else(|| wrong(&value))?;
    let read = |size: &Value| serde_json::from_value::<Bytes>(size.clone()).map_err(|_| wrong(size));
    let sizes = list.iter().map(read).collect::<Result<Vec<Bytes>, Error>>()?;
    if sizes.len() != site.ranks()? as usize {
        let allowed = format!("one for each of {} ranks", site.ranks()?);
        return Err(Error::parameter("sizes", format!("{} sizes", sizes.len()), allowed));
    }
    Ok((value, Sizes::Each(sizes)))
}

impl ToAll {
    fn awaited(collective: Collective, parameters: Map<String, Value>, site: &Site<'_>) -> Result<Awaited, Error> {
        let name = collective.name();
        // The program of that name says what is wrong with any of them.
        Choice::named(name, parameters.clone())?;
        let given = serde_json::from_value::<ExchangeParameters>(Value::Object(parameters));
        let given = given.map_err(|error| Error::Value { parameter: name.to_owned(), problem: error.to_string() })?;
        let exchange = given.awaited(collective, site)?;
        let exchange = ToAll { exchange, schedules: RefCell::default() };
        let what = in_words(name, &exchange.parameters()).into();
        Ok(Awaited { kind: Kind::AllToAll(exchange), what })
    }

    /// What its ranks must agree on.
    fn parameters(&self) -> Map<String, Value> {
        let AwaitedExchange { algorithm, pacing, order, .. } = self.exchange;
        let mut parameters = Map::new();
        parameters.insert("algorithm".to_owned(), algorithm.name().into());
        parameters.insert("pacing".to_owned(), pacing.name().into());
        if let Some(order) = order {
            parameters.insert("order".to_owned(), order.name().into());
        }
        parameters
    }

    /// Whether it forwards messages, so that they must all have the same size.
    fn forwards(&self) -> bool {
        self.exchange.listed.as_ref().is_some_and(AnyAlgorithm::needs_sizes)
    }

    async fn run<E: Endpoint>(
        &self,
        endpoint: &E,
        site: &Site<'_>,
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
        let own = endpoint.rank().0 as usize;
        let mut received: Vec<Option<Message>> = vec![None; ranks as usize];
        if let Some(algorithm) = &self.exchange.listed {
            let sends = sends(site, algorithm.largest_message(ranks, largest));
            // Nothing is combined, and no rank is the root.
            let call = Call { root: Rank(0), operator: &Operator::Xor, sends };
            let sizes = if algorithm.needs_sizes() { Sizes::Same(largest) } else { Sizes::Unknown };
            let brought: Vec<Message> = (0..ranks).map(Rank).map(message_for).collect();
            let ended = algorithm.run(endpoint, &call, &sizes, &brought).await?;
            received = ended.into_iter().map(Some).collect();
        } else {
            let schedules = self.schedules(ranks, site.order(largest))?;
            let take = |from: Rank, message| received[from.0 as usize] = Some(message);
            follow(endpoint, &schedules[own], self.exchange.pacing, message_for, take).await?;
        }
        received[own] = messages[own].clone();
        Ok(received)
    }

    /// What each rank does when, by an algorithm that makes a schedule of all messages. Nothing is cut, so sizes do not
    /// matter. `order` is what a rank does first by an algorithm of the CM-5 paper, if nothing else is asked for.
    fn schedules(&self, ranks: u32, order: SendReceiveOrder) -> ProgramResult<Rc<[RankSchedule]>> {
        let unfit = |text: String| ProgramError::Unfit(text);
        let AwaitedExchange { algorithm, order: asked, .. } = self.exchange;
        let order = asked.unwrap_or_else(|| algorithm.order(order));
        if let Some((_, made)) = self.schedules.borrow().iter().find(|made| made.0 == order) {
            return Ok(Rc::clone(made));
        }
        let pattern = Pattern::complete(ranks, Bytes(1)).map_err(|error| unfit(error.to_string()))?;
        let Some(schedule) = algorithm.schedule(&pattern) else {
            return Err(unfit(format!("{} forwards messages, which nothing can keep in step", algorithm.name())));
        };
        let made: Rc<[RankSchedule]> = schedule.by_rank(order).into();
        self.schedules.borrow_mut().push((order, Rc::clone(&made)));
        Ok(made)
    }
}

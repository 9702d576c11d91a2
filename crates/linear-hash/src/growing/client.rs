//! A client at work.

use endpoint::{Endpoint, Error, Result};
use quantities::{Duration, Rank, Time};

use super::{Ask, Asked, Draws, Follower, FollowerAction, Growing, GrowingClient, HASH, Routing, Traffic, send};
use crate::program::misdirected;
use crate::{Client, ClientOutput, Envelope, Operation, ToClient};
use endpoint::Message;

/// A client on a reliable network is never woken, so its patience does not matter.
const PATIENCE: Duration = Duration::ZERO;

/// A client at work.
pub(super) struct ClientLoop<'a, E> {
    program: &'a Growing,
    endpoint: &'a E,
    asker: Asker,
    draws: Draws<'a>,
    /// The measurements of the request under way.
    asked: Asked,
    adjustments: u64,
    /// Whether it was told since its last request that it had asked the wrong server.
    was_wrong: bool,
    traffic: Traffic,
    is_over: bool,
}

/// How it finds its server.
enum Asker {
    Adjusts(Client),
    Follows(Follower),
}

impl<'a, E: Endpoint> ClientLoop<'a, E> {
    pub(super) fn new(program: &'a Growing, endpoint: &'a E, number: u32) -> ClientLoop<'a, E> {
        let asker = match program.routing {
            Routing::Forward => Asker::Adjusts(Client::new(number.into(), PATIENCE)),
            Routing::Moved => Asker::Follows(Follower::new(number.into(), false)),
            Routing::Refresh => Asker::Follows(Follower::new(number.into(), true)),
        };
        ClientLoop {
            program,
            endpoint,
            asker,
            draws: program.workload.of_client(number, program.seed),
            asked: Asked { begun: Time::ZERO, took: Duration::ZERO, detours: 0, maps: 0 },
            adjustments: 0,
            was_wrong: false,
            traffic: Traffic::default(),
            is_over: false,
        }
    }

    pub(super) async fn run(mut self) -> Result<GrowingClient> {
        let mut all = Vec::new();
        loop {
            let until = self.endpoint.now() + self.draws.pause();
            let Some(ask) = self.draws.ask() else { break };
            while let Some(envelope) = self.next(Some(until)).await? {
                self.take(envelope).await?;
            }
            all.push(self.ask(ask).await?);
        }
        send(self.endpoint, &mut self.traffic, 0, &Envelope::Goodbye).await?;
        while !self.is_over {
            if let Some(envelope) = self.next(None).await? {
                self.take(envelope).await?;
            }
        }
        Ok(GrowingClient { asked: all, adjustments: self.adjustments, traffic: self.traffic })
    }

    /// The next message, if one arrives in time.
    async fn next(&self, until: Option<Time>) -> Result<Option<Envelope>> {
        match self.endpoint.receive_any(until).await {
            Ok((from, message)) => {
                let envelope = Envelope::decode(&message).map_err(|error| error.from_rank(from))?;
                if from.0 < self.program.servers { Ok(Some(envelope)) } else { Err(misdirected(from)) }
            }
            Err(Error::Deadline(_)) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Has a request answered.
    async fn ask(&mut self, ask: Ask) -> Result<Asked> {
        let operation = match ask {
            Ask::Insert(key) => Operation::Insert(key, Message::of_size(self.program.body)),
            Ask::Read(key) => Operation::Get(key),
        };
        let (c, begun) = (HASH.of(operation.key()), self.endpoint.now());
        self.asked = Asked { begun, took: Duration::ZERO, detours: 0, maps: 0 };
        let mut step = match &mut self.asker {
            Asker::Adjusts(client) => of_client(client.ask(begun, c, operation)),
            Asker::Follows(follower) => follower.ask(c, operation),
        };
        loop {
            step = match step {
                FollowerAction::Done(_) => {
                    self.asked.took = self.endpoint.now().since(begun);
                    return Ok(self.asked);
                }
                FollowerAction::Send(server, request) => {
                    send(self.endpoint, &mut self.traffic, server, &Envelope::Request(request)).await?;
                    if std::mem::take(&mut self.was_wrong) {
                        self.ask_for_map().await?;
                    }
                    self.until_next_step().await?
                }
            };
        }
    }

    async fn until_next_step(&mut self) -> Result<FollowerAction> {
        loop {
            if let Some(envelope) = self.next(None).await?
                && let Some(step) = self.take(envelope).await?
            {
                return Ok(step);
            }
        }
    }

    /// Takes a message from a server.
    async fn take(&mut self, envelope: Envelope) -> Result<Option<FollowerAction>> {
        if let Envelope::Over(_) = envelope {
            self.is_over = true;
            return Ok(None);
        }
        if let Envelope::ToClient(ToClient::Reply { forwards, .. }) = envelope {
            self.asked.detours += forwards;
        }
        let now = self.endpoint.now();
        match (&mut self.asker, envelope) {
            (Asker::Adjusts(client), Envelope::ToClient(message)) => {
                let output = client.take(now, message);
                self.adjustments = client.counts.adjustments;
                Ok(output.map(of_client))
            }
            (Asker::Follows(follower), Envelope::ToClient(ToClient::Reply { number, outcome, .. })) => {
                Ok(follower.reply(number, outcome))
            }
            (
                Asker::Follows(follower),
                Envelope::ToClient(ToClient::Again { number } | ToClient::Gone { number, .. }),
            ) => Ok(follower.again(number)),
            (Asker::Follows(follower), Envelope::Moved { number, server }) => {
                let step = follower.moved(number, server);
                self.asked.detours += 1;
                self.adjustments = follower.moved;
                self.was_wrong = true;
                Ok(step)
            }
            (Asker::Follows(follower), Envelope::Map { file, .. }) => {
                follower.learn(file);
                Ok(None)
            }
            _ => Err(misdirected(Rank(0))),
        }
    }

    /// Asks some random servers that it knows for the map, if it uses maps and has no such request under way.
    async fn ask_for_map(&mut self) -> Result<()> {
        let Asker::Follows(follower) = &mut self.asker else { return Ok(()) };
        let Some(servers) = follower.asks_for_map() else { return Ok(()) };
        let first = self.draws.server(servers);
        for place in 0..self.program.costs.asked_for_map.min(servers) {
            self.asked.maps += 1;
            let server = (first + place) % servers;
            send(self.endpoint, &mut self.traffic, server, &Envelope::MapRequest).await?;
        }
        Ok(())
    }
}

fn of_client(output: ClientOutput) -> FollowerAction {
    match output {
        ClientOutput::Send(server, request) => FollowerAction::Send(server, request),
        ClientOutput::Done(outcome) => FollowerAction::Done(outcome),
    }
}

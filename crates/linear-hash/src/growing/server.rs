//! A server at work.

use endpoint::{Endpoint, Result};
use quantities::{Duration, Rank, Time};

use super::{Growing, GrowingServer, Routing, Traffic, send};
use crate::program::{misdirected, next};
use crate::{
    Contents, Envelope, Extent, Growth, Image, Pairs, Request, Server, ServerOutput, Table, ToClient, ToServer, forward,
};

/// A server at work.
pub(super) struct ServerLoop<'a, E> {
    program: &'a Growing,
    endpoint: &'a E,
    server: Server,
    outputs: Vec<ServerOutput>,
    /// What it knows of the file, from its own level and from other servers.
    image: Image,
    splits: Vec<Time>,
    on_requests: Duration,
    on_maps: Duration,
    traffic: Traffic,
    /// How many clients have said goodbye, at server 0.
    goodbyes: u32,
    /// Whether all clients have made their last request.
    is_quiet: bool,
    /// How far the file has grown, once that is settled.
    over: Option<Extent>,
}

impl<'a, E: Endpoint> ServerLoop<'a, E> {
    pub(super) fn new(program: &'a Growing, endpoint: &'a E) -> ServerLoop<'a, E> {
        let growth = Growth { most_servers: program.growth.most_servers.min(program.servers), ..program.growth };
        ServerLoop {
            program,
            endpoint,
            server: Server::new(endpoint.rank().0, growth),
            outputs: Vec::new(),
            image: Image::default(),
            splits: Vec::new(),
            on_requests: Duration::ZERO,
            on_maps: Duration::ZERO,
            traffic: Traffic::default(),
            goodbyes: 0,
            is_quiet: false,
            over: None,
        }
    }

    pub(super) async fn run(mut self) -> Result<GrowingServer> {
        let file = loop {
            self.step().await?;
            if self.goodbyes == self.program.workload.clients && !self.is_quiet {
                self.is_quiet = true;
                self.send_to_others(self.program.servers, &Envelope::Goodbye).await?;
            }
            if let Some(file) = self.server.token().filter(|_| self.is_quiet && self.server.is_steady()) {
                self.send_to_others(self.program.servers, &Envelope::Over(file)).await?;
                break file;
            }
            if let Some(file) = self.over.filter(|&file| self.is_settled(file)) {
                break file;
            }
        };
        if self.endpoint.rank() == Rank(0) {
            for client in self.program.servers..self.program.ranks() {
                send(self.endpoint, &mut self.traffic, client, &Envelope::Over(file)).await?;
            }
        }
        let ServerLoop { server, splits, on_requests, on_maps, traffic, .. } = self;
        let (entries, counts) = (server.table().map(Table::len), server.counts);
        Ok(GrowingServer { entries, splits, counts, on_requests, on_maps, traffic, file })
    }

    fn is_settled(&self, file: Extent) -> bool {
        self.server.is_steady() || self.endpoint.rank().0 >= file.buckets()
    }

    async fn send_to_others(&mut self, servers: u32, envelope: &Envelope) -> Result<()> {
        let Rank(own) = self.endpoint.rank();
        for other in (0..servers).filter(|&other| other != own) {
            send(self.endpoint, &mut self.traffic, other, envelope).await?;
        }
        Ok(())
    }

    /// Handles the next message: first computes, then answers.
    async fn step(&mut self) -> Result<()> {
        let (from, envelope) = next(self.endpoint).await?;
        let (from_server, before) = (from.0 < self.program.servers, self.server.counts);
        let level = self.level();
        match envelope {
            Envelope::Request(request) if !from_server => self.request(request).await?,
            Envelope::ToServer(message) if from_server => {
                if matches!(message, ToServer::Forward(_)) {
                    self.compute_for_request().await;
                }
                self.server.take(from.0, message, &mut self.outputs);
            }
            Envelope::MapRequest if !from_server => self.send_map(from).await?,
            Envelope::Grown(file) if from_server => self.learn(file),
            Envelope::Goodbye if !from_server => self.goodbyes += 1,
            Envelope::Goodbye => self.is_quiet = true,
            Envelope::Over(file) if from_server => self.over = Some(file),
            _ => return Err(misdirected(from)),
        }
        for _ in before.splits..self.server.counts.splits {
            self.splits.push(self.endpoint.now());
        }
        self.send_outputs().await?;
        self.announce_split(level).await
    }

    /// Its level; none while it is not in the file.
    fn level(&self) -> Option<u32> {
        self.server.table().map(Table::level)
    }

    async fn compute_for_request(&mut self) {
        let time = self.program.costs.request;
        self.on_requests += time;
        self.endpoint.compute(time).await;
    }

    /// Answers a client's request, forwards it, or redirects the client.
    async fn request(&mut self, request: Request) -> Result<()> {
        self.compute_for_request().await;
        if self.program.routing == Routing::Forward {
            self.server.request(request, &mut self.outputs);
            return Ok(());
        }
        let (number, client, c) = (request.number, request.client, request.c);
        if self.server.holds(c) {
            let stores = Pairs::stores(&request.operation);
            if let Some(outcome) = self.server.contents_mut().apply(c, request.operation) {
                let reply = ToClient::Reply { number, outcome, forwards: 0 };
                self.outputs.push(ServerOutput::Client(client, reply));
                self.server.has_answered(1, stores, &mut self.outputs);
            }
            return Ok(());
        }
        match self.level().and_then(|level| forward(self.endpoint.rank().0, level, c)) {
            Some(_) => {
                let moved = Envelope::Moved { number, server: self.image.extent().index(c) };
                let to = self.rank_of(client);
                send(self.endpoint, &mut self.traffic, to, &moved).await?;
            }
            // The key is moving: servers handle this among themselves, and the client need not know.
            None => self.server.request(request, &mut self.outputs),
        }
        Ok(())
    }

    fn rank_of(&self, client: u64) -> u32 {
        self.program.servers.saturating_add(u32::try_from(client).unwrap_or(u32::MAX))
    }

    async fn send_map(&mut self, to: Rank) -> Result<()> {
        let (file, costs) = (self.image.extent(), self.program.costs);
        let servers = u64::from(file.buckets());
        let time = Duration::from_picoseconds(costs.map.picoseconds().saturating_mul(servers));
        self.on_maps += time;
        self.endpoint.compute(time).await;
        let map = Envelope::Map { file, size: costs.map_size.0.saturating_mul(servers) };
        send(self.endpoint, &mut self.traffic, to.0, &map).await
    }

    async fn send_outputs(&mut self) -> Result<()> {
        let mut outputs = std::mem::take(&mut self.outputs);
        for output in outputs.drain(..) {
            let (to, envelope) = match output {
                // A client that follows redirections takes no adjustments.
                ServerOutput::Client(_, ToClient::Adjust { .. }) if self.program.routing != Routing::Forward => {
                    continue;
                }
                ServerOutput::Client(client, message) => (self.rank_of(client), Envelope::ToClient(message)),
                ServerOutput::Server(server, message) => (server, Envelope::ToServer(message)),
            };
            send(self.endpoint, &mut self.traffic, to, &envelope).await?;
        }
        self.outputs = outputs;
        Ok(())
    }

    /// Learns what another server knows.
    fn learn(&mut self, file: Extent) {
        self.image = Image::of(self.image.extent().max(file));
    }

    /// When its level has changed, it knows more of the file, and tells the others if clients use maps.
    async fn announce_split(&mut self, before: Option<u32>) -> Result<()> {
        let Some(level) = self.level().filter(|level| before != Some(*level)) else { return Ok(()) };
        let mut own = Image::default();
        own.adjust(self.endpoint.rank().0, level);
        self.learn(own.extent());
        if self.program.routing == Routing::Refresh && before.is_some() && !self.is_quiet {
            let file = self.image.extent();
            self.send_to_others(file.buckets(), &Envelope::Grown(file)).await?;
        }
        Ok(())
    }
}

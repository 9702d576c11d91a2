//! A file of servers between which messages arrive in the order they were sent, one at a time.

use std::collections::VecDeque;

use maquette_linear_hash::{
    Extent, Growth, Key, Operation, OperationOutcome, Request, ScanRequest, Server, ServerOutput, ToClient, ToServer,
};

/// A file, and one client that knows all of it.
pub struct File {
    pub servers: Vec<Server>,
    under_way: VecDeque<(u32, u32, ToServer)>,
    /// The servers' messages to the scanning client.
    pub messages: Vec<ToClient>,
    /// The size of the bodies in the largest chunk. [B]
    pub largest_chunk: u64,
    requests: u64,
    hash: fn(u64) -> u64,
}

impl File {
    pub fn new(growth: Growth, hash: fn(u64) -> u64) -> File {
        let servers = (0..growth.most_servers).map(|number| Server::new(number, growth)).collect();
        File { servers, under_way: VecDeque::new(), messages: Vec::new(), largest_chunk: 0, requests: 0, hash }
    }

    /// How many servers there are.
    pub fn size(&self) -> u32 {
        self.servers.iter().filter(|server| server.table().is_some()).count() as u32
    }

    pub fn entries(&self) -> u64 {
        self.servers.iter().filter_map(Server::table).map(|table| table.len()).sum()
    }

    /// The mean share of their capacity that the servers use.
    pub fn load(&self, growth: Growth) -> f64 {
        self.entries() as f64 / (f64::from(self.size()) * growth.capacity as f64)
    }

    pub fn splits(&self) -> u64 {
        self.servers.iter().map(|server| server.counts.splits).sum()
    }

    pub fn merges(&self) -> u64 {
        self.servers.iter().map(|server| server.counts.merges).sum()
    }

    /// Gives a request to a server, and at once to those that it is forwarded to; other resulting messages are then
    /// under way. Returns the messages to the client.
    pub fn route(&mut self, first: u32, request: Request) -> Vec<ToClient> {
        let (mut next, mut messages) = (Some((first, request)), Vec::new());
        while let Some((to, request)) = next.take() {
            let mut outputs = Vec::new();
            self.servers[to as usize].request(request, &mut outputs);
            for output in outputs {
                match output {
                    ServerOutput::Server(on, ToServer::Forward(request)) => next = Some((on, request)),
                    ServerOutput::Server(next, message) => self.send_between(to, next, message),
                    ServerOutput::Client(_, message) => messages.push(message),
                }
            }
        }
        messages
    }

    /// The same, without image adjustments: at most one answer, and none if the client has moved on meanwhile.
    pub fn send(&mut self, first: u32, request: Request) -> Option<ToClient> {
        let mut messages = self.route(first, request);
        messages.retain(|message| !matches!(message, ToClient::Adjust { .. }));
        assert!(messages.len() <= 1, "{messages:?}");
        messages.pop()
    }

    /// Sends a request of the client that knows all of the file to the server that has the key; returns the answer.
    pub fn ask(&mut self, key: u64, operation: impl FnOnce(Key) -> Operation) -> OperationOutcome {
        let (c, number) = ((self.hash)(key), self.requests);
        self.requests += 1;
        let request = Request { client: 0, number, c, operation: operation(key.to_le_bytes().into()), forwards: 0 };
        match self.send(Extent::of(self.size()).index(c), request) {
            Some(ToClient::Reply { outcome, .. }) => outcome,
            other => panic!("{other:?} instead of a reply"),
        }
    }

    /// Sends a request, and delivers all messages that result from it.
    pub fn request(&mut self, key: u64, operation: impl FnOnce(Key) -> Operation) -> OperationOutcome {
        let outcome = self.ask(key, operation);
        self.settle();
        outcome
    }

    fn send_between(&mut self, from: u32, to: u32, message: ToServer) {
        if let ToServer::Chunk { buckets, .. } = &message {
            let size = buckets.iter().flatten().map(|entry| entry.value.size().0).sum();
            self.largest_chunk = self.largest_chunk.max(size);
        }
        self.under_way.push_back((from, to, message));
    }

    /// Delivers the message between servers that was sent first, if one is under way.
    pub fn step(&mut self) -> bool {
        let Some((from, to, message)) = self.under_way.pop_front() else { return false };
        let mut outputs = Vec::new();
        self.servers[to as usize].take(from, message, &mut outputs);
        self.does(to, outputs);
        true
    }

    /// Delivers messages until none is under way.
    pub fn settle(&mut self) {
        while self.step() {}
    }

    /// Gives a part of a scan to a server.
    pub fn scan(&mut self, to: u32, request: ScanRequest) {
        let mut outputs = Vec::new();
        self.servers[to as usize].scan(request, &mut outputs);
        self.does(to, outputs);
    }

    fn does(&mut self, server: u32, outputs: Vec<ServerOutput>) {
        for output in outputs {
            match output {
                ServerOutput::Server(next, message) => self.send_between(server, next, message),
                ServerOutput::Client(_, message) => self.messages.push(message),
            }
        }
    }
}

/// Hashes that depend on every bit of the key.
pub fn uniform(key: u64) -> u64 {
    let mixed = key.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (mixed ^ (mixed >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 17
}

//! Clients of a simulated process, and the answers for which they wait.

use std::collections::BTreeMap;

use maquette_store::connection::{Connection, Pause};
use maquette_store::host::Host;
use maquette_store::member::{Identity, Output, Ticket};

/// The number of clients of each process.
pub const CLIENTS: usize = 3;
/// The number of one more client, for tests with requests of their own.
pub const TALKER: usize = CLIENTS;

/// Clients of a process, each with its request, if it has no answer yet.
pub struct Clients<A> {
    pub each: Vec<(Connection, Option<A>)>,
    tickets: BTreeMap<Ticket, usize>,
}

impl<A> Clients<A> {
    pub fn connect(host: &Host, now: u64) -> Clients<A> {
        let connect = |number: usize| {
            let client = host.node().borrow_mut().connect(format!("localhost:{number}"), String::new(), now);
            (Connection::new(client, &host.node().borrow()), None)
        };
        Clients { each: (0..=TALKER).map(connect).collect(), tickets: BTreeMap::new() }
    }

    /// Passes answers on to clients, and returns the messages to send.
    pub fn settle(&mut self, host: &mut Host) -> Vec<(Identity, Vec<u8>)> {
        let mut sends = Vec::new();
        loop {
            let outputs = host.take_outputs();
            if outputs.is_empty() {
                return sends;
            }
            for output in outputs {
                match output {
                    Output::Send(to, message) => sends.push((to, postcard::to_stdvec(&message).unwrap())),
                    Output::Done(ticket, answer) => {
                        let Some(client) = self.tickets.remove(&ticket) else { continue };
                        let connection = &mut self.each[client].0;
                        connection.answered(host, ticket, answer);
                        while connection.turn(host) == Pause::Turn {}
                        self.remember_tickets(client);
                    }
                }
            }
        }
    }

    pub fn remember_tickets(&mut self, client: usize) {
        let tickets = self.each[client].0.take_begun();
        self.tickets.extend(tickets.into_iter().map(|ticket| (ticket, client)));
    }
}

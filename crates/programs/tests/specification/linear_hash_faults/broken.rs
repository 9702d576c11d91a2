//! Servers that are wrong, each in a way of its own: the tests are tested with them.

use std::collections::BTreeMap;

use endpoint::Message;
use maquette_programs::linear_hash::{
    Key, Operation, Outcome, Request, ScanAnswer, Server, ServerOutput, ToClient, ToServer,
};

/// What is wrong with a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Of every bucket that it ships, an entry is lost.
    LosesWhatItShips,
    /// A request that comes again is a new one to it.
    AppliesAgain,
    /// A get is answered with what the get before it found.
    ReadsWhatWas,
    /// Of every part of a scan, an entry is left out, and not counted.
    LeavesOutOfScans,
    /// A part of a scan that it has read comes with an entry of its own twice.
    ScansTwice,
}

/// A server, or one that is wrong.
#[derive(Debug)]
pub struct Suspect {
    pub server: Server,
    fault: Option<Fault>,
    /// What the last get of a key found.
    found: BTreeMap<Key, Outcome>,
}

impl Suspect {
    pub fn new(server: Server, fault: Option<Fault>) -> Suspect {
        Suspect { server, fault, found: BTreeMap::new() }
    }

    /// Takes a request; `new` is a number that no request has had.
    pub fn request(&mut self, mut request: Request, new: u64, outputs: &mut Vec<ServerOutput>) {
        let (number, operation) = (request.number, request.operation.clone());
        if self.fault == Some(Fault::AppliesAgain) {
            request.number = new;
        }
        self.server.request(request, outputs);
        for output in outputs {
            match output {
                ServerOutput::Client(_, ToClient::Reply { number: told, outcome, .. }) => {
                    *told = number;
                    self.answer(&operation, outcome);
                }
                ServerOutput::Client(_, ToClient::Again { number: told } | ToClient::Gone { number: told, .. }) => {
                    *told = number;
                }
                ServerOutput::Server(_, ToServer::Forward(request)) => request.number = number,
                _ => {}
            }
        }
    }

    fn answer(&mut self, operation: &Operation, outcome: &mut Outcome) {
        if let (Some(Fault::ReadsWhatWas), Operation::Get(key)) = (self.fault, operation) {
            let was = self.found.insert(key.clone(), outcome.clone());
            *outcome = was.unwrap_or(outcome.clone());
        }
    }

    /// Does with what it sends what is wrong with it.
    pub fn spoil(&self, outputs: &mut [ServerOutput]) {
        for output in outputs {
            match (self.fault, output) {
                (Some(Fault::LosesWhatItShips), ServerOutput::Server(_, ToServer::Chunk { buckets, .. })) => {
                    buckets.iter_mut().for_each(|bucket| drop(bucket.pop()));
                }
                (Some(fault), ServerOutput::Client(_, ToClient::Scanned { answer, .. })) => spoil_scan(fault, answer),
                _ => {}
            }
        }
    }
}

fn spoil_scan(fault: Fault, answer: &mut ScanAnswer) {
    let ScanAnswer::Part { count, entries, .. } = answer else { return };
    let last: Option<(Key, Message)> = entries.last().cloned();
    match (fault, last) {
        (Fault::LeavesOutOfScans, Some(_)) => {
            entries.pop();
            *count -= 1;
        }
        (Fault::ScansTwice, Some(last)) => {
            entries.push(last);
            *count += 1;
        }
        _ => {}
    }
}

//! Faulty servers, each in a different way, to test the tests.

use std::collections::BTreeMap;

use endpoint::Message;
use maquette_linear_hash::{
    Key, Operation, OperationOutcome, Request, ScanAnswer, Server, ServerOutput, ToClient, ToServer,
};

/// A server's fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// It loses an entry of every bucket that it ships.
    LosesWhatItShips,
    /// It takes a repeated request for a new one.
    AppliesAgain,
    /// It answers a get with the result of the get before.
    ReadsWhatWas,
    /// It leaves an entry out of every part of a scan, and does not count it.
    LeavesOutOfScans,
    /// It returns one of its entries twice in a part of a scan.
    ScansTwice,
}

/// A server, correct or faulty.
#[derive(Debug)]
pub struct Suspect {
    pub server: Server,
    fault: Option<Fault>,
    /// The result of the last get of each key.
    found: BTreeMap<Key, OperationOutcome>,
}

impl Suspect {
    pub fn new(server: Server, fault: Option<Fault>) -> Suspect {
        Suspect { server, fault, found: BTreeMap::new() }
    }

    /// Takes a request; `new` is an unused request number.
    pub fn request(&mut self, mut request: Request, new: u64, outputs: &mut Vec<ServerOutput>) {
        let (number, operation) = (request.number, request.operation.clone());
        if self.fault == Some(Fault::AppliesAgain) {
            request.number = new;
        }
        self.server.request(request, outputs);
        for output in outputs {
            match output {
                ServerOutput::Client(_, ToClient::Reply { number: answered, outcome, .. }) => {
                    *answered = number;
                    self.answer(&operation, outcome);
                }
                ServerOutput::Client(
                    _,
                    ToClient::Again { number: answered } | ToClient::Gone { number: answered, .. },
                ) => {
                    *answered = number;
                }
                ServerOutput::Server(_, ToServer::Forward(request)) => request.number = number,
                _ => {}
            }
        }
    }

    fn answer(&mut self, operation: &Operation, outcome: &mut OperationOutcome) {
        if let (Some(Fault::ReadsWhatWas), Operation::Get(key)) = (self.fault, operation) {
            let was = self.found.insert(key.clone(), outcome.clone());
            *outcome = was.unwrap_or(outcome.clone());
        }
    }

    /// Applies its fault to its outputs.
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

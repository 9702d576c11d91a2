//! A client at work.

use endpoint::{Endpoint, Result};
use quantities::{Duration, Rank, Time};

use super::program::{misdirected, next, send};
use super::{
    Client, ClientEnd, ClientOutput, ClientPhase, Envelope, Insert, Key, LinearHash, Operation, OperationOutcome,
    Phase, Scan, ScanKind, ScanOutput, ToClient,
};

/// A client on a reliable network is never woken, so its patience does not matter.
const PATIENCE: Duration = Duration::ZERO;

/// A client at work.
pub(super) struct ClientLoop<'a, E> {
    program: &'a LinearHash,
    endpoint: &'a E,
    number: u32,
    client: Client,
    /// How many scans it has made.
    scans: u64,
    messages: u64,
}

impl<'a, E: Endpoint> ClientLoop<'a, E> {
    /// Client `number`.
    pub(super) fn new(program: &'a LinearHash, endpoint: &'a E, number: u32) -> ClientLoop<'a, E> {
        ClientLoop { program, endpoint, number, client: Client::new(number.into(), PATIENCE), scans: 0, messages: 0 }
    }

    /// Makes its inserts and says goodbye; then runs the phases after the build, one by one.
    pub(super) async fn run(mut self) -> Result<ClientEnd> {
        let program = self.program;
        let (mut inserts, mut then) = (Vec::new(), Vec::new());
        for key in program.share(self.number) {
            let begun = self.endpoint.now();
            let stored = match Phase::Insert.operation(program, key) {
                Some(operation) => found(&self.ask(key, operation).await?),
                None => false,
            };
            inserts.push(Insert { begun, acknowledged: self.endpoint.now(), stored });
        }
        self.say_goodbye().await?;
        let (counts, messages) = (self.client.counts, self.messages);
        for &phase in &program.then {
            self.meet().await?;
            then.push(self.phase(phase).await?);
            self.say_goodbye().await?;
        }
        Ok(ClientEnd { inserts, counts, messages, then })
    }

    async fn say_goodbye(&self) -> Result<()> {
        for server in 0..self.program.servers {
            send(self.endpoint, Rank(server), &Envelope::Goodbye).await?;
        }
        Ok(())
    }

    /// Waits until the phase is over at every server.
    async fn meet(&mut self) -> Result<()> {
        let mut awaited = self.program.servers;
        while awaited > 0 {
            match next(self.endpoint).await? {
                (_, Envelope::Next) => awaited -= 1,
                // An image adjustment may arrive after the answer.
                (_, Envelope::ToClient(message)) => drop(self.client.take(self.endpoint.now(), message)),
                (from, _) => return Err(misdirected(from)),
            }
        }
        Ok(())
    }

    async fn phase(&mut self, phase: Phase) -> Result<ClientPhase> {
        let program = self.program;
        let (begun, scans) = (self.endpoint.now(), self.number == 0);
        let (mut operations, mut found, mut longest) = (0, 0, Duration::ZERO);
        match phase {
            Phase::Forget => self.client.forget(),
            Phase::Scan | Phase::Count if scans => {
                found = self.scan(if phase == Phase::Count { ScanKind::Count } else { ScanKind::Entries }).await?;
                (operations, longest) = (1, self.since(begun));
            }
            Phase::Scan | Phase::Count => {}
            Phase::Insert | Phase::Put | Phase::Get | Phase::Contains | Phase::Remove => {
                for key in program.share(self.number) {
                    let Some(operation) = phase.operation(program, key) else { continue };
                    let asked = self.endpoint.now();
                    found += u64::from(self::found(&self.ask(key, operation).await?));
                    longest = longest.max(self.since(asked));
                    operations += 1;
                }
            }
        }
        let (ended, counts, messages) = (self.endpoint.now(), self.client.counts, self.messages);
        Ok(ClientPhase { begun, ended, operations, found, longest, counts, messages })
    }

    fn since(&self, begun: Time) -> Duration {
        self.endpoint.now().since(begun)
    }

    /// Has an operation carried out.
    async fn ask(&mut self, key: &Key, operation: Operation) -> Result<OperationOutcome> {
        let mut output = Some(self.client.ask(self.endpoint.now(), self.program.hash.of(key), operation));
        loop {
            match output {
                Some(ClientOutput::Done(outcome)) => return Ok(outcome),
                Some(ClientOutput::Send(server, request)) => {
                    self.messages += 1;
                    send(self.endpoint, Rank(server), &Envelope::Request(request)).await?;
                }
                None => {}
            }
            let message = self.next().await?;
            output = self.client.take(self.endpoint.now(), message);
        }
    }

    /// Scans or counts all servers, and returns how many entries there are.
    async fn scan(&mut self, kind: ScanKind) -> Result<u64> {
        let (image, now) = (self.client.image(), self.endpoint.now());
        let (mut scan, mut outputs) = Scan::begin((self.number.into(), self.scans), image, kind, PATIENCE, now);
        self.scans += 1;
        let mut found = 0;
        loop {
            for output in outputs {
                match output {
                    ScanOutput::Send(server, request) => {
                        self.messages += 1;
                        send(self.endpoint, Rank(server), &Envelope::Scan(request)).await?;
                    }
                    ScanOutput::Found(entries) => found += entries.len() as u64,
                    ScanOutput::Done(count) => return Ok(if kind == ScanKind::Count { count } else { found }),
                }
            }
            let message = self.next().await?;
            outputs = scan.take(self.endpoint.now(), message);
        }
    }

    async fn next(&self) -> Result<ToClient> {
        match next(self.endpoint).await? {
            (_, Envelope::ToClient(message)) => Ok(message),
            (from, _) => Err(misdirected(from)),
        }
    }
}

/// Whether something was stored under the key; for an insert, whether it was stored now.
fn found(outcome: &OperationOutcome) -> bool {
    matches!(outcome, OperationOutcome::Is(true) | OperationOutcome::Found(Some(_)))
}

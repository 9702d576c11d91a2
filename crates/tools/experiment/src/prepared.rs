//! A program that can begin: everything that a user can get wrong has been checked.

use endpoint::{Program, Result, World};
use formats::input::InputFile;
use launch::rank::Running;
use launch::wire::{Record, times};
use machines::model::{Machine, NodeId};
use quantities::{Bytes, Duration, Rank};
use serde_json::Value;
use virtual_worlds::answer::{Answer, Unreceived};
use virtual_worlds::flit::world::Options;
use virtual_worlds::jobs::Placed;

use crate::catalogue::{AnyOutput, AnyProgram, Member};
use crate::launched::Launched;
use crate::simulate::simulated;

/// The JSON key of messages that no receive took.
pub const NOT_RECEIVED: &str = "not_received";

/// A finding of a program, in words and as JSON.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// Its name in a line for people.
    pub name: &'static str,
    /// Its text, one row per line.
    pub text: String,
    /// Its key in JSON.
    pub key: &'static str,
    /// Its value in JSON.
    pub value: Value,
}

/// Derives a program's findings from the result of each rank and what the machine did.
pub type DeriveFindings<P> = Box<dyn FnOnce(&[<P as Program>::Output], &Answer) -> Vec<Finding> + Send>;

/// A program that can begin.
pub struct Prepared<P: Program> {
    /// The program.
    pub program: P,
    /// How many ranks it has.
    pub ranks: u32,
    /// What is known about it before it runs.
    pub notes: Notes,
    /// Derives its findings.
    pub derive_findings: DeriveFindings<P>,
}

/// What is known about a program before it runs.
#[derive(Clone, Debug, Default)]
pub struct Notes {
    /// The rank that begins, if one does and the others wait for it.
    pub first: Option<Rank>,
    /// Its parameters, including the values of those left out: the fields of a JSON object.
    pub parameters: Value,
    /// How many messages it sends, if known.
    pub expected_messages: Option<u64>,
    /// How many messages with how many bytes its busiest rank sends or receives, if that bounds its time.
    pub busiest: Option<(u64, Bytes)>,
    /// The files that were read.
    pub files: Vec<InputFile>,
    /// How many of its ranks take part, if not all do.
    pub taking_part: Option<u32>,
    /// Whether the program itself makes random choices from the seed.
    pub draws: bool,
    /// The file to whose lines messages that no receive took are attributed.
    pub schedule_file: Option<String>,
}

impl<P: Program> Prepared<P> {
    /// A program of `ranks` ranks with `parameters` and no findings except its time.
    pub fn new(program: P, ranks: u32, parameters: Value) -> Prepared<P> {
        let notes = Notes { parameters, ..Notes::default() };
        Prepared { program, ranks, notes, derive_findings: Box::new(|_, _| Vec::new()) }
    }

    /// The same, with a known number of messages.
    pub fn expecting(mut self, messages: Option<u64>) -> Prepared<P> {
        self.notes.expected_messages = messages;
        self
    }

    /// The same, with findings.
    pub fn with_findings(
        mut self,
        derive_findings: impl FnOnce(&[P::Output], &Answer) -> Vec<Finding> + Send + 'static,
    ) -> Prepared<P> {
        self.derive_findings = Box::new(derive_findings);
        self
    }
}

/// The result of a run.
#[derive(Debug)]
pub struct Outcome {
    /// The program's findings.
    pub findings: Vec<Finding>,
    /// What may not be as intended.
    pub warnings: Vec<String>,
    /// What the machine did.
    pub answer: Answer,
}

/// For this many pairs of ranks, messages that were not received are listed individually.
const NAMED: usize = 8;

/// The warnings about messages that no receive took.
pub(crate) fn warnings(answer: &Answer) -> Vec<String> {
    answer.unreceived.iter().take(NAMED).map(not_received).collect()
}

fn not_received(Unreceived { from, to, messages }: &Unreceived) -> String {
    let messages = if *messages == 1 { "a message".to_owned() } else { format!("{messages} messages") };
    format!("rank {to} did not receive {messages} of rank {from}")
}

/// A program that can begin on a model.
pub trait Simulates {
    /// What it returns to its caller beside what the machine did.
    type Results: Default;

    /// How many ranks it has.
    fn ranks(&self) -> u32;

    /// What is known about it before it runs.
    fn notes(&self) -> &Notes;

    /// Runs it on a model of `machine`, with its ranks on `nodes`, or on nodes in order if there are none; returns its
    /// findings, and what the machine did.
    ///
    /// # Errors
    /// If the machine can't run it; the error of a rank.
    fn simulate(
        self: Box<Self>,
        machine: &Machine,
        nodes: &[NodeId],
        options: Options,
    ) -> Result<(Self::Results, Outcome)>;
}

/// A program of the catalogue, of any type, that can begin.
pub trait Ready: Simulates<Results = ()> + Send {
    /// How long each of `runs` runs takes on a model of `machine`, if they come one after another, as those of launched
    /// ranks do.
    ///
    /// # Errors
    /// Those of [`Ready::simulate`].
    fn times_as_launched(&self, machine: &Machine, options: Options, runs: u32) -> Result<Vec<Duration>>;

    /// Runs it as a real rank among others, as many times as that rank is to run it.
    ///
    /// # Errors
    /// Errors of the program or the network.
    fn launch(&self, rank: &mut Running) -> Result<Record>;

    /// Turns it into a job, to run beside others on one machine.
    fn into_job(self: Box<Self>) -> AnyJob;
}

/// Derives the findings of a program that ran beside others, from the result of each rank and its time.
pub type DeriveAny = Box<dyn FnOnce(Vec<AnyOutput>, &Answer) -> Vec<Finding> + Send>;

/// A program that runs beside others, and its findings.
pub struct AnyJob {
    /// The program.
    pub program: AnyProgram,
    /// Derives its findings.
    pub derive_findings: DeriveAny,
}

impl<P> Simulates for Prepared<P>
where
    P: Member + Send + 'static,
    P::Output: Send,
{
    type Results = ();

    fn ranks(&self) -> u32 {
        self.ranks
    }

    fn notes(&self) -> &Notes {
        &self.notes
    }

    fn simulate(self: Box<Self>, machine: &Machine, nodes: &[NodeId], options: Options) -> Result<((), Outcome)> {
        let world = Placed::new(simulated(machine, options), nodes);
        let (results, answer) = world.run(self.ranks, &self.program)?;
        let outputs = results.into_iter().collect::<Result<Vec<P::Output>>>()?;
        let warnings = warnings(&answer);
        Ok(((), Outcome { findings: (self.derive_findings)(&outputs, &answer), warnings, answer }))
    }
}

impl<P> Ready for Prepared<P>
where
    P: Member + Send + 'static,
    P::Output: Send,
{
    fn times_as_launched(&self, machine: &Machine, options: Options, runs: u32) -> Result<Vec<Duration>> {
        let launched = Launched { program: &self.program, first: self.notes.first, runs };
        let (results, _) = simulated(machine, options).run(self.ranks, &launched)?;
        let records = results.into_iter().map(|times| Ok(launched.record(&times?)));
        Ok(times(&records.collect::<Result<Vec<Record>>>()?))
    }

    fn launch(&self, rank: &mut Running) -> Result<Record> {
        rank.run(self.ranks, self.notes.first, &self.program)
    }

    fn into_job(self: Box<Self>) -> AnyJob {
        let Prepared { program, derive_findings, .. } = *self;
        let derive_findings = move |outputs: Vec<AnyOutput>, answer: &Answer| {
            let outputs: Vec<P::Output> = outputs.into_iter().filter_map(P::output).collect();
            derive_findings(&outputs, answer)
        };
        AnyJob { program: program.into_any(), derive_findings: Box::new(derive_findings) }
    }
}

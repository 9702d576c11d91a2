//! A program that can begin: everything that a person can get wrong has been checked.

use endpoint::{Program, Result, World};
use formats::input::InputFile;
use launch::rank::Running;
use launch::wire::Record;
use machines::model::Machine;
use quantities::{Bytes, Rank};
use serde_json::Value;
use virtual_worlds::answer::{Answer, Unreceived};
use virtual_worlds::flit::world::Options;

use crate::catalogue::{AnyOutput, AnyProgram, Member};
use crate::simulate::simulated;

/// As what messages that no receive took are told in JSON.
pub const NOT_RECEIVED: &str = "not_received";

/// Something that a program found out, in words and as JSON.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// What it is called in a line for people.
    pub name: &'static str,
    /// A row for each line.
    pub text: String,
    /// What it is called in JSON.
    pub key: &'static str,
    /// What it is there.
    pub value: Value,
}

/// What a program found out, from what each rank ended with and what the machine did.
pub type Tell<P> = Box<dyn FnOnce(&[<P as Program>::Output], &Answer) -> Vec<Finding> + Send>;

/// A program that can begin.
pub struct Prepared<P: Program> {
    /// The program.
    pub program: P,
    /// How many ranks it has.
    pub ranks: u32,
    /// What is known of it before it runs.
    pub notes: Notes,
    /// What it found out.
    pub tell: Tell<P>,
}

/// What is known of a program before it runs.
#[derive(Clone, Debug, Default)]
pub struct Notes {
    /// Who begins, where one rank does and the others wait for it.
    pub first: Option<Rank>,
    /// What it was given, and what follows where something was left out: the fields of a JSON object.
    pub parameters: Value,
    /// How many messages it sends, where that is known.
    pub expected_messages: Option<u64>,
    /// How many messages with how many bytes its busiest rank sends, or receives, where that bounds its time.
    pub busiest: Option<(u64, Bytes)>,
    /// The files that were read.
    pub files: Vec<InputFile>,
    /// Whether the program itself draws from the seed.
    pub draws: bool,
    /// The file whose lines tell of messages that no receive took.
    pub schedule_file: Option<String>,
}

impl<P: Program> Prepared<P> {
    /// A program of so many ranks that was given `parameters`, and that finds out nothing but its time.
    pub fn new(program: P, ranks: u32, parameters: Value) -> Prepared<P> {
        let notes = Notes { parameters, ..Notes::default() };
        Prepared { program, ranks, notes, tell: Box::new(|_, _| Vec::new()) }
    }

    /// The same, of which it is known how many messages it sends.
    pub fn expecting(mut self, messages: Option<u64>) -> Prepared<P> {
        self.notes.expected_messages = messages;
        self
    }

    /// The same, which tells what it found out.
    pub fn telling(mut self, tell: impl FnOnce(&[P::Output], &Answer) -> Vec<Finding> + Send + 'static) -> Prepared<P> {
        self.tell = Box::new(tell);
        self
    }
}

/// What came of a run.
#[derive(Debug)]
pub struct Outcome {
    /// What the program found out.
    pub findings: Vec<Finding>,
    /// What may not be as it was meant.
    pub warnings: Vec<String>,
    /// What the machine did.
    pub answer: Answer,
}

/// Messages of so many pairs of ranks that were not received are named one by one.
const NAMED: usize = 8;

/// What is reported about messages that nobody received.
pub(crate) fn warnings(answer: &Answer) -> Vec<String> {
    answer.unreceived.iter().take(NAMED).map(not_received).collect()
}

fn not_received(Unreceived { from, to, messages }: &Unreceived) -> String {
    let messages = if *messages == 1 { "a message".to_owned() } else { format!("{messages} messages") };
    format!("rank {to} did not receive {messages} of rank {from}")
}

/// A program of whatever type that can begin.
pub trait Ready: Send {
    /// How many ranks it has.
    fn ranks(&self) -> u32;

    /// What is known of it before it runs.
    fn notes(&self) -> &Notes;

    /// Runs it on a model of `machine`; gives what it found out, and what the machine did.
    ///
    /// # Errors
    /// What keeps the machine from running it; what a rank ended with.
    fn simulate(self: Box<Self>, machine: &Machine, options: Options) -> Result<Outcome>;

    /// Runs it as a rank among others, for real, as often as that one is to run it.
    ///
    /// # Errors
    /// What the program, or the network, ends with.
    fn launch(&self, rank: &mut Running) -> Result<Record>;

    /// It, to run beside others on one machine.
    fn into_job(self: Box<Self>) -> AnyJob;
}

/// What a program found out that ran beside others, from what each rank ended with and when.
pub type TellAny = Box<dyn FnOnce(Vec<AnyOutput>, &Answer) -> Vec<Finding> + Send>;

/// A program that runs beside others, and what it found out, from what each rank ended with and when.
pub struct AnyJob {
    /// The program.
    pub program: AnyProgram,
    /// What it found out.
    pub tell: TellAny,
}

impl<P> Ready for Prepared<P>
where
    P: Member + Send + 'static,
    P::Output: Send,
{
    fn ranks(&self) -> u32 {
        self.ranks
    }

    fn notes(&self) -> &Notes {
        &self.notes
    }

    fn simulate(self: Box<Self>, machine: &Machine, options: Options) -> Result<Outcome> {
        let (results, answer) = simulated(machine, options).run(self.ranks, &self.program)?;
        let outputs = results.into_iter().collect::<Result<Vec<P::Output>>>()?;
        let warnings = warnings(&answer);
        Ok(Outcome { findings: (self.tell)(&outputs, &answer), warnings, answer })
    }

    fn launch(&self, rank: &mut Running) -> Result<Record> {
        rank.run(self.ranks, self.notes.first, &self.program)
    }

    fn into_job(self: Box<Self>) -> AnyJob {
        let Prepared { program, tell, .. } = *self;
        let tell = move |outputs: Vec<AnyOutput>, answer: &Answer| {
            let outputs: Vec<P::Output> = outputs.into_iter().filter_map(P::output).collect();
            tell(&outputs, answer)
        };
        AnyJob { program: program.into_any(), tell: Box::new(tell) }
    }
}

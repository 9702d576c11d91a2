//! A schedule that `maquette schedule` has written.

use std::path::Path;

use collectives::schedule::{
    self, Measures, OverlappedSchedule, Pacing, Pattern, ReadError, Rule, Scheduled, SendReceiveOrder,
};
use formats::input::{self, InputFile};
use quantities::{Bytes, Duration, Rank};
use report::terminal::rounded;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::{Entry, Member};
use crate::prepared::{DeriveFindings, Notes};
use crate::site::LARGEST_MESSAGE;
use crate::{Error, FilePath, Finding, Prepared, Ready, Site};

/// The longest schedule that is read.
const LONGEST: Bytes = Bytes(256 << 20);

/// Run the schedule of an exchange, as `maquette schedule` writes it.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Schedule {
    /// The schedule.
    #[schemars(extend("x-value" = "FILE.json", "x-file" = true))]
    file: FilePath,
    /// How the ranks are kept in step.
    #[serde(default)]
    #[schemars(extend("x-value" = "PACING"))]
    pacing: Pacing,
    /// What a node that both sends and receives in a step does first; if left out, sendrecv: both at once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-value" = "ORDER"))]
    order: Option<SendReceiveOrder>,
}

impl Entry for Schedule {
    const NAME: &'static str = "schedule";
    const EXAMPLES: &'static str = "Example:\n  maquette schedule --random 16,50 --algorithm edge-colouring --write exchange.json\n  \
         maquette run schedule exchange.json --machine parsytec-cc-16 --pacing receiver-confirmed";
    const ANY_RANKS: bool = false;

    fn is_in_postal_model() -> bool {
        true
    }

    fn prepare(&self, site: &mut Site<'_>) -> Result<Box<dyn Ready>, Error> {
        let (schedule, input) = read_schedule(&self.file)?;
        site.exactly(schedule.ranks, "as many as the schedule has")?;
        self.check_rule(schedule.rule)?;
        check_order(self.order, self.pacing)?;
        let largest = schedule.transfers().map(|transfer| transfer.bytes).max().unwrap_or(Bytes(0));
        let name = self.file.display().to_string();
        check_size(&name, &schedule, largest, site)?;
        let order = self.order.unwrap_or(SendReceiveOrder::Sendrecv);
        let mut parameters = json!({"file": name, "pacing": self.pacing.name()});
        if self.pacing.is_in_step() && schedule.rule != Rule::ManyToMany {
            parameters["order"] = json!(order.name());
        }
        let Measures { most_messages_of_a_rank, most_bytes_of_a_rank, .. } = schedule.measures();
        let busiest = (u64::from(most_messages_of_a_rank), most_bytes_of_a_rank);
        Ok(measured(
            &schedule,
            self.pacing,
            order,
            Own::default(),
            Notes { parameters, busiest: Some(busiest), files: vec![input], ..Notes::default() },
        ))
    }
}

impl Schedule {
    /// That what was asked for has an effect on a schedule under `rule`.
    fn check_rule(&self, rule: Rule) -> Result<(), Error> {
        let order = self.order.filter(|_| rule != Rule::OneEach);
        let pacing = Some(self.pacing).filter(|&pacing| rule == Rule::ManyToMany && pacing != Pacing::FreeRunning);
        let of_one_receiver = "none, as in a step of such a schedule no rank both sends and receives";
        let at_once = "none, as such a schedule begins everything of a step together";
        let allowed = if rule == Rule::ManyToOne { of_one_receiver } else { at_once };
        match (order, pacing) {
            (Some(order), _) => Err(Error::parameter("order", order.name(), allowed)),
            (None, Some(pacing)) => {
                let allowed = "free-running, as such a schedule begins everything of a step together";
                Err(Error::parameter("pacing", pacing.name(), allowed))
            }
            (None, None) => Ok(()),
        }
    }
}

/// Reads the schedule in the file `path`; with the digest of what is in it.
///
/// # Errors
/// A file that can't be read, or that holds no schedule.
pub fn read_schedule(path: &Path) -> Result<(schedule::Schedule, InputFile), Error> {
    let unreadable = |cause| Error::Unreadable { path: path.to_path_buf(), cause };
    let text = input::read(path, LONGEST).map_err(unreadable)?;
    Ok((schedule::Schedule::read(&path.display().to_string(), &text)?, InputFile::new(path, &text)))
}

/// That an order of sends and receives, if one is asked for, has an effect.
///
/// # Errors
/// An order of sends and receives that do not wait for each other.
pub(super) fn check_order(order: Option<SendReceiveOrder>, pacing: Pacing) -> Result<(), Error> {
    let order = order.filter(|_| !pacing.is_in_step());
    let allowed = "none, as overlapped sends and receives do not wait for each other";
    order.map_or(Ok(()), |order| Err(Error::parameter("order", order.name(), allowed)))
}

/// That the packets of the messages of a schedule can be counted; `name` is its file's.
fn check_size(name: &str, schedule: &schedule::Schedule, largest: Bytes, site: &Site<'_>) -> Result<(), Error> {
    if !site.has_network() || largest <= LARGEST_MESSAGE {
        return Ok(());
    }
    let step = schedule.steps.iter().position(|step| step.iter().any(|transfer| transfer.bytes == largest));
    let number = step.map_or(0, |index| index + 1);
    let problem =
        format!("step {number}: found a message of {largest}; allowed is at most {LARGEST_MESSAGE} on a network");
    Err(ReadError { file: name.to_owned(), place: None, problem, meant: None }.into())
}

/// What ranks have for themselves, which no network carries.
#[derive(Clone, Debug, Default)]
pub(super) struct Own {
    /// All of it. [B]
    bytes: Bytes,
    /// How long each rank copies its part; empty if that takes no time.
    copies: Vec<Duration>,
}

impl Own {
    /// What the ranks of `pattern` have for themselves: copied as fast as the processor of the machine copies a message
    /// that it sends.
    pub(super) fn of(pattern: &Pattern, site: &Site<'_>) -> Own {
        let bytes = pattern.own_in_all();
        // For real, nothing is copied.
        let Some(machine) = site.machine().filter(|_| bytes.0 > 0) else {
            return Own { bytes, copies: Vec::new() };
        };
        let copy = |bytes: Bytes| machine.model().copy_time(&machine.node, bytes);
        Own { bytes, copies: (0..pattern.ranks()).map(|rank| copy(pattern.own(Rank(rank)))).collect() }
    }

    /// What is printed about it.
    fn finding(&self) -> Option<Finding> {
        let most = self.copies.iter().max().filter(|copy| !copy.is_zero());
        let copied = most.map_or(String::new(), |most| format!(", copied in {} at most", rounded(*most)));
        (self.bytes.0 > 0).then(|| Finding {
            name: "own",
            text: format!("{} stay at their rank{copied}", self.bytes),
            key: "own_bytes",
            value: json!(self.bytes.0),
        })
    }
}

/// The program of a schedule, which tells what the schedule is; `notes` are what is known about it besides.
pub(super) fn measured(
    schedule: &schedule::Schedule,
    pacing: Pacing,
    order: SendReceiveOrder,
    own: Own,
    notes: Notes,
) -> Box<dyn Ready> {
    let own_finding = own.finding();
    match pacing {
        _ if schedule.rule == Rule::ManyToMany || pacing == Pacing::Overlapped => {
            with_measures(OverlappedSchedule::new(schedule).copying(own.copies), schedule, pacing, own_finding, notes)
        }
        _ => {
            let program = Scheduled::in_order(schedule, pacing, order).copying(own.copies);
            with_measures(program, schedule, pacing, own_finding, notes)
        }
    }
}

fn with_measures<P: Member + Send + 'static>(
    program: P,
    schedule: &schedule::Schedule,
    pacing: Pacing,
    own: Option<Finding>,
    notes: Notes,
) -> Box<dyn Ready>
where
    Prepared<P>: Ready,
{
    let measures = schedule.measures();
    let notes = Notes { expected_messages: pacing.adds_nothing().then_some(measures.transfers), ..notes };
    let derive_findings: DeriveFindings<P> = Box::new(move |_, _| findings(&measures).into_iter().chain(own).collect());
    Box::new(Prepared { program, ranks: schedule.ranks, notes, derive_findings })
}

/// What is printed about the schedule itself.
fn findings(measures: &Measures) -> Vec<Finding> {
    let Measures { carrying_steps, least_steps, bytes, .. } = *measures;
    vec![
        Finding {
            name: "steps",
            text: format!("{carrying_steps}; at least {least_steps} are needed"),
            key: "steps",
            value: json!(carrying_steps),
        },
        Finding { name: "in total", text: bytes.to_string(), key: "total_bytes", value: json!(bytes.0) },
    ]
}

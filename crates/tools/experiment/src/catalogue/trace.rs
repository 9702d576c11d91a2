//! A program written for MPI, by its trace.

use std::sync::Arc;

use collectives::catalogue::Parameters;
use collectives::{AnyAlgorithm, all_reduce, all_to_all, broadcast};
use formats::input::InputFile;
use quantities::{Duration, Time};
use replay::trace::{self, Algorithms, ComputeScale, OperationRate, Replay, TraceError};
use report::terminal::{counted, rounded};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use virtual_worlds::answer::Answer;

use super::Entry;
use super::listed::Named;
use crate::site::LARGEST_MESSAGE;
use crate::{Error, FilePath, Finding, Prepared, Ready, Site, trace_files};

/// Replay the trace of a program that was written for MPI.
///
/// `maquette trace -- mpiexec -n 8 ./program` records one. The replay makes the calls that the program made, in the
/// same order, and computes as long as it did between them. Messages are what the program sent; a collective goes by an
/// algorithm of ours. Where none is named, the choice is MPICH's: by size and number of ranks. Traces of liballprof
/// (LogGOPSim, LLAMP) and of DUMPI, as dumpi2ascii prints them, and time-independent traces of SimGrid are read, too.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Trace {
    /// The trace: a folder with a file for each rank, or a file of SimGrid that has all ranks or names their files.
    #[schemars(extend("x-value" = "DIR_OR_FILE", "x-file" = true))]
    file: FilePath,
    /// How long computing takes, relative to the recorded time.
    #[serde(default)]
    compute_scale: ComputeScale,
    /// How many operations took a second, in a time-independent trace of SimGrid, which counts them; if left out, 1e9.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    operations: Option<OperationRate>,
    /// The algorithm of MPI_Bcast; if left out, scatter-gather from 12 KiB on among 8 ranks or more, otherwise
    /// binomial.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    broadcast: Option<Named<broadcast::Algorithm>>,
    /// The algorithm of MPI_Allreduce; if left out, recursive-doubling up to 2 KiB, rabenseifner above.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    all_reduce: Option<Named<all_reduce::Algorithm>>,
    /// The algorithm of MPI_Alltoall; if left out, bruck up to 256 B a message among 8 ranks or more, all at once up to
    /// 32 KiB, pairwise above.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    all_to_all: Option<Named<all_to_all::Algorithm>>,
}

impl Entry for Trace {
    const NAME: &'static str = "trace";
    const EXAMPLES: &'static str = "Examples:\n  maquette trace --out cg.trace -- mpiexec -n 8 ./cg\n  \
         maquette run trace cg.trace --machine fat-tree-1024\n  \
         maquette run trace cg.trace --machine infiniband-128 --compute-scale 0.5 --all-reduce ring";
    const ANY_RANKS: bool = false;

    fn prepare(&self, site: &mut Site<'_>) -> Result<Box<dyn Ready>, Error> {
        let (trace, file) = trace_files::read(&self.file, self.operations)?;
        let ranks = site.exactly(trace.size(), "as many as the trace has")?;
        let largest = trace.largest();
        if site.has_network() && largest > LARGEST_MESSAGE {
            let problem = format!("found a message of {largest}; allowed is at most {LARGEST_MESSAGE} on a network");
            return Err(TraceError::of_file(&self.file.display().to_string(), problem).into());
        }
        let algorithms = self.algorithms(ranks)?;
        let parameters = self.parameters()?;
        let trace = Arc::new(trace);
        let replay = Replay::new(Arc::clone(&trace), algorithms, self.compute_scale);
        let mut prepared = Prepared::new(replay, ranks, parameters);
        prepared.notes.files.push(file);
        Ok(Box::new(prepared.with_findings(move |computed, answer| findings(&trace, computed, answer))))
    }
}

impl Trace {
    /// The digest of its files.
    pub(crate) fn digest(&self) -> Result<InputFile, Error> {
        trace_files::read(&self.file, self.operations).map(|read| read.1)
    }

    /// What it was given: algorithms only where they were named.
    fn parameters(&self) -> Result<Value, Error> {
        let wrong =
            |error: serde_json::Error| Error::Value { parameter: "trace".to_owned(), problem: error.to_string() };
        let mut parameters = serde_json::to_value(self).map_err(wrong)?;
        parameters["file"] = json!(self.file.display().to_string());
        parameters["compute_scale"] = json!(self.compute_scale.as_f64());
        if let Some(operations) = self.operations {
            parameters["operations"] = json!(operations.as_f64());
        }
        Ok(parameters)
    }

    /// The algorithms that were asked for.
    fn algorithms(&self, ranks: u32) -> Result<Algorithms, Error> {
        let broadcast = made("broadcast", self.broadcast, ranks)?.map(AnyAlgorithm::from);
        let all_reduce = made("all_reduce", self.all_reduce, ranks)?.map(AnyAlgorithm::from);
        let all_to_all = made("all_to_all", self.all_to_all, ranks)?.map(AnyAlgorithm::from);
        Ok(Algorithms([broadcast, all_reduce, all_to_all].into_iter().flatten().collect()))
    }
}

/// An algorithm that need not be told anything, since communicators are of many sizes and messages, too.
fn made<A: collectives::catalogue::Catalogue>(
    parameter: &'static str,
    named: Option<Named<A>>,
    ranks: u32,
) -> Result<Option<A>, Error> {
    let Some(Named(entry)) = named else { return Ok(None) };
    let allowed = || {
        let fits = |name: &&str| A::by_name(name).is_some_and(|entry| can_be_made(entry, ranks).is_some());
        A::names().into_iter().filter(fits).collect::<Vec<_>>().join(", ")
    };
    can_be_made(entry, ranks).map(Some).ok_or_else(|| Error::parameter(parameter, entry.name, allowed()))
}

fn can_be_made<A>(entry: &collectives::catalogue::Entry<A>, ranks: u32) -> Option<A> {
    let made = (entry.make)(&mut Parameters::of(ranks)).ok();
    made.filter(|_| !entry.needs.multicast())
}

/// What was replayed, and how long it took beside how long it had taken.
fn findings(trace: &trace::Trace, computed: &[Duration], answer: &Answer) -> Vec<Finding> {
    let (calls, messages, collectives) = (trace.calls() as u64, trace.messages(), trace.collectives());
    let most = computed.iter().copied().max().unwrap_or_default();
    let mut findings = vec![
        Finding {
            name: "replayed",
            text: format!(
                "{}, {}, {}",
                counted(calls, "call"),
                counted(messages, "message"),
                counted(collectives, "collective")
            ),
            key: "replayed",
            value: json!({"calls": calls, "messages": messages, "collectives": collectives}),
        },
        Finding {
            name: "computing",
            text: format!("{} at most", rounded(most)),
            key: "computing_ps",
            value: json!(computed.iter().map(|work| work.picoseconds()).collect::<Vec<u64>>()),
        },
    ];
    let took = answer.finish.iter().copied().max().unwrap_or(Time::ZERO).since(Time::ZERO);
    findings.extend(trace.elapsed().map(|elapsed| Finding {
        name: "recorded",
        text: format!(
            "{}; the replay takes {:.3} of it",
            rounded(elapsed),
            took.picoseconds() as f64 / elapsed.picoseconds() as f64
        ),
        key: "recorded_ps",
        value: json!(elapsed.picoseconds()),
    }));
    findings
}

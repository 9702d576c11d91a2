//! Which collectives were called, and with which algorithm they were done.

use std::sync::atomic::{AtomicU64, Ordering};

use collectives::Collective as ListedCollective;
use plan_format::{Entry, Plan};
use serde::Serialize;

/// A collective that a plan can have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Collective {
    Listed(ListedCollective),
    AllToAllv,
}

impl Collective {
    /// All of them, in the order of their places.
    fn all() -> impl Iterator<Item = Collective> {
        let listed = ListedCollective::ALL.iter().map(|&collective| Collective::Listed(collective));
        listed.chain([Collective::AllToAllv])
    }

    /// Its place among all.
    const fn place(self) -> usize {
        match self {
            Collective::Listed(collective) => collective as usize,
            Collective::AllToAllv => ListedCollective::ALL.len(),
        }
    }

    /// The name of the MPI function.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Collective::Listed(collective) => collective.mpi().first().copied().unwrap_or_default(),
            Collective::AllToAllv => "MPI_Alltoallv",
        }
    }

    /// The names of the plan's entries for it.
    fn entries(self, plan: &Plan) -> Vec<String> {
        fn names<A>(entries: &[Entry<A>]) -> Vec<String> {
            entries.iter().map(Entry::name).collect()
        }
        match self {
            Collective::Listed(collective) => plan.listed.get(&collective).map(|it| names(it)).unwrap_or_default(),
            Collective::AllToAllv => names(plan.all_to_allv.as_slice()),
        }
    }
}

/// Why a call went to the library.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reason {
    /// The plan has no entry for it.
    NotPlanned,
    /// Its communicator has a different number of ranks than the plan.
    Ranks,
    /// It is on an intercommunicator.
    Intercommunicator,
    /// Its operator depends on the order of its operands, or is one that the program may free while it is needed.
    Operator,
    /// A reduction of elements with gaps.
    Datatype,
    /// There is nothing to do.
    Nothing,
    /// Arguments about which the library has to complain.
    Arguments,
    /// It is nonblocking, and the library supports only one thread at a time.
    Threads,
}

impl Reason {
    const ALL: [Reason; 8] = [
        Reason::NotPlanned,
        Reason::Ranks,
        Reason::Intercommunicator,
        Reason::Operator,
        Reason::Datatype,
        Reason::Nothing,
        Reason::Arguments,
        Reason::Threads,
    ];

    const fn description(self) -> &'static str {
        match self {
            Reason::NotPlanned => "not in the plan",
            Reason::Ranks => "another number of ranks",
            Reason::Intercommunicator => "an intercommunicator",
            Reason::Operator => "an operator that is not commutative, or the program's own",
            Reason::Datatype => "a reduction of a derived datatype",
            Reason::Nothing => "no data",
            Reason::Arguments => "wrong arguments",
            Reason::Threads => "nonblocking, and the library is for one thread",
        }
    }
}

/// How often each entry of a plan was used, and how often the library was, for each reason.
#[derive(Debug)]
pub(crate) struct Statistics {
    lines: Vec<ReportLine>,
    counts: Vec<AtomicU64>,
    /// The first line of each collective.
    begins: Vec<usize>,
}

/// A line of the report.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct ReportLine {
    function: &'static str,
    /// Whether it was done as planned, or by the library.
    planned: bool,
    /// The algorithm, or the reason.
    by: String,
    /// How often, by all ranks.
    calls: u64,
}

impl Statistics {
    pub(crate) fn new(plan: &Plan) -> Statistics {
        let (mut lines, mut begins) = (Vec::new(), Vec::new());
        for collective in Collective::all() {
            let line = |planned, by| ReportLine { function: collective.name(), planned, by, calls: 0 };
            begins.push(lines.len());
            lines.extend(Reason::ALL.map(|reason| line(false, reason.description().to_owned())));
            lines.extend(collective.entries(plan).into_iter().map(|by| line(true, by)));
        }
        let counts = lines.iter().map(|_| AtomicU64::new(0)).collect();
        Statistics { lines, counts, begins }
    }

    /// Counts a call that uses this entry of the plan.
    pub(crate) fn planned(&self, collective: Collective, entry: usize) {
        self.add(self.begins[collective.place()] + Reason::ALL.len() + entry);
    }

    /// Counts a call that goes to the library.
    pub(crate) fn count_passed_on(&self, collective: Collective, reason: Reason) {
        self.add(self.begins[collective.place()] + reason as usize);
    }

    fn add(&self, line: usize) {
        if let Some(count) = self.counts.get(line) {
            count.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// The counts of this rank.
    pub(crate) fn counts(&self) -> Vec<u64> {
        self.counts.iter().map(|count| count.load(Ordering::Relaxed)).collect()
    }

    /// The lines with these counts, except those that are zero.
    pub(crate) fn report(&self, counts: &[u64]) -> Vec<ReportLine> {
        let lines = self.lines.iter().zip(counts).filter(|(_, calls)| **calls > 0);
        lines.map(|(line, &calls)| ReportLine { calls, ..line.clone() }).collect()
    }
}

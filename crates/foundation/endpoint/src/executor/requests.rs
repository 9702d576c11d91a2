//! The ranks' requests, and the reports that the ranks have not fetched yet.

use std::collections::{BTreeMap, VecDeque};
use std::task::Poll;

use quantities::{Rank, Time};

use super::{ActivityAndPartner, Shared};
use crate::{Error, Event, Operation, Report, Request, Result, StartStatus};

/// The state of requests. One that is under way costs nothing unless a timeline is recorded.
#[derive(Debug)]
pub(super) struct Requests {
    /// The machine's latest report, and the rank that it is for.
    latest: Option<(Rank, Report)>,
    /// Earlier reports, for ranks that waited for something else.
    earlier: BTreeMap<Rank, VecDeque<Report>>,
    /// For the timeline: what each request does, and since when.
    active: Option<BTreeMap<(Rank, u32), ActiveRequest>>,
}

#[derive(Clone, Copy, Debug)]
struct ActiveRequest {
    activity: Option<ActivityAndPartner>,
    start: Time,
    /// Whether its rank also wants to be told of the start.
    wants_start: bool,
}

impl Requests {
    pub(super) fn new(with_timeline: bool) -> Requests {
        Requests { latest: None, earlier: BTreeMap::new(), active: with_timeline.then(BTreeMap::new) }
    }

    /// The next report for `rank`.
    fn take(&mut self, rank: Rank) -> Option<Report> {
        if let Some(earlier) = self.earlier.get_mut(&rank) {
            let report = earlier.pop_front();
            if earlier.is_empty() {
                self.earlier.remove(&rank);
            }
            return report;
        }
        self.latest.take_if(|(to, _)| *to == rank).map(|(_, report)| report)
    }
}

impl Shared<'_> {
    pub(super) fn start(&mut self, rank: Rank, request: Request) -> Result<StartStatus> {
        if request.number > Request::MOST {
            let problem = format!("{} is no number of a request: the largest is {}", request.number, Request::MOST);
            return Err(Error::Unfit(problem));
        }
        if let Operation::Receive { deadline: Some(_), .. } = request.operation {
            return Err(Error::Unfit("a receive that is a request has no deadline".to_owned()));
        }
        if let Operation::Probe { .. } = request.operation {
            return Err(Error::Unfit("a probe is no request: it has to be waited for".to_owned()));
        }
        let (key, activity, wants_start) =
            ((rank, request.number), request.operation.activity(), request.reports_start);
        let (start, reports_start) =
            (self.machine.now(), wants_start || self.requests.active.is_some() && self.machine.reports_starts());
        let begun = self.machine.start(rank, Request { reports_start, ..request })?;
        self.under_way[rank.0 as usize] += 1;
        if let Some(active) = &mut self.requests.active {
            active.insert(key, ActiveRequest { activity, start, wants_start });
        }
        Ok(begun)
    }

    /// Keeps a report for `rank`, which is polled next.
    pub(super) fn deliver(&mut self, rank: Rank, report: Report) {
        if self.requests.active.is_some() && !self.record_report(rank, &report) {
            return;
        }
        if let Some((before, report)) = self.requests.latest.take() {
            self.requests.earlier.entry(before).or_default().push_back(report);
        }
        self.requests.latest = Some((rank, report));
    }

    /// Records a report in the timeline; returns whether its rank wants it.
    fn record_report(&mut self, rank: Rank, report: &Report) -> bool {
        let Some(active) = &mut self.requests.active else { return true };
        let key = (rank, report.number);
        match &report.event {
            Event::Started => active.get_mut(&key).is_some_and(|active| {
                active.start = report.at;
                active.wants_start
            }),
            Event::Completed(result) => {
                if let Some(ActiveRequest { activity, start, .. }) = active.remove(&key) {
                    self.record(rank, activity, [start, report.at], result);
                }
                true
            }
        }
    }

    /// The next report for `rank`, as soon as there is one.
    pub(super) fn take_report(&mut self, rank: Rank) -> Poll<Result<Report>> {
        if let Some(report) = self.requests.take(rank) {
            if let Event::Completed(_) = report.event {
                self.under_way[rank.0 as usize] -= 1;
            }
            return Poll::Ready(Ok(report));
        }
        if self.under_way[rank.0 as usize] == 0 {
            return Poll::Ready(Err(Error::Unfit(format!("rank {rank} waits for a request and has none under way"))));
        }
        Poll::Pending
    }
}

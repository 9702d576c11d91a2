//! The page of a run: what took its time, on which channels, and who waited for whom. Large data is aggregated before
//! it is drawn, so that the page of a million messages is no larger than that of a thousand.

mod activity;
mod bands;
mod figures;
mod gantt;
mod groups;
mod message_times;
mod path;
mod tables;
mod waits;
mod why;

use std::iter::{once_with, zip};

use machines::model::{FlitNetwork, Machine};
use quantities::{Duration, Rank, Time};
use virtual_worlds::answer::{Answer, Timeline};
use virtual_worlds::critical_path::{CriticalPath, Trace};

use self::activity::{Activities, RankActivity};
use self::bands::bands;
pub use self::figures::FigureName;
use self::gantt::{Gantt, Rows};
use self::groups::{RankGroup, groups, singled_out};
pub use self::message_times::MessageTimes;
use self::waits::WaitMatrix;
use crate::markup::{Element, element};
use crate::terminal::rounded;
use crate::{
    Axis, Cell, ChannelShading, LineChart, Mark, Measure, NetworkMap, Page, RegionMap, STYLES, Series, Table, fixed,
    heat_scale, legend,
};

/// The most rows of a table that is always visible.
const SHORT: usize = 10;
/// And of one that must be opened: all ranks of a machine of 1,024 nodes.
const LONG: usize = 1_024;
/// Up to this many ranks each have a row of their own, in order.
const FEW_RANKS: usize = 128;
/// How many sections represent this page on another one.
const EXCERPT: usize = 3;

/// A run, as its page shows it.
#[derive(Debug)]
pub struct RunPage<'run> {
    /// The name of the program.
    pub program: &'run str,
    /// The machine that it ran on.
    pub machine: &'run Machine,
    /// The program's parameters.
    pub parameters: Vec<String>,
    /// How many ranks take part in it, if not all do.
    pub taking_part: Option<u32>,
    /// How the result was made: engine, seed, files.
    pub made: String,
    /// The program's findings: names and texts.
    pub findings: Vec<(String, String)>,
    /// The jobs, where there were several.
    pub jobs: Vec<Job<'run>>,
    /// What the machine did.
    pub answer: &'run Answer,
    /// The chain of operations that determines the makespan.
    pub path: Option<&'run CriticalPath>,
}

/// A job among several.
#[derive(Clone, Copy, Debug)]
pub struct Job<'run> {
    /// Its name.
    pub name: &'run str,
    /// The name of its program.
    pub program: &'run str,
    /// The node of each of its ranks.
    pub nodes: &'run [u32],
    /// When it began.
    pub start: Time,
    /// From its start to the end of its last rank.
    pub makespan: Duration,
}

impl RunPage<'_> {
    /// The page as a file.
    pub fn html(&self) -> String {
        self.drawn(
            usize::MAX,
            format!("{}. Nothing on this page is fetched from elsewhere.", self.made.trim_end_matches('.')),
        )
    }

    /// Only its first sections, with the pictures that represent the whole, as a file.
    pub fn excerpt(&self) -> String {
        self.drawn(EXCERPT, self.made.clone())
    }

    /// The page of its first `most` sections.
    fn drawn(&self, most: usize, foot: String) -> String {
        let trace = self.answer.timeline.as_ref().map(|timeline| Trace::new(timeline, self.answer.finish.len()));
        let sections = self.sections(trace.as_ref()).take(most).collect();
        Page { title: self.title(), lead: self.lead(), sections, foot }.html()
    }

    fn title(&self) -> String {
        match self.jobs.len() {
            0 | 1 => format!("{} on {}", self.program, self.machine.name),
            jobs => format!("{jobs} jobs on {}", self.machine.name),
        }
    }

    fn lead(&self) -> String {
        let texts = self.parameters.iter().filter(|text| text.len() < 120).cloned().collect::<Vec<String>>().join(", ");
        let about = self.machine.about.trim_end_matches('.').to_owned();
        [texts, about]
            .into_iter()
            .filter(|text| !text.is_empty())
            .map(|text| format!("{text}."))
            .collect::<Vec<String>>()
            .join(" ")
    }

    /// Its sections, in order. Each is drawn only when the iterator reaches it.
    fn sections<'page>(&'page self, trace: Option<&'page Trace<'page>>) -> impl Iterator<Item = Element> + 'page {
        let timeline = self.answer.timeline.as_ref();
        let summary = once_with(|| Some(self.summary()));
        let critical_path = once_with(|| self.path.map(|path| self.critical_path(path)));
        let ranks_over_time = once_with(move || Some(self.ranks_over_time(self.activities(timeline?, trace?))));
        let network = once_with(|| self.network());
        let waits = once_with(move || trace.map(|trace| self.waits(trace)));
        let messages = once_with(move || timeline.map(|timeline| self.message_times(timeline)));
        let ranks = once_with(move || {
            let sums = timeline.zip(trace).map(|(timeline, trace)| self.activities(timeline, trace).sums());
            Some(self.ranks_table(sums.as_deref()))
        });
        summary
            .chain(critical_path)
            .chain(ranks_over_time)
            .chain(network)
            .chain(waits)
            .chain(messages)
            .chain(ranks)
            .flatten()
    }

    /// What ranks did, and when, to be drawn or summed.
    fn activities<'page>(&'page self, timeline: &'page Timeline, trace: &'page Trace<'page>) -> Activities<'page> {
        let (makespan, ranks) = (self.answer.makespan(), self.answer.finish.len());
        Activities { machine: self.machine, timeline, trace, makespan, ranks }
    }

    /// For each node its job, where there are several.
    fn job_of(&self) -> Vec<Option<usize>> {
        let mut job_of = Vec::new();
        if self.jobs.len() > 1 {
            job_of = vec![None; self.answer.finish.len()];
            for (number, job) in zip(0.., &self.jobs) {
                job.nodes.iter().for_each(|&node| job_of[node as usize] = Some(number));
            }
        }
        job_of
    }

    /// For each node its job, where there are several, or a program that was placed.
    fn marked_nodes(&self) -> Vec<Option<usize>> {
        let nodes = &self.answer.nodes;
        let mut placed = vec![None; nodes.iter().map(|node| node.0 as usize + 1).max().unwrap_or(0)];
        nodes.iter().for_each(|node| placed[node.0 as usize] = Some(0));
        if placed.is_empty() { self.job_of() } else { placed }
    }

    /// What the numbers in drawings count.
    fn numbers_of(&self) -> &'static str {
        if self.jobs.is_empty() { "rank" } else { "node" }
    }

    /// The name of a rank, which the run knows by its node.
    fn name(&self, node: Rank) -> String {
        let place = |job: &Job<'_>| Some((job.name.to_owned(), job.nodes.iter().position(|it| *it == node.0)?));
        match self.jobs.iter().find_map(place) {
            Some((name, rank)) if self.jobs.len() > 1 => format!("{rank} of {name}"),
            Some((_, rank)) => rank.to_string(),
            None => node.to_string(),
        }
    }

    /// The figures at the top.
    fn summary(&self) -> Element {
        let answer = self.answer;
        let makespan = answer.makespan().since(Time::ZERO);
        let ranks = match (self.taking_part, &self.jobs[..]) {
            (Some(members), _) => members as usize,
            (None, []) => answer.finish.len(),
            (None, jobs) => jobs.iter().map(|job| job.nodes.len()).sum(),
        };
        let mut tally =
            vec![("makespan", time(makespan)), ("ranks", count(ranks as u64)), ("messages", count(answer.messages))];
        if self.machine.network().is_some() {
            tally.push(("packets", count(answer.packets)));
            tally.push(("mean blocking of a packet", time(answer.mean_blocking())));
        }
        if let Some(ethernet) = &answer.ethernet {
            tally.push(("frames", count(ethernet.sent)));
        }
        let figures = tally.into_iter().map(|(name, value)| {
            element("li").attribute("data-name", name).child(element("b").child(value)).text(format!(" {name}"))
        });
        let mut section = element("section").attribute("id", "summary");
        section = section.child(element("ul").class("tally").children(figures));
        let why = self.path.and_then(|path| self.why(path));
        let why = why.map(|why| {
            let bound = element("p").child(element("b").text(why.bound));
            element("div").class("why").child(bound).child(paragraph(&why.more))
        });
        section = section.children(why);
        let lines =
            self.findings.iter().map(|(name, text)| element("p").class("finding").text(format!("{name}: {text}")));
        section = section.children(lines);
        if self.jobs.len() > 1 { section.child(self.jobs_table()) } else { section }
    }

    fn jobs_table(&self) -> Element {
        let mut table = Table::of_figures(&["job", "program", "ranks", "start", "makespan"]);
        for (number, job) in zip(0.., &self.jobs) {
            let swatch = element("span").class(format!("swatch job s{}", number % STYLES));
            table.rows.push(vec![
                Cell::Element(element("span").child(swatch).text(format!(" {}", job.name))),
                Cell::Words(job.program.to_owned()),
                Cell::Number(job.nodes.len().to_string()),
                measured(job.start.since(Time::ZERO)),
                measured(job.makespan),
            ]);
        }
        table.draw()
    }

    /// What ranks did, and when: rank by rank; where they are many, all of them together, those singled out, and groups
    /// that are alike.
    fn ranks_over_time(&self, activities: Activities<'_>) -> Element {
        let of = self.numbers_of();
        let section = section("ranks", "What ranks did, and when");
        let few =
            "Time runs from left to right, ranks from top to bottom. Where nothing is drawn, a rank does nothing.";
        let many =
            "All ranks together: how many of them do each thing, over time. Where nothing is drawn, ranks do nothing.";
        let chart = |rows: Rows, path: bool| {
            let path = self.path.filter(|_| path);
            Gantt { activities, path, rows, of, job_of: self.job_of() }.plane().draw()
        };
        if activities.ranks <= FEW_RANKS {
            return section
                .child(paragraph(few))
                .child(self.activity_keys())
                .child(chart(Rows::in_order(activities.ranks, of), true));
        }
        let singled = singled_out(self.path, &self.answer.finish);
        let sums = activities.sums();
        let groups = groups(&sums, activities.trace, self.answer.makespan().since(Time::ZERO));
        let overview = section
            .child(paragraph(many))
            .child(self.activity_keys())
            .child(bands(activities, of).draw())
            .child(element("h3").text("The slowest and the critical ones"))
            .child(paragraph(
                "Those with most of the critical path's time, and those that ended last. The line is the critical path, \
                 from one of them to the next.",
            ))
            .child(chart(Rows::of(&singled, activities.ranks, of), true));
        if let [only] = &groups[..] {
            let words = format!("All ranks are alike: {}, {} of the run on average", only.words(), percent(only.share));
            return overview.child(element("h3").text(words)).child(chart(Rows::in_order(activities.ranks, of), true));
        }
        let grouped = groups.iter().zip(1..).map(|(group, number)| (number.to_string(), &group.ranks[..]));
        overview
            .child(element("h3").text("Groups of ranks that are alike"))
            .child(paragraph(
                "By what took most of a rank's time, and if it waited, for whom; in a group, those that did so longest \
                 come first.",
            ))
            .child(self.groups_table(&groups))
            .child(chart(Rows::grouped(grouped, activities.ranks, of), false))
    }

    fn activity_keys(&self) -> Element {
        let keys = RankActivity::ALL.into_iter().map(|doing| {
            let swatch = element("span").class(format!("swatch {}", doing.name()));
            element("li").attribute("title", doing.meaning()).child(swatch).text(doing.name())
        });
        let line =
            self.path.map(|_| element("li").child(element("span").class("swatch critical-key")).text("critical path"));
        element("ul").class("legend").children(keys).children(line)
    }

    fn groups_table(&self, groups: &[RankGroup]) -> Element {
        let mut table = Table::of_figures(&["group", "ranks", "mostly", "for", "share of the run", "first ranks"]);
        for (number, group) in groups.iter().enumerate() {
            let first: Vec<String> = group.ranks.iter().take(4).map(|rank| self.name(*rank)).collect();
            let more = if group.ranks.len() > first.len() { ", \u{2026}" } else { "" };
            let awaited = match (group.doing, group.awaited) {
                (_, Some(awaited)) => format!("{} {}", self.numbers_of(), self.name(awaited)),
                (Some(RankActivity::Waiting), None) => "several".to_owned(),
                _ => String::new(),
            };
            table.rows.push(vec![
                Cell::Number((number + 1).to_string()),
                Cell::Number(group.ranks.len().to_string()),
                Cell::Short(group.words()),
                Cell::Short(awaited),
                Cell::Number(percent(group.share)),
                Cell::Short(format!("{}{more}", first.join(", "))),
            ]);
        }
        table.draw()
    }

    /// The network with its hot spots, and the busiest channels.
    fn network(&self) -> Option<Element> {
        let section = section("network", "What channels carried, and where headers waited");
        if let Some(network) = self.machine.network() {
            let section = if NetworkMap::is_readable(network) {
                section.child(self.map(network))
            } else {
                section.children(self.regions(network))
            };
            return Some(section.children(tables::network(network, self.answer)));
        }
        let ethernet = self.answer.ethernet.as_ref()?;
        let wires = section
            .child(paragraph("Every node has one wire to the switch and one from it."))
            .child(tables::wires(self.answer, ethernet));
        Some(wires.children(ethernet.trunk_busy.map(|busy| tables::trunk(self.answer, busy))))
    }

    fn map(&self, network: &FlitNetwork) -> Element {
        let job_of = &self.marked_nodes()[..];
        let map = NetworkMap::of(network, self.answer, ChannelShading::Carried, job_of);
        let map = element("div").class("scrolls").attribute("tabindex", "0").child(map.draw());
        element("figure")
            .child(map)
            .child(heat_scale("channel busy, router's busiest channel", 1.0, whole_percent))
            .children(self.no_waits())
    }

    /// The network in regions.
    fn regions(&self, network: &FlitNetwork) -> Vec<Element> {
        let job_of = &self.marked_nodes()[..];
        let map = RegionMap::new(network, self.answer, ChannelShading::Carried, job_of);
        let regions = network.regions.list.len();
        let routers = network.routers.len();
        let drawing = map.is_readable().then(|| {
            let words = format!(
                "{routers} routers in {regions} regions, each in the colour of its busiest channel: between its routers, \
                 or to or from its nodes. A line stands for all channels from one region to another: its edges have the \
                 colour of their mean, its middle that of the busiest."
            );
            let drawing = element("div").class("scrolls").attribute("tabindex", "0").child(map.draw());
            [paragraph(&words), element("figure").child(drawing).child(heat_scale("busy", 1.0, whole_percent))]
        });
        let matrix = (!map.is_readable() || map.has_matrix()).then(|| {
            let heading = element("h3").text("From region to region, by the busiest channel");
            element("figure").class("square").child(heading).child(map.matrix().draw())
        });
        let alone = drawing.is_none().then(|| {
            let words = format!(
                "{routers} routers in {regions} regions; more pairs of regions are joined than lines could be told \
                 apart. Channels within a region are on the diagonal."
            );
            [paragraph(&words), heat_scale("busy", 1.0, whole_percent)]
        });
        let opened = element("div").class("opened").children(map.opened());
        let begin = drawing.into_iter().flatten().chain(alone.into_iter().flatten());
        begin.chain(matrix).chain(self.no_waits()).chain([opened]).collect()
    }

    fn no_waits(&self) -> Option<Element> {
        let is_clear = NetworkMap::peak_router(self.answer) <= 0.0;
        is_clear.then(|| paragraph("No header waited for a channel."))
    }

    fn waits(&self, trace: &Trace<'_>) -> Element {
        let section = section("waits", "Who waited for whom");
        let waits = WaitMatrix::of(trace, self.answer.finish.len());
        if waits.longest().is_zero() {
            return section.child(paragraph("No rank waited for a message: each had arrived before its receive."));
        }
        let mut table = Table::of_figures(&["waited", "for", "duration"]);
        for (waited, sender, length) in waits.most(SHORT, |rank| self.name(rank)) {
            table.rows.push(vec![Cell::Number(waited), Cell::Number(sender), measured(length)]);
        }
        let longest = waits.longest();
        let text_of = |picoseconds: f64| rounded(Duration::from_picoseconds(picoseconds as u64));
        let scale = heat_scale("waited", longest.picoseconds() as f64, text_of);
        let picture = element("figure").child(waits.draw(self.numbers_of())).child(scale);
        let longest = element("div").child(element("h3").text("The longest waits")).child(table.draw());
        section
            .child(paragraph(
                "The time from a rank's call of receive until the message arrived, summed over its receives.",
            ))
            .child(element("div").class("beside").child(picture).child(longest))
    }

    fn message_times(&self, timeline: &Timeline) -> Element {
        let section = section("messages", "How long messages took");
        if timeline.messages.is_empty() {
            return section.child(paragraph("There were no messages."));
        }
        let mut groups = vec![("all".to_owned(), MessageTimes::of(&timeline.messages))];
        let job_of = &self.job_of();
        if !job_of.is_empty() {
            let of = |number| {
                timeline.messages.iter().filter(move |message| job_of[message.from.0 as usize] == Some(number))
            };
            groups =
                zip(0.., &self.jobs).map(|(number, job)| (job.name.to_owned(), MessageTimes::of(of(number)))).collect();
        }
        let line = |(number, (name, times)): (usize, &(String, MessageTimes))| {
            let percents = (0..=20).map(|step| f64::from(step) * 5.0);
            let points = percents.map(|percent| (times.at(percent).microseconds(), percent)).collect();
            Series { name: name.clone(), mark: Mark::full(number), points }
        };
        let chart = LineChart {
            title: "Share of the messages that took no longer".to_owned(),
            x: Axis::logarithmic("message time [us]", Measure::Microseconds),
            y: Axis::linear("messages [%]", Measure::Plain).at(&[0.0, 25.0, 50.0, 75.0, 100.0]),
            series: groups.iter().enumerate().map(line).collect(),
            baseline: None,
        };
        let names: Vec<(String, Mark)> =
            zip(0.., &groups).map(|(number, (name, _))| (name.clone(), Mark::full(number))).collect();
        let keys = (groups.len() > 1).then(|| legend(&names));
        let picture = element("figure").children(keys).child(chart.draw());
        section
            .child(paragraph("From the call of send to the end of receive."))
            .child(element("div").class("beside").child(picture).child(tables::percentiles(&groups)))
    }
}

fn section(id: &'static str, heading: &str) -> Element {
    element("section").attribute("id", id).child(element("h2").text(heading))
}

fn paragraph(text: &str) -> Element {
    element("p").text(text)
}

/// A table that the reader can open.
fn folded(name: &str, table: Element) -> Element {
    element("details").child(element("summary").text(name)).child(table)
}

/// A time in words, and exactly for programs. [ps]
fn time(length: Duration) -> Element {
    element("data").attribute("value", length.picoseconds()).text(rounded(length))
}

/// A share of one, in percent.
fn percent(share: f64) -> String {
    format!("{} %", fixed(share * 100.0, 1))
}

/// A share of one, in whole percents.
fn whole_percent(share: f64) -> String {
    format!("{} %", fixed(share * 100.0, 0))
}

/// A count.
fn count(number: u64) -> Element {
    element("data").attribute("value", number).text(number)
}

/// A time in a cell of a table.
fn measured(length: Duration) -> Cell {
    Cell::Measured(time(length))
}

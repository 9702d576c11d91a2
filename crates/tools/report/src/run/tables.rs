//! The tables behind the pictures.

use std::cmp::Reverse;
use std::iter::zip;

use machines::model::{ChannelEnd, FlitNetwork};
use quantities::{Duration, Rank, Time};
use virtual_worlds::answer::{Answer, EthernetStatistics};

use super::activity::RankActivity;
use super::{LONG, MessageTimes, RunPage, SHORT, folded, measured, percent, section};
use crate::markup::{Element, element};
use crate::terminal::amount;
use crate::{Cell, Table};

impl RunPage<'_> {
    /// What each rank did, and for how long.
    pub(super) fn ranks_table(&self, sums: Option<&[[Duration; RankActivity::COUNT]]>) -> Element {
        let mut head = vec!["rank", "node", "finished", "packets"];
        if sums.is_some() {
            head.extend(RankActivity::ALL.map(RankActivity::name));
        }
        let mut table = Table::of_figures(&head);
        // Ranks of jobs are known by their nodes.
        let ranks: Vec<u32> = match &self.jobs[..] {
            [] => (0..self.answer.finish.len() as u32).collect(),
            jobs => jobs.iter().flat_map(|job| job.nodes).copied().collect(),
        };
        for &rank in ranks.iter().take(LONG) {
            let place = rank as usize;
            let packets = self.answer.ranks.get(place).map_or(0, |rank| rank.packets);
            let mut row = vec![
                Cell::Number(self.name(Rank(rank))),
                Cell::Number(self.answer.node_of(Rank(rank)).0.to_string()),
                measured(self.answer.finish[place].since(Time::ZERO)),
                Cell::Number(packets.to_string()),
            ];
            row.extend(sums.iter().flat_map(|sums| sums[place].map(measured)));
            table.rows.push(row);
        }
        let left = ranks.len().saturating_sub(LONG);
        let name = if left == 0 { "All ranks".to_owned() } else { format!("The first ranks; {left} more follow") };
        section("all-ranks", "Rank by rank").child(folded(&name, table.draw()))
    }
}

/// The busiest channels, and the routers where headers waited longest.
pub(super) fn network(network: &FlitNetwork, answer: &Answer) -> Vec<Element> {
    let mut used: Vec<usize> = (0..answer.channels.len()).filter(|id| answer.channels[*id].packets > 0).collect();
    used.sort_by_key(|id| Reverse(answer.channels[*id].busy + answer.channels[*id].blocked));
    let mut hot: Vec<usize> = (0..answer.routers.len()).filter(|id| !answer.routers[*id].blocking.is_zero()).collect();
    hot.sort_by_key(|id| Reverse(answer.routers[*id].blocking));
    let busiest = |ids: &[usize]| channels(network, answer, ids);
    let mut all = vec![element("h3").text("The busiest channels"), busiest(&used[..used.len().min(SHORT)])];
    if used.len() > SHORT {
        let shown = used.len().min(LONG);
        let name = format!("{shown} of {} channels that carried something, busiest first", used.len());
        all.push(folded(&name, busiest(&used[..shown])));
    }
    if !hot.is_empty() {
        let name = format!("Where headers waited: {} of {} routers", hot.len().min(LONG), answer.routers.len());
        all.push(folded(&name, routers(network, answer, &hot[..hot.len().min(LONG)])));
    }
    all
}

fn channels(network: &FlitNetwork, answer: &Answer, ids: &[usize]) -> Element {
    let place = |place: ChannelEnd| match place {
        ChannelEnd::Node(node) => format!("node {}", node.0),
        ChannelEnd::Router(router) => network.routers[router.0 as usize].name.clone(),
    };
    let mut table = Table::of_figures(&["id", "from", "to", "busy", "", "blocked", "carried", "packets"]);
    let makespan = answer.makespan().seconds().max(1e-12);
    for &id in ids {
        let (ends, done) = (&network.channels[id], &answer.channels[id]);
        let busy = done.busy.seconds() / makespan;
        table.rows.push(vec![
            Cell::Number(id.to_string()),
            Cell::Short(place(ends.from)),
            Cell::Short(place(ends.to)),
            measured(done.busy),
            Cell::Number(percent(busy)),
            measured(done.blocked),
            Cell::Number(amount(done.bytes)),
            Cell::Number(done.packets.to_string()),
        ]);
    }
    table.draw()
}

fn routers(network: &FlitNetwork, answer: &Answer, ids: &[usize]) -> Element {
    let mut table = Table::of_figures(&["id", "router", "headers", "waited", "mean per header"]);
    for &id in ids {
        let done = &answer.routers[id];
        let mean = Duration::from_picoseconds(done.blocking.picoseconds() / done.headers.max(1));
        table.rows.push(vec![
            Cell::Number(id.to_string()),
            Cell::Short(network.routers[id].name.clone()),
            Cell::Number(done.headers.to_string()),
            measured(done.blocking),
            measured(mean),
        ]);
    }
    table.draw()
}

/// How long the wires of an Ethernet carried frames.
pub(super) fn wires(answer: &Answer, ethernet: &EthernetStatistics) -> Element {
    let mut table =
        Table::of_figures(&["node", "busy to the switch", "", "busy from the switch", "", "frames lost for it"]);
    let makespan = answer.makespan().seconds().max(1e-12);
    let share = |length: Duration| Cell::Number(percent(length.seconds() / makespan));
    for ((node, &[up, down]), lost) in zip(zip(0_usize.., &ethernet.busy), &ethernet.dropped_for).take(LONG) {
        table.rows.push(vec![
            Cell::Number(node.to_string()),
            measured(up),
            share(up),
            measured(down),
            share(down),
            Cell::Number(lost.to_string()),
        ]);
    }
    table.draw()
}

/// How long the trunk between two switches carried frames.
pub(super) fn trunk(answer: &Answer, [there, back]: [Duration; 2]) -> Element {
    let mut table = Table::of_figures(&["trunk", "busy", ""]);
    let makespan = answer.makespan().seconds().max(1e-12);
    for (way, busy) in [("from the first switch to the second", there), ("back", back)] {
        let share = Cell::Number(percent(busy.seconds() / makespan));
        table.rows.push(vec![Cell::Words(way.to_owned()), measured(busy), share]);
    }
    table.draw()
}

/// Percentiles of message times, one column for each group.
pub(super) fn percentiles(groups: &[(String, MessageTimes)]) -> Element {
    let names = groups.iter().map(|(name, _)| name.as_str());
    let mut table = Table::of_figures(&std::iter::once("messages").chain(names).collect::<Vec<&str>>());
    let counts = groups.iter().map(|(_, times)| Cell::Number(times.count().to_string()));
    table.rows.push(std::iter::once(Cell::Words("count".to_owned())).chain(counts).collect());
    let means = groups.iter().map(|(_, times)| measured(times.mean()));
    table.rows.push(std::iter::once(Cell::Words("mean".to_owned())).chain(means).collect());
    for (place, (name, _)) in zip(0.., MessageTimes::default().percentiles()) {
        let times = groups.iter().map(|(_, times)| measured(times.percentiles()[place].1));
        let name = match name {
            "0" => "least".to_owned(),
            "100" => "most".to_owned(),
            name => format!("{name} % took no longer"),
        };
        table.rows.push(std::iter::once(Cell::Short(name)).chain(times).collect());
    }
    table.draw()
}

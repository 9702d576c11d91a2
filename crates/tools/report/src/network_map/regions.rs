//! A map of a network too large to draw channel by channel: its regions as boxes, and a bundle for all channels from
//! one region to another.
//!
//! What runs across a bundle is shown twice, as the wide line's colour the mean of its channels, as the narrow line's
//! within it the busiest. A matrix of regions shows the same where bundles are too many to draw, and each region can be
//! opened.

use std::collections::BTreeMap;

use machines::model::{ChannelEnd, FlitNetwork, NodeId, Regions};
use virtual_worlds::answer::Answer;

use super::{ChannelShading, HEATS, NetworkMap, RunLength, heat};
use crate::markup::{Element, element};
use crate::plane::{Cells, Plane, ticks_of_count};
use crate::{Cell, STYLES, Table, fixed, frame};

/// The size of a region's box. [drawing units]
const BOX: (f64, f64) = (118.0, 42.0);
/// The least distance between the middles of two boxes, if they are beside each other, and if one is above the other.
/// [drawing units]
const APART: (f64, f64) = (150.0, 84.0);
/// Room around the outermost boxes. [drawing units]
const MARGIN: f64 = 16.0;
/// How far a bundle runs to the right of the straight line between its regions. [drawing units]
const ASIDE: f64 = 3.5;
/// More bundles than this are only shown as a matrix.
const MOST_BUNDLES: usize = 600;
/// Up to this many letters of a region's name are written into its box.
const LETTERS: usize = 18;
/// The most regions that can be opened, those with the busiest channels.
const MOST_OPENED: usize = 16;
/// The most routers, nodes and channels in the maps of all of them: each takes some 250 bytes of a page of 3 MB at most.
const MOST_DRAWN: u32 = 4_000;

/// What some channels carried.
#[derive(Clone, Copy, Debug, Default)]
struct Load {
    channels: u32,
    /// The share of the run during which they carried something, summed over them.
    busy: f64,
    /// The same for the busiest.
    busiest: f64,
    packets: u64,
}

impl Load {
    fn add(&mut self, busy: f64, packets: u64) {
        self.channels += 1;
        self.busy += busy;
        self.busiest = self.busiest.max(busy);
        self.packets += packets;
    }

    fn mean(&self) -> f64 {
        self.busy / f64::from(self.channels.max(1))
    }
}

/// A map of a network in regions.
#[derive(Debug)]
pub struct RegionMap<'a> {
    network: &'a FlitNetwork,
    answer: &'a Answer,
    shows: ChannelShading,
    job_of: &'a [Option<usize>],
    /// What channels from one region to another carried.
    bundles: BTreeMap<(u32, u32), Load>,
    /// For each region what the channels within it carried, and those to and from its nodes.
    within: Vec<[Load; 2]>,
    /// For each region how many routers and nodes it has.
    sizes: Vec<[u32; 2]>,
    /// For each region how many of its nodes each job has, by the job's style; empty where there are no jobs.
    jobs: Vec<[u32; STYLES]>,
}

impl<'a> RegionMap<'a> {
    /// The map of `network`, with what `answer` says of it, and the job of each node where there are several.
    pub fn new(
        network: &'a FlitNetwork,
        answer: &'a Answer,
        shows: ChannelShading,
        job_of: &'a [Option<usize>],
    ) -> RegionMap<'a> {
        let regions = network.regions.list.len();
        let region = |end: ChannelEnd| match end {
            ChannelEnd::Router(router) => Some(network.regions.of_router[router.0 as usize]),
            ChannelEnd::Node(_) => None,
        };
        let run = RunLength::of(answer);
        let (mut bundles, mut within) = (BTreeMap::<(u32, u32), Load>::new(), vec![[Load::default(); 2]; regions]);
        for (channel, done) in network.channels.iter().zip(&answer.channels) {
            let load = match (region(channel.from), region(channel.to)) {
                (Some(from), Some(to)) if from == to => &mut within[from as usize][0],
                (Some(from), Some(to)) => bundles.entry((from, to)).or_default(),
                (Some(only), None) | (None, Some(only)) => &mut within[only as usize][1],
                (None, None) => continue,
            };
            load.add(run.share(done.busy), done.packets);
        }
        let mut sizes = vec![[0, 0]; regions];
        network.regions.of_router.iter().for_each(|&region| sizes[region as usize][0] += 1);
        within.iter().zip(&mut sizes).for_each(|(within, size)| size[1] = within[1].channels / 2);
        let mut jobs = vec![[0; STYLES]; if job_of.iter().any(Option::is_some) { regions } else { 0 }];
        for (node, job) in (0..).zip(job_of) {
            if let Some(job) = job {
                let home = network.home(NodeId(node)).0 as usize;
                jobs[network.regions.of_router[home] as usize][job % STYLES] += 1;
            }
        }
        RegionMap { network, answer, shows, job_of, bundles, within, sizes, jobs }
    }

    fn regions(&self) -> &'a Regions {
        &self.network.regions
    }

    fn name(&self, region: u32) -> &'a str {
        &self.regions().list[region as usize].name
    }

    /// The busiest channel of a region: within it, or to or from its nodes.
    fn busiest(&self, region: u32) -> f64 {
        let [routers, nodes] = self.within[region as usize];
        routers.busiest.max(nodes.busiest)
    }

    /// Draws the regions, and the bundles between them.
    pub fn draw(&self) -> Element {
        self.draw_sized().0
    }

    /// Draws them; also returns the drawing's width and height.
    pub(crate) fn draw_sized(&self) -> (Element, [f64; 2]) {
        let layout = RegionLayout::of(self.regions());
        let [width, height] = layout.size;
        let mut bundles: Vec<((u32, u32), &Load)> = self.bundles.iter().map(|(ends, load)| (*ends, load)).collect();
        // The busiest are drawn over the others.
        bundles.sort_by(|(_, one), (_, other)| one.busiest.total_cmp(&other.busiest));
        let bundles = bundles.into_iter().map(|(ends, load)| self.bundle(&layout, ends, load));
        let boxes = (0..self.regions().list.len() as u32).map(|region| self.region(&layout, region));
        let drawing = element("svg")
            .class("map regions")
            .attribute("viewBox", format!("0 0 {} {}", fixed(width, 0), fixed(height, 0)))
            .attribute("width", fixed(width, 0))
            .attribute("height", fixed(height, 0))
            .attribute("role", "img")
            .attribute("aria-label", "Map of the network in regions; the tables below have its channels")
            .child(element("g").class("bundles").children(bundles))
            .child(element("g").class("routers").children(boxes));
        (drawing, layout.size)
    }

    /// Whether bundles are few enough to be told apart as lines; if not, only the matrix shows them.
    pub fn is_readable(&self) -> bool {
        self.bundles.len() <= MOST_BUNDLES
    }

    /// Whether so many pairs of regions are joined that a matrix of them says more than a few cells beside a diagonal.
    pub fn has_matrix(&self) -> bool {
        let is_used = self.bundles.values().any(|load| load.packets > 0);
        is_used && self.bundles.len() > 4 * self.regions().list.len()
    }

    fn bundle(&self, layout: &RegionLayout, (from, to): (u32, u32), load: &Load) -> Element {
        let way = layout.way(from, to);
        let line = |class: &str, busy: f64| {
            element("path").class(format!("channel {class} heat{}", heat(busy, 1.0))).attribute("d", way.clone())
        };
        let lines = element("g").child(line("mean", load.mean())).child(line("busiest", load.busiest));
        frame::titled(lines, &format!("{} to {}: {}", self.name(from), self.name(to), self.words(load)))
    }

    /// A load in words.
    fn words(&self, load: &Load) -> String {
        let channels = if load.channels == 1 { "1 channel".to_owned() } else { format!("{} channels", load.channels) };
        if self.shows == ChannelShading::Nothing {
            return channels;
        }
        let (busiest, mean) = (percent(load.busiest), percent(load.mean()));
        format!("{channels}, the busiest {busiest} busy, {mean} on average; {} packets", load.packets)
    }

    fn region(&self, layout: &RegionLayout, region: u32) -> Element {
        let (x, y) = layout.places[region as usize];
        let heat = heat(self.busiest(region), 1.0);
        let square = element("rect")
            .class(format!("router heat{heat}"))
            .attribute("x", fixed(x - BOX.0 / 2.0, 1))
            .attribute("y", fixed(y - BOX.1 / 2.0, 1))
            .attribute("width", BOX.0)
            .attribute("height", BOX.1)
            .attribute("rx", "4");
        let class = format!("number middle on{heat}");
        let name = shortened(self.name(region));
        let group = element("g")
            .child(square)
            .child(frame::label(&class, x, y - 3.5, &name))
            .child(frame::label(&class, x, y + 13.0, &self.second_line(region)))
            .children(self.jobs(region, (x, y)));
        frame::titled(group, &self.title(region))
    }

    /// What stands below a region's name.
    fn second_line(&self, region: u32) -> String {
        let [routers, nodes] = self.sizes[region as usize];
        let has_channels = self.within[region as usize].iter().any(|load| load.channels > 0);
        if self.shows != ChannelShading::Nothing && has_channels {
            let busiest = self.busiest(region);
            return if busiest > 0.0 { format!("up to {}", percent(busiest)) } else { "idle".to_owned() };
        }
        if nodes > 0 { counted(nodes, "node") } else { counted(routers, "router") }
    }

    fn title(&self, region: u32) -> String {
        let ([routers, nodes], loads) = (self.sizes[region as usize], &self.within[region as usize]);
        let of = |load: &Load, place: &str| match load.channels {
            0 => String::new(),
            _ => format!("; {place}: {}", self.words(load)),
        };
        let (within, ends) = (of(&loads[0], "between them"), of(&loads[1], "to and from nodes"));
        let name = self.name(region);
        format!("{name}: {}, {}{within}{ends}", counted(routers, "router"), counted(nodes, "node"))
    }

    /// The shares of jobs in a region's nodes, along the lower edge of its box.
    fn jobs(&self, region: u32, (x, y): (f64, f64)) -> Vec<Element> {
        let Some(counts) = self.jobs.get(region as usize) else { return Vec::new() };
        let step = BOX.0 / f64::from(self.sizes[region as usize][1].max(1));
        let mut left = x - BOX.0 / 2.0;
        let mut drawn = Vec::new();
        for (style, &count) in counts.iter().enumerate().filter(|(_, count)| **count > 0) {
            let width = step * f64::from(count);
            let bar = element("rect").class(format!("job s{style}")).attribute("x", fixed(left, 1));
            let bar = bar.attribute("y", fixed(y + BOX.1 / 2.0 - 4.0, 1)).attribute("width", fixed(width, 1));
            drawn.push(bar.attribute("height", "4"));
            left += width;
        }
        drawn
    }

    /// A matrix of regions: from the row's to the column's, by the busiest channel between them.
    pub(crate) fn matrix(&self) -> Plane {
        let side = self.regions().list.len() as u32;
        let mut drawn: Vec<Cells> = (0..HEATS).map(|_| Cells::default()).collect();
        for row in 0..side {
            for column in 0..side {
                let load = match row == column {
                    true => Some(&self.within[row as usize][0]).filter(|load| load.channels > 0),
                    false => self.bundles.get(&(row, column)),
                };
                if let Some(load) = load {
                    drawn[heat(load.busiest, 1.0)].add(column, row, 1);
                }
            }
        }
        let ground = element("rect").class("ground").attribute("width", side).attribute("height", side);
        let cells = drawn.into_iter().zip(0..).filter_map(|(cells, heat)| cells.drawn(&format!("hot heat{heat}")));
        Plane {
            summary: "The busiest channel from each region to each other one; the table below has the busiest of all."
                .to_owned(),
            level: ("to region, by number".to_owned(), ticks_of_count(side as usize, 8)),
            upright: ("from region, by number".to_owned(), ticks_of_count(side as usize, 16)),
            size: [side, side],
            height: None,
            content: std::iter::once(ground).chain(cells).collect(),
        }
    }

    /// The busiest channel of a region, or from it to another.
    fn busiest_from(&self, region: u32) -> f64 {
        self.bundles_from(region).map(|(_, load)| load.busiest).fold(self.busiest(region), f64::max)
    }

    /// The regions to which a region has channels.
    fn bundles_from(&self, region: u32) -> impl Iterator<Item = (u32, &Load)> {
        self.bundles.range((region, 0)..=(region, u32::MAX)).map(|((_, to), load)| (*to, load))
    }

    /// Regions that can be opened, those with the busiest channels: a map of each, and its bundles. A page has room for
    /// a few thousand routers, nodes and channels in all of them.
    pub fn opened(&self) -> Vec<Element> {
        let mut order: Vec<u32> = (0..self.regions().list.len() as u32).collect();
        // What carried nothing has nothing to show, unless there was no run.
        order.retain(|region| self.shows == ChannelShading::Nothing || self.busiest_from(*region) > 0.0);
        order.sort_by(|one, other| self.busiest_from(*other).total_cmp(&self.busiest_from(*one)).then(one.cmp(other)));
        order.truncate(MOST_OPENED);
        let mut room = MOST_DRAWN;
        let mut opened: Vec<(u32, bool)> = Vec::new();
        for region in order {
            let [routers, nodes] = self.sizes[region as usize];
            let needed = routers + nodes + self.within[region as usize][0].channels;
            opened.push((region, needed <= room));
            room -= if needed <= room { needed } else { 0 };
        }
        opened.sort_unstable();
        opened.into_iter().map(|(region, has_map)| self.opened_region(region, has_map)).collect()
    }

    fn opened_region(&self, region: u32, has_map: bool) -> Element {
        let mut table = Table::of_figures(&["to", "channels", "busiest", "mean", "packets"]);
        for (to, load) in self.bundles_from(region) {
            table.rows.push(vec![
                Cell::Short(self.name(to).to_owned()),
                Cell::Number(load.channels.to_string()),
                Cell::Number(percent(load.busiest)),
                Cell::Number(percent(load.mean())),
                Cell::Number(load.packets.to_string()),
            ]);
        }
        let map = has_map.then(|| {
            let map = NetworkMap::of(self.network, self.answer, self.shows, self.job_of).within(region).draw();
            element("figure").child(element("div").class("scrolls").attribute("tabindex", "0").child(map))
        });
        let body = element("div").class("beside").children(map).child(table.draw());
        let [routers, nodes] = self.sizes[region as usize];
        let (routers, nodes) = (counted(routers, "router"), counted(nodes, "node"));
        let busy = match self.shows {
            ChannelShading::Nothing => String::new(),
            ChannelShading::Carried | ChannelShading::Blocked => {
                format!(", channels up to {} busy", percent(self.busiest_from(region)))
            }
        };
        let summary = format!("{}: {routers}, {nodes}{busy}", self.name(region));
        element("details").child(element("summary").text(summary)).child(body)
    }
}

fn percent(share: f64) -> String {
    format!("{} %", fixed(share * 100.0, 1))
}

fn counted(count: u32, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") }
}

/// A name that fits into a box.
fn shortened(name: &str) -> String {
    if name.chars().count() <= LETTERS {
        return name.to_owned();
    }
    let begin: String = name.chars().take(LETTERS - 1).collect();
    format!("{}\u{2026}", begin.trim_end())
}

/// Where regions lie on the paper.
struct RegionLayout {
    places: Vec<(f64, f64)>,
    /// Width and height.
    size: [f64; 2],
}

impl RegionLayout {
    fn of(regions: &Regions) -> RegionLayout {
        let position = |region: &machines::model::Region| {
            (f64::from(region.position.0) * APART.0, f64::from(region.position.1) * APART.1)
        };
        let given: Vec<(f64, f64)> = regions.list.iter().map(position).collect();
        let scale = scale(&given);
        let least = |of: fn(&(f64, f64)) -> f64| given.iter().map(of).fold(f64::INFINITY, f64::min);
        let (left, top) = (least(|place| place.0), least(|place| place.1));
        let edge = (BOX.0 / 2.0 + MARGIN, BOX.1 / 2.0 + MARGIN);
        let lay = |&(x, y): &(f64, f64)| ((x - left) * scale + edge.0, (y - top) * scale + edge.1);
        let places: Vec<(f64, f64)> = given.iter().map(lay).collect();
        let most = |of: fn(&(f64, f64)) -> f64| places.iter().map(of).fold(0.0, f64::max);
        RegionLayout { size: [most(|place| place.0) + edge.0, most(|place| place.1) + edge.1], places }
    }

    /// The line from one region to another, on the right-hand side of its direction. It bends around boxes in its way.
    fn way(&self, from: u32, to: u32) -> String {
        let (start, end) = self.edges(from, to);
        let (right, down) = (end.0 - start.0, end.1 - start.1);
        let length = right.hypot(down).max(1e-9);
        let aside = (-down / length, right / length);
        let bend = if self.is_obstructed(from, to) { 2.0 * ASIDE + length * 0.2 } else { ASIDE };
        let at = |(x, y): (f64, f64), sideways: f64| {
            format!("{} {}", fixed(x + aside.0 * sideways, 1), fixed(y + aside.1 * sideways, 1))
        };
        let middle = ((start.0 + end.0) / 2.0, (start.1 + end.1) / 2.0);
        format!("M{}Q{} {}", at(start, ASIDE), at(middle, bend), at(end, ASIDE))
    }

    /// Where the line between two regions leaves the one box and enters the other: below and above if one lies lower,
    /// so that it does not run behind the boxes beside them.
    fn edges(&self, from: u32, to: u32) -> ((f64, f64), (f64, f64)) {
        let (start, end) = (self.places[from as usize], self.places[to as usize]);
        let (right, down) = (end.0 - start.0, end.1 - start.1);
        let half = if down.abs() > 2.0 * BOX.1 || right.abs() < BOX.0 {
            (0.0, down.signum() * BOX.1 / 2.0)
        } else {
            (right.signum() * BOX.0 / 2.0, 0.0)
        };
        ((start.0 + half.0, start.1 + half.1), (end.0 - half.0, end.1 - half.1))
    }

    /// Whether the straight line between two regions runs through another's box.
    fn is_obstructed(&self, from: u32, to: u32) -> bool {
        let (start, end) = self.edges(from, to);
        let step = |share: f64| (start.0 + (end.0 - start.0) * share, start.1 + (end.1 - start.1) * share);
        let others = self.places.iter().zip(0_u32..).filter(|(_, region)| *region != from && *region != to);
        let points: Vec<(f64, f64)> = (1..32).map(|number| step(f64::from(number) / 32.0)).collect();
        others.into_iter().any(|((x, y), _)| {
            points.iter().any(|point| (point.0 - x).abs() < BOX.0 / 2.0 && (point.1 - y).abs() < BOX.1 / 2.0)
        })
    }
}

/// How much larger the given places must be drawn for the boxes not to touch.
fn scale(places: &[(f64, f64)]) -> f64 {
    /// Where positions say nothing, a drawing that grows beyond this is of no use either.
    const MOST: f64 = 40.0;
    let gap = (BOX.0 + 22.0, BOX.1 + 26.0);
    let mut scale: f64 = 0.05;
    for (number, one) in places.iter().enumerate() {
        for other in &places[number + 1..] {
            let (across, down) = ((one.0 - other.0).abs(), (one.1 - other.1).abs());
            scale = scale.max((gap.0 / across.max(1e-9)).min(gap.1 / down.max(1e-9)));
        }
    }
    scale.min(MOST)
}

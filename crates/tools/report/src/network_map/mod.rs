//! A map of a network, with its hot spots: channel by channel, or in regions where there are too many.

mod regions;

pub use self::regions::RegionMap;

use machines::model::{Channel, ChannelEnd, FlitNetwork, NodeId, RouterId};
use quantities::Duration;
use virtual_worlds::answer::{Answer, ChannelStatistics};

use super::frame;
use super::legend::STYLES;
use super::markup::{Element, element};
use super::numbers::{Measure, fixed};

/// How many steps of heat the style sheet has colours for.
const HEATS: usize = 8;
/// Distance between the two nearest routers. [drawing units]
const SPACING: f64 = 84.0;
/// Half the side of a router's box. [drawing units]
const HALF_BOX: f64 = 17.0;
/// Room around the outermost routers. [drawing units]
const MARGIN: f64 = 52.0;
/// How far a channel runs to the right of the straight line between its routers. [drawing units]
const ASIDE: f64 = 3.5;
/// A map wider than this has the whole width of the page. [drawing units]
const WIDE: f64 = 480.0;

/// Up to this many channels have titles of their own; if there are more, all channels of one colour are one line.
const FEW_CHANNELS: usize = 3_000;
/// Up to this many routers, each channel is checked for routers in its way.
const FEW_ROUTERS: usize = 1_500;

/// What the colour of a channel shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChannelShading {
    /// The share of the run during which it carried flits.
    Carried,
    /// The share of the run during which a packet held it without moving.
    Blocked,
    /// Nothing: there was no run.
    Nothing,
}

/// A map of a network: routers where the description places them, channels as lines.
///
/// A channel's colour shows during what share of the run it carried flits or was blocked; a router's colour the same of
/// the busiest channel from it, or how long a header there was blocked on average.
#[derive(Clone, Copy, Debug)]
pub struct NetworkMap<'a> {
    /// Its title; empty where the context makes it clear.
    title: &'a str,
    network: &'a FlitNetwork,
    answer: &'a Answer,
    run: RunLength,
    /// The share of the run that has the hottest colour.
    hottest_channel: f64,
    /// The mean blocking that has the hottest colour. [us]
    hottest_router: f64,
    shows: ChannelShading,
    /// The job of each node, which colours the node; if empty, a node has the colour of its channel into the network.
    job_of: &'a [Option<usize>],
    /// The region to draw; all of the network by default.
    within: Option<u32>,
}

/// How long a run took, to have shares of it: it is the end of the last of all ranks, and channels are many.
#[derive(Clone, Copy, Debug)]
struct RunLength {
    seconds: f64,
}

impl RunLength {
    fn of(answer: &Answer) -> RunLength {
        RunLength { seconds: answer.makespan().seconds().max(1e-12) }
    }

    fn share(self, length: Duration) -> f64 {
        length.seconds() / self.seconds
    }
}

/// Up to this many channels between routers, a person can tell them apart.
const READABLE_CHANNELS: usize = 800;

impl<'a> NetworkMap<'a> {
    /// The map of a network and what happened on it, without a title, on the scale from 0 to 100 percent.
    ///
    /// `job_of` has the job of each node, which colours the node; if it is empty, a node has the colour of its channel
    /// into the network.
    pub fn of(
        network: &'a FlitNetwork,
        answer: &'a Answer,
        shows: ChannelShading,
        job_of: &'a [Option<usize>],
    ) -> NetworkMap<'a> {
        let (run, hottest_channel, hottest_router) = (RunLength::of(answer), 1.0, 1.0);
        NetworkMap { title: "", network, answer, run, hottest_channel, hottest_router, shows, job_of, within: None }
    }

    /// The same with a title.
    #[must_use]
    pub const fn titled(self, title: &'a str) -> NetworkMap<'a> {
        NetworkMap { title, ..self }
    }

    /// The same with the hottest colours for this share of the run at a channel, and this mean blocking at a router.
    /// [us]
    #[must_use]
    pub const fn up_to(self, hottest_channel: f64, hottest_router: f64) -> NetworkMap<'a> {
        NetworkMap { hottest_channel, hottest_router, ..self }
    }

    /// The same of one region.
    #[must_use]
    const fn within(self, region: u32) -> NetworkMap<'a> {
        NetworkMap { within: Some(region), ..self }
    }

    /// Whether a person can read the map of all of `network`. If not, [`RegionMap`] shows it.
    pub fn is_readable(network: &FlitNetwork) -> bool {
        let is_divided = network.regions.list.len() > 2 && network.regions.list.len() < network.routers.len();
        !is_divided || network.channels.iter().filter(|channel| joins_routers(channel)).count() <= READABLE_CHANNELS
    }

    /// The largest share of the run during which a channel between routers of `network` was blocked in `answer`.
    pub fn peak_channel(network: &FlitNetwork, answer: &Answer) -> f64 {
        let between = network.channels.iter().zip(&answer.channels).filter(|(channel, _)| joins_routers(channel));
        let run = RunLength::of(answer);
        between.map(|(_, done)| run.share(done.blocked)).fold(0.0, f64::max)
    }
    /// The longest mean blocking at a router in `answer`. [us]
    pub fn peak_router(answer: &Answer) -> f64 {
        (0..answer.routers.len()).map(|router| mean_blocking(answer, router)).fold(0.0, f64::max)
    }

    /// Draws it.
    pub fn draw(&self) -> Element {
        self.draw_sized().0
    }

    /// Draws it; also returns its width and height.
    pub(crate) fn draw_sized(&self) -> (Element, [f64; 2]) {
        let layout = MapLayout::of(self.network, |router| self.draws(router));
        let channels = self.network.channels.iter().zip(&self.answer.channels);
        let lines: Vec<Element> = if self.network.channels.len() <= FEW_CHANNELS {
            channels.filter_map(|(channel, done)| self.channel(&layout, channel, done)).collect()
        } else {
            self.lines_by_heat(&layout)
        };
        let routers = (0..self.network.routers.len()).filter(|router| self.draws(*router));
        let busiest = self.busiest_of_routers();
        let routers = routers.map(|router| self.router(&layout, router, busiest[router]));
        let drawing = element("svg")
            .class(if layout.width > WIDE { "map whole" } else { "map" })
            .attribute("viewBox", format!("0 0 {} {}", fixed(layout.width, 0), fixed(layout.height, 0)))
            .attribute("role", "img")
            .attribute("aria-label", format!("{}Map of the network, {}", self.title_sentence(), self.shows.words()))
            .children((!self.title.is_empty()).then(|| frame::label("title", 0.0, 14.0, self.title)))
            .child(element("g").class("channels").children(lines))
            .child(element("g").class("routers").children(routers))
            .child(element("g").class("nodes").children(self.nodes(&layout)));
        (drawing, [layout.width, layout.height])
    }

    /// Whether it has this router.
    fn draws(&self, router: usize) -> bool {
        self.within.is_none_or(|region| self.network.regions.of_router[router] == region)
    }

    /// The routers that a channel joins, if both are drawn.
    fn ends(&self, channel: &Channel) -> Option<(RouterId, RouterId)> {
        let (ChannelEnd::Router(from), ChannelEnd::Router(to)) = (channel.from, channel.to) else { return None };
        (self.draws(from.0 as usize) && self.draws(to.0 as usize)).then_some((from, to))
    }

    fn title_sentence(&self) -> String {
        if self.title.is_empty() { String::new() } else { format!("{}. ", self.title) }
    }

    fn channel(&self, layout: &MapLayout, channel: &Channel, done: &ChannelStatistics) -> Option<Element> {
        let (from, to) = self.ends(channel)?;
        let heat = self.heat_of(done);
        let path = element("path").class(format!("channel heat{heat}")).attribute("d", layout.way(from, to));
        let name = |router: RouterId| &self.network.routers[router.0 as usize].name;
        Some(frame::titled(path, &format!("{} to {}{}", name(from), name(to), self.text_of(done))))
    }

    /// For each router, the share of the run during which the busiest channel from it carried flits.
    fn busiest_of_routers(&self) -> Vec<f64> {
        let mut busiest = vec![0.0_f64; self.network.routers.len()];
        for (channel, done) in self.network.channels.iter().zip(&self.answer.channels) {
            if let ChannelEnd::Router(router) = channel.from {
                let busy = self.run.share(done.busy);
                busiest[router.0 as usize] = busiest[router.0 as usize].max(busy);
            }
        }
        busiest
    }

    fn heat_of(&self, done: &ChannelStatistics) -> usize {
        let value = match self.shows {
            ChannelShading::Carried => self.run.share(done.busy),
            ChannelShading::Blocked => self.run.share(done.blocked),
            ChannelShading::Nothing => 0.0,
        };
        heat(value, self.hottest_channel)
    }

    /// The channels as one line for each step of heat, the hottest last, on top of the others.
    fn lines_by_heat(&self, layout: &MapLayout) -> Vec<Element> {
        let mut ways = vec![String::new(); HEATS];
        for (channel, done) in self.network.channels.iter().zip(&self.answer.channels) {
            if let Some((from, to)) = self.ends(channel) {
                ways[self.heat_of(done)].push_str(&layout.way(from, to));
            }
        }
        let drawn = ways.into_iter().enumerate().filter(|(_, way)| !way.is_empty());
        drawn.map(|(heat, way)| element("path").class(format!("channel heat{heat}")).attribute("d", way)).collect()
    }

    fn router(&self, layout: &MapLayout, router: usize, busiest: f64) -> Element {
        let (x, y) = layout.places[router];
        let blocking = mean_blocking(self.answer, router);
        let heat = match self.shows {
            ChannelShading::Carried => heat(busiest, self.hottest_channel),
            ChannelShading::Blocked => heat(blocking, self.hottest_router),
            ChannelShading::Nothing => 0,
        };
        let square = element("rect")
            .class(format!("router heat{heat}"))
            .attribute("x", fixed(x - HALF_BOX, 1))
            .attribute("y", fixed(y - HALF_BOX, 1))
            .attribute("width", HALF_BOX * 2.0)
            .attribute("height", HALF_BOX * 2.0)
            .attribute("rx", "3");
        let model = &self.network.routers[router];
        let number = model.mesh_index.map_or(String::new(), |index| index.to_string());
        let class = format!("number middle on{heat}");
        let headers = self.answer.routers[router].headers;
        let blocked = Measure::Microseconds.format(blocking);
        let title = match self.shows {
            ChannelShading::Nothing => model.name.clone(),
            _ => format!("{}: headers blocked {blocked} on average, {headers} headers", model.name),
        };
        let group = element("g").child(square).child(frame::label(&class, x, y + 4.5, &number));
        frame::titled(group, &title)
    }

    /// The nodes, in a row below the router that they are attached to.
    fn nodes(&self, layout: &MapLayout) -> Vec<Element> {
        let mut seen = vec![0_usize; layout.places.len()];
        let home = |node: usize| {
            let router = self.network.home(NodeId(node as u32)).0 as usize;
            self.draws(router).then_some(router)
        };
        let mut sharing = vec![0_usize; layout.places.len()];
        (0..self.network.injection.len()).filter_map(home).for_each(|router| sharing[router] += 1);
        let mut drawn = Vec::new();
        for node in 0..self.network.injection.len() {
            let Some(router) = home(node) else { continue };
            let (x, y) = layout.places[router];
            let step = (HALF_BOX * 2.0 - 4.0) / sharing[router] as f64;
            let across = x + step * (seen[router] as f64 + 0.5 - sharing[router] as f64 / 2.0);
            seen[router] += 1;
            drawn.push(self.node(node, across, y + HALF_BOX));
        }
        drawn
    }

    fn node(&self, node: usize, x: f64, edge: f64) -> Element {
        let done = &self.answer.channels[self.network.injection[node].0 as usize];
        let class = match self.job_of.get(node) {
            Some(Some(job)) => format!("node job s{}", job % STYLES),
            Some(None) => "node heat0".to_owned(),
            None => format!("node heat{}", self.heat_of(done)),
        };
        let circle = element("circle").class(class).attribute("cx", fixed(x, 1));
        let group = element("g")
            .child(frame::line("stub", (x, edge), (x, edge + 4.0)))
            .child(circle.attribute("cy", fixed(edge + 7.0, 1)).attribute("r", "3"));
        frame::titled(group, &format!("node {node}{}", self.text_of(done).replacen(": ", " into the network: ", 1)))
    }

    /// The statistics of a channel, to follow its name.
    fn text_of(&self, done: &ChannelStatistics) -> String {
        if self.shows == ChannelShading::Nothing {
            return String::new();
        }
        let busy = self.run.share(done.busy);
        let blocked = self.run.share(done.blocked);
        format!(
            ": busy {} %, blocked {} %, {} packets",
            fixed(busy * 100.0, 1),
            fixed(blocked * 100.0, 1),
            done.packets
        )
    }
}

fn joins_routers(channel: &Channel) -> bool {
    matches!((channel.from, channel.to), (ChannelEnd::Router(_), ChannelEnd::Router(_)))
}

fn mean_blocking(answer: &Answer, router: usize) -> f64 {
    let done = &answer.routers[router];
    done.blocking.microseconds() / done.headers.max(1) as f64
}

fn heat(value: f64, hottest: f64) -> usize {
    let step = (value / hottest.max(1e-12) * (HEATS - 1) as f64).round();
    (step.max(0.0) as usize).min(HEATS - 1)
}

/// The steps of heat, from zero to `hottest`: each one's class in the style sheet, and its value.
pub(crate) fn heat_steps(hottest: f64) -> impl Iterator<Item = (String, f64)> {
    (0..HEATS).map(move |step| (format!("heat{step}"), hottest * step as f64 / (HEATS - 1) as f64))
}

/// A legend of the steps of heat, from zero to `hottest`.
pub fn heat_scale(name: &str, hottest: f64, text_of: impl Fn(f64) -> String) -> Element {
    let steps = heat_steps(hottest).map(|(class, value)| {
        let swatch = element("span").class(format!("swatch {class}"));
        element("li").child(swatch).child(element("span").text(text_of(value)))
    });
    element("div").class("heat").child(element("span").class("name").text(name)).child(element("ul").children(steps))
}

/// A map whose height is less than this share of its width is stretched, so that its rows can be told apart.
const FLATTEST: f64 = 0.24;

/// Where the routers lie on the paper.
struct MapLayout {
    /// Whether it is stretched: then so many channels lie side by side that none is bent around routers.
    is_flat: bool,
    places: Vec<(f64, f64)>,
    width: f64,
    height: f64,
}

impl MapLayout {
    /// Lays out the routers that are drawn; the places of the others mean nothing.
    fn of(network: &FlitNetwork, draws: impl Fn(usize) -> bool) -> MapLayout {
        let position = |router: usize| {
            let (x, y) = network.routers[router].position;
            (f64::from(x), f64::from(y))
        };
        let drawn: Vec<usize> = (0..network.routers.len()).filter(|router| draws(*router)).collect();
        let given: Vec<(f64, f64)> = drawn.iter().map(|router| position(*router)).collect();
        let scale = SPACING / nearest(&given);
        let least = |of: fn(&(f64, f64)) -> f64| given.iter().map(of).fold(f64::INFINITY, f64::min);
        let (left, top) = (least(|place| place.0), least(|place| place.1));
        let extent = |of: fn(&(f64, f64)) -> f64, from: f64| given.iter().map(of).fold(from, f64::max) - from;
        let (wide, high) = (extent(|place| place.0, left), extent(|place| place.1, top));
        let stretch = if high > 0.0 { (FLATTEST * wide / high).max(1.0) } else { 1.0 };
        let lay = |place: &(f64, f64)| ((place.0 - left) * scale + MARGIN, (place.1 - top) * scale * stretch + MARGIN);
        let mut places = vec![(f64::NAN, f64::NAN); network.routers.len()];
        drawn.iter().zip(&given).for_each(|(router, place)| places[*router] = lay(place));
        let most = |of: fn(&(f64, f64)) -> f64| places.iter().map(of).fold(0.0, f64::max) + MARGIN;
        MapLayout { is_flat: stretch > 1.0, width: most(|place| place.0), height: most(|place| place.1), places }
    }

    /// The line of the channel from one router to another, on the right-hand side of its direction.
    fn way(&self, from: RouterId, to: RouterId) -> String {
        let (start, end) = (self.places[from.0 as usize], self.places[to.0 as usize]);
        let (right, down) = (end.0 - start.0, end.1 - start.1);
        let length = right.hypot(down).max(1e-9);
        let (along, aside) = ((right / length, down / length), (-down / length, right / length));
        // A box is wider across its corners: there, the line stops where a circle around the box would.
        let gap = HALF_BOX * if along.0.abs() > 0.99 || along.1.abs() > 0.99 { 1.0 } else { 1.3 };
        let bend = if self.obstructed(from, to) { ASIDE * 2.0 + length * 0.14 } else { ASIDE };
        let at = |place: (f64, f64), forward: f64, sideways: f64| {
            let x = place.0 + along.0 * forward + aside.0 * sideways;
            let y = place.1 + along.1 * forward + aside.1 * sideways;
            format!("{} {}", fixed(x, 1), fixed(y, 1))
        };
        let middle = at(start, length / 2.0, bend);
        format!("M{}Q{} {}", at(start, gap, ASIDE), middle, at(end, -gap, ASIDE))
    }
}

impl ChannelShading {
    fn words(self) -> &'static str {
        match self {
            ChannelShading::Carried => "channels and routers by what they carried",
            ChannelShading::Blocked => "channels and routers by blocking",
            ChannelShading::Nothing => "channels, routers and nodes",
        }
    }
}

impl MapLayout {
    /// Whether the straight line between two routers runs through another, so that the channel must bend around it.
    fn obstructed(&self, from: RouterId, to: RouterId) -> bool {
        if self.is_flat || self.places.len() > FEW_ROUTERS {
            return false;
        }
        let (start, end) = (self.places[from.0 as usize], self.places[to.0 as usize]);
        let (right, down) = (end.0 - start.0, end.1 - start.1);
        let square = (right * right + down * down).max(1e-9);
        self.places.iter().enumerate().any(|(index, place)| {
            let (x, y) = (place.0 - start.0, place.1 - start.1);
            let along = (x * right + y * down) / square;
            let aside = (x * down - y * right).abs() / square.sqrt();
            let another = index != from.0 as usize && index != to.0 as usize;
            another && (0.0..=1.0).contains(&along) && aside < HALF_BOX * 1.2
        })
    }
}

/// The distance between the two nearest routers, or one if there are not two.
fn nearest(places: &[(f64, f64)]) -> f64 {
    let mut nearest = f64::INFINITY;
    let mut in_order = places.to_vec();
    in_order.sort_by(|one, other| one.0.total_cmp(&other.0).then(one.1.total_cmp(&other.1)));
    for (index, one) in in_order.iter().enumerate() {
        // Routers further to the right than the least distance so far can't be nearer.
        for other in &in_order[index + 1..] {
            if other.0 - one.0 >= nearest {
                break;
            }
            let distance = (one.0 - other.0).hypot(one.1 - other.1);
            if distance > 1e-6 {
                nearest = nearest.min(distance);
            }
        }
    }
    if nearest.is_finite() { nearest } else { 1.0 }
}

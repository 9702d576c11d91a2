//! Placement: on which node of a machine each rank of a job runs.
//!
//! A job is placed on the nodes that are free when its turn comes, so that no node holds two ranks. Free nodes are
//! taken:
//!
//! ```text
//!   in-order                by number
//!   random                  drawn from a seed, in the order drawn
//!   contiguous-switches     switch after switch: first those that hold no rank, by number, then what is left of others
//!   contiguous-groups       the same, group after group
//!   scattered-switches      in turn: the first free node of every switch, then the second of every switch, and so on
//!   scattered-groups        the same over groups
//!   0-7,12                  these, rank by rank
//! ```
//!
//! The switches are the routers that have nodes. The groups are those of a dragonfly, the pods of a fat tree or a Clos
//! network, the modules of a mesh of Clos networks. The names are those of the studies of placement on dragonflies:
//! Yang, Jenkins, Mubarak, Ross and Lan, "Watch Out for the Bully! Job Interference Study on Dragonfly Network" (2016).

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::ops::RangeInclusive;
use std::str::FromStr;

use machines::model::{Interconnect, Machine, NodeId};
use serde::{Deserialize, Serialize};

use crate::flit::traffic::Stream;

/// Which free nodes a job's ranks are placed on; written as a text.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub enum Placement {
    /// By number.
    #[default]
    InOrder,
    /// Drawn from a seed.
    Random,
    /// Unit after unit: first those that hold no rank.
    Contiguous(Unit),
    /// One of each unit in turn.
    Scattered(Unit),
    /// These, rank by rank, in ranges of numbers.
    Listed(Vec<RangeInclusive<u32>>),
}

/// A unit of nodes that are near each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// The nodes of one router.
    Switch,
    /// The nodes of one group of the topology.
    Group,
}

/// The placements that have a name.
const NAMED: [(&str, Placement); 6] = [
    ("in-order", Placement::InOrder),
    ("random", Placement::Random),
    ("contiguous-switches", Placement::Contiguous(Unit::Switch)),
    ("contiguous-groups", Placement::Contiguous(Unit::Group)),
    ("scattered-switches", Placement::Scattered(Unit::Switch)),
    ("scattered-groups", Placement::Scattered(Unit::Group)),
];

/// A placement that is not possible.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("placement `{placement}`: found {found}; allowed is {allowed}")]
pub struct PlacementError {
    /// The placement as it is written.
    pub placement: String,
    /// What was found.
    pub found: String,
    /// What is allowed.
    pub allowed: String,
}

impl Placement {
    /// The names of the named placements.
    pub fn names() -> impl Iterator<Item = &'static str> {
        NAMED.iter().map(|(name, _)| *name)
    }

    /// Whether it is the usual placement of so many ranks: rank n on node n.
    pub fn is_usual(&self, ranks: u32) -> bool {
        match self {
            Placement::InOrder => true,
            Placement::Listed(ranges) => {
                let is_next = |next: u32, range: &RangeInclusive<u32>| {
                    (*range.start() == next).then(|| range.end().checked_add(1)).flatten()
                };
                ranges.iter().try_fold(0, is_next) == Some(ranks)
            }
            Placement::Random | Placement::Contiguous(_) | Placement::Scattered(_) => false,
        }
    }

    fn error(&self, found: impl ToString, allowed: impl ToString) -> PlacementError {
        PlacementError { placement: self.to_string(), found: found.to_string(), allowed: allowed.to_string() }
    }
}

impl FromStr for Placement {
    type Err = PlacementError;

    fn from_str(text: &str) -> Result<Placement, PlacementError> {
        if let Some((_, placement)) = NAMED.iter().find(|(name, _)| *name == text) {
            return Ok(placement.clone());
        }
        let ends: Option<Vec<(u32, u32)>> = text.split(',').map(ends).collect();
        let backwards = ends.iter().flatten().find(|(first, last)| first > last);
        if let Some((first, last)) = backwards {
            let found = format!("{first}-{last}, which ends before it begins");
            let allowed = format!("{last}-{first}, or one node after another: {first},{},...", first - 1);
            return Err(PlacementError { placement: text.to_owned(), found, allowed });
        }
        let ranges = ends.map(|ends| ends.into_iter().map(|(first, last)| first..=last).collect());
        ranges.map(Placement::Listed).ok_or_else(|| {
            let meant = quantities::nearest(text, Placement::names()).map(|name| format!("; did you mean `{name}`?"));
            let names: Vec<&str> = Placement::names().collect();
            let allowed = format!("{}, or nodes such as 0-7,12{}", names.join(", "), meant.unwrap_or_default());
            PlacementError { placement: text.to_owned(), found: "no such placement".to_owned(), allowed }
        })
    }
}

/// The ends of a range such as 0-7; a node by itself is both.
fn ends(text: &str) -> Option<(u32, u32)> {
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    Some((first.trim().parse().ok()?, last.trim().parse().ok()?))
}

impl fmt::Display for Placement {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some((name, _)) = NAMED.iter().find(|(_, named)| named == self) {
            return out.write_str(name);
        }
        let Placement::Listed(ranges) = self else { return Ok(()) };
        for (index, range) in ranges.iter().enumerate() {
            let separator = if index == 0 { "" } else { "," };
            match (range.start(), range.end()) {
                (first, last) if first == last => write!(out, "{separator}{first}")?,
                (first, last) => write!(out, "{separator}{first}-{last}")?,
            }
        }
        Ok(())
    }
}

impl From<Placement> for String {
    fn from(placement: Placement) -> String {
        placement.to_string()
    }
}

impl TryFrom<String> for Placement {
    type Error = PlacementError;
    fn try_from(text: String) -> Result<Placement, PlacementError> {
        text.parse()
    }
}

/// The nodes of a machine, which jobs take one after the other.
#[derive(Clone, Debug)]
pub struct Allocation<'a> {
    machine: &'a Machine,
    /// For each node, whether it is free.
    free: Vec<bool>,
    /// How many are free, and a node before which none is.
    left: usize,
    first: usize,
}

impl<'a> Allocation<'a> {
    /// An allocation in which all nodes of `machine` are free.
    pub fn new(machine: &'a Machine) -> Allocation<'a> {
        let nodes = machine.nodes as usize;
        Allocation { machine, free: vec![true; nodes], left: nodes, first: 0 }
    }

    /// The machine.
    pub const fn machine(&self) -> &'a Machine {
        self.machine
    }

    /// Places `ranks` ranks on free nodes, and takes these; returns the node of each rank. [`Placement::Random`] draws
    /// from `seed`.
    ///
    /// # Errors
    /// [`PlacementError`] if too few nodes are free, a listed node is not free or does not exist, or the machine has no
    /// such units.
    pub fn place(&mut self, placement: &Placement, ranks: u32, seed: u64) -> Result<Vec<NodeId>, PlacementError> {
        if let Placement::Listed(ranges) = placement {
            self.check_list(placement, ranges, ranks)?;
        } else if self.left < ranks as usize {
            let allowed = format!("at most {}, the nodes of {} that are free", self.left, self.machine.name);
            return Err(placement.error(format!("{ranks} ranks"), allowed));
        }
        let first = |nodes: Vec<u32>| nodes[..ranks as usize].to_vec();
        let nodes: Vec<u32> = match placement {
            Placement::InOrder => self.free().take(ranks as usize).collect(),
            Placement::Random => first(drawn(self.free().collect(), ranks, seed)),
            Placement::Contiguous(unit) => first(self.contiguous(self.units(placement, *unit)?)),
            Placement::Scattered(unit) => first(scattered(self.units(placement, *unit)?)),
            Placement::Listed(ranges) => ranges.iter().cloned().flatten().collect(),
        };
        nodes.iter().for_each(|node| self.free[*node as usize] = false);
        self.left -= nodes.len();
        self.first += self.free[self.first..].iter().take_while(|free| !**free).count();
        Ok(nodes.into_iter().map(NodeId).collect())
    }

    /// The nodes that are free, in order.
    fn free(&self) -> impl Iterator<Item = u32> {
        let from_first = (self.first as u32..).zip(&self.free[self.first..]);
        from_first.filter(|(_, free)| **free).map(|(node, _)| node)
    }

    /// Checks that a list names as many nodes as there are ranks, each of them once and all of them free.
    fn check_list(
        &self,
        placement: &Placement,
        ranges: &[RangeInclusive<u32>],
        ranks: u32,
    ) -> Result<(), PlacementError> {
        let highest = ranges.iter().map(|range| *range.end()).max().unwrap_or(0);
        if highest >= self.machine.nodes {
            let allowed = format!("0 to {}, the nodes of {}", self.machine.nodes - 1, self.machine.name);
            return Err(placement.error(format!("node {highest}"), allowed));
        }
        let length: u64 = ranges.iter().map(|range| u64::from(range.end() - range.start()) + 1).sum();
        if length != u64::from(ranks) {
            return Err(placement.error(format!("{length} nodes"), format!("{ranks}, one for each rank")));
        }
        let mut listed = BTreeSet::new();
        for node in ranges.iter().cloned().flatten() {
            let is_free = self.free[node as usize];
            if !is_free || !listed.insert(node) {
                let found = if is_free { "twice" } else { "which another job has" };
                return Err(placement.error(format!("node {node}, {found}"), "free nodes, each once"));
            }
        }
        Ok(())
    }

    /// The free nodes of every switch or group that has any, in order of its number, and how many nodes it has.
    fn units(&self, placement: &Placement, unit: Unit) -> Result<Vec<FreeOfUnit>, PlacementError> {
        let unit_of = self.unit_of(placement, unit)?;
        let mut units: BTreeMap<u32, FreeOfUnit> = BTreeMap::new();
        for node in 0..self.machine.nodes {
            units.entry(unit_of(node)).or_default().size += 1;
        }
        for node in self.free() {
            units.entry(unit_of(node)).or_default().free.push(node);
        }
        Ok(units.into_values().filter(|unit| !unit.free.is_empty()).collect())
    }

    /// The number of the switch or group of a node.
    fn unit_of(&self, placement: &Placement, unit: Unit) -> Result<Box<dyn Fn(u32) -> u32 + 'a>, PlacementError> {
        let name = &self.machine.name;
        match (&self.machine.interconnect, unit) {
            (Interconnect::Flits(network), Unit::Switch) => Ok(Box::new(|node| network.home(NodeId(node)).0)),
            (Interconnect::Flits(network), Unit::Group) => match network.group {
                Some(size) => Ok(Box::new(move |node| node / size)),
                None => {
                    let allowed = format!("{}; switches; in-order; random", machines::topologies_with_groups());
                    Err(placement.error(format!("{name}, whose topology has no groups"), allowed))
                }
            },
            (Interconnect::Ethernet(_), Unit::Switch) => Ok(Box::new(|_| 0)),
            (Interconnect::Ethernet(_) | Interconnect::LogGp(_), _) => {
                let what = if unit == Unit::Switch { "switches" } else { "groups" };
                Err(placement
                    .error(format!("{name}, which has no {what}"), "in-order, random, or nodes such as 0-7,12"))
            }
        }
    }

    /// Units that hold no rank, then what is left of others.
    fn contiguous(&self, units: Vec<FreeOfUnit>) -> Vec<u32> {
        let (whole, others): (Vec<_>, Vec<_>) = units.into_iter().partition(|unit| unit.free.len() == unit.size);
        whole.into_iter().chain(others).flat_map(|unit| unit.free).collect()
    }
}

/// The free nodes of a switch or group.
#[derive(Debug, Default)]
struct FreeOfUnit {
    free: Vec<u32>,
    /// How many nodes it has.
    size: usize,
}

/// Draws `count` of `nodes`, one after the other: the beginning of a Fisher-Yates shuffle.
fn drawn(mut nodes: Vec<u32>, count: u32, seed: u64) -> Vec<u32> {
    let mut stream = Stream::new(seed, 0);
    for place in 0..count {
        let other = place + stream.below(nodes.len() as u32 - place);
        nodes.swap(place as usize, other as usize);
    }
    nodes
}

/// The first of every unit, then the second of every unit, and so on.
fn scattered(units: Vec<FreeOfUnit>) -> Vec<u32> {
    let rounds = units.iter().map(|unit| unit.free.len()).max().unwrap_or(0);
    (0..rounds).flat_map(|round| units.iter().filter_map(move |unit| unit.free.get(round).copied())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two groups of two switches with two nodes each.
    fn dragonfly() -> Machine {
        machine(
            "[routing]\nrule = \"up-down\"\n[topology.dragonfly]\nnodes = 2\nrouters = 2\nglobal_links = 1\ngroups = 2\n",
        )
    }

    fn machine(topology: &str) -> Machine {
        let rest = "[channels]\nrate = \"10 MB/s\"\n[routers]\nrouting_delay = \"100 ns\"\n[packet]\npayload = 128\nheader = 2\n";
        let text = format!("{topology}{rest}");
        machines::Description::parse(&text, "test.toml").unwrap().resolve().unwrap()
    }

    fn place(allocation: &mut Allocation<'_>, placement: &str, ranks: u32) -> Result<Vec<u32>, String> {
        let placement: Placement = placement.parse().map_err(|error: PlacementError| error.to_string())?;
        let nodes = allocation.place(&placement, ranks, 1).map_err(|error| error.to_string())?;
        Ok(nodes.into_iter().map(|node| node.0).collect())
    }

    #[test]
    fn jobs_take_free_nodes_one_after_the_other() {
        let machine = dragonfly();
        let placed = |jobs: &[(&str, u32)]| -> Vec<Vec<u32>> {
            let mut allocation = Allocation::new(&machine);
            jobs.iter().map(|&(placement, ranks)| place(&mut allocation, placement, ranks).unwrap()).collect()
        };
        assert_eq!(placed(&[("in-order", 3), ("in-order", 2)]), [vec![0, 1, 2], vec![3, 4]]);
        assert_eq!(placed(&[("5,0-1", 3), ("in-order", 3)]), [vec![5, 0, 1], vec![2, 3, 4]]);
        assert_eq!(placed(&[("scattered-switches", 3), ("scattered-switches", 4)]), [vec![0, 2, 4], vec![1, 3, 5, 6]]);
        assert_eq!(placed(&[("scattered-groups", 3), ("scattered-groups", 2)]), [vec![0, 4, 1], vec![2, 5]]);
        assert_eq!(
            placed(&[("contiguous-switches", 3), ("contiguous-switches", 5)]),
            [vec![0, 1, 2], vec![4, 5, 6, 7, 3]]
        );
        assert_eq!(placed(&[("contiguous-groups", 1), ("contiguous-groups", 5)]), [vec![0], vec![4, 5, 6, 7, 1]]);
    }

    #[test]
    fn a_random_placement_follows_from_its_seed_and_takes_every_node_once() {
        let machine = dragonfly();
        let nodes = |seed| Allocation::new(&machine).place(&Placement::Random, 8, seed).unwrap();
        assert_eq!(nodes(7), nodes(7));
        assert_ne!(nodes(7), nodes(8));
        let mut all = nodes(7);
        all.sort_unstable();
        assert_eq!(all, (0..8).map(NodeId).collect::<Vec<_>>());
    }

    #[test]
    fn a_job_keeps_as_many_nodes_as_it_has_ranks() {
        let loggp = machines::load("loggp").unwrap();
        let mut allocation = Allocation::new(&loggp);
        for placement in ["in-order", "random", "9", "in-order"] {
            let nodes = allocation.place(&placement.parse().unwrap(), 1, 1).unwrap();
            assert!(nodes.capacity() < 16, "{placement}: room for {} nodes", nodes.capacity());
        }
    }

    #[test]
    fn unfit_placements_are_refused() {
        let machine = dragonfly();
        let error = |jobs: &[(&str, u32)]| {
            let mut allocation = Allocation::new(&machine);
            jobs.iter().find_map(|&(placement, ranks)| place(&mut allocation, placement, ranks).err()).unwrap()
        };
        let few = "placement `random`: found 5 ranks; allowed is at most 4, the nodes of test that are free";
        assert_eq!(error(&[("in-order", 4), ("random", 5)]), few);
        assert_eq!(error(&[("6-8", 3)]), "placement `6-8`: found node 8; allowed is 0 to 7, the nodes of test");
        assert_eq!(
            error(&[("0-4294967295", 3)]),
            "placement `0-4294967295`: found node 4294967295; allowed is 0 to 7, the nodes of test"
        );
        assert_eq!(error(&[("0-2", 4)]), "placement `0-2`: found 3 nodes; allowed is 4, one for each rank");
        let other = "placement `3-4`: found node 3, which another job has; allowed is free nodes, each once";
        assert_eq!(error(&[("in-order", 4), ("3-4", 2)]), other);
        assert_eq!(error(&[("1,1", 2)]), "placement `1,1`: found node 1, twice; allowed is free nodes, each once");
        let unknown = "placement `scatered-groups`: found no such placement; allowed is in-order, random, \
                       contiguous-switches, contiguous-groups, scattered-switches, scattered-groups, or nodes such as \
                       0-7,12; did you mean `scattered-groups`?";
        assert_eq!(error(&[("scatered-groups", 2)]), unknown);
    }

    #[test]
    fn machines_without_groups_or_switches_say_so() {
        let torus = machine("[topology.star]\nnodes = 4\n");
        let loggp = machines::load("loggp").unwrap();
        let error = |machine, placement| place(&mut Allocation::new(machine), placement, 2).unwrap_err();
        let none = "placement `scattered-groups`: found test, whose topology has no groups; allowed is a Clos \
                    network, a mesh of Clos networks, a fat tree or a dragonfly; switches; in-order; random";
        assert_eq!(error(&torus, "scattered-groups"), none);
        let none = "placement `contiguous-switches`: found loggp, which has no switches; allowed is in-order, random, or \
                    nodes such as 0-7,12";
        assert_eq!(error(&loggp, "contiguous-switches"), none);
    }

    #[test]
    fn placements_are_read_as_they_are_written() {
        for text in Placement::names().chain(["0-7,12", "3"]) {
            assert_eq!(text.parse::<Placement>().unwrap().to_string(), text);
        }
        for text in ["", "7-3", "0-", "1,,2", "-1"] {
            assert!(text.parse::<Placement>().is_err(), "{text}");
        }
        let backwards = "placement `0-3,7-4`: found 7-4, which ends before it begins; allowed is 4-7, or one node after another: \
                         7,6,...";
        assert_eq!("0-3,7-4".parse::<Placement>().unwrap_err().to_string(), backwards);
    }

    #[test]
    fn a_list_of_the_first_nodes_in_order_is_the_usual_placement() {
        let is_usual = |text: &str, ranks| text.parse::<Placement>().unwrap().is_usual(ranks);
        for text in ["in-order", "0-7", "0,1,2,3-7", "0-3,4-7"] {
            assert!(is_usual(text, 8), "{text}");
        }
        for text in ["0-6", "0-8", "1-8", "0-3,5-8", "0,2,1,3-7", "0-4294967295", "random", "contiguous-switches"] {
            assert!(!is_usual(text, 8), "{text}");
        }
    }
}

//! The capacity from one half of the nodes to the other.

use std::cmp::Ordering;

use super::flow::Flow;
use crate::model::{Channel, ChannelEnd, FlitNetwork};

/// The most channels of a network whose bisection is worked out.
const MOST_CHANNELS: usize = 1 << 18;

/// How a mesh or torus of more than two dimensions is halved.
const ACROSS: [&str; 8] = [
    "across the first side",
    "across the second side",
    "across the third side",
    "across the fourth side",
    "across the fifth side",
    "across the sixth side",
    "across the seventh side",
    "across the eighth side",
];

/// The capacity from one half of the nodes to the other, one way.
///
/// It is the smallest cut between the halves over three ways of halving: by node number, by columns and by rows; for
/// meshes and tori of more dimensions, across each of them. For levels of routers, meshes and tori, one of these is the
/// narrowest of all. Other networks may have a narrower one: finding it is hard in general.
#[derive(Clone, Debug, PartialEq)]
pub struct Bisection {
    /// The channels that must be cut to separate the halves, counting only those from one to the other.
    pub channels: u64,
    /// What these carry together. [B/s]
    pub bytes_per_second: f64,
    /// How the nodes were halved.
    pub halved: &'static str,
    /// Whether no halving is narrower: the topology is regular.
    pub exact: bool,
}

/// Ways of halving the nodes of a network: the name of each, and all nodes in an order of which the first half is one
/// half.
pub fn halvings(network: &FlitNetwork) -> Vec<(&'static str, Vec<usize>)> {
    let place = |node: &usize| match network.channels[network.injection[*node].0 as usize].to {
        ChannelEnd::Router(home) => network.routers[home.0 as usize].position,
        ChannelEnd::Node(_) => (0.0, 0.0),
    };
    let by = |first: fn((f32, f32)) -> f32, second: fn((f32, f32)) -> f32| {
        let mut order: Vec<usize> = (0..network.injection.len()).collect();
        let compare = |left: &usize, right: &usize| -> Ordering {
            let (left, right) = (place(left), place(right));
            first(left).total_cmp(&first(right)).then(second(left).total_cmp(&second(right)))
        };
        order.sort_by(compare);
        order
    };
    let by_number = || (0..network.injection.len()).collect::<Vec<usize>>();
    let mut orders = vec![("by number", by_number())];
    if network.sides.len() > 2 {
        let mut stride = 1;
        for (name, &side) in ACROSS.iter().zip(&network.sides) {
            let mut order = by_number();
            order.sort_by_key(|node| node / stride % side as usize);
            orders.push((name, order));
            stride *= side as usize;
        }
    } else {
        orders.push(("by columns", by(|place| place.0, |place| place.1)));
        orders.push(("by rows", by(|place| place.1, |place| place.0)));
    }
    orders
}

/// What the channels from some nodes to all others carry together, at most, and those the other way: the larger of the
/// two. [bit/s]
pub fn bits_per_second_across(network: &FlitNetwork, nodes: &[usize]) -> u64 {
    let others: Vec<usize> = {
        let mut is_one = vec![false; network.injection.len()];
        nodes.iter().for_each(|&node| is_one[node] = true);
        (0..is_one.len()).filter(|&node| !is_one[node]).collect()
    };
    // Each rounded up, so that a bound that follows from it is one.
    let across = |half: &[usize]| cut(network, half, |channel| bits_per_second(network, channel) + 1);
    across(nodes).max(across(&others))
}

/// Works out the bisection; none for networks too large.
pub(super) fn bisection(network: &FlitNetwork) -> Option<Bisection> {
    if network.channels.len() > MOST_CHANNELS {
        return None;
    }
    let orders = halvings(network);
    let exact = !network.sides.is_empty() || network.routing.is_halved_by_rows();
    let cuts = orders.into_iter().map(|(halved, order)| {
        let first_half = &order[..order.len() / 2];
        let channels = cut(network, first_half, |_| 1);
        let bits = cut(network, first_half, |channel| bits_per_second(network, channel));
        Bisection { channels, bytes_per_second: bits as f64 / 8.0, halved, exact }
    });
    cuts.min_by(|left, right| {
        left.channels.cmp(&right.channels).then(left.bytes_per_second.total_cmp(&right.bytes_per_second))
    })
}

fn bits_per_second(network: &FlitNetwork, channel: &Channel) -> u64 {
    let bits = u128::from(network.packet.flit.0) * 8_000_000_000_000;
    (bits / u128::from(channel.flit_time.picoseconds())) as u64
}

/// The smallest cut between the nodes of one half and the others, where a channel counts for its `weight`.
fn cut(network: &FlitNetwork, half: &[usize], weight: impl Fn(&Channel) -> u64) -> u64 {
    let mut in_half = vec![false; network.injection.len()];
    half.iter().for_each(|&node| in_half[node] = true);
    let routers = network.routers.len();
    let (from, to) = (routers, routers + 1);
    let mut flow = Flow::new(routers + 2);
    for channel in &network.channels {
        match (channel.from, channel.to) {
            (ChannelEnd::Router(current), ChannelEnd::Router(there)) => {
                flow.edge(current.0 as usize, there.0 as usize, weight(channel));
            }
            (ChannelEnd::Node(node), ChannelEnd::Router(home)) if in_half[node.0 as usize] => {
                flow.edge(from, home.0 as usize, weight(channel));
            }
            (ChannelEnd::Router(home), ChannelEnd::Node(node)) if !in_half[node.0 as usize] => {
                flow.edge(home.0 as usize, to, weight(channel));
            }
            _ => {}
        }
    }
    flow.most(from, to)
}

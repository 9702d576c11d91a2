//! Traffic patterns: who sends to whom. The names and definitions are those of Dally and Towles, "Principles and
//! Practices of Interconnection Networks" (2004), chapter 3, and of BookSim.
//!
//! A node may be its own destination, as in BookSim: such a packet goes to the node's router and back.

use std::fmt;

use machines::model::{FlitNetwork, NodeId};

use super::random::{Chance, Stream};
use super::{Parameter, Unfit};

/// Who sends to whom. With N nodes numbered in binary as s(n-1) ... s(0), or by column x and row y:
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Pattern {
    /// To any node, itself included, all equally likely.
    Uniform,
    /// From row y, column x to row x, column y of a square. N must be a square.
    Transpose,
    /// To the node of the complemented digits: d(i) = not s(i). N must be a power of two.
    BitComplement,
    /// To the node of the digits in reverse: d(i) = s(n - 1 - i). N must be a power of two.
    BitReverse,
    /// To the node of the digits rotated by one: d(i) = s(i - 1 mod n). N must be a power of two.
    Shuffle,
    /// Nearly half way round in every dimension: x + ceil(k/2) - 1 modulo k, k being the length of the dimension. On a
    /// mesh or torus of one node a router the dimensions are its own; elsewhere the nodes count as one ring.
    Tornado,
    /// To the next in every dimension: x + 1 modulo k, in the dimensions of [`Pattern::Tornado`].
    Neighbour,
    /// To one node with a given probability, otherwise as in [`Pattern::Uniform`].
    HotSpot {
        /// The hot node.
        node: NodeId,
        /// The share of packets, from 0 to 1, that are directed at it.
        fraction: f64,
    },
}

impl fmt::Display for Pattern {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = match self {
            Pattern::Uniform => "uniform",
            Pattern::Transpose => "transpose",
            Pattern::BitComplement => "bit-complement",
            Pattern::BitReverse => "bit-reverse",
            Pattern::Shuffle => "shuffle",
            Pattern::Tornado => "tornado",
            Pattern::Neighbour => "neighbour",
            Pattern::HotSpot { .. } => "hot-spot",
        };
        out.write_str(name)
    }
}

/// A pattern on a network.
#[derive(Clone, Debug)]
pub(super) enum Destinations {
    /// Each node always sends to the same node.
    Fixed(Vec<NodeId>),
    /// To one of this many nodes, all equally likely.
    Any(u32),
    /// Often to one node, otherwise to any.
    Hot { nodes: u32, node: NodeId, often: Chance },
}

impl Destinations {
    /// Applies `pattern` to `network`, if it has a suitable number of nodes.
    pub(super) fn new(pattern: Pattern, network: &FlitNetwork) -> Result<Destinations, Unfit> {
        let nodes = network.injection.len() as u32;
        let each = |to: &dyn Fn(u32) -> u32| Destinations::Fixed((0..nodes).map(|node| NodeId(to(node))).collect());
        let digits = || digits(pattern, nodes);
        Ok(match pattern {
            Pattern::Uniform => Destinations::Any(nodes),
            Pattern::Transpose => {
                let side = side(pattern, nodes)?;
                each(&|node| node % side * side + node / side)
            }
            Pattern::BitComplement => {
                digits()?;
                each(&|node| nodes - 1 - node)
            }
            Pattern::BitReverse => {
                let unused = u32::BITS - digits()?;
                // All digits are unused where there is one node.
                each(&|node| node.reverse_bits().checked_shr(unused).unwrap_or(0))
            }
            Pattern::Shuffle => {
                let digits = digits()?;
                each(&|node| if digits == 0 { 0 } else { node << 1 & (nodes - 1) | node >> (digits - 1) })
            }
            Pattern::Tornado => around(network, |length| length.div_ceil(2) - 1),
            Pattern::Neighbour => around(network, |_| 1),
            Pattern::HotSpot { node, fraction } => hot(nodes, node, fraction)?,
        })
    }

    /// The destination of the next packet of `source`.
    #[inline]
    pub(super) fn draw(&self, source: NodeId, stream: &mut Stream) -> NodeId {
        match *self {
            Destinations::Fixed(ref destinations) => destinations[source.0 as usize],
            Destinations::Any(nodes) => NodeId(stream.below(nodes)),
            Destinations::Hot { nodes, node, often } => {
                if often.falls(stream) {
                    node
                } else {
                    NodeId(stream.below(nodes))
                }
            }
        }
    }
}

fn hot(nodes: u32, node: NodeId, fraction: f64) -> Result<Destinations, Unfit> {
    if node.0 >= nodes {
        return Err(Unfit::new(Parameter::HotNode, node.0, format!("0 to {}, the nodes of the machine", nodes - 1)));
    }
    if !(0.0..=1.0).contains(&fraction) {
        return Err(Unfit::new(Parameter::HotFraction, fraction, "0 to 1"));
    }
    Ok(Destinations::Hot { nodes, node, often: Chance::new(fraction) })
}

/// The number of binary digits that number `nodes`.
fn digits(pattern: Pattern, nodes: u32) -> Result<u32, Unfit> {
    if !nodes.is_power_of_two() {
        let allowed = "a machine whose number of nodes is a power of two";
        return Err(Unfit::new(Parameter::Pattern, format!("{pattern} on {nodes} nodes"), allowed));
    }
    Ok(nodes.trailing_zeros())
}

/// The side length of a square of `nodes`.
fn side(pattern: Pattern, nodes: u32) -> Result<u32, Unfit> {
    let side = nodes.isqrt();
    if side * side != nodes {
        let allowed = "a machine whose number of nodes is a square";
        return Err(Unfit::new(Parameter::Pattern, format!("{pattern} on {nodes} nodes"), allowed));
    }
    Ok(side)
}

/// Every node sends this many places ahead in each dimension; `ahead` maps the dimension's length to it.
fn around(network: &FlitNetwork, ahead: impl Fn(u32) -> u32) -> Destinations {
    let nodes = network.injection.len() as u32;
    let one_ring = [nodes];
    let sides: &[u32] = if network.sides.is_empty() { &one_ring } else { &network.sides };
    let to = |node: u32| {
        let (mut rest, mut stride, mut destination) = (node, 1, 0);
        for &side in sides {
            destination += (rest % side + ahead(side)) % side * stride;
            rest /= side;
            stride *= side;
        }
        NodeId(destination)
    };
    Destinations::Fixed((0..nodes).map(to).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use machines::model::Interconnect;

    fn network(topology: &str) -> FlitNetwork {
        let rest = "[channels]\nrate = \"10 MB/s\"\n[routers]\nrouting_delay = \"100 ns\"\n[packet]\npayload = 128\nheader = 2\n";
        let description = machines::Description::parse(&format!("[topology.{topology}\n{rest}"), "test.toml").unwrap();
        match description.resolve().unwrap().interconnect {
            Interconnect::Flits(network) => std::sync::Arc::unwrap_or_clone(network),
            Interconnect::LogGp(_) | Interconnect::Ethernet(_) => unreachable!(),
        }
    }

    fn star(nodes: u32) -> FlitNetwork {
        network(&format!("star]\nnodes = {nodes}"))
    }

    fn destinations(pattern: Pattern, network: &FlitNetwork) -> Vec<u32> {
        let mut stream = Stream::new(1, 1);
        let destinations = Destinations::new(pattern, network).unwrap();
        (0..network.injection.len() as u32).map(|node| destinations.draw(NodeId(node), &mut stream).0).collect()
    }

    #[test]
    fn permutations_of_digits_on_eight_nodes() {
        let eight = star(8);
        assert_eq!(destinations(Pattern::BitComplement, &eight), [7, 6, 5, 4, 3, 2, 1, 0]);
        assert_eq!(destinations(Pattern::BitReverse, &eight), [0, 4, 2, 6, 1, 5, 3, 7]);
        assert_eq!(destinations(Pattern::Shuffle, &eight), [0, 2, 4, 6, 1, 3, 5, 7]);
        let one = star(1);
        for pattern in [Pattern::BitComplement, Pattern::BitReverse, Pattern::Shuffle, Pattern::Transpose] {
            assert_eq!(destinations(pattern, &one), [0], "{pattern}");
        }
    }

    #[test]
    fn transpose_turns_a_square_about_its_diagonal() {
        assert_eq!(destinations(Pattern::Transpose, &star(9)), [0, 3, 6, 1, 4, 7, 2, 5, 8]);
    }

    #[test]
    fn tornado_and_neighbour_know_the_dimensions_of_a_grid() {
        let grid = network("mesh]\ncolumns = 4\nrows = 3");
        assert_eq!(destinations(Pattern::Neighbour, &grid), [5, 6, 7, 4, 9, 10, 11, 8, 1, 2, 3, 0]);
        assert_eq!(destinations(Pattern::Tornado, &grid), [5, 6, 7, 4, 9, 10, 11, 8, 1, 2, 3, 0]);
        let long = network("torus]\ncolumns = 8\nrows = 1");
        assert_eq!(destinations(Pattern::Tornado, &long), [3, 4, 5, 6, 7, 0, 1, 2]);
        let cube = network("mesh]\nsides = [2, 2, 3]");
        assert_eq!(destinations(Pattern::Neighbour, &cube), [7, 6, 5, 4, 11, 10, 9, 8, 3, 2, 1, 0]);
        assert_eq!(destinations(Pattern::Tornado, &cube), [4, 5, 6, 7, 8, 9, 10, 11, 0, 1, 2, 3]);
        assert_eq!(destinations(Pattern::Neighbour, &star(4)), [1, 2, 3, 0]);
        assert_eq!(destinations(Pattern::Tornado, &star(5)), [2, 3, 4, 0, 1]);
    }

    #[test]
    fn a_hot_spot_has_its_share() {
        let sixteen = star(16);
        let pattern = Pattern::HotSpot { node: NodeId(3), fraction: 0.25 };
        let destinations = Destinations::new(pattern, &sixteen).unwrap();
        let mut stream = Stream::new(5, 5);
        let hits = (0..100_000).filter(|_| destinations.draw(NodeId(0), &mut stream) == NodeId(3)).count();
        // A quarter, and a sixteenth of the rest.
        assert!((29_000..30_400).contains(&hits), "{hits}");
    }

    #[test]
    fn unfit_patterns_are_refused() {
        let error = |pattern, nodes| Destinations::new(pattern, &star(nodes)).unwrap_err().to_string();
        let power = "pattern: found shuffle on 12 nodes; allowed is a machine whose number of nodes is a power of two";
        assert_eq!(error(Pattern::Shuffle, 12), power);
        let square = "pattern: found transpose on 12 nodes; allowed is a machine whose number of nodes is a square";
        assert_eq!(error(Pattern::Transpose, 12), square);
        let hot = |node, fraction| Pattern::HotSpot { node: NodeId(node), fraction };
        assert_eq!(error(hot(4, 0.1), 4), "hot node: found 4; allowed is 0 to 3, the nodes of the machine");
        assert_eq!(error(hot(1, 1.5), 4), "hot fraction: found 1.5; allowed is 0 to 1");
    }
}

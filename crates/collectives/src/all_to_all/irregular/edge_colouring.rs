//! The fewest possible steps.

use crate::schedule::{Pattern, Schedule, Transfer};

/// Scheduling by edge colouring: exactly D steps, where D is the most messages that one rank sends or receives. Fewer
/// are not possible.
///
/// Senders and receivers are the nodes of a bipartite graph, messages its edges, steps its colours: no two edges at a
/// node may have the same colour. By König's theorem D colours are enough. They are found by divide and conquer:
///
/// ```text
///   colour(edges, D colours):
///       if D = 1: all edges have the same colour
///       split the edges in two, so that every node has half of its edges in each part, rounded up or down
///       if D is even: colour(one part, D/2), colour(other part, D/2)
///       if D is odd:  colour(one part, (D+1)/2), colour(other part, (D+1)/2)      one colour too many
///                     remove the colour with the fewest edges
///                     give each of its edges one of the others, along an alternating path
/// ```
///
/// The split walks along trails, each edge once, and gives the edges that it walks from sender to receiver to one part
/// and those that it walks back to the other. Trails begin at nodes with an odd number of edges while there are any.
///
/// An alternating path, when edge u - v needs a colour: a is free at u, b is free at v. The path from v along a, b,
/// a, ... can't reach u, since it reaches senders along a. With a and b exchanged on it, a is free at v too.
///
/// Senders with few messages are first grouped, as long as a group has no more than D messages, and receivers too: a
/// colouring that is valid for the group is valid for each of its members, and M messages have at most 2 M / D + 1
/// groups. So the tables of the colours at each node take O(M) memory. O(M log D) for the splits and, at worst, O(M P /
/// D) per level for the paths, which are short in practice.
///
/// Source: Gabow, "Using Euler partitions to edge color bipartite multigraphs", International Journal of Computer and
/// Information Sciences 5(4), 1976; the groups are those of Cole and Hopcroft, "On edge coloring bipartite graphs",
/// SIAM Journal on Computing 11(3), 1982.
pub fn edge_colouring(pattern: &Pattern) -> Schedule {
    let degree = pattern.most_messages_of_a_rank();
    let graph = Graph::of(pattern, degree);
    let mut colours = vec![0; graph.edges.len()];
    colour(&graph, &(0..graph.edges.len() as u32).collect::<Vec<_>>(), degree, 0, &mut colours);
    let mut steps = vec![Vec::new(); degree as usize];
    for (&message, colour) in pattern.messages().iter().zip(colours) {
        steps[colour as usize].push(message);
    }
    Schedule::new(pattern.ranks(), steps)
}

/// A bipartite graph. Nodes of both sides are numbered together, the left ones first.
struct Graph {
    nodes: u32,
    /// The left and the right node of each edge.
    edges: Vec<(u32, u32)>,
}

impl Graph {
    /// The graph of senders and receivers, grouped so that no node has more than `degree` edges.
    fn of(pattern: &Pattern, degree: u32) -> Graph {
        let degrees = pattern.degrees();
        let (left, senders) = groups(degrees.iter().map(|&(sent, _)| sent), degree, 0);
        let (nodes, receivers) = groups(degrees.iter().map(|&(_, received)| received), degree, left);
        let edge = |message: &Transfer| (senders[message.from.0 as usize], receivers[message.to.0 as usize]);
        Graph { nodes, edges: pattern.messages().iter().map(edge).collect() }
    }
}

/// Puts consecutive ranks into one group while they have no more than `most` edges together. The groups are
/// numbered from `first`; returns the number after the last one, and the group of each rank.
fn groups(degrees: impl Iterator<Item = u32>, most: u32, first: u32) -> (u32, Vec<u32>) {
    let (mut group, mut edges) = (first, 0);
    let of_ranks = degrees.map(|degree| {
        edges += degree;
        if edges > most {
            group += 1;
            edges = degree;
        }
        group
    });
    let of_ranks: Vec<u32> = of_ranks.collect();
    (group + 1, of_ranks)
}

/// Gives each of `edges`, of which no node has more than `degree`, one of the `degree` colours from `first`.
fn colour(graph: &Graph, edges: &[u32], degree: u32, first: u32, colours: &mut [u32]) {
    if degree <= 1 {
        edges.iter().for_each(|&edge| colours[edge as usize] = first);
        return;
    }
    let half = degree.div_ceil(2);
    let (one, other) = euler_split(graph, edges);
    colour(graph, &one, half, first, colours);
    colour(graph, &other, half, first + half, colours);
    if degree % 2 == 1 {
        remove_a_colour(graph, edges, degree, first, colours);
    }
}

/// Splits `edges` into two parts so that every node has half of its edges in each, rounded up or down.
fn euler_split(graph: &Graph, edges: &[u32]) -> (Vec<u32>, Vec<u32>) {
    let mut trails = Trails::new(graph, edges);
    for node in 0..graph.nodes {
        if trails.left[node as usize] % 2 == 1 {
            trails.walk(graph, node);
        }
    }
    for node in 0..graph.nodes {
        while trails.left[node as usize] > 0 {
            trails.walk(graph, node);
        }
    }
    (trails.there, trails.back)
}

/// Trails along edges, each of which is walked once.
struct Trails {
    /// The edges of each node, one node after the other.
    at_node: Vec<u32>,
    /// For each node, where in `at_node` its edges begin that may not have been walked yet.
    next: Vec<u32>,
    /// For each node, how many of its edges have not been walked.
    left: Vec<u32>,
    /// For each place among the edges, whether that edge has been walked.
    walked: Vec<bool>,
    edges: Vec<u32>,
    /// Edges walked from the left to the right.
    there: Vec<u32>,
    /// Edges walked from the right to the left.
    back: Vec<u32>,
}

impl Trails {
    fn new(graph: &Graph, edges: &[u32]) -> Trails {
        let mut left = vec![0; graph.nodes as usize];
        for &edge in edges {
            let (sender, receiver) = graph.edges[edge as usize];
            left[sender as usize] += 1;
            left[receiver as usize] += 1;
        }
        let mut end = 0;
        let mut next: Vec<u32> = left
            .iter()
            .map(|degree| {
                end += degree;
                end
            })
            .collect();
        let mut at_node = vec![0; 2 * edges.len()];
        for (place, &edge) in (0..edges.len() as u32).zip(edges).rev() {
            let (sender, receiver) = graph.edges[edge as usize];
            for node in [sender, receiver] {
                next[node as usize] -= 1;
                at_node[next[node as usize] as usize] = place;
            }
        }
        let half = edges.len() / 2 + 1;
        let (there, back) = (Vec::with_capacity(half), Vec::with_capacity(half));
        Trails { at_node, next, left, walked: vec![false; edges.len()], edges: edges.to_vec(), there, back }
    }

    /// Walks from `node` until it reaches a node all of whose edges have been walked.
    fn walk(&mut self, graph: &Graph, mut node: u32) {
        while self.left[node as usize] > 0 {
            let next = &mut self.next[node as usize];
            while self.walked[self.at_node[*next as usize] as usize] {
                *next += 1;
            }
            let place = self.at_node[*next as usize] as usize;
            *next += 1;
            self.walked[place] = true;
            let edge = self.edges[place];
            let (sender, receiver) = graph.edges[edge as usize];
            self.left[sender as usize] -= 1;
            self.left[receiver as usize] -= 1;
            if node == sender {
                self.there.push(edge);
                node = receiver;
            } else {
                self.back.push(edge);
                node = sender;
            }
        }
    }
}

/// Recolours edges that use one colour too many with the `degree` colours from `first`.
fn remove_a_colour(graph: &Graph, edges: &[u32], degree: u32, first: u32, colours: &mut [u32]) {
    let mut counts = vec![0_usize; degree as usize + 1];
    edges.iter().for_each(|&edge| counts[(colours[edge as usize] - first) as usize] += 1);
    let fewest = (0..).zip(&counts).min_by_key(|&(_, count)| count).map_or(0, |(colour, _)| colour);
    let mut table = Table::new(graph, degree, first, colours);
    let mut without = Vec::with_capacity(counts[fewest as usize]);
    for &edge in edges {
        let colour = table.colours[edge as usize] - first;
        if colour == fewest {
            without.push(edge);
        } else {
            // The last colour takes the number of the one that is removed.
            table.set(edge, if colour == degree { fewest } else { colour });
        }
    }
    without.into_iter().for_each(|edge| table.insert(edge));
}

/// Stands for no edge.
const NONE: u32 = u32::MAX;

/// The edge of each colour at each node.
struct Table<'colours> {
    graph: &'colours Graph,
    degree: u32,
    first: u32,
    /// By node, then by colour.
    edges: Vec<u32>,
    colours: &'colours mut [u32],
}

impl<'colours> Table<'colours> {
    fn new(graph: &'colours Graph, degree: u32, first: u32, colours: &'colours mut [u32]) -> Table<'colours> {
        Table { graph, degree, first, edges: vec![NONE; graph.nodes as usize * degree as usize], colours }
    }

    /// The edges at a node by their colours.
    fn row(&self, node: u32) -> &[u32] {
        &self.edges[node as usize * self.degree as usize..][..self.degree as usize]
    }

    fn place(&self, node: u32, colour: u32) -> usize {
        node as usize * self.degree as usize + colour as usize
    }

    fn set(&mut self, edge: u32, colour: u32) {
        let (sender, receiver) = self.graph.edges[edge as usize];
        for node in [sender, receiver] {
            let place = self.place(node, colour);
            self.edges[place] = edge;
        }
        self.colours[edge as usize] = self.first + colour;
    }

    /// Gives a colour to an edge that has none. Each of its nodes has a free colour.
    fn insert(&mut self, edge: u32) {
        let (sender, receiver) = self.graph.edges[edge as usize];
        let (at_sender, at_receiver) = (self.row(sender), self.row(receiver));
        if let Some(colour) = (0..).zip(at_sender.iter().zip(at_receiver)).find(|&(_, (&a, &b))| a == NONE && b == NONE)
        {
            self.set(edge, colour.0);
            return;
        }
        let free = |row: &[u32]| row.iter().position(|&edge| edge == NONE).unwrap_or(0) as u32;
        let (a, b) = (free(at_sender), free(at_receiver));
        self.exchange_along(receiver, a, b);
        self.set(edge, a);
    }

    /// Exchanges colours a and b along the path from `start`, at which b is free, that begins with a.
    fn exchange_along(&mut self, start: u32, a: u32, b: u32) {
        let (mut node, mut colour, mut other) = (start, a, b);
        let mut path = Vec::new();
        loop {
            let edge = self.edges[self.place(node, colour)];
            if edge == NONE {
                break;
            }
            path.push((edge, other));
            let (sender, receiver) = self.graph.edges[edge as usize];
            node = if node == sender { receiver } else { sender };
            (colour, other) = (other, colour);
        }
        for &(edge, new) in &path {
            let (sender, receiver) = self.graph.edges[edge as usize];
            let old = a + b - new;
            for node in [sender, receiver] {
                let place = self.place(node, old);
                self.edges[place] = NONE;
            }
        }
        path.into_iter().for_each(|(edge, new)| self.set(edge, new));
    }
}

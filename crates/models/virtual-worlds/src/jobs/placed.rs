//! A program that has the machine to itself, on nodes of its own choice. Its results are by rank, as on nodes in order.

use endpoint::{Error, Program, Result, World};
use machines::model::{Interconnect, NodeId};
use quantities::{Rank, Time};

use super::Job;
use super::program::Jobs;
use crate::Simulated;
use crate::answer::{Answer, MessageRecord, MessagingStatistics, Run, Span, Timeline, Unreceived};

/// A machine some of whose nodes have the ranks of one program.
#[derive(Clone, Copy, Debug)]
pub struct Placed<'a> {
    world: Simulated<'a>,
    nodes: &'a [NodeId],
}

impl<'a> Placed<'a> {
    /// The machine of `world` with a rank on each of the `nodes`, or with rank n on node n if there are none.
    pub const fn new(world: Simulated<'a>, nodes: &'a [NodeId]) -> Placed<'a> {
        Placed { world, nodes }
    }
}

impl World for Placed<'_> {
    type Answer = Answer;

    /// Results and answer are in order of rank, and errors name ranks only, as of a program whose ranks are on nodes in
    /// order.
    fn run<P: Program>(&self, ranks: u32, program: &P) -> Run<P::Output> {
        let Placed { world, nodes } = self;
        if nodes.is_empty() {
            return world.run(ranks, program);
        }
        if nodes.len() != ranks as usize {
            return Err(Error::Unfit(format!(
                "{} nodes were found for {ranks} ranks, where each has one",
                nodes.len()
            )));
        }
        let on_ethernet = matches!(world.machine.interconnect, Interconnect::Ethernet(_));
        let job = Job { name: String::new(), program, nodes: nodes.to_vec(), start: Time::ZERO };
        let program = Jobs::new(std::slice::from_ref(&job), world.machine.nodes, on_ethernet)?.without_names();
        let (results, answer) = world.run(program.nodes(), &program)?;
        let mut of_nodes: Vec<Option<Result<P::Output>>> = results.into_iter().map(Result::transpose).collect();
        let of_rank = |node: &NodeId| of_nodes.get_mut(node.0 as usize).and_then(Option::take);
        let results = nodes.iter().filter_map(of_rank).collect();
        let rank_on = |node: Rank| program.seat(node).map(|seat| seat.rank);
        Ok((results, in_ranks(answer, nodes, rank_on)))
    }
}

/// `answer`, whose ranks are nodes, in terms of the ranks on `nodes`.
fn in_ranks(answer: Answer, nodes: &[NodeId], rank_on: impl Fn(Rank) -> Option<Rank>) -> Answer {
    let place = |node: &NodeId| node.0 as usize;
    let finish = nodes.iter().map(|node| answer.finish.get(place(node)).copied().unwrap_or(Time::ZERO)).collect();
    let ranks = nodes.iter().filter_map(|node| answer.ranks.get(place(node)).copied()).collect();
    let messaging = answer.messaging.map(|messaging| MessagingStatistics {
        broadcast_memory: nodes
            .iter()
            .filter_map(|node| messaging.broadcast_memory.get(place(node)).copied())
            .collect(),
        repeated: messaging
            .repeated
            .into_iter()
            .filter_map(|(from, to, count)| Some((rank_on(from)?, rank_on(to)?, count)))
            .collect(),
        ..messaging
    });
    // A broadcast goes to every node, but is meant for those with a rank.
    let left = answer.unreceived.into_iter().filter_map(|left| {
        Some(Unreceived { from: rank_on(left.from)?, to: rank_on(left.to)?, messages: left.messages })
    });
    let mut unreceived: Vec<Unreceived> = left.collect();
    unreceived.sort_by_key(|left| (left.from, left.to));
    let timeline = answer.timeline.map(|timeline| timeline_in_ranks(timeline, &rank_on));
    Answer { finish, ranks, messaging, unreceived, timeline, nodes: nodes.to_vec(), ..answer }
}

fn timeline_in_ranks(timeline: Timeline, rank_on: &impl Fn(Rank) -> Option<Rank>) -> Timeline {
    let span = |span: Span| Some(Span { rank: rank_on(span.rank)?, partner: span.partner.and_then(rank_on), ..span });
    let message = |message: MessageRecord| {
        Some(MessageRecord { from: rank_on(message.from)?, to: rank_on(message.to)?, ..message })
    };
    let spans = timeline.spans.into_iter().filter_map(span).collect();
    let messages = timeline.messages.into_iter().filter_map(message).collect();
    Timeline { spans, messages, ..timeline }.in_order()
}

//! What no candidate can be quicker than.

use machines::model::{Channel, ChannelId, FlitNetwork, Interconnect, Machine};
use programs::postal::broadcast_time;
use quantities::{Bytes, Duration};

use super::Question;
use super::estimate::Model;

/// A lower bound, and what it comes from.
#[derive(Clone, Debug, PartialEq)]
pub struct Bound {
    /// The least time.
    pub time: Duration,
    /// Why.
    pub why: String,
}

pub(super) fn of(question: &Question, machine: &Machine, model: &Model) -> Bound {
    match question {
        Question::Broadcast { ranks, .. } | Question::Combine { ranks, .. } => {
            let steps = broadcast_time(model.lambda, u64::from(*ranks));
            let why = format!(
                "T(n) = {steps} steps of t0 = {} with lambda = {}, for messages that are not cut",
                model.send_time, model.lambda
            );
            Bound { time: steps.of(model.send_time), why }
        }
        Question::Complete { ranks, bytes } => {
            let others = u64::from(ranks.saturating_sub(1));
            busiest(machine, others, Bytes(others.saturating_mul(bytes.0)))
        }
        Question::Irregular(pattern) => {
            busiest(machine, u64::from(pattern.most_messages_of_a_rank()), pattern.most_bytes_of_a_rank())
        }
    }
}

/// A rank that sends, or receives, so many messages with so many bytes takes at least as long as its channel.
pub fn busiest(machine: &Machine, messages: u64, bytes: Bytes) -> Bound {
    let time = match &machine.interconnect {
        Interconnect::Flits(network) => Duration::from_picoseconds(on_the_wire(network, messages, bytes)),
        Interconnect::LogGp(model) => {
            let gaps = model.gap.picoseconds().saturating_mul(messages.saturating_sub(1));
            Duration::from_picoseconds(gaps.saturating_add(model.gap_per_byte.picoseconds().saturating_mul(bytes.0)))
        }
    };
    Bound { time, why: format!("{messages} messages, {bytes}, through the channel of the busiest rank") }
}

/// The time of the fastest node's channel for the flits of so many messages. [ps]
fn on_the_wire(network: &FlitNetwork, messages: u64, bytes: Bytes) -> u64 {
    let flit_time = |channel: &ChannelId| {
        let Channel { flit_time, .. } = network.channels[channel.0 as usize];
        flit_time.picoseconds()
    };
    let fastest = network.injection.iter().chain(&network.ejection).map(flit_time).min().unwrap_or(0);
    let packet = &network.packet;
    let packets = bytes.0.div_ceil(packet.payload.0).max(messages);
    let headers = packets.saturating_mul(packet.header.0.div_ceil(packet.flit.0));
    headers.saturating_add(bytes.0.div_ceil(packet.flit.0)).saturating_mul(fastest)
}

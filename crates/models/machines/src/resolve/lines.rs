//! The properties of every channel: the description's defaults, and where some channels differ from them.

use quantities::{Bytes, Duration, Rate};

use super::{bounded, listed, missing};
use crate::description::fields::{Channels, Line as LineFields};
use crate::error::Fault;
use crate::model::{Channel, ChannelEnd};
use crate::topology::{ChannelClass, Kind, OwnLine, Plan, Topology};

/// The most slots of a buffer.
const MOST_SLOTS: u32 = 1 << 20;
/// The plan of so many channels at a time is given back as the channels are made, so that a large machine is not in
/// memory twice.
const GIVEN_BACK: usize = 1 << 18;
/// The longest time of a flit: a packet of the most flits then takes a quarter of an hour.
const LONGEST_FLIT: Duration = Duration::from_microseconds(1_000);

/// The properties of a channel, with nothing left open.
#[derive(Clone, Copy)]
struct ResolvedChannel {
    flit_time: Option<Duration>,
    wire_latency: Duration,
    credit_latency: Duration,
    buffers: u32,
}

/// Every channel of the plan, whose own channels are taken from it; `virtual_channels` share each channel between
/// routers.
pub(super) fn channels(kinds: &Kinds, virtual_channels: u32, plan: &mut Plan) -> Result<Vec<Channel>, Fault> {
    let mut ports = vec![0u32; plan.routers.len()];
    let mut planned = std::mem::take(&mut plan.channels);
    let mut channels = Vec::with_capacity(planned.len());
    planned.reverse();
    while let Some(channel) = planned.pop() {
        if planned.len().is_multiple_of(GIVEN_BACK) {
            planned.shrink_to_fit();
        }
        let input_port = match channel.to {
            ChannelEnd::Node(_) => 0,
            ChannelEnd::Router(router) => {
                let port = &mut ports[router.0 as usize];
                *port += 1;
                *port - 1
            }
        };
        let like = kinds.of(channel.line);
        let at_node = matches!(channel.line, ChannelClass::Injection | ChannelClass::Ejection);
        channels.push(Channel {
            from: channel.from,
            to: channel.to,
            input_port,
            flit_time: like.flit_time.ok_or_else(|| missing("channels", "`rate` (or `flit_time`)"))?,
            wire_latency: like.wire_latency,
            credit_latency: like.credit_latency,
            buffer: like.buffers,
            virtual_channels: if at_node { 1 } else { virtual_channels },
        });
    }
    Ok(channels)
}

/// The kinds of channels that a description tells apart.
pub(super) struct Kinds {
    injection: ResolvedChannel,
    ejection: ResolvedChannel,
    network: ResolvedChannel,
    global: ResolvedChannel,
    /// The topology's own.
    own: Vec<ResolvedChannel>,
}

impl Kinds {
    /// Those of a description with so many virtual channels on each channel between routers.
    pub(super) fn new(
        lines: &Channels,
        virtual_channels: u32,
        topology: &Topology,
        flit: Bytes,
    ) -> Result<Kinds, Fault> {
        let kinds = Kinds::described(lines, topology, flit)?;
        if virtual_channels > 1 {
            kinds.give_credits_time(topology)?;
        }
        Ok(kinds)
    }

    fn described(lines: &Channels, topology: &Topology, flit: Bytes) -> Result<Kinds, Fault> {
        let none = ResolvedChannel {
            flit_time: None,
            wire_latency: Duration::ZERO,
            credit_latency: Duration::ZERO,
            buffers: 1,
        };
        let Channels {
            rate, flit_time, wire_latency, credit_latency, buffers, nodes, injection, ejection, global, ..
        } = *lines;
        let shared = LineFields { rate, flit_time, wire_latency, credit_latency, buffers };
        let network = none.changed("channels", &shared, flit)?;
        let at_nodes = network.changed("channels.nodes", &nodes, flit)?;
        if global != LineFields::default() && !topology.given().any(|kind| kind.has_global) {
            let have: Vec<&Kind> = Topology::KINDS.iter().filter(|kind| kind.has_global).collect();
            let have = listed(have.iter().map(|kind| format!("a {}", kind.name)).collect(), "or");
            return Err(Fault::value("channels.global", "`global`", format!("no such channels but in {have}")));
        }
        let mut own = Vec::new();
        for OwnLine { field, rate_field, line } in topology.lines() {
            let of_rate = format!("{field}.rate");
            own.push(network.changed(&field, &line, flit).map_err(|fault| match fault.field == of_rate {
                true => Fault { field: rate_field, ..fault },
                false => fault,
            })?);
        }
        Ok(Kinds {
            injection: at_nodes.changed("channels.injection", &injection, flit)?,
            ejection: at_nodes.changed("channels.ejection", &ejection, flit)?,
            network,
            global: network.changed("channels.global", &global, flit)?,
            own,
        })
    }

    /// Checks that all credits between routers take some time, so that the slot of a flit that leaves can only be
    /// reused at a later instant. If it were free at once, the winner of a wire could depend on the order in which the
    /// grants of one instant are processed.
    fn give_credits_time(&self, topology: &Topology) -> Result<(), Fault> {
        let none = |line: &ResolvedChannel| line.credit_latency.is_zero();
        let allowed = "more than zero, since several virtual channels share a channel";
        if none(&self.global) && !none(&self.network) {
            return Err(Fault::value("channels.global.credit_latency", Duration::ZERO, allowed));
        }
        let own = self.own.iter().position(none).and_then(|index| topology.lines().nth(index));
        let field = match own {
            Some(OwnLine { field, .. }) if !none(&self.network) => format!("{field}.credit_latency"),
            None if !self.own.is_empty() || !none(&self.network) => return Ok(()),
            _ => "channels.credit_latency".to_string(),
        };
        Err(Fault::value(field, Duration::ZERO, allowed))
    }

    fn of(&self, line: ChannelClass) -> ResolvedChannel {
        match line {
            ChannelClass::Injection => self.injection,
            ChannelClass::Ejection => self.ejection,
            ChannelClass::Network => self.network,
            ChannelClass::Global => self.global,
            ChannelClass::Own(index) => self.own[index as usize],
        }
    }
}

impl ResolvedChannel {
    /// The same with the changes of `line`.
    fn changed(self, field: &str, line: &LineFields, flit: Bytes) -> Result<ResolvedChannel, Fault> {
        let buffers = line.buffers.unwrap_or(self.buffers);
        if !(1..=MOST_SLOTS).contains(&buffers) {
            return Err(Fault::value(format!("{field}.buffers"), buffers, format!("1 to {MOST_SLOTS} flits")));
        }
        let latency = |name: &str, given: Option<Duration>, default: Duration| {
            given.map_or(Ok(default), |given| bounded(&format!("{field}.{name}"), given))
        };
        Ok(ResolvedChannel {
            flit_time: flit_time(field, line, flit)?.or(self.flit_time),
            wire_latency: latency("wire_latency", line.wire_latency, self.wire_latency)?,
            credit_latency: latency("credit_latency", line.credit_latency, self.credit_latency)?,
            buffers,
        })
    }
}

/// The time of a flit, if the line specifies it in either form.
fn flit_time(field: &str, line: &LineFields, flit: Bytes) -> Result<Option<Duration>, Fault> {
    let allowed = || format!("a flit of {flit} in 1 ps to {LONGEST_FLIT}");
    let within = |time: Duration| !time.is_zero() && time <= LONGEST_FLIT;
    match (line.rate, line.flit_time) {
        (None, None) => Ok(None),
        (Some(_), Some(_)) => Err(Fault::value(field, "both `rate` and `flit_time`", "one of them")),
        (None, Some(time)) if within(time) => Ok(Some(time)),
        (None, Some(time)) => Err(Fault::value(format!("{field}.flit_time"), time, allowed())),
        (Some(rate), None) => match time_of(rate, flit) {
            Some(time) if within(time) => Ok(Some(time)),
            _ => Err(Fault::value(format!("{field}.rate"), rate, allowed())),
        },
    }
}

/// How long `amount` takes, unless it exceeds all bounds.
fn time_of(rate: Rate, amount: Bytes) -> Option<Duration> {
    // At one bit a second even the largest flit, a gigabyte, would overflow: so times over the bound are caught first.
    let longest = u128::from(LONGEST_FLIT.picoseconds()) * u128::from(rate.bits_per_second());
    (u128::from(amount.0) * 8_000_000_000_000 <= longest * 2).then(|| rate.time_of(amount))
}

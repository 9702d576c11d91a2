//! From a description to what a world simulates: everything checked, everything a number.

mod ethernet;
mod lines;
mod node;
mod paths;
mod virtual_channels;

use std::sync::Arc;

use crate::description::fields::{self, Fields, Mode};
use crate::error::{Fault, Problem};
use crate::model::{
    Arbitration, ChannelId, FlitNetwork, Interconnect, Machine, PacketFormat, Router, Source, Switching,
};
use crate::routing::{IdleWhen, Selection, WaitsFor};
use crate::topology::{Plan, PlannedTopology, RouterPlan, Topology};
use quantities::{Bytes, Duration};

/// The longest time allowed in a description: anything longer would only be a mistyped unit.
const LONGEST: Duration = Duration::from_microseconds(1_000_000);
/// The most flits of a packet.
const MOST_FLITS: u64 = 1 << 20;

/// The longest name of a machine, a router or a job: that of a file, which names the machine in it. [characters]
pub const LONGEST_NAME: usize = 255;

/// That the name in `field` is not too long. The error does not repeat it.
pub(crate) fn check_length(field: impl FnOnce() -> String, name: &str) -> Result<(), Fault> {
    match name.chars().count() {
        length if length > LONGEST_NAME => {
            let found = format!("a name of {length} characters");
            Err(Fault::value(field(), found, format!("a name of at most {LONGEST_NAME}")))
        }
        _ => Ok(()),
    }
}

/// The machine that `fields` describe.
pub(crate) fn machine(fields: &Fields, name: &str) -> Result<Machine, Fault> {
    check_length(|| "name".to_owned(), name)?;
    let node = node::costs(&fields.node)?;
    let (nodes, interconnect) = match (&fields.topology, &fields.loggp, &fields.ethernet) {
        (Some(topology), None, None) => flits(fields, topology)?,
        (None, Some(loggp), None) => node::loggp(fields, loggp)?,
        (None, None, Some(ethernet)) => ethernet::ethernet(fields, ethernet)?,
        (None, None, None) => return Err(missing("", "`topology` (or `loggp`, or `ethernet`)")),
        (Some(_), Some(_), _) => {
            return Err(Fault::value(
                "loggp",
                "both `topology` and `loggp`",
                "one of them: the LogGP model has no network",
            ));
        }
        (topology, _, Some(_)) => {
            let other = if topology.is_some() { "topology" } else { "loggp" };
            return Err(Fault::value("ethernet", format!("both `{other}` and `ethernet`"), "one of them"));
        }
    };
    let control_network = fields.control_network.as_ref().map(node::control_network).transpose()?;
    let (name, about, source) = (name.to_string(), fields.about.clone(), Source::default());
    Ok(Machine { name, about, nodes, interconnect, node, control_network, source })
}

fn missing(field: &str, missing: &str) -> Fault {
    Fault::new(field, Problem::Missing { missing: missing.to_string() })
}

/// A network of routers.
fn flits(fields: &Fields, topology: &Topology) -> Result<(u32, Interconnect), Fault> {
    let mut layout = lay_out(topology)?;
    let packet = packet(fields.packet.as_ref().ok_or_else(|| missing("", "`packet`"))?)?;
    if let Some(piggyback) = fields.node.piggyback.filter(|piggyback| *piggyback > packet.payload) {
        let allowed = format!("at most {}, what a packet carries", packet.payload);
        return Err(Fault::value("node.piggyback", piggyback, allowed));
    }
    let routers = fields.routers.as_ref().ok_or_else(|| missing("", "`routers`"))?;
    let routing_delay = positive("routers.routing_delay", routers.routing_delay)?;
    let lines = fields.channels.as_ref().ok_or_else(|| missing("", "`channels`"))?;
    let virtual_channels = virtual_channels::count(lines, fields.switching.mode, &layout.plan)?;
    let kinds = lines::Kinds::new(lines, virtual_channels, topology, packet.flit)?;
    let (rule, routing) = paths::routing(fields.routing.rule, &mut layout, virtual_channels)?;
    let PlannedTopology { mut plan, .. } = layout;
    let channels = lines::channels(&kinds, virtual_channels, &mut plan)?;
    only_where_idle_is_sought(&fields.routing)?;
    let switching = switching(&fields.switching, &plan)?;
    let ends = |which: usize| (0..plan.homes.len()).map(|node| ChannelId((2 * node + which) as u32)).collect();
    let network = FlitNetwork {
        channels,
        injection: ends(0),
        ejection: ends(1),
        routers: named(plan.routers, routing_delay),
        sides: plan.sides,
        group: plan.group,
        regions: plan.regions,
        routing,
        selection: fields.routing.selection,
        waits_for: fields.routing.waits_for,
        idle_when: fields.routing.idle_when,
        switching,
        arbitration: match routers.arbitration {
            fields::Arbitration::FirstCome => Arbitration::FirstCome,
            fields::Arbitration::RoundRobin => Arbitration::RoundRobin,
        },
        packet,
    };
    whole_packets_fit(&network)?;
    paths::no_deadlock(rule, &network)?;
    virtual_channels::in_sets(virtual_channels, rule, &network.routing)?;
    Ok((plan.homes.len() as u32, Interconnect::Flits(Arc::new(network))))
}

/// Lays out the one topology that is given.
fn lay_out(topology: &Topology) -> Result<PlannedTopology, Fault> {
    let kinds = || listed(Topology::KINDS.iter().map(|kind| kind.name.to_string()).collect(), "and");
    match topology.given().count() {
        0 => Err(missing("topology", &format!("one of {}", kinds()))),
        1 => topology.lay_out(),
        several => Err(Fault::value("topology", format!("{several} of {}", kinds()), "one of them")),
    }
}

fn named(routers: Vec<RouterPlan>, routing_delay: Duration) -> Vec<Router> {
    let router = |RouterPlan { name, position, mesh_index }| Router { name, routing_delay, position, mesh_index };
    routers.into_iter().map(router).collect()
}

/// Checks that a time is within bounds.
fn bounded(field: &str, time: Duration) -> Result<Duration, Fault> {
    if time > LONGEST {
        return Err(Fault::value(field, time, format!("at most {LONGEST}")));
    }
    Ok(time)
}

/// Checks that a time is within bounds and more than zero.
fn positive(field: &str, time: Duration) -> Result<Duration, Fault> {
    if time.is_zero() {
        return Err(Fault::value(field, time, format!("more than zero, at most {LONGEST}")));
    }
    bounded(field, time)
}

fn packet(packet: &fields::Packet) -> Result<PacketFormat, Fault> {
    let fields::Packet { payload, header, flit } = *packet;
    for (field, size) in [("payload", payload), ("header", header), ("flit", flit)] {
        if size == Bytes(0) || size > Bytes(1 << 30) {
            return Err(Fault::value(format!("packet.{field}"), size, "1 B to 1 GiB"));
        }
    }
    let flits = header.0.div_ceil(flit.0) + payload.0.div_ceil(flit.0);
    if flits > MOST_FLITS {
        let found = format!("{payload} in flits of {flit}: {flits} flits with the header");
        return Err(Fault::value("packet.payload", found, format!("at most {MOST_FLITS} flits")));
    }
    Ok(PacketFormat { payload, header, flit })
}

/// Checks that only headers that look for an idle channel wait for any of several, or are told what counts as idle.
fn only_where_idle_is_sought(routing: &fields::Routing) -> Result<(), Fault> {
    let fields::Routing { selection, waits_for, idle_when, .. } = *routing;
    let refused = |field: &str, found: &str, otherwise: &str| {
        let seek = Selection::ALL.into_iter().filter(|selection| selection.looks_for_idle());
        let seek = listed(seek.map(|selection| format!("\"{}\"", selection.name())).collect(), "or");
        Err(Fault::value(field, found, format!("\"{otherwise}\" unless routing.selection is {seek}")))
    };
    if waits_for != WaitsFor::Chosen && !selection.looks_for_idle() {
        return refused("routing.waits_for", waits_for.name(), WaitsFor::Chosen.name());
    }
    if idle_when != IdleWhen::Free && !selection.looks_for_idle() {
        return refused("routing.idle_when", idle_when.name(), IdleWhen::Free.name());
    }
    Ok(())
}

/// Names in a row, with a word before the last.
pub(crate) fn listed(mut names: Vec<String>, word: &str) -> String {
    match names.pop() {
        Some(last) if !names.is_empty() => format!("{} {word} {last}", names.join(", ")),
        only => only.unwrap_or_default(),
    }
}

fn switching(switching: &fields::Switching, plan: &Plan) -> Result<Switching, Fault> {
    const FIELD: &str = "switching.per_packet";
    match (switching.mode, switching.per_packet) {
        (Mode::Wormhole, None) => Ok(Switching::Wormhole),
        (Mode::VirtualCutThrough, None) => Ok(Switching::VirtualCutThrough),
        (Mode::StoreAndForward, None) => Ok(Switching::StoreAndForward),
        (Mode::Software, None) => Err(missing("switching", "`per_packet`, the time to forward a packet,")),
        (Mode::Software, Some(time)) => {
            let at_home = |(node, home): (usize, &crate::model::RouterId)| home.0 as usize == node;
            if plan.homes.len() != plan.routers.len() || !plan.homes.iter().enumerate().all(at_home) {
                return Err(Fault::value("switching.mode", "software", "a topology with one node at each router"));
            }
            Ok(Switching::Software { per_packet: positive(FIELD, time)? })
        }
        (_, Some(time)) => Err(Fault::value(FIELD, time, "no such time unless switching.mode is \"software\"")),
    }
}

/// Checks that buffers hold whole packets if packets move on as a whole.
fn whole_packets_fit(network: &FlitNetwork) -> Result<(), Fault> {
    if network.switching == Switching::Wormhole {
        return Ok(());
    }
    let flits = network.packet.flits(network.packet.payload);
    match network.channels.iter().map(|channel| channel.buffer).min() {
        Some(least) if least < flits => {
            let allowed = format!("at least {flits}, a whole packet, unless switching is by wormhole");
            Err(Fault::value("channels.buffers", least, allowed))
        }
        _ => Ok(()),
    }
}

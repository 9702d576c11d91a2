//! A switched Ethernet, checked.

use quantities::{Bytes, Duration, Rate};

use super::node::{LONGEST_BYTE, no_other_table};
use super::{bounded, missing};
use crate::description::fields::{self, Fields};
use crate::error::Fault;
use crate::model::{DATAGRAM, Ethernet, Faults, IP_AND_UDP, Interconnect, Memory, Messaging, Trunk};
use crate::topology::within;

/// The most nodes: no switch has more ports, and every node keeps state for each other one.
const MOST_NODES: u64 = 1 << 10;
/// The shortest payload that is worth a packet with its header, and the longest of so-called jumbo frames. [B]
const PAYLOAD: (Bytes, Bytes) = (Bytes(128), Bytes(9_216));
/// The longest header, which leaves room for some of the message in the shortest payload. [B]
const LONGEST_HEADER: Bytes = Bytes(64);
/// The smallest packet that the messaging takes: a header of its own, and as much again. [B]
const SMALLEST_PACKET: Bytes = Bytes(80);
/// The most packets in flight, and messages that wait.
const MOST_PACKETS: u64 = 1 << 16;
/// The size of a frame in a queue besides its payload. [B]
const FRAME: Bytes = Bytes(18);
/// The slowest rate: anything less would only be a mistyped unit.
const SLOWEST: Rate = Rate::from_bits_per_second(8_000);
/// The most frames in a ring.
const LARGEST_RING: u64 = 1 << 20;

/// The Ethernet that `ethernet` describes, and how many ranks its nodes have room for.
pub(super) fn ethernet(fields: &Fields, ethernet: &fields::Ethernet) -> Result<(u32, Interconnect), Fault> {
    no_other_table(fields, "ethernet")?;
    within("ethernet.nodes", "nodes", u64::from(ethernet.nodes), MOST_NODES)?;
    fast_enough("ethernet.rate", ethernet.rate)?;
    if ethernet.payload < PAYLOAD.0 || ethernet.payload > PAYLOAD.1 {
        return Err(Fault::value("ethernet.payload", ethernet.payload, format!("{} to {}", PAYLOAD.0, PAYLOAD.1)));
    }
    let frame = Bytes(ethernet.payload.0 + FRAME.0);
    holds_a_frame("ethernet.queue", Some(ethernet.queue), frame)?;
    holds_a_frame("ethernet.bucket", ethernet.bucket, frame)?;
    for (name, frames) in [("transmit_ring", ethernet.transmit_ring), ("receive_ring", ethernet.receive_ring)] {
        within(&format!("ethernet.{name}"), "frames", u64::from(frames), LARGEST_RING)?;
    }
    if let Some(processors) = ethernet.processors {
        within("ethernet.processors", "processors", u64::from(processors), MOST_NODES)?;
    }
    if ethernet.copy > LONGEST_BYTE {
        return Err(Fault::value("ethernet.copy", ethernet.copy, format!("at most {LONGEST_BYTE}")));
    }
    leaves_room(ethernet)?;
    has_datagrams(&ethernet.messaging)?;
    delays_a_bucket(ethernet)?;
    shares_a_processor(ethernet)?;
    let time = |name: &str, time: Duration| bounded(&format!("ethernet.{name}"), time);
    let resolved = Ethernet {
        rate: ethernet.rate,
        bucket: ethernet.bucket,
        bucket_delay: time("bucket_delay", ethernet.bucket_delay)?,
        bucket_carry: time("bucket_carry", ethernet.bucket_carry)?,
        wire_latency: time("wire_latency", ethernet.wire_latency)?,
        switch_latency: time("switch_latency", ethernet.switch_latency)?,
        switch_copy: time("switch_copy", ethernet.switch_copy)?,
        queue: ethernet.queue,
        payload: ethernet.payload,
        transmit_ring: ethernet.transmit_ring,
        receive_ring: ethernet.receive_ring,
        send: time("send", ethernet.send)?,
        receive: time("receive", ethernet.receive)?,
        handover: time("handover", ethernet.handover)?,
        wake: time("wake", ethernet.wake)?,
        timer: time("timer", ethernet.timer)?,
        block: time("block", ethernet.block)?,
        interrupt: time("interrupt", ethernet.interrupt)?,
        cold: time("cold", ethernet.cold)?,
        cold_each: time("cold_each", ethernet.cold_each)?,
        processors: ethernet.processors,
        copy: ethernet.copy,
        call_send: time("call_send", ethernet.call_send)?,
        call_receive: time("call_receive", ethernet.call_receive)?,
        broadcast_each: time("broadcast_each", ethernet.broadcast_each)?,
        trunk: ethernet.trunk.as_ref().map(|fields| trunk(fields, ethernet)).transpose()?,
        memory: ethernet.memory.as_ref().map(|fields| memory(fields, ethernet)).transpose()?,
        faults: faults(&ethernet.faults)?,
        messaging: messaging(&ethernet.messaging)?,
    };
    Ok((ethernet.nodes * resolved.processes(), Interconnect::Ethernet(resolved)))
}

fn fast_enough(name: &str, rate: Rate) -> Result<(), Fault> {
    if rate < SLOWEST {
        return Err(Fault::value(name, rate, format!("at least {SLOWEST}")));
    }
    Ok(())
}

fn holds_a_frame(name: &str, size: Option<Bytes>, frame: Bytes) -> Result<(), Fault> {
    match size.filter(|&size| size < frame) {
        Some(size) => Err(Fault::value(name, size, format!("at least {frame}, the longest frame"))),
        None => Ok(()),
    }
}

/// An envelope and a header of the machine's leave room for the smallest packet.
fn leaves_room(ethernet: &fields::Ethernet) -> Result<(), Fault> {
    let fields::Messaging { header, envelope, .. } = ethernet.messaging;
    let Some(envelope) = envelope else { return Ok(()) };
    let most = Bytes(ethernet.payload.0.saturating_sub(header.unwrap_or(Bytes(0)).0 + SMALLEST_PACKET.0));
    if envelope > most {
        let allowed = format!("at most {most}, as a frame carries {}", ethernet.payload);
        return Err(Fault::value("ethernet.messaging.envelope", envelope, allowed));
    }
    Ok(())
}

/// Datagrams are of a length that UDP has, and the envelope says what they are in.
fn has_datagrams(messaging: &Messaging) -> Result<(), Fault> {
    let Some(datagram) = messaging.datagram else { return Ok(()) };
    let place = "ethernet.messaging.datagram";
    if !DATAGRAM.contains(&datagram) {
        return Err(Fault::value(place, datagram, format!("{} to {}", DATAGRAM.start(), DATAGRAM.end())));
    }
    if messaging.envelope.is_none_or(|envelope| envelope < IP_AND_UDP) {
        let allowed = format!("none without an `envelope` of {IP_AND_UDP} or more, which IP and UDP add");
        return Err(Fault::value(place, datagram, allowed));
    }
    Ok(())
}

/// Without token buckets no frame waits for tokens, so that a delay would have no effect.
fn delays_a_bucket(ethernet: &fields::Ethernet) -> Result<(), Fault> {
    let of_trunk = ethernet.trunk.as_ref().and_then(|trunk| trunk.bucket);
    let times = [("bucket_delay", ethernet.bucket_delay), ("bucket_carry", ethernet.bucket_carry)];
    match times.into_iter().find(|(_, time)| !time.is_zero()) {
        Some((name, time)) if ethernet.bucket.or(of_trunk).is_none() => {
            let allowed = "0 ps, as neither the wires nor a trunk have a `bucket`";
            Err(Fault::value(format!("ethernet.{name}"), time, allowed))
        }
        _ => Ok(()),
    }
}

/// An interrupt for a receiver costs the sender only where both are on one computer, and only there does one node run
/// where another did.
fn shares_a_processor(ethernet: &fields::Ethernet) -> Result<(), Fault> {
    let times = [("interrupt", ethernet.interrupt), ("cold_each", ethernet.cold_each)];
    match times.into_iter().find(|(_, time)| !time.is_zero()) {
        Some((name, time)) if ethernet.processors.is_none() => {
            Err(Fault::value(format!("ethernet.{name}"), time, "0 ps, as nodes share no `processors`"))
        }
        _ => Ok(()),
    }
}

/// The trunk of an Ethernet, with nodes at both of its ends.
fn trunk(fields: &fields::Trunk, ethernet: &fields::Ethernet) -> Result<Trunk, Fault> {
    let fields::Trunk { first_switch, rate, bucket, latency, queue } = *fields;
    if first_switch == 0 || first_switch >= ethernet.nodes {
        let allowed = match ethernet.nodes {
            1 => "no trunk, as there is one node".to_owned(),
            nodes => format!("1 to {}, so that the second switch has nodes, too", nodes - 1),
        };
        return Err(Fault::value("ethernet.trunk.first_switch", first_switch, allowed));
    }
    fast_enough("ethernet.trunk.rate", rate)?;
    let frame = Bytes(ethernet.payload.0 + FRAME.0);
    holds_a_frame("ethernet.trunk.bucket", bucket, frame)?;
    holds_a_frame("ethernet.trunk.queue", queue, frame)?;
    let latency = bounded("ethernet.trunk.latency", latency)?;
    Ok(Trunk { first_switch, rate, bucket, latency, queue: queue.unwrap_or(ethernet.queue) })
}

/// The memory of each node, and the processes that share it. There are no more processes in all than a machine has
/// nodes at most.
fn memory(fields: &Memory, ethernet: &fields::Ethernet) -> Result<Memory, Fault> {
    let Memory { processes, send, receive, copy, cache, copy_uncached } = *fields;
    let place = |name: &str| format!("ethernet.memory.{name}");
    let most = MOST_NODES / u64::from(ethernet.nodes);
    within(&place("processes"), "processes", u64::from(processes), most)?;
    if let Some(processors) = ethernet.processors {
        let allowed = "none where nodes have a `memory`: each of their processes has a processor of its own";
        return Err(Fault::value("ethernet.processors", processors, allowed));
    }
    bounded(&place("send"), send)?;
    bounded(&place("receive"), receive)?;
    for (name, time) in [("copy", copy), ("copy_uncached", copy_uncached)] {
        if time > LONGEST_BYTE {
            return Err(Fault::value(place(name), time, format!("at most {LONGEST_BYTE}")));
        }
    }
    match cache {
        None if !copy_uncached.is_zero() => {
            Err(Fault::value(place("copy_uncached"), copy_uncached, "0 ps, as no `cache` is given"))
        }
        Some(_) if copy_uncached < copy => {
            let allowed = format!("at least {copy}, the `copy` of a byte that the `cache` holds");
            Err(Fault::value(place("copy_uncached"), copy_uncached, allowed))
        }
        None | Some(_) => Ok(*fields),
    }
}

fn faults(faults: &Faults) -> Result<Faults, Fault> {
    let Faults { loss, burst_begins, burst_ends, duplicated, delayed, delay } = *faults;
    let chances = [
        ("loss", loss),
        ("burst_begins", burst_begins),
        ("burst_ends", burst_ends),
        ("duplicated", duplicated),
        ("delayed", delayed),
    ];
    for (name, chance) in chances {
        if !(0.0..=1.0).contains(&chance) {
            return Err(Fault::value(format!("ethernet.faults.{name}"), chance, "a chance from 0 to 1"));
        }
    }
    if burst_begins > 0.0 && burst_ends == 0.0 {
        return Err(Fault::value("ethernet.faults.burst_ends", burst_ends, "more than 0: a burst would never end"));
    }
    if (duplicated > 0.0 || delayed > 0.0) && delay.is_zero() {
        return Err(missing("ethernet.faults", "`delay`, by how much frames are late"));
    }
    bounded("ethernet.faults.delay", delay)?;
    Ok(*faults)
}

/// Checks every field by itself, and the order of those times that must be in order.
fn messaging(fields: &Messaging) -> Result<Messaging, Fault> {
    let place = |name: &str| format!("ethernet.messaging.{name}");
    for (name, size) in [("header", fields.header), ("envelope", fields.envelope)] {
        if let Some(size) = size.filter(|size| *size > LONGEST_HEADER) {
            return Err(Fault::value(place(name), size, format!("at most {LONGEST_HEADER}")));
        }
    }
    let counts = [
        ("window", "packets", fields.window.map(u64::from)),
        ("batch", "packets", fields.batch.map(u64::from)),
        ("send_queue", "messages", fields.send_queue.map(u64::from)),
        ("report_packets", "packets", fields.report_packets),
        ("broadcast_report_packets", "packets", fields.broadcast_report_packets),
    ];
    for (name, unit, count) in counts {
        if let Some(count) = count {
            within(&place(name), unit, count, MOST_PACKETS)?;
        }
    }
    let Messaging { first_timeout: first, least_timeout: least, most_timeout: most, .. } = *fields;
    let times =
        [("first_timeout", first), ("least_timeout", least), ("most_timeout", most), ("patience", fields.patience)];
    for (name, time) in times {
        if let Some(time) = time {
            bounded(&place(name), time)?;
            if time.is_zero() {
                return Err(Fault::value(place(name), time, "more than 0"));
            }
        }
    }
    bounded(&place("report_delay"), fields.report_delay.unwrap_or(Duration::ZERO))?;
    for (name, other, time, bound) in
        [("least_timeout", "most_timeout", least, most), ("first_timeout", "most_timeout", first, most)]
    {
        if let (Some(time), Some(bound)) = (time, bound)
            && time > bound
        {
            return Err(Fault::value(place(name), time, format!("at most {bound}, the `{other}`")));
        }
    }
    Ok(*fields)
}

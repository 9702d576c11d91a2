//! Wires, switches, frames and what goes wrong, in words.

use std::fmt::Display;

use crate::model::{Ethernet, Faults, Memory, Messaging, Trunk};

/// A name and its value.
fn row(name: &'static str, value: impl Display) -> (&'static str, String) {
    (name, value.to_string())
}

/// All of it.
pub(super) fn in_words(model: &Ethernet) -> Vec<(&'static str, String)> {
    let Ethernet { rate, wire_latency, switch_latency, queue, payload, transmit_ring, receive_ring, .. } = model;
    let bucket = model.bucket.map(|bucket| format!(", a token bucket of {bucket}")).unwrap_or_default();
    let mut rows = vec![
        row("wires", format!("{rate}{bucket}, {wire_latency}, each way, from every node to the switch")),
        row(
            "switch",
            format!("{switch_latency} for a frame; each output queues {queue}, frames that do not fit are dropped"),
        ),
        row("frames", format!("of up to {payload}; a node queues {transmit_ring} to send and {receive_ring} received")),
        row(
            "processors",
            format!("{} to send a frame, {} to receive one, {} a byte", model.send, model.receive, model.copy),
        ),
    ];
    rows.extend(model.memory.as_ref().map(|memory| row("memory", through_memory(memory))));
    if let Some(processors) = model.processors {
        rows.push(row("shared", format!("{processors} processors, by all nodes")));
    }
    rows.extend(further_times(model));
    if let Some(Trunk { first_switch, rate, bucket, latency, queue }) = &model.trunk {
        let bucket = bucket.map(|bucket| format!(", a token bucket of {bucket}")).unwrap_or_default();
        let ways = format!("{rate}{bucket}, {latency}, each way, behind a queue of {queue}");
        rows.push(row(
            "trunk",
            format!("{ways}; the first {first_switch} nodes are on one switch, the others on a second"),
        ));
    }
    if !model.call_send.is_zero() || !model.call_receive.is_zero() {
        rows.push(row(
            "calls",
            format!("{} more to send a message, {} to receive one", model.call_send, model.call_receive),
        ));
    }
    if !model.broadcast_each.is_zero() {
        rows.push(row(
            "broadcasts",
            format!("{} more at the source for each receiver of a frame", model.broadcast_each),
        ));
    }
    if !model.switch_copy.is_zero() {
        rows.push(row(
            "copies",
            format!("{} of the switch for each receiver but the first of a broadcast frame", model.switch_copy),
        ));
    }
    if model.messaging != Messaging::default() {
        rows.push(row("messages", messages(&model.messaging)));
    }
    if model.faults != Faults::NONE {
        rows.push(row("faults", faults(&model.faults)));
    }
    rows
}

/// What messages between processes of a node cost.
fn through_memory(memory: &Memory) -> String {
    let Memory { processes, send, receive, copy, cache, copy_uncached } = memory;
    let beyond = cache.map(|cache| format!(", {copy_uncached} beyond {cache}")).unwrap_or_default();
    let costs = format!("{send} to send a part of a message, {receive} to receive one, {copy} a byte to copy{beyond}");
    format!("shared by {processes} processes, which each count as a node: {costs}")
}

/// The times that most Ethernets do not have.
fn further_times(model: &Ethernet) -> impl Iterator<Item = (&'static str, String)> {
    let times = [
        ("handing over", model.handover, ", however many frames at once"),
        ("waking", model.wake, " for a node that has waited for a frame"),
        ("timer", model.timer, " for a node that has waited for a time to come"),
        ("blocking", model.block, " for a node that begins to wait for a frame"),
        ("interrupts", model.interrupt, " at the sender, for an idle processor that a receiver needs"),
        ("cold caches", model.cold, " for the first frame sent and the first received"),
        (
            "colder caches",
            model.cold_each,
            " more after a wait, for each other node that ran on the processor meanwhile",
        ),
        ("bucket delay", model.bucket_delay, " for a frame that had to wait for tokens"),
        ("bucket carry", model.bucket_carry, " of an interrupt, to carry such a frame on"),
    ];
    let present = times.into_iter().filter(|(_, time, _)| !time.is_zero());
    present.map(|(name, time, what)| row(name, format!("{time}{what}")))
}

/// The parameters of messaging that the description chooses.
fn messages(messaging: &Messaging) -> String {
    let chosen: Vec<String> = messaging.chosen().iter().map(|(name, value)| format!("{name} {value}")).collect();
    chosen.join(", ")
}

/// What goes wrong on the way to each receiver.
fn faults(faults: &Faults) -> String {
    let Faults { loss, burst_begins, burst_ends, duplicated, delayed, delay } = *faults;
    let percent = |chance: f64| format!("{}%", chance * 100.0);
    let parts = [
        (loss > 0.0, format!("{} lost", percent(loss))),
        (burst_begins > 0.0, format!("bursts begin at {} and end at {}", percent(burst_begins), percent(burst_ends))),
        (duplicated > 0.0, format!("{} duplicated", percent(duplicated))),
        (delayed > 0.0, format!("{} delayed by up to {delay}", percent(delayed))),
    ];
    let described: Vec<String> = parts.into_iter().filter(|part| part.0).map(|part| part.1).collect();
    described.join(", ")
}

//! Figure 6: how much memory a shared buffer saves.

use endpoint::{Message, Tag};
use messaging::memory::Points;
use messaging::{BroadcastProtocol, Engine, Parameters, Push};
use quantities::{Rank, Time};
use serde_json::json;
use virtual_worlds::ethernet::world::parameters;

use super::StudyOfBroadcast;
use super::charts::nodes;
use super::measures::deviation;
use crate::render::chart;
use crate::{Claim, Claims, Drawing, Findings, MissingAnswer};
use report::{Axis, Mark, Measure, fixed, legend};

/// The numbers of nodes.
const NUMBERS: [u32; 8] = [2, 4, 8, 16, 32, 64, 96, 128];
const MOST: u32 = NUMBERS[NUMBERS.len() - 1];
/// The printed factor: M_save(n) = 0.386 (1 - 1/n).
const FACTOR: f64 = 0.386;
/// A message that fills any window. [B]
const LONG: usize = 1 << 20;

/// The study.
pub const STUDY: StudyOfBroadcast = StudyOfBroadcast {
    place: "figure 6",
    title: "memory",
    claims: &["bcast.sec4.memory"],
    jobs: Vec::new,
    judge: |claim, _| judge(claim, counted(MOST, &ours()?)? * 100.0),
    draw: |_: &Claims, _| draw(),
};

fn failed(why: impl ToString) -> MissingAnswer {
    MissingAnswer::Failed("dp-smp-8".to_string(), why.to_string())
}

/// The messaging of dp-smp-8.
fn ours() -> Result<Parameters, MissingAnswer> {
    let machine = machines::load("dp-smp-8").map_err(failed)?;
    machine.model().ethernet().map(parameters).ok_or_else(|| failed("it is no Ethernet"))
}

/// The share of memory that a broadcast saves over a channel to every rank, counting everything that the sending side
/// of rank 0 of `n` holds, with all queues and buffers full. The receiving side is equally large in both cases.
fn counted(n: u32, parameters: &Parameters) -> Result<f64, MissingAnswer> {
    let push = Push { first: u32::MAX, second: 0 };
    let full = Parameters { push, broadcast_protocol: BroadcastProtocol::Simple, ..*parameters };
    let mut engine = Engine::new(Rank(0), n, full).map_err(failed)?;
    let long = Message::from(vec![1; LONG]);
    while engine.multicast(long.clone()).map_err(failed)?.is_none() {}
    for rank in (1..n).map(Rank) {
        while engine.send(rank, Tag::default(), long.clone()).map_err(failed)?.is_none() {}
    }
    engine.drain(Time::ZERO);
    let (channels, shared) = engine.memory();
    let receiving = Points::of(parameters).receive * f64::from(n);
    // The paper counts a point for the root itself as well.
    let channels = channels as f64 * f64::from(n) / f64::from(n - 1);
    Ok(1.0 - (shared as f64 + receiving) / (channels + receiving))
}

/// The saving by the printed sizes is arithmetic with printed numbers, so it is reported but decides nothing.
fn judge(claim: &Claim, counted: f64) -> Result<Findings, MissingAnswer> {
    let of_sizes = Points::PUBLISHED.saved(MOST) * 100.0;
    let printed = claim.printed("saved_at_128_percent")?;
    let ours = json!({"of_sizes_at_128_percent": of_sizes, "counted_at_128_percent": counted});
    let errors = [of_sizes, counted].map(|saved| deviation(saved, printed));
    let errors = json!({"of_sizes_at_128_percent": errors[0], "counted_at_128_percent": errors[1]});
    Ok(Findings::numbers(ours, errors).with_number("saved_at_128_percent", counted))
}

fn draw() -> Result<Option<Drawing>, MissingAnswer> {
    let parameters = ours()?;
    let line = |name: &str, mark: Mark, of: &dyn Fn(u32) -> Result<f64, MissingAnswer>| {
        let point = |n| Ok((f64::from(n), of(n)? * 100.0));
        Ok((name.to_string(), mark, NUMBERS.into_iter().map(point).collect::<Result<Vec<_>, MissingAnswer>>()?))
    };
    let lines = vec![
        line("printed", Mark::broken(2), &|n| Ok(FACTOR * (1.0 - 1.0 / f64::from(n))))?,
        line("published sizes", Mark::full(0), &|n| Ok(Points::PUBLISHED.saved(n)))?,
        line("ours, counted", Mark::full(1), &|n| counted(n, &parameters))?,
    ];
    let keys: Vec<_> = lines.iter().map(|(name, mark, _)| (name.clone(), *mark)).collect();
    let Points { send, receive, light } = Points::of(&parameters);
    let kib = |size: f64| fixed(size / 1_024.0, 1);
    let caption = format!(
        "The memory that one buffer for all receivers saves over a channel to each, over the number of nodes. Printed \
         is {FACTOR} (1 - 1/n); the published sizes, 33.8, 41.4 and 4.4 KiB, give 0.391. Ours are {}, {} and {} KiB for a point that sends, \
         one that receives, and a lightweight one.",
        kib(send),
        kib(receive),
        kib(light)
    );
    let saved = Axis::linear("memory saved [%]", Measure::Plain).reaching(0.0);
    let ticks: Vec<u32> = NUMBERS.into_iter().skip(2).collect();
    Ok(Some(Drawing {
        legend: Some(legend(&keys)),
        panels: vec![chart("memory", nodes(&ticks), saved, lines)],
        caption,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_counted_depends_on_the_buffers() {
        let parameters = ours().unwrap();
        let large = Parameters { pushed_buffer: 100 * parameters.pushed_buffer, ..parameters };
        assert!(counted(8, &large).unwrap() < counted(8, &parameters).unwrap());
    }
}

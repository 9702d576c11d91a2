//! Where the costs of a node of the CM-5 come from, and the rate of its control network: a search among the costs with which recursive
//! broadcast overtakes the control network where figure 10 says, on both machines. The presets have what the walk of seed 0 came to.
//!
//! The control network takes the same time on any machine, a fixed time and one for every byte. So it may take no more for a byte than
//! lets recursive broadcast be slower at half the printed sizes, and no less than lets it be faster at the printed ones: four bounds, of
//! which those of 512 B on 32 nodes and of 2048 B on 256 contradict each other where a byte costs nodes too much. A walk begins at
//! costs that have such a time, and goes on among them where the training half of table 11 is less far off and balanced exchange is ahead of
//! pairwise, as in figure 5. The control network's rate is then the middle one. All other claims are held back.

use std::ops::Range;

use programs::all_to_all::Complete;

use super::job::{How, Job, MANY_NODES, NODES};
use super::node_search::{Found, RANGES, training_deviation, try_out, with_costs};
use super::paper;
use super::simulate::{Setup, run_with};
use crate::walk::{Place, Walk};
use crate::{Claim, Watch};

/// Where walks begin, in the order of the ranges: costs that leave the control network a rate, and have the order of figure 5.
const START: [f64; 8] = [2.8, 65.0, 1.6, 0.8, 20.0, 140.0, 3.8, 0.72];
/// What a header waits for that finds no idle channel, as in the walks of `node_search` that have the order of figure 5.
const WAITS_FOR: &str = "any";
/// Steps of a walk at most.
const STEPS: usize = 300;
/// A walk ends where the training figures are no more than this off on the mean. Not a bound of any claim: walks were slow from there
/// on. [%]
const FITS: f64 = 5.3;
/// What a receiver's processor takes for a message at least, as its sender's does. [us]
const LEAST_RECEIVE: f64 = 2.0;
/// How far the bounds of a byte's time must be apart at least: the logarithm of their quotient.
const ROOM: f64 = 0.005;
/// The sizes at which balanced exchange must be ahead of pairwise: the least and the greatest that are large in figure 5. [B]
const LARGE: [u32; 2] = [1024, 2048];
/// The field that the bounds decide.
const RATE: &str = "control_network.rate";
/// The machines whose crossings are printed, and the names of the sizes.
const MACHINES: [(u32, &str); 2] = [(NODES, "from_bytes_32"), (MANY_NODES, "from_bytes_256")];

/// What the control network may take for a byte. [us]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TimeOfByte {
    /// At least this, so that recursive broadcast is faster at the printed sizes.
    pub least: f64,
    /// At most this, so that it is slower at half of them.
    pub most: f64,
}

impl TimeOfByte {
    /// The logarithm of the quotient of both bounds: below zero no time meets both.
    pub fn room(self) -> f64 {
        (self.most / self.least).ln()
    }

    fn middle_rate(self) -> String {
        format!("{} kB/s", report::fixed(1e3 / (self.least * self.most).sqrt(), 0))
    }
}

/// What the control network may take for a byte with the costs of `setup`.
///
/// # Errors
/// Why a time cannot be had.
pub fn time_of_byte(setup: &Setup) -> Result<TimeOfByte, String> {
    let claims = paper().map_err(|error| error.to_string())?.claims;
    let figure10 = claims.get("cm5.fig10.broadcast").map_err(|gap| format!("{gap:?}"))?;
    let took = |how, nodes, bytes| Ok(run_with(setup, &Job::Broadcast { how, nodes, bytes })?.time.seconds() * 1e6);
    let by_control_network = |bytes| -> Result<f64, String> { took(How::Hardware, NODES, bytes) };
    // It takes a fixed time and one for every byte: what a broadcast of no bytes would take.
    let fixed = 2.0 * by_control_network(512)? - by_control_network(1024)?;
    let mut bounds = TimeOfByte { least: 0.0, most: f64::INFINITY };
    for (nodes, name) in MACHINES {
        let printed = figure10.printed(name).map_err(|gap| format!("{gap:?}"))? as u32;
        let of_byte =
            |bytes| -> Result<f64, String> { Ok((took(How::Recursive, nodes, bytes)? - fixed) / f64::from(bytes)) };
        bounds.most = bounds.most.min(of_byte(printed / 2)?);
        bounds.least = bounds.least.max(of_byte(printed)?);
    }
    Ok(bounds)
}

/// Makes the walks of `seeds`; `each` hears of what every one came to.
///
/// # Errors
/// Why a figure cannot be had.
pub fn search(seeds: Range<u64>, watch: &Watch<'_>, each: &dyn Fn(u64, &Found)) -> Result<(), String> {
    for seed in seeds {
        if let Some(setup) = walk(seed)? {
            each(seed, &try_out(&setup, &[], watch)?);
        }
    }
    Ok(())
}

/// Where a walk is: how much room the control network has, and how far the training figures are off if that is enough. [%]
#[derive(Clone, Copy, Debug)]
struct Standing {
    room: f64,
    deviation: f64,
}

/// One walk; nothing where it came to no costs that leave the control network a rate.
fn walk(seed: u64) -> Result<Option<Setup>, String> {
    let claims = paper().map_err(|error| error.to_string())?.claims;
    let table11 = claims.get("cm5.table11.synthetic").map_err(|gap| format!("{gap:?}"))?;
    let mut walk = Walk::new(&RANGES, seed);
    let mut place = START.to_vec();
    let mut best = Standing { room: f64::NEG_INFINITY, deviation: f64::INFINITY };
    let mut found = None;
    for _ in 0..STEPS {
        if best.deviation <= FITS {
            break;
        }
        let next = walk.step(&place);
        if let Some((setup, standing)) = stand(&walk, &next, table11, best)? {
            (place, best) = (next, standing);
            found = (best.room >= ROOM).then_some(setup);
        }
    }
    Ok(found)
}

/// The costs of `place`, with the middle rate, if they are better than `best`: with more room where that is not enough, else nearer to
/// the training figures.
fn stand(walk: &Walk<'_>, place: &Place, table11: &Claim, best: Standing) -> Result<Option<(Setup, Standing)>, String> {
    let Some(mut setup) = with_costs(walk.settings(place), place, WAITS_FOR)? else { return Ok(None) };
    if receive(&setup)? < LEAST_RECEIVE {
        return Ok(None);
    }
    let bounds = time_of_byte(&setup)?;
    let room = bounds.room();
    if room < ROOM {
        let standing = Standing { room, deviation: f64::INFINITY };
        return Ok((room > best.room).then_some((setup, standing)));
    }
    setup.settings.push((RATE.to_string(), bounds.middle_rate()));
    let Some(deviation) = training_deviation(&setup, table11, best.deviation)? else { return Ok(None) };
    Ok(balanced_is_ahead(&setup)?.then_some((setup, Standing { room, deviation })))
}

/// What a receiver's processor takes for a message. [us]
fn receive(setup: &Setup) -> Result<f64, String> {
    let machine = machines::load_with("cm5-32", &setup.settings).map_err(|error| error.to_string())?;
    Ok(machine.node.processor_receive.seconds() * 1e6)
}

/// Whether balanced exchange is ahead of pairwise for large messages among 32 nodes.
fn balanced_is_ahead(setup: &Setup) -> Result<bool, String> {
    for bytes in LARGE {
        let took = |algorithm| -> Result<_, String> {
            Ok(run_with(setup, &Job::Exchange { algorithm, nodes: NODES, bytes })?.time)
        };
        if took(Complete::Balanced)? >= took(Complete::Pairwise)? {
            return Ok(false);
        }
    }
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::super::node_search::a_byte;
    use super::*;

    /// The costs that walks came to: of a message, of a packet, of copying, in the order of the ranges, and the receiver's.
    fn setup(costs: [f64; 8], receive: &str) -> Setup {
        let mut settings = Walk::new(&RANGES, 0).settings(&costs);
        settings.push(("node.processor_receive".to_string(), receive.to_string()));
        Setup { settings, ..Setup::default() }
    }

    /// What walk 0 came to.
    fn walk_0() -> Setup {
        setup([2.59, 68.0, 1.60, 0.99, 19.7, 143.2, 3.59, 0.69], "3.3 us")
    }

    /// Without any rate recursive broadcast would be too late on 256 nodes, or too early on 32.
    #[test]
    fn no_rate_has_both_crossings_where_a_byte_costs_too_much() {
        let walk_102 = setup([6.93, 43.1, 1.69, 0.86, 14.6, 95.1, 5.08, 0.92], "21.5 us");
        let bounds = time_of_byte(&walk_102).unwrap();
        assert!(bounds.room() < -0.03, "{bounds:?}");
    }

    #[test]
    fn walk_0_leaves_the_control_network_a_rate_and_has_the_order_of_figure_5() {
        let walk_0 = walk_0();
        let bounds = time_of_byte(&walk_0).unwrap();
        assert!(bounds.room() >= ROOM, "{bounds:?}");
        assert_eq!(bounds.middle_rate(), "623 kB/s");
        assert!(balanced_is_ahead(&walk_0).unwrap());
    }

    /// Both presets have them, and the study copies forwarded bytes as fast as their nodes copy.
    #[test]
    fn the_presets_have_the_costs_of_walk_0() {
        let mut walk_0 = walk_0().settings;
        walk_0.push((RATE.to_string(), "623 kB/s".to_string()));
        for preset in ["cm5-32", "cm5-256"] {
            let costs = |settings: &[(String, String)]| {
                let machine = machines::load_with(preset, settings).unwrap();
                (machine.node, machine.control_network)
            };
            assert_eq!(costs(&[]), costs(&walk_0), "{preset}");
            assert_eq!(costs(&[]).0.copy_rate.map(a_byte), Some(Setup::default().reshuffle), "{preset}");
        }
    }
}

//! How many virtual channels share each channel between routers, and whether that fits the switching and the routing.

use crate::description::fields::{Channels, Mode};
use crate::error::Fault;
use crate::routing::{Routing, Rule};
use crate::topology::{MOST_CHANNELS, Plan};

const FIELD: &str = "channels.virtual_channels";
/// The most virtual channels of a channel.
const MOST: u32 = 16;

/// The number given in the description, if the switching allows a wire to be shared.
pub(super) fn count(lines: &Channels, mode: Mode, plan: &Plan) -> Result<u32, Fault> {
    let count = lines.virtual_channels.unwrap_or(1);
    if !(1..=MOST).contains(&count) {
        return Err(Fault::value(FIELD, count, format!("1 to {MOST}")));
    }
    if count == 1 {
        return Ok(1);
    }
    let one = |why: &str| {
        let allowed = format!("1, unless switching.mode is \"virtual-cut-through\" or \"store-and-forward\": {why}");
        Err(Fault::value(FIELD, count, allowed))
    };
    match mode {
        Mode::Wormhole => {
            return one(
                "by wormhole a packet that is held up keeps the wire, and the other virtual channels would wait too",
            );
        }
        Mode::Software => return one("where nodes route in software, a link has one buffer"),
        Mode::VirtualCutThrough | Mode::StoreAndForward => {}
    }
    let all = plan.channels.len() as u64 * u64::from(count);
    if all > MOST_CHANNELS {
        let found = format!("{count} for each of {} channels", plan.channels.len());
        return Err(Fault::value(FIELD, found, format!("at most {MOST_CHANNELS} together")));
    }
    Ok(count)
}

/// Checks that the virtual channels form whole sets of as many as the rule needs.
pub(super) fn in_sets(count: u32, rule: Rule, routing: &Routing) -> Result<(), Fault> {
    let needed = routing.virtual_channels();
    if count.is_multiple_of(needed) {
        return Ok(());
    }
    Err(Fault::value(FIELD, count, format!("a multiple of {needed}, which `{}` needs on this topology", rule.name())))
}

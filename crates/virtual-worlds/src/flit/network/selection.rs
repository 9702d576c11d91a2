//! Which of several allowed channels a header takes.

use std::slice;

use machines::model::{ChannelId, FlitNetwork, RouterId};
use machines::routing::{Selection, Step, WaitsFor};
use quantities::splitmix64;

use super::Injection;

/// In place of a router, for numbers drawn once per packet.
const NO_ROUTER: RouterId = RouterId(u32::MAX);

/// What a header requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RequestedOutputs<'a> {
    /// The channels: one, or all that it may take, in which case it takes the first that becomes free.
    pub channels: &'a [ChannelId],
    /// Which virtual channel of them, if they have several.
    pub virtual_channel: u32,
}

/// Chooses output channels, by the machine's strategy, for every router of a network.
#[derive(Clone, Debug)]
pub struct Selector {
    selection: Selection,
    waits_for: WaitsFor,
    /// How many sets the virtual channels form, and how many are in each.
    sets: u32,
    set_size: u32,
    /// Whether the routing function draws the route of each packet.
    draws: bool,
    seed: u64,
    /// For each router, the position of its round-robin turn.
    turns: Vec<u32>,
}

impl Selector {
    /// A chooser whose random choices follow from `seed`.
    pub fn new(network: &FlitNetwork, seed: u64) -> Selector {
        let (sets, set_size) = (network.sets(), network.routing.virtual_channels());
        let draws = network.routing.choices() > 1;
        let turns = vec![0; network.routers.len()];
        Selector { selection: network.selection, waits_for: network.waits_for, sets, set_size, draws, seed, turns }
    }

    /// The number drawn for packet `number`, if the routing function needs one.
    #[inline]
    pub fn chance(&self, order: &Injection, number: u64) -> u64 {
        if self.draws { self.draw(NO_ROUTER, order, number) } else { 0 }
    }

    /// What packet `number` requests at router `at`, where `step` is allowed; `idle` says which channels are idle for a packet that takes
    /// one of their virtual channels.
    #[inline]
    pub fn choose<'a>(
        &mut self,
        step: &'a Step<'_>,
        at: RouterId,
        order: &Injection,
        number: u64,
        idle: impl Fn(ChannelId, u32) -> bool,
    ) -> RequestedOutputs<'a> {
        let set = if self.sets == 1 { 0 } else { order.destination.0 % self.sets };
        let first = self.set_size * set;
        match step {
            Step::Only(channel) => RequestedOutputs { channels: slice::from_ref(channel), virtual_channel: first },
            Step::Virtual { channel, virtual_channel } => {
                RequestedOutputs { channels: slice::from_ref(channel), virtual_channel: first + virtual_channel }
            }
            Step::Choose { options, fixed } => {
                let idle = |channel| idle(channel, first);
                RequestedOutputs {
                    channels: self.among(options, *fixed, at, order, number, idle),
                    virtual_channel: first,
                }
            }
        }
    }

    /// One of `options`, or all of them.
    fn among<'a>(
        &mut self,
        options: &'a [ChannelId],
        fixed: usize,
        at: RouterId,
        order: &Injection,
        number: u64,
        idle: impl Fn(ChannelId) -> bool,
    ) -> &'a [ChannelId] {
        let first_idle = |from: usize| (from..options.len()).chain(0..from).find(|&index| idle(options[index]));
        let turn = || self.turns[at.0 as usize] as usize % options.len();
        let random = || (self.draw(at, order, number) % options.len() as u64) as usize;
        let at_once = match self.selection {
            Selection::Fixed => Some(fixed),
            Selection::Random => Some(random()),
            Selection::IdleFixed | Selection::IdleRandom => first_idle(fixed),
            Selection::RoundRobin => first_idle(turn()),
        };
        let chosen = match (at_once, self.waits_for, self.selection) {
            (Some(chosen), ..) => chosen,
            (None, WaitsFor::Any, _) => return options,
            (None, WaitsFor::Chosen, Selection::IdleRandom) => random(),
            (None, WaitsFor::Chosen, Selection::RoundRobin) => turn(),
            (None, WaitsFor::Chosen, _) => fixed,
        };
        self.take(at, options, chosen);
        slice::from_ref(&options[chosen])
    }

    /// Notes that a packet which requested all of `options` at router `at` was granted `channel`.
    pub fn granted(&mut self, at: RouterId, options: &[ChannelId], channel: ChannelId) {
        if let Some(index) = options.iter().position(|&option| option == channel) {
            self.take(at, options, index);
        }
    }

    /// Advances the turn past the channel with this index in `options`.
    fn take(&mut self, at: RouterId, options: &[ChannelId], index: usize) {
        if self.selection != Selection::RoundRobin {
            return;
        }
        let next = index + 1;
        self.turns[at.0 as usize] = if next < options.len() { next as u32 } else { 0 };
    }

    /// A random number that depends only on the seed, the packet and the router, so that the order in which an engine treats the packets
    /// of an instant does not matter.
    fn draw(&self, at: RouterId, order: &Injection, number: u64) -> u64 {
        let origin = (u64::from(order.source.0) << 32) | u64::from(at.0);
        let state = self.seed ^ number.wrapping_mul(splitmix64::GAMMA) ^ origin.rotate_left(17);
        (0..2).fold(state, |mut state, _| splitmix64::draw(&mut state))
    }
}

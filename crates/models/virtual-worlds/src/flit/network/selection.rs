//! Which of several allowed channels a header takes.

use std::slice;

use machines::model::{ChannelId, FlitNetwork, RouterId};
use machines::routing::{IdleWhen, NetworkView, PacketHeader, RouteState, RouterView, Selection, Step, WaitsFor};
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

/// The numbers that are drawn at random in a run.
#[derive(Clone, Copy, Debug)]
pub struct Chance {
    seed: u64,
}

impl Chance {
    /// Those that follow from `seed`.
    pub fn new(seed: u64) -> Chance {
        Chance { seed }
    }

    /// A random number that depends only on the seed, the packet and the router, so that the order in which an engine
    /// treats the packets of an instant does not matter.
    pub fn draw(self, packet: &PacketHeader, router: Option<RouterId>, choices: u64) -> u64 {
        let at = router.unwrap_or(NO_ROUTER);
        let origin = (u64::from(packet.source.0) << 32) | u64::from(at.0);
        let state = self.seed ^ packet.number.wrapping_mul(splitmix64::GAMMA) ^ origin.rotate_left(17);
        (0..2).fold(state, |mut state, _| splitmix64::draw(&mut state)) % choices
    }
}

/// Chooses output channels, by the machine's strategy, for every router of a network.
#[derive(Clone, Debug)]
pub struct Selector {
    selection: Selection,
    waits_for: WaitsFor,
    idle_when: IdleWhen,
    /// How many sets the virtual channels form, and how many are in each.
    sets: u32,
    set_size: u32,
    /// For each router, the position of its round-robin turn.
    turns: Vec<u32>,
    /// For each packet that waits for any of several channels, these.
    awaited: Vec<Vec<ChannelId>>,
}

impl Selector {
    /// A chooser for the routers of a network.
    pub fn new(network: &FlitNetwork) -> Selector {
        let FlitNetwork { selection, waits_for, idle_when, .. } = *network;
        let (sets, set_size) = (network.sets(), network.routing.virtual_channels());
        let turns = vec![0; network.routers.len()];
        Selector { selection, waits_for, idle_when, sets, set_size, turns, awaited: Vec::new() }
    }

    /// What router `at` sees of `network` when the header of packet `number` asks there.
    #[inline]
    pub fn view<'a, N>(&self, network: &'a N, at: RouterId, order: &Injection, number: u64) -> RouterView<'a, N> {
        let Injection { source, destination, .. } = *order;
        let set = if self.sets == 1 { 0 } else { destination.0 % self.sets };
        let header = PacketHeader { source, destination, number };
        RouterView { at, header, first_virtual_channel: self.set_size * set, network }
    }

    /// What the header of `packet`, as the engine numbers them, requests where `step` is allowed.
    #[inline]
    pub fn choose<'a, N: NetworkView>(
        &mut self,
        step: &'a Step<'_>,
        view: &RouterView<'_, N>,
        state: RouteState,
        packet: u32,
    ) -> RequestedOutputs<'a> {
        let virtual_channel = view.first_virtual_channel + u32::from(state.virtual_channel);
        let channels = match step {
            Step::Only(channel) => slice::from_ref(channel),
            Step::Choose { options, fixed } => self.among(options, *fixed, view, state, packet),
        };
        RequestedOutputs { channels, virtual_channel }
    }

    /// One of `options`, or all of them.
    fn among<'a, N: NetworkView>(
        &mut self,
        options: &'a [ChannelId],
        fixed: usize,
        view: &RouterView<'_, N>,
        state: RouteState,
        packet: u32,
    ) -> &'a [ChannelId] {
        let idle = |channel: ChannelId| {
            let by_buffer = || self.idle_when == IdleWhen::Free || view.is_empty(channel, state.virtual_channel);
            view.is_idle(channel) && by_buffer()
        };
        let first_idle = |from: usize| (from..options.len()).chain(0..from).find(|&index| idle(options[index]));
        let turn = || self.turns[view.at.0 as usize] as usize % options.len();
        let random = || view.draw_at_router(options.len() as u64) as usize;
        let at_once = match self.selection {
            Selection::Fixed => Some(fixed),
            Selection::Random => Some(random()),
            Selection::IdleFixed | Selection::IdleRandom => first_idle(fixed),
            Selection::RoundRobin => first_idle(turn()),
        };
        let chosen = match (at_once, self.waits_for, self.selection) {
            (Some(chosen), ..) => chosen,
            (None, WaitsFor::Any, _) => {
                self.await_any(packet, options);
                return options;
            }
            (None, WaitsFor::Chosen, Selection::IdleRandom) => random(),
            (None, WaitsFor::Chosen, Selection::RoundRobin) => turn(),
            (None, WaitsFor::Chosen, _) => fixed,
        };
        self.take(view.at, options, chosen);
        slice::from_ref(&options[chosen])
    }

    /// Keeps what a packet waits for until it is granted one of them.
    fn await_any(&mut self, packet: u32, options: &[ChannelId]) {
        let index = packet as usize;
        if index >= self.awaited.len() {
            self.awaited.resize(index + 1, Vec::new());
        }
        self.awaited[index].clear();
        self.awaited[index].extend_from_slice(options);
    }

    /// Notes that a packet which requested several channels at router `at` was granted one of them, and names the
    /// others.
    pub fn granted(&mut self, at: RouterId, packet: u32, channel: ChannelId, mut other: impl FnMut(ChannelId)) {
        let options = std::mem::take(&mut self.awaited[packet as usize]);
        if let Some(index) = options.iter().position(|&option| option == channel) {
            self.take(at, &options, index);
        }
        options.iter().filter(|&&option| option != channel).for_each(|&option| other(option));
        self.awaited[packet as usize] = options;
    }

    /// Advances the turn past the channel with this index in `options`.
    fn take(&mut self, at: RouterId, options: &[ChannelId], index: usize) {
        if self.selection != Selection::RoundRobin {
            return;
        }
        let next = index + 1;
        self.turns[at.0 as usize] = if next < options.len() { next as u32 } else { 0 };
    }
}

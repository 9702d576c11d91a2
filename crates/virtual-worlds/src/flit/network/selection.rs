//! Which of several allowed channels a header takes.

use machines::model::{ChannelId, FlitNetwork, RouterId};
use machines::routing::{Selection, Step};

use super::Injection;

/// In place of a router, for what is drawn once for a packet.
const NO_ROUTER: RouterId = RouterId(u32::MAX);

/// Chooses output channels, by the machine's strategy, for every router of a network.
#[derive(Clone, Debug)]
pub struct Selector {
    selection: Selection,
    /// Into how many sets the virtual channels fall, and how many are in each.
    sets: u32,
    set_size: u32,
    /// Whether the rule of routing draws the way of each packet.
    draws: bool,
    seed: u64,
    /// For each router, where its turn stands.
    turns: Vec<u32>,
}

impl Selector {
    /// A chooser whose random choices follow from `seed`.
    pub fn new(network: &FlitNetwork, seed: u64) -> Selector {
        let (sets, set_size) = (network.sets(), network.routing.virtual_channels());
        let draws = network.routing.choices() > 1;
        let turns = vec![0; network.routers.len()];
        Selector { selection: network.selection, sets, set_size, draws, seed, turns }
    }

    /// The number drawn for packet number `number`, if the rule of routing wants one.
    #[inline]
    pub fn chance(&self, order: &Injection, number: u64) -> u64 {
        if self.draws { self.draw(NO_ROUTER, order, number) } else { 0 }
    }

    /// The channel that packet number `number` asks for at router `at`, where `step` is allowed and `idle` tells which
    /// channels belong to nobody and are asked for by nobody; and which of its virtual channels, if it has several.
    #[inline]
    pub fn choose(
        &mut self,
        step: Step<'_>,
        at: RouterId,
        order: &Injection,
        number: u64,
        idle: impl Fn(ChannelId) -> bool,
    ) -> (ChannelId, u32) {
        let (channel, virtual_channel) = match step {
            Step::Only(channel) => (channel, 0),
            Step::Virtual { channel, virtual_channel } => (channel, virtual_channel),
            Step::Choose { options, fixed } => (self.among(options, fixed, at, order, number, idle), 0),
        };
        if self.sets == 1 {
            return (channel, virtual_channel);
        }
        (channel, virtual_channel + self.set_size * (order.destination.0 % self.sets))
    }

    fn among(
        &mut self,
        options: &[ChannelId],
        fixed: usize,
        at: RouterId,
        order: &Injection,
        number: u64,
        idle: impl Fn(ChannelId) -> bool,
    ) -> ChannelId {
        let first_idle = |from: usize| {
            (0..options.len()).map(|ahead| options[(from + ahead) % options.len()]).find(|&channel| idle(channel))
        };
        let random = || options[(self.draw(at, order, number) % options.len() as u64) as usize];
        match self.selection {
            Selection::Fixed => options[fixed],
            Selection::Random => random(),
            Selection::IdleFixed => first_idle(fixed).unwrap_or(options[fixed]),
            Selection::IdleRandom => first_idle(fixed).unwrap_or_else(random),
            Selection::RoundRobin => {
                let turn = self.turns[at.0 as usize] as usize % options.len();
                let chosen = first_idle(turn).unwrap_or(options[turn]);
                let index = options.iter().position(|&channel| channel == chosen).unwrap_or(turn);
                self.turns[at.0 as usize] = (index as u32 + 1) % options.len() as u32;
                chosen
            }
        }
    }

    /// A random number that depends on the seed, the packet and the router alone, so that the order in which an engine
    /// treats the packets of an instant does not matter: splitmix64 (Steele, Lea, Flood 2014).
    fn draw(&self, at: RouterId, order: &Injection, number: u64) -> u64 {
        let origin = (u64::from(order.source.0) << 32) | u64::from(at.0);
        let mut state = self.seed ^ number.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ origin.rotate_left(17);
        for _ in 0..2 {
            state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
            state = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            state = (state ^ (state >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            state ^= state >> 31;
        }
        state
    }
}

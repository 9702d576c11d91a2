//! Tables of next hops: for every router and every router that has nodes, the channels that lead on.
//!
//! A table has as many entries as there are pairs of such routers, a thousand million of them for 32,768 routers. So
//! each router keeps the sets of channels that it uses once, numbers them, and has in its row of the table only their
//! numbers, in as few bits as these need. All engines of a machine share one table.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::neighbours::Neighbours;
use super::packed::PackedNumbers;
use super::{Ground, PacketHeader, RouterView, Step};
use crate::model::{ChannelId, RouterId};
use crate::topology::{Plan, ejection};
use quantities::Bytes;

/// How many destinations are worked out at once.
pub(super) const BATCH: usize = 32;
/// How many channels of a router one number of a mask tells of.
const MASK_BITS: usize = u64::BITS as usize;

/// The output channels that lead on from every router towards every node.
#[derive(Clone, Debug)]
pub struct NextHops(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    /// For every node, its router and the column of that router.
    homes: Vec<(RouterId, u32)>,
    rows: Vec<Row>,
}

/// What a router knows.
#[derive(Debug)]
struct Row {
    /// For every column, the number of its set of channels.
    numbers: PackedNumbers,
    sets: Sets,
}

impl Row {
    /// What it takes, with what only filling needs. [B]
    fn bytes(&self) -> u64 {
        /// What a set takes in a map, with the map's own room.
        const KNOWN: usize = 20;
        let sets = 4 * (self.sets.ends.capacity() + self.sets.channels.capacity()) + KNOWN * self.sets.known.len();
        (self.numbers.bytes() + sets) as u64
    }
}

impl NextHops {
    /// What a header may ask for at router `at`: any channel of the set, of which the source's own is the one of its
    /// number modulo theirs.
    #[inline]
    pub(super) fn step<N>(&self, view: &RouterView<'_, N>) -> Step<'_> {
        let RouterView { at, header: PacketHeader { source, destination, .. }, .. } = *view;
        let (home, column) = self.0.homes[destination.0 as usize];
        if home == at {
            return Step::Only(ejection(destination.0));
        }
        let row = &self.0.rows[at.0 as usize];
        match row.sets.get(row.numbers.get(column as usize)) {
            [only] => Step::Only(*only),
            options => Step::Choose { options, fixed: source.0 as usize % options.len() },
        }
    }
}

/// A table made by `make`, or why there is none.
pub(super) fn table(
    ground: &Ground<'_>,
    make: impl FnOnce(&Plan, &Neighbours) -> Option<NextHops>,
) -> Result<NextHops, String> {
    small_enough(ground)?;
    make(ground.plan, ground.neighbours()).ok_or_else(|| {
        format!(
            "its table of next hops takes more than {}, as routers with many links have many sets of equally good channels",
            Bytes(MOST_BYTES)
        )
    })
}

/// Checks, before memory for a table is taken, that there is enough.
fn small_enough(ground: &Ground<'_>) -> Result<(), String> {
    let bytes = most_bytes(ground.plan, ground.neighbours());
    if bytes > MOST_BYTES {
        let routers = ground.plan.routers.len();
        let bytes = Bytes(bytes.div_ceil(1 << 20) << 20);
        let most = Bytes(MOST_BYTES);
        return Err(format!(
            "its table of next hops for {routers} routers could take {bytes} of memory, and at most {most} are taken"
        ));
    }
    // Memory that is not available now will not be later: it is requested as a whole, and returned before it is used.
    if Vec::<u8>::new().try_reserve_exact(bytes as usize).is_err() {
        return Err(format!("there is no memory for its table of next hops, which could take {bytes} bytes"));
    }
    Ok(())
}

/// The most that a table of next hops may take. [B]
const MOST_BYTES: u64 = 1_717 << 20;

/// The most that the numbers in the table of this plan can take, if every set of channels of a router is used. [B]
fn most_bytes(plan: &Plan, neighbours: &Neighbours) -> u64 {
    let columns = homes(plan).len() as u64;
    let bits_of_columns = u64::from(columns.ilog2()) + 1;
    let row = |router: usize| {
        let bits = (neighbours.out(router).len() as u64).min(bits_of_columns);
        (columns * PackedNumbers::width_for(bits)).div_ceil(8)
    };
    (0..neighbours.routers()).map(row).sum()
}

/// The routers that have nodes, in order.
fn homes(plan: &Plan) -> Vec<RouterId> {
    let mut homes = plan.homes.clone();
    homes.sort_unstable();
    homes.dedup();
    homes
}

/// A table that is being filled, from the first column to the last.
pub(super) struct TableBuilder<'a> {
    neighbours: &'a Neighbours,
    rows: Vec<Row>,
    /// The channels that lead on at the router that is being looked at, for each destination of the batch: a bit for
    /// each.
    masks: Vec<[u64; BATCH]>,
}

/// Fills a table. `work_out` is told some destinations, at most [`BATCH`], and for every router calls
/// [`TableBuilder::row`]. Nothing if the table comes to take more than [`MOST_BYTES`]: how many sets there are is known
/// only then.
pub(super) fn fill(
    plan: &Plan,
    neighbours: &Neighbours,
    mut work_out: impl FnMut(&[RouterId], &mut TableBuilder<'_>),
) -> Option<NextHops> {
    let columns = homes(plan);
    let row = || Row { numbers: PackedNumbers::with_capacity(columns.len()), sets: Sets::default() };
    let rows = (0..neighbours.routers()).map(|_| row()).collect();
    let mut filling = TableBuilder { neighbours, rows, masks: Vec::new() };
    for destinations in columns.chunks(BATCH) {
        work_out(destinations, &mut filling);
        if filling.rows.iter().map(Row::bytes).sum::<u64>() > MOST_BYTES {
            return None;
        }
    }
    let mut rows = filling.rows;
    rows.iter_mut().for_each(|row| row.sets.finish());
    let column = |home: &RouterId| columns.binary_search(home).unwrap_or(0) as u32;
    let homes = plan.homes.iter().map(|home| (*home, column(home))).collect();
    Some(NextHops(Arc::new(Shared { homes, rows })))
}

impl TableBuilder<'_> {
    /// Enters the channels that lead on from `router` towards each of `destinations`: `leads` tells for a channel, by
    /// its index among those of the router, towards which.
    pub fn row(&mut self, router: usize, destinations: usize, mut leads: impl FnMut(usize, &mut [bool; BATCH])) {
        let out = self.neighbours.out(router);
        let masks = &mut self.masks;
        masks.clear();
        masks.resize(out.len().div_ceil(MASK_BITS).max(1), [0; BATCH]);
        for index in 0..out.len() {
            let mut towards = [false; BATCH];
            leads(index, &mut towards);
            let (mask, bit) = (&mut masks[index / MASK_BITS], index % MASK_BITS);
            for (mask, leads) in mask.iter_mut().zip(towards) {
                *mask |= u64::from(leads) << bit;
            }
        }
        let row = &mut self.rows[router];
        for place in 0..destinations {
            row.numbers.push(row.sets.number(out, masks, place));
        }
    }
}

/// The different sets of channels of a router, in the order in which they came up.
#[derive(Debug, Default)]
struct Sets {
    /// Where each set ends in `channels`.
    ends: Vec<u32>,
    channels: Vec<ChannelId>,
    /// The number of each set by its mask, or by what stands for it where a mask is of several numbers. Kept while the
    /// table is being filled.
    known: BTreeMap<u64, u32>,
}

impl Sets {
    #[inline]
    fn get(&self, number: u32) -> &[ChannelId] {
        let number = number as usize;
        let begin = if number == 0 { 0 } else { self.ends[number - 1] };
        &self.channels[begin as usize..self.ends[number] as usize]
    }

    /// The number of the set at `place` of the masks.
    fn number(&mut self, out: &[(ChannelId, usize)], masks: &[[u64; BATCH]], place: usize) -> u32 {
        if let [mask] = masks {
            if let Some(&number) = self.known.get(&mask[place]) {
                return number;
            }
            return self.add(mask[place], chosen(out, masks, place));
        }
        // What stands for masks of several numbers need not be different for different ones: then the next that is
        // free.
        let mix =
            |key: u64, mask: &[u64; BATCH]| (key ^ mask[place]).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29);
        let mut key = masks.iter().fold(0, mix);
        loop {
            match self.known.get(&key) {
                Some(&number) if chosen(out, masks, place).eq(self.get(number).iter().copied()) => return number,
                Some(_) => key = key.wrapping_add(1),
                None => return self.add(key, chosen(out, masks, place)),
            }
        }
    }

    fn add(&mut self, key: u64, channels: impl Iterator<Item = ChannelId>) -> u32 {
        self.channels.extend(channels);
        self.ends.push(self.channels.len() as u32);
        let number = self.ends.len() as u32 - 1;
        self.known.insert(key, number);
        number
    }

    /// Lets go of what only filling needs.
    fn finish(&mut self) {
        self.known = BTreeMap::new();
        self.ends.shrink_to_fit();
        self.channels.shrink_to_fit();
    }
}

/// The channels of a router whose bits are set at `place` of the masks.
fn chosen(out: &[(ChannelId, usize)], masks: &[[u64; BATCH]], place: usize) -> impl Iterator<Item = ChannelId> {
    let is_set = move |index: usize| masks[index / MASK_BITS][place] >> (index % MASK_BITS) & 1 == 1;
    out.iter().enumerate().filter(move |(index, _)| is_set(*index)).map(|(_, (channel, _))| *channel)
}

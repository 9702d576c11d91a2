//! First-in-first-out queues, one for each pair of numbers that has any items: many short queues, found by hashing.

const NONE: u32 = u32::MAX;
/// 2^64 divided by the golden ratio: Fibonacci hashing (Knuth, The Art of Computer Programming 3, 6.4).
const GOLDEN: u64 = 0x9E37_79B9_7F4A_7C15;
const FEWEST: usize = 32;

/// Items by key; those of one key are in the order in which they were added.
#[derive(Clone, Debug)]
pub struct Chains<Item> {
    links: Vec<ChainLink<Item>>,
    /// The first unused link; each unused link names the next.
    unused: u32,
    /// Open addressing, with linear probing.
    places: Vec<Chain>,
    chains: usize,
    count: u64,
}

/// A chain. Its key is stored here, too, so that a search touches no links.
#[derive(Clone, Copy, Debug)]
struct Chain {
    key: (u32, u32),
    /// Its first and last link.
    first: u32,
    last: u32,
}

const FREE: Chain = Chain { key: (0, 0), first: NONE, last: NONE };

#[derive(Clone, Copy, Debug)]
struct ChainLink<Item> {
    item: Item,
    /// The number of items added up to and including this one; 0 where the link is unused.
    order: u64,
    next: u32,
}

impl<Item: Copy> Default for Chains<Item> {
    fn default() -> Chains<Item> {
        Chains { links: Vec::new(), unused: NONE, places: vec![FREE; FEWEST], chains: 0, count: 0 }
    }
}

impl<Item: Copy> Chains<Item> {
    pub fn is_empty(&self) -> bool {
        self.chains == 0
    }

    /// Adds an item; returns its place in the order of all items ever added.
    pub fn push(&mut self, key: (u32, u32), item: Item) -> u64 {
        if 2 * self.chains >= self.places.len() {
            self.grow();
        }
        self.count += 1;
        let link = ChainLink { item, order: self.count, next: NONE };
        let number = match self.links.get_mut(self.unused as usize) {
            Some(unused) => {
                let number = std::mem::replace(&mut self.unused, unused.next);
                *unused = link;
                number
            }
            None => {
                self.links.push(link);
                self.links.len() as u32 - 1
            }
        };
        let place = self.place_of(key);
        let chain = &mut self.places[place];
        if chain.first == NONE {
            *chain = Chain { key, first: number, last: number };
            self.chains += 1;
        } else {
            self.links[chain.last as usize].next = number;
            chain.last = number;
        }
        self.count
    }

    /// The order of the first item with that key.
    #[inline]
    pub fn first(&self, key: (u32, u32)) -> Option<u64> {
        let Chain { first, .. } = self.places[self.place_of(key)];
        self.links.get(first as usize).map(|link| link.order)
    }

    /// The first item with that key, which stays here.
    pub fn first_item(&self, key: (u32, u32)) -> Option<&Item> {
        let Chain { first, .. } = self.places[self.place_of(key)];
        self.links.get(first as usize).map(|link| &link.item)
    }

    /// Takes the first item with that key.
    #[inline]
    pub fn pop(&mut self, key: (u32, u32)) -> Option<Item> {
        let place = self.place_of(key);
        let Chain { first, last, .. } = self.places[place];
        let link = self.links.get_mut(first as usize)?;
        let ChainLink { item, next, .. } = *link;
        (link.order, link.next) = (0, self.unused);
        self.unused = first;
        self.places[place].first = next;
        if first == last {
            self.vacate(place);
        }
        Some(item)
    }

    /// Takes the first of all items for which `wanted` holds.
    pub fn take_first(&mut self, wanted: impl Fn(&Item) -> bool) -> Option<((u32, u32), Item)> {
        let fits = |&(_, link): &(_, &ChainLink<Item>)| wanted(&link.item);
        let (key, &ChainLink { order, .. }) = self.links().filter(fits).min_by_key(|(_, link)| link.order)?;
        // The chain is taken apart and rebuilt without the item.
        let mut chain = Vec::new();
        while let Some(at) = self.first(key) {
            chain.extend(self.pop(key).map(|item| (at, item)));
        }
        let mut found = None;
        for (at, item) in chain {
            if at == order {
                found = Some(item);
            } else {
                self.push(key, item);
                self.set_last_order(key, at);
            }
        }
        found.map(|item| (key, item))
    }

    /// All items with their keys, in the order in which they were added.
    pub fn in_order(&self) -> Vec<((u32, u32), &Item)> {
        let mut all: Vec<((u32, u32), &ChainLink<Item>)> = self.links().collect();
        all.sort_unstable_by_key(|(_, link)| link.order);
        all.into_iter().map(|(key, link)| (key, &link.item)).collect()
    }

    /// The order and the key of every item.
    pub fn orders(&self) -> impl Iterator<Item = (u64, (u32, u32))> {
        self.links().map(|(key, link)| (link.order, key))
    }

    /// All items.
    pub fn items(&self) -> impl Iterator<Item = &Item> {
        self.links.iter().filter(|link| link.order > 0).map(|link| &link.item)
    }

    /// All links in use, chain by chain, with their keys.
    fn links(&self) -> impl Iterator<Item = ((u32, u32), &ChainLink<Item>)> {
        let link = |number: u32| self.links.get(number as usize);
        let of_chain = move |chain: &Chain| {
            let key = chain.key;
            std::iter::successors(link(chain.first), move |before| link(before.next)).map(move |link| (key, link))
        };
        self.places.iter().flat_map(of_chain)
    }

    fn set_last_order(&mut self, key: (u32, u32), order: u64) {
        let Chain { last, .. } = self.places[self.place_of(key)];
        if let Some(link) = self.links.get_mut(last as usize) {
            link.order = order;
        }
    }

    #[inline]
    fn home(&self, (one, other): (u32, u32)) -> usize {
        let hashed = (u64::from(one) << 32 | u64::from(other)).wrapping_mul(GOLDEN);
        ((hashed ^ hashed >> 29).wrapping_mul(GOLDEN) >> (64 - self.places.len().trailing_zeros())) as usize
    }

    /// Where the chain of that key is, or would be.
    #[inline]
    fn place_of(&self, key: (u32, u32)) -> usize {
        let mut place = self.home(key);
        while self.places[place].first != NONE && self.places[place].key != key {
            place = (place + 1) & (self.places.len() - 1);
        }
        place
    }

    /// Frees a place, and moves up those behind it that could no longer be found.
    fn vacate(&mut self, mut free: usize) {
        self.chains -= 1;
        let mask = self.places.len() - 1;
        let mut place = free;
        loop {
            self.places[free] = FREE;
            loop {
                place = (place + 1) & mask;
                let Chain { key, first, .. } = self.places[place];
                if first == NONE {
                    return;
                }
                // It may move up unless its home lies behind the free place.
                if (place.wrapping_sub(self.home(key)) & mask) >= (place.wrapping_sub(free) & mask) {
                    break;
                }
            }
            self.places[free] = self.places[place];
            free = place;
        }
    }

    fn grow(&mut self) {
        let larger = vec![FREE; 2 * self.places.len()];
        for chain in std::mem::replace(&mut self.places, larger) {
            if chain.first != NONE {
                let place = self.place_of(chain.key);
                self.places[place] = chain;
            }
        }
    }
}

//! First-in-first-out queues, one for each pair of numbers that has any items: many short ones, found by hashing.

const NONE: u32 = u32::MAX;
/// 2^64 divided by the golden ratio: Fibonacci hashing (Knuth, The Art of Computer Programming 3, 6.4).
const GOLDEN: u64 = 0x9E37_79B9_7F4A_7C15;
const FEWEST: usize = 32;

/// Items by key, those of one key in the order in which they were added.
#[derive(Debug)]
pub struct Chains<Item> {
    links: Vec<Link<Item>>,
    /// Links that are not used.
    unused: Vec<u32>,
    /// Open addressing, with linear probing: the first and the last link of each chain.
    places: Vec<(u32, u32)>,
    chains: usize,
    count: u64,
}

#[derive(Debug)]
struct Link<Item> {
    key: (u32, u32),
    /// How many items had been added before.
    order: u64,
    item: Option<Item>,
    next: u32,
}

impl<Item> Default for Chains<Item> {
    fn default() -> Chains<Item> {
        let (links, unused) = (Vec::new(), Vec::new());
        Chains { links, unused, places: vec![(NONE, NONE); FEWEST], chains: 0, count: 0 }
    }
}

impl<Item> Chains<Item> {
    pub fn is_empty(&self) -> bool {
        self.chains == 0
    }

    /// Adds an item; gives its order among all that were ever added.
    pub fn push(&mut self, key: (u32, u32), item: Item) -> u64 {
        if 2 * self.chains >= self.places.len() {
            self.grow();
        }
        self.count += 1;
        let link = Link { key, order: self.count, item: Some(item), next: NONE };
        let number = match self.unused.pop() {
            Some(number) => {
                self.links[number as usize] = link;
                number
            }
            None => {
                self.links.push(link);
                self.links.len() as u32 - 1
            }
        };
        let place = self.place_of(key);
        let (first, last) = &mut self.places[place];
        if *first == NONE {
            (*first, *last) = (number, number);
            self.chains += 1;
        } else {
            self.links[*last as usize].next = number;
            *last = number;
        }
        self.count
    }

    /// The order of the first item with that key.
    #[inline]
    pub fn first(&self, key: (u32, u32)) -> Option<u64> {
        let (first, _) = self.places[self.place_of(key)];
        self.links.get(first as usize).map(|link| link.order)
    }

    /// Takes the first item with that key.
    #[inline]
    pub fn pop(&mut self, key: (u32, u32)) -> Option<Item> {
        let place = self.place_of(key);
        let (first, _) = self.places[place];
        let link = self.links.get_mut(first as usize)?;
        let (item, next) = (link.item.take(), link.next);
        self.unused.push(first);
        self.places[place].0 = next;
        if next == NONE {
            self.vacate(place);
        }
        item
    }

    /// Takes the first of all items for which `wanted` holds.
    pub fn take_first(&mut self, wanted: impl Fn(&Item) -> bool) -> Option<((u32, u32), Item)> {
        let chosen =
            self.links.iter().filter(|link| link.item.as_ref().is_some_and(&wanted)).min_by_key(|link| link.order)?;
        let (key, order) = (chosen.key, chosen.order);
        // Its chain is taken apart and put together again without it.
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
        let mut all: Vec<&Link<Item>> = self.links.iter().filter(|link| link.item.is_some()).collect();
        all.sort_unstable_by_key(|link| link.order);
        all.into_iter().filter_map(|link| Some((link.key, link.item.as_ref()?))).collect()
    }

    /// The order and the key of every item.
    pub fn orders(&self) -> impl Iterator<Item = (u64, (u32, u32))> {
        self.links.iter().filter(|link| link.item.is_some()).map(|link| (link.order, link.key))
    }

    /// All items.
    pub fn items(&self) -> impl Iterator<Item = &Item> {
        self.links.iter().filter_map(|link| link.item.as_ref())
    }

    fn set_last_order(&mut self, key: (u32, u32), order: u64) {
        let (_, last) = self.places[self.place_of(key)];
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
        loop {
            let (first, _) = self.places[place];
            if first == NONE || self.links[first as usize].key == key {
                return place;
            }
            place = (place + 1) & (self.places.len() - 1);
        }
    }

    /// Frees a place, and moves those behind it up that would no longer be found.
    fn vacate(&mut self, mut free: usize) {
        self.chains -= 1;
        let mask = self.places.len() - 1;
        let mut place = free;
        loop {
            self.places[free] = (NONE, NONE);
            loop {
                place = (place + 1) & mask;
                let (first, _) = self.places[place];
                if first == NONE {
                    return;
                }
                let home = self.home(self.links[first as usize].key);
                // It may move up unless its home lies behind the free place.
                if (place.wrapping_sub(home) & mask) >= (place.wrapping_sub(free) & mask) {
                    break;
                }
            }
            self.places[free] = self.places[place];
            free = place;
        }
    }

    fn grow(&mut self) {
        let larger = vec![(NONE, NONE); 2 * self.places.len()];
        for chain in std::mem::replace(&mut self.places, larger) {
            if let Some(link) = self.links.get(chain.0 as usize) {
                let place = self.place_of(link.key);
                self.places[place] = chain;
            }
        }
    }
}

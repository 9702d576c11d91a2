//! Which messages a receive may take, and which receives a message, by their tags.

use endpoint::{Tag, Tags};

use crate::ordered::Keys;

/// Messages by number, each with its tag.
#[derive(Clone, Debug, Default)]
pub(crate) struct Messages {
    by_tag: Keys<(Tag, u64)>,
    /// Those that a receive of any tag may take.
    of_programs: Keys<u64>,
    /// Those that a receive of any collective may take.
    of_collectives: Keys<u64>,
}

impl Messages {
    pub(crate) fn insert(&mut self, tag: Tag, number: u64) {
        self.by_tag.insert((tag, number), ());
        if Tags::Any.include(tag) {
            self.of_programs.insert(number, ());
        } else if Tags::OfCollectives.include(tag) {
            self.of_collectives.insert(number, ());
        }
    }

    pub(crate) fn remove(&mut self, tag: Tag, number: u64) {
        self.by_tag.remove((tag, number));
        self.of_programs.remove(number);
        self.of_collectives.remove(number);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.by_tag.is_empty()
    }

    /// The first with one of `tags`.
    pub(crate) fn first(&self, tags: Tags) -> Option<u64> {
        match tags {
            Tags::Only(tag) => first_of(&self.by_tag, tag),
            Tags::Any => self.of_programs.first().map(|(number, ())| number),
            Tags::OfCollectives => self.of_collectives.first().map(|(number, ())| number),
        }
    }
}

/// Receives by the order in which they were posted, each with the tags that it asks for.
#[derive(Clone, Debug, Default)]
pub(crate) struct Receives {
    by_tag: Keys<(Tag, u64)>,
    of_any: Keys<u64>,
    of_collectives: Keys<u64>,
}

impl Receives {
    pub(crate) fn insert(&mut self, tags: Tags, order: u64) {
        match tags {
            Tags::Only(tag) => self.by_tag.insert((tag, order), ()),
            Tags::Any => self.of_any.insert(order, ()),
            Tags::OfCollectives => self.of_collectives.insert(order, ()),
        }
    }

    pub(crate) fn remove(&mut self, tags: Tags, order: u64) {
        match tags {
            Tags::Only(tag) => self.by_tag.remove((tag, order)),
            Tags::Any => self.of_any.remove(order),
            Tags::OfCollectives => self.of_collectives.remove(order),
        };
    }

    /// All of them, in order.
    pub(crate) fn all(&self) -> Vec<(u64, Tags)> {
        let of_tag = self.by_tag.iter().map(|((tag, order), ())| (order, Tags::Only(tag)));
        let of_any = self.of_any.iter().map(|(order, ())| (order, Tags::Any));
        let of_collectives = self.of_collectives.iter().map(|(order, ())| (order, Tags::OfCollectives));
        let mut all: Vec<(u64, Tags)> = of_tag.chain(of_any).chain(of_collectives).collect();
        all.sort_unstable_by_key(|&(order, _)| order);
        all
    }

    /// The first that asks for this tag.
    pub(crate) fn first(&self, tag: Tag) -> Option<u64> {
        let several = if Tags::Any.include(tag) { Some(&self.of_any) } else { None };
        let several = several.or(Some(&self.of_collectives).filter(|_| Tags::OfCollectives.include(tag)));
        let of_several = several.and_then(|several| several.first()).map(|(order, ())| order);
        [first_of(&self.by_tag, tag), of_several].into_iter().flatten().min()
    }
}

fn first_of(all: &Keys<(Tag, u64)>, tag: Tag) -> Option<u64> {
    all.first_from((tag, 0)).filter(|&((other, _), ())| other == tag).map(|((_, number), ())| number)
}

//! A growing array that never moves what it holds.

/// Elements of a segment. A new one is allocated and an empty one dropped at once, which takes some microseconds.
const SEGMENT: usize = 1_024;

/// An array in segments: growing by one element takes as long whatever its size, but for the list of its segments.
#[derive(Clone, Debug)]
pub(super) struct Segments<T> {
    segments: Vec<Vec<T>>,
    len: u32,
}

impl<T> Segments<T> {
    pub(super) const fn new() -> Segments<T> {
        Segments { segments: Vec::new(), len: 0 }
    }

    pub(super) const fn len(&self) -> u32 {
        self.len
    }

    pub(super) fn get(&self, index: u32) -> Option<&T> {
        self.segments.get(index as usize / SEGMENT)?.get(index as usize % SEGMENT)
    }

    pub(super) fn get_mut(&mut self, index: u32) -> Option<&mut T> {
        self.segments.get_mut(index as usize / SEGMENT)?.get_mut(index as usize % SEGMENT)
    }

    pub(super) fn push(&mut self, element: T) {
        if (self.len as usize).is_multiple_of(SEGMENT) {
            self.segments.push(Vec::with_capacity(SEGMENT));
        }
        if let Some(last) = self.segments.last_mut() {
            last.push(element);
            self.len += 1;
        }
    }

    pub(super) fn pop(&mut self) -> Option<T> {
        let element = self.segments.last_mut()?.pop()?;
        self.len -= 1;
        if (self.len as usize).is_multiple_of(SEGMENT) {
            self.segments.pop();
        }
        Some(element)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &T> {
        self.segments.iter().flatten()
    }
}

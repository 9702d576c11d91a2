//! A growing array that never moves its elements.

/// An array in segments of `SEGMENT` elements: growing by one takes the same time whatever its size, except for the
/// list of its segments. A whole segment is allocated at once, and dropped when it is empty, which takes some
/// microseconds.
#[derive(Clone, Debug)]
pub(super) struct Segments<T, const SEGMENT: usize> {
    segments: Vec<Box<[T; SEGMENT]>>,
    len: u32,
}

impl<T: Default, const SEGMENT: usize> Segments<T, SEGMENT> {
    pub(super) const fn new() -> Segments<T, SEGMENT> {
        Segments { segments: Vec::new(), len: 0 }
    }

    pub(super) const fn len(&self) -> u32 {
        self.len
    }

    /// An element; past the last one, possibly an empty element that has not been added yet.
    #[inline]
    pub(super) fn get(&self, index: u32) -> Option<&T> {
        Some(&self.segments.get(index as usize / SEGMENT)?[index as usize % SEGMENT])
    }

    /// The same, mutable.
    #[inline]
    pub(super) fn get_mut(&mut self, index: u32) -> Option<&mut T> {
        Some(&mut self.segments.get_mut(index as usize / SEGMENT)?[index as usize % SEGMENT])
    }

    /// Adds an empty element.
    pub(super) fn push(&mut self) {
        if (self.len as usize).is_multiple_of(SEGMENT) {
            let elements: Vec<T> = std::iter::repeat_with(T::default).take(SEGMENT).collect();
            self.segments.extend(elements.try_into());
        }
        self.len += 1;
    }

    /// Drops the last element.
    pub(super) fn pop(&mut self) {
        let Some(last) = self.len.checked_sub(1) else { return };
        if let Some(element) = self.get_mut(last) {
            *element = T::default();
        }
        self.len = last;
        if (last as usize).is_multiple_of(SEGMENT) {
            self.segments.pop();
        }
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &T> {
        self.segments.iter().flat_map(|segment| segment.iter()).take(self.len as usize)
    }
}

//! The arguments of requests.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::large::{LARGE, MaybeShared, SharedValue};

/// Where an argument begins and ends in the bytes. For a large one in memory of its own: its index among those, and
/// `usize::MAX`.
pub(super) type Range = (usize, usize);

/// The arguments of a request, in the buffer that received them. The first is its name.
#[derive(Clone, Copy, Debug)]
pub struct Arguments<'a> {
    bytes: &'a [u8],
    ranges: &'a [Range],
    /// Large arguments, in memory of their own.
    large: &'a [SharedValue],
}

impl<'a> Arguments<'a> {
    #[inline]
    pub(super) const fn new(bytes: &'a [u8], ranges: &'a [Range], large: &'a [SharedValue]) -> Arguments<'a> {
        Arguments { bytes, ranges, large }
    }

    /// The range of the large argument with this number.
    pub(super) const fn large_range(number: usize) -> Range {
        (number, usize::MAX)
    }

    /// How many there are.
    #[inline]
    pub const fn len(&self) -> usize {
        self.ranges.len()
    }

    /// Whether there are none.
    pub const fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    /// One of them; no bytes if there is none.
    #[inline]
    pub fn get(&self, index: usize) -> &'a [u8] {
        self.ranges.get(index).map_or(&[], |range| self.at(*range))
    }

    #[inline]
    fn at(&self, (start, end): Range) -> &'a [u8] {
        match self.bytes.get(start..end) {
            Some(argument) => argument,
            None => self.large.get(start).map_or(&[], |argument| argument),
        }
    }

    /// One of them, to be stored; shared if it is in memory of its own.
    #[inline]
    pub fn value(&self, index: usize) -> MaybeShared<'a> {
        match self.ranges.get(index) {
            Some(&(number, usize::MAX)) => {
                self.large.get(number).cloned().map_or(MaybeShared::Borrowed(&[]), MaybeShared::Shared)
            }
            _ => MaybeShared::Borrowed(self.get(index)),
        }
    }

    /// Their total size. [B]
    pub fn size(&self) -> usize {
        self.bytes.len() + self.large.iter().map(|argument| argument.len()).sum::<usize>()
    }

    /// The arguments from `first` on.
    pub fn from(
        &self,
        first: usize,
    ) -> impl DoubleEndedIterator<Item = &'a [u8]> + ExactSizeIterator + Clone + use<'a> {
        let arguments = *self;
        self.ranges.get(first..).unwrap_or(&[]).iter().map(move |range| arguments.at(*range))
    }
}

/// The arguments of a request that is kept.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OwnedArguments {
    bytes: Vec<u8>,
    ranges: Vec<Range>,
    large: Vec<SharedValue>,
}

impl OwnedArguments {
    /// The same, borrowed.
    pub fn borrowed(&self) -> Arguments<'_> {
        Arguments { bytes: &self.bytes, ranges: &self.ranges, large: &self.large }
    }

    /// The memory that they take. [B]
    pub fn size(&self) -> usize {
        self.borrowed().size() + self.ranges.len() * size_of::<Range>()
    }

    /// The large ones among them.
    pub(crate) fn large(&self) -> &[SharedValue] {
        &self.large
    }

    /// The same, mutable.
    pub(crate) fn large_mut(&mut self) -> &mut [SharedValue] {
        &mut self.large
    }

    /// Adds an argument. A large one is shared, if possible.
    pub(super) fn push(&mut self, argument: MaybeShared<'_>) {
        if argument.len() >= LARGE {
            self.ranges.push(Arguments::large_range(self.large.len()));
            return self.large.push(argument.into_shared());
        }
        let start = self.bytes.len();
        self.bytes.extend_from_slice(&argument);
        self.ranges.push((start, self.bytes.len()));
    }
}

/// The form in which members send them: one after another, so that whatever can be decoded is a valid list of
/// arguments.
impl Serialize for OwnedArguments {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let arguments = self.borrowed();
        serializer.collect_seq((0..arguments.len()).map(|index| arguments.value(index)))
    }
}

impl<'de> Deserialize<'de> for OwnedArguments {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<OwnedArguments, D::Error> {
        let arguments: Vec<MaybeShared<'_>> = Deserialize::deserialize(deserializer)?;
        Ok(arguments.into_iter().collect())
    }
}

impl<'a> FromIterator<MaybeShared<'a>> for OwnedArguments {
    fn from_iter<I: IntoIterator<Item = MaybeShared<'a>>>(arguments: I) -> OwnedArguments {
        let mut owned = OwnedArguments::default();
        arguments.into_iter().for_each(|argument| owned.push(argument));
        owned
    }
}

impl<'a> FromIterator<&'a [u8]> for OwnedArguments {
    fn from_iter<I: IntoIterator<Item = &'a [u8]>>(arguments: I) -> OwnedArguments {
        arguments.into_iter().map(MaybeShared::from).collect()
    }
}

impl From<Arguments<'_>> for OwnedArguments {
    fn from(arguments: Arguments<'_>) -> OwnedArguments {
        (0..arguments.len()).map(|index| arguments.value(index)).collect()
    }
}

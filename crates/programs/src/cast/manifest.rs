//! What is sent: names, sizes, and how the content is cut into pieces.

use std::collections::BTreeSet;

use quantities::Bytes;
use serde::{Deserialize, Serialize};

use super::VERSION;
use super::links::{LinkError, Target};
use super::names::{Name, NameError};

/// The most files and folders.
pub const MOST_ENTRIES: usize = 100_000;
/// The longest manifest accepted. [B]
pub const LONGEST: usize = 16 << 20;
/// The most bytes of all files: 16 TiB. [B]
pub const LARGEST: u64 = 1 << 44;
/// The shortest and the longest piece. [B]
pub const PIECE: [u32; 2] = [1 << 20, 16 << 20];
/// All permissions: read, write and execute for everybody.
const MOST_MODE: u32 = 0o777;
/// About the most pieces of a transfer, as long as they can be made longer.
const PIECES: u64 = 4_096;

/// What is sent. All files one after another are cut into pieces, the units that are sent, checked and kept.
///
/// ```text
///     files     | a             |b|  c                   |
///     pieces    |       0       |       1       |   2    |      of the same length, except the last
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    /// The length of a piece. [B]
    piece: u32,
    entries: Vec<ManifestEntry>,
}

/// A file, a folder or a link.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ManifestEntry {
    /// Its name, below the folder into which it is received.
    pub name: Name,
    /// What it is.
    pub kind: Kind,
}

/// The kind of an entry. Its mode tells who may read, write and execute it, like the lowest nine bits of the system's
/// modes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Kind {
    /// A folder.
    Folder {
        /// Its mode.
        mode: u16,
    },
    /// A file.
    File {
        /// Its size. [B]
        size: u64,
        /// Its mode.
        mode: u16,
    },
    /// A symbolic link, which has no mode.
    Link {
        /// Where it leads: within what is sent with it.
        target: Target,
    },
}

impl Kind {
    /// Its mode, for the system; none for a link.
    pub fn mode(&self) -> Option<u32> {
        match *self {
            Kind::Folder { mode } | Kind::File { mode, .. } => Some(u32::from(mode)),
            Kind::Link { .. } => None,
        }
    }

    const fn is_folder(&self) -> bool {
        matches!(self, Kind::Folder { .. })
    }
}

/// The identity of a transfer: the same names, sizes and modes are the same transfer, so that an interrupted one is
/// resumed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Id(pub [u8; 16]);

impl std::fmt::Display for Id {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.iter().try_for_each(|byte| write!(out, "{byte:02x}"))
    }
}

/// Why a manifest is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ManifestError {
    /// The bytes are not a manifest.
    #[error("it is not a list of files")]
    Unreadable,
    /// Bytes of another version.
    #[error(
        "a list of files of version {0}, and this is version {VERSION}: sender and receivers need the same version of Maquette"
    )]
    Version(u8),
    /// A mode with bits other than read, write and execute, such as setuid.
    #[error("`{0}` has the mode {1:o}: allowed are 0 to 777")]
    Mode(Name, u16),
    /// A name that leads elsewhere.
    #[error(transparent)]
    Name(#[from] NameError),
    /// A link that leads elsewhere.
    #[error(transparent)]
    Link(#[from] LinkError),
    /// More than allowed.
    #[error("{found} {what}: allowed are {allowed}")]
    TooMuch {
        /// What there is too much of.
        what: &'static str,
        /// How much was found.
        found: u64,
        /// How much is allowed.
        allowed: u64,
    },
    /// Two entries with one name, or names out of order, so that this cannot be checked.
    #[error("`{0}` is listed twice, or out of order")]
    Twice(Name),
    /// An entry is inside a file or a link, as if that were a folder.
    #[error("`{0}` is inside a file or a link")]
    InFile(Name),
    /// A piece length that no sender uses.
    #[error("pieces of {0} bytes")]
    Piece(u32),
}

/// A part of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// The index of the entry.
    pub entry: usize,
    /// The offset in that file. [B]
    pub offset: u64,
    /// The length. [B]
    pub length: usize,
}

impl Manifest {
    /// A manifest of `entries`, in any order, cut as suits their size.
    ///
    /// # Errors
    /// [`ManifestError`], like [`Manifest::decode`].
    pub fn new(mut entries: Vec<ManifestEntry>) -> Result<Manifest, ManifestError> {
        entries.sort_by(|one, other| one.name.cmp(&other.name));
        let total: u64 = entries.iter().fold(0, |total, entry| total.saturating_add(entry.size()));
        let [least, most] = PIECE.map(u64::from);
        let piece = (total / PIECES).clamp(least, most).next_power_of_two();
        let manifest = Manifest { piece: u32::try_from(piece).unwrap_or(PIECE[1]), entries };
        manifest.check()?;
        Ok(manifest)
    }

    /// The encoding: the version, then the rest.
    pub fn encode(&self) -> Vec<u8> {
        // A vector grows as needed.
        postcard::to_allocvec(&(VERSION, self)).unwrap_or_default()
    }

    /// Decodes a manifest. Whatever the bytes are, the result is a manifest that is safe, or an error.
    ///
    /// # Errors
    /// [`ManifestError`].
    pub fn decode(bytes: &[u8]) -> Result<Manifest, ManifestError> {
        check("bytes of a list of files", bytes.len() as u64, LONGEST as u64)?;
        let bytes = match bytes {
            [VERSION, rest @ ..] => rest,
            // Version 1 began with the length of a piece, which is a multiple of 128.
            [128..=u8::MAX, ..] => return Err(ManifestError::Version(1)),
            [version, ..] => return Err(ManifestError::Version(*version)),
            [] => return Err(ManifestError::Unreadable),
        };
        let (piece, rest) = postcard::take_from_bytes::<u32>(bytes).map_err(|_| ManifestError::Unreadable)?;
        let (count, mut rest) = postcard::take_from_bytes::<u64>(rest).map_err(|_| ManifestError::Unreadable)?;
        check("files and folders", count, MOST_ENTRIES as u64)?;
        let mut entries = Vec::new();
        for _ in 0..count {
            // First the name as any text, so that the error can tell what is wrong with it.
            let (text, after) = postcard::take_from_bytes::<&str>(rest).map_err(|_| ManifestError::Unreadable)?;
            let (kind, after) = postcard::take_from_bytes::<Kind>(after).map_err(|_| ManifestError::Unreadable)?;
            entries.push(ManifestEntry { name: Name::new(text)?, kind });
            rest = after;
        }
        let manifest = Manifest { piece, entries };
        manifest.check()?;
        if rest.is_empty() { Ok(manifest) } else { Err(ManifestError::Unreadable) }
    }

    fn check(&self) -> Result<(), ManifestError> {
        check("files and folders", self.entries.len() as u64, MOST_ENTRIES as u64)?;
        let total = self.entries.iter().fold(0_u64, |total, entry| total.saturating_add(entry.size()));
        check("bytes", total, LARGEST)?;
        let [least, most] = PIECE;
        if !(least..=most).contains(&self.piece) || !self.piece.is_power_of_two() {
            return Err(ManifestError::Piece(self.piece));
        }
        let other_bits = |entry: &ManifestEntry| entry.kind.mode().filter(|mode| *mode > MOST_MODE);
        if let Some((entry, mode)) = self.entries.iter().find_map(|entry| Some((entry, other_bits(entry)?))) {
            return Err(ManifestError::Mode(entry.name.clone(), u16::try_from(mode).unwrap_or(u16::MAX)));
        }
        for entry in &self.entries {
            if let Kind::Link { target } = &entry.kind {
                target.check(&entry.name)?;
            }
        }
        if let Some(pair) = self.entries.windows(2).find(|pair| pair[0].name >= pair[1].name) {
            return Err(ManifestError::Twice(pair[1].name.clone()));
        }
        let is_file = |entry: &&ManifestEntry| !entry.kind.is_folder();
        let files: BTreeSet<&str> = self.entries.iter().filter(is_file).map(|entry| entry.name.as_str()).collect();
        let in_file = self.entries.iter().find(|entry| entry.name.folders().any(|folder| files.contains(folder)));
        in_file.map_or(Ok(()), |entry| Err(ManifestError::InFile(entry.name.clone())))
    }

    /// The identity of the transfer.
    pub fn id(&self) -> Id {
        let hash = blake3::derive_key("maquette cast 2: transfer", &self.encode());
        let mut id = [0; 16];
        id.copy_from_slice(&hash[..16]);
        Id(id)
    }

    /// The files and folders, in the order of their names.
    pub fn entries(&self) -> &[ManifestEntry] {
        &self.entries
    }

    /// How many files there are.
    pub fn files(&self) -> usize {
        self.entries.iter().filter(|entry| matches!(entry.kind, Kind::File { .. })).count()
    }

    /// The size of all files. [B]
    pub fn size(&self) -> Bytes {
        Bytes(self.entries.iter().map(ManifestEntry::size).sum())
    }

    /// How many pieces there are.
    pub fn pieces(&self) -> u32 {
        u32::try_from(self.size().0.div_ceil(u64::from(self.piece))).unwrap_or(u32::MAX)
    }

    /// The length of every piece except the last. [B]
    pub const fn piece(&self) -> u32 {
        self.piece
    }

    /// The length of this piece; zero if there is none. [B]
    pub fn length(&self, piece: u32) -> usize {
        let start = u64::from(piece) * u64::from(self.piece);
        let length = self.size().0.saturating_sub(start).min(u64::from(self.piece));
        usize::try_from(length).unwrap_or(usize::MAX)
    }

    /// The offsets of the files in the content of all, for [`Places::spans`].
    pub fn places(&self) -> Places {
        let mut end = 0;
        let ends = self.entries.iter().map(|entry| {
            end += entry.size();
            end
        });
        Places { ends: ends.collect(), piece: u64::from(self.piece) }
    }
}

impl ManifestEntry {
    /// Its size; zero for a folder or a link. [B]
    pub const fn size(&self) -> u64 {
        match self.kind {
            Kind::File { size, .. } => size,
            Kind::Folder { .. } | Kind::Link { .. } => 0,
        }
    }
}

/// Where each file ends in the content of all.
#[derive(Clone, Debug)]
pub struct Places {
    ends: Vec<u64>,
    piece: u64,
}

impl Places {
    /// The parts of files that make up a piece.
    pub fn spans(&self, piece: u32) -> Vec<Span> {
        let mut start = u64::from(piece) * self.piece;
        let end = (start + self.piece).min(self.ends.last().copied().unwrap_or(0));
        let mut entry = self.ends.partition_point(|&end| end <= start);
        let mut spans = Vec::new();
        while start < end {
            let before = entry.checked_sub(1).and_then(|before| self.ends.get(before)).copied().unwrap_or(0);
            let until = self.ends.get(entry).copied().unwrap_or(end).min(end);
            if until > start {
                let length = usize::try_from(until - start).unwrap_or(usize::MAX);
                spans.push(Span { entry, offset: start - before, length });
            }
            start = until.max(start);
            entry += 1;
        }
        spans
    }
}

fn check(what: &'static str, found: u64, allowed: u64) -> Result<(), ManifestError> {
    if found > allowed { Err(ManifestError::TooMuch { what, found, allowed }) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::collection::vec;
    use proptest::prelude::*;

    fn file(name: &str, size: u64) -> ManifestEntry {
        ManifestEntry { name: Name::new(name).unwrap(), kind: Kind::File { size, mode: 0o644 } }
    }

    fn folder(name: &str) -> ManifestEntry {
        ManifestEntry { name: Name::new(name).unwrap(), kind: Kind::Folder { mode: 0o755 } }
    }

    fn link(name: &str, target: &str) -> ManifestEntry {
        ManifestEntry { name: Name::new(name).unwrap(), kind: Kind::Link { target: Target::new(target) } }
    }

    fn complaint(entries: Vec<ManifestEntry>) -> String {
        Manifest::new(entries).unwrap_err().to_string()
    }

    #[test]
    fn impossible_manifests_are_refused_with_a_reason() {
        assert_eq!(complaint(vec![file("a", 1), file("a", 2)]), "`a` is listed twice, or out of order");
        assert_eq!(complaint(vec![file("a", 1), folder("a")]), "`a` is listed twice, or out of order");
        assert_eq!(complaint(vec![file("a", 1), file("a/b", 2)]), "`a/b` is inside a file or a link");
        assert_eq!(complaint(vec![link("t/a", "c"), file("t/a/b", 2)]), "`t/a/b` is inside a file or a link");
        assert_eq!(
            complaint(vec![file("a", u64::MAX), file("b", 2)]),
            "18446744073709551615 bytes: allowed are 17592186044416"
        );
        let many = (0..=MOST_ENTRIES).map(|number| folder(&number.to_string())).collect();
        assert_eq!(complaint(many), "100001 files and folders: allowed are 100000");
        let hostile = postcard::to_allocvec(&(VERSION, 1_u32 << 20, vec![("../x", Kind::Folder { mode: 0 })])).unwrap();
        let complaint = Manifest::decode(&hostile).unwrap_err().to_string();
        assert_eq!(complaint, "the name `../x` is refused: `.` and `..` lead elsewhere");
        let hostile = postcard::to_allocvec(&(VERSION, 1_u32 << 20, u64::MAX)).unwrap();
        assert!(matches!(Manifest::decode(&hostile), Err(ManifestError::TooMuch { .. })));
    }

    #[test]
    fn links_that_lead_elsewhere_are_refused_by_whoever_receives_them() {
        let inside = vec![folder("a"), link("a/b", "c/d"), link("a/e", "."), folder("a/f"), link("a/f/g", "../b")];
        let manifest = Manifest::new(inside).unwrap();
        assert_eq!(Manifest::decode(&manifest.encode()), Ok(manifest));
        for (name, target) in [("a", "b"), ("a/b", "/etc"), ("a/b", "../c"), ("a/b/c", "d/../../../e"), ("a/b", "")] {
            let hostile = Manifest { piece: 1 << 20, entries: vec![link(name, target)] };
            assert!(matches!(Manifest::decode(&hostile.encode()), Err(ManifestError::Link(_))), "{name} -> {target}");
        }
    }

    #[test]
    fn a_manifest_of_another_version_or_with_other_mode_bits_is_refused() {
        let old = postcard::to_allocvec(&(1_u32 << 20, vec![("x", 0_u8)])).unwrap();
        let mut newer = Manifest::new(vec![file("a", 1)]).unwrap().encode();
        newer[0] = VERSION + 1;
        for (bytes, version) in [(&old, 1), (&newer, VERSION + 1)] {
            assert_eq!(Manifest::decode(bytes), Err(ManifestError::Version(version)));
        }
        let needs = ManifestError::Version(1).to_string();
        assert!(
            needs.ends_with("and this is version 3: sender and receivers need the same version of Maquette"),
            "{needs}"
        );
        let kind = Kind::File { size: 1, mode: 0o4755 };
        let setuid = vec![ManifestEntry { name: Name::new("a").unwrap(), kind }];
        assert_eq!(complaint(setuid), "`a` has the mode 4755: allowed are 0 to 777");
    }

    #[test]
    fn the_same_files_are_the_same_transfer() {
        let [one, other] = [vec![file("a", 1), file("b", 2)], vec![file("b", 2), file("a", 1)]].map(Manifest::new);
        assert_eq!(one.as_ref().map(Manifest::id), other.as_ref().map(Manifest::id));
        assert_ne!(one.unwrap().id(), Manifest::new(vec![file("a", 1), file("b", 3)]).unwrap().id());
    }

    #[test]
    fn pieces_grow_with_the_size_of_a_transfer() {
        let piece = |size| Manifest::new(vec![file("a", size)]).unwrap().piece();
        assert_eq!([0, 64 << 20, 4 << 30, 8 << 30, 1 << 40].map(piece), [1, 1, 1, 2, 16].map(|it| it << 20));
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn the_pieces_are_all_of_the_files_once(sizes in vec(0_u64..3_000_000, 0..8)) {
            let entries = sizes.iter().enumerate().map(|(number, &size)| file(&number.to_string(), size)).collect();
            let manifest = Manifest::new(entries).unwrap();
            let (places, mut come) = (manifest.places(), vec![0_u64; sizes.len()]);
            for piece in 0..manifest.pieces() {
                let spans = places.spans(piece);
                prop_assert_eq!(spans.iter().map(|span| span.length).sum::<usize>(), manifest.length(piece));
                for Span { entry, offset, length } in spans {
                    prop_assert_eq!(come[entry], offset);
                    come[entry] += length as u64;
                }
            }
            prop_assert_eq!(come, sizes);
            prop_assert!(places.spans(manifest.pieces()).is_empty());
            prop_assert_eq!(Manifest::decode(&manifest.encode()), Ok(manifest));
        }

        #[test]
        fn any_bytes_are_a_manifest_or_an_error(bytes in vec(any::<u8>(), 0..200)) {
            if let Ok(manifest) = Manifest::decode(&bytes) {
                prop_assert_eq!(Manifest::decode(&manifest.encode()), Ok(manifest));
            }
        }
    }
}

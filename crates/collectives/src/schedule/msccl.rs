//! A schedule as an algorithm for MSCCL.
//!
//! MSCCL runs collectives that are described in XML, in NCCL and RCCL (Cowan et al., "MSCCLang: Microsoft collective
//! communication language", ASPLOS 2023). The format is that of msccl-tools, which RCCL reads:
//!
//! ```text
//! <algo name coll proto nchannels nchunksperloop ngpus inplace outofplace minBytes maxBytes>
//!   <gpu id i_chunks o_chunks s_chunks>           a rank; how many chunks its input, output and scratch buffers have
//!     <tb id send recv chan>                      a thread block: the peer that it sends to, and receives from (-1: none)
//!       <step s type srcbuf srcoff dstbuf dstoff cnt depid deps hasdep/>
//! ```
//!
//! A step of type `s` sends `cnt` chunks, one of type `r` receives them, `cpy` copies them; buffer `i` is the input,
//! `o` the output. It begins when step `deps` of thread block `depid` is over; `hasdep` is 1 if another step waits for
//! it.
//!
//! Assumptions:
//!
//! - A chunk is the greatest common divisor of all transfers; how many bytes that are, which the format leaves to who
//!   runs it, is in a comment before the algorithm, from which it is read back.
//! - The input of a rank has its messages in order of receiver, its output in order of sender, one after the other.
//!   Complete exchange with messages of one size is `alltoall`, with a place for the rank's own; anything else is
//!   `alltoallv`.
//! - Each rank has a thread block for each rank that it sends to and one for each that it receives from, so that both
//!   proceed at once. A send begins when the one in the step before is over, and so does a receive: never more than one
//!   of each; unless the schedule is one step in which everything is begun at once.
//! - 32 partners share a channel. A step carries at most 71 chunks; a larger transfer is split into several steps.
//! - The limits on steps and thread blocks depend on how the runtime was built, and are not checked.

use std::collections::BTreeMap;
use std::fmt::Write;

use quantities::{Bytes, Rank};

use super::{Pattern, PatternError, Rule, Schedule, Transfer};

/// Why a schedule cannot be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MscclError {
    /// It sends between ranks that can't send to each other, or too many bytes to count.
    #[error(transparent)]
    Pattern(#[from] PatternError),
    /// Its messages have no large common divisor.
    #[error(
        "the largest chunk that all transfers are multiples of is {chunk}, which makes {chunks} of them: at most \
         {MOST_CHUNKS_IN_ALL} are allowed in MSCCL XML; round the sizes up"
    )]
    Chunks {
        /// The greatest common divisor of all transfers. [B]
        chunk: Bytes,
        /// How many chunks all transfers have together.
        chunks: u64,
    },
}

/// The most chunks in all messages together.
const MOST_CHUNKS_IN_ALL: u64 = 1 << 26;
/// The most chunks in a step.
pub(super) const MOST_CHUNKS: u64 = 71;
/// What the comment about the size of a chunk says before it, and after it.
pub(super) const CHUNK_BEGINS: &str = "a chunk has ";
pub(super) const CHUNK_ENDS: &str = " bytes";
/// How many partners share a channel.
const PARTNERS_OF_A_CHANNEL: u32 = 32;

impl Schedule {
    /// The schedule as MSCCL XML: an algorithm called `name`. Empty transfers are left out.
    ///
    /// # Errors
    /// A schedule that sends between ranks that can't send to each other; messages whose sizes have no large common
    /// divisor.
    pub fn to_msccl(&self, name: &str) -> Result<String, MscclError> {
        let pattern = self.pattern()?;
        let chunk =
            self.transfers().fold(0, |divisor, transfer| greatest_common_divisor(divisor, transfer.bytes.0)).max(1);
        let layout = Layout::of(&pattern, chunk);
        let bytes: u64 = pattern.messages().iter().map(|message| message.bytes.0).sum();
        if bytes / layout.chunk > MOST_CHUNKS_IN_ALL {
            return Err(MscclError::Chunks { chunk: Bytes(layout.chunk), chunks: bytes / layout.chunk });
        }
        let ranks = self.moves(&layout);
        let most = layout.chunks.iter().map(|&(input, output)| input.max(output)).max().unwrap_or(0).max(1);
        let channels = (0..).map(Rank).zip(&ranks).map(|(rank, moves)| moves.channels(rank)).max().unwrap_or(1);
        let mut text = format!(
            "<!-- {CHUNK_BEGINS}{chunk}{CHUNK_ENDS} -->\n<algo name=\"{}\" proto=\"Simple\" nchannels=\"{channels}\" nchunksperloop=\"{most}\" ngpus=\"{}\" \
             coll=\"{}\" inplace=\"0\" outofplace=\"1\" minBytes=\"0\" maxBytes=\"0\">\n",
            escaped(name),
            self.ranks,
            if layout.with_own { "alltoall" } else { "alltoallv" },
        );
        for ((rank, moves), (input, output)) in (0..).map(Rank).zip(&ranks).zip(&layout.chunks) {
            // Writing to a string can't fail.
            let _ = writeln!(text, "  <gpu id=\"{rank}\" i_chunks=\"{input}\" o_chunks=\"{output}\" s_chunks=\"0\">");
            moves.write(rank, &mut text);
            text.push_str("  </gpu>\n");
        }
        text.push_str("</algo>\n");
        Ok(text)
    }

    /// The moves of each rank, in the order of the steps.
    fn moves(&self, layout: &Layout) -> Vec<Moves> {
        // How many chunks of each message have been moved.
        let mut gone: BTreeMap<(Rank, Rank), u64> = BTreeMap::new();
        let in_turn = self.rule != Rule::ManyToMany || self.carrying_steps().count() > 1;
        let mut ranks = vec![Moves { in_turn, ..Moves::default() }; self.ranks as usize];
        for transfer in self.transfers() {
            let (from, to, chunks) = (transfer.from, transfer.to, transfer.bytes.0 / layout.chunk);
            let gone = gone.entry((from, to)).or_default();
            for chunks in cut(layout.places(from, to), *gone, chunks) {
                ranks[from.0 as usize].sends.push((to, chunks));
                ranks[to.0 as usize].receives.push((from, chunks));
            }
            *gone += chunks;
        }
        if layout.with_own {
            for (rank, moves) in (0..).map(Rank).zip(&mut ranks) {
                moves.own = cut(layout.places(rank, rank), 0, layout.own_chunks).collect();
            }
        }
        ranks
    }
}

/// Chunks that move from an input to an output.
#[derive(Clone, Copy, Debug)]
struct Chunks {
    source: u64,
    destination: u64,
    count: u64,
}

/// `count` chunks of a message from chunk `first`, in portions that a step can carry.
fn cut((source, destination): (u64, u64), first: u64, count: u64) -> impl Iterator<Item = Chunks> {
    (0..count).step_by(MOST_CHUNKS as usize).map(move |start| Chunks {
        source: source + first + start,
        destination: destination + first + start,
        count: MOST_CHUNKS.min(count - start),
    })
}

/// Where the messages are in the buffers.
pub(super) struct Layout {
    /// The size of a chunk. [B]
    chunk: u64,
    /// Whether every rank has a place for a message to itself.
    pub(super) with_own: bool,
    /// How many chunks that message has.
    pub(super) own_chunks: u64,
    /// For each message, where it begins in the sender's input and in the receiver's output. [chunks]
    places: BTreeMap<(Rank, Rank), (u64, u64)>,
    /// How many chunks the input and the output of each rank have.
    pub(super) chunks: Vec<(u64, u64)>,
}

impl Layout {
    /// The places of the messages of `pattern`, each of which is a number of chunks of `chunk` bytes.
    pub(super) fn of(pattern: &Pattern, chunk: u64) -> Layout {
        let ranks = pattern.ranks();
        let complete = pattern.messages().len() as u64 == u64::from(ranks) * u64::from(ranks - 1);
        let of_one_size = |pair: &[Transfer]| pair[0].bytes == pair[1].bytes;
        let with_own = complete && ranks > 1 && pattern.messages().windows(2).all(of_one_size);
        let own = pattern.messages().first().map_or(Bytes(0), |message| message.bytes);
        let chunks = vec![(0, 0); ranks as usize];
        let mut layout = Layout { chunk, with_own, own_chunks: own.0 / chunk, places: BTreeMap::new(), chunks };
        for from in (0..ranks).map(Rank) {
            let messages = pattern.of_sender(from);
            let (lower, higher) = messages.split_at(messages.partition_point(|message| message.to < from));
            lower.iter().for_each(|message| layout.add(from, message.to, message.bytes));
            if with_own {
                layout.add(from, from, own);
            }
            higher.iter().for_each(|message| layout.add(from, message.to, message.bytes));
        }
        layout
    }

    fn add(&mut self, from: Rank, to: Rank, bytes: Bytes) {
        let chunks = bytes.0 / self.chunk;
        self.places.insert((from, to), (self.chunks[from.0 as usize].0, self.chunks[to.0 as usize].1));
        self.chunks[from.0 as usize].0 += chunks;
        self.chunks[to.0 as usize].1 += chunks;
    }

    /// The first chunk of a message in the input of its sender, and in the output of its receiver.
    pub(super) fn places(&self, from: Rank, to: Rank) -> (u64, u64) {
        self.places.get(&(from, to)).copied().unwrap_or_default()
    }
}

/// The greatest number that divides both; if one is 0, the other.
fn greatest_common_divisor(one: u64, other: u64) -> u64 {
    if other == 0 { one } else { greatest_common_divisor(other, one % other) }
}

/// The moves of one rank, in order.
#[derive(Clone, Debug, Default)]
struct Moves {
    /// What it copies for itself.
    own: Vec<Chunks>,
    /// What it receives, with the sender.
    receives: Vec<(Rank, Chunks)>,
    /// What it sends, with the receiver.
    sends: Vec<(Rank, Chunks)>,
    /// Whether a send waits for the one before it, and a receive likewise.
    in_turn: bool,
}

impl Moves {
    /// How many channels its thread blocks use.
    fn channels(&self, rank: Rank) -> u32 {
        let partners = self.receives.iter().chain(&self.sends).map(|&(partner, _)| partner);
        partners.map(|partner| channel(rank, partner) + 1).max().unwrap_or(1)
    }

    /// Writes its thread blocks: first the one that copies, then those that receive, then those that send.
    fn write(&self, rank: Rank, text: &mut String) {
        let mut id = 0;
        if !self.own.is_empty() {
            write_block(text, id, (-1, -1), 0, self.own.iter().map(|&chunks| ("cpy", chunks, None, false)));
            id += 1;
        }
        for (kind, moves) in [("r", &self.receives), ("s", &self.sends)] {
            let chain = Chain::of(moves, id, self.in_turn);
            for &partner in chain.blocks.keys() {
                let peers = if kind == "s" { (i64::from(partner.0), -1) } else { (-1, i64::from(partner.0)) };
                let steps = chain.steps_of(partner).map(|(chunks, after, has_next)| (kind, chunks, after, has_next));
                write_block(text, id, peers, channel(rank, partner), steps);
                id += 1;
            }
        }
    }
}

/// The channel between two ranks: the same at both ends, and shared by at most [`PARTNERS_OF_A_CHANNEL`] partners of a
/// rank.
fn channel(Rank(rank): Rank, Rank(partner): Rank) -> u32 {
    (rank ^ partner) / PARTNERS_OF_A_CHANNEL
}

/// A step of a thread block: the number of the block, then that of the step.
type Place = (usize, usize);

/// The sends of a rank, or its receives, each of which waits for the one before it.
struct Chain<'moves> {
    moves: &'moves [(Rank, Chunks)],
    /// For each partner, the number of its thread block, and the moves that the block makes.
    blocks: BTreeMap<Rank, (usize, Vec<usize>)>,
    /// The place of each move.
    places: Vec<Place>,
    /// Whether a move waits for one of another thread block.
    in_turn: bool,
}

impl<'moves> Chain<'moves> {
    /// The chain of `moves`, whose thread blocks are numbered from `first`.
    fn of(moves: &'moves [(Rank, Chunks)], first: usize, in_turn: bool) -> Chain<'moves> {
        let mut blocks: BTreeMap<Rank, (usize, Vec<usize>)> = BTreeMap::new();
        for (index, &(partner, _)) in moves.iter().enumerate() {
            blocks.entry(partner).or_default().1.push(index);
        }
        let mut places = vec![(0, 0); moves.len()];
        for (number, (id, steps)) in (first..).zip(blocks.values_mut()) {
            *id = number;
            steps.iter().enumerate().for_each(|(step, &index)| places[index] = (number, step));
        }
        Chain { moves, blocks, places, in_turn }
    }

    /// The moves of one thread block: the chunks, the step of another block that the move waits for, and whether
    /// another step waits for it.
    fn steps_of(&self, partner: Rank) -> impl Iterator<Item = (Chunks, Option<Place>, bool)> {
        let elsewhere = |index: usize, other: usize| {
            let place = self.places.get(other).copied();
            place.filter(|&(block, _)| self.in_turn && block != self.places[index].0)
        };
        let indices = self.blocks.get(&partner).map_or(&[][..], |(_, indices)| indices);
        indices.iter().map(move |&index| {
            let before = index.checked_sub(1).and_then(|before| elsewhere(index, before));
            (self.moves[index].1, before, elsewhere(index, index + 1).is_some())
        })
    }
}

fn write_block(
    text: &mut String,
    id: usize,
    (send, receive): (i64, i64),
    channel: u32,
    steps: impl Iterator<Item = (&'static str, Chunks, Option<Place>, bool)>,
) {
    // Writing to a string can't fail.
    let _ = writeln!(text, "    <tb id=\"{id}\" send=\"{send}\" recv=\"{receive}\" chan=\"{channel}\">");
    for (number, (kind, Chunks { source, destination, count }, after, has_next)) in steps.enumerate() {
        let number_or_none = |number: Option<usize>| number.map_or("-1".to_owned(), |number| number.to_string());
        let (block, step) = after.unzip();
        let _ = writeln!(
            text,
            "      <step s=\"{number}\" type=\"{kind}\" srcbuf=\"i\" srcoff=\"{source}\" dstbuf=\"o\" \
             dstoff=\"{destination}\" cnt=\"{count}\" depid=\"{}\" deps=\"{}\" hasdep=\"{}\"/>",
            number_or_none(block),
            number_or_none(step),
            u32::from(has_next),
        );
    }
    text.push_str("    </tb>\n");
}

/// `text` escaped for an attribute.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

//! Reads a schedule from MSCCL XML, as [`Schedule::to_msccl`] writes it: an exchange whose steps send, receive and copy
//! whole messages from inputs to outputs.
//!
//! - Only what waits for what is in such a file. Each transfer gets the first step after those of everything that it
//!   waits for, at the sender and at the receiver, in which neither sends or receives another.
//! - Parts into which a transfer was split, since a step carries at most so many chunks, are one transfer again.
//! - What comes where is checked: each message must be at its place in the sender's input and in the receiver's output.

use std::collections::{BTreeMap, VecDeque};

use quantities::{Bytes, Rank};
use roxmltree::{Document, Node};

use super::json::ReadError;
use super::msccl::{CHUNK_BEGINS, CHUNK_ENDS, Layout, MOST_CHUNKS};
use super::{MOST_MESSAGES, MOST_RANKS, Schedule, Transfer};

impl Schedule {
    /// Reads a schedule: the output of [`Schedule::to_msccl`] or of [`Schedule::to_json`]; `file` is its name in
    /// errors.
    ///
    /// # Errors
    /// The first thing that is wrong with it.
    pub fn read(file: &str, content: &[u8]) -> Result<Schedule, ReadError> {
        let is_algorithm =
            quantities::FileFormat::of(content).is_some_and(|format| format.name.contains("MSCCL in XML"));
        match std::str::from_utf8(content) {
            Ok(text) if is_algorithm => Schedule::from_msccl(file, text),
            _ => Schedule::from_json(file, content),
        }
    }

    /// Reads the output of [`Schedule::to_msccl`]; `file` is its name in errors.
    ///
    /// # Errors
    /// The first thing that is wrong with it, or that no schedule of an exchange can hold: steps that reduce, buffers
    /// other than input and output, a collective that is no all-to-all, chunks of an unknown size.
    pub fn from_msccl(file: &str, text: &str) -> Result<Schedule, ReadError> {
        let document = Document::parse(text.trim_start_matches('\u{feff}')).map_err(|error| {
            // It says where, if that is known.
            let problem = format!("found no XML: {error}");
            ReadError { file: file.to_owned(), place: None, problem, meant: None }
        })?;
        let reader = Reader { file, document: &document };
        let algorithm = reader.algorithm()?;
        let moves = Runner::new(&reader, &algorithm)?.run()?;
        let schedule = Schedule::new(algorithm.gpus.len() as u32, steps(&moves, algorithm.chunk));
        let wrong = |problem: String| reader.wrong(document.root_element(), problem);
        schedule.check_steps().map_err(|error| wrong(error.to_string()))?;
        let pattern = schedule.pattern().map_err(|error| wrong(error.to_string()))?;
        reader.check_places(&algorithm, &moves, &Layout::of(&pattern, algorithm.chunk))?;
        Ok(schedule)
    }
}

/// What a file says.
struct Algorithm<'text> {
    /// The size of a chunk. [B]
    chunk: u64,
    /// Whether every rank has a message for itself.
    with_own: bool,
    gpus: Vec<Vec<Block<'text>>>,
}

/// A thread block.
struct Block<'text> {
    node: Node<'text, 'text>,
    send: Option<usize>,
    receive: Option<usize>,
    channel: u64,
    steps: Vec<Step<'text>>,
}

/// A step of a thread block.
struct Step<'text> {
    node: Node<'text, 'text>,
    kind: Kind,
    source: u64,
    destination: u64,
    count: u64,
    /// The thread block and the step that it waits for.
    after: Option<(usize, usize)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Send,
    Receive,
    Copy,
}

/// A portion that moves between ranks, or within one.
struct Move<'text> {
    node: Node<'text, 'text>,
    from: usize,
    to: usize,
    source: u64,
    destination: u64,
    count: u64,
    /// The step of the schedule, from 1.
    step: usize,
}

/// The steps of a schedule that makes these moves, with chunks of so many bytes.
fn steps(moves: &[Move<'_>], chunk: u64) -> Vec<Vec<Transfer>> {
    let count = moves.iter().map(|part| part.step).max().unwrap_or(0);
    let mut steps: Vec<BTreeMap<(usize, usize), u64>> = vec![BTreeMap::new(); count];
    for part in moves.iter().filter(|part| part.from != part.to) {
        let bytes = steps[part.step - 1].entry((part.from, part.to)).or_default();
        // A sum that can't be counted is refused with the pattern.
        *bytes = bytes.saturating_add(part.count.saturating_mul(chunk));
    }
    let transfer = |((from, to), bytes)| Transfer { from: Rank(from as u32), to: Rank(to as u32), bytes: Bytes(bytes) };
    steps.into_iter().map(|step| step.into_iter().map(transfer).collect()).collect()
}

struct Reader<'text> {
    file: &'text str,
    document: &'text Document<'text>,
}

impl<'text> Reader<'text> {
    fn wrong(&self, node: Node<'_, '_>, problem: String) -> ReadError {
        let at = self.document.text_pos_at(node.range().start);
        let place = Some((at.row as usize, at.col as usize));
        ReadError { file: self.file.to_owned(), place, problem, meant: None }
    }

    fn text(&self, node: Node<'text, 'text>, name: &str) -> Result<&'text str, ReadError> {
        let missing = || self.wrong(node, format!("<{}> has no {name}; allowed is one", node.tag_name().name()));
        node.attribute(name).ok_or_else(missing)
    }

    fn number(&self, node: Node<'text, 'text>, name: &str, most: u64) -> Result<u64, ReadError> {
        let text = self.text(node, name)?;
        let wrong = || self.wrong(node, format!("{name}: found `{text}`; allowed is 0 to {most}"));
        text.parse().ok().filter(|&number| number <= most).ok_or_else(wrong)
    }

    /// The number of an attribute, which is -1 where there is none.
    fn number_or_none(&self, node: Node<'text, 'text>, name: &str, most: u64) -> Result<Option<usize>, ReadError> {
        if self.text(node, name)? == "-1" { Ok(None) } else { Ok(Some(self.number(node, name, most)? as usize)) }
    }

    /// The elements called `name` within `node`, which contains no others.
    fn within(&self, node: Node<'text, 'text>, name: &str) -> Result<Vec<Node<'text, 'text>>, ReadError> {
        let elements: Vec<Node<'text, 'text>> = node.children().filter(Node::is_element).collect();
        match elements.iter().find(|element| !element.has_tag_name(name)) {
            Some(other) => Err(self.wrong(*other, format!("found <{}>; allowed is <{name}>", other.tag_name().name()))),
            None => Ok(elements),
        }
    }

    fn algorithm(&self) -> Result<Algorithm<'text>, ReadError> {
        let root = self.document.root_element();
        if !root.has_tag_name("algo") {
            return Err(self.wrong(root, format!("found <{}>; allowed is <algo>", root.tag_name().name())));
        }
        let collective = self.text(root, "coll")?;
        if !["alltoall", "alltoallv"].contains(&collective) {
            let problem = format!(
                "coll: found `{collective}`; allowed is alltoall or alltoallv, as a schedule only moves messages"
            );
            return Err(self.wrong(root, problem));
        }
        let chunk = self.chunk()?;
        let ranks = self.number(root, "ngpus", u64::from(MOST_RANKS))?;
        let gpus = self.within(root, "gpu")?;
        if gpus.len() as u64 != ranks || ranks == 0 {
            let problem = format!("ngpus: found {ranks} and {} of <gpu>; allowed is the same, 1 or more", gpus.len());
            return Err(self.wrong(root, problem));
        }
        let gpus = (0..).zip(&gpus).map(|(rank, &gpu)| {
            self.check_id(gpu, rank)?;
            let blocks = (0..).zip(self.within(gpu, "tb")?);
            blocks
                .map(|(number, node)| self.block(node, number, ranks))
                .collect::<Result<Vec<Block<'text>>, ReadError>>()
        });
        Ok(Algorithm { chunk, with_own: collective == "alltoall", gpus: gpus.collect::<Result<_, _>>()? })
    }

    /// The bytes of a chunk, as the comment before the algorithm says.
    fn chunk(&self) -> Result<u64, ReadError> {
        let comments = self.document.root().children().filter(|node| node.is_comment()).filter_map(|node| node.text());
        let chunk = comments.map(str::trim).find_map(|text| text.strip_prefix(CHUNK_BEGINS)?.strip_suffix(CHUNK_ENDS));
        let chunk =
            chunk.and_then(|text| text.parse().ok()).filter(|&bytes| (1..=u64::from(u32::MAX)).contains(&bytes));
        let missing = || {
            let problem = format!(
                "found no size of a chunk, which MSCCL leaves to the call; allowed is a comment before <algo>, such as \
                 `<!-- {CHUNK_BEGINS}1024{CHUNK_ENDS} -->`, which `maquette schedule --write` writes"
            );
            self.wrong(self.document.root_element(), problem)
        };
        chunk.ok_or_else(missing)
    }

    fn check_id(&self, node: Node<'text, 'text>, expected: u64) -> Result<(), ReadError> {
        match self.number(node, "id", u64::from(u32::MAX))? {
            found if found == expected => Ok(()),
            found => Err(self.wrong(node, format!("id: found {found}; allowed is {expected}, as they are in order"))),
        }
    }

    fn block(&self, node: Node<'text, 'text>, number: u64, ranks: u64) -> Result<Block<'text>, ReadError> {
        self.check_id(node, number)?;
        let steps = (0..).zip(self.within(node, "step")?).map(|(number, step)| self.step(step, number));
        Ok(Block {
            node,
            send: self.number_or_none(node, "send", ranks - 1)?,
            receive: self.number_or_none(node, "recv", ranks - 1)?,
            channel: self.number(node, "chan", u64::from(u32::MAX))?,
            steps: steps.collect::<Result<_, _>>()?,
        })
    }

    fn step(&self, node: Node<'text, 'text>, number: u64) -> Result<Step<'text>, ReadError> {
        const MOST: u64 = u32::MAX as u64;
        match self.number(node, "s", MOST)? {
            found if found == number => {}
            found => {
                return Err(self.wrong(node, format!("s: found {found}; allowed is {number}, as they are in order")));
            }
        }
        let kind = match self.text(node, "type")? {
            "s" => Kind::Send,
            "r" => Kind::Receive,
            "cpy" => Kind::Copy,
            other => {
                let problem = format!(
                    "type: found `{other}`; allowed is s, r or cpy: a schedule of messages neither combines nor forwards chunks"
                );
                return Err(self.wrong(node, problem));
            }
        };
        for (name, allowed, matters) in [("srcbuf", "i", kind != Kind::Receive), ("dstbuf", "o", kind != Kind::Send)] {
            let found = self.text(node, name)?;
            if matters && found != allowed {
                let problem =
                    format!("{name}: found `{found}`; allowed is `{allowed}`, as messages go from inputs to outputs");
                return Err(self.wrong(node, problem));
            }
        }
        let after = self.number_or_none(node, "depid", MOST)?.zip(self.number_or_none(node, "deps", MOST)?);
        let (source, destination) = (self.number(node, "srcoff", MOST)?, self.number(node, "dstoff", MOST)?);
        let count = self.number(node, "cnt", MOST)?;
        Ok(Step { node, kind, source, destination, count, after })
    }

    /// Checks that each message is where the exchange of these bytes has it.
    fn check_places(&self, algorithm: &Algorithm<'_>, moves: &[Move<'_>], layout: &Layout) -> Result<(), ReadError> {
        let root = self.document.root_element();
        if layout.with_own != algorithm.with_own {
            let problem = "coll: found that it does not fit; allowed is alltoall where every rank has as many bytes for each other, \
                           and otherwise alltoallv";
            return Err(self.wrong(root, problem.to_owned()));
        }
        let mut next: BTreeMap<(usize, usize), u64> = BTreeMap::new();
        for part in moves {
            let (source, destination) = layout.places(Rank(part.from as u32), Rank(part.to as u32));
            let gone = next.entry((part.from, part.to)).or_default();
            let (source, destination) = (source + *gone, destination + *gone);
            *gone += part.count;
            if (part.source, part.destination) != (source, destination) {
                let problem = format!(
                    "found that chunk {} of rank {}'s input goes to chunk {} of rank {}'s output; allowed is {source} to {destination}, \
                     where messages are in order of receiver and of sender",
                    part.source, part.from, part.destination, part.to
                );
                return Err(self.wrong(part.node, problem));
            }
        }
        let own = if layout.with_own { layout.own_chunks } else { 0 };
        let copied = |rank| next.get(&(rank, rank)).copied().unwrap_or(0);
        match (0..algorithm.gpus.len()).find(|&rank| copied(rank) != own) {
            Some(rank) => Err(self.wrong(
                root,
                format!("found that rank {rank} copies {} chunks of its own; allowed is {own}", copied(rank)),
            )),
            None => Ok(()),
        }
    }
}

/// A block of a rank.
type Place = (usize, usize);

/// Runs an algorithm: each step when those that it waits for are over, a send together with its receive.
struct Runner<'run, 'text> {
    reader: &'run Reader<'text>,
    algorithm: &'run Algorithm<'text>,
    /// For each block that sends or receives, the one at the other end.
    ends: BTreeMap<Place, Place>,
    /// How many steps of each block are over.
    done: BTreeMap<Place, usize>,
    /// The step of the schedule in which each was over, by rank, block and step.
    over: BTreeMap<(usize, usize, usize), usize>,
    /// The blocks whose next step waits for one of another block.
    waiting: BTreeMap<(usize, usize, usize), Vec<Place>>,
    /// Of each rank, the last move that it sent, and the last that it received.
    last: Vec<[Option<usize>; 2]>,
    moves: Vec<Move<'text>>,
}

impl<'run, 'text> Runner<'run, 'text> {
    fn new(reader: &'run Reader<'text>, algorithm: &'run Algorithm<'text>) -> Result<Self, ReadError> {
        let blocks = || {
            (0..)
                .zip(&algorithm.gpus)
                .flat_map(|(rank, blocks)| (0..).zip(blocks).map(move |(number, block)| (rank, number, block)))
        };
        let mut receivers: BTreeMap<(usize, usize, u64), Place> = BTreeMap::new();
        for (rank, number, block) in blocks() {
            let Some(from) = block.receive else { continue };
            if receivers.insert((from, rank, block.channel), (rank, number)).is_some() {
                let problem =
                    format!("recv: found a second block that receives from rank {from} in a channel; allowed is one");
                return Err(reader.wrong(block.node, problem));
            }
        }
        let mut ends = BTreeMap::new();
        for (rank, number, block) in blocks() {
            let Some(to) = block.send else { continue };
            let receiver = receivers.get(&(rank, to, block.channel)).copied();
            let receiver = receiver.filter(|_| to != rank && block.receive.is_none());
            let Some(receiver) = receiver.filter(|place| !ends.contains_key(place)) else {
                let problem = format!(
                    "send: found {to}; allowed is a rank that receives it in a block of its own, with the same chan"
                );
                return Err(reader.wrong(block.node, problem));
            };
            ends.extend([((rank, number), receiver), (receiver, (rank, number))]);
        }
        let last = vec![[None; 2]; algorithm.gpus.len()];
        let (done, over, waiting) = Default::default();
        Ok(Runner { reader, algorithm, ends, done, over, waiting, last, moves: Vec::new() })
    }

    fn run(mut self) -> Result<Vec<Move<'text>>, ReadError> {
        let gpus = &self.algorithm.gpus;
        let mut ready: VecDeque<Place> =
            (0..gpus.len()).flat_map(|rank| (0..gpus[rank].len()).map(move |number| (rank, number))).collect();
        while let Some(place) = ready.pop_front() {
            while let Some(finished) = self.advance(place)? {
                if self.moves.len() > MOST_MESSAGES {
                    let problem = format!("found more than {MOST_MESSAGES} steps; allowed is that many");
                    return Err(self.reader.wrong(self.reader.document.root_element(), problem));
                }
                for (rank, number) in finished {
                    let step = self.done.get(&(rank, number)).copied().unwrap_or(0) - 1;
                    ready.extend(self.waiting.remove(&(rank, number, step)).into_iter().flatten());
                    // Its next step may be what the block at the other end waits for.
                    ready.push_back((rank, number));
                }
            }
        }
        let stuck = (0..).zip(gpus).find_map(|(rank, blocks): (usize, _)| {
            let left = |&(number, block): &(usize, &Block<'text>)| {
                self.done.get(&(rank, number)).copied().unwrap_or(0) < block.steps.len()
            };
            (0..).zip(blocks).find(left).map(|(number, block)| (number, rank, block))
        });
        match stuck {
            Some((number, rank, block)) => {
                let step = &block.steps[self.done.get(&(rank, number)).copied().unwrap_or(0)];
                Err(self
                    .reader
                    .wrong(step.node, "found a step that waits for ever; allowed is one whose turn comes".to_owned()))
            }
            None => Ok(self.moves),
        }
    }

    /// The next step of a block, and the last step of the schedule that it waits for; nothing if it can't begin.
    fn next(&mut self, (rank, number): Place) -> Option<(&'run Step<'text>, usize)> {
        let done = self.done.get(&(rank, number)).copied().unwrap_or(0);
        let step = self.algorithm.gpus.get(rank)?.get(number)?.steps.get(done)?;
        let before =
            done.checked_sub(1).and_then(|before| self.over.get(&(rank, number, before)).copied()).unwrap_or(0);
        let Some((block, of_block)) = step.after else { return Some((step, before)) };
        match self.over.get(&(rank, block, of_block)) {
            Some(&after) => Some((step, before.max(after))),
            None => {
                self.waiting.entry((rank, block, of_block)).or_default().push((rank, number));
                None
            }
        }
    }

    /// Carries out the next step of a block, if it can begin, and at the other end; returns the blocks whose step is
    /// over.
    fn advance(&mut self, place: Place) -> Result<Option<Vec<Place>>, ReadError> {
        let Some((step, after)) = self.next(place) else { return Ok(None) };
        if step.kind == Kind::Copy {
            self.moves.push(Move {
                node: step.node,
                from: place.0,
                to: place.0,
                source: step.source,
                destination: step.destination,
                count: step.count,
                step: after,
            });
            self.finish(place, after);
            return Ok(Some(vec![place]));
        }
        let sends = self.algorithm.gpus[place.0][place.1].send.is_some();
        if sends != (step.kind == Kind::Send) || !self.ends.contains_key(&place) {
            let problem =
                "type: found one that does not fit its block; allowed is s where it sends, r where it receives"
                    .to_owned();
            return Err(self.reader.wrong(step.node, problem));
        }
        let there = self.ends[&place];
        let Some((other, after_there)) = self.next(there) else { return Ok(None) };
        let ((sender, send), (receiver, receive)) =
            if sends { ((place, step), (there, other)) } else { ((there, other), (place, step)) };
        if (send.kind, receive.kind) != (Kind::Send, Kind::Receive) {
            return Ok(None);
        }
        if send.count != receive.count {
            let problem =
                format!("cnt: found {}; allowed is {}, as many chunks as are sent", receive.count, send.count);
            return Err(self.reader.wrong(receive.node, problem));
        }
        self.transfer(sender.0, receiver.0, (send, receive), after.max(after_there));
        let step = self.moves.last().map_or(0, |part| part.step);
        self.finish(sender, step);
        self.finish(receiver, step);
        Ok(Some(vec![sender, receiver]))
    }

    /// Notes a transfer in the first step after `after` in which the sender sends and the receiver receives no other.
    fn transfer(&mut self, from: usize, to: usize, (send, receive): (&Step<'text>, &Step<'text>), after: usize) {
        let (sent, received) = (self.last[from][0], self.last[to][1]);
        let step_of = |place: Option<usize>| place.map_or(0, |place| self.moves[place].step);
        let before = sent.filter(|_| sent == received).map(|place| &self.moves[place]);
        // A full step, and the chunks after it.
        let goes_on = before.is_some_and(|part| {
            let follows =
                part.source + part.count == send.source && part.destination + part.count == receive.destination;
            (part.from, part.to, part.count) == (from, to, MOST_CHUNKS) && follows && part.step >= after
        });
        let step = if goes_on { step_of(sent) } else { 1 + after.max(step_of(sent)).max(step_of(received)) };
        self.last[from][0] = Some(self.moves.len());
        self.last[to][1] = Some(self.moves.len());
        let (source, destination, count) = (send.source, receive.destination, send.count);
        self.moves.push(Move { node: send.node, from, to, source, destination, count, step });
    }

    fn finish(&mut self, (rank, number): Place, step: usize) {
        let done = self.done.entry((rank, number)).or_default();
        self.over.insert((rank, number, *done), step);
        *done += 1;
    }
}

//! The algorithm for a call, or the reason why it is left to the library.

use std::ffi::c_int;
use std::sync::Arc;

use collectives::{Collective as ListedCollective, Holders, Sizes};
use mpi_abi::*;
use mpi_preload::{Address, Count, Handle};
use plan_format::{Entry, MatrixExchange, Plan, Planned, place_for};
use quantities::{Bytes, Rank};

use crate::communicators::Communicator;
use crate::data::{DatatypeLayout, Elements};
use crate::job::{Blocks, CollectiveRun, Listed};
use crate::reduction::Reduction;
use crate::session::Session;
use crate::statistics::{Collective, Reason};

/// Stands for a missing buffer: the data are in the other one.
const IN_PLACE: usize = 1;

/// The data of a call: address, count, datatype.
pub(crate) type Buffer = (Address, u64, Handle);

/// The data of a call for each rank, of a size of their own.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BufferBlocks {
    pub(crate) address: Address,
    pub(crate) counts: Numbers,
    /// Where each block is; one behind the other, if that is not said.
    pub(crate) displacements: Option<Numbers>,
    pub(crate) datatype: Handle,
}

impl BufferBlocks {
    /// The elements for each of `ranks` ranks.
    ///
    /// # Safety
    /// Every array of numbers has one for each rank.
    unsafe fn all(self, ranks: u32) -> Result<Vec<Elements>, Reason> {
        let BufferBlocks { address, counts, displacements, datatype } = self;
        let (all, mut behind) = (elements((address, 0, datatype))?, 0);
        let block = |rank: usize| {
            // SAFETY: guaranteed by the caller.
            let (count, displacement) =
                unsafe { (counts.at(rank), displacements.map_or(behind, |places| places.at(rank))) };
            behind += count;
            all.at(displacement, u64::try_from(count).unwrap_or(0))
        };
        Ok((0..ranks as usize).map(block).collect())
    }
}

/// A number for each rank.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Numbers {
    Small(*const c_int),
    Large(*const i64),
}

impl From<*const c_int> for Numbers {
    fn from(numbers: *const c_int) -> Numbers {
        Numbers::Small(numbers)
    }
}

impl From<*const i64> for Numbers {
    fn from(numbers: *const i64) -> Numbers {
        Numbers::Large(numbers)
    }
}

impl Numbers {
    /// The number for a rank.
    ///
    /// # Safety
    /// There is one for this rank.
    unsafe fn at(self, rank: usize) -> i64 {
        // SAFETY: guaranteed by the caller.
        unsafe {
            match self {
                Numbers::Small(numbers) => numbers.add(rank).read().signed(),
                Numbers::Large(numbers) => numbers.add(rank).read().signed(),
            }
        }
    }
}

/// The blocks of a call of a collective of the list: one, or one for each rank, each of so many elements or of as many
/// as the call says for each.
#[derive(Clone, Copy, Debug)]
pub(crate) enum CallBlocks {
    One(Buffer),
    PerRank(Buffer),
    Each(BufferBlocks),
}

impl CallBlocks {
    /// Address, count and datatype; blocks of sizes of their own have no count.
    const fn buffer(self) -> Buffer {
        match self {
            CallBlocks::One(buffer) | CallBlocks::PerRank(buffer) => buffer,
            CallBlocks::Each(BufferBlocks { address, datatype, .. }) => (address, 0, datatype),
        }
    }

    fn is_in_place(self) -> bool {
        is_in_place(self.buffer().0)
    }

    /// Where they are, on `ranks` ranks.
    ///
    /// # Safety
    /// Every array of numbers has one for each rank.
    unsafe fn placed(self, ranks: u32) -> Result<PlacedBlocks, Reason> {
        Ok(match self {
            CallBlocks::One(buffer) => PlacedBlocks::One(elements(buffer)?),
            CallBlocks::PerRank(buffer) => PlacedBlocks::PerRank(elements(buffer)?),
            // SAFETY: guaranteed by the caller.
            CallBlocks::Each(blocks) => PlacedBlocks::Each(unsafe { blocks.all(ranks) }?),
        })
    }
}

/// Blocks in the program's memory.
enum PlacedBlocks {
    One(Elements),
    /// One behind the other, of as many elements as the first.
    PerRank(Elements),
    Each(Vec<Elements>),
}

impl PlacedBlocks {
    /// The block at a place.
    fn block(&self, place: u64) -> Elements {
        match self {
            PlacedBlocks::One(block) => *block,
            PlacedBlocks::PerRank(first) => first.at((place as i64).wrapping_mul(first.count as i64), first.count),
            PlacedBlocks::Each(blocks) => blocks[place as usize],
        }
    }
}

/// A call of a collective of the list.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ListedCall {
    pub(crate) collective: ListedCollective,
    /// What this rank brings, where it brings anything.
    pub(crate) brought: CallBlocks,
    /// Where what it takes goes, where it takes anything.
    pub(crate) taken: CallBlocks,
    /// The operator, where it reduces.
    pub(crate) operator: Option<Handle>,
    /// The root, where it has one.
    pub(crate) root: c_int,
}

impl ListedCall {
    /// The blocks whose sizes the call says, each its own, if it does: all ranks say the same.
    const fn each(&self) -> Option<BufferBlocks> {
        match (self.brought, self.taken) {
            (CallBlocks::Each(blocks), _) | (_, CallBlocks::Each(blocks)) => Some(blocks),
            _ => None,
        }
    }

    /// The blocks that a rank brings: those that are in place are where its own part of the result goes.
    fn brought_blocks(&self, several: bool) -> CallBlocks {
        match (self.brought.is_in_place(), self.taken, self.brought) {
            (false, _, brought) => brought,
            (true, CallBlocks::One((address, ..)), CallBlocks::Each(blocks)) => {
                CallBlocks::Each(BufferBlocks { address, ..blocks })
            }
            (true, CallBlocks::One(buffer), _) if several => CallBlocks::PerRank(buffer),
            (true, taken, _) => taken,
        }
    }

    /// Where the blocks go that rank `me` takes: one that is its part of blocks of different sizes has its own.
    ///
    /// # Safety
    /// Every array of numbers has one for this rank.
    unsafe fn taken_blocks(&self, me: u32) -> CallBlocks {
        match (self.taken, self.brought) {
            (CallBlocks::One((address, _, datatype)), CallBlocks::Each(blocks)) => {
                // SAFETY: guaranteed by the caller.
                let count = unsafe { blocks.counts.at(me as usize) };
                CallBlocks::One((address, u64::try_from(count).unwrap_or(0), datatype))
            }
            (taken, _) => taken,
        }
    }

    /// How many bytes a block has; on the mean, if they are of different sizes.
    fn bytes_of_a_block(&self, communicator: MPI_Comm, plan: &Plan) -> Result<u64, Reason> {
        let Some(blocks) = self.each() else { return bytes(self.of_a_block()) };
        let known = Communicator::of(communicator).ok_or(Reason::Arguments)?;
        known.check(plan)?;
        // SAFETY: there is a number for each rank of the communicator, as MPI requires.
        let counts = (0..known.ranks as usize).map(|rank| unsafe { blocks.counts.at(rank) });
        let all = counts.fold(0, |all: u64, count| all.saturating_add(u64::try_from(count).unwrap_or(0)));
        Ok(bytes((blocks.address, all, blocks.datatype))?.div_ceil(u64::from(known.ranks.max(1))))
    }

    /// The sizes of the blocks.
    ///
    /// # Safety
    /// Every array of numbers has one for each of `ranks` ranks.
    unsafe fn sizes(&self, ranks: u32) -> Result<Sizes, Reason> {
        let Some(blocks) = self.each() else { return bytes(self.of_a_block()).map(|bytes| Sizes::Same(Bytes(bytes))) };
        // SAFETY: guaranteed by the caller.
        let all = unsafe { blocks.all(ranks) }?;
        Ok(Sizes::Each(all.iter().map(|block| Bytes(block.bytes())).collect()))
    }

    /// Elements as many as a block has: those of the rank that are there in any case.
    fn of_a_block(&self) -> Buffer {
        let shape = self.collective.shape();
        // Every rank has a block of its own: it is what it takes, or what it brings; a root may have its own in place.
        let prefers_taken = shape.before == Holders::Root || shape.after != Holders::Root;
        match (prefers_taken, self.taken.is_in_place(), self.brought.is_in_place()) {
            (true, false, _) | (false, _, true) => self.taken.buffer(),
            (true, true, _) | (false, _, false) => self.brought.buffer(),
        }
    }

    /// The call by an algorithm of the plan.
    ///
    /// # Safety
    /// Every array of numbers has one for each rank of the communicator.
    unsafe fn job(&self, communicator: &Communicator, entry: &'static Entry<Planned>) -> Result<CollectiveRun, Reason> {
        let (shape, me, ranks) = (self.collective.shape(), communicator.rank, communicator.ranks);
        let root = u32::try_from(self.root).ok().filter(|&root| root < ranks).ok_or(Reason::Arguments)?;
        let block = elements(self.of_a_block())?;
        let reduction = self.operator.map(|operator| reduction(MPI_Op(operator), &block)).transpose()?;
        let (brings, takes) = (shape.brings(me, root, ranks), shape.takes(me, root, ranks));
        let (brings_some, brings_several) = (!brings.is_empty(), brings.len() > 1);
        // Of the blocks of pairs, a rank has those that go from it in order of receivers, and those to it of senders.
        let pairs = shape.is_exchange();
        let brings = brings.map(|block| if pairs { block % u64::from(ranks) } else { block });
        let takes: Vec<u64> = takes.map(|block| if pairs { block / u64::from(ranks) } else { block }).collect();
        let from_result = self.brought.is_in_place();
        // Arguments that don't count at a rank, such as those of a gather's others, may be anything.
        let brought: Vec<Elements> = match brings_some {
            true => {
                // SAFETY: guaranteed by the caller.
                let from = unsafe { self.brought_blocks(brings_several).placed(ranks) }?;
                brings.map(|place| from.block(place)).collect()
            }
            false => Vec::new(),
        };
        // The root of a broadcast has its own block where the others take it.
        let has_it = self.taken.buffer().0 == self.brought.buffer().0 && brings_some;
        let taken: Vec<Elements> = match self.taken.is_in_place() || has_it || takes.is_empty() {
            true => Vec::new(),
            false => {
                // SAFETY: guaranteed by the caller.
                let to = unsafe { self.taken_blocks(me).placed(ranks) }?;
                takes.iter().map(|&place| to.block(place)).collect()
            }
        };
        let algorithm = match &entry.algorithm {
            Planned::By(algorithm) => algorithm,
            &Planned::Scheduled(algorithm, pacing) => {
                let blocks = Blocks { sent: (!from_result).then_some(brought), received: taken };
                return Ok(CollectiveRun::Scheduled { algorithm, pacing, blocks });
            }
        };
        Ok(CollectiveRun::Listed(Listed {
            algorithm,
            root: Rank(root),
            reduction,
            // SAFETY: guaranteed by the caller.
            sizes: unsafe { self.sizes(ranks) }?,
            brought,
            is_in_place: from_result,
            taken,
        }))
    }
}

/// An operator that every rank can apply in any order to plain elements.
fn reduction(operator: MPI_Op, block: &Elements) -> Result<Reduction, Reason> {
    if !block.layout.is_plain {
        return Err(Reason::Datatype);
    }
    let reduction = Reduction::new(operator, block.layout);
    if reduction.is_commutative() { Ok(reduction) } else { Err(Reason::Operator) }
}

/// A collective that the program calls.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Call {
    Listed(ListedCall),
    AllToAllv { sent: BufferBlocks, received: BufferBlocks },
}

/// A call that is done as planned.
pub(crate) struct PlannedCall {
    pub(crate) job: CollectiveRun,
    /// The number of its entry in the plan.
    pub(crate) entry: usize,
}

type Choice = Result<PlannedCall, Reason>;

impl Call {
    pub(crate) const fn collective(&self) -> Collective {
        match self {
            Call::Listed(call) => Collective::Listed(call.collective),
            Call::AllToAllv { .. } => Collective::AllToAllv,
        }
    }

    /// The number of the plan's entry for this call, or why there is none. All ranks find the same, without asking the
    /// library: a call that is left to it costs no more than this.
    pub(crate) fn entry(&self, plan: &Plan, communicator: MPI_Comm) -> Result<usize, Reason> {
        match *self {
            Call::Listed(call) => {
                let entries = plan.listed.get(&call.collective).map_or(&[][..], Vec::as_slice);
                place_of(entries, || call.bytes_of_a_block(communicator, plan))
            }
            Call::AllToAllv { .. } => plan.all_to_allv.as_ref().map(|_| 0).ok_or(Reason::NotPlanned),
        }
    }

    /// The call by an entry of the plan; all ranks choose the same.
    ///
    /// # Safety
    /// The arguments are those that MPI requires.
    pub(crate) unsafe fn choose(&self, entry: usize, communicator: &Communicator, session: &'static Session) -> Choice {
        communicator.check(&session.plan)?;
        let job = match *self {
            Call::Listed(call) => {
                let entries = session.plan.listed.get(&call.collective);
                let entry = entries.and_then(|entries| entries.get(entry)).ok_or(Reason::NotPlanned)?;
                // SAFETY: guaranteed by the caller.
                unsafe { call.job(communicator, entry) }
            }
            Call::AllToAllv { sent, received } => {
                let entry = session.plan.all_to_allv.as_ref().ok_or(Reason::NotPlanned)?;
                // SAFETY: guaranteed by the caller.
                unsafe { all_to_allv(sent, received, communicator, entry) }
            }
        };
        job.map(|job| PlannedCall { job, entry })
    }
}

/// The size of the data of a call. [B]
fn bytes((_, count, datatype): Buffer) -> Result<u64, Reason> {
    let size = DatatypeLayout::size_of(MPI_Datatype(datatype)).ok_or(Reason::Arguments)?;
    Ok(count.saturating_mul(size))
}

/// The data of a call.
fn elements((address, count, datatype): Buffer) -> Result<Elements, Reason> {
    let layout = DatatypeLayout::of(MPI_Datatype(datatype)).ok_or(Reason::Arguments)?;
    Ok(Elements { address, count, layout })
}

fn is_in_place(address: Address) -> bool {
    address.addr() == IN_PLACE
}

/// # Safety
/// Every array of numbers has one for each rank.
unsafe fn all_to_allv(
    sent: BufferBlocks,
    received: BufferBlocks,
    communicator: &Communicator,
    entry: &Entry<MatrixExchange>,
) -> Result<CollectiveRun, Reason> {
    // SAFETY: guaranteed by the caller.
    let each = |blocks: BufferBlocks| unsafe { blocks.all(communicator.ranks) };
    let sent = if is_in_place(sent.address) { None } else { Some(each(sent)?) };
    let blocks = Blocks { sent, received: each(received)? };
    let schedules = Arc::clone(&communicator.schedules);
    Ok(CollectiveRun::AllToAllv { exchange: entry.algorithm, blocks, schedules })
}

/// The index of the entry for a call of so many bytes.
fn place_of<A>(entries: &[Entry<A>], bytes: impl FnOnce() -> Result<u64, Reason>) -> Result<usize, Reason> {
    if entries.is_empty() {
        return Err(Reason::NotPlanned);
    }
    match bytes()? {
        0 => Err(Reason::Nothing),
        bytes => place_for(entries, Bytes(bytes)).ok_or(Reason::NotPlanned),
    }
}

impl PlannedCall {
    /// The same for later use, when the program may have freed its datatypes and operators; with the handles that were
    /// created for it.
    pub(crate) fn retained(mut self) -> Result<(PlannedCall, Vec<DatatypeLayout>), Reason> {
        let mut kept: Vec<(DatatypeLayout, DatatypeLayout)> = Vec::new();
        let keep = |elements: &mut Elements| {
            let given = elements.layout;
            if let Some((_, own)) = kept.iter().find(|(other, _)| other.datatype() == given.datatype()) {
                elements.layout = *own;
                return Some(());
            }
            elements.layout = given.retained()?;
            kept.push((given, elements.layout));
            Some(())
        };
        let all = match &mut self.job {
            CollectiveRun::Listed(listed) => match &listed.reduction {
                Some(reduction) if !reduction.is_predefined() => return Err(Reason::Operator),
                Some(_) => Some(()),
                None => listed.brought.iter_mut().chain(&mut listed.taken).try_for_each(keep),
            },
            CollectiveRun::Scheduled { blocks, .. } | CollectiveRun::AllToAllv { blocks, .. } => {
                blocks.sent.iter_mut().flatten().chain(&mut blocks.received).try_for_each(keep)
            }
        };
        all.ok_or(Reason::Arguments)?;
        Ok((self, kept.into_iter().map(|(_, own)| own).collect()))
    }
}

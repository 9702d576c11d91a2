//! The algorithm for a call, or the reason why it is left to the library.

use std::ffi::c_int;
use std::sync::Arc;

use collectives::{Collective as ListedCollective, Holders};
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

/// The data of a call for each rank.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BufferBlocks {
    pub(crate) address: Address,
    pub(crate) counts: Numbers,
    pub(crate) displacements: Numbers,
    pub(crate) datatype: Handle,
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

/// The blocks of a call of a collective of the list: one, or one for each rank, each of so many elements.
#[derive(Clone, Copy, Debug)]
pub(crate) enum CallBlocks {
    One(Buffer),
    PerRank(Buffer),
}

impl CallBlocks {
    const fn buffer(self) -> Buffer {
        match self {
            CallBlocks::One(buffer) | CallBlocks::PerRank(buffer) => buffer,
        }
    }

    fn is_in_place(self) -> bool {
        is_in_place(self.buffer().0)
    }

    /// The block at a place.
    fn block(self, place: u64) -> Result<Elements, Reason> {
        match self {
            CallBlocks::One(buffer) => elements(buffer),
            CallBlocks::PerRank(buffer) => {
                let first = elements(buffer)?;
                Ok(first.at((place as i64).wrapping_mul(first.count as i64), first.count))
            }
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
    fn job(&self, communicator: &Communicator, entry: &'static Entry<Planned>) -> Result<CollectiveRun, Reason> {
        let (shape, me, ranks) = (self.collective.shape(), communicator.rank, communicator.ranks);
        let root = u32::try_from(self.root).ok().filter(|&root| root < ranks).ok_or(Reason::Arguments)?;
        let block = elements(self.of_a_block())?;
        let reduction = self.operator.map(|operator| reduction(MPI_Op(operator), &block)).transpose()?;
        let (brings, takes) = (shape.brings(me, root, ranks), shape.takes(me, root, ranks));
        let (brings_some, brings_several) = (!brings.is_empty(), brings.len() > 1);
        // Of the blocks of pairs, a rank has those that go from it in order of receivers, and those to it of senders.
        let pairs = shape.is_exchange();
        let brings = brings.map(|block| if pairs { block % u64::from(ranks) } else { block });
        let takes = takes.map(|block| if pairs { block / u64::from(ranks) } else { block });
        let from_result = self.brought.is_in_place();
        // Blocks that are in place are where the rank's own part of the result goes.
        let from = match (from_result, self.taken) {
            (false, _) => self.brought,
            (true, CallBlocks::One(buffer)) if brings_several => CallBlocks::PerRank(buffer),
            (true, taken) => taken,
        };
        let brought: Vec<Elements> = brings.map(|place| from.block(place)).collect::<Result<_, Reason>>()?;
        // The root of a broadcast has its own block where the others take it.
        let has_it = self.taken.buffer().0 == self.brought.buffer().0 && brings_some;
        let taken: Vec<Elements> = match self.taken.is_in_place() || has_it {
            true => Vec::new(),
            false => takes.map(|place| self.taken.block(place)).collect::<Result<_, Reason>>()?,
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
            block: Bytes(block.bytes()),
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
    pub(crate) fn entry(&self, plan: &Plan) -> Result<usize, Reason> {
        let bytes = |(_, count, datatype): Buffer| match DatatypeLayout::size_of(MPI_Datatype(datatype)) {
            Some(size) => Ok(count.saturating_mul(size)),
            None => Err(Reason::Arguments),
        };
        match *self {
            Call::Listed(call) => {
                let entries = plan.listed.get(&call.collective).map_or(&[][..], Vec::as_slice);
                place_of(entries, || bytes(call.of_a_block()))
            }
            Call::AllToAllv { .. } => plan.all_to_allv.as_ref().map(|_| 0).ok_or(Reason::NotPlanned),
        }
    }

    /// The call by an entry of the plan; all ranks choose the same.
    ///
    /// # Safety
    /// The arguments are those that MPI requires.
    pub(crate) unsafe fn choose(&self, entry: usize, communicator: &Communicator, session: &'static Session) -> Choice {
        if communicator.is_inter {
            return Err(Reason::Intercommunicator);
        }
        if communicator.ranks != session.plan.ranks {
            return Err(Reason::Ranks);
        }
        let job = match *self {
            Call::Listed(call) => {
                let entries = session.plan.listed.get(&call.collective);
                let entry = entries.and_then(|entries| entries.get(entry)).ok_or(Reason::NotPlanned)?;
                call.job(communicator, entry)
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
    let each = |BufferBlocks { address, counts, displacements, datatype }: BufferBlocks| {
        let all = elements((address, 0, datatype))?;
        // SAFETY: guaranteed by the caller.
        let block = |rank: u32| unsafe { (displacements.at(rank as usize), counts.at(rank as usize)) };
        let block = |rank: u32| {
            let (displacement, count) = block(rank);
            all.at(displacement, u64::try_from(count).unwrap_or(0))
        };
        Ok((0..communicator.ranks).map(block).collect::<Vec<Elements>>())
    };
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

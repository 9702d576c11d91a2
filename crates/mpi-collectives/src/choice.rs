//! The algorithm for a call, or the reason why it is left to the library.

use std::ffi::c_int;
use std::sync::Arc;

use mpi_abi::*;
use mpi_preload::{Address, Count, Handle};
use plan_format::{Entry, Exchange, MatrixExchange, Plan, place_for};
use programs::collectives::{all_reduce, broadcast};
use quantities::{Bytes, Rank};

use crate::communicators::Communicator;
use crate::data::{Elements, Layout};
use crate::job::{Blocks, Job};
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

/// A collective that the program calls.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Call {
    Broadcast { data: Buffer, root: c_int },
    AllReduce { sent: Address, received: Buffer, operator: Handle },
    AllToAll { sent: Buffer, received: Buffer },
    AllToAllv { sent: BufferBlocks, received: BufferBlocks },
}

/// A call that is done as planned.
pub(crate) struct PlannedCall {
    pub(crate) job: Job,
    /// The number of its entry in the plan.
    pub(crate) entry: usize,
}

type Choice = Result<PlannedCall, Reason>;

impl Call {
    pub(crate) const fn collective(&self) -> Collective {
        match self {
            Call::Broadcast { .. } => Collective::Broadcast,
            Call::AllReduce { .. } => Collective::AllReduce,
            Call::AllToAll { .. } => Collective::AllToAll,
            Call::AllToAllv { .. } => Collective::AllToAllv,
        }
    }

    /// The number of the plan's entry for this call, or why there is none. All ranks find the same, without asking the library: a call that
    /// is left to it costs no more than this.
    pub(crate) fn entry(&self, plan: &Plan) -> Result<usize, Reason> {
        let bytes = |(_, count, datatype): Buffer| match Layout::size_of(MPI_Datatype(datatype)) {
            Some(size) => Ok(count.saturating_mul(size)),
            None => Err(Reason::Arguments),
        };
        match *self {
            Call::Broadcast { data, .. } => place_of(&plan.broadcast, || bytes(data)),
            Call::AllReduce { received, .. } => place_of(&plan.all_reduce, || bytes(received)),
            Call::AllToAll { received, .. } => place_of(&plan.all_to_all, || bytes(received)),
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
            Call::Broadcast { data, root } => broadcast(data, root, communicator, &session.plan.broadcast[entry]),
            Call::AllReduce { sent, received, operator } => {
                all_reduce(sent, received, MPI_Op(operator), &session.plan.all_reduce[entry])
            }
            Call::AllToAll { sent, received } => {
                all_to_all(sent, received, communicator, &session.plan.all_to_all[entry])
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
    let layout = Layout::of(MPI_Datatype(datatype)).ok_or(Reason::Arguments)?;
    Ok(Elements { address, count, layout })
}

fn is_in_place(address: Address) -> bool {
    address.addr() == IN_PLACE
}

fn broadcast(
    data: Buffer,
    root: c_int,
    communicator: &Communicator,
    entry: &'static Entry<broadcast::Algorithm>,
) -> Result<Job, Reason> {
    let data = elements(data)?;
    let root = u32::try_from(root).ok().filter(|&root| root < communicator.ranks).ok_or(Reason::Arguments)?;
    Ok(Job::Broadcast { algorithm: &entry.algorithm, root: Rank(root), data })
}

fn all_reduce(
    sent: Address,
    received: Buffer,
    operator: MPI_Op,
    entry: &'static Entry<all_reduce::Algorithm>,
) -> Result<Job, Reason> {
    let received = elements(received)?;
    if !received.layout.is_plain {
        return Err(Reason::Datatype);
    }
    let reduction = Reduction::new(operator, received.layout);
    if !reduction.is_commutative() {
        return Err(Reason::Operator);
    }
    let sent = if is_in_place(sent) { received } else { Elements { address: sent, ..received } };
    Ok(Job::AllReduce { algorithm: &entry.algorithm, reduction, sent, received })
}

fn all_to_all(
    sent: Buffer,
    received: Buffer,
    communicator: &Communicator,
    entry: &Entry<Exchange>,
) -> Result<Job, Reason> {
    let received = elements(received)?;
    let each = |data: Elements| {
        (0..communicator.ranks)
            .map(|rank| data.at(i64::from(rank).wrapping_mul(data.count as i64), data.count))
            .collect()
    };
    let sent = if is_in_place(sent.0) { None } else { Some(each(elements(sent)?)) };
    Ok(Job::AllToAll { exchange: entry.algorithm, blocks: Blocks { sent, received: each(received) } })
}

/// # Safety
/// Every array of numbers has one for each rank.
unsafe fn all_to_allv(
    sent: BufferBlocks,
    received: BufferBlocks,
    communicator: &Communicator,
    entry: &Entry<MatrixExchange>,
) -> Result<Job, Reason> {
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
    Ok(Job::AllToAllv { exchange: entry.algorithm, blocks, schedules })
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
    /// The same for later use, when the program may have freed its datatypes and operators; with the handles that were created for
    /// it.
    pub(crate) fn retained(mut self) -> Result<(PlannedCall, Vec<Layout>), Reason> {
        let mut kept: Vec<(Layout, Layout)> = Vec::new();
        let mut keep = |elements: &mut Elements| {
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
            Job::Broadcast { data, .. } => keep(data),
            Job::AllReduce { reduction, .. } if !reduction.is_predefined() => return Err(Reason::Operator),
            Job::AllReduce { .. } => Some(()),
            Job::AllToAll { blocks, .. } | Job::AllToAllv { blocks, .. } => {
                blocks.sent.iter_mut().flatten().chain(&mut blocks.received).try_for_each(keep)
            }
        };
        all.ok_or(Reason::Arguments)?;
        Ok((self, kept.into_iter().map(|(_, own)| own).collect()))
    }
}

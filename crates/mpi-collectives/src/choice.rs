//! The algorithm for a call, or the reason why it is left to the library.

use std::ffi::c_int;
use std::sync::Arc;

use mpi_abi::*;
use mpi_preload::{Address, Count, Handle};
use plan_format::place_for;
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

    /// Chooses the algorithm; all ranks choose the same.
    ///
    /// # Safety
    /// The arguments are those that MPI requires.
    pub(crate) unsafe fn choose(&self, communicator: &Communicator, session: &'static Session) -> Choice {
        if communicator.is_inter {
            return Err(Reason::Intercommunicator);
        }
        if communicator.ranks != session.plan.ranks {
            return Err(Reason::Ranks);
        }
        match *self {
            Call::Broadcast { data, root } => broadcast(data, root, communicator, session),
            Call::AllReduce { sent, received, operator } => all_reduce(sent, received, MPI_Op(operator), session),
            Call::AllToAll { sent, received } => all_to_all(sent, received, communicator, session),
            // SAFETY: guaranteed by the caller.
            Call::AllToAllv { sent, received } => unsafe { all_to_allv(sent, received, communicator, session) },
        }
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

fn broadcast(data: Buffer, root: c_int, communicator: &Communicator, session: &'static Session) -> Choice {
    let data = elements(data)?;
    let root = u32::try_from(root).ok().filter(|&root| root < communicator.ranks).ok_or(Reason::Arguments)?;
    let entry = place_of(&session.plan.broadcast, data.bytes())?;
    let algorithm = &session.plan.broadcast[entry].algorithm;
    Ok(PlannedCall { job: Job::Broadcast { algorithm, root: Rank(root), data }, entry })
}

fn all_reduce(sent: Address, received: Buffer, operator: MPI_Op, session: &'static Session) -> Choice {
    let received = elements(received)?;
    let entry = place_of(&session.plan.all_reduce, received.bytes())?;
    if !received.layout.is_plain {
        return Err(Reason::Datatype);
    }
    let reduction = Reduction::new(operator, received.layout);
    if !reduction.is_commutative() {
        return Err(Reason::Operator);
    }
    let sent = if is_in_place(sent) { received } else { Elements { address: sent, ..received } };
    let algorithm = &session.plan.all_reduce[entry].algorithm;
    Ok(PlannedCall { job: Job::AllReduce { algorithm, reduction, sent, received }, entry })
}

fn all_to_all(sent: Buffer, received: Buffer, communicator: &Communicator, session: &'static Session) -> Choice {
    let received = elements(received)?;
    let entry = place_of(&session.plan.all_to_all, received.bytes())?;
    let each = |data: Elements| {
        (0..communicator.ranks)
            .map(|rank| data.at(i64::from(rank).wrapping_mul(data.count as i64), data.count))
            .collect()
    };
    let sent = if is_in_place(sent.0) { None } else { Some(each(elements(sent)?)) };
    let blocks = Blocks { sent, received: each(received) };
    Ok(PlannedCall { job: Job::AllToAll { exchange: session.plan.all_to_all[entry].algorithm, blocks }, entry })
}

/// # Safety
/// Every array of numbers has one for each rank.
unsafe fn all_to_allv(
    sent: BufferBlocks,
    received: BufferBlocks,
    communicator: &Communicator,
    session: &'static Session,
) -> Choice {
    let entry = session.plan.all_to_allv.as_ref().ok_or(Reason::NotPlanned)?;
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
    Ok(PlannedCall { job: Job::AllToAllv { exchange: entry.algorithm, blocks, schedules }, entry: 0 })
}

/// The index of the entry for this many bytes.
fn place_of<A>(entries: &[plan_format::Entry<A>], bytes: u64) -> Result<usize, Reason> {
    if bytes == 0 {
        return Err(Reason::Nothing);
    }
    place_for(entries, Bytes(bytes)).ok_or(Reason::NotPlanned)
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

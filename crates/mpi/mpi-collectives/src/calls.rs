//! The collectives, as the program calls them: each blocking and nonblocking, with small and large counts.

use std::ffi::c_int;

use mpi_abi::{MPI_Comm, MPI_SUCCESS};
use mpi_preload::{Address, Count, Handle, function};

use collectives::Collective;

use crate::choice::{Buffer, BufferBlocks, Call, CallBlocks, ListedCall};
use crate::communicators::{Communicator, complain};
use crate::session::Session;
use crate::statistics::Reason;

/// The functions of a collective: the two blocking ones, the two nonblocking ones, their arguments, and the call that
/// they represent.
macro_rules! collective {
    ($($name:ident / $large:ident, $begun:ident / $large_begun:ident ($($argument:ident: $type:ident),*) => $call:expr;)+) => {
        $(
            function! {
                small $name($($argument: $type),*, communicator: Handle) next => {
                    // SAFETY: these are the program's arguments.
                    unsafe { wait($call, MPI_Comm(communicator), || next($($argument),*, communicator)) }
                }
            }
            function! {
                large $large($($argument: $type),*, communicator: Handle) next => {
                    // SAFETY: as above.
                    unsafe { wait($call, MPI_Comm(communicator), || next($($argument),*, communicator)) }
                }
            }
            function! {
                small $begun($($argument: $type),*, communicator: Handle, request: Address) next => {
                    // SAFETY: as above.
                    unsafe { begin($call, MPI_Comm(communicator), request, || next($($argument),*, communicator, request)) }
                }
            }
            function! {
                large $large_begun($($argument: $type),*, communicator: Handle, request: Address) next => {
                    // SAFETY: as above.
                    unsafe { begin($call, MPI_Comm(communicator), request, || next($($argument),*, communicator, request)) }
                }
            }
        )+

        /// The functions that begin collectives.
        pub(crate) const NONBLOCKING: [&str; 26] = [$(stringify!($begun), stringify!($large_begun)),+];
    };
}

collective! {
    MPI_Bcast / MPI_Bcast_c, MPI_Ibcast / MPI_Ibcast_c
        (buffer: Address, count: Count, datatype: Handle, root: Int)
        => {
            let data = CallBlocks::One((buffer, count.count(), datatype));
            listed(const { Collective::of_mpi("MPI_Bcast") }, data, data, None, root)
        };
    MPI_Gather / MPI_Gather_c, MPI_Igather / MPI_Igather_c
        (
            sent: Address, send_count: Count, send_type: Handle,
            received: Address, receive_count: Count, receive_type: Handle, root: Int
        )
        => listed(const { Collective::of_mpi("MPI_Gather") },
            CallBlocks::One((sent, send_count.count(), send_type)),
            CallBlocks::PerRank((received, receive_count.count(), receive_type)),
            None,
            root,
        );
    MPI_Scatter / MPI_Scatter_c, MPI_Iscatter / MPI_Iscatter_c
        (
            sent: Address, send_count: Count, send_type: Handle,
            received: Address, receive_count: Count, receive_type: Handle, root: Int
        )
        => listed(const { Collective::of_mpi("MPI_Scatter") },
            CallBlocks::PerRank((sent, send_count.count(), send_type)),
            CallBlocks::One((received, receive_count.count(), receive_type)),
            None,
            root,
        );
    MPI_Allgather / MPI_Allgather_c, MPI_Iallgather / MPI_Iallgather_c
        (
            sent: Address, send_count: Count, send_type: Handle,
            received: Address, receive_count: Count, receive_type: Handle
        )
        => listed(const { Collective::of_mpi("MPI_Allgather") },
            CallBlocks::One((sent, send_count.count(), send_type)),
            CallBlocks::PerRank((received, receive_count.count(), receive_type)),
            None,
            0,
        );
    MPI_Allgatherv / MPI_Allgatherv_c, MPI_Iallgatherv / MPI_Iallgatherv_c
        (
            sent: Address, send_count: Count, send_type: Handle,
            received: Address, receive_counts: Counts, receive_places: Counts, receive_type: Handle
        )
        => listed(const { Collective::of_mpi("MPI_Allgatherv") },
            CallBlocks::One((sent, send_count.count(), send_type)),
            CallBlocks::Each(BufferBlocks {
                address: received,
                counts: receive_counts.into(),
                displacements: Some(receive_places.into()),
                datatype: receive_type,
            }),
            None,
            0,
        );
    MPI_Reduce / MPI_Reduce_c, MPI_Ireduce / MPI_Ireduce_c
        (sent: Address, received: Address, count: Count, datatype: Handle, operator: Handle, root: Int)
        => reducing(const { Collective::of_mpi("MPI_Reduce") }, CallBlocks::One, (sent, received), (count.count(), datatype), operator, root);
    MPI_Allreduce / MPI_Allreduce_c, MPI_Iallreduce / MPI_Iallreduce_c
        (sent: Address, received: Address, count: Count, datatype: Handle, operator: Handle)
        => reducing(const { Collective::of_mpi("MPI_Allreduce") }, CallBlocks::One, (sent, received), (count.count(), datatype), operator, 0);
    MPI_Reduce_scatter_block / MPI_Reduce_scatter_block_c, MPI_Ireduce_scatter_block / MPI_Ireduce_scatter_block_c
        (sent: Address, received: Address, count: Count, datatype: Handle, operator: Handle)
        => reducing(const { Collective::of_mpi("MPI_Reduce_scatter_block") },
            CallBlocks::PerRank,
            (sent, received),
            (count.count(), datatype),
            operator,
            0,
        );
    MPI_Reduce_scatter / MPI_Reduce_scatter_c, MPI_Ireduce_scatter / MPI_Ireduce_scatter_c
        (sent: Address, received: Address, counts: Counts, datatype: Handle, operator: Handle)
        => listed(const { Collective::of_mpi("MPI_Reduce_scatter") },
            CallBlocks::Each(BufferBlocks { address: sent, counts: counts.into(), displacements: None, datatype }),
            CallBlocks::One((received, 0, datatype)),
            Some(operator),
            0,
        );
    MPI_Scan / MPI_Scan_c, MPI_Iscan / MPI_Iscan_c
        (sent: Address, received: Address, count: Count, datatype: Handle, operator: Handle)
        => reducing(const { Collective::of_mpi("MPI_Scan") }, CallBlocks::One, (sent, received), (count.count(), datatype), operator, 0);
    MPI_Exscan / MPI_Exscan_c, MPI_Iexscan / MPI_Iexscan_c
        (sent: Address, received: Address, count: Count, datatype: Handle, operator: Handle)
        => reducing(const { Collective::of_mpi("MPI_Exscan") }, CallBlocks::One, (sent, received), (count.count(), datatype), operator, 0);
    MPI_Alltoall / MPI_Alltoall_c, MPI_Ialltoall / MPI_Ialltoall_c
        (sent: Address, send_count: Count, send_type: Handle, received: Address, receive_count: Count, receive_type: Handle)
        => listed(const { Collective::of_mpi("MPI_Alltoall") },
            CallBlocks::PerRank((sent, send_count.count(), send_type)),
            CallBlocks::PerRank((received, receive_count.count(), receive_type)),
            None,
            0,
        );
    MPI_Alltoallv / MPI_Alltoallv_c, MPI_Ialltoallv / MPI_Ialltoallv_c
        (
            sent: Address, send_counts: Counts, send_places: Counts, send_type: Handle,
            received: Address, receive_counts: Counts, receive_places: Counts, receive_type: Handle
        )
        => Some(Call::AllToAllv {
            sent: BufferBlocks {
                address: sent, counts: send_counts.into(), displacements: Some(send_places.into()), datatype: send_type,
            },
            received: BufferBlocks {
                address: received,
                counts: receive_counts.into(),
                displacements: Some(receive_places.into()),
                datatype: receive_type,
            },
        });
}

/// A call of a collective of the list; of none, if the list does not have that function of MPI, which is then left to
/// the library.
fn listed(
    collective: Option<Collective>,
    brought: CallBlocks,
    taken: CallBlocks,
    operator: Option<Handle>,
    root: c_int,
) -> Option<Call> {
    collective.map(|collective| Call::Listed(ListedCall { collective, brought, taken, operator, root }))
}

/// The same for one that reduces: blocks sent and received, each of so many elements of a datatype.
fn reducing(
    collective: Option<Collective>,
    sent_blocks: fn(Buffer) -> CallBlocks,
    (sent, received): (Address, Address),
    (count, datatype): (u64, Handle),
    operator: Handle,
    root: c_int,
) -> Option<Call> {
    let taken = CallBlocks::One((received, count, datatype));
    listed(collective, sent_blocks((sent, count, datatype)), taken, Some(operator), root)
}

/// Does a collective, as planned or with the library.
///
/// # Safety
/// The arguments are those that MPI requires.
unsafe fn wait(call: Option<Call>, communicator: MPI_Comm, library: impl FnOnce() -> c_int) -> c_int {
    let (Some(session), Some(call)) = (Session::current(), call) else { return library() };
    let collective = call.collective();
    let chosen = call.entry(&session.plan, communicator).and_then(|entry| {
        let known = Communicator::of(communicator).ok_or(Reason::Arguments)?;
        // SAFETY: guaranteed by the caller.
        let chosen = unsafe { call.choose(entry, &known, session) }?;
        Ok((known, chosen))
    });
    match chosen {
        Err(reason) => {
            session.statistics.count_passed_on(collective, reason);
            library()
        }
        Ok((known, chosen)) => {
            session.statistics.planned(collective, chosen.entry);
            match known.run(session, &chosen.job) {
                Ok(()) => MPI_SUCCESS,
                Err(error) => complain(communicator, collective.name(), &error),
            }
        }
    }
}

/// Begins a nonblocking collective, as planned or with the library.
///
/// # Safety
/// See [`wait`]; there is room for a request.
unsafe fn begin(
    call: Option<Call>,
    communicator: MPI_Comm,
    request: Address,
    library: impl FnOnce() -> c_int,
) -> c_int {
    let (Some(session), Some(call)) = (Session::current(), call) else { return library() };
    let collective = call.collective();
    let chosen = session.for_nonblocking().and_then(|()| call.entry(&session.plan, communicator)).and_then(|entry| {
        let known = Communicator::of(communicator).ok_or(Reason::Arguments)?;
        // SAFETY: guaranteed by the caller.
        let chosen = unsafe { call.choose(entry, &known, session) }?;
        Ok((known, entry, chosen.retained()?))
    });
    match chosen {
        Err(reason) => {
            session.statistics.count_passed_on(collective, reason);
            library()
        }
        Ok((known, entry, (chosen, kept))) => {
            session.statistics.planned(collective, entry);
            // SAFETY: guaranteed by the caller.
            match unsafe { known.begin(session, (collective, chosen.job, kept), request) } {
                Ok(()) => MPI_SUCCESS,
                Err(error) => complain(communicator, collective.name(), &endpoint::Error::Network(error.to_string())),
            }
        }
    }
}

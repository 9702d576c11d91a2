//! Collectives, blocking and nonblocking.

use std::ffi::c_int;

use trace_format::CollectiveKind;

use crate::abi::Handle;
use crate::recorder::{Address, Recorder, rank_of, size_of_communicator};
use crate::wrapped::{Count, noted};

noted! {
    MPI_Barrier(communicator: Handle) |recorder| recorder.collective(CollectiveKind::Barrier, communicator, 0, 0, Vec::new(), None);
    MPI_Ibarrier(communicator: Handle, request: Address)
        |recorder| recorder.record_begun_collective(CollectiveKind::Barrier, 0, 0, communicator, request);
}

/// Functions of a collective with one count and one datatype, each with its nonblocking variant.
macro_rules! of_one_size {
    ($($kind:ident: $name:ident / $large:ident, $begun:ident / $large_begun:ident ($($argument:ident: $type:ident),*) $count:ident, $datatype:ident, $root:expr;)+) => {
        noted! {
            $($name / $large($($argument: $type),*, communicator: Handle)
                |recorder| {
                    let bytes = recorder.bytes($count.count(), $datatype);
                    recorder.collective(CollectiveKind::$kind, communicator, $root, bytes, Vec::new(), None)
                };
            $begun / $large_begun($($argument: $type),*, communicator: Handle, request: Address)
                |recorder| {
                    let bytes = recorder.bytes($count.count(), $datatype);
                    recorder.record_begun_collective(CollectiveKind::$kind, $root, bytes, communicator, request)
                };)+
        }
    };
}

of_one_size! {
    Broadcast: MPI_Bcast / MPI_Bcast_c, MPI_Ibcast / MPI_Ibcast_c
        (_buffer: Address, count: Count, datatype: Handle, root: Int) count, datatype, root;
    Reduce: MPI_Reduce / MPI_Reduce_c, MPI_Ireduce / MPI_Ireduce_c
        (_sent: Address, _received: Address, count: Count, datatype: Handle, _operation: Handle, root: Int) count, datatype, root;
    AllReduce: MPI_Allreduce / MPI_Allreduce_c, MPI_Iallreduce / MPI_Iallreduce_c
        (_sent: Address, _received: Address, count: Count, datatype: Handle, _operation: Handle) count, datatype, 0;
    Scan: MPI_Scan / MPI_Scan_c, MPI_Iscan / MPI_Iscan_c
        (_sent: Address, _received: Address, count: Count, datatype: Handle, _operation: Handle) count, datatype, 0;
    Exscan: MPI_Exscan / MPI_Exscan_c, MPI_Iexscan / MPI_Iexscan_c
        (_sent: Address, _received: Address, count: Count, datatype: Handle, _operation: Handle) count, datatype, 0;
    ReduceScatterBlock: MPI_Reduce_scatter_block / MPI_Reduce_scatter_block_c, MPI_Ireduce_scatter_block / MPI_Ireduce_scatter_block_c
        (_sent: Address, _received: Address, count: Count, datatype: Handle, _operation: Handle) count, datatype, 0;
}

/// The other collectives: each with its nonblocking variant, and what is recorded of both; `request` is there or not.
macro_rules! of_two_sizes {
    ($($name:ident / $large:ident, $begun:ident / $large_begun:ident ($($argument:ident: $type:ident),*) |$recorder:ident, $communicator:ident, $request:ident| $note:expr;)+) => {
        noted! {
            $($name / $large($($argument: $type),*, $communicator: Handle)
                |$recorder| { let $request: Option<Address> = None; $note };
            $begun / $large_begun($($argument: $type),*, $communicator: Handle, request: Address)
                |$recorder| { let $request = Some(request); $note };)+
        }
    };
}

of_two_sizes! {
    MPI_Gather / MPI_Gather_c, MPI_Igather / MPI_Igather_c
        (sent: Address, send_count: Count, send_type: Handle, _received: Address, receive_count: Count, receive_type: Handle, root: Int)
        |recorder, communicator, request| {
            let bytes = recorder.bytes_or_other(sent, (send_count, send_type), (receive_count, receive_type));
            recorder.without_counts(CollectiveKind::Gather, root, bytes, communicator, request)
        };
    MPI_Scatter / MPI_Scatter_c, MPI_Iscatter / MPI_Iscatter_c
        (_sent: Address, send_count: Count, send_type: Handle, received: Address, receive_count: Count, receive_type: Handle, root: Int)
        |recorder, communicator, request| {
            let bytes = recorder.bytes_or_other(received, (receive_count, receive_type), (send_count, send_type));
            recorder.without_counts(CollectiveKind::Scatter, root, bytes, communicator, request)
        };
    MPI_Allgather / MPI_Allgather_c, MPI_Iallgather / MPI_Iallgather_c
        (_sent: Address, _send_count: Count, _send_type: Handle, _received: Address, receive_count: Count, receive_type: Handle)
        |recorder, communicator, request| {
            let bytes = recorder.bytes(receive_count.count(), receive_type);
            recorder.without_counts(CollectiveKind::AllGather, 0, bytes, communicator, request)
        };
    MPI_Alltoall / MPI_Alltoall_c, MPI_Ialltoall / MPI_Ialltoall_c
        (_sent: Address, _send_count: Count, _send_type: Handle, _received: Address, receive_count: Count, receive_type: Handle)
        |recorder, communicator, request| {
            let bytes = recorder.bytes(receive_count.count(), receive_type);
            recorder.without_counts(CollectiveKind::AllToAll, 0, bytes, communicator, request)
        };
    MPI_Gatherv / MPI_Gatherv_c, MPI_Igatherv / MPI_Igatherv_c
        (sent: Address, send_count: Count, send_type: Handle, _received: Address, counts: Counts, _places: Address, receive_type: Handle, root: Int)
        |recorder, communicator, request| {
            let counts = recorder.counts_at_root(root, communicator, counts, receive_type);
            let bytes = match counts.get(root.max(0) as usize) {
                Some(&own) if recorder.abi.is_in_place(sent) => own,
                _ => recorder.bytes(send_count.count(), send_type),
            };
            recorder.record_collective(CollectiveKind::Gatherv, root, bytes, counts, communicator, request)
        };
    MPI_Scatterv / MPI_Scatterv_c, MPI_Iscatterv / MPI_Iscatterv_c
        (_sent: Address, counts: Counts, _places: Address, send_type: Handle, received: Address, receive_count: Count, receive_type: Handle, root: Int)
        |recorder, communicator, request| {
            let counts = recorder.counts_at_root(root, communicator, counts, send_type);
            let bytes = match counts.get(root.max(0) as usize) {
                Some(&own) if recorder.abi.is_in_place(received) => own,
                _ => recorder.bytes(receive_count.count(), receive_type),
            };
            recorder.record_collective(CollectiveKind::Scatterv, root, bytes, counts, communicator, request)
        };
    MPI_Allgatherv / MPI_Allgatherv_c, MPI_Iallgatherv / MPI_Iallgatherv_c
        (_sent: Address, _send_count: Count, _send_type: Handle, _received: Address, counts: Counts, _places: Address, receive_type: Handle)
        |recorder, communicator, request| {
            let counts = recorder.counts(communicator, counts, receive_type);
            let own = counts.get(rank_of(communicator) as usize).copied().unwrap_or_default();
            recorder.record_collective(CollectiveKind::AllGatherv, 0, own, counts, communicator, request)
        };
    MPI_Reduce_scatter / MPI_Reduce_scatter_c, MPI_Ireduce_scatter / MPI_Ireduce_scatter_c
        (_sent: Address, _received: Address, counts: Counts, datatype: Handle, _operation: Handle)
        |recorder, communicator, request| {
            let counts = recorder.counts(communicator, counts, datatype);
            recorder.record_collective(CollectiveKind::ReduceScatter, 0, counts.iter().sum(), counts, communicator, request)
        };
    MPI_Alltoallv / MPI_Alltoallv_c, MPI_Ialltoallv / MPI_Ialltoallv_c
        (sent: Address, send_counts: Counts, _places: Address, send_type: Handle, _received: Address, receive_counts: Counts, _received_at: Address, receive_type: Handle)
        |recorder, communicator, request| {
            let received = recorder.counts(communicator, receive_counts, receive_type);
            let mut counts = match recorder.abi.is_in_place(sent) {
                true => received.clone(),
                false => recorder.counts(communicator, send_counts, send_type),
            };
            counts.extend(received);
            recorder.record_collective(CollectiveKind::AllToAllv, 0, 0, counts, communicator, request)
        };
}

impl Recorder {
    /// Records a nonblocking collective, whose request is in memory.
    unsafe fn record_begun_collective(
        &mut self,
        kind: CollectiveKind,
        root: c_int,
        bytes: u64,
        communicator: Handle,
        request: Address,
    ) {
        // SAFETY: the same precondition.
        unsafe { self.record_collective(kind, root, bytes, Vec::new(), communicator, Some(request)) };
    }

    /// Records a collective without counts; it is nonblocking if it has a request in memory.
    unsafe fn without_counts(
        &mut self,
        kind: CollectiveKind,
        root: c_int,
        bytes: u64,
        communicator: Handle,
        request: Option<Address>,
    ) {
        // SAFETY: the same precondition.
        unsafe { self.record_collective(kind, root, bytes, Vec::new(), communicator, request) };
    }

    /// Records a collective; it is nonblocking if it has a request in memory.
    unsafe fn record_collective(
        &mut self,
        kind: CollectiveKind,
        root: c_int,
        bytes: u64,
        counts: Vec<u64>,
        communicator: Handle,
        request: Option<Address>,
    ) {
        // SAFETY: the function has written the handle there.
        let request = request.map(|request| unsafe { self.abi.handle_at(request, 0) });
        self.collective(kind, communicator, root, bytes, counts, request);
    }

    /// The bytes of the rank's own data; if they are in place, those of the other buffer.
    fn bytes_or_other(&mut self, own: Address, size: (impl Count, Handle), other: (impl Count, Handle)) -> u64 {
        if self.abi.is_in_place(own) {
            self.bytes(other.0.count(), other.1)
        } else {
            self.bytes(size.0.count(), size.1)
        }
    }

    /// The bytes for each rank of a communicator.
    unsafe fn counts(&mut self, communicator: Handle, counts: *const impl Count, datatype: Handle) -> Vec<u64> {
        let size = size_of_communicator(communicator) as usize;
        // SAFETY: the program has passed one for each rank.
        (0..size).map(|rank| self.bytes(unsafe { counts.add(rank).read_unaligned() }.count(), datatype)).collect()
    }

    /// The same if only the root specifies them; empty elsewhere.
    unsafe fn counts_at_root(
        &mut self,
        root: c_int,
        communicator: Handle,
        counts: *const impl Count,
        datatype: Handle,
    ) -> Vec<u64> {
        if rank_of(communicator) as c_int != root {
            return Vec::new();
        }
        // SAFETY: the program has passed one for each rank.
        unsafe { self.counts(communicator, counts, datatype) }
    }
}

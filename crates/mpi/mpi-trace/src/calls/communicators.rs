//! Communicators that are created and freed. Creating one is a collective of its future members, and takes its time.

use trace_format::CollectiveKind;

use crate::abi::Handle;
use crate::recorder::{Address, Recorder, handle_at};
use crate::wrapped::{function, note, noted};

/// The size of the messages by which ranks agree on the number of a communicator. [B]
const AGREEMENT: u64 = 8;

noted! {
    MPI_Comm_dup(old: Handle, new: Address) |recorder| recorder.communicator_of(CollectiveKind::AllReduce, old, new);
    MPI_Comm_dup_with_info(old: Handle, _info: Handle, new: Address) |recorder| recorder.communicator_of(CollectiveKind::AllReduce, old, new);
    MPI_Comm_split(old: Handle, _colour: Int, _key: Int, new: Address) |recorder| recorder.communicator_of(CollectiveKind::AllGather, old, new);
    MPI_Comm_split_type(old: Handle, _kind: Int, _key: Int, _info: Handle, new: Address)
        |recorder| recorder.communicator_of(CollectiveKind::AllGather, old, new);
    MPI_Comm_create(old: Handle, _group: Handle, new: Address) |recorder| recorder.communicator_of(CollectiveKind::AllReduce, old, new);
    MPI_Comm_create_group(_old: Handle, _group: Handle, _tag: Int, new: Address) |recorder| recorder.communicator_made(new);
    MPI_Cart_create(old: Handle, _dimensions: Int, _extents: Address, _periods: Address, _reorder: Int, new: Address)
        |recorder| recorder.communicator_of(CollectiveKind::AllReduce, old, new);
    MPI_Cart_sub(old: Handle, _remaining: Address, new: Address) |recorder| recorder.communicator_of(CollectiveKind::AllGather, old, new);
    MPI_Graph_create(old: Handle, _nodes: Int, _index: Address, _edges: Address, _reorder: Int, new: Address)
        |recorder| recorder.communicator_of(CollectiveKind::AllReduce, old, new);
    MPI_Dist_graph_create(
        old: Handle, _count: Int, _sources: Address, _degrees: Address, _destinations: Address, _weights: Address, _info: Handle,
        _reorder: Int, new: Address
    ) |recorder| recorder.communicator_of(CollectiveKind::AllReduce, old, new);
    MPI_Dist_graph_create_adjacent(
        old: Handle, _count: Int, _sources: Address, _source_weights: Address, _destination_count: Int, _destinations: Address,
        _destination_weights: Address, _info: Handle, _reorder: Int, new: Address
    ) |recorder| recorder.communicator_of(CollectiveKind::AllReduce, old, new);
}

function! {
    small MPI_Comm_free(communicator: Address) entered, next => {
        let freed = handle_at(communicator);
        // SAFETY: these are the program's arguments.
        let error = unsafe { next(communicator) };
        note(entered, error, |recorder| freed.into_iter().for_each(|freed| recorder.free_communicator(freed)))
    }
}

impl Recorder {
    /// Records a communicator whose handle is in memory, if there is one: not every rank becomes a member.
    unsafe fn communicator_made(&mut self, new: Address) {
        // SAFETY: the function has written the handle there.
        let handle = unsafe { self.abi.handle_at(new, 0) };
        if handle != self.abi.no_communicator {
            self.new_communicator(handle);
        }
    }

    /// Records a communicator created by a collective on another.
    unsafe fn communicator_of(&mut self, kind: CollectiveKind, old: Handle, new: Address) {
        self.collective(kind, old, 0, AGREEMENT, Vec::new(), None);
        // SAFETY: the function has written the handle there.
        unsafe { self.communicator_made(new) };
    }
}

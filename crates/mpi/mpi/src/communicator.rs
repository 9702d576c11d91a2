//! Communicators: groups of processes whose messages are separate from all others.

use std::ffi::{c_int, c_void};

use bytes::Bytes;
use mpi_abi::*;

use crate::Result;
use crate::functions::Functions;
use crate::process::{ActiveLibrary, check, errors_are_values};
use crate::request::{Broadcast, LentMemory, MpiRequest, Receive, ReceiveInPlace, Send};

/// A communicator, and this process's place in it.
#[derive(Debug)]
pub struct Communicator {
    functions: &'static Functions,
    handle: MPI_Comm,
    rank: u32,
    size: u32,
    active: ActiveLibrary,
}

impl Communicator {
    /// The communicator of a handle, in a process where MPI has begun.
    pub(crate) fn new(functions: &'static Functions, handle: MPI_Comm, active: ActiveLibrary) -> Result<Communicator> {
        let (mut rank, mut size) = (0, 0);
        // SAFETY: MPI has begun, the handle is one of its, and each call writes an integer.
        check(functions, "MPI_Comm_rank", unsafe { (functions.comm_rank)(handle, &raw mut rank) })?;
        // SAFETY: as above.
        check(functions, "MPI_Comm_size", unsafe { (functions.comm_size)(handle, &raw mut size) })?;
        let whole = |number: c_int| u32::try_from(number).unwrap_or(0);
        Ok(Communicator { functions, handle, rank: whole(rank), size: whole(size), active })
    }

    /// The rank of this process.
    pub fn rank(&self) -> u32 {
        self.rank
    }

    /// The number of processes.
    pub fn size(&self) -> u32 {
        self.size
    }

    /// Another communicator of the same processes, with separate messages; collective over them.
    ///
    /// # Errors
    /// The library's error.
    pub fn duplicate(&self) -> Result<Communicator> {
        let mut other = MPI_COMM_NULL;
        // SAFETY: the handle is valid, and the call writes another.
        check(self.functions, "MPI_Comm_dup", unsafe { (self.functions.comm_dup)(self.handle, &raw mut other) })?;
        // A program that initialized MPI itself may have set another error handler, which the duplicate inherits.
        errors_are_values(self.functions, other)?;
        Communicator::new(self.functions, other, self.active.clone())
    }

    /// A communicator of the first `size` processes, in their order; nothing for the others, which must call this, too.
    ///
    /// # Errors
    /// The library's error.
    pub fn first(&self, size: u32) -> Result<Option<Communicator>> {
        let colour = if self.rank < size { 0 } else { MPI_UNDEFINED };
        let mut other = MPI_COMM_NULL;
        // SAFETY: the handle is valid, and the call writes another. Error handlers are passed on.
        let code = unsafe { (self.functions.comm_split)(self.handle, colour, as_int(self.rank), &raw mut other) };
        check(self.functions, "MPI_Comm_split", code)?;
        let taken = || Communicator::new(self.functions, other, self.active.clone());
        (self.rank < size).then(taken).transpose()
    }

    /// Frees the communicator; collective over its processes. Operations under way on it go on.
    ///
    /// # Errors
    /// The library's error.
    pub fn free(mut self) -> Result<()> {
        // SAFETY: the handle is valid until now, and this consumes the only value that has it.
        check(self.functions, "MPI_Comm_free", unsafe { (self.functions.comm_free)(&raw mut self.handle) })
    }

    /// The largest tag.
    pub fn largest_tag(&self) -> c_int {
        /// The least that every library allows.
        const LEAST: c_int = 32_767;
        let mut value: *const c_int = std::ptr::null();
        let mut has = 0;
        // SAFETY: the value of this attribute is a pointer to an integer, which is written to the given address.
        let code = unsafe {
            (self.functions.comm_get_attr)(self.handle, MPI_TAG_UB, (&raw mut value).cast::<c_void>(), &raw mut has)
        };
        if code != MPI_SUCCESS || has == 0 || value.is_null() {
            return LEAST;
        }
        // SAFETY: it is not null, and points to an integer that the library keeps.
        unsafe { *value }
    }

    /// Begins to send `content` to process `to`.
    ///
    /// # Errors
    /// The library's error.
    pub fn isend(&self, to: u32, tag: c_int, content: Bytes) -> Result<Send> {
        let mut request = MPI_REQUEST_NULL;
        let (start, length) = (content.as_ptr().cast::<c_void>(), content.len() as MPI_Count);
        // SAFETY: the content is read until the request is over, and `Send` keeps it until then.
        let code =
            unsafe { (self.functions.isend)(start, length, MPI_BYTE, as_int(to), tag, self.handle, &raw mut request) };
        check(self.functions, "MPI_Isend", code)?;
        Ok(Send::new(MpiRequest::new(self.functions, request, self.active.clone()), content))
    }

    /// Begins to receive a message of at most `longest` bytes, from one process or any, with one tag or any. The
    /// previous content of the buffer is lost.
    ///
    /// # Errors
    /// The library's error.
    pub fn irecv(&self, from: Option<u32>, tag: Option<c_int>, mut buffer: Vec<u8>, longest: usize) -> Result<Receive> {
        buffer.clear();
        buffer.reserve_exact(longest);
        let mut request = MPI_REQUEST_NULL;
        let from = from.map_or(MPI_ANY_SOURCE, as_int);
        // SAFETY: the buffer has room for this many bytes, and belongs to `Receive` until the request is over.
        let code = unsafe {
            (self.functions.irecv)(
                buffer.as_mut_ptr().cast::<c_void>(),
                longest as MPI_Count,
                MPI_BYTE,
                from,
                tag.unwrap_or(MPI_ANY_TAG),
                self.handle,
                &raw mut request,
            )
        };
        check(self.functions, "MPI_Irecv", code)?;
        Ok(Receive::new(MpiRequest::new(self.functions, request, self.active.clone()), buffer))
    }

    /// Begins to receive a message as long as `place` from a process, with a tag, straight into the place.
    ///
    /// # Errors
    /// The library's error.
    pub fn irecv_in_place(&self, from: u32, tag: c_int, place: LentMemory) -> Result<ReceiveInPlace> {
        let mut request = MPI_REQUEST_NULL;
        let (start, length) = (place.start().cast::<c_void>(), place.length() as MPI_Count);
        // SAFETY: the place has this many bytes, and belongs to `ReceiveInPlace` until the request is over.
        let code = unsafe {
            (self.functions.irecv)(start, length, MPI_BYTE, as_int(from), tag, self.handle, &raw mut request)
        };
        check(self.functions, "MPI_Irecv", code)?;
        Ok(ReceiveInPlace::new(MpiRequest::new(self.functions, request, self.active.clone()), place))
    }

    /// Begins this process's part in a broadcast of process `root`, of the whole buffer: all processes call this in the
    /// same order, with buffers of one length.
    ///
    /// # Errors
    /// The library's error.
    pub fn ibcast(&self, root: u32, mut buffer: Vec<u8>) -> Result<Broadcast> {
        let mut request = MPI_REQUEST_NULL;
        let (start, length) = (buffer.as_mut_ptr().cast::<c_void>(), buffer.len() as MPI_Count);
        // SAFETY: the buffer has this many bytes, and belongs to `Broadcast` until the request is over.
        let code =
            unsafe { (self.functions.ibcast)(start, length, MPI_BYTE, as_int(root), self.handle, &raw mut request) };
        check(self.functions, "MPI_Ibcast", code)?;
        Ok(Broadcast::new(MpiRequest::new(self.functions, request, self.active.clone()), buffer))
    }
}

/// A rank as MPI's integer; one that is too large becomes an invalid rank, which the library reports.
fn as_int(rank: u32) -> c_int {
    c_int::try_from(rank).unwrap_or(c_int::MAX)
}

//! Communicators: who can send to whom, apart from all others.

use std::ffi::{c_int, c_void};

use bytes::Bytes;
use mpi_abi::*;

use crate::Result;
use crate::functions::Functions;
use crate::process::{Begun, check};
use crate::request::{Broadcast, Place, Receive, ReceiveInPlace, Request, Send};

/// A communicator, and this process's place in it.
#[derive(Debug)]
pub struct Communicator {
    functions: &'static Functions,
    handle: MPI_Comm,
    rank: u32,
    size: u32,
    begun: Begun,
}

impl Communicator {
    /// The communicator of a handle, in a process where MPI has begun.
    pub(crate) fn new(functions: &'static Functions, handle: MPI_Comm, begun: Begun) -> Result<Communicator> {
        let (mut rank, mut size) = (0, 0);
        // SAFETY: MPI has begun, the handle is one of its, and each call writes an integer.
        check(functions, "MPI_Comm_rank", unsafe { (functions.comm_rank)(handle, &raw mut rank) })?;
        // SAFETY: as above.
        check(functions, "MPI_Comm_size", unsafe { (functions.comm_size)(handle, &raw mut size) })?;
        let whole = |number: c_int| u32::try_from(number).unwrap_or(0);
        Ok(Communicator { functions, handle, rank: whole(rank), size: whole(size), begun })
    }

    /// Which process this is.
    pub fn rank(&self) -> u32 {
        self.rank
    }

    /// How many there are.
    pub fn size(&self) -> u32 {
        self.size
    }

    /// Another communicator of the same processes, whose messages are apart; all of them call this together.
    ///
    /// # Errors
    /// What the library says.
    pub fn duplicate(&self) -> Result<Communicator> {
        let mut other = MPI_COMM_NULL;
        // SAFETY: the handle is valid, and the call writes another. Error handlers are passed on.
        check(self.functions, "MPI_Comm_dup", unsafe { (self.functions.comm_dup)(self.handle, &raw mut other) })?;
        Communicator::new(self.functions, other, self.begun.clone())
    }

    /// A communicator of the first `size` of these processes, in their order; nothing for the others, who call this, too.
    ///
    /// # Errors
    /// What the library says.
    pub fn first(&self, size: u32) -> Result<Option<Communicator>> {
        let colour = if self.rank < size { 0 } else { MPI_UNDEFINED };
        let mut other = MPI_COMM_NULL;
        // SAFETY: the handle is valid, and the call writes another. Error handlers are passed on.
        let code = unsafe { (self.functions.comm_split)(self.handle, colour, as_int(self.rank), &raw mut other) };
        check(self.functions, "MPI_Comm_split", code)?;
        let taken = || Communicator::new(self.functions, other, self.begun.clone());
        (self.rank < size).then(taken).transpose()
    }

    /// Gives the communicator up; all of its processes call this together. What is under way on it goes on.
    ///
    /// # Errors
    /// What the library says.
    pub fn free(mut self) -> Result<()> {
        // SAFETY: the handle is valid until now, and this is the end of the only value that has it.
        check(self.functions, "MPI_Comm_free", unsafe { (self.functions.comm_free)(&raw mut self.handle) })
    }

    /// The largest tag.
    pub fn largest_tag(&self) -> c_int {
        /// What every library allows.
        const LEAST: c_int = 32_767;
        let mut value: *const c_int = std::ptr::null();
        let mut has = 0;
        // SAFETY: the value of this attribute is a pointer to an integer, which is written to where it is told to.
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
    /// What the library says.
    pub fn isend(&self, to: u32, tag: c_int, content: Bytes) -> Result<Send> {
        let mut request = MPI_REQUEST_NULL;
        let (start, length) = (content.as_ptr().cast::<c_void>(), content.len() as MPI_Count);
        // SAFETY: the content is read until the request is over, until when `Send` has it.
        let code =
            unsafe { (self.functions.isend)(start, length, MPI_BYTE, as_int(to), tag, self.handle, &raw mut request) };
        check(self.functions, "MPI_Isend", code)?;
        Ok(Send::new(Request::new(self.functions, request, self.begun.clone()), content))
    }

    /// Begins to receive a message of at most `longest` bytes, from that process or from anyone, with that tag or with any. What the
    /// buffer holds already is lost.
    ///
    /// # Errors
    /// What the library says.
    pub fn irecv(&self, from: Option<u32>, tag: Option<c_int>, mut buffer: Vec<u8>, longest: usize) -> Result<Receive> {
        buffer.clear();
        buffer.reserve_exact(longest);
        let mut request = MPI_REQUEST_NULL;
        let from = from.map_or(MPI_ANY_SOURCE, as_int);
        // SAFETY: the buffer has room for so many bytes, and is `Receive`'s until the request is over.
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
        Ok(Receive::new(Request::new(self.functions, request, self.begun.clone()), buffer))
    }

    /// Begins to receive a message as long as `place` from that process, with that tag, straight into the place.
    ///
    /// # Errors
    /// What the library says.
    pub fn irecv_in_place(&self, from: u32, tag: c_int, place: Place) -> Result<ReceiveInPlace> {
        let mut request = MPI_REQUEST_NULL;
        let (start, length) = (place.start().cast::<c_void>(), place.length() as MPI_Count);
        // SAFETY: the place has so many bytes, and is `ReceiveInPlace`'s until the request is over.
        let code = unsafe {
            (self.functions.irecv)(start, length, MPI_BYTE, as_int(from), tag, self.handle, &raw mut request)
        };
        check(self.functions, "MPI_Irecv", code)?;
        Ok(ReceiveInPlace::new(Request::new(self.functions, request, self.begun.clone()), place))
    }

    /// Begins its part in a broadcast of process `root`, of the whole buffer: all processes call this in the same order, with buffers of one
    /// length.
    ///
    /// # Errors
    /// What the library says.
    pub fn ibcast(&self, root: u32, mut buffer: Vec<u8>) -> Result<Broadcast> {
        let mut request = MPI_REQUEST_NULL;
        let (start, length) = (buffer.as_mut_ptr().cast::<c_void>(), buffer.len() as MPI_Count);
        // SAFETY: the buffer has so many bytes, and is `Broadcast`'s until the request is over.
        let code =
            unsafe { (self.functions.ibcast)(start, length, MPI_BYTE, as_int(root), self.handle, &raw mut request) };
        check(self.functions, "MPI_Ibcast", code)?;
        Ok(Broadcast::new(Request::new(self.functions, request, self.begun.clone()), buffer))
    }
}

/// A rank as MPI has it; one that is too large for that is none, which the library says.
fn as_int(rank: u32) -> c_int {
    c_int::try_from(rank).unwrap_or(c_int::MAX)
}

//! Operations under way, with the buffers that they read or write.
//!
//! A buffer belongs to the request until MPI has reported that the request is over. A request that is dropped earlier
//! leaks its buffer: MPI may still read or write it.

use std::ffi::c_int;
use std::mem::ManuallyDrop;

use bytes::Bytes;
use mpi_abi::*;

use crate::Result;
use crate::functions::Functions;
use crate::process::{ActiveLibrary, check};

/// A request of MPI.
#[derive(Debug)]
pub(crate) struct MpiRequest {
    functions: &'static Functions,
    handle: MPI_Request,
    /// Keeps MPI from ending while the request exists.
    _active: ActiveLibrary,
}

impl MpiRequest {
    pub(crate) fn new(functions: &'static Functions, handle: MPI_Request, active: ActiveLibrary) -> MpiRequest {
        MpiRequest { functions, handle, _active: active }
    }

    /// Whether it is over, and if so, its status. Must not be called again after that.
    pub(crate) fn test(&mut self) -> Result<Option<MPI_Status>> {
        let (mut is_over, mut status) = (0, MPI_Status::default());
        // SAFETY: the handle is of a request of this library; when that is over, MPI sets the handle to the null
        // request.
        let code = unsafe { (self.functions.test)(&raw mut self.handle, &raw mut is_over, &raw mut status) };
        check(self.functions, "MPI_Test", code)?;
        Ok((is_over != 0).then_some(status))
    }
}

/// A message that is being sent.
#[derive(Debug)]
pub struct Send {
    request: MpiRequest,
    content: ManuallyDrop<Bytes>,
}

impl Send {
    pub(crate) fn new(request: MpiRequest, content: Bytes) -> Send {
        Send { request, content: ManuallyDrop::new(content) }
    }

    /// Whether it has left: then MPI no longer needs its content. Must not be called again after that.
    ///
    /// # Errors
    /// The library's error.
    pub fn test(&mut self) -> Result<bool> {
        let is_over = self.request.test()?.is_some();
        if is_over {
            drop(std::mem::take(&mut *self.content));
        }
        Ok(is_over)
    }
}

/// Memory lent by the caller: MPI may receive a message there, and its content may be sent.
#[derive(Debug)]
pub struct LentMemory {
    start: *mut u8,
    length: usize,
}

// SAFETY: the lender has promised that nothing else writes there, on any thread.
unsafe impl std::marker::Send for LentMemory {}

impl LentMemory {
    /// The `length` bytes from `start` on.
    ///
    /// # Safety
    /// The bytes exist, whatever they hold, and nothing else writes them as long as this place, or a message that lies
    /// in it, exists.
    pub const unsafe fn new(start: *mut u8, length: usize) -> LentMemory {
        LentMemory { start, length }
    }

    pub(crate) const fn start(&self) -> *mut u8 {
        self.start
    }

    /// The number of bytes.
    pub const fn length(&self) -> usize {
        self.length
    }
}

impl AsRef<[u8]> for LentMemory {
    fn as_ref(&self) -> &[u8] {
        // SAFETY: as required by `new`.
        unsafe { std::slice::from_raw_parts(self.start, self.length) }
    }
}

/// A receive of a message of known length, straight into its final place.
#[derive(Debug)]
pub struct ReceiveInPlace {
    request: MpiRequest,
    place: ManuallyDrop<LentMemory>,
}

impl ReceiveInPlace {
    pub(crate) fn new(request: MpiRequest, place: LentMemory) -> ReceiveInPlace {
        ReceiveInPlace { request, place: ManuallyDrop::new(place) }
    }

    /// The message, once it has arrived; it lies in the place. Must not be called again after that.
    ///
    /// # Errors
    /// The library's error, also if the message is longer than the place.
    pub fn test(&mut self) -> Result<Option<Bytes>> {
        if self.request.test()?.is_none() {
            return Ok(None);
        }
        // SAFETY: the request is over, and is not tested again.
        Ok(Some(Bytes::from_owner(unsafe { ManuallyDrop::take(&mut self.place) })))
    }
}

/// A message that has arrived.
#[derive(Debug)]
pub struct ArrivedMessage {
    /// Its sender.
    pub from: u32,
    /// Its tag.
    pub tag: c_int,
    /// Its content.
    pub content: Vec<u8>,
}

/// A posted receive.
#[derive(Debug)]
pub struct Receive {
    request: MpiRequest,
    buffer: ManuallyDrop<Vec<u8>>,
}

impl Receive {
    pub(crate) fn new(request: MpiRequest, buffer: Vec<u8>) -> Receive {
        Receive { request, buffer: ManuallyDrop::new(buffer) }
    }

    /// The message, once it has arrived. Must not be called again after that.
    ///
    /// # Errors
    /// The library's error, also if the message is longer than the receive allows.
    pub fn test(&mut self) -> Result<Option<ArrivedMessage>> {
        match self.request.test()? {
            Some(status) => self.arrived(&status).map(Some),
            None => Ok(None),
        }
    }

    /// Cancels it, unless its message has arrived; returns the message, or else the buffer.
    ///
    /// # Errors
    /// The library's error.
    pub fn cancel(mut self) -> Result<std::result::Result<ArrivedMessage, Vec<u8>>> {
        let functions = self.request.functions;
        // SAFETY: the handle is of a receive, which can be cancelled.
        check(functions, "MPI_Cancel", unsafe { (functions.cancel)(&raw mut self.request.handle) })?;
        // MPI guarantees that it is over soon: cancelled, or received.
        let status = loop {
            if let Some(status) = self.request.test()? {
                break status;
            }
        };
        let mut is_cancelled = 0;
        // SAFETY: the status is of a request that is over, and the call writes an integer.
        let code = unsafe { (functions.test_cancelled)(&raw const status, &raw mut is_cancelled) };
        check(functions, "MPI_Test_cancelled", code)?;
        if is_cancelled == 0 { self.arrived(&status).map(Ok) } else { Ok(Err(std::mem::take(&mut *self.buffer))) }
    }

    /// The message of a receive that is over.
    fn arrived(&mut self, status: &MPI_Status) -> Result<ArrivedMessage> {
        let mut length: MPI_Count = 0;
        // SAFETY: the status is of a receive that is over, and the call writes a number.
        let code = unsafe { (self.request.functions.get_count)(status, MPI_BYTE, &raw mut length) };
        check(self.request.functions, "MPI_Get_count", code)?;
        let mut content = std::mem::take(&mut *self.buffer);
        let length = usize::try_from(length).unwrap_or(0).min(content.capacity());
        // SAFETY: the buffer has room for this many bytes, and MPI has written them.
        unsafe { content.set_len(length) };
        Ok(ArrivedMessage { from: u32::try_from(status.MPI_SOURCE).unwrap_or(u32::MAX), tag: status.MPI_TAG, content })
    }
}

/// This process's part in a broadcast.
#[derive(Debug)]
pub struct Broadcast {
    request: MpiRequest,
    buffer: ManuallyDrop<Vec<u8>>,
}

impl Broadcast {
    pub(crate) fn new(request: MpiRequest, buffer: Vec<u8>) -> Broadcast {
        Broadcast { request, buffer: ManuallyDrop::new(buffer) }
    }

    /// The data broadcast, once this process's part in it is over. Must not be called again after that.
    ///
    /// # Errors
    /// The library's error.
    pub fn test(&mut self) -> Result<Option<Vec<u8>>> {
        Ok(self.request.test()?.map(|_| std::mem::take(&mut *self.buffer)))
    }
}

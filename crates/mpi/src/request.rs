//! Operations that are under way, with the buffers that they read or write.
//!
//! A buffer is the request's until MPI has said that it is over. Who drops a request before leaves its buffer for ever where it is:
//! MPI may still read or write it.

use std::ffi::c_int;
use std::mem::ManuallyDrop;

use bytes::Bytes;
use mpi_abi::*;

use crate::Result;
use crate::functions::Functions;
use crate::process::{Begun, check};

/// A request of MPI.
#[derive(Debug)]
pub(crate) struct Request {
    functions: &'static Functions,
    handle: MPI_Request,
    /// Nobody ends MPI while there is a request.
    _begun: Begun,
}

impl Request {
    pub(crate) fn new(functions: &'static Functions, handle: MPI_Request, begun: Begun) -> Request {
        Request { functions, handle, _begun: begun }
    }

    /// Whether it is over, and what is known of it then. It is asked no more once it is.
    pub(crate) fn test(&mut self) -> Result<Option<MPI_Status>> {
        let (mut is_over, mut status) = (0, MPI_Status::default());
        // SAFETY: the handle is of a request of this library; once that is over, MPI writes that it is none.
        let code = unsafe { (self.functions.test)(&raw mut self.handle, &raw mut is_over, &raw mut status) };
        check(self.functions, "MPI_Test", code)?;
        Ok((is_over != 0).then_some(status))
    }
}

/// A message that is being sent.
#[derive(Debug)]
pub struct Send {
    request: Request,
    content: ManuallyDrop<Bytes>,
}

impl Send {
    pub(crate) fn new(request: Request, content: Bytes) -> Send {
        Send { request, content: ManuallyDrop::new(content) }
    }

    /// Whether it has left: then MPI needs its content no longer. It is not to be asked again.
    ///
    /// # Errors
    /// What the library says.
    pub fn test(&mut self) -> Result<bool> {
        let is_over = self.request.test()?.is_some();
        if is_over {
            drop(std::mem::take(&mut *self.content));
        }
        Ok(is_over)
    }
}

/// Memory that somebody else lends: MPI may receive a message there, and what is there may be sent.
#[derive(Debug)]
pub struct Place {
    start: *mut u8,
    length: usize,
}

// SAFETY: who has lent it has promised that nobody else writes there, whichever thread that would be.
unsafe impl std::marker::Send for Place {}

impl Place {
    /// So many bytes from `start` on.
    ///
    /// # Safety
    /// They are there, whatever they hold, and nobody else writes there, for as long as there is this place or a message that lies in it.
    pub const unsafe fn new(start: *mut u8, length: usize) -> Place {
        Place { start, length }
    }

    pub(crate) const fn start(&self) -> *mut u8 {
        self.start
    }

    /// How many bytes it has.
    pub const fn length(&self) -> usize {
        self.length
    }
}

impl AsRef<[u8]> for Place {
    fn as_ref(&self) -> &[u8] {
        // SAFETY: as `new` asks for.
        unsafe { std::slice::from_raw_parts(self.start, self.length) }
    }
}

/// A receive of a message whose length is known, straight to where it is to lie.
#[derive(Debug)]
pub struct ReceiveInPlace {
    request: Request,
    place: ManuallyDrop<Place>,
}

impl ReceiveInPlace {
    pub(crate) fn new(request: Request, place: Place) -> ReceiveInPlace {
        ReceiveInPlace { request, place: ManuallyDrop::new(place) }
    }

    /// What has come, once it has; it lies in the place. It is not to be asked again.
    ///
    /// # Errors
    /// What the library says, of a message that is longer than the place, too.
    pub fn test(&mut self) -> Result<Option<Bytes>> {
        if self.request.test()?.is_none() {
            return Ok(None);
        }
        // SAFETY: the request is over, and it is not asked again.
        Ok(Some(Bytes::from_owner(unsafe { ManuallyDrop::take(&mut self.place) })))
    }
}

/// A message that has come.
#[derive(Debug)]
pub struct Arrived {
    /// Its sender.
    pub from: u32,
    /// Its tag.
    pub tag: c_int,
    /// What it says.
    pub content: Vec<u8>,
}

/// A receive that is posted.
#[derive(Debug)]
pub struct Receive {
    request: Request,
    buffer: ManuallyDrop<Vec<u8>>,
}

impl Receive {
    pub(crate) fn new(request: Request, buffer: Vec<u8>) -> Receive {
        Receive { request, buffer: ManuallyDrop::new(buffer) }
    }

    /// What has come, once it has. It is not to be asked again.
    ///
    /// # Errors
    /// What the library says, of a message that is longer than was said, too.
    pub fn test(&mut self) -> Result<Option<Arrived>> {
        match self.request.test()? {
            Some(status) => self.arrived(&status).map(Some),
            None => Ok(None),
        }
    }

    /// Takes it back, unless its message has come; gives that, or the buffer.
    ///
    /// # Errors
    /// What the library says.
    pub fn cancel(mut self) -> Result<std::result::Result<Arrived, Vec<u8>>> {
        let functions = self.request.functions;
        // SAFETY: the handle is of a receive, which can be cancelled.
        check(functions, "MPI_Cancel", unsafe { (functions.cancel)(&raw mut self.request.handle) })?;
        // That it is over soon, MPI promises: cancelled, or received.
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

    /// What has come with a receive that is over.
    fn arrived(&mut self, status: &MPI_Status) -> Result<Arrived> {
        let mut length: MPI_Count = 0;
        // SAFETY: the status is of a receive that is over, and the call writes a number.
        let code = unsafe { (self.request.functions.get_count)(status, MPI_BYTE, &raw mut length) };
        check(self.request.functions, "MPI_Get_count", code)?;
        let mut content = std::mem::take(&mut *self.buffer);
        let length = usize::try_from(length).unwrap_or(0).min(content.capacity());
        // SAFETY: there is room for so many bytes, and MPI has written them.
        unsafe { content.set_len(length) };
        Ok(Arrived { from: u32::try_from(status.MPI_SOURCE).unwrap_or(u32::MAX), tag: status.MPI_TAG, content })
    }
}

/// A part in a broadcast.
#[derive(Debug)]
pub struct Broadcast {
    request: Request,
    buffer: ManuallyDrop<Vec<u8>>,
}

impl Broadcast {
    pub(crate) fn new(request: Request, buffer: Vec<u8>) -> Broadcast {
        Broadcast { request, buffer: ManuallyDrop::new(buffer) }
    }

    /// What was broadcast, once this process's part in it is over. It is not to be asked again.
    ///
    /// # Errors
    /// What the library says.
    pub fn test(&mut self) -> Result<Option<Vec<u8>>> {
        Ok(self.request.test()?.map(|_| std::mem::take(&mut *self.buffer)))
    }
}

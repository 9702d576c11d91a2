//! Messages that are probed before they are received.

use std::ffi::c_int;

use trace_format::{Call, Message};

use super::point_to_point::OwnStatus;
use crate::abi::Handle;
use crate::computed::Sought;
use crate::recorder::{Address, Recorder, handle_at};
use crate::wrapped::{Count, function, note};

function! {
    small MPI_Probe(from: Int, tag: Int, communicator: Handle, status: Address) entered, next => {
        let mut own = OwnStatus::new();
        let status = own.replace_if_ignored(status);
        // SAFETY: these are the program's arguments, with a status of our own if it ignores that.
        let error = unsafe { next(from, tag, communicator, status) };
        // SAFETY: the function has filled the status.
        note(entered, error, |recorder| unsafe { recorder.found(from, tag, communicator, status, None) })
    }
}

function! {
    small MPI_Iprobe(from: Int, tag: Int, communicator: Handle, flag: Address, status: Address) entered, next => {
        let mut own = OwnStatus::new();
        let status = own.replace_if_ignored(status);
        // SAFETY: as above.
        let error = unsafe { next(from, tag, communicator, flag, status) };
        note(entered, error, |recorder| {
            // SAFETY: the function has written the flag, and filled the status if it is set.
            unsafe {
                match flag.cast::<c_int>().read_unaligned() {
                    0 => recorder.record_unsuccessful_test(Sought::Message),
                    _ => recorder.found(from, tag, communicator, status, None),
                }
            }
        })
    }
}

function! {
    small MPI_Mprobe(from: Int, tag: Int, communicator: Handle, message: Address, status: Address) entered, next => {
        let mut own = OwnStatus::new();
        let status = own.replace_if_ignored(status);
        // SAFETY: as above.
        let error = unsafe { next(from, tag, communicator, message, status) };
        // SAFETY: the function has filled the status and written the message's handle.
        note(entered, error, |recorder| unsafe { recorder.found(from, tag, communicator, status, Some(message)) })
    }
}

function! {
    small MPI_Improbe(from: Int, tag: Int, communicator: Handle, flag: Address, message: Address, status: Address) entered, next => {
        let mut own = OwnStatus::new();
        let status = own.replace_if_ignored(status);
        // SAFETY: as above.
        let error = unsafe { next(from, tag, communicator, flag, message, status) };
        note(entered, error, |recorder| {
            // SAFETY: the function has written the flag, and the others if it is set.
            unsafe {
                match flag.cast::<c_int>().read_unaligned() {
                    0 => recorder.record_unsuccessful_test(Sought::Message),
                    _ => recorder.found(from, tag, communicator, status, Some(message)),
                }
            }
        })
    }
}

macro_rules! matched_receives {
    ($size:ident $name:ident) => {
        function! {
            $size $name(buffer: Address, count: Count, datatype: Handle, message: Address, status: Address) entered, next => {
                let known = handle_at(message);
                // SAFETY: these are the program's arguments.
                let error = unsafe { next(buffer, count, datatype, message, status) };
                note(entered, error, |recorder| {
                    let bytes = recorder.bytes(count.count(), datatype);
                    if let Some(message) = known.and_then(|handle| recorder.matched.remove(&handle)) {
                        recorder.write(&Call::Receive(Message { bytes, ..message }));
                    }
                })
            }
        }
    };
}

matched_receives!(small MPI_Mrecv);
matched_receives!(large MPI_Mrecv_c);

macro_rules! begun_matched_receives {
    ($size:ident $name:ident) => {
        function! {
            $size $name(buffer: Address, count: Count, datatype: Handle, message: Address, request: Address) entered, next => {
                let known = handle_at(message);
                // SAFETY: these are the program's arguments.
                let error = unsafe { next(buffer, count, datatype, message, request) };
                note(entered, error, |recorder| {
                    let bytes = recorder.bytes(count.count(), datatype);
                    // SAFETY: the function has written the request's handle.
                    let request = unsafe { recorder.abi.handle_at(request, 0) };
                    if let Some(message) = known.and_then(|handle| recorder.matched.remove(&handle)) {
                        recorder.begin(request, false, Message { bytes, ..message });
                    }
                })
            }
        }
    };
}

begun_matched_receives!(small MPI_Imrecv);
begun_matched_receives!(large MPI_Imrecv_c);

impl Recorder {
    /// Records a message that was found, with the contents of its status; `handle` is the address of its handle, if it
    /// has one.
    ///
    /// # Safety
    /// There is a status that the library has filled, and a handle at `handle` if given.
    unsafe fn found(
        &mut self,
        from: c_int,
        tag: c_int,
        communicator: Handle,
        status: Address,
        handle: Option<Address>,
    ) {
        let Some(message) = self.message(from, tag, communicator, 0) else { return };
        // SAFETY: guaranteed by the caller.
        let message = unsafe { self.as_received(message, status) };
        if let Some(handle) = handle {
            // SAFETY: guaranteed by the caller.
            let handle = self.abi.known(unsafe { self.abi.handle_at(handle, 0) });
            if handle != self.abi.message_of_no_process {
                self.matched.insert(handle, message);
            }
        }
        self.write(&Call::Probe(message));
    }
}

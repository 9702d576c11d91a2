//! Messages that are sent and received.

use std::mem::MaybeUninit;

use trace_format::{Call, Message, Transfer};

use crate::abi::{STATUS_BYTES, Status};
use crate::recorder::{Address, Envelope, Recorder, envelope, recorder};
use crate::wrapped::{function, note, noted};

noted! {
    MPI_Send / MPI_Send_c(_buffer: Address, count: Count, datatype: Handle, to: Int, tag: Int, communicator: Handle)
        |recorder| recorder.sent(envelope(count, datatype, to, tag, communicator));
    MPI_Bsend / MPI_Bsend_c(_buffer: Address, count: Count, datatype: Handle, to: Int, tag: Int, communicator: Handle)
        |recorder| recorder.sent(envelope(count, datatype, to, tag, communicator));
    MPI_Ssend / MPI_Ssend_c(_buffer: Address, count: Count, datatype: Handle, to: Int, tag: Int, communicator: Handle)
        |recorder| recorder.sent(envelope(count, datatype, to, tag, communicator));
    MPI_Rsend / MPI_Rsend_c(_buffer: Address, count: Count, datatype: Handle, to: Int, tag: Int, communicator: Handle)
        |recorder| recorder.sent(envelope(count, datatype, to, tag, communicator));
    MPI_Isend / MPI_Isend_c(_buffer: Address, count: Count, datatype: Handle, to: Int, tag: Int, communicator: Handle, request: Address)
        |recorder| recorder.begun(true, envelope(count, datatype, to, tag, communicator), request);
    MPI_Ibsend / MPI_Ibsend_c(_buffer: Address, count: Count, datatype: Handle, to: Int, tag: Int, communicator: Handle, request: Address)
        |recorder| recorder.begun(true, envelope(count, datatype, to, tag, communicator), request);
    MPI_Issend / MPI_Issend_c(_buffer: Address, count: Count, datatype: Handle, to: Int, tag: Int, communicator: Handle, request: Address)
        |recorder| recorder.begun(true, envelope(count, datatype, to, tag, communicator), request);
    MPI_Irsend / MPI_Irsend_c(_buffer: Address, count: Count, datatype: Handle, to: Int, tag: Int, communicator: Handle, request: Address)
        |recorder| recorder.begun(true, envelope(count, datatype, to, tag, communicator), request);
    MPI_Irecv / MPI_Irecv_c(_buffer: Address, count: Count, datatype: Handle, from: Int, tag: Int, communicator: Handle, request: Address)
        |recorder| recorder.begun(false, envelope(count, datatype, from, tag, communicator), request);
}

/// Room for a status of any library.
pub(crate) struct OwnStatus(MaybeUninit<[u8; STATUS_BYTES]>);

impl OwnStatus {
    pub(crate) const fn new() -> OwnStatus {
        OwnStatus(MaybeUninit::zeroed())
    }

    /// The program's status, or this one, if the program ignores it.
    pub(crate) fn replace_if_ignored(&mut self, status: Address) -> Address {
        let ignored = recorder().and_then(|guard| guard.as_ref().map(|recorder| recorder.abi.status_ignore));
        if ignored == Some(status.addr()) { self.0.as_mut_ptr().cast() } else { status }
    }
}

macro_rules! receives {
    ($size:ident $name:ident) => {
        function! {
            $size $name(
                buffer: Address, count: Count, datatype: Handle, from: Int, tag: Int, communicator: Handle, status: Address
            ) entered, next => {
                let mut own = OwnStatus::new();
                let status = own.replace_if_ignored(status);
                // SAFETY: these are the program's arguments, with a status of our own if it ignores that.
                let error = unsafe { next(buffer, count, datatype, from, tag, communicator, status) };
                note(entered, error, |recorder| {
                    let message = recorder.message_of(envelope(count, datatype, from, tag, communicator));
                    // SAFETY: the function has filled the status.
                    if let Some(message) = message.map(|message| unsafe { recorder.as_received(message, status) }) {
                        recorder.write(&Call::Receive(message));
                    }
                })
            }
        }
    };
}

receives!(small MPI_Recv);
receives!(large MPI_Recv_c);

macro_rules! sendrecvs {
    ($size:ident $name:ident) => {
        function! {
            $size $name(
                sent: Address, send_count: Count, send_type: Handle, to: Int, send_tag: Int,
                received: Address, receive_count: Count, receive_type: Handle, from: Int, receive_tag: Int,
                communicator: Handle, status: Address
            ) entered, next => {
                let mut own = OwnStatus::new();
                let status = own.replace_if_ignored(status);
                // SAFETY: these are the program's arguments, with a status of our own if it ignores that.
                let error = unsafe {
                    next(sent, send_count, send_type, to, send_tag, received, receive_count, receive_type, from,
                         receive_tag, communicator, status)
                };
                note(entered, error, |recorder| {
                    let send = envelope(send_count, send_type, to, send_tag, communicator);
                    let receive = envelope(receive_count, receive_type, from, receive_tag, communicator);
                    // SAFETY: the function has filled the status.
                    unsafe { recorder.exchanged(send, receive, status) };
                })
            }
        }
    };
}

sendrecvs!(small MPI_Sendrecv);
sendrecvs!(large MPI_Sendrecv_c);

macro_rules! replacing_sendrecvs {
    ($size:ident $name:ident) => {
        function! {
            $size $name(
                buffer: Address, count: Count, datatype: Handle, to: Int, send_tag: Int, from: Int, receive_tag: Int,
                communicator: Handle, status: Address
            ) entered, next => {
                let mut own = OwnStatus::new();
                let status = own.replace_if_ignored(status);
                // SAFETY: these are the program's arguments, with a status of our own if it ignores that.
                let error = unsafe { next(buffer, count, datatype, to, send_tag, from, receive_tag, communicator, status) };
                note(entered, error, |recorder| {
                    let send = envelope(count, datatype, to, send_tag, communicator);
                    let receive = envelope(count, datatype, from, receive_tag, communicator);
                    // SAFETY: the function has filled the status.
                    unsafe { recorder.exchanged(send, receive, status) };
                })
            }
        }
    };
}

replacing_sendrecvs!(small MPI_Sendrecv_replace);
replacing_sendrecvs!(large MPI_Sendrecv_replace_c);

impl Recorder {
    fn sent(&mut self, envelope: Envelope) {
        if let Some(message) = self.message_of(envelope) {
            self.write(&Call::Send(message));
        }
    }

    /// Records a nonblocking message, whose request is in memory.
    unsafe fn begun(&mut self, sends: bool, envelope: Envelope, request: Address) {
        if let Some(message) = self.message_of(envelope) {
            // SAFETY: the function has written the handle there.
            let request = unsafe { self.abi.handle_at(request, 0) };
            self.begin(request, sends, message);
        }
    }

    /// A received message, with source and tag from its status.
    ///
    /// # Safety
    /// There is a status that the library has filled.
    pub(crate) unsafe fn as_received(&self, message: Message, status: Address) -> Message {
        if message.partner.is_some() && message.tag.is_some() {
            return message;
        }
        // SAFETY: guaranteed by the caller.
        let Status { source, tag, .. } = unsafe { self.abi.status_at(status, 0) };
        Message { partner: Some(source as u32), tag: Some(tag as u32), ..message }
    }

    /// Records a message sent and a message received meanwhile; either may be none.
    ///
    /// # Safety
    /// There is a status that the library has filled.
    unsafe fn exchanged(&mut self, send: Envelope, receive: Envelope, status: Address) {
        let send = self.message_of(send);
        let receive = self.message_of(receive);
        // SAFETY: guaranteed by the caller.
        let receive = receive.map(|message| unsafe { self.as_received(message, status) });
        match (send, receive) {
            (Some(send), Some(receive)) => self.write(&Call::SendReceive(Box::new(Transfer { send, receive }))),
            (Some(send), None) => self.write(&Call::Send(send)),
            (None, Some(receive)) => self.write(&Call::Receive(receive)),
            (None, None) => {}
        }
    }
}

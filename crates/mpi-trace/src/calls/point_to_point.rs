//! Messages that are sent and received.

use std::ffi::c_int;
use std::mem::MaybeUninit;

use trace_format::{Call, Message, Transfer};

use crate::abi::{Handle, STATUS_BYTES};
use crate::recorder::{Address, Recorder, recorder};
use crate::wrapped::{Count, function, note, noted};

noted! {
    MPI_Send / MPI_Send_c(_buffer: Address, count: Count, datatype: Handle, to: Int, tag: Int, communicator: Handle)
        |recorder| recorder.sent(count, datatype, to, tag, communicator);
    MPI_Bsend / MPI_Bsend_c(_buffer: Address, count: Count, datatype: Handle, to: Int, tag: Int, communicator: Handle)
        |recorder| recorder.sent(count, datatype, to, tag, communicator);
    MPI_Ssend / MPI_Ssend_c(_buffer: Address, count: Count, datatype: Handle, to: Int, tag: Int, communicator: Handle)
        |recorder| recorder.sent(count, datatype, to, tag, communicator);
    MPI_Rsend / MPI_Rsend_c(_buffer: Address, count: Count, datatype: Handle, to: Int, tag: Int, communicator: Handle)
        |recorder| recorder.sent(count, datatype, to, tag, communicator);
    MPI_Isend / MPI_Isend_c(_buffer: Address, count: Count, datatype: Handle, to: Int, tag: Int, communicator: Handle, request: Address)
        |recorder| recorder.begun(true, count, datatype, to, tag, communicator, request);
    MPI_Ibsend / MPI_Ibsend_c(_buffer: Address, count: Count, datatype: Handle, to: Int, tag: Int, communicator: Handle, request: Address)
        |recorder| recorder.begun(true, count, datatype, to, tag, communicator, request);
    MPI_Issend / MPI_Issend_c(_buffer: Address, count: Count, datatype: Handle, to: Int, tag: Int, communicator: Handle, request: Address)
        |recorder| recorder.begun(true, count, datatype, to, tag, communicator, request);
    MPI_Irsend / MPI_Irsend_c(_buffer: Address, count: Count, datatype: Handle, to: Int, tag: Int, communicator: Handle, request: Address)
        |recorder| recorder.begun(true, count, datatype, to, tag, communicator, request);
    MPI_Irecv / MPI_Irecv_c(_buffer: Address, count: Count, datatype: Handle, from: Int, tag: Int, communicator: Handle, request: Address)
        |recorder| recorder.begun(false, count, datatype, from, tag, communicator, request);
}

/// Room for a status of any library.
pub(crate) struct OwnStatus(MaybeUninit<[u8; STATUS_BYTES]>);

impl OwnStatus {
    pub(crate) const fn new() -> OwnStatus {
        OwnStatus(MaybeUninit::zeroed())
    }

    /// The program's status, or this one, if the program wants none.
    pub(crate) fn unless_wanted(&mut self, wanted: Address) -> Address {
        let ignored = recorder().and_then(|guard| guard.as_ref().map(|recorder| recorder.abi.status_ignore));
        if ignored == Some(wanted.addr()) { self.0.as_mut_ptr().cast() } else { wanted }
    }
}

macro_rules! receives {
    ($size:ident $name:ident) => {
        function! {
            $size $name(
                buffer: Address, count: Count, datatype: Handle, from: Int, tag: Int, communicator: Handle, status: Address
            ) entered, next => {
                let mut own = OwnStatus::new();
                let status = own.unless_wanted(status);
                // SAFETY: with the arguments that the program has given, or a status of ours where it wants none.
                let error = unsafe { next(buffer, count, datatype, from, tag, communicator, status) };
                note(entered, error, |recorder| {
                    let bytes = recorder.bytes(count.count(), datatype);
                    let message = recorder.message(from, tag, communicator, bytes);
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
                let status = own.unless_wanted(status);
                // SAFETY: with the arguments that the program has given, or a status of ours where it wants none.
                let error = unsafe {
                    next(sent, send_count, send_type, to, send_tag, received, receive_count, receive_type, from,
                         receive_tag, communicator, status)
                };
                note(entered, error, |recorder| {
                    let bytes = [recorder.bytes(send_count.count(), send_type), recorder.bytes(receive_count.count(), receive_type)];
                    // SAFETY: the function has filled the status.
                    unsafe { recorder.exchanged(bytes, [to, from], [send_tag, receive_tag], communicator, status) };
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
                let status = own.unless_wanted(status);
                // SAFETY: with the arguments that the program has given, or a status of ours where it wants none.
                let error = unsafe { next(buffer, count, datatype, to, send_tag, from, receive_tag, communicator, status) };
                note(entered, error, |recorder| {
                    let bytes = recorder.bytes(count.count(), datatype);
                    // SAFETY: the function has filled the status.
                    unsafe { recorder.exchanged([bytes; 2], [to, from], [send_tag, receive_tag], communicator, status) };
                })
            }
        }
    };
}

replacing_sendrecvs!(small MPI_Sendrecv_replace);
replacing_sendrecvs!(large MPI_Sendrecv_replace_c);

impl Recorder {
    fn sent(&mut self, count: impl Count, datatype: Handle, to: c_int, tag: c_int, communicator: Handle) {
        let bytes = self.bytes(count.count(), datatype);
        if let Some(message) = self.message(to, tag, communicator, bytes) {
            self.write(&Call::Send(message));
        }
    }

    /// Notes a message that was begun, whose request is in memory.
    #[allow(clippy::too_many_arguments)] // as many as the function has
    unsafe fn begun(
        &mut self,
        sends: bool,
        count: impl Count,
        datatype: Handle,
        partner: c_int,
        tag: c_int,
        communicator: Handle,
        request: Address,
    ) {
        let bytes = self.bytes(count.count(), datatype);
        if let Some(message) = self.message(partner, tag, communicator, bytes) {
            // SAFETY: the function has written the handle there.
            let request = unsafe { self.abi.handle_at(request, 0) };
            self.begin(request, sends, message);
        }
    }

    /// A message that was received, from whom and with which tag its status says.
    ///
    /// # Safety
    /// There is a status that the library has filled.
    pub(crate) unsafe fn as_received(&self, message: Message, status: Address) -> Message {
        if message.partner.is_some() && message.tag.is_some() {
            return message;
        }
        // SAFETY: as the caller says.
        let (source, tag) = unsafe { self.abi.status_at(status, 0) };
        Message { partner: Some(source as u32), tag: Some(tag as u32), ..message }
    }

    /// Notes a message that was sent, and one that was received meanwhile; either may be none.
    ///
    /// # Safety
    /// There is a status that the library has filled.
    unsafe fn exchanged(
        &mut self,
        bytes: [u64; 2],
        [to, from]: [c_int; 2],
        tags: [c_int; 2],
        communicator: Handle,
        status: Address,
    ) {
        let send = self.message(to, tags[0], communicator, bytes[0]);
        let receive = self.message(from, tags[1], communicator, bytes[1]);
        // SAFETY: as the caller says.
        let receive = receive.map(|message| unsafe { self.as_received(message, status) });
        match (send, receive) {
            (Some(send), Some(receive)) => self.write(&Call::SendReceive(Box::new(Transfer { send, receive }))),
            (Some(send), None) => self.write(&Call::Send(send)),
            (None, Some(receive)) => self.write(&Call::Receive(receive)),
            (None, None) => {}
        }
    }
}

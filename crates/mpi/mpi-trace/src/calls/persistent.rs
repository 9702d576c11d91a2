//! Requests that are created once and started repeatedly: each start is recorded as the send or receive that it begins.

use crate::recorder::{Address, Envelope, Recorder, envelope};
use crate::requests::{Kind, Persistent};
use crate::wrapped::noted;

noted! {
    MPI_Send_init / MPI_Send_init_c(_buffer: Address, count: Count, datatype: Handle, to: Int, tag: Int, communicator: Handle, request: Address)
        |recorder| recorder.made(true, envelope(count, datatype, to, tag, communicator), request);
    MPI_Bsend_init / MPI_Bsend_init_c(_buffer: Address, count: Count, datatype: Handle, to: Int, tag: Int, communicator: Handle, request: Address)
        |recorder| recorder.made(true, envelope(count, datatype, to, tag, communicator), request);
    MPI_Ssend_init / MPI_Ssend_init_c(_buffer: Address, count: Count, datatype: Handle, to: Int, tag: Int, communicator: Handle, request: Address)
        |recorder| recorder.made(true, envelope(count, datatype, to, tag, communicator), request);
    MPI_Rsend_init / MPI_Rsend_init_c(_buffer: Address, count: Count, datatype: Handle, to: Int, tag: Int, communicator: Handle, request: Address)
        |recorder| recorder.made(true, envelope(count, datatype, to, tag, communicator), request);
    MPI_Recv_init / MPI_Recv_init_c(_buffer: Address, count: Count, datatype: Handle, from: Int, tag: Int, communicator: Handle, request: Address)
        |recorder| recorder.made(false, envelope(count, datatype, from, tag, communicator), request);
    MPI_Start(request: Address) |recorder| recorder.started(request, 0);
    MPI_Startall(count: Int, requests: Address) |recorder| (0..count.max(0) as usize).for_each(|place| recorder.started(requests, place));
}

impl Recorder {
    /// Records what a request in memory will start.
    unsafe fn made(&mut self, sends: bool, envelope: Envelope, request: Address) {
        if let Some(message) = self.message_of(envelope) {
            // SAFETY: the function has written the handle there.
            let request = unsafe { self.abi.handle_at(request, 0) };
            let kind = Kind::of(sends, &message);
            self.requests.add(self.abi.known(request), kind, Some(Persistent { sends, message }));
        }
    }

    /// Records that request number `place` of those in memory was started.
    unsafe fn started(&mut self, requests: Address, place: usize) {
        // SAFETY: the program has passed as many.
        let handle = self.abi.known(unsafe { self.abi.handle_at(requests, place) });
        let Some(known) = self.requests.get_mut(handle) else { return };
        if let Some(Persistent { sends, message }) = known.persistent {
            known.is_active = true;
            let number = known.number;
            self.write_begun(number, sends, message);
        }
    }
}

//! Requests that are waited for, tested and freed.

use std::ffi::{c_int, c_void};
use std::sync::atomic::Ordering;

use trace_format::Call;

use crate::abi::{Abi, Handle, STATUS_BYTES, Status};
use crate::computed::Sought;
use crate::recorder::{Address, NEED_STATUS, Recorder, recorder};
use crate::requests::Kind;
use crate::wrapped::{EntryTime, function, note};

/// The requests passed to a function, before it overwrites them, and statuses of our own, if the program ignores them
/// and their contents matter.
struct SavedRequests {
    handles: Vec<Handle>,
    own: Vec<u8>,
    statuses: Address,
    are_known: bool,
}

impl SavedRequests {
    /// # Safety
    /// There are `count` requests; `statuses` are as many, or the mark that they are ignored.
    unsafe fn new(count: usize, requests: Address, statuses: Address) -> SavedRequests {
        let known = recorder().and_then(|guard| guard.as_ref().map(|recorder| recorder.abi));
        let Some(abi) = known else {
            return SavedRequests { handles: Vec::new(), own: Vec::new(), statuses, are_known: false };
        };
        // SAFETY: guaranteed by the caller.
        let handles = (0..count).map(|place| unsafe { abi.handle_at(requests, place) }).collect();
        let is_ignored = statuses.addr() == abi.status_ignore;
        let mut saved = SavedRequests { handles, own: Vec::new(), statuses, are_known: !is_ignored };
        if is_ignored && NEED_STATUS.load(Ordering::Relaxed) > 0 {
            // One more, since even an empty array needs an address.
            saved.own = vec![0; (count + 1) * STATUS_BYTES];
            (saved.statuses, saved.are_known) = (saved.own.as_mut_ptr().cast(), true);
        }
        saved
    }

    /// The contents of status number `status`.
    ///
    /// # Safety
    /// The library has filled that status.
    unsafe fn status(&self, abi: &Abi, status: usize) -> Option<Status> {
        // SAFETY: guaranteed by the caller.
        self.are_known.then(|| unsafe { abi.status_at(self.statuses, status) })
    }

    /// Records that the requests at `places` are complete, with the statuses given by `status_of`.
    fn record_completed(&self, recorder: &mut Recorder, places: impl Iterator<Item = (usize, usize)>) {
        let abi = recorder.abi;
        let over = places.filter_map(|(place, status)| {
            let handle = *self.handles.get(place)?;
            // SAFETY: the library fills the statuses of requests that are over.
            (abi.known(handle) != abi.no_request).then(|| (handle, unsafe { self.status(&abi, status) }))
        });
        recorder.record_completed(over.collect::<Vec<_>>());
    }
}

/// The integer at an address.
///
/// # Safety
/// There is one.
unsafe fn int_at(address: *const c_void, place: usize) -> c_int {
    // SAFETY: guaranteed by the caller.
    unsafe { address.cast::<c_int>().add(place).read_unaligned() }
}

fn record_all_completed(entered: EntryTime, error: c_int, saved: &SavedRequests) -> c_int {
    note(entered, error, |recorder| {
        saved.record_completed(recorder, (0..saved.handles.len()).map(|place| (place, place)))
    })
}

function! {
    small MPI_Wait(request: Address, status: Address) entered, next => {
        // SAFETY: there is a request, and a status or none.
        let saved = unsafe { SavedRequests::new(1, request, status) };
        // SAFETY: these are the program's arguments, with a status of our own if it ignores that.
        let error = unsafe { next(request, saved.statuses) };
        record_all_completed(entered, error, &saved)
    }
}

function! {
    small MPI_Waitall(count: Int, requests: Address, statuses: Address) entered, next => {
        // SAFETY: there are `count` requests, and as many statuses or none.
        let saved = unsafe { SavedRequests::new(count.max(0) as usize, requests, statuses) };
        // SAFETY: as above.
        let error = unsafe { next(count, requests, saved.statuses) };
        record_all_completed(entered, error, &saved)
    }
}

function! {
    small MPI_Waitany(count: Int, requests: Address, index: Address, status: Address) entered, next => {
        // SAFETY: there are `count` requests, and one status or none.
        let saved = unsafe { SavedRequests::new(count.max(0) as usize, requests, status) };
        // SAFETY: as above.
        let error = unsafe { next(count, requests, index, saved.statuses) };
        note(entered, error, |recorder| {
            // SAFETY: the function has written the index; none is negative.
            let index = unsafe { int_at(index, 0) };
            saved.record_completed(recorder, usize::try_from(index).ok().map(|index| (index, 0)).into_iter());
        })
    }
}

function! {
    small MPI_Waitsome(count: Int, requests: Address, found: Address, indices: Address, statuses: Address) entered, next => {
        // SAFETY: there are `count` requests, and as many statuses or none.
        let saved = unsafe { SavedRequests::new(count.max(0) as usize, requests, statuses) };
        // SAFETY: as above.
        let error = unsafe { next(count, requests, found, indices, saved.statuses) };
        // SAFETY: the function has written how many there are.
        note(entered, error, |recorder| unsafe { record_some_completed(recorder, &saved, found, indices) })
    }
}

function! {
    small MPI_Test(request: Address, flag: Address, status: Address) entered, next => {
        // SAFETY: there is a request, and a status or none.
        let saved = unsafe { SavedRequests::new(1, request, status) };
        // SAFETY: as above.
        let error = unsafe { next(request, flag, saved.statuses) };
        // SAFETY: the function has written the flag.
        note(entered, error, |recorder| unsafe { record_test(recorder, &saved, flag, |recorder| saved.record_completed(recorder, [(0, 0)].into_iter())) })
    }
}

function! {
    small MPI_Testall(count: Int, requests: Address, flag: Address, statuses: Address) entered, next => {
        // SAFETY: there are `count` requests, and as many statuses or none.
        let saved = unsafe { SavedRequests::new(count.max(0) as usize, requests, statuses) };
        // SAFETY: as above.
        let error = unsafe { next(count, requests, flag, saved.statuses) };
        let all = (0..saved.handles.len()).map(|place| (place, place));
        // SAFETY: the function has written the flag.
        note(entered, error, |recorder| unsafe { record_test(recorder, &saved, flag, |recorder| saved.record_completed(recorder, all)) })
    }
}

function! {
    small MPI_Testany(count: Int, requests: Address, index: Address, flag: Address, status: Address) entered, next => {
        // SAFETY: there are `count` requests, and one status or none.
        let saved = unsafe { SavedRequests::new(count.max(0) as usize, requests, status) };
        // SAFETY: as above.
        let error = unsafe { next(count, requests, index, flag, saved.statuses) };
        note(entered, error, |recorder| {
            // SAFETY: the function has written the flag, and the index if it is set.
            unsafe {
                record_test(recorder, &saved, flag, |recorder| {
                    let index = usize::try_from(int_at(index, 0)).ok();
                    saved.record_completed(recorder, index.map(|index| (index, 0)).into_iter());
                });
            }
        })
    }
}

function! {
    small MPI_Testsome(count: Int, requests: Address, found: Address, indices: Address, statuses: Address) entered, next => {
        // SAFETY: there are `count` requests, and as many statuses or none.
        let saved = unsafe { SavedRequests::new(count.max(0) as usize, requests, statuses) };
        // SAFETY: as above.
        let error = unsafe { next(count, requests, found, indices, saved.statuses) };
        // SAFETY: the function has written how many there are.
        note(entered, error, |recorder| unsafe { record_some_completed(recorder, &saved, found, indices) })
    }
}

function! {
    small MPI_Request_free(request: Address) entered, next => {
        // SAFETY: there is a request.
        let saved = unsafe { SavedRequests::new(1, request, std::ptr::null_mut()) };
        // SAFETY: these are the program's arguments.
        let error = unsafe { next(request) };
        note(entered, error, |recorder| saved.handles.iter().for_each(|&handle| recorder.freed(handle)))
    }
}

function! {
    small MPI_Cancel(request: Address) entered, next => {
        // SAFETY: there is a request.
        let saved = unsafe { SavedRequests::new(1, request, std::ptr::null_mut()) };
        // SAFETY: these are the program's arguments.
        let error = unsafe { next(request) };
        note(entered, error, |recorder| saved.handles.iter().for_each(|&handle| recorder.cancelled(handle)))
    }
}

/// Records the result of a test.
///
/// # Safety
/// There is a flag.
unsafe fn record_test(
    recorder: &mut Recorder,
    saved: &SavedRequests,
    flag: Address,
    found: impl FnOnce(&mut Recorder),
) {
    // SAFETY: guaranteed by the caller.
    if unsafe { int_at(flag, 0) } != 0 {
        found(recorder)
    } else {
        recorder.record_unsuccessful_test(Sought::Requests(&saved.handles))
    }
}

/// Records which of several requests are complete.
///
/// # Safety
/// There are their number and as many indices.
unsafe fn record_some_completed(recorder: &mut Recorder, saved: &SavedRequests, found: Address, indices: Address) {
    // SAFETY: guaranteed by the caller. If no request was active, the number is negative.
    let found = usize::try_from(unsafe { int_at(found, 0) }).unwrap_or(0);
    if found == 0 {
        recorder.record_unsuccessful_test(Sought::Requests(&saved.handles));
    }
    // SAFETY: guaranteed by the caller.
    let places = (0..found).map(|status| (unsafe { int_at(indices, status) }.max(0) as usize, status));
    saved.record_completed(recorder, places);
}

impl Recorder {
    /// Records that no call will wait for a request.
    fn freed(&mut self, handle: Handle) {
        let handle = self.abi.known(handle);
        if let Some(known) = self.requests.forget(handle)
            && known.is_active
        {
            if known.needs_status() {
                NEED_STATUS.fetch_sub(1, Ordering::Relaxed);
            }
            self.write(&Call::Free(known.number));
        }
    }

    /// Records that the program asked for a request to be cancelled: its status tells whether it was, when it is
    /// complete. Sends can't be followed, since it is not known whether they have arrived.
    fn cancelled(&mut self, handle: Handle) {
        let handle = self.abi.known(handle);
        match self.requests.get_mut(handle).filter(|known| known.is_active) {
            Some(known) if matches!(known.kind, Kind::Receive | Kind::OpenReceive) => {
                if !known.needs_status() {
                    NEED_STATUS.fetch_add(1, Ordering::Relaxed);
                }
                known.is_cancelled = true;
            }
            _ => self.write(&Call::Unsupported("MPI_Cancel".into())),
        }
    }
}

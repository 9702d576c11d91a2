//! The state of the recorded process.

use std::ffi::c_int;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use mpi::{started_by_another, started_processes};
pub(crate) use mpi_preload::Address;
use mpi_preload::Function;
use trace_format::{
    CLOCK_VARIABLE, Call, Clock, Collective, CollectiveKind, FOLDER_VARIABLE, Header, Message, NOT_TRACED, encode,
    encode_header, file_name,
};

use crate::abi::{Abi, Handle, Status, identify};
use crate::computed::{Computed, Sought};
use crate::output::Output;
use crate::requests::{ByHandle, Kind, Requests};
use crate::wrapped::Count;

static RECORDER: Mutex<Option<Recorder>> = Mutex::new(None);
/// Whether there is a recorder.
static RECORDS: AtomicBool = AtomicBool::new(false);
/// How many active requests have statuses that matter, even if the program ignores them.
pub(crate) static NEED_STATUS: AtomicU32 = AtomicU32::new(0);
/// Whether the processor's clock is read.
static OF_PROCESSOR: AtomicBool = AtomicBool::new(false);

/// The state of the process.
pub(crate) struct Recorder {
    pub(crate) abi: Abi,
    output: Output,
    computed: Computed,
    /// When the program began. [ns]
    began: u64,
    /// When the call being recorded was entered. [ns]
    entered: u64,
    pub(crate) requests: Requests,
    communicators: ByHandle<u32>,
    /// The next number of a communicator.
    next_communicator: u32,
    /// Sizes of datatypes. [B]
    sizes: ByHandle<u64>,
    /// Messages that were found by `MPI_Mprobe` and have not been received yet.
    pub(crate) matched: ByHandle<Message>,
}

/// The time. [ns]
///
/// Elapsed time is read without a system call, in 25 ns. It counts waiting for a processor as computing, so with more
/// ranks than processors the thread's processor time is the right one: that takes a system call, about half a
/// microsecond.
pub(crate) fn now() -> u64 {
    let clock =
        if OF_PROCESSOR.load(Ordering::Relaxed) { libc::CLOCK_THREAD_CPUTIME_ID } else { libc::CLOCK_MONOTONIC };
    nanoseconds(clock)
}

fn nanoseconds(clock: libc::clockid_t) -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: both clocks exist on Linux, and the call writes to `time`.
    unsafe { libc::clock_gettime(clock, &raw mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// The recorder, if there is one.
pub(crate) fn recorder() -> Option<MutexGuard<'static, Option<Recorder>>> {
    if !RECORDS.load(Ordering::Relaxed) {
        return None;
    }
    Some(RECORDER.lock().unwrap_or_else(PoisonError::into_inner))
}

/// The exit status of a process that can't be traced.
const NOT_TRACED_STATUS: i32 = 2;

/// The folder to which this process writes, if it is traced.
fn folder() -> Option<PathBuf> {
    #[allow(clippy::disallowed_methods)] // the traced process gets its settings from its environment
    std::env::var_os(FOLDER_VARIABLE).map(PathBuf::from)
}

/// Ends the process, since it can't be traced: a program may run for hours, and all of it would be in vain.
fn refuse(folder: &Path, library: &str, hint: &str) -> ! {
    // All ranks write the same; where none can, the command says that there is no trace.
    let _ = std::fs::write(folder.join(NOT_TRACED), format!("{library}\n{hint}\n"));
    std::process::exit(NOT_TRACED_STATUS)
}

/// Ends the process before it initializes MPI, if it is to be traced and its library is one that can't be, or belongs
/// to another mpiexec.
pub(crate) fn refuse_other_libraries() {
    let Some(folder) = folder() else { return };
    let (abi, library, version) = identify();
    if abi.is_none() {
        let hint = "run it with an MPI of the standard ABI, libmpi_abi.so, such as MPICH 5: `pip install mpich` brings one; `mpicc_abi` \
                    compiles programs for it";
        refuse(&folder, &library, hint);
    }
    if let Some((processes, starter)) = started_by_another(&version) {
        refuse(&folder, &format!("{library}, but {starter} has started {processes} processes of it"), ITS_OWN_MPIEXEC);
    }
}

/// What helps where a program and an mpiexec do not belong together.
const ITS_OWN_MPIEXEC: &str = "start it with the mpiexec that comes with its library";

/// Begins to record, once MPI is initialized.
pub(crate) fn begin() {
    let Some(folder) = folder() else { return };
    let (Some(abi), library, _) = identify() else { return };
    if let Some((processes, starter)) = started_processes()
        && processes > 1
        && size_of_communicator(abi.world) == 1
    {
        let library = format!(
            "{library}, for which each of the {processes} processes that {starter} has started is the only one"
        );
        refuse(&folder, &library, ITS_OWN_MPIEXEC);
    }
    #[allow(clippy::disallowed_methods)] // as above
    let of_processor = std::env::var(CLOCK_VARIABLE).is_ok_and(|clock| clock == "cpu");
    OF_PROCESSOR.store(of_processor, Ordering::Relaxed);
    match Recorder::new(abi, &folder, of_processor) {
        Ok(new) => {
            *RECORDER.lock().unwrap_or_else(PoisonError::into_inner) = Some(new);
            RECORDS.store(true, Ordering::Relaxed);
        }
        Err(cause) => eprintln!("maquette: no trace can be written in {}: {cause}", folder.display()),
    }
}

/// Ends the trace: the program has finished.
pub(crate) fn end(entered: u64) {
    let Some(mut guard) = recorder() else { return };
    RECORDS.store(false, Ordering::Relaxed);
    if let Some(mut recorder) = guard.take() {
        recorder.entered = entered;
        let elapsed = nanoseconds(libc::CLOCK_MONOTONIC).saturating_sub(recorder.began);
        recorder.write(&Call::Finalize(elapsed));
        recorder.output.finish();
    }
}

/// The arguments with which MPI functions specify a message.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Envelope {
    pub(crate) count: u64,
    pub(crate) datatype: Handle,
    /// Its source or its destination.
    pub(crate) partner: c_int,
    pub(crate) tag: c_int,
    pub(crate) communicator: Handle,
}

/// These arguments in the order of the MPI functions.
pub(crate) fn envelope(
    count: impl Count,
    datatype: Handle,
    partner: c_int,
    tag: c_int,
    communicator: Handle,
) -> Envelope {
    Envelope { count: count.count(), datatype, partner, tag, communicator }
}

impl Recorder {
    fn new(abi: Abi, folder: &Path, of_processor: bool) -> std::io::Result<Recorder> {
        let (rank, size) = (rank_of(abi.world), size_of_communicator(abi.world));
        let mut output = Output::create(&folder.join(file_name(rank)))?;
        let clock = if of_processor { Clock::Processor } else { Clock::Monotonic };
        encode_header(Header { rank, size, clock }, &mut output);
        let mut communicators = ByHandle::default();
        communicators.insert(abi.world, trace_format::WORLD);
        communicators.insert(abi.itself, trace_format::ITSELF);
        let now = now();
        Ok(Recorder {
            abi,
            output,
            computed: Computed::new(now),
            began: nanoseconds(libc::CLOCK_MONOTONIC),
            entered: now,
            requests: Requests::default(),
            communicators,
            next_communicator: trace_format::ITSELF + 1,
            sizes: ByHandle::default(),
            matched: ByHandle::default(),
        })
    }

    /// A call was entered at `entered`, and is about to be recorded. [ns]
    pub(crate) fn enter(&mut self, entered: u64) {
        self.entered = entered;
    }

    /// The call has been recorded: computing continues.
    pub(crate) fn leave(&mut self) {
        self.computed.leave(self.entered, now());
    }

    /// Records a call.
    pub(crate) fn write(&mut self, call: &Call) {
        let gets = match call {
            Call::Receive(_) | Call::Probe(_) => Sought::Message,
            _ => Sought::Nothing,
        };
        self.write_by(gets, call);
    }

    /// Records a call by which the process obtains something.
    fn write_by(&mut self, gets: Sought<'_>, call: &Call) {
        encode(self.computed.before(self.entered, gets), call, &mut self.output);
    }

    /// Records a test that was unsuccessful.
    pub(crate) fn record_unsuccessful_test(&mut self, sought: Sought<'_>) {
        match sought {
            Sought::Requests(handles) => {
                let abi = self.abi;
                let known = handles.iter().map(|&handle| abi.known(handle)).filter(|&handle| handle != abi.no_request);
                self.computed.test_for_requests(self.entered, known);
            }
            _ => self.computed.test_for_message(self.entered),
        }
    }

    /// The number of a communicator. One that was never seen, since it was created by a nonblocking call, is recorded
    /// now.
    pub(crate) fn communicator(&mut self, handle: Handle) -> u32 {
        let handle = self.abi.known(handle);
        match self.communicators.get(&handle) {
            Some(&number) => number,
            None => self.new_communicator(handle),
        }
    }

    /// Records a communicator that was created.
    pub(crate) fn new_communicator(&mut self, handle: Handle) -> u32 {
        let handle = self.abi.known(handle);
        let number = self.next_communicator;
        self.next_communicator += 1;
        self.communicators.insert(handle, number);
        match members(handle, self.abi.world) {
            Some(members) => self.write(&Call::Communicator(number, members)),
            None => self.write(&Call::Unsupported("MPI_Intercomm_create".into())),
        }
        number
    }

    /// A communicator was freed: its handle may be reused.
    pub(crate) fn free_communicator(&mut self, handle: Handle) {
        self.communicators.remove(&self.abi.known(handle));
    }

    /// The size of `count` elements of a datatype. [B]
    pub(crate) fn bytes(&mut self, count: u64, datatype: Handle) -> u64 {
        let datatype = self.abi.known(datatype);
        let size = *self.sizes.entry(datatype).or_insert_with(|| size_of_datatype(datatype));
        count.saturating_mul(size)
    }

    /// A datatype was freed.
    pub(crate) fn free_datatype(&mut self, handle: Handle) {
        self.sizes.remove(&self.abi.known(handle));
    }

    /// The message specified by these arguments; none if it is to or from no process.
    pub(crate) fn message_of(&mut self, envelope: Envelope) -> Option<Message> {
        let Envelope { count, datatype, partner, tag, communicator } = envelope;
        let bytes = self.bytes(count, datatype);
        self.message(partner, tag, communicator, bytes)
    }

    /// A message as the program specifies it; none if it is to or from no process.
    pub(crate) fn message(&mut self, partner: c_int, tag: c_int, communicator: Handle, bytes: u64) -> Option<Message> {
        if partner == self.abi.no_process {
            return None;
        }
        let named = |number: c_int, any: c_int| (number != any).then_some(number as u32);
        let (partner, tag) = (named(partner, self.abi.any_source), named(tag, self.abi.any_tag));
        Some(Message { partner, tag, communicator: self.communicator(communicator), bytes })
    }

    /// Records that a request was begun.
    pub(crate) fn begin(&mut self, request: Handle, sends: bool, message: Message) {
        let number = self.requests.add(self.abi.known(request), Kind::of(sends, &message), None);
        self.write_begun(number, sends, message);
    }

    /// Records that a request was begun, or started again.
    pub(crate) fn write_begun(&mut self, number: u32, sends: bool, message: Message) {
        if Kind::of(sends, &message) == Kind::OpenReceive {
            NEED_STATUS.fetch_add(1, Ordering::Relaxed);
        }
        let call = if sends { Call::BeginSend } else { Call::BeginReceive };
        self.write(&call(number, message));
    }

    /// Records that requests are complete, each with its status, if known.
    pub(crate) fn record_completed(&mut self, requests: impl IntoIterator<Item = (Handle, Option<Status>)>) {
        let abi = self.abi;
        let requests: Vec<_> = requests.into_iter().map(|(handle, status)| (abi.known(handle), status)).collect();
        let handles: Vec<Handle> = requests.iter().map(|&(handle, _)| handle).collect();
        let mut ended = Vec::new();
        for (handle, status) in requests {
            let Some(known) = self.requests.end(handle) else { continue };
            if known.needs_status() {
                NEED_STATUS.fetch_sub(1, Ordering::Relaxed);
            }
            if known.is_cancelled && status.is_some_and(|status| is_cancelled(status.address)) {
                self.write_by(Sought::Requests(&handles), &Call::Cancelled(known.number));
                continue;
            }
            if known.kind == Kind::OpenReceive {
                let (source, tag) = status.map_or((0, 0), |status| (status.source, status.tag));
                let matched = Call::Matched(known.number, source as u32, tag as u32);
                self.write_by(Sought::Requests(&handles), &matched);
            }
            ended.push(known.number);
        }
        if !ended.is_empty() {
            self.write_by(Sought::Requests(&handles), &Call::Wait(ended.into()));
        }
    }

    /// Records a collective, with a request if it is nonblocking.
    pub(crate) fn collective(
        &mut self,
        kind: CollectiveKind,
        communicator: Handle,
        root: c_int,
        bytes: u64,
        counts: Vec<u64>,
        request: Option<Handle>,
    ) {
        let communicator = self.communicator(communicator);
        let collective =
            Box::new(Collective { kind, communicator, root: root.max(0) as u32, bytes, counts: counts.into() });
        let call = match request {
            Some(request) => {
                Call::BeginCollective(self.requests.add(self.abi.known(request), Kind::Collective, None), collective)
            }
            None => Call::Collective(collective),
        };
        self.write(&call);
    }
}

/// Whether a status is that of a request that was cancelled.
fn is_cancelled(status: Address) -> bool {
    static TEST: Function = Function::named(c"PMPI_Test_cancelled");
    let mut flag = 0;
    // SAFETY: this is the function's type in the standard, and the library has filled that status.
    let error = unsafe {
        let test: unsafe extern "C" fn(Address, *mut c_int) -> c_int = std::mem::transmute(TEST.address());
        test(status, &raw mut flag)
    };
    error == 0 && flag != 0
}

/// How many ranks a communicator has.
pub(crate) fn size_of_communicator(communicator: Handle) -> u32 {
    static SIZE: Function = Function::named(c"PMPI_Comm_size");
    query_integer(&SIZE, communicator).unwrap_or(1).max(1) as u32
}

/// The rank of this process in a communicator.
pub(crate) fn rank_of(communicator: Handle) -> u32 {
    static RANK: Function = Function::named(c"PMPI_Comm_rank");
    query_integer(&RANK, communicator).unwrap_or(0).max(0) as u32
}

fn size_of_datatype(datatype: Handle) -> u64 {
    static SIZE: Function = Function::named(c"PMPI_Type_size");
    query_integer(&SIZE, datatype).unwrap_or(0).max(0) as u64
}

/// The integer that a function returns for a handle.
fn query_integer(function: &Function, handle: Handle) -> Option<c_int> {
    let mut answer = 0;
    // SAFETY: every function passed to `query_integer` takes a handle and the address of an integer, and returns an
    // error code.
    let error = unsafe {
        let call: unsafe extern "C" fn(Handle, *mut c_int) -> c_int = std::mem::transmute(function.address());
        call(handle, &raw mut answer)
    };
    (error == 0).then_some(answer)
}

/// The ranks in `world` of a communicator's members, in its order; none for an intercommunicator.
fn members(communicator: Handle, world: Handle) -> Option<Box<[u32]>> {
    static IS_BETWEEN: Function = Function::named(c"PMPI_Comm_test_inter");
    static GROUP: Function = Function::named(c"PMPI_Comm_group");
    static TRANSLATE: Function = Function::named(c"PMPI_Group_translate_ranks");
    static FREE: Function = Function::named(c"PMPI_Group_free");
    type Group = unsafe extern "C" fn(Handle, *mut Handle) -> c_int;
    type Translate = unsafe extern "C" fn(Handle, c_int, *const c_int, Handle, *mut c_int) -> c_int;
    type Free = unsafe extern "C" fn(*mut Handle) -> c_int;
    if query_integer(&IS_BETWEEN, communicator).is_none_or(|between| between != 0) {
        return None;
    }
    let size = size_of_communicator(communicator) as c_int;
    let (from, mut into) = ((0..size).collect::<Vec<c_int>>(), vec![0; size as usize]);
    // A 32-bit handle is written to the lower half, on little-endian machines.
    let (mut own, mut all): (Handle, Handle) = (0, 0);
    // SAFETY: these are the functions' types in the standard; the arrays have as many integers as the communicator has
    // ranks.
    unsafe {
        let group: Group = std::mem::transmute(GROUP.address());
        let translate: Translate = std::mem::transmute(TRANSLATE.address());
        let free: Free = std::mem::transmute(FREE.address());
        group(communicator, &raw mut own);
        group(world, &raw mut all);
        translate(own, size, from.as_ptr(), all, into.as_mut_ptr());
        free(&raw mut own);
        free(&raw mut all);
    }
    Some(into.into_iter().map(|rank| rank as u32).collect())
}

/// The handle at an address, if calls are recorded.
pub(crate) fn handle_at(address: Address) -> Option<Handle> {
    let guard = recorder()?;
    let abi = guard.as_ref()?.abi;
    // SAFETY: the program has passed the address of a handle.
    Some(abi.known(unsafe { abi.handle_at(address, 0) }))
}

//! Which MPI library a process has, and how it represents handles, statuses and constants.

use std::ffi::{c_int, c_void};
use std::path::Path;

use mpi_abi::{
    MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_NULL, MPI_COMM_SELF, MPI_COMM_WORLD, MPI_MESSAGE_NO_PROC, MPI_PROC_NULL,
    MPI_REQUEST_NULL, MPI_Status,
};
use mpi_preload::{path_of_library, version_of_library};

pub(crate) use mpi_preload::Handle;

/// The contents of the status of a completed request, and its address.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Status {
    pub(crate) source: c_int,
    pub(crate) tag: c_int,
    pub(crate) address: *mut c_void,
}

/// The differences between the binary interfaces of MPI libraries.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Abi {
    /// The size of a handle in memory: 4 or 8. [B]
    handle_bytes: usize,
    /// The size of a status, and the offsets of its source and its tag. [B]
    status: [usize; 3],
    /// Marks of ignored statuses, for one request or for many.
    pub(crate) status_ignore: usize,
    pub(crate) any_source: c_int,
    pub(crate) any_tag: c_int,
    pub(crate) no_process: c_int,
    pub(crate) in_place: usize,
    pub(crate) world: Handle,
    pub(crate) itself: Handle,
    pub(crate) no_communicator: Handle,
    pub(crate) no_request: Handle,
    pub(crate) message_of_no_process: Handle,
}

impl Abi {
    /// The standard ABI, of MPI 5.0, chapter 21.
    pub(crate) const STANDARD: Abi = Abi {
        handle_bytes: size_of::<usize>(),
        status: [
            size_of::<MPI_Status>(),
            std::mem::offset_of!(MPI_Status, MPI_SOURCE),
            std::mem::offset_of!(MPI_Status, MPI_TAG),
        ],
        status_ignore: 0,
        any_source: MPI_ANY_SOURCE,
        any_tag: MPI_ANY_TAG,
        no_process: MPI_PROC_NULL,
        in_place: 1,
        world: MPI_COMM_WORLD.0,
        itself: MPI_COMM_SELF.0,
        no_communicator: MPI_COMM_NULL.0,
        no_request: MPI_REQUEST_NULL.0,
        message_of_no_process: MPI_MESSAGE_NO_PROC.0,
    };

    /// The ABI on which MPICH and its derivatives have agreed since 2014, `libmpi.so.12`, from its header.
    pub(crate) const MPICH: Abi = Abi {
        handle_bytes: 4,
        status: [20, 8, 12],
        status_ignore: 1,
        any_source: -2,
        any_tag: -1,
        no_process: -1,
        in_place: usize::MAX,
        world: 0x4400_0000,
        itself: 0x4400_0001,
        no_communicator: 0x0400_0000,
        no_request: 0x2c00_0000,
        message_of_no_process: 0x6c00_0000,
    };

    /// A handle as it was passed, reduced to its significant bits.
    pub(crate) fn known(&self, handle: Handle) -> Handle {
        if self.handle_bytes == 4 { handle & 0xffff_ffff } else { handle }
    }

    /// Handle number `place` of those in memory at `handles`.
    ///
    /// # Safety
    /// There are more than `place` handles.
    pub(crate) unsafe fn handle_at(&self, handles: *const c_void, place: usize) -> Handle {
        // SAFETY: guaranteed by the caller; a handle of this ABI has this many bytes.
        unsafe {
            match self.handle_bytes {
                4 => handles.cast::<u32>().add(place).read_unaligned() as Handle,
                _ => handles.cast::<Handle>().add(place).read_unaligned(),
            }
        }
    }

    /// Status number `place` of those in memory at `statuses`.
    ///
    /// # Safety
    /// There are more than `place` statuses.
    pub(crate) unsafe fn status_at(&self, statuses: *const c_void, place: usize) -> Status {
        let [bytes, source, tag] = self.status;
        // SAFETY: guaranteed by the caller; a status of this ABI has these bytes, and two integers there.
        unsafe {
            let address = statuses.byte_add(place * bytes).cast_mut();
            let int_at = |offset| address.byte_add(offset).cast::<c_int>().read_unaligned();
            Status { source: int_at(source), tag: int_at(tag), address }
        }
    }

    /// Whether a buffer is `MPI_IN_PLACE`: the data are in the other one.
    pub(crate) fn is_in_place(&self, buffer: *const c_void) -> bool {
        buffer.addr() == self.in_place
    }
}

/// The size of the largest status of any ABI. [B]
pub(crate) const STATUS_BYTES: usize = size_of::<MPI_Status>();

const _: () = assert!(Abi::MPICH.status[0] <= STATUS_BYTES);

/// Identifies the library of a process: its binary interface, if known, its name with its path, and its name and
/// version.
pub(crate) fn identify() -> (Option<Abi>, String, String) {
    let (path, version) = (path_of_library(), version_of_library());
    let name = Path::new(&path).file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let of_mpich = ["MPICH", "Intel(R) MPI", "CRAY MPICH", "MVAPICH"].iter().any(|known| version.starts_with(known));
    let abi = if name.starts_with("libmpi_abi.so") {
        Some(Abi::STANDARD)
    } else if of_mpich {
        Some(Abi::MPICH)
    } else {
        None
    };
    (abi, format!("{version}, {path}"), version)
}

//! The MPI library whose calls are recorded.

use std::path::Path;

use mpi_preload::{path_of_library, version_of_library};

use crate::abi::Abi;

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

//! Types and constants of the standard ABI of MPI: the common ground of programs and MPI libraries built separately.
//!
//! A program built against them runs with every library called `libmpi_abi`, and a library that defines the functions
//! of MPI with these types can be preloaded before one. This crate has no functions, and opens no library.
//!
//! Names and numbers are those of the standard: MPI: A Message-Passing Interface Standard, Version 5.0 (June 2025),
//! chapter 21, Application Binary Interface, and annex A.1, Defined Values and Handles. The tests compare each with a
//! library's `mpi_abi.h`.

#![allow(non_camel_case_types, non_snake_case)] // names as in the standard

mod address;
mod constants;
mod datatype;
mod error;
mod handles;
mod status;

pub use address::*;
pub use constants::*;
pub use datatype::*;
pub use error::*;
pub use handles::*;
pub use status::*;

/// The difference of two addresses. [B]
pub type MPI_Aint = isize;
/// A position in a file.
pub type MPI_Offset = i64;
/// A number of elements; holds each of the other two.
pub type MPI_Count = MPI_Offset;

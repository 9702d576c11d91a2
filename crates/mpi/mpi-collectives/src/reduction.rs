//! Operators of reductions, as the library applies them.

use std::ffi::{c_int, c_void};
use std::sync::atomic::{AtomicI32, Ordering};

use collectives::all_reduce::Combine;
use mpi_abi::*;

use crate::data::DatatypeLayout;
use crate::functions;

/// An alignment that suffices for every datatype. [B]
const ALIGNMENT: usize = align_of::<u128>();

/// An operator on elements of a datatype.
#[derive(Debug)]
pub(crate) struct Reduction {
    operator: MPI_Op,
    layout: DatatypeLayout,
    /// The library's error code.
    code: AtomicI32,
}

impl Reduction {
    pub(crate) const fn new(operator: MPI_Op, layout: DatatypeLayout) -> Reduction {
        Reduction { operator, layout, code: AtomicI32::new(MPI_SUCCESS) }
    }

    /// The library's error code of applying it.
    pub(crate) fn code(&self) -> c_int {
        self.code.load(Ordering::Relaxed)
    }

    /// Whether it is a predefined operator.
    pub(crate) fn is_predefined(&self) -> bool {
        self.operator.is_predefined()
    }

    /// Whether it is commutative.
    pub(crate) fn is_commutative(&self) -> bool {
        if self.operator == MPI_OP_NULL {
            return false;
        }
        let mut flag = 0;
        // SAFETY: the program has passed an operator; the library itself rejects an invalid one.
        let code = unsafe { functions::op_commutative(self.operator, &raw mut flag) };
        code == MPI_SUCCESS && flag != 0
    }
}

impl Combine for Reduction {
    fn name(&self) -> String {
        "the operator".to_owned()
    }

    fn element(&self) -> u64 {
        self.layout.size
    }

    /// `into` becomes `other` and `into` combined, in this order: the operator is commutative.
    fn combine(&self, into: &mut [u8], other: &[u8]) {
        let count = into.len().min(other.len()) as u64 / self.layout.size.max(1);
        let source = Aligned::of(other);
        let mut target = Aligned::of(into);
        let (from, to) = (
            source.as_ref().map_or(other.as_ptr(), Aligned::start),
            match &mut target {
                Some(copy) => copy.start_mut(),
                None => into.as_mut_ptr(),
            },
        );
        // SAFETY: both have this many elements of a plain datatype, and are aligned for any datatype.
        let code = unsafe {
            functions::reduce_local(
                from.cast::<c_void>(),
                to.cast::<c_void>(),
                count as MPI_Count,
                self.layout.datatype(),
                self.operator,
            )
        };
        if code != MPI_SUCCESS {
            self.code.store(code, Ordering::Relaxed);
        }
        if let Some(copy) = target {
            into.copy_from_slice(&copy.bytes()[..into.len()]);
        }
    }
}

/// A copy of bytes, aligned for every datatype.
struct Aligned(Vec<u128>);

impl Aligned {
    /// A copy of these; none if they are aligned already.
    fn of(bytes: &[u8]) -> Option<Aligned> {
        if bytes.as_ptr().addr().is_multiple_of(ALIGNMENT) {
            return None;
        }
        let mut copy = Aligned(vec![0; bytes.len().div_ceil(size_of::<u128>())]);
        copy.bytes_mut()[..bytes.len()].copy_from_slice(bytes);
        Some(copy)
    }

    fn start(&self) -> *const u8 {
        self.0.as_ptr().cast()
    }

    fn start_mut(&mut self) -> *mut u8 {
        self.0.as_mut_ptr().cast()
    }

    fn bytes(&self) -> &[u8] {
        // SAFETY: any bytes of integers are bytes.
        unsafe { std::slice::from_raw_parts(self.start(), size_of_val(&self.0[..])) }
    }

    fn bytes_mut(&mut self) -> &mut [u8] {
        let length = size_of_val(&self.0[..]);
        // SAFETY: any bytes of integers are bytes, and any bytes are integers.
        unsafe { std::slice::from_raw_parts_mut(self.start_mut(), length) }
    }
}

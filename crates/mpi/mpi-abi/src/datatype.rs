//! Datatypes, and the sizes of the predefined ones.

use std::ffi::{c_int, c_long, c_longlong, c_short, c_uint, c_ulong, c_ulonglong, c_ushort};

use crate::{MPI_Aint, MPI_Count, MPI_Offset};

/// A datatype: the contents of a message, and their layout in memory.
#[repr(transparent)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MPI_Datatype(pub usize);

/// A datatype that every library has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Predefined {
    /// Its name in the standard.
    pub name: &'static str,
    /// Its handle.
    pub datatype: MPI_Datatype,
    /// The size of one element in a message, as `MPI_Type_size` returns it; a pair has no padding there. [B]
    pub size: usize,
}

/// The size of an `int`. [B]
const INT: usize = size_of::<c_int>();
/// The size of a `long double`, on 64-bit Linux systems. If it has fewer digits it is padded. [B]
const LONG_DOUBLE: usize = 16;
/// The size of Fortran's default INTEGER, LOGICAL and REAL, unless `MPI_Abi_set_fortran_info` has set another. [B]
const FORTRAN: usize = 4;

/// Declares the predefined datatypes with their sizes.
macro_rules! datatypes {
    ($($name:ident = $value:literal: $size:expr,)*) => {
        $(
            #[doc = concat!("`", stringify!($name), "`")]
            pub const $name: MPI_Datatype = MPI_Datatype($value);
        )*

        impl MPI_Datatype {
            /// The datatypes that every library has, in order of their handles.
            pub const PREDEFINED: &'static [Predefined] =
                &[$(Predefined { name: stringify!($name), datatype: $name, size: $size }),*];
        }
    };
}

/// `MPI_DATATYPE_NULL`
pub const MPI_DATATYPE_NULL: MPI_Datatype = MPI_Datatype(0x200);

datatypes! {
    MPI_AINT = 0x201: size_of::<MPI_Aint>(),
    MPI_COUNT = 0x202: size_of::<MPI_Count>(),
    MPI_OFFSET = 0x203: size_of::<MPI_Offset>(),
    MPI_PACKED = 0x207: 1,
    MPI_SHORT = 0x208: size_of::<c_short>(),
    MPI_INT = 0x209: INT,
    MPI_LONG = 0x20a: size_of::<c_long>(),
    MPI_LONG_LONG = 0x20b: size_of::<c_longlong>(),
    MPI_UNSIGNED_SHORT = 0x20c: size_of::<c_ushort>(),
    MPI_UNSIGNED = 0x20d: size_of::<c_uint>(),
    MPI_UNSIGNED_LONG = 0x20e: size_of::<c_ulong>(),
    MPI_UNSIGNED_LONG_LONG = 0x20f: size_of::<c_ulonglong>(),
    MPI_FLOAT = 0x210: 4,
    MPI_C_FLOAT_COMPLEX = 0x212: 8,
    MPI_CXX_FLOAT_COMPLEX = 0x213: 8,
    MPI_DOUBLE = 0x214: 8,
    MPI_C_DOUBLE_COMPLEX = 0x216: 16,
    MPI_CXX_DOUBLE_COMPLEX = 0x217: 16,
    MPI_LOGICAL = 0x218: FORTRAN,
    MPI_INTEGER = 0x219: FORTRAN,
    MPI_REAL = 0x21a: FORTRAN,
    MPI_COMPLEX = 0x21b: 2 * FORTRAN,
    MPI_DOUBLE_PRECISION = 0x21c: 2 * FORTRAN,
    MPI_DOUBLE_COMPLEX = 0x21d: 4 * FORTRAN,
    MPI_CHARACTER = 0x21e: 1,
    MPI_LONG_DOUBLE = 0x220: LONG_DOUBLE,
    MPI_C_LONG_DOUBLE_COMPLEX = 0x224: 2 * LONG_DOUBLE,
    MPI_CXX_LONG_DOUBLE_COMPLEX = 0x225: 2 * LONG_DOUBLE,
    MPI_FLOAT_INT = 0x228: 4 + INT,
    MPI_DOUBLE_INT = 0x229: 8 + INT,
    MPI_LONG_INT = 0x22a: size_of::<c_long>() + INT,
    MPI_2INT = 0x22b: 2 * INT,
    MPI_SHORT_INT = 0x22c: size_of::<c_short>() + INT,
    MPI_LONG_DOUBLE_INT = 0x22d: LONG_DOUBLE + INT,
    MPI_2REAL = 0x230: 2 * FORTRAN,
    MPI_2DOUBLE_PRECISION = 0x231: 4 * FORTRAN,
    MPI_2INTEGER = 0x232: 2 * FORTRAN,
    MPI_C_BOOL = 0x238: 1,
    MPI_CXX_BOOL = 0x239: 1,
    MPI_WCHAR = 0x23c: 4,
    MPI_INT8_T = 0x240: 1,
    MPI_UINT8_T = 0x241: 1,
    MPI_CHAR = 0x243: 1,
    MPI_SIGNED_CHAR = 0x244: 1,
    MPI_UNSIGNED_CHAR = 0x245: 1,
    MPI_BYTE = 0x247: 1,
    MPI_INT16_T = 0x248: 2,
    MPI_UINT16_T = 0x249: 2,
    MPI_INT32_T = 0x250: 4,
    MPI_UINT32_T = 0x251: 4,
    MPI_INT64_T = 0x258: 8,
    MPI_UINT64_T = 0x259: 8,
    MPI_LOGICAL1 = 0x2c0: 1,
    MPI_INTEGER1 = 0x2c1: 1,
    MPI_LOGICAL2 = 0x2c8: 2,
    MPI_INTEGER2 = 0x2c9: 2,
    MPI_REAL2 = 0x2ca: 2,
    MPI_LOGICAL4 = 0x2d0: 4,
    MPI_INTEGER4 = 0x2d1: 4,
    MPI_REAL4 = 0x2d2: 4,
    MPI_COMPLEX4 = 0x2d3: 4,
    MPI_LOGICAL8 = 0x2d8: 8,
    MPI_INTEGER8 = 0x2d9: 8,
    MPI_REAL8 = 0x2da: 8,
    MPI_COMPLEX8 = 0x2db: 8,
    MPI_LOGICAL16 = 0x2e0: 16,
    MPI_INTEGER16 = 0x2e1: 16,
    MPI_REAL16 = 0x2e2: 16,
    MPI_COMPLEX16 = 0x2e3: 16,
    MPI_COMPLEX32 = 0x2eb: 32,
}

/// `MPI_LONG_LONG_INT`, another name for the same type.
pub const MPI_LONG_LONG_INT: MPI_Datatype = MPI_LONG_LONG;
/// `MPI_C_COMPLEX`, another name for the same type.
pub const MPI_C_COMPLEX: MPI_Datatype = MPI_C_FLOAT_COMPLEX;

impl MPI_Datatype {
    /// What is known about it without asking a library, if it is predefined.
    pub fn predefined(self) -> Option<&'static Predefined> {
        let place = Self::PREDEFINED.binary_search_by_key(&self, |predefined| predefined.datatype).ok()?;
        Some(&Self::PREDEFINED[place])
    }
}

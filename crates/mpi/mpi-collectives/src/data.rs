//! The program's data, and where received data go.

use std::ffi::c_void;

use bytes::Bytes;
use endpoint::Message;
use mpi::LentMemory;
use mpi_abi::*;
use mpi_preload::Address;

use crate::functions;

/// One more than the largest handle of a predefined datatype.
const HANDLES: usize = 0x300;
/// The sizes of predefined datatypes, by their handles, except those that a program can change: Fortran's. [B]
static SIZES: [u8; HANDLES] = sizes();

const fn sizes() -> [u8; HANDLES] {
    let (mut sizes, mut place) = ([0; HANDLES], 0);
    while place < MPI_Datatype::PREDEFINED.len() {
        let mpi_abi::Predefined { datatype, size, .. } = MPI_Datatype::PREDEFINED[place];
        let is_of_fortran = matches!(
            datatype,
            MPI_LOGICAL
                | MPI_INTEGER
                | MPI_REAL
                | MPI_COMPLEX
                | MPI_DOUBLE_PRECISION
                | MPI_DOUBLE_COMPLEX
                | MPI_2REAL
                | MPI_2DOUBLE_PRECISION
                | MPI_2INTEGER
        );
        if !is_of_fortran {
            sizes[datatype.0] = size as u8;
        }
        place += 1;
    }
    sizes
}

/// The properties of a datatype.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DatatypeLayout {
    datatype: MPI_Datatype,
    /// The size of one element in a message. [B]
    pub(crate) size: u64,
    /// The distance from one element to the next in memory. [B]
    extent: i64,
    /// Whether it has the same layout in memory as in a message.
    pub(crate) is_plain: bool,
}

impl DatatypeLayout {
    /// The layout of a datatype; none if the handle is null.
    pub(crate) fn of(datatype: MPI_Datatype) -> Option<DatatypeLayout> {
        if datatype == MPI_DATATYPE_NULL {
            return None;
        }
        let (mut size, mut lower, mut extent) = (0, 0, 0);
        // SAFETY: the program has passed a datatype; the library itself rejects an invalid one.
        let codes = unsafe {
            [
                functions::type_size(datatype, &raw mut size),
                functions::type_get_extent(datatype, &raw mut lower, &raw mut extent),
            ]
        };
        let is_plain = datatype.predefined().is_some() && lower == 0 && extent == size;
        let size = u64::try_from(size).ok()?;
        (codes == [MPI_SUCCESS; 2]).then_some(DatatypeLayout { datatype, size, extent, is_plain })
    }

    /// The size of one element of a datatype in a message; none if the handle is null. Of most predefined datatypes it
    /// is known without asking the library.
    pub(crate) fn size_of(datatype: MPI_Datatype) -> Option<u64> {
        match SIZES.get(datatype.0) {
            Some(&size) if size > 0 => Some(size.into()),
            _ => DatatypeLayout::of(datatype).map(|layout| layout.size),
        }
    }

    /// The program's handle.
    pub(crate) fn datatype(&self) -> MPI_Datatype {
        self.datatype
    }

    /// The same with our own handle, which remains when the program has freed its own.
    pub(crate) fn retained(self) -> Option<DatatypeLayout> {
        if self.is_plain {
            return Some(self);
        }
        let mut datatype = MPI_DATATYPE_NULL;
        // SAFETY: the program has passed a datatype, which is valid now.
        let code = unsafe { functions::type_dup(self.datatype, &raw mut datatype) };
        (code == MPI_SUCCESS).then_some(DatatypeLayout { datatype, ..self })
    }

    /// Frees our own handle.
    pub(crate) fn free(mut self) {
        if !self.is_plain {
            // SAFETY: it was made by `kept`, and nothing uses it any more.
            unsafe { functions::type_free(&raw mut self.datatype) };
        }
    }
}

/// Elements in the program's memory.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Elements {
    pub(crate) address: Address,
    pub(crate) count: u64,
    pub(crate) layout: DatatypeLayout,
}

impl Elements {
    /// Their size in a message. [B]
    pub(crate) fn bytes(&self) -> u64 {
        self.count.saturating_mul(self.layout.size)
    }

    /// `count` elements of the same datatype, `displacement` extents further.
    pub(crate) fn at(&self, displacement: i64, count: u64) -> Elements {
        let address = self.address.wrapping_byte_offset(displacement.wrapping_mul(self.layout.extent) as isize);
        Elements { address, count, ..*self }
    }

    /// The elements as a message, which is not copied if they are plain.
    ///
    /// # Safety
    /// The elements exist, and nothing changes them as long as the message exists.
    pub(crate) unsafe fn as_message(&self) -> Message {
        let length = self.bytes() as usize;
        if length == 0 {
            return Message::from(Vec::new());
        }
        if self.layout.is_plain {
            // SAFETY: guaranteed by the caller; what is sent from there is only read.
            let place = unsafe { LentMemory::new(self.address.cast(), length) };
            return Message::from(Bytes::from_owner(place));
        }
        // SAFETY: guaranteed by the caller.
        unsafe { self.copy_message() }
    }

    /// The elements as a message that is a copy.
    ///
    /// # Safety
    /// The elements exist.
    pub(crate) unsafe fn copy_message(&self) -> Message {
        let length = self.bytes() as usize;
        if length == 0 {
            return Message::from(Vec::new());
        }
        if self.layout.is_plain {
            // SAFETY: guaranteed by the caller, for this many bytes.
            return Message::from(unsafe { std::slice::from_raw_parts(self.address.cast::<u8>(), length) }.to_vec());
        }
        let mut packed = vec![0; length];
        let mut place = 0;
        // SAFETY: guaranteed by the caller; there is room for all of them, since the library writes nothing beside them
        // when it packs.
        unsafe {
            functions::pack(
                self.address,
                self.count as MPI_Count,
                self.layout.datatype,
                packed.as_mut_ptr().cast::<c_void>(),
                length as MPI_Count,
                &raw mut place,
                MPI_COMM_SELF,
            );
        }
        Message::from(packed)
    }

    /// Their place, if received data have the same layout there as in a message.
    ///
    /// # Safety
    /// There is room for them, and nothing else writes there as long as the place or a message in it exists.
    pub(crate) unsafe fn place(&self) -> Option<LentMemory> {
        // SAFETY: guaranteed by the caller.
        self.layout.is_plain.then(|| unsafe { LentMemory::new(self.address.cast(), self.bytes() as usize) })
    }

    /// Copies a message to where they are; returns whether it had the same length.
    ///
    /// # Safety
    /// There is room for them, and nothing else writes there.
    pub(crate) unsafe fn put(&self, message: &Message) -> bool {
        let (room, content) = (self.bytes() as usize, message.content().map_or(&[][..], |content| &content[..]));
        if content.len() > room {
            return false;
        }
        if content.is_empty() || content.as_ptr() == self.address.cast::<u8>() {
            return true;
        }
        if self.layout.is_plain {
            // SAFETY: guaranteed by the caller; a message that was lent is never laid on itself.
            unsafe { std::ptr::copy(content.as_ptr(), self.address.cast::<u8>(), content.len()) };
            return true;
        }
        let count = content.len() as u64 / self.layout.size.max(1);
        let mut place = 0;
        // SAFETY: guaranteed by the caller; what is unpacked was packed, or is as if it were.
        let code = unsafe {
            functions::unpack(
                content.as_ptr().cast::<c_void>(),
                content.len() as MPI_Count,
                &raw mut place,
                self.address,
                count as MPI_Count,
                self.layout.datatype,
                MPI_COMM_SELF,
            )
        };
        code == MPI_SUCCESS
    }
}

/// Whether the library packs elements without gaps or headers, so that packed and plain ones are the same.
pub(crate) fn packs_plainly() -> bool {
    let mut size = 0;
    // SAFETY: the handles are predefined, and the call writes a number.
    let code = unsafe { functions::pack_size(3, MPI_INT, MPI_COMM_SELF, &raw mut size) };
    code == MPI_SUCCESS && size == 3 * size_of::<std::ffi::c_int>() as MPI_Count
}

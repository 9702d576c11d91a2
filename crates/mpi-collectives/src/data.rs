//! Where the program has its data, and where what comes is to lie.

use std::ffi::c_void;

use bytes::Bytes;
use endpoint::Message;
use mpi::Place;
use mpi_abi::*;
use mpi_preload::Address;

use crate::functions;

/// What there is to know of a datatype.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Layout {
    datatype: MPI_Datatype,
    /// Of one in a message. [B]
    pub(crate) size: u64,
    /// From one to the next in memory. [B]
    extent: i64,
    /// Whether what is in memory is what is in a message.
    pub(crate) is_plain: bool,
}

impl Layout {
    /// That of a datatype; none if it is none.
    pub(crate) fn of(datatype: MPI_Datatype) -> Option<Layout> {
        if datatype == MPI_DATATYPE_NULL {
            return None;
        }
        let (mut size, mut lower, mut extent) = (0, 0, 0);
        // SAFETY: the program has given a datatype; the library itself complains of one that is none.
        let codes = unsafe {
            [
                functions::type_size(datatype, &raw mut size),
                functions::type_get_extent(datatype, &raw mut lower, &raw mut extent),
            ]
        };
        let is_plain = datatype.predefined().is_some() && lower == 0 && extent == size;
        let size = u64::try_from(size).ok()?;
        (codes == [MPI_SUCCESS; 2]).then_some(Layout { datatype, size, extent, is_plain })
    }

    /// The handle by which the program knows it.
    pub(crate) fn datatype(&self) -> MPI_Datatype {
        self.datatype
    }

    /// The same by a handle of our own, which is there when the program has freed its own.
    pub(crate) fn kept(self) -> Option<Layout> {
        if self.is_plain {
            return Some(self);
        }
        let mut datatype = MPI_DATATYPE_NULL;
        // SAFETY: the program has given a datatype, which is valid now.
        let code = unsafe { functions::type_dup(self.datatype, &raw mut datatype) };
        (code == MPI_SUCCESS).then_some(Layout { datatype, ..self })
    }

    /// Gives a handle of our own back.
    pub(crate) fn free(mut self) {
        if !self.is_plain {
            // SAFETY: it was made by `kept`, and nobody uses it any more.
            unsafe { functions::type_free(&raw mut self.datatype) };
        }
    }
}

/// Elements of the program.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Elements {
    pub(crate) address: Address,
    pub(crate) count: u64,
    pub(crate) layout: Layout,
}

impl Elements {
    /// How many bytes they are in a message. [B]
    pub(crate) fn bytes(&self) -> u64 {
        self.count.saturating_mul(self.layout.size)
    }

    /// `count` of the same datatype, so many extents further.
    pub(crate) fn at(&self, displacement: i64, count: u64) -> Elements {
        let address = self.address.wrapping_byte_offset(displacement.wrapping_mul(self.layout.extent) as isize);
        Elements { address, count, ..*self }
    }

    /// They as a message. Where they are plain it is not copied.
    ///
    /// # Safety
    /// They are there, and nobody changes them while there is the message.
    pub(crate) unsafe fn lent(&self) -> Message {
        let length = self.bytes() as usize;
        if length == 0 {
            return Message::from(Vec::new());
        }
        if self.layout.is_plain {
            // SAFETY: as the caller says; what is sent from there is only read.
            let place = unsafe { Place::new(self.address.cast(), length) };
            return Message::from(Bytes::from_owner(place));
        }
        // SAFETY: as the caller says.
        unsafe { self.copied() }
    }

    /// They as a message that is a copy.
    ///
    /// # Safety
    /// They are there.
    pub(crate) unsafe fn copied(&self) -> Message {
        let length = self.bytes() as usize;
        if length == 0 {
            return Message::from(Vec::new());
        }
        if self.layout.is_plain {
            // SAFETY: as the caller says, so many bytes.
            return Message::from(unsafe { std::slice::from_raw_parts(self.address.cast::<u8>(), length) }.to_vec());
        }
        let mut packed = vec![0; length];
        let mut place = 0;
        // SAFETY: as the caller says; there is room for all of them, since the library writes nothing beside them when it packs.
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

    /// Where they are, if what comes there lies as it does in a message.
    ///
    /// # Safety
    /// There is room for them, and nobody else writes there while there is the place or a message in it.
    pub(crate) unsafe fn place(&self) -> Option<Place> {
        // SAFETY: as the caller says.
        self.layout.is_plain.then(|| unsafe { Place::new(self.address.cast(), self.bytes() as usize) })
    }

    /// Lays a message where they are; says whether it was as long as they.
    ///
    /// # Safety
    /// There is room for them, and nobody else writes there.
    pub(crate) unsafe fn put(&self, message: &Message) -> bool {
        let (room, content) = (self.bytes() as usize, message.content().map_or(&[][..], |content| &content[..]));
        if content.len() > room {
            return false;
        }
        if content.is_empty() || content.as_ptr() == self.address.cast::<u8>() {
            return true;
        }
        if self.layout.is_plain {
            // SAFETY: as the caller says; a message that was lent is never laid on itself.
            unsafe { std::ptr::copy(content.as_ptr(), self.address.cast::<u8>(), content.len()) };
            return true;
        }
        let count = content.len() as u64 / self.layout.size.max(1);
        let mut place = 0;
        // SAFETY: as the caller says; what is unpacked was packed, or is as if it were.
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

/// Whether the library packs elements one behind the other with nothing beside them, so that packed ones and plain ones are the same.
pub(crate) fn packs_plainly() -> bool {
    let mut size = 0;
    // SAFETY: the handles are predefined, and the call writes a number.
    let code = unsafe { functions::pack_size(3, MPI_INT, MPI_COMM_SELF, &raw mut size) };
    code == MPI_SUCCESS && size == 3 * size_of::<std::ffi::c_int>() as MPI_Count
}

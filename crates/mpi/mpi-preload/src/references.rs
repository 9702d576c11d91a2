//! Which functions the program refers to: those that it may call.

use std::ffi::{CStr, c_char, c_int, c_void};

/// The tags of the entries of a dynamic section that matter here.
const END: i64 = 0;
const SIZE_OF_CALLS: i64 = 2;
const TEXTS: i64 = 5;
const SYMBOLS: i64 = 6;
const RELOCATIONS: i64 = 7;
const SIZE_OF_RELOCATIONS: i64 = 8;
const CALLS: i64 = 23;

/// An entry of a dynamic section: a tag, and a number or an address.
#[repr(C)]
#[derive(Clone, Copy)]
struct DynamicEntry {
    tag: i64,
    value: u64,
}

/// A place that the loader fills, and the symbol to which it refers.
#[repr(C)]
#[derive(Clone, Copy)]
struct Relocation {
    place: u64,
    info: u64,
    addend: i64,
}

/// What is searched for, and whether it was found.
struct Search<'a> {
    names: &'a [&'a str],
    found: bool,
}

/// Whether the program, or a library that it has loaded, refers to one of these functions without defining it: whether
/// it may call one. A function that it looks up by its name, or calls from a library that it loads later, is not found.
pub fn refers_to_any(names: &[&str]) -> bool {
    let mut search = Search { names, found: false };
    // SAFETY: `examine` is called with this pointer, and only during this call.
    unsafe { libc::dl_iterate_phdr(Some(examine), (&raw mut search).cast()) };
    search.found
}

/// Examines a loaded object; ends the iteration if it refers to one of the functions.
unsafe extern "C" fn examine(info: *mut libc::dl_phdr_info, _: libc::size_t, search: *mut c_void) -> c_int {
    // SAFETY: the loader hands over a description of a loaded object, with this many headers, and the pointer from
    // `refers_to_any`.
    let (info, search) = unsafe { (&*info, &mut *search.cast::<Search<'_>>()) };
    // SAFETY: as above.
    let headers = unsafe { std::slice::from_raw_parts(info.dlpi_phdr, usize::from(info.dlpi_phnum)) };
    if let Some(dynamic) = headers.iter().find(|header| header.p_type == libc::PT_DYNAMIC) {
        let start = info.dlpi_addr.wrapping_add(dynamic.p_vaddr);
        // SAFETY: the section of a loaded object lies there.
        search.found |= unsafe { Dynamic::of(start, info.dlpi_addr).refers_to(search.names) };
    }
    c_int::from(search.found)
}

/// What the dynamic section of an object says.
#[derive(Default)]
struct Dynamic {
    texts: u64,
    symbols: u64,
    /// Two tables: where each is, and its length. [B]
    relocations: [(u64, u64); 2],
}

impl Dynamic {
    /// Reads the section at `start` of the object that is loaded at `base`.
    ///
    /// # Safety
    /// There is one.
    unsafe fn of(start: u64, base: u64) -> Dynamic {
        // Some loaders write the address of a table into the section, others leave it relative to the object.
        let absolute = |address: u64| if address < base { base + address } else { address };
        let mut dynamic = Dynamic::default();
        let mut place: *const DynamicEntry = std::ptr::with_exposed_provenance(start as usize);
        loop {
            // SAFETY: guaranteed by the caller; the last entry says that it is the last.
            let DynamicEntry { tag, value } = unsafe { place.read() };
            match tag {
                END => return dynamic,
                TEXTS => dynamic.texts = absolute(value),
                SYMBOLS => dynamic.symbols = absolute(value),
                RELOCATIONS => dynamic.relocations[0].0 = absolute(value),
                SIZE_OF_RELOCATIONS => dynamic.relocations[0].1 = value,
                CALLS => dynamic.relocations[1].0 = absolute(value),
                SIZE_OF_CALLS => dynamic.relocations[1].1 = value,
                _ => {}
            }
            place = place.wrapping_add(1);
        }
    }

    /// Whether one of the places that the loader fills is for one of these functions, defined elsewhere.
    ///
    /// # Safety
    /// The object is loaded.
    unsafe fn refers_to(&self, names: &[&str]) -> bool {
        if self.texts == 0 || self.symbols == 0 {
            return false;
        }
        self.relocations.iter().filter(|(start, _)| *start > 0).any(|&(start, length)| {
            let count = length as usize / size_of::<Relocation>();
            // SAFETY: the section says that so many are there.
            let all = unsafe {
                std::slice::from_raw_parts(std::ptr::with_exposed_provenance::<Relocation>(start as usize), count)
            };
            // SAFETY: the object is loaded, and its places refer to its own symbols.
            all.iter().any(|relocation| unsafe { self.is_undefined(relocation.info >> 32, names) })
        })
    }

    /// Whether a symbol is one of these, and not defined in the object.
    ///
    /// # Safety
    /// There is a symbol of this number.
    unsafe fn is_undefined(&self, number: u64, names: &[&str]) -> bool {
        let symbols: *const libc::Elf64_Sym = std::ptr::with_exposed_provenance(self.symbols as usize);
        // SAFETY: guaranteed by the caller.
        let symbol = unsafe { symbols.add(number as usize).read() };
        if number == 0 || symbol.st_shndx != 0 {
            return false;
        }
        let texts: *const c_char = std::ptr::with_exposed_provenance(self.texts as usize);
        // SAFETY: a symbol's name is a text in that table.
        let name = unsafe { CStr::from_ptr(texts.add(symbol.st_name as usize)) };
        names.iter().any(|wanted| wanted.as_bytes() == name.to_bytes())
    }
}

//! Where the functions of the MPI library are, and which library it is.

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::path::Path;
use std::sync::atomic::{AtomicPtr, Ordering};

/// A function of the MPI library, looked up when first called.
#[derive(Debug)]
pub struct Function {
    name: &'static CStr,
    address: AtomicPtr<c_void>,
}

impl Function {
    /// The function of this name.
    pub const fn named(name: &'static CStr) -> Function {
        Function { name, address: AtomicPtr::new(std::ptr::null_mut()) }
    }

    /// Whether a library has it.
    pub fn exists(&self) -> bool {
        !self.address.load(Ordering::Relaxed).is_null() || !look_up(self.name).is_null()
    }

    /// Its address. If no library has it the process can't continue: it has called a function that does not exist.
    pub fn address(&self) -> *mut c_void {
        let known = self.address.load(Ordering::Relaxed);
        if !known.is_null() {
            return known;
        }
        let found = look_up(self.name);
        if found.is_null() {
            eprintln!(
                "maquette: the program calls {}, which its MPI library does not have",
                self.name.to_string_lossy()
            );
            std::process::abort();
        }
        self.address.store(found, Ordering::Relaxed);
        found
    }
}

/// A function after this library, or of an MPI library that a part of the program has loaded for itself, as Python's
/// extensions do.
fn look_up(name: &CStr) -> *mut c_void {
    // SAFETY: the name is a text that ends with a zero.
    let next = unsafe { libc::dlsym(libc::RTLD_NEXT, name.as_ptr()) };
    if !next.is_null() {
        return next;
    }
    let mut library: Option<CString> = None;
    // SAFETY: `note_mpi` is called with this pointer, and only during this call.
    unsafe { libc::dl_iterate_phdr(Some(note_mpi), (&raw mut library).cast()) };
    let Some(library) = library else { return std::ptr::null_mut() };
    // SAFETY: the path is a text that ends with a zero; a library already loaded is only found again, and stays.
    unsafe {
        let handle = libc::dlopen(library.as_ptr(), libc::RTLD_LAZY | libc::RTLD_NOLOAD);
        if handle.is_null() { handle } else { libc::dlsym(handle, name.as_ptr()) }
    }
}

/// Notes the path of a loaded library if it is one of MPI.
unsafe extern "C" fn note_mpi(info: *mut libc::dl_phdr_info, _: libc::size_t, found: *mut c_void) -> c_int {
    // SAFETY: the loader hands over a description whose name is a text, and the pointer from `look_up`.
    let (path, found) = unsafe { (CStr::from_ptr((*info).dlpi_name), &mut *found.cast::<Option<CString>>()) };
    if is_mpi(path) {
        *found = Some(path.to_owned());
    }
    c_int::from(found.is_some())
}

fn is_mpi(path: &CStr) -> bool {
    let path = path.to_string_lossy();
    let name = Path::new(&*path).file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    ["libmpi_abi.so", "libmpi.so", "libmpich.so"].iter().any(|known| name.starts_with(known))
}

/// The file of the MPI library of this process.
pub fn path_of_library() -> String {
    static INIT: Function = Function::named(c"PMPI_Init");
    path_of(INIT.address())
}

/// The file that contains an address.
fn path_of(address: *mut c_void) -> String {
    let mut info = libc::Dl_info {
        dli_fname: std::ptr::null(),
        dli_fbase: std::ptr::null_mut(),
        dli_sname: std::ptr::null(),
        dli_saddr: std::ptr::null_mut(),
    };
    // SAFETY: the loader fills `info`; the name is a text that lives as long as the library.
    unsafe {
        if libc::dladdr(address, &raw mut info) == 0 || info.dli_fname.is_null() {
            return String::new();
        }
        CStr::from_ptr(info.dli_fname).to_string_lossy().into_owned()
    }
}

/// The name and version of the MPI library, in a line.
pub fn version_of_library() -> String {
    type GetVersion = unsafe extern "C" fn(*mut c_char, *mut c_int) -> c_int;
    static GET_VERSION: Function = Function::named(c"PMPI_Get_library_version");
    // As long as any library of any ABI may make it.
    let (mut text, mut length) = (vec![0_u8; 1 << 14], 0);
    // SAFETY: this is the function's type in the standard, and the text has more room than it may need.
    unsafe {
        let get: GetVersion = std::mem::transmute(GET_VERSION.address());
        get(text.as_mut_ptr().cast(), &raw mut length);
    }
    let end = text.iter().position(|&byte| byte == 0).unwrap_or_default();
    let text = String::from_utf8_lossy(&text[..end]).replace("Version:", "");
    text.lines().next().unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(" ")
}

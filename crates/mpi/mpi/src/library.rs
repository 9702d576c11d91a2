//! A library of MPI, opened at run time.

use std::ffi::{c_char, c_int};
use std::fmt;
use std::path::{Path, PathBuf};

use mpi_abi::{MPI_ABI_VERSION, MPI_MAX_LIBRARY_VERSION_STRING, MPI_SUCCESS};

use crate::functions::Functions;
use crate::search::{self, Candidate};

/// Why no library was opened.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OpenError {
    /// No library was found.
    #[error(
        "no MPI library with the standard ABI of MPI 5 was found: {looked}{started}; install one, as `pip install mpich` does, and \
         start with its mpiexec, or name it with --mpi-library or {variable}",
        variable = search::LIBRARY_VARIABLE
    )]
    NoneFound {
        /// The places that were searched.
        looked: String,
        /// What is known about the launcher of this process, as the end of a sentence.
        started: String,
    },
    /// The library that was named, or found, can't be opened.
    #[error("{} can't be opened: {problem}", .path.display())]
    Unreadable {
        /// Its path.
        path: PathBuf,
        /// The loader's error.
        problem: String,
    },
    /// The library does not have the standard ABI.
    #[error(
        "{} is not an MPI library with the standard ABI: {problem}. MPICH has one from version 5 on, called libmpi_abi.so \
         (`pip install mpich`), and compiles programs for it with `mpicc_abi`; Open MPI 5 and older MPICH have none",
        .path.display()
    )]
    NotTheAbi {
        /// Its path.
        path: PathBuf,
        /// What it lacks.
        problem: String,
    },
    /// This process has initialized MPI with another library.
    #[error(
        "this process has already initialized MPI with {}, and cannot use {} beside it: a process has one MPI library. mpi4py from PyPI \
         brings one without the standard ABI; `MPICC=mpicc_abi pip install --no-binary=mpi4py mpi4py` builds it for that ABI",
        .active.display(), .path.display()
    )]
    OtherHasBegun {
        /// The library that was to be opened.
        path: PathBuf,
        /// The library that the process uses already.
        active: PathBuf,
    },
}

/// A library of MPI that was opened. It stays open until the process ends.
#[derive(Clone)]
pub struct Library {
    pub(crate) functions: &'static Functions,
    path: PathBuf,
}

type Initialized = unsafe extern "C" fn(*mut c_int) -> c_int;
type AbiVersion = unsafe extern "C" fn(*mut c_int, *mut c_int) -> c_int;

impl Library {
    /// Opens the library at `named`, or the first of these: the one named by the variable `MAQUETTE_MPI_LIBRARY`, the
    /// one with which this process has initialized MPI, the one beside the mpiexec that started the process, the one
    /// that the loader finds, and the one of the environment in which this program is installed.
    ///
    /// # Errors
    /// [`OpenError`].
    pub fn open(named: Option<&Path>) -> Result<Library, OpenError> {
        let active = search::loaded().into_iter().find(|path| is_initialized(path));
        let library = match named.map(Path::to_path_buf).or_else(search::of_variable) {
            Some(path) => Library::at(&path)?,
            None => match active.as_deref().map(Library::at) {
                Some(Ok(library)) => library,
                _ => Library::found()?,
            },
        };
        match active {
            Some(active) if !library.is_initialized() => Err(OpenError::OtherHasBegun { path: library.path, active }),
            _ => Ok(library),
        }
    }

    /// Opens the first library that the search finds.
    fn found() -> Result<Library, OpenError> {
        let candidates = search::candidates();
        for candidate in &candidates {
            match candidate {
                Candidate::File(path) if !path.exists() => {}
                Candidate::File(path) => return Library::at(path),
                Candidate::OfTheLoader(name) => match Library::at(Path::new(name)) {
                    Err(OpenError::Unreadable { .. }) => {}
                    opened => return opened,
                },
            }
        }
        let looked: Vec<String> = candidates.iter().map(ToString::to_string).collect();
        Err(OpenError::NoneFound { looked: format!("neither {}", looked.join(" nor ")), started: search::started_by() })
    }

    fn at(path: &Path) -> Result<Library, OpenError> {
        let not = |problem: String| OpenError::NotTheAbi { path: path.to_path_buf(), problem };
        // SAFETY: a library may do anything when it is opened; MPI libraries only initialize themselves.
        let library = unsafe { libloading::Library::new(path) }
            .map_err(|error| OpenError::Unreadable { path: path.to_path_buf(), problem: loader_error(path, &error) })?;
        // SAFETY: it is called only where a library has it, and there it has this type by the standard.
        let version = unsafe { library.get::<AbiVersion>(b"MPI_Abi_get_version\0") };
        let version = *version.map_err(|_| not("it has no function MPI_Abi_get_version".to_owned()))?;
        let (mut major, mut minor) = (-1, -1);
        // SAFETY: it can be called at any time, even before MPI has begun, and writes two integers.
        let code = unsafe { version(&raw mut major, &raw mut minor) };
        if code != MPI_SUCCESS || major != MPI_ABI_VERSION {
            return Err(not(format!(
                "it has {}, and version {MPI_ABI_VERSION}.0 is needed",
                // A library without the standard ABI reports -1.
                if major < 0 { "an ABI of its own".to_owned() } else { format!("version {major}.{minor} of it") }
            )));
        }
        // SAFETY: the library has just reported the standard ABI, and is left open for ever below.
        let functions = unsafe { Functions::of(&library) }.map_err(|name| not(format!("it has no function {name}")))?;
        std::mem::forget(library);
        // Lives as long as the library: every request refers to it.
        let functions = Box::leak(Box::new(functions));
        Ok(Library { functions, path: path.to_path_buf() })
    }

    /// Whether this process has initialized MPI with it.
    pub(crate) fn is_initialized(&self) -> bool {
        let mut is_initialized = 0;
        // SAFETY: it can be called at any time, and writes an integer.
        let code = unsafe { (self.functions.initialized)(&raw mut is_initialized) };
        code == MPI_SUCCESS && is_initialized != 0
    }

    /// The path of the library.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The library's name and version, in a line.
    pub fn version(&self) -> String {
        let text = read_text(MPI_MAX_LIBRARY_VERSION_STRING, |text, length| {
            // SAFETY: it can be called at any time; the text has the length that the standard requires.
            unsafe { (self.functions.get_library_version)(text, length) }
        });
        let first = text.lines().next().unwrap_or_default().replace("Version:", "");
        first.split_whitespace().collect::<Vec<&str>>().join(" ")
    }
}

/// Whether this process has initialized MPI with a library that it has loaded, of whatever ABI.
fn is_initialized(path: &Path) -> bool {
    // SAFETY: the library is loaded already, so opening it again runs none of its code.
    let Ok(library) = (unsafe { libloading::Library::new(path) }) else { return false };
    // SAFETY: in an MPI library the function of this name has this type, whatever the ABI.
    let Ok(initialized) = (unsafe { library.get::<Initialized>(b"MPI_Initialized\0") }) else { return false };
    let mut is_initialized = 0;
    // SAFETY: it can be called at any time, and writes an integer.
    let code = unsafe { initialized(&raw mut is_initialized) };
    code == MPI_SUCCESS && is_initialized != 0
}

impl fmt::Debug for Library {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Library").field("path", &self.path).finish_non_exhaustive()
    }
}

/// The text of at most `longest` bytes that `write` writes with its length; nothing if it fails.
pub(crate) fn read_text(longest: c_int, write: impl FnOnce(*mut c_char, *mut c_int) -> c_int) -> String {
    let mut text = vec![0u8; usize::try_from(longest).unwrap_or(0)];
    let mut length = 0;
    let code = write(text.as_mut_ptr().cast(), &raw mut length);
    let length = if code == MPI_SUCCESS { usize::try_from(length).unwrap_or(0) } else { 0 };
    String::from_utf8_lossy(&text[..length.min(text.len())]).into_owned()
}

/// The loader's error, without the path in front.
fn loader_error(path: &Path, error: &libloading::Error) -> String {
    let cause = match error {
        libloading::Error::DlOpen { desc } => format!("{desc:?}").trim_matches('"').to_owned(),
        other => other.to_string(),
    };
    cause.strip_prefix(&format!("{}: ", path.display())).map_or(cause.clone(), str::to_owned)
}

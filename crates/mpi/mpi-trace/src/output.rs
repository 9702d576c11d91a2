//! The file to which calls are written, which survives whatever happens to the process.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::AsRawFd;
use std::path::Path;

use trace_format::Sink;

/// How much of the file is mapped at once. [B]
const WINDOW: usize = 1 << 20;

/// A file written through memory shared with the system: what is put there is in the file from then on, even if the
/// process is killed, and costs no system call except from one window to the next.
pub(crate) struct Output {
    file: File,
    window: *mut u8,
    /// Where the window begins in the file. [B]
    start: u64,
    /// How much of the window has been written. [B]
    written: usize,
    /// Whether writing failed, for example on a full disk: nothing more is written.
    failed: bool,
}

// SAFETY: the window belongs to this file alone, and a writer holds the file exclusively.
unsafe impl Send for Output {}

impl Output {
    /// A new file.
    pub(crate) fn create(path: &Path) -> io::Result<Output> {
        let file = OpenOptions::new().read(true).write(true).create(true).truncate(true).open(path)?;
        let mut output = Output { file, window: std::ptr::null_mut(), start: 0, written: 0, failed: false };
        output.open_window()?;
        Ok(output)
    }

    fn open_window(&mut self) -> io::Result<()> {
        // A full disk is reported now: writing to mapped memory without room in the file kills the process.
        // SAFETY: the file is open.
        let error =
            unsafe { libc::posix_fallocate(self.file.as_raw_fd(), self.start as libc::off_t, WINDOW as libc::off_t) };
        if error != 0 {
            return Err(io::Error::from_raw_os_error(error));
        }
        // SAFETY: a new mapping, of an existing part of the file; the system puts it where nothing else is.
        let window = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                WINDOW,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_SHARED | libc::MAP_POPULATE,
                self.file.as_raw_fd(),
                self.start as libc::off_t,
            )
        };
        if window == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        self.window = window.cast();
        Ok(())
    }

    fn close_window(&mut self) {
        if !self.window.is_null() {
            // SAFETY: it was mapped with this length, and is not used again.
            unsafe { libc::munmap(self.window.cast(), WINDOW) };
            self.window = std::ptr::null_mut();
        }
    }

    /// Truncates the file after its last byte.
    pub(crate) fn finish(mut self) {
        self.close_window();
        // After the last call there are zeros, which mean to a reader that the process did not finish; it has.
        let _ = self.file.set_len(self.start + self.written as u64);
    }
}

impl Sink for Output {
    fn put(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() && !self.failed {
            let room = WINDOW - self.written;
            let (now, later) = bytes.split_at(bytes.len().min(room));
            // SAFETY: the window has room for as many bytes, and does not overlap the source.
            unsafe { std::ptr::copy_nonoverlapping(now.as_ptr(), self.window.add(self.written), now.len()) };
            self.written += now.len();
            bytes = later;
            if self.written == WINDOW {
                self.close_window();
                (self.start, self.written) = (self.start + WINDOW as u64, 0);
                if let Err(cause) = self.open_window() {
                    eprintln!("maquette: the trace can't be written any further: {cause}");
                    self.failed = true;
                }
            }
        }
    }
}

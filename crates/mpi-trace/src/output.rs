//! The file that calls are written to, which is kept whatever becomes of the process.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::AsRawFd;
use std::path::Path;

use trace_format::Sink;

/// As much of the file is in memory at once. [B]
const WINDOW: usize = 1 << 20;

/// A file that is written by way of memory which the system shares with it: what was put there is in the file from then on, also if the
/// process is killed, and costs no call of the system but where one window follows another.
pub(crate) struct Output {
    file: File,
    window: *mut u8,
    /// Where the window begins in the file. [B]
    start: u64,
    /// How much of the window is written. [B]
    written: usize,
    /// Whether the disk was full or the like: nothing more is written.
    failed: bool,
}

// SAFETY: the window is this file's alone, and whoever writes to it holds the file exclusively.
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
        // Where the disk is full, that is said now: memory that has no room in the file kills the process that writes to it.
        // SAFETY: the file is open.
        let error =
            unsafe { libc::posix_fallocate(self.file.as_raw_fd(), self.start as libc::off_t, WINDOW as libc::off_t) };
        if error != 0 {
            return Err(io::Error::from_raw_os_error(error));
        }
        // SAFETY: a new mapping, of a part of the file that is there; nothing else is known to lie where the system puts it.
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
            // SAFETY: that was mapped with this length, and is not used again.
            unsafe { libc::munmap(self.window.cast(), WINDOW) };
            self.window = std::ptr::null_mut();
        }
    }

    /// Ends the file where its last byte is.
    pub(crate) fn finish(mut self) {
        self.close_window();
        // What is behind the last call is zeros, which a reader takes for a process that did not come to its end; it has.
        let _ = self.file.set_len(self.start + self.written as u64);
    }
}

impl Sink for Output {
    fn put(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() && !self.failed {
            let room = WINDOW - self.written;
            let (now, later) = bytes.split_at(bytes.len().min(room));
            // SAFETY: the window has room for as many bytes, and is no part of what is copied.
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

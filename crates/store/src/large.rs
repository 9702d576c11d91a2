//! What is large is given back by a thread of its own: the system takes its time for that, and others would wait for it.

use std::thread;

/// What is at least so long is large. [B]
const LARGE: usize = 4 << 20;

/// Drops something of this length.
pub(crate) fn give_back<T: Send + 'static>(what: T, length: usize) {
    if length < LARGE {
        return drop(what);
    }
    // Without a thread it is dropped at once.
    let _ = thread::Builder::new().name("gives back".to_owned()).spawn(move || drop(what));
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::{Sender, channel};
    use std::thread::ThreadId;
    use std::time::Duration;

    use super::*;

    struct Told(Sender<ThreadId>);

    impl Drop for Told {
        fn drop(&mut self) {
            self.0.send(thread::current().id()).expect("somebody hears it");
        }
    }

    #[test]
    fn what_is_large_is_dropped_by_another_thread_and_what_is_not_at_once() {
        let ((tells, hears), own) = (channel(), thread::current().id());
        give_back(Told(tells.clone()), LARGE - 1);
        assert_eq!(hears.try_recv(), Ok(own));
        give_back(Told(tells), LARGE);
        assert!(hears.recv_timeout(Duration::from_secs(10)).is_ok_and(|thread| thread != own));
    }
}

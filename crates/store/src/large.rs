//! Large values are freed by a thread of their own: returning their memory to the system takes milliseconds, for which clients would wait.

use std::sync::OnceLock;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread;

/// A value of at least this length is large. [B]
const LARGE: usize = 4 << 20;
/// The number of large values that may wait to be freed. One more is freed at once.
const MOST_WAITING: usize = 64;

/// Drops a value of this length, in the thread that frees large values if it is large.
pub(crate) fn give_back<T: Send + 'static>(value: T, length: usize) {
    static FREES: OnceLock<SyncSender<Box<dyn Send>>> = OnceLock::new();
    if length < LARGE {
        return drop(value);
    }
    // A value that can't be sent, because too many wait or the thread could not be started, comes back in the error and is dropped at once.
    let _ = FREES.get_or_init(start).try_send(Box::new(value));
}

/// Starts the thread. If the system can't start it, nobody receives.
fn start() -> SyncSender<Box<dyn Send>> {
    let (sender, receiver) = sync_channel::<Box<dyn Send>>(MOST_WAITING);
    let _ = thread::Builder::new().name("large values".to_owned()).spawn(move || receiver.into_iter().for_each(drop));
    sender
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::{Sender, channel};
    use std::thread::ThreadId;
    use std::time::Duration;

    use super::*;

    /// Reports the thread that drops it.
    struct Reports(Sender<ThreadId>);

    impl Drop for Reports {
        fn drop(&mut self) {
            self.0.send(thread::current().id()).expect("the test still receives");
        }
    }

    #[test]
    fn a_large_value_is_dropped_by_another_thread_and_a_small_one_at_once() {
        let ((sender, receiver), own) = (channel(), thread::current().id());
        give_back(Reports(sender.clone()), LARGE - 1);
        assert_eq!(receiver.try_recv(), Ok(own));
        give_back(Reports(sender), LARGE);
        assert!(receiver.recv_timeout(Duration::from_secs(10)).is_ok_and(|thread| thread != own));
    }
}

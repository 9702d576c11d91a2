//! Futures of worlds that block.

use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use endpoint::{Error, Result};

/// The result of `future`, which blocks wherever it has to wait: it is ready when first polled.
///
/// # Errors
/// [`Error::Unfit`] when it is not, since nobody would ever poll it again.
pub fn block_on<T>(future: impl Future<Output = T>) -> Result<T> {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(output) => Ok(output),
        Poll::Pending => Err(Error::Unfit("a program waits for something that is no message".to_owned())),
    }
}

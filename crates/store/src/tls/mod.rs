//! TLS 1.2 and 1.3 with rustls: certificates, and a socket that speaks TLS.
//!
//! ```text
//!   files of PEM ──> Acceptor   what a server shows, and whom it lets in ──┐
//!                ──> Connector  what a client shows, and whom it trusts  ──┴──> Stream: plain, or TLS
//! ```

mod certificates;
mod stream;

pub use certificates::{Acceptor, CertifiedKey, Connector, Error, Pem};
pub use stream::Stream;

#[cfg(test)]
pub(crate) mod authority;

//! RESP, the protocol between Redis and its clients, versions 2 and 3: decodes requests, and encodes replies.
//!
//! Source: "Redis serialization protocol specification".

mod arguments;
pub mod number;
mod replies;
mod reply;
mod request;
mod upcoming;

pub use arguments::{Arguments, OwnedArguments};
pub use replies::{Replies, Value};
pub use reply::{Reply, Version};
pub use request::{Limits, ProtocolError, Requests};
pub use upcoming::Upcoming;

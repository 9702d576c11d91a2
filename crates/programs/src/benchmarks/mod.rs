//! The communication benchmarks of the Mesh of Clos study, one that measures latency and three that load the network;
//! and one that times broadcasts.

mod all_pairs;
mod alternating;
mod broadcast_reply;
mod equal_dist;
mod ping_pong;
mod unequal_dist;

pub use all_pairs::{AllPairs, PartnerOrder};
pub use alternating::{BothBegin, Pairs};
pub use broadcast_reply::{BroadcastReply, By};
pub use equal_dist::EqualDist;
pub use ping_pong::PingPong;
pub use unequal_dist::UnequalDist;

//! A switched Ethernet, frame by frame: frames may be lost, duplicated or delayed.
//!
//! ```text
//!    node 0   transmit ring ===wire===> |        | output queue ===wire===> faults -> receive ring   node 0
//!    node 1   transmit ring ===wire===> | switch | output queue ===wire===> faults -> receive ring   node 1
//!      ...                              |        |                                                     ...
//!
//!    the same at a second switch, if there is one:  switch | output queue ===trunk===> | switch, and back
//! ```
//!
//! 1. A frame of s bytes of payload occupies a wire for (8 + 14 + max(s, 46) + 4 + 12) bytes at the wire's rate:
//!    preamble, header, payload, check sequence and the gap before the next frame. Its last bit is at the far end when
//!    all but the gap, and the wire's latency, have passed. Where a token bucket of b bytes stands for each wire, as
//!    Linux's `tbf` does for the wires of network namespaces, a frame counts as 14 + s bytes. It passes in no time once
//!    the bucket holds that many tokens, which come at the wire's rate and fill it up to b. So an idle wire lets up to
//!    b bytes pass at once, and a busy one keeps to its rate.
//! 2. A node's transmit ring holds a fixed number of frames, the one on the wire included. A node waits for room.
//! 3. The switch receives a whole frame before it forwards it (store and forward), after its latency, to the output
//!    queue of its destination or, for a broadcast, of every node except the source. A frame that does not fit into a
//!    queue is dropped there. A frame on the wire has left the queue. Where there are two switches, each has nodes of
//!    its own and an output queue for the trunk to the other. A frame for a node of the other switch, or for all nodes,
//!    crosses the trunk once, and is forwarded there as any other. The trunk is a wire with a rate, a latency, and
//!    perhaps a token bucket of its own.
//! 4. On the way to each receiver a frame may be lost, alone or in a burst; be duplicated; or be delayed by a random
//!    time, so that others overtake it. All of this follows from the seed, independently for each receiver.
//! 5. A frame that finds the receive ring full is dropped. A node takes frames from its ring in order. Of a packet that
//!    is split into fragments, as it is longer than a frame carries, each crosses the network as a frame of its own,
//!    and the packet is in the ring when the last of them has come.
//! 6. A node may have several processes, each a rank; ranks are numbered node by node. They share the wires and both
//!    rings of their node, and wait in turn for room to transmit. A broadcast frame reaches a node once, and occupies
//!    one slot of its receive ring until each of its ranks has taken it. Between ranks of one node nothing goes over
//!    the wire: what one puts into memory for another is there at once, in order with the frames that come for it,
//!    never lost, and takes no slot of a ring.
//!
//! What a frame costs a processor is left to the code that runs on the nodes. The network only schedules processors,
//! where nodes are processes of one computer: a node asks for a processor when it has something to do, waits for its
//! turn, and keeps the processor until it waits for a frame or for room.

mod faults;
mod fragments;
mod link;
mod network;
mod nodes;
mod processors;
mod ring;
pub mod world;

pub use fragments::{Fragment, split};
pub use network::{Delivery, Destination, Network, Notice, Received, Through};

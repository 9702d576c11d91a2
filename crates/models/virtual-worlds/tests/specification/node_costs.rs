//! What a message costs the nodes, step by step, compared with times calculated by hand.
//!
//! Two nodes on one router; a flit takes 1 ns, routing 10 ns, so that a packet of F flits takes 11 + F ns through the
//! empty network, and a packet that follows closely requests the last channel 10 ns after the tail before it has
//! started there.

use endpoint::{Endpoint, Message, Program, Result, World};
use maquette_virtual_worlds::flit::world::{EngineKind, NetworkWorld, Options};
use quantities::{Bytes, Rank, Time};

const NODES: &str = r#"
    name = "pair"
    [topology.star]
    nodes = 2
    [channels]
    rate = "1 GB/s"
    buffers = 1000
    [routers]
    routing_delay = "10 ns"
    [packet]
    payload = 100
    header = 4
    [node]
    processor_send = "1 us"
    processor_receive = "500 ns"
    message_send = "200 ns"
    message_receive = "70 ns"
    packet_send = "50 ns"
    packet_receive = "30 ns"
    system_message = "40 ns"
"#;

/// Rank 0 sends one message to rank 1; both return the time at which they finish.
struct OneMessage(Bytes);

impl Program for OneMessage {
    type Output = Time;

    async fn run<E: Endpoint>(&self, endpoint: &E) -> Result<Time> {
        match endpoint.rank() {
            Rank(0) => endpoint.send(Rank(1), Message::of_size(self.0)).await?,
            _ => drop(endpoint.receive(Rank(0)).await?),
        }
        Ok(endpoint.now())
    }
}

/// When the sender and the receiver of a message of `bytes` finish, with more lines in the node's table. [ns]
fn times(more: &str, bytes: u64, engine: EngineKind) -> (u64, u64) {
    let text = format!("{NODES}{more}");
    let machine = machines::Description::parse(&text, "pair.toml").unwrap().resolve().unwrap();
    let world = NetworkWorld::new(&machine, Options { engine, ..Options::default() });
    let (done, _) = world.run(2, &OneMessage(Bytes(bytes))).unwrap();
    let nanoseconds = |rank: usize| done[rank].as_ref().unwrap().picoseconds() / 1000;
    (nanoseconds(0), nanoseconds(1))
}

#[test]
fn a_message_takes_the_sum_of_its_steps() {
    let table = [
        // Set up by 1000, first packet ready at 1250, the others 50 later each. They cross the first channel from 1250,
        // 1354 and 1458, the second from 1261, 1374 and 1487; taken in by 1395, 1508 and 1641; completed 500 later.
        ("send = \"non-blocking\"", 250, (1000, 2141)),
        // The last tail has left at 1512.
        ("send = \"blocking\"", 250, (1512, 2141)),
        // A message without bytes is a header: 1250 + 11 + 4 + 100 + 500.
        ("send = \"blocking\"", 0, (1254, 1865)),
        // The acknowledgement: handed over at 2141 or 1641, 40 to send, 15 under way, 40 to take in.
        ("send = \"synchronous\"\nacknowledged = \"on-receive\"", 250, (2236, 2141)),
        ("send = \"synchronous\"\nacknowledged = \"on-arrival\"", 250, (1736, 2141)),
        // Copying takes 250 at each end.
        ("send = \"non-blocking\"\ncopy_rate = \"1 GB/s\"", 250, (1250, 2641)),
        // And 500 at the receiver.
        ("send = \"non-blocking\"\ncopy_rate = \"1 GB/s\"\ncopy_out_rate = \"500 MB/s\"", 250, (1250, 2891)),
        ("send = \"non-blocking\"\ncopy_out_rate = \"500 MB/s\"", 250, (1000, 2641)),
        // The sender gets ready for 400, and the receiver while it waits: until 1500, or until 2500, when the message
        // has long arrived.
        ("send = \"non-blocking\"\ncold_send = \"400 ns\"", 250, (1400, 2541)),
        ("send = \"non-blocking\"\ncold_send = \"400 ns\"\ncold_receive = \"1500 ns\"", 250, (1400, 2541)),
        ("send = \"non-blocking\"\ncold_receive = \"2500 ns\"", 250, (1000, 3000)),
        // Each byte of a packet takes 1 at each end: injected at 1350, 1500 and 1600, arriving at 1465, 1615 and 1669,
        // taken in by 1595, 1745 and 1895.
        ("send = \"non-blocking\"\npacket_rate = \"1 GB/s\"", 250, (1000, 2395)),
        // Each packet begins when the one before has left: injected at 1250, 1404 and 1558.
        ("send = \"blocking\"\nwaits_for_departure = true", 250, (1612, 2223)),
        // 80 bytes ride on the set-up packet: 1250 + 11 + 84 + 100 + 500.
        ("send = \"blocking\"\npiggyback = 100", 80, (1334, 1945)),
        // 250 bytes do not: the set-up arrives at 1265 and is answered at 1335, the answer is taken in at 1390; packets
        // are injected at 1440, 1544 and 1648, and cross the second channel by 1555, 1668 and 1731.
        ("send = \"blocking\"\npiggyback = 100", 250, (1702, 2331)),
        // Announced: the announcement is handed over at 1040 and taken in at 1095; the receiver has asked already, so
        // its answer is handed over at 1135 and taken in at 1190; the first packet is injected at 1440, as above.
        ("send = \"blocking\"\nprotocol = \"rendezvous\"", 250, (1702, 2331)),
        ("send = \"blocking\"\nprotocol = \"rendezvous\"\neager = 249", 250, (1702, 2331)),
        ("send = \"blocking\"\nprotocol = \"rendezvous\"\neager = 250", 250, (1512, 2141)),
        ("send = \"synchronous\"\nprotocol = \"rendezvous\"", 250, (2426, 2331)),
    ];
    for (more, bytes, expected) in table {
        assert_eq!(times(more, bytes, EngineKind::Fast), expected, "{more}, {bytes} bytes");
        assert_eq!(times(more, bytes, EngineKind::Reference), expected, "{more}, {bytes} bytes");
    }
}

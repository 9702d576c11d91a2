//! How messages are sent on real networks.

use messaging::{BroadcastProtocol, Parameters, Probe, Push, Repeat, Reporting, Timing};
use quantities::Duration;

/// How messages are sent on real networks, where the paper's parameters (which are [`Parameters::default`]) would be
/// slow:
///
/// - A window of 256 packets, so that at a gigabit a second answers may take three milliseconds.
/// - Only what is lost is sent again.
/// - Messages of up to 64 KiB are pushed as a whole, with as much as fits in their first packet: they need no answer
///   before all of them has left. Computers have long had the memory for such buffers: 1 MiB for each rank that sends.
/// - A report for 32 packets, or after a millisecond, so that the reports of many receivers cost little compared with
///   the data.
/// - Nothing counts as lost within 20 ms, since computers with more ranks than processors keep some of them waiting,
///   and the queues of a switch hold packets for 10 ms at 100 Mbit/s.
/// - A late receiver is asked with a packet without data: most are late because a computer was busy, and have lost
///   nothing.
/// - 16 packets are handed over at once, so that a packet's timeout runs from when the host's queue took it.
pub fn real_parameters(session: u32) -> Parameters {
    let ms = |milliseconds: u64| Duration::from_microseconds(1_000 * milliseconds);
    Parameters {
        session,
        window: 256,
        repeat: Repeat::Selective,
        push: Push { first: 1_400, second: (64 << 10) - 1_400 },
        pushed_buffer: 1 << 20,
        timing: Timing { first: ms(20), least: ms(20), most: ms(500) },
        probe: Probe::Alone,
        reporting: Reporting { packets: 32, delay: ms(1) },
        batch: 16,
        patience: ms(10_000),
        broadcast_protocol: BroadcastProtocol::PushPull,
        ..Parameters::default()
    }
}

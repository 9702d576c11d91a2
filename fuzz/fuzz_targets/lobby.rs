//! Reads any bytes as what is sent in the lobby of a transfer, one thing after the other, and gives it to a sender and
//! a receiver who are in the middle of something. Sealed with a key that the bytes do not know, they change nothing.

#![no_main]

use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4};

use cast::VERSION;
use cast::lobby::{Announce, Call, Envelope, Guest, Host, Join, LONGEST, LobbyMessage, Token};
use cast::manifest::Id;
use cast::round::ReceiverOutcome;
use libfuzzer_sys::fuzz_target;
use quantities::{Duration, Time};

const RUN: Token = Token([0; 16]);

fn at(port: u16) -> SocketAddr {
    SocketAddr::V4(SocketAddrV4::new(Ipv4Addr::LOCALHOST, port))
}

fn host() -> Host {
    Host::new(Announce { transfer: Id([0; 16]), run: RUN, title: "title".to_string(), files: 1, bytes: 1 })
}

fn call(session: u32) -> Call {
    Call { nonce: RUN, session, rank: 0, ranks: 0, port: 5, datagram: 1_472, salt: RUN }
}

/// Each begins with its length, and with what happens before it.
fn parts(mut bytes: &[u8]) -> Vec<(u8, &[u8])> {
    let mut parts = Vec::new();
    while let [length, action, rest @ ..] = bytes {
        let (part, after) = rest.split_at(rest.len().min((*length).into()));
        parts.push((*action, part));
        bytes = after;
    }
    parts
}

fuzz_target!(|bytes: &[u8]| {
    let (open, sealed) = (Envelope::new(None), Envelope::new(Some(&[7; 32])));
    let (mut host, mut guest, mut now) = (host(), Guest::new("name".to_string(), RUN, 9), Time::ZERO);
    guest.join(now, RUN, RUN, at(1));
    let join = Join { run: RUN, member: RUN, nonce: RUN, number: 1, name: "name".to_string(), port: 9, last: 0 };
    host.take(now, at(2), LobbyMessage::Join(join));
    let mut session = 0;
    for (action, part) in parts(bytes) {
        now += Duration::from_microseconds(u64::from(action) * 10_000);
        assert!(sealed.read(part).is_err());
        // With the right checksum, so that it is read.
        let datagram = [&b"MQC\x03"[..], &[VERSION, 1], &crc32c::crc32c(part).to_be_bytes()[..], part].concat();
        if let Ok(message) = open.read(&datagram) {
            let written = open.write(&message, [0; 24]);
            assert_eq!(open.read(&written).as_ref(), Ok(&message));
            host.take(now, at(action.into()), message.clone());
            let mut answers = Vec::new();
            guest.take(now, at(1), message, &mut answers);
            assert!(answers.len() <= 1);
        }
        match action % 4 {
            0 => {
                session += 1;
                let called = host.call(now, call(session));
                assert!(called <= 1_024);
            }
            1 => drop(host.give_up(now)),
            2 => {
                let roster = host.roster();
                roster.iter().for_each(|called| host.ended(now, called.member, &ReceiverOutcome::Lost, true));
            }
            _ => guest.comes_back(now),
        }
        assert!(host.due(now).iter().all(|(_, message)| open.write(message, [0; 24]).len() <= LONGEST));
        assert!(host.deadline() > now && host.done() + host.without().len() <= 1_024);
        let message = guest.due(now);
        assert!(message.is_none_or(|(_, message)| open.write(&message, [0; 24]).len() <= LONGEST));
        guest.is_left(now);
    }
});

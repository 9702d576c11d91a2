//! Reads any bytes as a datagram, as they are and with a checksum that is right. What is read is written and read
//! again.

#![no_main]

use libfuzzer_sys::fuzz_target;
use messaging::Datagram;
use messaging::packet::Packet;

/// Where the checksum is.
const CHECKSUM: std::ops::Range<usize> = 8..12;

fn check(bytes: Vec<u8>) {
    let Ok(datagram) = Datagram::from_bytes(&bytes.into()) else { return };
    let Ok(packet) = Packet::decode(&datagram) else { return };
    let written = packet.encode();
    assert_eq!(written.size(), datagram.size());
    assert_eq!(Packet::decode(&written).as_ref(), Ok(&packet));
    let arrived = Datagram::from_bytes(&written.to_bytes()).expect("what was written is read");
    assert_eq!(Packet::decode(&arrived), Ok(packet));
}

fuzz_target!(|bytes: &[u8]| {
    check(bytes.to_vec());
    let mut bytes = bytes.to_vec();
    if let Some(place) = bytes.get_mut(CHECKSUM) {
        place.fill(0);
        let sum = crc32c::crc32c(&bytes);
        bytes[CHECKSUM].copy_from_slice(&sum.to_be_bytes());
        check(bytes);
    }
});

//! Reads any bytes as the list of files of a transfer, and as what is sent in its rounds. What is read is safe, and is
//! written and read again.

#![no_main]

use cast::manifest::{LARGEST, MOST_ENTRIES, Manifest};
use cast::round::{ToAll, ToSender};
use endpoint::Message;
use libfuzzer_sys::fuzz_target;
use std::path::{Component, Path};

fn check(manifest: &Manifest) {
    assert_eq!(Manifest::decode(&manifest.encode()).as_ref(), Ok(manifest));
    assert!(manifest.entries().len() <= MOST_ENTRIES && manifest.size().0 <= LARGEST);
    let into = Path::new("/into");
    for entry in manifest.entries() {
        let path = entry.name.below(into);
        let below = path.strip_prefix(into).expect("it lies below");
        assert!(below.components().count() > 0 && below.components().all(|part| matches!(part, Component::Normal(_))));
    }
    let places = manifest.places();
    for piece in [0, 1, manifest.pieces() / 2, manifest.pieces().saturating_sub(1), manifest.pieces()] {
        let length: usize = places.spans(piece).iter().map(|span| span.length).sum();
        assert_eq!(length, manifest.length(piece));
    }
}

fuzz_target!(|bytes: &[u8]| {
    if let Ok(manifest) = Manifest::decode(bytes) {
        check(&manifest);
    }
    let message = Message::from(bytes.to_vec());
    if let Some(message) = ToAll::decode(&message) {
        if let ToAll::Manifest(bytes) = &message
            && let Ok(manifest) = Manifest::decode(bytes)
        {
            check(&manifest);
        }
        assert_eq!(ToAll::decode(&message.encode()), Some(message));
    }
    if let Some(message) = ToSender::decode(&message) {
        assert_eq!(ToSender::decode(&message.encode()), Some(message));
    }
});

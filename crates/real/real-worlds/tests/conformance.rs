//! The endpoint's conformance suite on UDP sockets of this machine.

use endpoint::conformance;
use maquette_real_worlds::UdpWorld;

#[test]
fn with_multicast() {
    let world = UdpWorld::default();
    if let Some(refused) = world.no_multicast() {
        println!("broadcasts are sent to one rank after another, as this machine has no multicast: {refused}");
    }
    conformance::real_multicast_world(|_| world.clone());
    conformance::overlapping_world(|_| world.clone());
}

#[test]
fn without_multicast() {
    let world = UdpWorld::default().without_multicast();
    conformance::real_multicast_world(|_| world.clone());
    conformance::overlapping_world(|_| world.clone());
}

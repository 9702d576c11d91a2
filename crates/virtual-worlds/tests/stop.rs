//! A run that is asked to end does so, and gives nothing else.

use std::sync::atomic::{AtomicBool, Ordering};

use endpoint::{Endpoint, Error, Message, Program, Result, World};
use machines::model::Interconnect;
use maquette_virtual_worlds::clock::Clock;
use maquette_virtual_worlds::network_world::{EngineKind, NetworkWorld, Options};
use maquette_virtual_worlds::stop::Stop;
use quantities::Rank;

/// Two ranks that send each other a message in turn, and ask to end after some of it.
struct Asking {
    flag: &'static AtomicBool,
    after: u32,
}

impl Program for Asking {
    /// How many rounds there were.
    type Output = u32;

    async fn run<E: Endpoint>(&self, here: &E) -> Result<u32> {
        let other = Rank(1 - here.rank().0);
        for round in 0..10_000 {
            self.flag.fetch_or(round == self.after, Ordering::Relaxed);
            if here.rank().0 == 0 {
                here.send(other, Message::default()).await?;
                here.receive(other).await?;
            } else {
                here.receive(other).await?;
                here.send(other, Message::default()).await?;
            }
        }
        Ok(10_000)
    }
}

#[test]
fn the_network_ends_with_either_engine() {
    static FLAG: AtomicBool = AtomicBool::new(false);
    let machine = machines::load("moc-2-1").unwrap();
    for engine in [EngineKind::Fast, EngineKind::Reference] {
        let options = Options { engine, stop: Stop::at(&FLAG), ..Options::default() };
        let world = NetworkWorld::new(&machine, options);
        FLAG.store(false, Ordering::Relaxed);
        let all = world.run(2, &Asking { flag: &FLAG, after: u32::MAX }).unwrap().0;
        assert_eq!(all, [Ok(10_000), Ok(10_000)]);
        assert_eq!(world.run(2, &Asking { flag: &FLAG, after: 100 }).unwrap_err(), Error::Stopped);
    }
}

#[test]
fn the_clock_world_ends() {
    static FLAG: AtomicBool = AtomicBool::new(false);
    let Interconnect::LogGp(model) = machines::load("loggp").unwrap().interconnect else { panic!("no LogGP") };
    let world = Clock::new(model).with_stop(Stop::at(&FLAG));
    let all = world.run(2, &Asking { flag: &FLAG, after: u32::MAX }).unwrap().0;
    assert_eq!(all, [Ok(10_000), Ok(10_000)]);
    assert_eq!(world.run(2, &Asking { flag: &FLAG, after: 100 }).unwrap_err(), Error::Stopped);
}

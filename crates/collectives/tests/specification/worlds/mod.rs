//! Every kind of world that programs run in.

use endpoint::{Program, Result, World};
use machines::model::LogGp;
use quantities::{Bytes, Duration};
use virtual_worlds::answer::Answer;
use virtual_worlds::flit::world::{NetworkWorld, Options};
use virtual_worlds::loggp::Clock;

/// The cost of messages in the worlds without a network.
pub const MODEL: LogGp = LogGp {
    latency: Duration::from_picoseconds(100_000),
    overhead: Duration::from_picoseconds(7_000),
    gap: Duration::from_picoseconds(5_000),
    gap_per_byte: Duration::from_picoseconds(30),
    overhead_per_byte: Duration::from_picoseconds(2),
    rendezvous: None,
};

/// The ranks' results in a world, or why it could not run them.
pub type Ended<T> = (&'static str, Result<Vec<Result<T>>>);

/// The results of `program` on `ranks` ranks, with the name of each world that has that many: without a network, with
/// sends that wait for their receivers and with sends that don't; and on networks of both kinds, of 16 and of 64 nodes.
pub fn everywhere<P: Program>(ranks: u32, program: &P) -> Vec<Ended<P::Output>> {
    let results = |(results, _): (Vec<Result<P::Output>>, Answer)| results;
    let mut ended = vec![
        ("clock", Clock::new(MODEL).run(ranks, program).map(results)),
        (
            "clock with rendezvous",
            Clock::new(LogGp { rendezvous: Some(Bytes(0)), ..MODEL }).run(ranks, program).map(results),
        ),
    ];
    for (name, nodes) in [("parsytec-cc-16", 16), ("booksim-mesh-8x8", 64)] {
        if ranks <= nodes {
            let machine = machines::load(name).unwrap();
            ended.push((name, NetworkWorld::new(&machine, Options::default()).run(ranks, program).map(results)));
        }
    }
    ended
}

/// Whether, in the world of this name, a send ends only when the receiving program has the message.
#[allow(dead_code)] // not every test asks
pub fn waits_for_receivers(world: &str) -> bool {
    ["clock with rendezvous", "parsytec-cc-16"].contains(&world)
}

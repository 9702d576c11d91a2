//! Broadcast in hardware: the promises of every world that has it, and times calculated by hand.

use collectives::broadcast::HardwareBroadcast;
use endpoint::conformance;
use endpoint::{Error, Message, World};
use machines::model::Machine;
use maquette_virtual_worlds::flit::world::{EngineKind, NetworkWorld, Options};
use quantities::{Bytes, Duration, Rank, Time};

fn machine(control: &str) -> Machine {
    let text = format!(
        "[topology.mesh]\ncolumns = 4\nrows = 2\n[channels]\nrate = \"10 MB/s\"\n[routers]\nrouting_delay = \"1 us\"\n\
         [packet]\npayload = 128\nheader = 2\n{control}"
    );
    machines::Description::parse(&text, "test.toml").unwrap().resolve().unwrap()
}

#[test]
fn keeps_the_promises_with_either_engine() {
    let machine = machine("[control_network]\nlatency = \"4 us\"\nrate = \"1 MB/s\"\noverhead = \"3 us\"\n");
    for engine in [EngineKind::Fast, EngineKind::Reference] {
        conformance::multicast_world(|_| NetworkWorld::new(&machine, Options { engine, ..Options::default() }));
    }
}

#[test]
fn takes_overhead_transfer_latency_and_overhead_however_many_ranks_there_are() {
    let machine = machine("[control_network]\nlatency = \"4 us\"\nrate = \"1 MB/s\"\noverhead = \"3 us\"\n");
    let world = NetworkWorld::new(&machine, Options::default());
    for ranks in [2, 3, 8] {
        let program = HardwareBroadcast { root: Rank(1), message: Message::of_size(Bytes(1000)) };
        let (results, answer) = world.run(ranks, &program).unwrap();
        assert!(results.into_iter().all(|result| result == Ok(Message::of_size(Bytes(1000)))));
        assert_eq!(answer.finish[1], Time::ZERO + Duration::from_microseconds(1003), "the sender");
        assert_eq!(answer.makespan(), Time::ZERO + Duration::from_microseconds(1010), "the others");
    }
}

#[test]
fn a_machine_without_the_hardware_reports_an_error() {
    let machine = machine("");
    let program = HardwareBroadcast { root: Rank(0), message: Message::default() };
    let (results, _) = NetworkWorld::new(&machine, Options::default()).run(3, &program).unwrap();
    assert!(results.iter().all(|result| matches!(result, Err(Error::Unfit(why)) if why.contains("control network"))));
}

//! Clients that keep making requests while a table grows, on virtual machines: whatever happens when they ask the wrong
//! server, they make the same requests, every key is stored once, and they are wrong rarely enough.

use endpoint::World;
use maquette_linear_hash::Growth;
use maquette_linear_hash::growing::{
    Costs, Growing, GrowingClient, GrowingEnd, GrowingServer, Kind, Popularity, Routing, Traffic, Workload,
};
use proptest::prelude::*;
use quantities::{Bytes, Duration};
use virtual_worlds::loggp::Clock;

use crate::program::MODEL;

fn program(servers: u32, clients: u32, keys: u32, routing: Routing, seed: u64) -> Growing {
    let capacity = u64::from(keys) / u64::from(servers) + 1;
    let growth = Growth { capacity, sensitivity: 0.8, shrink: None, apart: false, most_servers: servers, chunk: 20 };
    let costs = Costs {
        request: Duration::from_microseconds(1),
        map: Duration::from_microseconds(1),
        map_size: Bytes(100),
        asked_for_map: 2,
    };
    let workload = Workload::new(clients, keys, 4.0, Duration::from_microseconds(100), Popularity::Zipf);
    Growing { servers, workload, routing, body: Bytes(64), growth, costs, seed }
}

struct Grown {
    servers: Vec<GrowingServer>,
    clients: Vec<GrowingClient>,
    traffic: Traffic,
}

fn grow(program: &Growing) -> Grown {
    let (ends, answer) = Clock::new(MODEL).run(program.ranks(), program).unwrap();
    assert_eq!(answer.unreceived, []);
    let mut grown = Grown { servers: Vec::new(), clients: Vec::new(), traffic: Traffic::default() };
    for end in ends {
        match end.unwrap() {
            GrowingEnd::Server(server) => {
                grown.traffic.add(&server.traffic);
                grown.servers.push(server);
            }
            GrowingEnd::Client(client) => {
                grown.traffic.add(&client.traffic);
                grown.clients.push(client);
            }
        }
    }
    grown
}

impl Grown {
    fn messages(&self, kind: Kind) -> u64 {
        self.traffic.of(kind).0
    }

    fn requests(&self) -> usize {
        self.clients.iter().map(|client| client.asked.len()).sum()
    }

    fn sum(&self, of: fn(&GrowingClient) -> u64) -> u64 {
        self.clients.iter().map(of).sum()
    }

    fn splits(&self) -> usize {
        self.servers.iter().map(|server| server.splits.len()).sum()
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    #[test]
    fn every_key_is_stored_once_and_the_same_is_asked_for(servers in 1_u32..20, clients in 1_u32..20, keys in 1_u32..2_000, seed: u64) {
        let runs = Routing::all().map(|routing| grow(&program(servers, clients, keys, routing, seed)));
        for run in &runs {
            prop_assert_eq!(run.servers.iter().filter_map(|it| it.entries).sum::<u64>(), u64::from(keys));
            prop_assert_eq!(run.requests(), runs[0].requests());
            let file = run.servers[0].file;
            prop_assert!(run.servers.iter().all(|it| it.file == file) && run.splits() as u32 + 1 == file.buckets());
            prop_assert_eq!(run.messages(Kind::Reply), run.requests() as u64);
        }
        let [forward, moved, refresh] = &runs;
        prop_assert_eq!(forward.messages(Kind::Adjustment), forward.sum(|client| client.adjustments));
        for run in [moved, refresh] {
            prop_assert_eq!(run.messages(Kind::Adjustment), 0);
            prop_assert_eq!(run.messages(Kind::Moved), run.sum(|client| client.adjustments));
            let again = run.messages(Kind::Moved) + run.messages(Kind::Again);
            prop_assert_eq!(run.messages(Kind::Request), run.requests() as u64 + again);
        }
        // A client learns something new each time that it is told of a server.
        let most = moved.splits() as u64;
        prop_assert!(moved.clients.iter().all(|client| client.adjustments <= most));
        prop_assert_eq!(refresh.messages(Kind::Map), refresh.messages(Kind::MapRequest));
        let asked = |client: &GrowingClient| client.asked.iter().map(|it| u64::from(it.maps)).sum();
        prop_assert_eq!(refresh.messages(Kind::Map), refresh.sum(asked));
        prop_assert_eq!(forward.messages(Kind::Map) + moved.messages(Kind::Map), 0);
    }
}

#[test]
fn a_map_costs_far_more_than_an_adjustment() {
    let bytes = |routing| {
        let run = grow(&program(64, 50, 6_400, routing, 1));
        assert!(run.splits() > 50, "{} splits", run.splits());
        let of = |kind| run.traffic.of(kind).1.0;
        of(Kind::Adjustment) + of(Kind::Moved) + of(Kind::MapRequest) + of(Kind::Map)
    };
    let [forward, moved, refresh] = Routing::all().map(bytes);
    assert!(refresh > 100 * forward && refresh > 100 * moved, "{forward} {moved} {refresh}");
}

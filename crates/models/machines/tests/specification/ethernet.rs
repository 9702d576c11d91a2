//! Descriptions of switched Ethernets: what they mean, and the errors that their mistakes cause.

use maquette_machines::model::{Faults, Interconnect, Machine, Probe, Repeat};
use maquette_machines::{Description, export, facts, load_with};
use quantities::{Bytes, Duration};

const GOOD: &str = r#"about = "two nodes"

[ethernet]
nodes = 2
rate = "1 Gbit/s"
queue = "64 KiB"
transmit_ring = 16
receive_ring = 32

[ethernet.faults]
loss = 0.01
burst_begins = 0.001
burst_ends = 0.25
delayed = 0.1
delay = "1 ms"

[ethernet.messaging]
window = 32
repeat = "selective"
push_first = "1 KiB"
"#;

/// The message about the good description with one part of it changed.
fn complaint(part: &str, instead: &str) -> String {
    assert!(GOOD.contains(part), "{part}");
    let text = GOOD.replacen(part, instead, 1);
    let machine = Description::parse(&text, "two.toml").and_then(|description| description.resolve());
    machine.expect_err(&text).to_string()
}

#[test]
fn a_description_is_resolved() {
    let machine = Description::parse(GOOD, "two.toml").unwrap().resolve().unwrap();
    let Interconnect::Ethernet(ethernet) = &machine.interconnect else { panic!("an Ethernet") };
    assert_eq!((machine.nodes, ethernet.payload, ethernet.send), (2, Bytes(1_500), Duration::ZERO));
    let delay = Duration::from_microseconds(1_000);
    let faults = Faults { loss: 0.01, burst_begins: 0.001, burst_ends: 0.25, delayed: 0.1, delay, ..Faults::NONE };
    assert_eq!(ethernet.faults, faults);
    assert_eq!((ethernet.messaging.window, ethernet.messaging.repeat), (Some(32), Some(Repeat::Selective)));
    assert_eq!((facts(&machine).routers, facts(&machine).channels), (1, 4));
    assert!(export::json(&machine).contains("\"burst_ends\":0.25"));
}

#[test]
fn any_field_can_be_set_for_one_run() {
    let settings = [("loss", "0.2"), ("ethernet.messaging.window", "8"), ("probe", "alone")]
        .map(|(name, value)| (name.to_string(), value.to_string()));
    let machine = load_with("dp-smp-8", &settings).unwrap();
    let Interconnect::Ethernet(ethernet) = &machine.interconnect else { panic!("an Ethernet") };
    assert_eq!((ethernet.faults.loss, ethernet.messaging.window), (0.2, Some(8)));
    assert_eq!(ethernet.messaging.probe, Some(Probe::Alone));
    assert!(export::json(&machine).contains("\"probe\":\"alone\""));
}

#[test]
fn mistakes() {
    let table = [
        ("nodes = 2", "nodes = 0", "two.toml:4:9: ethernet.nodes: found 0 nodes; allowed is 1 to 1024"),
        (
            "loss = 0.01",
            "loss = 1.5",
            "two.toml:11:8: ethernet.faults.loss: found 1.5; allowed is a chance from 0 to 1",
        ),
        (
            "loss = 0.01",
            "loss = nan",
            "two.toml:11:8: ethernet.faults.loss: found NaN; allowed is a chance from 0 to 1",
        ),
        (
            "burst_ends = 0.25",
            "burst_ends = 0",
            "two.toml:13:14: ethernet.faults.burst_ends: found 0; allowed is more than 0: a burst would never end",
        ),
        ("delay = \"1 ms\"\n", "", "two.toml:10:1: ethernet.faults: `delay`, by how much frames are late is missing"),
        ("queue = \"64 KiB\"\n", "", "two.toml:3:1: ethernet: `queue` is missing"),
        (
            "receive_ring = 32",
            "receive_ring = 0",
            "two.toml:8:16: ethernet.receive_ring: found 0 frames; allowed is 1 to 1048576",
        ),
        (
            "transmit_ring = 16",
            "payload = \"40 B\"\ntransmit_ring = 16",
            "two.toml:7:11: ethernet.payload: found 40 B; allowed is 128 B to 9 KiB",
        ),
        (
            "[ethernet.faults]",
            "[node]\nsend = \"non-blocking\"\n\n[ethernet.faults]",
            "two.toml:10:1: node: found `node`; allowed is only `ethernet`: it has all the costs that count",
        ),
        (
            "[ethernet.faults]",
            "[loggp]\nnodes = 2\nL = \"1 us\"\no = \"1 us\"\ng = \"1 us\"\n\n[ethernet.faults]",
            "two.toml:3:1: ethernet: found both `loggp` and `ethernet`; allowed is one of them",
        ),
    ];
    for (part, instead, expected) in table {
        assert_eq!(complaint(part, instead), expected);
    }
}

/// The good description with several processes on each node.
fn with_memory(fields: &str) -> Result<Machine, maquette_machines::Error> {
    let text = format!("{GOOD}\n[ethernet.memory]\n{fields}");
    Description::parse(&text, "two.toml")?.resolve()
}

#[test]
fn processes_of_a_node_share_its_wires_and_its_memory() {
    let text = "processes = 3\nsend = \"2 us\"\ncopy = \"1 ns\"\ncache = \"4000 B\"\ncopy_uncached = \"5 ns\"\n";
    let machine = with_memory(text).unwrap();
    let Interconnect::Ethernet(ethernet) = &machine.interconnect else { panic!("an Ethernet") };
    let memory = ethernet.memory.unwrap();
    assert_eq!((memory.processes, memory.send, memory.receive), (3, Duration::from_microseconds(2), Duration::ZERO));
    assert_eq!((memory.cache, memory.copy_uncached), (Some(Bytes(4_000)), Duration::from_nanoseconds(5)));
    // Room for six ranks, on two nodes with two wires each.
    assert_eq!((machine.nodes, facts(&machine).nodes, facts(&machine).channels), (6, 6, 4));
    assert!(export::json(&machine).contains("\"memory\":{\"cache_bytes\":4000"));
}

#[test]
fn a_node_has_one_process_unless_more_are_described() {
    let [alone, empty] = [Description::parse(GOOD, "two.toml").unwrap().resolve(), with_memory("")].map(Result::unwrap);
    assert_eq!((alone.nodes, empty.nodes), (2, 2));
    let set = [("ethernet.memory.processes".to_string(), "4".to_string())];
    assert_eq!(load_with("dp-smp-8", &set).unwrap().nodes, 32);
}

#[test]
fn mistakes_in_a_memory() {
    let table = [
        ("processes = 0", "23:13: ethernet.memory.processes: found 0 processes; allowed is 1 to 512"),
        ("processes = 513", "23:13: ethernet.memory.processes: found 513 processes; allowed is 1 to 512"),
        ("copy = \"2 ms\"", "23:8: ethernet.memory.copy: found 2 ms; allowed is at most 1 ms"),
        (
            "copy_uncached = \"5 ns\"",
            "23:17: ethernet.memory.copy_uncached: found 5 ns; allowed is 0 ps, as no `cache` is given",
        ),
        (
            "copy = \"1 ns\"\ncache = \"4 KiB\"",
            "22:1: ethernet.memory.copy_uncached: found 0 ps; allowed is at least 1 ns, the `copy` of a byte that the `cache` \
             holds",
        ),
    ];
    for (fields, expected) in table {
        assert_eq!(with_memory(fields).unwrap_err().to_string(), format!("two.toml:{expected}"));
    }
    let negative = with_memory("send = \"-1 us\"").unwrap_err().to_string();
    let expected =
        "two.toml:23:8: ethernet.memory.send: `-1 us` is not a duration: it is negative; write a duration such";
    assert!(negative.starts_with(expected), "{negative}");
    let text = GOOD.replacen(
        "[ethernet.faults]",
        "processors = 2\n\n[ethernet.memory]\nprocesses = 2\n\n[ethernet.faults]",
        1,
    );
    let both = Description::parse(&text, "two.toml").and_then(|description| description.resolve());
    let expected = "two.toml:10:14: ethernet.processors: found 2; allowed is none where nodes have a `memory`: each of \
                    their processes has a processor of its own";
    assert_eq!(both.unwrap_err().to_string(), expected);
}

/// The good description with a second switch.
fn with_trunk(fields: &str) -> Result<Machine, maquette_machines::Error> {
    let text = format!("{GOOD}\n[ethernet.trunk]\n{fields}");
    Description::parse(&text, "two.toml")?.resolve()
}

#[test]
fn a_trunk_makes_two_switches_of_one() {
    let machine = with_trunk("first_switch = 1\nrate = \"250 Mbit/s\"\nlatency = \"2 us\"\n").unwrap();
    let Interconnect::Ethernet(ethernet) = &machine.interconnect else { panic!("an Ethernet") };
    let trunk = ethernet.trunk.unwrap();
    assert_eq!((trunk.first_switch, trunk.bucket, trunk.queue), (1, None, Bytes(64 << 10)));
    assert_eq!((trunk.rate.bits_per_second(), trunk.latency), (250_000_000, Duration::from_microseconds(2)));
    assert_eq!((facts(&machine).routers, facts(&machine).channels), (2, 6));
    assert!(export::json(&machine).contains("\"trunk\":{"));
    let machine = Description::parse(GOOD, "two.toml").unwrap().resolve().unwrap();
    assert!(!export::json(&machine).contains("trunk"));
}

#[test]
fn an_envelope_leaves_room_for_the_smallest_packet() {
    let small = GOOD.replacen("receive_ring = 32", "receive_ring = 32\npayload = \"128 B\"", 1);
    let with = |fields: &str| {
        let text = small.replacen("window = 32", fields, 1);
        Description::parse(&text, "two.toml").and_then(|description| description.resolve()).map_err(|it| it.to_string())
    };
    assert!(with("envelope = \"48 B\"").is_ok());
    let too_large = "ethernet.messaging.envelope: found 49 B; allowed is at most";
    let error = with("envelope = \"49 B\"").unwrap_err();
    assert_eq!(error, format!("two.toml:19:12: {too_large} 48 B, as a frame carries 128 B"));
    let error = with("header = \"8 B\"\nenvelope = \"49 B\"").unwrap_err();
    assert_eq!(error, format!("two.toml:20:12: {too_large} 40 B, as a frame carries 128 B"));
    assert_eq!(
        complaint("window = 32", "envelope = \"65 B\""),
        "two.toml:18:12: ethernet.messaging.envelope: found 65 B; allowed is at most 64 B",
    );
}

#[test]
fn datagrams_have_a_length_of_udp_and_an_envelope() {
    let with = |fields: &str| complaint("window = 32", fields);
    let datagram = "ethernet.messaging.datagram: found";
    for (found, instead) in [("511 B", "511 B"), ("65508 B", "65508 B"), ("1 MiB", "1 MiB")] {
        let expected = format!("two.toml:18:12: {datagram} {found}; allowed is 512 B to 65507 B");
        assert_eq!(with(&format!("datagram = \"{instead}\"\nenvelope = \"60 B\"")), expected);
    }
    for envelope in ["", "\nenvelope = \"27 B\""] {
        let allowed = "none without an `envelope` of 28 B or more, which IP and UDP add";
        let expected = format!("two.toml:18:12: {datagram} 32 KiB; allowed is {allowed}");
        assert_eq!(with(&format!("datagram = \"32 KiB\"{envelope}")), expected);
    }
}

#[test]
fn mistakes_of_a_trunk() {
    let rate = "rate = \"250 Mbit/s\"";
    let table = [
        (
            format!("first_switch = 2\n{rate}\n"),
            "two.toml:23:16: ethernet.trunk.first_switch: found 2; allowed is 1 to 1, so that the second switch has nodes, too",
        ),
        (
            format!("first_switch = 1\n{rate}\nbucket = \"100 B\"\n"),
            "two.toml:25:10: ethernet.trunk.bucket: found 100 B; allowed is at least 1518 B, the longest frame",
        ),
        (
            format!("first_switch = 1\n{rate}\nqueue = \"1 KiB\"\n"),
            "two.toml:25:9: ethernet.trunk.queue: found 1 KiB; allowed is at least 1518 B, the longest frame",
        ),
        (
            "first_switch = 1\nrate = \"25 bit/s\"\n".to_owned(),
            "two.toml:24:8: ethernet.trunk.rate: found 3.125 B/s; allowed is at least 1 kB/s",
        ),
        ("first_switch = 1\n".to_owned(), "two.toml:22:1: ethernet.trunk: `rate` is missing"),
    ];
    for (fields, expected) in table {
        assert_eq!(with_trunk(&fields).unwrap_err().to_string(), expected);
    }
    let misspelt = with_trunk(&format!("first_swich = 1\n{rate}\n")).unwrap_err().to_string();
    assert!(misspelt.starts_with("two.toml:23:1: ethernet.trunk: there is no field `first_swich`"), "{misspelt}");
}

#[test]
fn mistakes_in_how_messages_are_sent() {
    let table = [
        (
            "window = 32",
            "window = 0",
            "two.toml:18:10: ethernet.messaging.window: found 0 packets; allowed is 1 to 65536",
        ),
        (
            "window = 32",
            "first_timeout = \"500 ms\"\nmost_timeout = \"100 ms\"",
            "two.toml:18:17: ethernet.messaging.first_timeout: found 500 ms; allowed is at most 100 ms, the `most_timeout`",
        ),
        (
            "window = 32",
            "patience = \"0 s\"",
            "two.toml:18:12: ethernet.messaging.patience: found 0 ps; allowed is more than 0",
        ),
        (
            "queue = \"64 KiB\"",
            "queue = \"1 KiB\"",
            "two.toml:6:9: ethernet.queue: found 1 KiB; allowed is at least 1518 B, the longest frame",
        ),
        (
            "queue = \"64 KiB\"",
            "queue = \"64 KiB\"\nprocessors = 0",
            "two.toml:7:14: ethernet.processors: found 0 processors; allowed is 1 to 1024",
        ),
        (
            "queue = \"64 KiB\"",
            "queue = \"64 KiB\"\nbucket = \"1500 B\"",
            "two.toml:7:10: ethernet.bucket: found 1500 B; allowed is at least 1518 B, the longest frame",
        ),
        (
            "queue = \"64 KiB\"",
            "queue = \"64 KiB\"\nbucket_delay = \"20 us\"",
            "two.toml:7:16: ethernet.bucket_delay: found 20 us; allowed is 0 ps, as neither the wires nor a trunk have a `bucket`",
        ),
        (
            "queue = \"64 KiB\"",
            "queue = \"64 KiB\"\nbucket_carry = \"15 us\"",
            "two.toml:7:16: ethernet.bucket_carry: found 15 us; allowed is 0 ps, as neither the wires nor a trunk have a `bucket`",
        ),
        (
            "queue = \"64 KiB\"",
            "queue = \"64 KiB\"\ninterrupt = \"7 us\"",
            "two.toml:7:13: ethernet.interrupt: found 7 us; allowed is 0 ps, as nodes share no `processors`",
        ),
        (
            "queue = \"64 KiB\"",
            "queue = \"64 KiB\"\ncold_each = \"1 us\"",
            "two.toml:7:13: ethernet.cold_each: found 1 us; allowed is 0 ps, as nodes share no `processors`",
        ),
        (
            "window = 32",
            "header = \"1 KiB\"",
            "two.toml:18:10: ethernet.messaging.header: found 1 KiB; allowed is at most 64 B",
        ),
    ];
    for (part, instead, expected) in table {
        assert_eq!(complaint(part, instead), expected);
    }
    assert!(
        complaint("window = 32", "windw = 32")
            .starts_with("two.toml:18:1: ethernet.messaging: there is no field `windw`")
    );
    assert!(complaint("\"selective\"", "\"selctive\"").contains("there is no value `selctive`"));
}

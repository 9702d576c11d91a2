//! Every mistake in a description causes one clear message: where, which field, what was found, what is allowed.

use maquette_machines::{Description, Error, load, load_with};

const GOOD: &str = r#"about = "a small mesh"

[topology.mesh]
columns = 4
rows = 2

[channels]
rate = "10 MB/s"
buffers = 2

[routers]
routing_delay = "100 ns"

[packet]
payload = "128 B"
header = "2 B"
"#;

fn message_of(error: Error) -> String {
    match error.hint() {
        Some(hint) => format!("{error} | {hint}"),
        None => error.to_string(),
    }
}

/// The message about the good description with one part of it changed.
fn complaint(part: &str, instead: &str) -> String {
    assert!(GOOD.contains(part), "{part}");
    whole(&GOOD.replacen(part, instead, 1))
}

fn whole(text: &str) -> String {
    let machine = Description::parse(text, "mesh.toml").and_then(|description| description.resolve());
    message_of(machine.expect_err(text))
}

#[test]
fn the_good_description_resolves() {
    let machine = Description::parse(GOOD, "some/where/small.toml").unwrap().resolve().unwrap();
    assert_eq!((machine.name.as_str(), machine.nodes), ("small", 8));
}

/// A part of the good description, what replaces it, and the message about that.
const MISTAKES: &[(&str, &str, &str)] = &[
    (
        "buffers = 2",
        "bufers = 2",
        "mesh.toml:9:1: channels: there is no field `bufers` | did you mean `buffers`? The fields are rate, flit_time, \
             wire_latency, credit_latency, buffers, virtual_channels, nodes, injection, ejection, global",
    ),
    ("buffers = 2", "buffers = 0", "mesh.toml:9:11: channels.buffers: found 0; allowed is 1 to 1048576 flits"),
    (
        "buffers = 2",
        "buffers = -1",
        "mesh.toml:9:11: channels.buffers: invalid value: integer `-1`, expected a whole number from 0 to 4294967295",
    ),
    (
        "\"10 MB/s\"",
        "\"0 MB/s\"",
        "mesh.toml:8:8: channels.rate: `0 MB/s` is not a rate: it must be more than zero; write a rate such as \
             `27 MB/s`; the units are B/s, kB/s, MB/s, GB/s, KiB/s, MiB/s, GiB/s, bit/s, kbit/s, Mbit/s, Gbit/s",
    ),
    (
        "\"10 MB/s\"",
        "\"1 bit/s\"",
        "mesh.toml:8:8: channels.rate: found 1 bit/s; allowed is a flit of 1 B in 1 ps to 1 ms",
    ),
    (
        "\"10 MB/s\"",
        "\"10 MB/s\"\nflit_time = \"100 ns\"",
        "mesh.toml:7:1: channels: found both `rate` and `flit_time`; allowed is one of them",
    ),
    (
        "\"100 ns\"",
        "\"0 ns\"",
        "mesh.toml:12:17: routers.routing_delay: found 0 ps; allowed is more than zero, at most 1 s",
    ),
    ("\"100 ns\"", "\"2 s\"", "mesh.toml:12:17: routers.routing_delay: found 2 s; allowed is at most 1 s"),
    (
        "\"100 ns\"",
        "100",
        "mesh.toml:12:17: routers.routing_delay: invalid type: integer `100`, expected a duration in quotes, such as \
             \"1.5 us\"",
    ),
    ("columns = 4\n", "", "mesh.toml:3:1: topology.mesh: `columns`, which goes with `rows`, is missing"),
    ("columns = 4\nrows = 2\n", "", "mesh.toml:3:1: topology.mesh: `sides` (or `columns` and `rows`) is missing"),
    (
        "rows = 2\n",
        "rows = 2\nsides = [4, 2]\n",
        "mesh.toml:3:1: topology.mesh: found `sides` beside `columns` or `rows`; allowed is `sides`, or `columns` and `rows`",
    ),
    (
        "columns = 4\nrows = 2\n",
        "sides = [4, 0, 2]\n",
        "mesh.toml:4:13: topology.mesh.sides[1]: found 0 routers in a side; allowed is 1 to 1048576",
    ),
    ("columns = 4\nrows = 2\n", "sides = []\n", "mesh.toml:4:9: topology.mesh.sides: found 0 sides; allowed is 1 to 8"),
    (
        "columns = 4\nrows = 2\n",
        "sides = [1024, 1024, 1024]\n",
        "mesh.toml:3:1: topology.mesh: found 1073741824 nodes; allowed is 1 to 1048576",
    ),
    ("columns = 4", "columns = 0", "mesh.toml:4:11: topology.mesh.columns: found 0 columns; allowed is 1 to 1048576"),
    ("columns = 4", "columns = 1000000", "mesh.toml:3:1: topology.mesh: found 2000000 nodes; allowed is 1 to 1048576"),
    (
        "[topology.mesh]",
        "[topology.mseh]",
        "mesh.toml:3:11: topology: there is no field `mseh` | did you mean `mesh`? The fields are clos, mesh_of_clos, \
             mesh, torus, fat_tree, dragonfly, star, graph",
    ),
    ("header = \"2 B\"", "header = 0", "mesh.toml:16:10: packet.header: found 0 B; allowed is 1 B to 1 GiB"),
    (
        "payload = \"128 B\"",
        "payload = \"4 MiB\"",
        "mesh.toml:15:11: packet.payload: found 4 MiB in flits of 1 B: 4194306 flits with the header; allowed is at \
             most 1048576 flits",
    ),
    ("[routers]\nrouting_delay = \"100 ns\"\n", "", "mesh.toml: `routers` is missing"),
    ("rate = \"10 MB/s\"\n", "", "mesh.toml:7:1: channels: `rate` (or `flit_time`) is missing"),
];

#[test]
fn mistakes_in_fields() {
    for &(part, instead, expected) in MISTAKES {
        assert_eq!(complaint(part, instead), expected);
    }
}

#[test]
fn text_that_is_not_toml() {
    assert!(complaint("columns = 4", "columns = ").starts_with("mesh.toml:4:11: "));
    assert!(whole("[").starts_with("mesh.toml:1:"));
    assert_eq!(whole(""), "mesh.toml: `topology` (or `loggp`, or `ethernet`) is missing");
}

#[test]
fn mistakes_of_routing_and_switching() {
    let routing = |rule: &str| complaint("[packet]", &format!("[routing]\nrule = \"{rule}\"\n\n[packet]"));
    assert_eq!(
        routing("up-dwn"),
        "mesh.toml:15:8: routing.rule: there is no value `up-dwn` | did you mean `up-down`? The values are \
         dimension-order, clos, minimal, valiant, up-down, shortest-path",
    );
    assert_eq!(
        routing("clos"),
        "mesh.toml:15:8: routing.rule: `clos` cannot serve this topology: it is for `clos`, `mesh_of_clos` and \
         `fat_tree`; `up-down` is for all",
    );
    let switching = |text: &str| complaint("[packet]", &format!("[switching]\n{text}\n\n[packet]"));
    assert_eq!(
        switching("mode = \"virtual-cut-through\""),
        "mesh.toml:9:11: channels.buffers: found 2; allowed is at least 130, a whole packet, unless switching is by \
         wormhole",
    );
    assert_eq!(
        switching("mode = \"software\""),
        "mesh.toml:14:1: switching: `per_packet`, the time to forward a packet, is missing"
    );
    assert_eq!(
        switching("per_packet = \"1 us\""),
        "mesh.toml:15:14: switching.per_packet: found 1 us; allowed is no such time unless switching.mode is \"software\"",
    );
}

#[test]
fn deadlocks_are_reported_channel_by_channel() {
    let torus = GOOD
        .replace("mesh]\ncolumns = 4", "torus]\ncolumns = 6")
        .replace("[packet]", "[routing]\nrule = \"dimension-order\"\n\n[packet]");
    let links = "from torus (0, 0) to torus (1, 0); from torus (1, 0) to torus (2, 0); from torus (2, 0) to torus (3, 0); \
                 from torus (3, 0) to torus (4, 0); from torus (4, 0) to torus (5, 0); from torus (5, 0) to torus (0, 0)";
    assert_eq!(
        whole(&torus),
        format!(
            "mesh.toml:15:8: routing.rule: `dimension-order` can deadlock on this topology: a packet that holds each of \
             these channels can wait for the next, and so round: {links} | with channels.virtual_channels = 2 and \
             virtual cut-through it is free of deadlock; routing.rule = \"up-down\" is free of deadlock on every topology"
        ),
    );
    let three = torus
        .replace("buffers = 2", "buffers = 200\ncredit_latency = \"1 ns\"\nvirtual_channels = 3")
        .replace("[packet]", "[switching]\nmode = \"virtual-cut-through\"\n\n[packet]");
    assert_eq!(
        whole(&three),
        "mesh.toml:11:20: channels.virtual_channels: found 3; allowed is a multiple of 2, which `dimension-order` needs \
         on this topology",
    );
    assert!(Description::parse(&three.replace("= 3", "= 4"), "mesh.toml").unwrap().resolve().is_ok());
    let ring = GOOD.replace(
        "[topology.mesh]\ncolumns = 4\nrows = 2\n",
        r#"[routing]
rule = "shortest-path"
[topology.graph]
routers = [
    { name = "a", nodes = 1 }, { name = "b", nodes = 1 }, { name = "c", nodes = 1 }, { name = "d", nodes = 1 },
    { name = "e", nodes = 1 },
]
links = [
    { between = ["a", "b"] }, { between = ["b", "c"] }, { between = ["c", "d"] }, { between = ["d", "e"] },
    { between = ["e", "a"] },
]
"#,
    );
    let message = whole(&ring);
    assert!(message.contains("`shortest-path` can deadlock on this topology"), "{message}");
    assert!(message.contains("from a to b; from b to c; from c to d; from d to e; from e to a"), "{message}");
    // Without a rule, a graph gets one that cannot.
    let safe = ring.replace("rule = \"shortest-path\"", "");
    assert!(Description::parse(&safe, "ring.toml").unwrap().resolve().is_ok());
}

#[test]
fn mistakes_with_virtual_channels() {
    let channels = |text: &str, mode: &str| {
        let switching = format!(
            "[switching]\nmode = \"{mode}\"\n{}\n[packet]",
            if mode == "software" { "per_packet = \"1 us\"" } else { "" }
        );
        whole(&GOOD.replacen("buffers = 2", &format!("buffers = 200\n{text}"), 1).replacen("[packet]", &switching, 1))
    };
    let credit = "credit_latency = \"1 ns\"";
    let table = [
        (
            "virtual_channels = 0",
            "virtual-cut-through",
            "mesh.toml:10:20: channels.virtual_channels: found 0; allowed is 1 to 16",
        ),
        (
            "virtual_channels = 17",
            "virtual-cut-through",
            "mesh.toml:10:20: channels.virtual_channels: found 17; allowed is 1 to 16",
        ),
        (
            "virtual_channels = 2",
            "wormhole",
            "mesh.toml:10:20: channels.virtual_channels: found 2; allowed is 1, unless switching.mode is \
             \"virtual-cut-through\" or \"store-and-forward\": by wormhole a packet that is held up keeps the wire, and \
             the other virtual channels would wait too",
        ),
        (
            "virtual_channels = 2",
            "software",
            "mesh.toml:10:20: channels.virtual_channels: found 2; allowed is 1, unless switching.mode is \
             \"virtual-cut-through\" or \"store-and-forward\": where nodes route in software, a link has one buffer",
        ),
        (
            "virtual_channels = 2",
            "store-and-forward",
            "mesh.toml:7:1: channels.credit_latency: found 0 ps; allowed is more than zero, since several virtual \
             channels share a channel",
        ),
    ];
    for (text, mode, expected) in table {
        assert_eq!(channels(text, mode), expected);
    }
    let good = GOOD.replacen("buffers = 2", &format!("buffers = 200\nvirtual_channels = 3\n{credit}"), 1).replacen(
        "[packet]",
        "[switching]\nmode = \"virtual-cut-through\"\n[packet]",
        1,
    );
    assert!(Description::parse(&good, "mesh.toml").unwrap().resolve().is_ok());
    let graph = good.replacen(
        "[topology.mesh]\ncolumns = 4\nrows = 2\n",
        "[topology.graph]\nrouters = [{ name = \"a\", nodes = 1 }, { name = \"b\", nodes = 1 }]\n\
         links = [{ between = [\"a\", \"b\"], credit_latency = \"0 ns\" }]\n",
        1,
    );
    assert_eq!(
        whole(&graph),
        "mesh.toml:5:51: topology.graph.links[0].credit_latency: found 0 ps; allowed is more than zero, since several \
         virtual channels share a channel | a link is written { between = [\"a\", \"b\"] }, with the names of two \
         routers, and can have rate or flit_time, wire_latency, credit_latency and buffers of its own",
    );
}

#[test]
fn mistakes_in_fat_trees() {
    let tree = |text: &str| {
        complaint(
            "[topology.mesh]\ncolumns = 4\nrows = 2\n",
            &format!("[topology.fat_tree]\narity = 4\nlevels = 3\n{text}\n"),
        )
    };
    let table = [
        ("subtrees = 5", "mesh.toml:6:12: topology.fat_tree.subtrees: found 5; allowed is 1 to 4, the arity"),
        ("subtrees = 0", "mesh.toml:6:12: topology.fat_tree.subtrees: found 0; allowed is 1 to 4, the arity"),
        (
            "subtree = 2",
            "mesh.toml:6:1: topology.fat_tree: there is no field `subtree` | did you mean `subtrees`? The fields are \
             arity, levels, subtrees, parents, rates",
        ),
        (
            "parents = [2]",
            "mesh.toml:6:11: topology.fat_tree.parents: found 1 parents; allowed is 2: one for the links above each level \
             but the top",
        ),
        ("parents = [2, 5]", "mesh.toml:6:15: topology.fat_tree.parents[1]: found 5; allowed is 1 to 4, the arity"),
    ];
    for (text, expected) in table {
        assert_eq!(tree(text), expected);
    }
}

#[test]
fn mistakes_in_dragonflies() {
    let dragonfly = |text: &str, more: &str| {
        let good = GOOD
            .replacen("[topology.mesh]\ncolumns = 4\nrows = 2\n", &format!("[topology.dragonfly]\n{text}\n"), 1)
            .replacen("buffers = 2", "buffers = 200\nvirtual_channels = 2\ncredit_latency = \"1 ns\"", 1);
        whole(&format!("{good}{more}\n[switching]\nmode = \"virtual-cut-through\"\n"))
    };
    let sizes = |nodes: u32, routers: u32, links: u32, groups: u32| {
        format!("nodes = {nodes}\nrouters = {routers}\nglobal_links = {links}\ngroups = {groups}")
    };
    let table = [
        (
            sizes(0, 4, 2, 9),
            "",
            "mesh.toml:4:9: topology.dragonfly.nodes: found 0 nodes of a router; allowed is 1 to 1024",
        ),
        (
            sizes(2, 0, 2, 1),
            "",
            "mesh.toml:5:11: topology.dragonfly.routers: found 0 routers of a group; allowed is 1 to 1024",
        ),
        (sizes(2, 4, 2000, 9), "", "mesh.toml:6:16: topology.dragonfly.global_links: found 2000; allowed is 0 to 1024"),
        (
            sizes(2, 4, 2, 10),
            "",
            "mesh.toml:7:10: topology.dragonfly.groups: found 10; allowed is 1 to 9: a group has 8 links to others",
        ),
        (
            sizes(1024, 1024, 2, 9),
            "",
            "mesh.toml:3:1: topology.dragonfly: found 9437184 nodes; allowed is 1 to 1048576",
        ),
        (
            sizes(2, 4, 2, 2),
            "[routing]\nrule = \"valiant\"",
            "mesh.toml:22:8: routing.rule: `valiant` cannot serve this topology: there is no third group to go through",
        ),
        (
            sizes(2, 4, 2, 9),
            "[channels.global]\ncredit_latency = \"0 ns\"",
            "mesh.toml:22:18: channels.global.credit_latency: found 0 ps; allowed is more than zero, since several virtual \
             channels share a channel",
        ),
    ];
    for (text, more, expected) in &table {
        assert_eq!(&dragonfly(text, more), expected);
    }
    let two = dragonfly(&sizes(2, 4, 2, 9), "[routing]\nrule = \"valiant\"");
    assert!(
        two.starts_with("mesh.toml:22:8: routing.rule: `valiant` can deadlock on this topology: a packet that"),
        "{two}"
    );
    assert!(two.contains(" by virtual channel 1; ") && two.contains("with channels.virtual_channels = 3 and"), "{two}");
}

#[test]
fn dragonflies_need_their_virtual_channels() {
    let one = GOOD.replacen(
        "[topology.mesh]\ncolumns = 4\nrows = 2\n",
        "[topology.dragonfly]\nnodes = 2\nrouters = 4\nglobal_links = 2\n",
        1,
    );
    let message = whole(&one);
    assert!(
        message.starts_with("mesh.toml: routing.rule: `minimal` can deadlock on this topology: a packet that"),
        "{message}"
    );
    assert!(
        message.ends_with(
            "| with channels.virtual_channels = 2 and virtual cut-through it is free of deadlock; routing.rule = \
             \"up-down\" is free of deadlock on every topology"
        ),
        "{message}"
    );
    assert_eq!(
        complaint("[packet]", "[routing]\nrule = \"minimal\"\n\n[packet]"),
        "mesh.toml:15:8: routing.rule: `minimal` cannot serve this topology: it is for `dragonfly`; `up-down` is for all",
    );
    assert_eq!(
        complaint("[routers]", "[channels.global]\nbuffers = 3\n\n[routers]"),
        "mesh.toml:11:1: channels.global: found `global`; allowed is no such channels but in a dragonfly",
    );
}

#[test]
fn mistakes_in_graphs() {
    let graph =
        |text: &str| complaint("[topology.mesh]\ncolumns = 4\nrows = 2\n", &format!("[topology.graph]\n{text}\n"));
    let routers = r#"routers = [{ name = "left", nodes = 1 }, { name = "right", nodes = 1 }]"#;
    let table = [
        (
            "",
            "mesh.toml:4:13: topology: found no way from node 0 to node 1 at `right`; allowed is links that join all nodes",
        ),
        (
            "links = [{ between = [\"left\", \"rihgt\"] }]",
            "mesh.toml:5:10: topology.graph.links[0].between: there is no router `rihgt` | did you mean `right`? The routers \
             are left, right",
        ),
        (
            "links = [{ between = [\"left\", \"right\"], buffers = 0 }]",
            "topology.graph.links[0].buffers: found 0; allowed is 1 to 1048576 flits",
        ),
        (
            "links = [{ between = [\"left\", \"left\"] }]",
            "topology.graph.links[0].between: found `left` twice; allowed is two different routers",
        ),
        (
            "links = [{ between = [\"left\", \"right\"], bufers = 1 }]",
            "topology.graph.links[0]: there is no field `bufers` | did you mean `buffers`? The fields are between, rate, \
             flit_time, wire_latency, credit_latency, buffers",
        ),
    ];
    for (links, expected) in table {
        let message = graph(&format!("{routers}\n{links}"));
        assert!(
            message.contains(expected.split_once(": ").unwrap().1) && message.contains("topology"),
            "{message}\n{expected}"
        );
    }
    let twice = graph(r#"routers = [{ name = "a", nodes = 1 }, { name = "a" }]"#);
    assert!(twice.contains("routers[1].name: found `a`; allowed is a name that no other router has"), "{twice}");
}

#[test]
fn mistakes_of_names_files_and_settings() {
    let error = load("moc-32").unwrap_err();
    assert_eq!(error.to_string(), "there is no machine called `moc-32`");
    assert!(error.hint().unwrap().starts_with("did you mean `moc-3-2`? The presets are moc-2-1, "));
    assert!(load("no/such.toml").unwrap_err().to_string().starts_with("cannot read `no/such.toml`: "));
    let set = |name: &str, value: &str| {
        message_of(load_with("moc-3-2", &[(name.to_string(), value.to_string())]).expect_err(name))
    };
    assert_eq!(set("buffers", "0"), "setting buffers=0: channels.buffers: found 0; allowed is 1 to 1048576 flits");
    assert_eq!(
        set("switching", "virtual-cut-through"),
        "setting switching=virtual-cut-through: channels.buffers: found 1; allowed is at least 130, a whole packet, \
         unless switching is by wormhole",
    );
    assert_eq!(
        set("topology.mesh_of_clos.columns", "2"),
        "setting topology.mesh_of_clos.columns=2: topology.mesh_of_clos: one of `columns` and `rows`, which go together, \
         is missing",
    );
    assert_eq!(
        set("piggyback", "129"),
        "setting piggyback=129: node.piggyback: found 129 B; allowed is at most 128 B, what a packet carries",
    );
    assert_eq!(
        set("eager", "16 KiB"),
        "setting eager=16 KiB: node.eager: found 16 KiB; allowed is none unless node.protocol is \"rendezvous\"",
    );
    assert_eq!(
        set("node.procesor_send", "1us"),
        "`node.procesor_send=1us` cannot be set: there is no field `procesor_send` | did you mean `processor_send`? The \
         fields are processor_send, processor_receive, message_send, message_receive, packet_send, packet_receive, \
         packet_rate, system_message, cold_send, cold_receive, copy_rate, copy_out_rate, reconstruction, waits_for_departure, send, acknowledged, \
         protocol, piggyback, eager",
    );
    for (field, value, otherwise) in [("idle_when", "empty", "free"), ("waits_for", "any", "chosen")] {
        assert_eq!(
            set(field, value),
            format!(
                "setting {field}={value}: routing.{field}: found {value}; allowed is \"{otherwise}\" unless \
                 routing.selection is \"round-robin\", \"idle-fixed\" or \"idle-random\""
            ),
        );
    }
    assert!(
        set("bufers", "1")
            .starts_with("`bufers=1` cannot be set: there is no setting `bufers` | did you mean `buffers`?")
    );
    assert!(set("buffers", "many").contains("invalid type: string \"many\", expected a whole number"));
    assert!(set("layer", "randm").contains("there is no value `randm` | did you mean `random`?"));
    assert!(set("rate", "10 MBs").contains("did you mean `MB/s`?"));
    for (field, value) in
        [("routing.idle_when", "0"), ("waits_for", "true"), ("switching.mode", "1.5"), ("node.send", "[1]")]
    {
        let complaint = set(field, value);
        assert!(complaint.contains(&format!("there is no value `{value}` | The values are ")), "{complaint}");
    }
    assert!(set("channels.", "1").contains("a field's path has names with points between them"));
    assert!(set("about.more", "1").contains("found `about`, a string; allowed is a table of fields"));
}

#[test]
fn duplicates_are_named() {
    assert_eq!(
        complaint("rows = 2", "rows = 2\nrows = 3"),
        "mesh.toml:6:1: `rows` is there twice, and can be given only once"
    );
    let table = whole(&format!("{GOOD}[channels]\nbuffers = 3\n"));
    assert!(table.ends_with("`channels` is there twice, and can be given only once"), "{table}");
    let both = "[loggp]\nnodes = 4\nL = \"5 us\"\nlatency = \"6 us\"\no = \"1 us\"\ng = \"1 us\"\n";
    assert!(whole(both).contains("`latency` is given twice, `L` being the same field"), "{}", whole(both));
}

#[test]
fn the_form_of_a_link_can_be_guessed_from_the_message() {
    let routers = "routers = [{ name = \"a\", nodes = 1 }, { name = \"b\", nodes = 1 }]";
    let wrong = [
        "links = [{ from = \"a\", to = \"b\" }]",
        "links = [[\"a\", \"b\"]]",
        "links = [\"a-b\"]",
        "links = [{ between = \"a\" }]",
        "links = [{ between = [\"a\"] }]",
        "links = [{ between = [\"a\", \"b\", \"c\"] }]",
        "links = [{}]",
        "links = 3",
        "links = { a = \"b\" }",
        "edges = [[\"a\", \"b\"]]",
        "",
    ];
    for links in wrong {
        let graph = format!("[topology.graph]\n{routers}\n{links}\n");
        let message = complaint("[topology.mesh]\ncolumns = 4\nrows = 2\n", &graph);
        assert!(message.contains("{ between = [\"a\", \"b\"] }"), "{links}: {message}");
        assert!(!message.contains("struct") && !message.contains("sequence"), "{links}: {message}");
    }
}

#[test]
fn a_misplaced_field_is_reported_with_its_right_place() {
    let top = |field: &str| whole(&format!("{field}\n{GOOD}"));
    assert!(top("processor_send = \"5 us\"").contains("did you mean `node.processor_send`?"));
    assert!(top("rate = \"1 GB/s\"").contains("did you mean `channels.rate` or "));
    assert!(top("rates = 3").contains("did you mean `topology.fat_tree.rates`?"), "{}", top("rates = 3"));
    let near = complaint("buffers = 2", "rates = \"1 GB/s\"");
    assert!(near.contains("did you mean `rate`?"), "{near}");
    let set = |name: &str, value: &str| {
        message_of(load_with("slingshot-1024", &[(name.to_string(), value.to_string())]).expect_err(name))
    };
    assert!(
        set("processor_send", "5us").contains("did you mean `node.processor_send`?"),
        "{}",
        set("processor_send", "5us")
    );
    for name in ["nodes", "L", "loggp.nodes", "ethernet.queue", "topology.torus.sides"] {
        let message = set(name, "8");
        assert!(
            message.contains("which the machine does not have; allowed is fields of `topology.dragonfly`"),
            "{message}"
        );
        assert!(!message.contains("missing"), "{message}");
    }
    assert!(set("nodes", "8").contains("from which the number of its nodes follows: topology.dragonfly.nodes, "));
    assert!(set("control_network.latency", "1us").contains("`control_network.rate` is missing"));
    let star = "[topology.star]\nnodes = 4\n".to_string() + GOOD.split_once("[channels]").unwrap().1;
    let star = star.replacen("nodes = 4\n", "nodes = 4\n[channels]\n", 1);
    let mut star = Description::parse(&star, "star.toml").unwrap();
    star.set("nodes", "7").unwrap();
    assert_eq!(star.resolve().unwrap().nodes, 7);
}

#[test]
fn a_value_of_the_wrong_type_is_reported_in_plain_words() {
    let cases = [
        (
            "[topology.mesh]\ncolumns = 4\nrows = 2\n",
            "[topology]\nmesh = \"4x4\"\n",
            "expected a table of fields, such as { columns = 4",
        ),
        ("columns = 4\nrows = 2", "sides = 4", "expected a list, in brackets"),
        (
            "columns = 4",
            "columns = 99999999999999999999999",
            "integer `99999999999999999999999`, expected a whole number",
        ),
        ("rate = \"10 MB/s\"", "rate = []", "invalid type: list, expected a rate in quotes"),
    ];
    for (part, instead, expected) in cases {
        let message = complaint(part, instead);
        assert!(message.contains(expected), "{message}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_description_without_end_is_not_read() {
    let error = load("/dev/zero").unwrap_err().to_string();
    assert_eq!(error, "cannot read `/dev/zero`: it is longer than 16 MiB, the most that is read");
}

//! What is written of a machine says all that a simulator needs.

use maquette_machines::{Description, export, load, load_with, presets};

#[test]
fn json_lists_every_channel() {
    let settings =
        [("flit_time".to_string(), "100 ns".to_string()), ("credit_latency".to_string(), "30 ns".to_string())];
    let machine = load_with("moc-3-2", &settings).unwrap();
    let value: serde_json::Value = serde_json::from_str(&export::json(&machine)).unwrap();
    let channels = value["network"]["channels"].as_array().unwrap();
    assert_eq!(channels.len(), 2 * (64 + 24));
    let first = serde_json::json!({
        "id": 0, "from": {"node": 0}, "to": {"router": 0}, "input_port": 0, "flit_time_ps": 100_000,
        "wire_latency_ps": 0, "credit_latency_ps": 30_000, "buffer_slots": 1, "virtual_channels": 1,
    });
    assert_eq!(channels[0], first);
    assert_eq!(value["network"]["routers"][5]["name"], "mesh (1, 1)");
    assert_eq!(value["network"]["routers"][5]["mesh_index"], 5);
    assert_eq!(value["network"]["packet"]["payload_bytes"], 128);
    assert_eq!(value["network"]["switching"]["mode"], "wormhole");
    assert_eq!(value["node"]["send"], "synchronous");
}

#[test]
fn loggp_has_its_costs_and_no_network() {
    let value: serde_json::Value = serde_json::from_str(&export::json(&load("loggp").unwrap())).unwrap();
    assert_eq!(value["loggp"]["latency_ps"], 2_500_000);
    assert_eq!(value["loggp"]["rendezvous_bytes"], 65_536);
    assert!(value.get("network").is_none());
}

#[test]
fn graphs_have_a_line_for_each_link_and_an_edge_for_each_channel() {
    for preset in presets().into_iter().filter(|preset| preset.name != "loggp") {
        let machine = load(preset.name).unwrap();
        let edges = export::graphml(&machine).matches("<edge ").count();
        assert_eq!(export::dot(&machine).matches(" -- ").count() * 2, edges, "{}", preset.name);
    }
}

#[test]
fn awkward_names_stay_well_formed() {
    let text = r#"
        name = "a\"b\\<&>\u0007"
        [topology.graph]
        routers = [{ name = "<\"&\\>\n", nodes = 2 }]
        [channels]
        rate = "1 MB/s"
        [routers]
        routing_delay = "1 us"
        [packet]
        payload = 8
        header = 1
    "#;
    let machine = Description::parse(text, "odd.toml").unwrap().resolve().unwrap();
    assert!(export::graphml(&machine).contains("<data key=\"name\">&lt;&quot;&amp;\\&gt; </data>"));
    assert!(export::dot(&machine).contains(r#"label="<\"&\\>\n""#));
    serde_json::from_str::<serde_json::Value>(&export::json(&machine)).unwrap();
}

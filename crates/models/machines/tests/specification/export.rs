//! An exported machine contains everything that a simulator needs.

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
        "id": 0, "from": {"node": 0}, "to": {"router": 0}, "input_port": 0, "flit_time_ps": 100_000, "bits_per_second": 80_000_000,
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
fn every_export_of_a_changed_machine_lists_the_changes() {
    let settings = [("sides".to_string(), "[16, 8, 8]".to_string()), ("name".to_string(), "big <&>".to_string())];
    let machine = load_with("torus-512", &settings).unwrap();
    let unchanged = load("torus-512").unwrap();
    assert_eq!((unchanged.nodes, machine.nodes), (512, 1024));
    let about = format!("{}, changed by sides=[16, 8, 8] name=big <&>", unchanged.about);
    assert_eq!(machine.about, about);
    let value: serde_json::Value = serde_json::from_str(&export::json(&machine)).unwrap();
    assert_eq!(value["set"], serde_json::json!(["sides=[16, 8, 8]", "name=big <&>"]));
    assert_eq!((&value["description"], value["about"].as_str()), (&"torus-512".into(), Some(about.as_str())));
    assert_eq!(value["blake3"].as_str().map(str::len), Some(64));
    assert!(export::dot(&machine).contains(&format!("label=\"big <&>: {about}")));
    let described = about.replace("<&>", "&lt;&amp;&gt;");
    assert!(export::graphml(&machine).contains(&format!("<desc>big &lt;&amp;&gt;: {described}")));
    assert!(!export::dot(&unchanged).contains("label=\"torus-512"));
    // Setting `about` replaces the text.
    let own = [("about".to_string(), "mine".to_string())];
    assert_eq!(load_with("torus-512", &own).unwrap().about, "mine");
}

#[test]
fn only_a_machine_in_which_something_is_drawn_is_random() {
    let is_random = |name: &str, settings: &[(&str, &str)]| {
        let settings: Vec<_> = settings.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect();
        load_with(name, &settings).unwrap().is_random()
    };
    assert!(!is_random("torus-512", &[]) && !is_random("loggp", &[]));
    assert!(is_random("moc-3-1", &[("selection", "random")]) && !is_random("moc-3-1", &[("selection", "fixed")]));
    assert!(is_random("mpich-tcp-8", &[("loss", "0.1")]) && !is_random("mpich-tcp-8", &[("loss", "0")]));
    assert!(is_random("slingshot-1024", &[("rule", "valiant"), ("virtual_channels", "3")]));
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

//! A description is rewritten with settings in it: nothing else of its text changes.

use maquette_machines::{Description, describe, presets};
use proptest::prelude::*;

const TEXT: &str = "\
# A machine.
about = \"two nodes\" # what it is
[topology.star]
nodes = 2

[channels]
rate = \"10 MB/s\"   # measured
buffers = 2 # chosen

[routers]
routing_delay = \"100 ns\"

[packet]
payload = \"64 B\"
header = \"2 B\"
";

fn rewritten(settings: &[(&str, &str)]) -> String {
    let mut description = Description::parse(TEXT, "star.toml").unwrap();
    for (name, value) in settings {
        description.set(name, value).unwrap();
    }
    description.text().unwrap()
}

#[test]
fn values_change_in_place_and_comments_stay() {
    assert_eq!(rewritten(&[]), TEXT);
    let expected = TEXT.replace("\"10 MB/s\"  ", "\"12.5 MB/s\"  ").replace("buffers = 2", "buffers = 16");
    assert_eq!(rewritten(&[("rate", "3 MB/s"), ("buffers", "16"), ("channels.rate", "12.5 MB/s")]), expected);
}

#[test]
fn a_field_that_replaces_another_is_written_and_the_other_removed() {
    let text = rewritten(&[("flit_time", "80 ns")]);
    assert!(text.contains("flit_time = \"80 ns\"") && !text.contains("10 MB/s"), "{text}");
    assert!(text.contains("buffers = 2 # chosen"), "{text}");
}

#[test]
fn missing_fields_and_tables_are_added() {
    let text = rewritten(&[("node.processor_send", "5us"), ("channels.ejection.buffers", "8")]);
    let again = Description::parse(&text, "star.toml").unwrap();
    assert_eq!(again.value("node.processor_send").unwrap().as_deref(), Some("5us"));
    assert_eq!(again.value("channels.ejection.buffers").unwrap().as_deref(), Some("8"));
    assert!(text.replace("[channels.ejection]\nbuffers = 8\n\n", "").starts_with(TEXT), "{text}");
}

#[test]
fn a_field_is_found_by_its_path_and_by_its_short_name() {
    let description = Description::parse(TEXT, "star.toml").unwrap();
    assert_eq!(description.value("rate").unwrap().as_deref(), Some("10 MB/s"));
    assert_eq!(description.value("channels.buffers").unwrap().as_deref(), Some("2"));
    assert_eq!(description.value("node.processor_send").unwrap(), None);
    assert!(description.value("bufers").is_err());
}

proptest! {
    #[test]
    fn what_was_set_is_what_is_read_again(
        preset in prop::sample::select(presets()),
        send in 1_u64..1_000_000,
        receive in 1_u64..1_000_000,
        copy in 1_u64..100_000,
    ) {
        let mut description = describe(preset.name).unwrap();
        prop_assert_eq!(&description.text().unwrap(), preset.text);
        let settings = [
            ("node.processor_send", format!("{send} ns")),
            ("node.processor_receive", format!("{receive} ps")),
            ("node.copy_rate", format!("{copy} kB/s")),
        ];
        for (name, value) in &settings {
            description.set(name, value).unwrap();
        }
        let again = Description::parse(&description.text().unwrap(), "again.toml").unwrap();
        for (name, value) in &settings {
            prop_assert_eq!(&again.value(name).unwrap().unwrap(), value);
        }
        prop_assert_eq!(again.fields(), description.fields());
    }
}

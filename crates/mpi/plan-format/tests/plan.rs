//! Plans are read as they were written, and errors are reported with their position.

use collectives::Collective;
use collectives::all_to_all::Irregular;
use collectives::schedule::Pacing;
use maquette_plan_format::{MatrixExchange, Plan, Planned, place_for};
use quantities::Bytes;

const WHOLE: &str = r#"maquette_plan = 1
machine = "delta"
blake3 = "5f0c"
ranks = 8

[[broadcast]]
to = "8 KiB"
algorithm = "binomial"

[[broadcast]]
above = "8 KiB"
to = "1 MiB"
algorithm = "pipeline"
segment = "4 KiB"

[[all_reduce]]
algorithm = "delay-receive"
lambda = "1.8"

[[all_to_all]]
to = "64 B"
algorithm = "recursive"

[[all_to_all]]
above = "64 B"
algorithm = "edge-colouring"
pacing = "barrier"

[all_to_allv]
algorithm = "all-at-once"

[end]
"#;

fn complaint(text: &str) -> String {
    Plan::parse(text, "plan.toml").unwrap_err().to_string()
}

#[test]
fn a_plan_is_read_as_it_was_written() {
    let plan = Plan::parse(WHOLE, "plan.toml").unwrap();
    assert_eq!(plan.to_toml(), WHOLE);
    assert_eq!(Plan::parse(&plan.to_toml(), "again.toml").unwrap(), plan);
    assert_eq!((plan.machine.as_str(), plan.ranks), ("delta", 8));
    assert_eq!(plan.listed[&Collective::Broadcast][1].name(), "pipeline, segment 4 KiB");
    let exchanges = &plan.listed[&Collective::AllToAll];
    assert!(matches!(&exchanges[0].algorithm, Planned::By(algorithm) if algorithm.name() == "recursive"));
    assert_eq!(exchanges[1].algorithm, Planned::Scheduled(Irregular::EdgeColouring, Pacing::Barrier));
    assert_eq!(plan.all_to_allv.unwrap().algorithm, MatrixExchange::Posted);
}

#[test]
fn a_plan_may_leave_nonblocking_collectives_to_the_library() {
    assert!(!Plan::parse(WHOLE, "plan.toml").unwrap().only_blocking);
    let text = WHOLE.replacen("ranks = 8\n", "ranks = 8\nonly_blocking = true\n", 1);
    let plan = Plan::parse(&text, "plan.toml").unwrap();
    assert!(plan.only_blocking);
    assert_eq!(plan.to_toml(), text);
}

#[test]
fn an_entry_is_for_sizes_above_one_bound_and_up_to_another() {
    let plan = Plan::parse(WHOLE, "plan.toml").unwrap();
    let place = |bytes| place_for(&plan.listed[&Collective::Broadcast], Bytes(bytes));
    assert_eq!([0, 8 << 10, (8 << 10) + 1, 1 << 20].map(place), [Some(0), Some(0), Some(1), Some(1)]);
    assert_eq!(place((1 << 20) + 1), None);
    assert_eq!(place_for(&plan.listed[&Collective::AllReduce], Bytes(u64::MAX)), Some(0));
}

#[test]
fn errors_are_reported_with_their_position() {
    let with = |old: &str, new: &str| {
        assert!(WHOLE.contains(old));
        complaint(&WHOLE.replacen(old, new, 1))
    };
    let cases = [
        (
            with("binomial", "binomail"),
            "plan.toml:8:13: broadcast[0].algorithm: found `binomail`; allowed is one of linear, ",
        ),
        (with("binomial", "binomail"), "; did you mean `binomial`?"),
        (with("segment", "segmnt"), "plan.toml:14:1: broadcast[1]: there is no field `segmnt`"),
        (
            with("segment = \"4 KiB\"", "lambda = 2"),
            "broadcast[1].lambda: found a value; allowed is nothing with `pipeline`",
        ),
        (
            with("segment = \"4 KiB\"", "segment = \"0 B\""),
            "plan.toml:13:13: broadcast[1].segment: found 0 B; allowed is 1 B or more",
        ),
        (with("binomial", "hardware"), "plan.toml:8:13: broadcast[0].algorithm: found `hardware`"),
        (with("lambda = \"1.8\"\n", ""), "all_reduce[0]: found `delay-receive`: found no lambda"),
        (
            with("above = \"8 KiB\"\n", ""),
            "broadcast[1]: found `above` of nothing; allowed is the `to` of the entry before",
        ),
        (
            with("to = \"1 MiB\"", "to = \"1 KiB\""),
            "broadcast[1]: found sizes above 8 KiB and up to 1 KiB; allowed is a range that is not empty",
        ),
        (with("ranks = 8", "ranks = 1"), "plan.toml:4:9: ranks: found 1; allowed is at least 2"),
        (with("ranks = 8", "ranks = 6"), "all_to_all[0].algorithm: found `recursive`"),
        (with("maquette_plan = 1", "maquette_plan = 2"), "plan.toml:1:17: maquette_plan: found 2; allowed is 1"),
        (
            with("\"all-at-once\"", "\"all-at-once\"\npacing = \"barrier\""),
            "all_to_allv.pacing: found a value; allowed is nothing with `all-at-once`",
        ),
        (with("\"all-at-once\"", "\"all-at-once\"\nto = \"8 B\""), "all_to_allv: found 8 B; allowed is no size"),
    ];
    for (found, expected) in cases {
        assert!(found.contains(expected), "{found}");
    }
}

#[test]
fn a_plan_that_is_cut_short_is_refused_wherever_that_is() {
    let whole = Plan::parse(WHOLE, "plan.toml").unwrap();
    let all_but_the_last_line_break = WHOLE.trim_end();
    assert_eq!(Plan::parse(all_but_the_last_line_break, "plan.toml").unwrap(), whole);
    for end in (0..all_but_the_last_line_break.len()).filter(|&end| WHOLE.is_char_boundary(end)) {
        let error = complaint(&WHOLE[..end]);
        assert!(error.starts_with("plan.toml:"), "{error}");
    }
    let between_two_entries = WHOLE.find("[[all_reduce]]").unwrap();
    let error = complaint(&WHOLE[..between_two_entries]);
    assert!(error.contains("end: found the end of the file; allowed is `[end]` as the last line"), "{error}");
}

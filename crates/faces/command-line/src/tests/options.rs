//! Options that would have no effect are refused.

use super::output;
use crate::Failure;

/// Command lines, each with the option that has no effect in it.
const WITHOUT_EFFECT: &[(&str, &str)] = &[
    // There are no flits.
    ("run ping-pong --machine loggp --nodes 4 --engine fast", "--engine"),
    ("run ping-pong --machine loggp --nodes 4 --engine reference", "--engine"),
    ("run all-pairs --machine mpich-tcp-8 --engine fast", "--engine"),
    ("run broadcast --lambda 2 --nodes 8 --engine fast", "--engine"),
    ("run all-to-all --lambda 2 --nodes 8 --engine fast", "--engine"),
    ("run goal tests/command_line/runs.in/unreceived.goal --engine fast", "--engine"),
    // There are no packets.
    ("run ping-pong --machine loggp --nodes 4 --packets never.csv", "--packets"),
    // There is no description.
    ("run broadcast --lambda 2 --nodes 8 --set o=1us", "--set"),
    ("run all-to-all --lambda 2 --nodes 8 --set o=1us", "--set"),
    ("plan broadcast --lambda 2 --ranks 8 --set o=1us", "--set"),
    ("schedule --complete 4 --algorithm greedy --set buffers=4", "--set"),
    // On a machine this tree is not built for a latency.
    ("run broadcast --machine moc-2-1 --algorithm binomial --lambda 2", "--lambda"),
    ("run broadcast --machine moc-2-1 --algorithm linear --lambda 2", "--lambda"),
    ("run broadcast --machine cm5-32 --algorithm hardware --lambda 2", "--lambda"),
    ("run all-reduce --machine moc-2-1 --algorithm ring --lambda 2", "--lambda"),
    ("run broadcast --machine moc-2-1 --alpha 0.6 --lambda 2", "--lambda"),
    ("run broadcast --machine moc-2-1 --lambda 2 --t0 1us", "--t0"),
    ("run broadcast --machine moc-2-1 --t0 1us", "--t0"),
    ("run all-reduce --machine moc-2-1 --algorithm rabenseifner --t0 1us", "--t0"),
    ("run all-reduce --machine moc-2-1 --algorithm delay-receive --lambda 2 --t0 1us", "--t0"),
    ("run broadcast --machine moc-2-1 --algorithm binomial --alpha 0.6", "--alpha"),
    ("run all-reduce --machine moc-2-1 --algorithm ring --alpha 0.6", "--alpha"),
    ("run broadcast --machine moc-2-1 --algorithm binomial --segment 1KiB", "--segment"),
    ("run broadcast --machine cm5-32 --algorithm hardware --order permuted", "--order"),
    // No whole piece is had.
    ("run cast --machine dp-smp-8 --have 0.4", "--have"),
    ("run cast --machine cm5-32 --bytes 3MiB --have 0.1", "--have"),
    // The matrix has the sizes.
    ("run all-to-all --machine loggp --traffic tests/command_line/plan.in/traffic.csv --bytes 8", "--bytes"),
    ("plan all-to-all --machine loggp --traffic tests/command_line/plan.in/traffic.csv --bytes 8", "--bytes"),
    ("schedule --traffic tests/command_line/plan.in/traffic.csv --algorithm greedy --bytes 8", "--bytes"),
    // No client asks for the map, and none reads.
    ("run linear-hash-growth --machine loggp --map-time 1us", "--map-time"),
    ("run linear-hash-growth --machine loggp --map-size 8", "--map-size"),
    ("run linear-hash-growth --machine loggp --routing moved --asked-for-map 2", "--asked-for-map"),
    ("run linear-hash-growth --machine loggp --reads 0 --popularity zipf", "--popularity"),
    // Nothing is forwarded.
    ("run all-to-all --machine moc-2-1 --algorithm greedy --reshuffle 1ns", "--reshuffle"),
    ("run all-to-all --machine moc-2-1 --algorithm bruck --pacing barrier", "--pacing"),
    // No rank both sends and receives in a step.
    ("run all-to-all --machine moc-2-1 --algorithm linear --order sendrecv", "--order"),
    ("run schedule tests/schedules/linear.json --machine moc-2-1 --order sendrecv", "--order"),
    // Only a sendrecv works.
    ("run all-to-all --machine moc-2-1 --algorithm bruck --order alternating", "--order"),
    ("run all-to-all --machine moc-2-1 --nodes 3 --algorithm pairwise --order alternating", "--order"),
    // No GOAL text is written.
    ("schedule --complete 4 --algorithm greedy --pacing barrier", "--pacing"),
    ("schedule --complete 4 --algorithm greedy --order sendrecv", "--order"),
    ("schedule --complete 4 --pacing barrier", "--pacing"),
    // No messages are made.
    ("schedule --read tests/schedules/linear.json --bytes 4", "--bytes"),
    // Nothing is random.
    ("schedule --complete 4 --algorithm greedy --seed 3", "--seed"),
    ("schedule --traffic tests/command_line/plan.in/traffic.csv --seed 3", "--seed"),
    ("pattern conjugate-gradient --seed 2", "--seed"),
    ("pattern euler-545 --density 7", "--density"),
    ("pattern euler-545 --bytes 7", "--bytes"),
    // There is no hot spot.
    ("run traffic --machine moc-2-1 --rate 0.1 --hot-node 3", "--hot-node"),
    ("run traffic --machine moc-2-1 --rate 0.1 --pattern transpose --hot-fraction 0.3", "--hot-fraction"),
    ("saturate --machine moc-2-1 --hot-node 3", "--hot-node"),
    // Launched ranks use no model.
    ("launch --local 2 ping-pong --machine moc-2-1", "--machine"),
    ("launch --local 2 ping-pong --machine=moc-2-1", "--machine"),
    ("launch --local 2 ping-pong --nodes 2", "--nodes"),
    ("launch --local 2 all-to-all --ranks 2", "--ranks"),
    ("launch --local 2 ping-pong --set buffers=4", "--set"),
    ("launch --local 2 ping-pong --engine fast", "--engine"),
    ("launch --local 2 ping-pong --packets never.csv", "--packets"),
    ("launch --local 2 ping-pong --timeline never.json", "--timeline"),
    ("launch --local 2 all-to-all --lambda 2", "--lambda"),
    ("launch --local 2 all-to-all --t0 2us", "--t0"),
    ("launch --local 2 broadcast --algorithm binomial --lambda 2", "--lambda"),
    ("launch --local 2 broadcast --algorithm binomial --t0 1us", "--t0"),
    // No host is to be reached.
    ("launch --local 2 --shell ssh\t{host} ping-pong", "--shell"),
    // Nor is anything of these programs random.
    ("launch --local 2 ping-pong --seed 2", "--seed"),
    ("launch --local 2 all-pairs --seed 2", "--seed"),
    ("launch --local 2 broadcast --seed 2", "--seed"),
    ("launch --local 2 broadcast --algorithm hardware --seed 2", "--seed"),
    ("launch --local 2 all-to-all --seed 2", "--seed"),
    ("launch --local 2 fft --size 16 --only-sizes --seed 2", "--seed"),
    ("launch --local 2 goal tests/command_line/runs.in/unreceived.goal --seed 2", "--seed"),
];

/// Command lines that the parser of arguments refuses, with what it names.
const BADLY_COMBINED: &[(&str, &str)] = &[
    // A machine has steps of its own.
    ("run all-to-all --machine moc-2-1 --t0 2us", "--t0"),
    ("run schedule tests/schedules/linear.json --machine moc-2-1 --t0 2us", "--t0"),
    ("run all-to-all --machine moc-2-1 --lambda 2", "--lambda"),
    ("plan broadcast --machine moc-2-1 --lambda 2", "--lambda"),
    ("schedule --complete 4 --check", "--algorithm"),
    ("schedule --complete 4 --print", "--algorithm"),
    ("schedule --complete 4 --write never.json", "--algorithm"),
    ("schedule --complete 4 --machine cm5-32 --branch 2", "--branch"),
    ("run linear-hash --machine moc-2-1 --keys never.txt --random-keys 7", "--random-keys"),
    ("machine moc-2-1 --dot --graphml", "--dot"),
    ("launch --hosts never.txt --interface 10.0.0.1 ping-pong", "--interface"),
    ("launch --local 2 --no-multicast --group 239.1.2.3:7000 ping-pong", "--group"),
];

#[test]
fn options_without_effect_are_refused() {
    for &(line, option) in WITHOUT_EFFECT {
        match output(line, false) {
            Err(ref failure @ Failure::Argument { ref argument, .. }) => {
                assert_eq!(argument, option, "{line}: {failure}");
                assert_eq!(failure.status(), 2, "{line}");
            }
            Err(other) => panic!("{line}: {other}"),
            Ok(output) => panic!("{line} is not refused: {}", output.text),
        }
    }
}

#[test]
fn options_that_exclude_each_other_are_refused() {
    for &(line, named) in BADLY_COMBINED {
        let failure = output(line, false).err().unwrap_or_else(|| panic!("{line} is not refused"));
        assert!(matches!(failure, Failure::Usage(_)), "{line}: {failure}");
        assert!(failure.to_string().contains(named), "{line}: {failure}");
        assert_eq!(failure.status(), 2, "{line}");
    }
}

#[test]
fn a_seed_counts_where_something_is_drawn() {
    for line in [
        "run all-pairs --machine loggp --nodes 4 --rounds 1 --order shuffled --seed 2",
        "run broadcast --machine loggp --nodes 4 --order permuted --seed 2",
        "run ping-pong --machine moc-3-1 --set selection=random --seed 2",
        "run fft --machine loggp --nodes 4 --size 16 --seed 2",
    ] {
        let output = output(line, false).unwrap();
        assert!(output.text.contains("seed 2; maquette"), "{line}: {}", output.text);
    }
    let output = output("run ping-pong --machine loggp --nodes 4 --seed 2", false).unwrap();
    assert!(output.text.contains("seed 2 without effect, as nothing is random"), "{}", output.text);
}

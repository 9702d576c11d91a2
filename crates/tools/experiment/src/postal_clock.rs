//! The postal model as a machine.

use collectives::postal::{Lambda, Steps};
use machines::model::{Interconnect, LogGp, Machine, Source};
use quantities::Duration;

/// The shortest step of at least a microsecond for which every time in the postal model with this latency is a whole
/// number of picoseconds.
pub fn exact_step(lambda: Lambda) -> Duration {
    const AT_LEAST: u64 = 1_000_000;
    Duration::from_picoseconds(AT_LEAST.div_ceil(lambda.scale()) * lambda.scale())
}

/// The machine of the postal model: a sender is done with a message after `t0`, whatever its size, and its receiver has
/// it `lambda` times as long after it was sent. It is the LogGP model with o = 0, g = t0, L = lambda t0 and G = 0.
///
/// # Errors
/// If the LogGP machine can't be loaded.
pub fn postal_machine(lambda: Lambda, t0: Duration) -> Result<Machine, machines::Error> {
    let model = LogGp {
        latency: Steps::new(lambda.scaled(), lambda.scale()).of(t0),
        overhead: Duration::ZERO,
        gap: t0,
        gap_per_byte: Duration::ZERO,
        overhead_per_byte: Duration::ZERO,
        rendezvous: None,
    };
    Ok(Machine {
        name: format!("the postal model with lambda {lambda}"),
        about: "The postal model: a message takes the same whatever its size, and nothing contends".to_string(),
        interconnect: Interconnect::LogGp(model),
        source: Source {
            description: "the postal model".to_string(),
            blake3: String::new(),
            settings: vec![format!("lambda={lambda}"), format!("t0={t0}")],
        },
        ..machines::load("loggp")?
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_has_a_whole_number_of_parts() {
        for text in ["1", "1.8", "9/7", "1.000001", "1234/999"] {
            let lambda: Lambda = text.parse().unwrap();
            let t0 = exact_step(lambda);
            assert!(t0.picoseconds() >= 1_000_000 && t0.picoseconds().is_multiple_of(lambda.scale()), "{text}: {t0}");
            let machine = postal_machine(lambda, t0).unwrap();
            let Interconnect::LogGp(model) = machine.interconnect else { panic!("not the LogGP model") };
            let latency = u128::from(model.latency.picoseconds()) * u128::from(lambda.scale());
            assert_eq!(latency, u128::from(t0.picoseconds()) * u128::from(lambda.scaled()), "{text}");
        }
    }
}

//! The costs of a paper's machines: those that were chosen, or a draw around them.
//!
//! The papers print few costs of nodes and networks, so any set of them is known only to within a few percent, however
//! well it fits. Each cost of a drawn set is the chosen one times a factor between 1 / (1 + s) and 1 + s, whose
//! logarithm is uniform.

use machines::model::Machine;
use quantities::splitmix64::Draws;

/// s: by what part a cost varies at most.
pub const SPREAD: f64 = 0.05;

/// The fields of a description that hold the costs of messages at a node.
pub const OF_MESSAGES: [&str; 7] = [
    "node.processor_send",
    "node.processor_receive",
    "node.message_send",
    "node.message_receive",
    "node.packet_send",
    "node.packet_receive",
    "node.system_message",
];

/// The costs of the machines of a study.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Costs {
    /// Those of the presets.
    #[default]
    Chosen,
    /// A draw around them, which follows from its number.
    Drawn(u32),
}

impl Costs {
    /// The machine of `preset` with `settings`, and its `chosen` fields as drawn. Presets of one `family` have the same
    /// factors.
    ///
    /// # Errors
    /// Why it cannot be loaded.
    pub fn machine(
        self,
        (family, preset): (&str, &str),
        settings: &[(String, String)],
        chosen: &[&[&str]],
    ) -> Result<Machine, String> {
        let text = |error: machines::Error| error.to_string();
        let mut description = machines::describe(preset).map_err(text)?;
        for (name, value) in settings {
            description.set(name, value).map_err(text)?;
        }
        if let Costs::Drawn(_) = self {
            for field in chosen.iter().copied().flatten() {
                if let Some(value) = description.value(field).map_err(text)? {
                    let factor = self.factor(&format!("{family} {field}"));
                    description.set(field, &times(&value, factor)?).map_err(text)?;
                }
            }
        }
        description.resolve().map_err(text)
    }

    /// The factor of the cost of that name.
    pub fn factor(self, cost: &str) -> f64 {
        match self {
            Costs::Chosen => 1.0,
            Costs::Drawn(number) => {
                // The name decides the stream of draws, and the number the place in it.
                let stream =
                    cost.bytes().fold(0, |state: u64, byte| state.wrapping_mul(0x100_0000_01b3) ^ u64::from(byte));
                let mut draws = Draws(stream.wrapping_add(u64::from(number).wrapping_mul(0x9e37_79b9_7f4a_7c15)));
                draws.next();
                within(SPREAD, draws.share())
            }
        }
    }
}

/// A factor between 1 / (1 + s) and 1 + s, by a share that is drawn from 0 to 1.
pub fn within(s: f64, share: f64) -> f64 {
    (1.0 + s).powf(2.0 * share - 1.0)
}

/// A quantity as a description has it, `15.5 us`, times `factor`.
fn times(quantity: &str, factor: f64) -> Result<String, String> {
    let number_ends = quantity.find(|letter: char| !letter.is_ascii_digit() && letter != '.').unwrap_or(quantity.len());
    let (number, unit) = quantity.split_at(number_ends);
    let number: f64 = number.parse().map_err(|_| format!("{quantity} is no quantity that can be varied"))?;
    // Nothing is finer than a picosecond, which is three digits of a nanosecond.
    let digits = if unit.trim() == "ps" { 0 } else { 3 };
    let number: f64 = report::fixed(number * factor, digits).parse().unwrap_or(number);
    Ok(format!("{} {}", report::compact(number), unit.trim()))
}

#[cfg(test)]
mod tests {
    use quantities::Duration;

    use super::*;

    fn packet_send(costs: Costs, preset: &str) -> Duration {
        let settings = [("node.packet_send".to_string(), "40 us".to_string())];
        costs.machine(("moc", preset), &settings, &[&["node.packet_send"]]).unwrap().node.packet_send
    }

    #[test]
    fn a_draw_varies_what_was_chosen_alike_on_all_machines_of_a_family() {
        let middle = Duration::from_microseconds(40);
        assert_eq!(packet_send(Costs::Chosen, "moc-3-2"), middle);
        let drawn: Vec<f64> = (0..50)
            .map(|number| {
                let [one, other] = ["moc-3-2", "moc-3-1"].map(|preset| packet_send(Costs::Drawn(number), preset));
                assert_eq!(one, other);
                one.picoseconds() as f64 / middle.picoseconds() as f64
            })
            .collect();
        assert!(drawn.iter().all(|factor| (1.0 / 1.051..1.051).contains(factor)), "{drawn:?}");
        let above = drawn.iter().filter(|factor| **factor > 1.0).count();
        assert!((11..40).contains(&above), "{above} of 50");
        let factor = |cost| Costs::Drawn(3).factor(cost);
        assert!(factor("a node.packet_send") != factor("b node.packet_send"));
    }

    #[test]
    fn a_quantity_keeps_its_unit() {
        assert_eq!(times("15.5 us", 2.0), Ok("31 us".to_string()));
        assert_eq!(times("100Mbit/s", 1.05), Ok("105 Mbit/s".to_string()));
        assert_eq!(times("977 ps", 1.025), Ok("1001 ps".to_string()));
        assert!(times("many", 2.0).is_err());
    }
}

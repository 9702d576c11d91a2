//! Numbers that follow from a seed, and how a test is told which seeds to run.

pub use quantities::splitmix64::Draws;

/// `SEED=n` runs one seed, `SEEDS=n` so many, `SEEDS=n..m` those from n on and before m; without either, `usual`.
pub fn seeds(usual: u64) -> std::ops::Range<u64> {
    let from_environment = |name| {
        #[allow(clippy::disallowed_methods)] // more seeds than usual, or a single one, for a person who asks for it
        let value = std::env::var(name).ok();
        value
    };
    let number = |text: &str| text.parse::<u64>().ok();
    if let Some(seed) = from_environment("SEED").and_then(|seed| number(&seed)) {
        return seed..seed + 1;
    }
    let seeds = from_environment("SEEDS").unwrap_or_default();
    let (first, end) = seeds.split_once("..").unwrap_or(("0", &seeds));
    number(first).unwrap_or(0)..number(end).unwrap_or(usual)
}

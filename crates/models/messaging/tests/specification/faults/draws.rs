//! Numbers that follow from a seed, and the choice of seeds for a test.

pub use quantities::splitmix64::Draws;

/// `SEED=n` runs one seed, `SEEDS=n` the first n, `SEEDS=n..m` those from n on and before m; without either, `usual`.
pub fn seeds(usual: u64) -> std::ops::Range<u64> {
    let from_environment = |name| {
        #[allow(clippy::disallowed_methods)] // a person may ask for more seeds than usual, or for a single one
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

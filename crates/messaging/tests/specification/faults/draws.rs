//! Numbers that follow from a seed, and how a test is told which seeds to run.

use quantities::splitmix64;

/// Numbers that follow from a seed.
#[derive(Clone, Debug)]
pub struct Draws(pub u64);

impl Draws {
    pub fn next(&mut self) -> u64 {
        splitmix64::draw(&mut self.0)
    }

    pub fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit.max(1)
    }

    /// True in so many of a hundred cases.
    pub fn percent(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }
}

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

//! Draws the ranks that take part in an experiment besides its source.

use quantities::Rank;

use quantities::shuffle::permutation;

/// `count` different ranks of `ranks`, none of them `source`, in an order that depends only on `seed`; fewer if there
/// are not that many.
pub fn partners(ranks: u32, source: Rank, count: u32, seed: u64) -> Vec<Rank> {
    let others = permutation(ranks, seed).into_iter().map(Rank).filter(|&rank| rank != source);
    others.take(count as usize).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn partners_are_different_and_none_is_the_source() {
        for seed in 0..50 {
            let mut drawn = partners(9, Rank(4), 8, seed);
            drawn.sort_unstable();
            assert_eq!(drawn, [0, 1, 2, 3, 5, 6, 7, 8].map(Rank));
        }
        assert_eq!(partners(9, Rank(4), 3, 1).len(), 3);
        assert_eq!(partners(3, Rank(0), 8, 1).len(), 2);
        assert_ne!(partners(100, Rank(0), 8, 1), partners(100, Rank(0), 8, 2));
    }
}

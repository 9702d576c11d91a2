//! Who sends what to whom in a census.

use quantities::Duration;

use crate::postal::{Delay, Lambda};

/// The messages from every rank i to rank i - distance in one round, which are combined there lambda - 1 rounds later.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exchange {
    /// The distance, at least 1 unless nothing is sent.
    pub distance: u32,
    /// What is sent.
    pub carries: Carries,
}

/// The variable that a rank sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Carries {
    /// T: what it has combined, its own data included.
    Own,
    /// S: what it has combined, without its own data.
    Others,
    /// Nothing, where S is empty.
    Nothing,
}

/// The plan of a census among n ranks, the same for all of them.
///
/// Let M(r) be the number of ranks whose data T holds after round r:
///
/// ```text
///   M(r) = M(r - 1) + M(r - lambda) - epsilon(r - lambda)   if r >= lambda,   otherwise 1
/// ```
///
/// If every epsilon is zero, this is N_lambda(r). Subtracting one in round r subtracts N_lambda(t - r) from M(t) in the
/// last round t. So N_lambda(t) - n, the deficiency, is written as a sum of different N_lambda(k), and M(t) = n.
///
/// ```text
///   lambda = 2, n = 6       round        1  2  3  4  5       N_2(5) - 6 = 2 = N_2(2): one less in round 3
///                           N_lambda     1  2  3  5  8
///                           M            1  2  2  4  6
/// ```
///
/// Source: the postal paper, section 3.1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Census {
    /// For how many rounds a message counts as under way, the sending round included.
    pub(super) latency: u32,
    /// The minimum length of a round, if sends are delayed.
    pub(super) round: Option<Duration>,
    pub(super) exchanges: Vec<Exchange>,
    n: u32,
}

impl Census {
    /// A plan for `n` ranks, where a message is under way for `latency` rounds; at least one.
    pub fn new(latency: u32, n: u32) -> Census {
        let latency = latency.max(1);
        let most = most_after(latency, n);
        let exchanges = exchanges(latency, &held_after(latency, n, &most));
        Census { latency, round: None, exchanges, n }
    }

    /// A plan for `n` ranks and a latency of `lambda` that delays every receive: a message counts as under way for
    /// ceiling(lambda) rounds.
    pub fn delay_receive(lambda: Lambda, n: u32) -> Census {
        Census::new(Delay::Receive.rounds_under_way(lambda), n)
    }

    /// A plan for `n` ranks, a latency of `lambda` and sends of `t0` that delays every send: a message is under way for
    /// floor(lambda) rounds of lambda / floor(lambda) t0.
    pub fn delay_send(lambda: Lambda, t0: Duration, n: u32) -> Census {
        let round = Some(Delay::Send.round(lambda).of(t0));
        Census { round, ..Census::new(Delay::Send.rounds_under_way(lambda), n) }
    }

    /// Whichever of the two is faster in the long run, by the break-even point of `lambda`.
    pub fn by_break_even(lambda: Lambda, t0: Duration, n: u32) -> Census {
        match Delay::for_latency(lambda) {
            Delay::Receive => Census::delay_receive(lambda, n),
            Delay::Send => Census::delay_send(lambda, t0, n),
        }
    }

    /// Whether sends wait for their round.
    pub const fn delays_sends(&self) -> bool {
        self.round.is_some()
    }

    /// How many ranks it is for.
    pub const fn ranks(&self) -> u32 {
        self.n
    }

    /// How many rounds it takes: T_lambda(n) for an integer latency.
    pub fn rounds(&self) -> u32 {
        if self.exchanges.is_empty() { 0 } else { self.exchanges.len() as u32 + self.latency - 1 }
    }

    /// How many messages every rank sends.
    pub fn messages(&self) -> usize {
        self.exchanges.iter().filter(|exchange| exchange.carries != Carries::Nothing).count()
    }

    /// The messages of each round, from the first. Those sent in a round are combined `latency` - 1 rounds later.
    pub fn exchanges(&self) -> &[Exchange] {
        &self.exchanges
    }
}

/// N_lambda(r) from r = 0 up to the first that is at least `n`.
fn most_after(latency: u32, n: u32) -> Vec<u64> {
    let latency = latency as usize;
    let mut most: Vec<u64> = vec![1];
    while most.last().is_some_and(|&last| last < u64::from(n)) {
        let r = most.len();
        most.push(if r >= latency { most[r - 1] + most[r - latency] } else { 1 });
    }
    most
}

/// M(r) and, from round lambda on, epsilon(r - lambda), for each round r from 0 on.
fn held_after(latency: u32, n: u32, most: &[u64]) -> Vec<(u64, u64)> {
    let (latency, last) = (latency as usize, most.len() - 1);
    let mut deficiency = most[last] - u64::from(n.max(1));
    let mut held: Vec<(u64, u64)> = Vec::with_capacity(most.len());
    for r in 0..=last {
        if r < latency {
            held.push((1, 0));
            continue;
        }
        // Earlier rounds count more: the largest N_lambda(k) that fits is subtracted first.
        let epsilon = u64::from(most[last - r] <= deficiency);
        deficiency -= epsilon * most[last - r];
        held.push((held[r - 1].0 + held[r - latency].0 - epsilon, epsilon));
    }
    held
}

/// The messages combined in each round from `latency` on, given what ranks hold after each.
fn exchanges(latency: u32, held: &[(u64, u64)]) -> Vec<Exchange> {
    let latency = latency as usize;
    let combined_in = |r: usize| {
        let (before, epsilon, sent) = (held[r - 1].0, held[r].1, held[r - latency].0);
        let carries = match (epsilon, sent) {
            (0, _) => Carries::Own,
            (_, 1) => Carries::Nothing,
            _ => Carries::Others,
        };
        Exchange { distance: (before - epsilon) as u32, carries }
    };
    (latency..held.len()).map(combined_in).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::postal::{Steps, broadcast_time};

    #[test]
    fn six_ranks_with_latency_2_take_one_less_in_round_3() {
        let census = Census::new(2, 6);
        let of = |distance, carries| Exchange { distance, carries };
        // Sent in rounds 1 to 4, combined in rounds 2 to 5.
        let expected = [of(1, Carries::Own), of(1, Carries::Nothing), of(2, Carries::Own), of(4, Carries::Own)];
        assert_eq!((census.exchanges(), census.rounds()), (&expected[..], 5));
    }

    /// The ranks whose data a rank's S and T hold, as offsets from it, if every message is combined when the plan says.
    fn run(census: &Census, latency: usize) -> (Vec<u64>, Vec<u64>) {
        let (mut others, mut own) = (vec![Vec::new()], vec![vec![0u64]]);
        for r in 1..=census.rounds() as usize {
            let (mut s, mut t) = (others[r - 1].clone(), own[r - 1].clone());
            if r >= latency {
                let Exchange { distance, carries } = census.exchanges()[r - latency];
                let sent = match carries {
                    Carries::Own => &own[r - latency],
                    Carries::Others => &others[r - latency],
                    Carries::Nothing => &Vec::new(),
                };
                let moved: Vec<u64> = sent.iter().map(|offset| offset + u64::from(distance)).collect();
                s.extend(&moved);
                t.extend(moved);
            }
            others.push(s);
            own.push(t);
        }
        (others.pop().unwrap(), own.pop().unwrap())
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn in_the_end_everybody_holds_everything_once(latency in 1u32..20, n in 1u32..2000) {
            let census = Census::new(latency, n);
            let (others, own) = run(&census, latency as usize);
            prop_assert!(own.into_iter().eq(0..u64::from(n)));
            prop_assert!(others.into_iter().eq(1..u64::from(n)));
            let lambda = Lambda::new(u64::from(latency), 1).unwrap();
            prop_assert_eq!(Steps::new(u64::from(census.rounds()), 1), broadcast_time(lambda, u64::from(n)));
        }
    }
}

//! Global combine where the latency is not an integer: what is delayed, and how long it then takes.

use super::{Lambda, Steps, break_even, broadcast_time};

/// What is delayed so that the latency becomes a whole number of rounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Delay {
    /// Every receive: a message counts as under way for ceiling(lambda) rounds of t0.
    ///
    /// ```text
    ///   lambda = 2.5     send  |---|         rounds of t0
    ///                    wire  |---------|...|   received in the third
    /// ```
    Receive,
    /// Every send: a message is under way for floor(lambda) rounds, each stretched to lambda / floor(lambda) t0.
    ///
    /// ```text
    ///   lambda = 2.5     send  |---|.|       rounds of 1.25 t0
    ///                    wire  |---------|   received in the second
    /// ```
    Send,
}

impl Delay {
    /// The one that is faster in the long run, decided by whether lambda is below the break-even point. Nothing has to
    /// be delayed where lambda is an integer.
    ///
    /// Source: the postal paper, section 3.3 and Table 2.
    pub fn for_latency(lambda: Lambda) -> Delay {
        let below = lambda.as_f64() < break_even(lambda.floor());
        if below && !lambda.is_whole() { Delay::Send } else { Delay::Receive }
    }

    /// The one that is faster for `n` nodes.
    pub fn for_nodes(lambda: Lambda, n: u64) -> Delay {
        let (send, receive) = (Delay::Send.time(lambda, n), Delay::Receive.time(lambda, n));
        if send < receive { Delay::Send } else { Delay::Receive }
    }

    /// How many rounds a message counts as under way.
    pub const fn rounds_under_way(self, lambda: Lambda) -> u32 {
        match self {
            Delay::Receive => lambda.ceiling(),
            Delay::Send => lambda.floor(),
        }
    }

    /// The length of a round.
    pub const fn round(self, lambda: Lambda) -> Steps {
        match self {
            Delay::Receive => Steps::new(1, 1),
            Delay::Send => Steps::new(lambda.scaled(), lambda.scale() * lambda.floor() as u64),
        }
    }

    /// How long a global combine of `n` nodes takes with it: with delay-receive at most that, and exactly where the
    /// last round is full.
    ///
    /// ```text
    ///   delay-receive     T_ceiling(lambda)(n) - (ceiling(lambda) - lambda)      the last receive need not wait
    ///   delay-send        T_floor(lambda)(n) lambda / floor(lambda)
    /// ```
    ///
    /// Source: the postal paper, sections 3.2 and 3.3.
    pub fn time(self, lambda: Lambda, n: u64) -> Steps {
        if n < 2 {
            return Steps::ZERO;
        }
        let (u, f) = (lambda.scaled(), lambda.scale());
        let whole = |latency: u32| Lambda::whole(latency);
        match self {
            Delay::Receive => {
                let rounds = broadcast_time(whole(lambda.ceiling()), n).scaled(Lambda::ONE);
                Steps::new(rounds * f + u - u64::from(lambda.ceiling()) * f, f)
            }
            Delay::Send => {
                let rounds = broadcast_time(whole(lambda.floor()), n).scaled(Lambda::ONE);
                Steps::new(rounds * u, f * u64::from(lambda.floor()))
            }
        }
    }
}

//! Global combine in the postal model: the census algorithm.

mod plan;

use std::collections::VecDeque;

use endpoint::{Endpoint, Error, Message, Needs, Result};
use quantities::{Bytes, Time};

pub use plan::{Carries, Census, Exchange};

use super::algorithm::{Algorithm, AllReduceAlgorithm};
use super::operator::combined;
use super::{AllReduceContext, Combine, Sends};
use crate::catalogue::{Cost, Entry, MissingParameter, Parameter, Stretch};
use crate::postal::{Delay, Lambda};
use crate::shift::Shift;

/// Combines the `message`s of all ranks of a group; every rank ends with the result, in T_lambda(n) rounds.
///
/// Rank i holds two variables: T, the combination of its own data d_i and that of the M(r) - 1 ranks after it, and S,
/// the same without its own. In round r it
///
/// 1. sends one of the two to rank i - distance, while there is something to send;
/// 2. from round lambda on, receives what was sent lambda - 1 rounds before, and combines it with both:
///
/// ```text
///   T_i after round r        d_i ... d_(i + M(r) - 1)
///   sent to it: T_j          d_j ... d_(j + M - 1)               with j = i + M(r)
///            or S_j          d_(j + 1) ... d_(j + M - 1)         with j = i + M(r) - 1      all modulo n
/// ```
///
/// ([`Census`] says which, and how far.) n ranks: at most n (T_lambda(n) - lambda + 1) messages. In the postal model T
/// = T_lambda(n) t0 where lambda is an integer; otherwise at most [`Delay::time`](crate::postal::Delay::time): in a
/// round in which nothing is sent, ranks may get ahead.
///
/// Every rank combines in a different order, round the ring from itself. So with floating-point sums ranks may end with
/// bytes that differ by rounding. An operator whose results are exact gives all ranks the same bytes.
///
/// Where sends are synchronous, a message is received in the round in which it is sent and kept until it is due: this
/// works, but the latency is then effectively 1, and a census for 1 is best.
///
/// Source: the postal paper, section 3.1; Bar-Noy, Kipnis and Schieber, "Optimal computation of census functions in the
/// postal model", Discrete Applied Mathematics 58, 1995.
///
/// # Errors
/// When the census is for another number of ranks, when the operator does not fit the data, and the errors of sending
/// and receiving.
pub async fn census<E: Endpoint, C: Combine>(
    endpoint: &E,
    context: &AllReduceContext<'_, C>,
    census: &Census,
    message: &mut Message,
) -> Result<()> {
    let Some(me) = context.place(endpoint, message)? else { return Ok(()) };
    let n = context.group.len();
    if census.ranks() != n {
        return Err(Error::Unfit(format!("a census of {} ranks does not fit a group of {n}", census.ranks())));
    }
    let mut held = Held { own: message.clone(), others: None };
    let mut kept = VecDeque::new();
    let began = endpoint.now();
    for r in 1..=census.rounds() {
        if let Some(exchange) = census.exchanges.get(r as usize - 1)
            && let Some(message) = held.what(exchange.carries)
        {
            wait_for_round(endpoint, census, began, r).await;
            let Shift { to, from } = Shift::of_places(me, n - exchange.distance, context.group);
            match context.sends {
                Sends::Early => endpoint.send(to, message).await?,
                Sends::Synchronous => kept.push_back(endpoint.sendrecv(to, message, from).await?),
            }
        }
        if let Some(exchange) = r.checked_sub(census.latency).map(|sent| census.exchanges[sent as usize])
            && exchange.carries != Carries::Nothing
        {
            let Shift { from, .. } = Shift::of_places(me, n - exchange.distance, context.group);
            let received = match kept.pop_front() {
                Some(received) => received,
                None => endpoint.receive(from).await?,
            };
            held.combine(context.operator, &received)?;
        }
    }
    *message = held.own;
    Ok(())
}

/// What a rank has combined so far.
struct Held {
    /// T.
    own: Message,
    /// S; nothing at first.
    others: Option<Message>,
}

impl Held {
    fn what(&self, carries: Carries) -> Option<Message> {
        match carries {
            Carries::Own => Some(self.own.clone()),
            Carries::Others => self.others.clone(),
            Carries::Nothing => None,
        }
    }

    fn combine<C: Combine>(&mut self, operator: &C, received: &Message) -> Result<()> {
        self.own = combined(operator, &self.own, received)?;
        self.others = Some(match &self.others {
            Some(others) => combined(operator, others, received)?,
            None => received.clone(),
        });
        Ok(())
    }
}

/// Waits until round `r` begins, if rounds are stretched.
async fn wait_for_round<E: Endpoint>(endpoint: &E, census: &Census, began: Time, r: u32) {
    if let Some(round) = census.round {
        let until = began.picoseconds().saturating_add(round.picoseconds().saturating_mul(u64::from(r) - 1));
        let left = Time::from_picoseconds(until).since(endpoint.now());
        if !left.is_zero() {
            endpoint.compute(left).await;
        }
    }
}

impl AllReduceAlgorithm for Census {
    const ENTRIES: &'static [Entry<Algorithm>] = &[
        Entry {
            name: "census",
            about: "That of the postal model for --lambda: delay-send or delay-receive, by the break-even point",
            formula: "that of delay-send or delay-receive",
            parameters: &[Parameter::Lambda, Parameter::T0],
            needs: Needs::NOTHING,
            make: |parameters| {
                let lambda = parameters.lambda()?;
                Ok(match Delay::for_latency(lambda) {
                    Delay::Receive => Census::delay_receive(lambda, parameters.ranks),
                    Delay::Send => {
                        let chosen = Some(Self::ENTRIES[2].name);
                        let t0 = parameters.t0().map_err(|missing| MissingParameter { chosen, ..missing })?;
                        Census::delay_send(lambda, t0, parameters.ranks)
                    }
                }
                .into())
            },
        },
        Entry {
            name: "delay-receive",
            about: "The census, a message counting as under way for lambda rounds, rounded up",
            formula: "T_ceil(lambda)(n) t0",
            parameters: &[Parameter::Lambda],
            needs: Needs::NOTHING,
            make: |parameters| Ok(Census::delay_receive(parameters.lambda()?, parameters.ranks).into()),
        },
        Entry {
            name: "delay-send",
            about: "The census, a message counting as under way for lambda rounds, rounded down, which are stretched",
            formula: "T_floor(lambda)(n) lambda / floor(lambda) t0",
            parameters: &[Parameter::Lambda, Parameter::T0],
            needs: Needs::NOTHING,
            make: |parameters| Ok(Census::delay_send(parameters.lambda()?, parameters.t0()?, parameters.ranks).into()),
        },
    ];

    /// A census is named after what it delays.
    fn entry(&self) -> &'static Entry<Algorithm> {
        if self.delays_sends() { &Self::ENTRIES[2] } else { &Self::ENTRIES[1] }
    }

    async fn run<E: Endpoint, C: Combine>(
        &self,
        endpoint: &E,
        context: &AllReduceContext<'_, C>,
        message: &mut Message,
    ) -> Result<()> {
        census(endpoint, context, self, message).await
    }

    fn cost(&self, _: Lambda, ranks: u32, bytes: Bytes) -> Cost {
        let rounds = f64::from(self.rounds());
        Cost::of(f64::from(ranks) * rounds, bytes, vec![Stretch::of(rounds, 0.0, bytes)])
    }
}

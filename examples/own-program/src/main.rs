//! A program of your own, on two models and for real: the ranks add up their numbers around a ring, and the last
//! rank sends the sum to all others along the binomial tree of the catalogue.

use maquette::collectives::broadcast::binomial;
use maquette::{Duration, Endpoint, Message, Options, Program, Rank, Result, Simulated, UdpWorld, World};

const RANKS: u32 = 8;

/// Every rank computes for as long as `work`, and has a number: its own rank squared.
struct RingSum {
    work: Duration,
}

impl Program for RingSum {
    /// The sum of all numbers.
    type Output = u64;

    async fn run<E: Endpoint>(&self, endpoint: &E) -> Result<u64> {
        let (Rank(me), last) = (endpoint.rank(), endpoint.size() - 1);
        endpoint.compute(self.work).await;
        let mut sum = u64::from(me).pow(2);
        if me > 0 {
            sum += number(&endpoint.receive(Rank(me - 1)).await?);
        }
        if me < last {
            endpoint.send(Rank(me + 1), message(sum)).await?;
        }
        let mut total = message(sum);
        binomial(endpoint, Rank(last), &mut total).await?;
        Ok(number(&total))
    }
}

fn message(number: u64) -> Message {
    Message::from(number.to_le_bytes().to_vec())
}

fn number(message: &Message) -> u64 {
    let bytes = message.content().and_then(|content| content.first_chunk());
    u64::from_le_bytes(*bytes.expect("every message holds a number"))
}

fn main() -> std::result::Result<(), Box<dyn std::error::Error>> {
    let program = RingSum { work: Duration::from_microseconds(5) };
    for name in ["infiniband-128", "loggp"] {
        let machine = maquette::load(name)?;
        let (sums, answer) = Simulated::new(&machine, Options::default()).run(RANKS, &program)?;
        println!("{name}: {:?} in {}", sums.into_iter().collect::<Result<Vec<u64>>>()?, answer.makespan());
    }
    let (sums, ()) = UdpWorld::default().run(RANKS, &program)?;
    println!("for real: {:?}", sums.into_iter().collect::<Result<Vec<u64>>>()?);
    Ok(())
}

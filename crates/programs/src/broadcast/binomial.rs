//! Broadcast along a binomial tree.

use endpoint::{Endpoint, Error, Message, Program, Result};
use quantities::Rank;

/// Broadcast of `word` from rank `root` to all ranks along a binomial tree: whoever has it passes it on in every round.
/// The other ranks' own `word` is overwritten.
///
/// ```text
///   round 1      0 -> 1
///   round 2      0 -> 2   1 -> 3
///   round 3      0 -> 4   1 -> 5   2 -> 6   3 -> 7      numbered from the root
/// ```
///
/// P ranks: P - 1 messages, ceil(log2 P) rounds. Under LogGP, with g <= o and a message of s bytes that is sent in o:
/// T = ceil(log2 P) (o + (s-1) G + L + o).
///
/// Source: the recursive doubling of Johnsson and Ho, "Optimum broadcasting and personalized communication in
/// hypercubes", IEEE Transactions on Computers 38(9), 1989 (their spanning binomial tree).
///
/// # Errors
/// When `root` is not a rank of the program, and what sending and receiving can end with.
pub async fn binomial<E: Endpoint>(here: &E, root: Rank, word: &mut Message) -> Result<()> {
    let size = u64::from(here.size());
    if root.0 >= here.size() {
        return Err(Error::NoSuchRank { rank: root, size: here.size() });
    }
    let numbered = |from_root: u64| Rank(((from_root + u64::from(root.0)) % size) as u32);
    let me = (u64::from(here.rank().0) + size - u64::from(root.0)) % size;

    let mut reach = 1; // how many ranks have the word before this round
    while reach <= me {
        reach *= 2;
    }
    if me > 0 {
        *word = here.receive(numbered(me - reach / 2)).await?;
    }
    while me + reach < size {
        here.send(numbered(me + reach), word.clone()).await?;
        reach *= 2;
    }
    Ok(())
}

/// [`binomial`] as a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Binomial {
    /// Who has the message at first.
    pub root: Rank,
    /// The message.
    pub message: Message,
}

impl Program for Binomial {
    /// The message, as this rank has it in the end.
    type Output = Message;

    async fn run<E: Endpoint>(&self, here: &E) -> Result<Message> {
        let mut word = if here.rank() == self.root { self.message.clone() } else { Message::default() };
        binomial(here, self.root, &mut word).await?;
        Ok(word)
    }
}

//! Where a rank gets a broadcast from, and where it passes it on to.

use endpoint::{Endpoint, Message, Result};

use crate::Group;
use crate::postal::Splitting;

/// The edges of a broadcast tree at one place of a group.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Links {
    /// The place that the message comes from; none for the source.
    pub parent: Option<u32>,
    /// The places that it is sent to, in this order.
    pub children: Vec<u32>,
}

impl Links {
    /// The links of place `me` in the tree that results from splitting `n` places by `splitting`. Takes as many steps
    /// as the splitting is deep: O(log n) for any fixed alpha.
    ///
    /// The places to be split are always consecutive. The first of them is the source s; it keeps the first n' of
    /// them, and the first of the others is their leader s':
    ///
    /// ```text
    ///   s  .  .  .  .  |  s'  .  .          n' = 5, n'' = 3
    ///   '--------------->-'
    /// ```
    pub fn by_splitting(splitting: &Splitting, n: u32, me: u32) -> Links {
        let mut links = Links::default();
        let (mut source, mut n) = (0, n);
        while n > 1 {
            let kept = splitting.kept_of(u64::from(n)) as u32;
            let leader = source + kept;
            if me < leader {
                if me == source {
                    links.children.push(leader);
                }
                n = kept;
            } else {
                if me == leader {
                    links.parent = Some(source);
                }
                (source, n) = (leader, n - kept);
            }
        }
        links
    }

    /// Receives `message` from the parent and sends it to the children in turn.
    pub(crate) async fn pass_on<E: Endpoint>(&self, endpoint: &E, group: &Group, message: &mut Message) -> Result<()> {
        if let Some(parent) = self.parent {
            *message = endpoint.receive(group.rank_at(parent)).await?;
        }
        for &child in &self.children {
            endpoint.send(group.rank_at(child), message.clone()).await?;
        }
        Ok(())
    }
}

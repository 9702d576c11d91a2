//! A collective as a program, whose right result follows from its shape.

use endpoint::{Endpoint, Error, Message, Needs, Program, Result};
use quantities::{Bytes, Rank};

use super::{AnyAlgorithm, Blocks, Call, Performs, Shape, Sizes, Subgroup, of_pair};
use crate::Group;
use crate::all_reduce::{Combine, Number, Operator, Sends, check_elements, combined};

impl AnyAlgorithm {
    /// Takes part as a rank of `endpoint`, with a message for each block that it brings; returns one for each that it
    /// takes, in order.
    ///
    /// # Errors
    /// Another number of messages, or other sizes, than the rank should have; data that are no whole number of the
    /// operator's elements; the errors of sending and receiving.
    pub async fn run<E: Endpoint, C: Combine>(
        &self,
        endpoint: &E,
        call: &Call<'_, C>,
        sizes: &Sizes,
        brought: &[Message],
    ) -> Result<Vec<Message>> {
        self.end(endpoint, call, sizes, brought).await.map(|end| end.blocks)
    }

    /// The same, with how much the rank has received.
    async fn end<E: Endpoint, C: Combine>(
        &self,
        endpoint: &E,
        call: &Call<'_, C>,
        sizes: &Sizes,
        brought: &[Message],
    ) -> Result<CollectiveEnd> {
        let shape = self.collective().shape();
        let (me, root, ranks) = (endpoint.rank().0, call.root.0, endpoint.size());
        check(&shape, call, sizes, ranks)?;
        let brings = shape.brings(me, root, ranks);
        if brought.len() != brings.len() {
            let (found, wanted) = (brought.len(), brings.len());
            return Err(Error::Unfit(format!("found {found} blocks of data; rank {me} has to have {wanted}")));
        }
        // What a rank has for itself goes nowhere.
        let stays = shape.is_exchange().then(|| of_pair(Rank(me), Rank(me), ranks));
        let leaving = brings.zip(brought).filter(|(block, _)| Some(*block) != stays);
        let mut blocks = Blocks::brought(sizes, leaving)?;
        self.perform(endpoint, call, &mut blocks).await?;
        let ended = shape.takes(me, root, ranks).map(|block| match Some(block) == stays {
            true => Ok(brought[me as usize].clone()),
            false => blocks.take([block]),
        });
        let ended = ended.collect::<Result<_>>()?;
        Ok(CollectiveEnd { blocks: ended, received: blocks.received() })
    }
}

/// What a rank has at the end of a collective.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CollectiveEnd {
    /// The blocks that it takes; none where messages are only sizes.
    pub blocks: Vec<Message>,
    /// How many bytes it has received, for itself or to pass them on. [B]
    pub received: Bytes,
}

/// Cuts a message into `count` blocks of these sizes; of the same size, where they are unknown.
///
/// # Errors
/// A message that is no whole number of blocks, or has another size than all blocks.
pub fn cut(message: &Message, sizes: &Sizes, count: u32) -> Result<Vec<Message>> {
    let mut blocks = Blocks::new(sizes);
    let Bytes(size) = message.size();
    if *sizes == Sizes::Unknown && !size.is_multiple_of(u64::from(count.max(1))) {
        return Err(Error::Unfit(format!(
            "data: found {size} B; allowed is a whole number of bytes for each of {count} ranks"
        )));
    }
    blocks.put(0..count, message)?;
    (0..u64::from(count)).map(|block| blocks.take([block])).collect()
}

/// Checks that there are such ranks and sizes, and whole numbers of elements.
fn check<C: Combine>(shape: &Shape, call: &Call<'_, C>, sizes: &Sizes, ranks: u32) -> Result<()> {
    if shape.has_root() && call.root.0 >= ranks {
        return Err(Error::NoSuchRank { rank: call.root, size: ranks });
    }
    let wanted = shape.blocks(ranks);
    if let Sizes::Each(bytes) = sizes
        && bytes.len() as u64 != wanted
    {
        let (found, of) = (bytes.len(), if shape.is_exchange() { "pairs of ranks" } else { "ranks" });
        return Err(Error::Unfit(format!("sizes: found {found}; allowed is one for each of the {wanted} {of}")));
    }
    if shape.reduction.is_none() {
        return Ok(());
    }
    let whole = |bytes: Bytes| check_elements(call.operator, &Message::of_size(bytes));
    match sizes {
        Sizes::Same(bytes) => whole(*bytes),
        Sizes::Each(bytes) => bytes.iter().copied().try_for_each(whole),
        Sizes::Unknown => Ok(()),
    }
}

/// A collective as a program: all ranks take part, in the order of a group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CollectiveProgram {
    /// The algorithm.
    pub algorithm: AnyAlgorithm,
    /// All ranks in order.
    pub group: Group,
    /// The root, as a place in the group.
    pub root: Rank,
    /// How data are combined.
    pub operator: Operator,
    /// When sends of blocks end on the machine.
    pub sends: Sends,
    /// The size of each block.
    pub sizes: Sizes,
    /// Whether messages carry bytes, by which the result is checked.
    pub data: Data,
}

/// What the messages of a collective carry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Data {
    /// Only sizes.
    Sizes,
    /// Bytes that differ from rank to rank and from block to block.
    Bytes,
}

impl CollectiveProgram {
    fn shape(&self) -> Shape {
        self.algorithm.collective().shape()
    }

    /// What rank `from` brings as `block`: numbers of the operator's kind, small enough that any order of adding and
    /// multiplying gives the same.
    fn brought(&self, from: u32, block: u64) -> Message {
        let Bytes(size) = self.sizes.of(block);
        let number = |place: u64| 1 + (u64::from(from) + block + place) % 2;
        let element = |place: u64| match self.operator {
            Operator::Of(_, Number::F64) => (number(place) as f64).to_le_bytes().to_vec(),
            Operator::Of(_, Number::F32) => (number(place) as f32).to_le_bytes().to_vec(),
            Operator::Of(_, Number::I64 | Number::U64) => number(place).to_le_bytes().to_vec(),
            Operator::And | Operator::Or | Operator::Xor => {
                vec![(number(place) ^ place ^ u64::from(from) ^ block.wrapping_mul(37)) as u8]
            }
        };
        let elements = size.div_ceil(self.operator.element().max(1));
        let mut content: Vec<u8> = (0..elements).flat_map(element).collect();
        content.truncate(size as usize);
        Message::from(content)
    }

    /// What rank `me` ends with, as the shape has it.
    fn expected(&self, me: u32) -> Result<Vec<Message>> {
        let (shape, ranks, root) = (self.shape(), self.group.len(), self.root.0);
        let of_block = |block: u64| {
            if shape.reduction.is_none() {
                return Ok(self.brought(shape.bringer(block, root, ranks), block));
            }
            let holds = |rank: &u32| shape.brings(*rank, root, ranks).contains(block);
            let mut contents = shape.combines(me, ranks).filter(holds).map(|from| self.brought(from, block));
            let first = contents.next().ok_or_else(|| Error::Unfit(format!("nobody has block {block}")))?;
            contents.try_fold(first, |sum, next| combined(&self.operator, &sum, &next))
        };
        shape.takes(me, root, ranks).map(of_block).collect()
    }

    /// Takes part as a rank of an endpoint whose ranks are the places in the group.
    async fn run_within<E: Endpoint>(&self, endpoint: &E) -> Result<CollectiveEnd> {
        let call = Call { root: self.root, operator: &self.operator, sends: self.sends };
        let me = endpoint.rank().0;
        match self.data {
            Data::Bytes => {
                let brings = self.shape().brings(me, self.root.0, endpoint.size());
                let brought: Vec<Message> = brings.map(|block| self.brought(me, block)).collect();
                Box::pin(self.algorithm.end(endpoint, &call, &self.sizes, &brought)).await
            }
            Data::Sizes => {
                check(&self.shape(), &call, &self.sizes, endpoint.size())?;
                let mut blocks = Blocks::without_contents(&self.sizes);
                self.algorithm.perform(endpoint, &call, &mut blocks).await?;
                Ok(CollectiveEnd { blocks: Vec::new(), received: blocks.received() })
            }
        }
    }
}

impl Program for CollectiveProgram {
    type Output = CollectiveEnd;

    async fn run<E: Endpoint>(&self, endpoint: &E) -> Result<CollectiveEnd> {
        if self.group.is_all_in_order(endpoint.size()) {
            return self.run_within(endpoint).await;
        }
        match self.group.place_of(endpoint.rank()) {
            // In boxes, so that a rank of all in order takes no more room because of what it does not do.
            Some(_) => Box::pin(self.run_within(&Subgroup::new(endpoint, &self.group, None)?)).await,
            None => Ok(CollectiveEnd::default()),
        }
    }

    fn check(&self, rank: Rank, found: &CollectiveEnd) -> Result<()> {
        let Some(me) = self.group.place_of(rank).filter(|_| self.data == Data::Bytes) else { return Ok(()) };
        let differs = || Error::Network(format!("rank {rank} has ended with something else than it should have"));
        if found.blocks == self.expected(me)? { Ok(()) } else { Err(differs()) }
    }
}

/// A collective whose algorithm needs more than sends and receives.
macro_rules! needing {
    ($(#[$about:meta])* $program:ident: $needs:expr) => {
        $(#[$about])*
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub struct $program(pub CollectiveProgram);

        impl Program for $program {
            const NEEDS: Needs = $needs;
            type Output = CollectiveEnd;

            async fn run<E: Endpoint>(&self, endpoint: &E) -> Result<CollectiveEnd> {
                self.0.run(endpoint).await
            }

            fn check(&self, rank: Rank, found: &CollectiveEnd) -> Result<()> {
                self.0.check(rank, found)
            }
        }
    };
}

needing! {
    /// A collective whose algorithm uses the machine's own broadcast, among all ranks in order.
    MulticastProgram: Needs::MULTICAST
}

needing! {
    /// A collective in whose algorithm several operations of a rank are under way at once.
    OverlappedProgram: Needs::OVERLAP
}

//! A collective of this rank as a program: the algorithms of the catalogue, on the data of the user's program.

use std::cell::Cell;
use std::sync::{Arc, Mutex, PoisonError};

use collectives::all_gather::all_gather;
use collectives::all_reduce::{Operator, Sends};
use collectives::all_to_all::{Irregular, posted};
use collectives::schedule::{Pacing, Pattern, PatternError, RankSchedule, SendReceiveOrder, follow};
use collectives::{AnyAlgorithm, Call, Performs as _, Sizes};
use endpoint::{Endpoint, Error, Message, Needs, Program, Result};
use mpi::LentMemory;
use mpi_abi::MPI_SUCCESS;
use plan_format::MatrixExchange;
use quantities::{Bytes, Rank};

use crate::data::Elements;
use crate::reduction::Reduction;

/// A collective of this rank: its algorithm, its data, and where received data go.
///
/// The program leaves the data that it lends alone until the collective is complete: MPI requires this.
#[derive(Debug)]
pub(crate) enum CollectiveRun {
    Listed(Listed),
    Scheduled { algorithm: Irregular, pacing: Pacing, blocks: Blocks },
    AllToAllv { exchange: MatrixExchange, blocks: Blocks, schedules: Arc<Schedules> },
}

// SAFETY: it points to memory that the program leaves alone until the collective is complete, whichever thread does it.
unsafe impl Send for CollectiveRun {}

/// A collective of the list at this rank.
#[derive(Debug)]
pub(crate) struct Listed {
    pub(crate) algorithm: &'static AnyAlgorithm,
    pub(crate) root: Rank,
    /// Where the collective reduces.
    pub(crate) reduction: Option<Reduction>,
    /// The sizes of the blocks.
    pub(crate) sizes: Sizes,
    /// The blocks that this rank brings.
    pub(crate) brought: Vec<Elements>,
    /// Whether those are where the result goes.
    pub(crate) is_in_place: bool,
    /// Where the blocks go that this rank takes; nowhere, if it has its own already.
    pub(crate) taken: Vec<Elements>,
}

impl Listed {
    /// Whether every rank has a block for every other, and each goes straight to its receiver.
    fn is_direct(&self) -> bool {
        self.algorithm.collective().shape().is_exchange() && !self.algorithm.needs_sizes()
    }

    async fn run<E: Endpoint>(&self, endpoint: &E) -> Result<()> {
        // The result goes where the program has its own data, which may still be in use for sends to others.
        // SAFETY: the program leaves its data alone, see [`CollectiveRun`].
        let message =
            |block: &Elements| unsafe { if self.is_in_place { block.copy_message() } else { block.as_message() } };
        let brought: Vec<Message> = self.brought.iter().map(message).collect();
        // A long message waits for its receiver.
        let (root, sends) = (self.root, Sends::Synchronous);
        let ended = match &self.reduction {
            Some(reduction) => {
                let call = Call { root, operator: reduction, sends };
                let ended = self.algorithm.run(endpoint, &call, &self.sizes, &brought).await?;
                if reduction.code() != MPI_SUCCESS {
                    return Err(Error::Unfit("the operator can't be applied to this datatype".to_owned()));
                }
                ended
            }
            None => {
                let call = Call { root, operator: &Operator::Xor, sends };
                self.algorithm.run(endpoint, &call, &self.sizes, &brought).await?
            }
        };
        self.taken.iter().zip(&ended).try_for_each(|(place, message)| copy_into(place, message))
    }
}

/// The data of an exchange for each rank, and where the data from each rank go.
#[derive(Debug)]
pub(crate) struct Blocks {
    /// For each rank; none if they are sent from the receive buffers.
    pub(crate) sent: Option<Vec<Elements>>,
    /// From each rank.
    pub(crate) received: Vec<Elements>,
}

impl Program for CollectiveRun {
    const NEEDS: Needs = Needs::ANY_SOURCE.and(Needs::REQUESTS);
    type Output = ();

    async fn run<E: Endpoint>(&self, endpoint: &E) -> Result<()> {
        match self {
            CollectiveRun::Listed(listed) => listed.run(endpoint).await,
            CollectiveRun::Scheduled { algorithm, pacing, blocks } => {
                blocks.exchange_all(endpoint, *algorithm, *pacing).await
            }
            CollectiveRun::AllToAllv { exchange, blocks, schedules } => {
                blocks.exchange(endpoint, *exchange, schedules).await
            }
        }
    }
}

impl CollectiveRun {
    /// Where data from each rank can be received directly: in exchanges without forwarding, at their place in the
    /// program's memory.
    pub(crate) fn places(&self) -> Vec<(Rank, LentMemory)> {
        let received = match self {
            CollectiveRun::Scheduled { blocks, .. } | CollectiveRun::AllToAllv { blocks, .. } => &blocks.received,
            CollectiveRun::Listed(listed) if listed.is_direct() => &listed.taken,
            CollectiveRun::Listed(_) => return Vec::new(),
        };
        // SAFETY: the program leaves its data alone, see [`CollectiveRun`]; what is sent from there, if it is in
        // place, is copied before.
        let place = |block: &Elements| unsafe { block.place() };
        (0..)
            .map(Rank)
            .zip(received)
            .filter(|(_, block)| block.bytes() > 0)
            .filter_map(|(from, block)| Some((from, place(block)?)))
            .collect()
    }
}

/// Copies a message to its place.
fn copy_into(place: &Elements, message: &Message) -> Result<()> {
    // SAFETY: the program leaves its data alone, see [`CollectiveRun`].
    if unsafe { place.put(message) } { Ok(()) } else { Err(too_long(place, message)) }
}

fn too_long(place: &Elements, message: &Message) -> Error {
    Error::Unfit(format!("a message of {} arrived where there is room for {}", message.size(), Bytes(place.bytes())))
}

impl Blocks {
    /// Every rank has data of the same size for every other.
    async fn exchange_all<E: Endpoint>(&self, endpoint: &E, algorithm: Irregular, pacing: Pacing) -> Result<()> {
        let bytes = self.received.first().map_or(Bytes(0), |block| Bytes(block.bytes()));
        let transit = self.begin(endpoint.rank())?;
        let (message_for, take) = (|to| transit.message_for(to), |from, message| transit.take(from, &message));
        let pattern = Pattern::complete(endpoint.size(), bytes).map_err(unfit)?;
        let schedule = schedule_of(algorithm, &pattern, endpoint.rank());
        follow(endpoint, &schedule, pacing, message_for, take).await?;
        transit.end()
    }

    /// Ranks have data for some others.
    async fn exchange<E: Endpoint>(&self, endpoint: &E, exchange: MatrixExchange, schedules: &Schedules) -> Result<()> {
        let transit = self.begin(endpoint.rank())?;
        match exchange {
            MatrixExchange::Posted => self.post(endpoint, &transit).await?,
            MatrixExchange::Scheduled(algorithm, pacing) => {
                let matrix = self.matrix(endpoint).await?;
                let schedule = schedules.of(algorithm, matrix, endpoint.size(), endpoint.rank())?;
                let (message_for, take) = (|to| transit.message_for(to), |from, message| transit.take(from, &message));
                follow(endpoint, &schedule, pacing, message_for, take).await?;
            }
        }
        transit.end()
    }

    /// Begins everything at once, nearest neighbours first, except empty messages.
    async fn post<E: Endpoint>(&self, endpoint: &E, transit: &Transit<'_>) -> Result<()> {
        let (Rank(me), size) = (endpoint.rank(), endpoint.size());
        let has = |blocks: &[Elements], rank: &Rank| blocks[rank.0 as usize].bytes() > 0;
        let senders = (1..size).map(|distance| Rank((me + size - distance) % size));
        let senders: Vec<Rank> = senders.filter(|rank| has(&self.received, rank)).collect();
        let receivers = (1..size).map(|distance| Rank((me + distance) % size));
        let receivers: Vec<Rank> = receivers.filter(|rank| has(self.outgoing(), rank)).collect();
        let take = |from, message| transit.take(from, &message);
        posted(endpoint, &senders, &receivers, |to| transit.message_for(to), take).await
    }

    /// The data to be sent.
    fn outgoing(&self) -> &[Elements] {
        self.sent.as_deref().unwrap_or(&self.received)
    }

    /// How much each rank has for each other, row by row: every rank sends its own row to all others. [B]
    async fn matrix<E: Endpoint>(&self, endpoint: &E) -> Result<Vec<u64>> {
        let (Rank(me), size) = (endpoint.rank(), endpoint.size());
        let row = (0..size).zip(self.outgoing()).map(|(to, block)| if to == me { 0 } else { block.bytes() });
        let row = Message::from(row.flat_map(u64::to_le_bytes).collect::<Vec<u8>>());
        let rows = all_gather(endpoint, row).await?;
        let contents = rows.iter().filter_map(Message::content);
        let numbers: Vec<u64> =
            contents.flat_map(|row| row.as_chunks().0).map(|number| u64::from_le_bytes(*number)).collect();
        if numbers.len() != size as usize * size as usize {
            return Err(Error::Unfit("the ranks disagree about their number".to_owned()));
        }
        Ok(numbers)
    }

    /// The state of the exchange; what the rank has for itself is copied at once.
    fn begin(&self, Rank(me): Rank) -> Result<Transit<'_>> {
        // SAFETY: the program leaves its data alone, see [`CollectiveRun`].
        let copies = || self.received.iter().map(|block| unsafe { block.copy_message() }).collect();
        let own = self.sent.is_none().then(copies);
        if let Some(sent) = &self.sent {
            // SAFETY: the program leaves its data alone, see [`CollectiveRun`].
            copy_into(&self.received[me as usize], &unsafe { sent[me as usize].as_message() })?;
        }
        Ok(Transit { blocks: self, own, wrong: Cell::new(None) })
    }
}

/// An exchange in progress.
struct Transit<'a> {
    blocks: &'a Blocks,
    /// Copies of the data to be sent, if they are in the receive buffers.
    own: Option<Vec<Message>>,
    wrong: Cell<Option<Error>>,
}

impl Transit<'_> {
    fn message_for(&self, Rank(to): Rank) -> Message {
        match (&self.own, &self.blocks.sent) {
            (Some(own), _) => own[to as usize].clone(),
            // SAFETY: the program leaves its data alone, see [`CollectiveRun`].
            (None, Some(sent)) => unsafe { sent[to as usize].as_message() },
            (None, None) => Message::default(),
        }
    }

    fn take(&self, Rank(from): Rank, message: &Message) {
        if let Err(error) = copy_into(&self.blocks.received[from as usize], message) {
            self.wrong.set(Some(error));
        }
    }

    fn end(self) -> Result<()> {
        self.wrong.into_inner().map_or(Ok(()), Err)
    }
}

fn unfit(error: PatternError) -> Error {
    Error::Unfit(error.to_string())
}

fn schedule_of(algorithm: Irregular, pattern: &Pattern, rank: Rank) -> RankSchedule {
    let order = algorithm.order(SendReceiveOrder::Sendrecv);
    algorithm.schedule(pattern).by_rank(order).into_iter().nth(rank.0 as usize).unwrap_or_default()
}

/// The schedule that was made last: most programs exchange with the same matrix again and again.
#[derive(Debug, Default)]
pub(crate) struct Schedules(Mutex<Option<CachedSchedule>>);

#[derive(Debug)]
struct CachedSchedule {
    algorithm: Irregular,
    matrix: Vec<u64>,
    schedule: Arc<RankSchedule>,
}

impl Schedules {
    /// The schedule of the plan's algorithm for a matrix and this rank.
    fn of(&self, algorithm: Irregular, matrix: Vec<u64>, ranks: u32, rank: Rank) -> Result<Arc<RankSchedule>> {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = known.as_ref().filter(|known| known.algorithm == algorithm && known.matrix == matrix) {
            return Ok(Arc::clone(&known.schedule));
        }
        let pattern = Pattern::new(ranks, matrix.clone()).map_err(unfit)?;
        let schedule = Arc::new(schedule_of(algorithm, &pattern, rank));
        *known = Some(CachedSchedule { algorithm, matrix, schedule: Arc::clone(&schedule) });
        Ok(schedule)
    }
}

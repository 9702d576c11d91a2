//! Runs a schedule.

use endpoint::{Endpoint, Error, Message, Program, Result};
use quantities::{Bytes, Rank};

use super::parts::Parts;
use super::{Action, RankSchedule, Schedule, SendReceiveOrder};
use crate::applications::cost::Packing;
use crate::barrier::dissemination;

/// What keeps the ranks of a schedule in step.
///
/// On a shared network, or where sends do not wait, ranks that have little to do run ahead; then two of them may send to one
/// receiver, or over one link, at once, which the schedule was made to avoid.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Pacing {
    /// Nothing but the messages themselves.
    #[default]
    FreeRunning,
    /// Before each message, its receiver sends its sender an empty one, for which the sender waits. One extra message per
    /// message; T = o + L + o more per step.
    ReceiverConfirmed,
    /// A dissemination barrier between steps: P ceil(log2 P) more messages per step.
    Barrier,
}

impl Pacing {
    /// All of them.
    pub const fn all() -> [Pacing; 3] {
        [Pacing::FreeRunning, Pacing::ReceiverConfirmed, Pacing::Barrier]
    }

    /// Its name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Pacing::FreeRunning => "free-running",
            Pacing::ReceiverConfirmed => "receiver-confirmed",
            Pacing::Barrier => "barrier",
        }
    }

    /// What it is, in a line.
    pub const fn about(self) -> &'static str {
        match self {
            Pacing::FreeRunning => "Nothing but the messages themselves",
            Pacing::ReceiverConfirmed => "A small message from the receiver before each message",
            Pacing::Barrier => "A barrier between steps",
        }
    }
}

/// One operation of a rank, of the schedule or of its pacing.
#[derive(Clone, Copy, Debug)]
pub(super) enum Operation<'schedule> {
    /// Tells one partner that it may send, waits until the other says so, or both at once.
    Confirm {
        /// The partner that may send.
        to: Option<Rank>,
        /// The partner whose confirmation it waits for.
        from: Option<Rank>,
    },
    /// Sends a message of the schedule.
    Send(&'schedule Action),
    /// Receives a message of the schedule.
    Receive(&'schedule Action),
    /// Sends and receives at once.
    Sendrecv(&'schedule Action, &'schedule Action),
    /// Waits until all ranks have reached the barrier.
    Barrier,
}

impl RankSchedule {
    /// The rank's operations, in order, under `pacing`.
    pub(super) fn operations(&self, pacing: Pacing) -> impl Iterator<Item = Operation<'_>> {
        let mut barriers = 0;
        let mut barriers_until = move |step: u32| {
            let wanted = if pacing == Pacing::Barrier { step - barriers } else { 0 };
            barriers += wanted;
            std::iter::repeat_n(Operation::Barrier, wanted as usize)
        };
        let last = self.steps.saturating_sub(1);
        let steps = self.actions.chunk_by(|one, next| one.step == next.step).map(Some).chain([None]);
        steps.flat_map(move |actions| {
            let barriers = barriers_until(actions.map_or(last, |actions| actions[0].step));
            barriers.chain(self.step(actions.unwrap_or(&[]), pacing)).collect::<Vec<_>>()
        })
    }

    /// The operations of one step. A send and a receive that go at once are also confirmed at once.
    fn step<'schedule>(&self, actions: &'schedule [Action], pacing: Pacing) -> Vec<Operation<'schedule>> {
        let confirmed = pacing == Pacing::ReceiverConfirmed;
        let mut operations = Vec::with_capacity(2 * actions.len());
        let mut actions = actions.iter().peekable();
        while let Some(action) = actions.next() {
            let beside =
                actions.next_if(|next| self.order == SendReceiveOrder::Sendrecv && action.sends && !next.sends);
            let (send, receive) = if action.sends { (Some(action), beside) } else { (None, Some(action)) };
            if confirmed {
                let partner = |action: Option<&Action>| action.map(|action| action.partner);
                operations.push(Operation::Confirm { to: partner(receive), from: partner(send) });
            }
            operations.extend(match (send, receive) {
                (Some(send), Some(receive)) => Some(Operation::Sendrecv(send, receive)),
                (Some(send), None) => Some(Operation::Send(send)),
                (None, receive) => receive.map(Operation::Receive),
            });
        }
        operations
    }
}

/// Carries out `schedule` for this rank: in each step, in turn, one send, one receive or both. `message_for` makes the
/// message for a rank, `take` is called with each message and its sender, after its parts are joined if it was cut.
///
/// The sizes in the schedule are only used to cut messages: a message from `message_for` is sent whatever its size.
///
/// # Errors
/// Those of sending and receiving; a schedule for another number of ranks.
pub async fn follow<E: Endpoint>(
    endpoint: &E,
    schedule: &RankSchedule,
    pacing: Pacing,
    message_for: impl FnMut(Rank) -> Message,
    take: impl FnMut(Rank, Message),
) -> Result<()> {
    follow_packing(endpoint, schedule, pacing, Packing::default(), message_for, take).await
}

/// The same, where a rank packs each message before it sends it, and unpacks it after receiving it.
async fn follow_packing<E: Endpoint>(
    endpoint: &E,
    schedule: &RankSchedule,
    pacing: Pacing,
    packing: Packing,
    mut message_for: impl FnMut(Rank) -> Message,
    mut take: impl FnMut(Rank, Message),
) -> Result<()> {
    if schedule.ranks != endpoint.size() {
        return Err(Error::Unfit(format!("the schedule is for {} ranks, not {}", schedule.ranks, endpoint.size())));
    }
    let mut parts = Parts::default();
    for operation in schedule.operations(pacing) {
        let (action, part) = match operation {
            Operation::Confirm { to, from } => {
                confirm(endpoint, to, from).await?;
                continue;
            }
            Operation::Barrier => {
                dissemination(endpoint).await?;
                continue;
            }
            Operation::Send(action) => {
                let message = parts.outgoing(action, || message_for(action.partner));
                pack(endpoint, packing, &message).await;
                endpoint.send(action.partner, message).await?;
                continue;
            }
            Operation::Receive(action) => (action, endpoint.receive(action.partner).await?),
            Operation::Sendrecv(send, receive) => {
                let message = parts.outgoing(send, || message_for(send.partner));
                pack(endpoint, packing, &message).await;
                (receive, endpoint.sendrecv(send.partner, message, receive.partner).await?)
            }
        };
        pack(endpoint, packing, &part).await;
        if let Some(message) = parts.incoming(action, part) {
            take(action.partner, message);
        }
    }
    Ok(())
}

/// Spends the time to pack or unpack a message.
async fn pack<E: Endpoint>(endpoint: &E, packing: Packing, message: &Message) {
    let work = packing.time(1, message.size());
    if !work.is_zero() {
        endpoint.compute(work).await;
    }
}

/// Tells `to` that it may send, and waits until `from` says so.
async fn confirm<E: Endpoint>(endpoint: &E, to: Option<Rank>, from: Option<Rank>) -> Result<()> {
    match (to, from) {
        (Some(to), Some(from)) => endpoint.sendrecv(to, Message::default(), from).await.map(drop),
        (Some(to), None) => endpoint.send(to, Message::default()).await,
        (None, Some(from)) => endpoint.receive(from).await.map(drop),
        (None, None) => Ok(()),
    }
}

/// A whole schedule as a program, with messages that are only a size.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scheduled {
    ranks: Vec<RankSchedule>,
    pacing: Pacing,
    packing: Packing,
}

impl Scheduled {
    /// Runs `schedule` under `pacing`; ranks that both send and receive in a step take turns.
    pub fn new(schedule: &Schedule, pacing: Pacing) -> Scheduled {
        Scheduled::in_order(schedule, pacing, SendReceiveOrder::Alternating)
    }

    /// Runs `schedule` under `pacing`; `order` says what a rank does first if it both sends and receives in a step.
    pub fn in_order(schedule: &Schedule, pacing: Pacing, order: SendReceiveOrder) -> Scheduled {
        Scheduled { ranks: schedule.by_rank(order), pacing, packing: Packing::default() }
    }

    /// The same, where a rank spends `packing` on each message before it sends it, and again after receiving it, as applications do
    /// whose data are not contiguous.
    pub fn packed(self, packing: Packing) -> Scheduled {
        Scheduled { packing, ..self }
    }
}

impl Program for Scheduled {
    /// Bytes that this rank received.
    type Output = Bytes;

    async fn run<E: Endpoint>(&self, endpoint: &E) -> Result<Bytes> {
        let ranks = self.ranks.len();
        let Some(schedule) = self.ranks.get(endpoint.rank().0 as usize) else {
            return Err(Error::Unfit(format!("the schedule is for {ranks} ranks, not {}", endpoint.size())));
        };
        let bytes_for = schedule.bytes_by_receiver();
        let bytes_for = |to| bytes_for.get(&to).copied().unwrap_or_default();
        let mut received = 0;
        follow_packing(
            endpoint,
            schedule,
            self.pacing,
            self.packing,
            |to| Message::of_size(bytes_for(to)),
            |_, message| received += message.size().0,
        )
        .await?;
        Ok(Bytes(received))
    }
}

quantities::written_by_name!(Pacing);

//! Runs a schedule.

use endpoint::{Endpoint, Error, Message, Needs, Program, Result, join, wait_all};
use quantities::{Bytes, Duration, Rank};

use super::packing::Packing;
use super::parts::Parts;
use super::{Action, RankSchedule, Rule, Schedule, SendReceiveOrder};
use crate::barrier::dissemination;

/// What keeps the ranks of a schedule in step.
///
/// On a shared network, or where sends do not wait, ranks that have little to do run ahead; then two of them may send
/// to one receiver, or over one link, at once, which the schedule was made to avoid.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Pacing {
    /// Nothing but the messages themselves.
    #[default]
    FreeRunning,
    /// Before each message, its receiver sends its sender an empty one, for which the sender waits. One extra message
    /// per message; T = o + L + o more per step.
    ReceiverConfirmed,
    /// A dissemination barrier between steps: P ceil(log2 P) more messages per step.
    Barrier,
    /// Not even a rank's own messages: it sends in the order of the steps and receives in their order, but no send
    /// waits for a receive, nor a receive for a send. So a rank whose partner of a step is late goes on with the other
    /// half, as nothing but its wires should hold it up. Operations overlap, so that the program is one of its own,
    /// [`OverlappedSchedule`]: worlds are quicker where they don't.
    Overlapped,
}

impl Pacing {
    /// All of them.
    pub const fn all() -> [Pacing; 4] {
        [Pacing::FreeRunning, Pacing::ReceiverConfirmed, Pacing::Barrier, Pacing::Overlapped]
    }

    /// Whether a rank's operations of a step wait for those of the step before. Only then does it matter what it does
    /// first in a step.
    pub const fn is_in_step(self) -> bool {
        !matches!(self, Pacing::Overlapped)
    }

    /// Whether it adds no messages to those of the schedule.
    pub const fn adds_nothing(self) -> bool {
        matches!(self, Pacing::FreeRunning | Pacing::Overlapped)
    }

    /// Its name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Pacing::FreeRunning => "free-running",
            Pacing::ReceiverConfirmed => "receiver-confirmed",
            Pacing::Barrier => "barrier",
            Pacing::Overlapped => "overlapped",
        }
    }

    /// What it is, in a line.
    pub const fn about(self) -> &'static str {
        match self {
            Pacing::FreeRunning => "Nothing but the messages themselves",
            Pacing::ReceiverConfirmed => "A small message from the receiver before each message",
            Pacing::Barrier => "A barrier between steps",
            Pacing::Overlapped => "A rank's sends in order and its receives in order; neither waits for the other",
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

/// Carries out `schedule` for this rank: in each step, in turn, one send, one receive or both; or, if they are
/// overlapped, all sends in turn and all receives in turn; or, if any rank sends to any number of others in a step,
/// everything of a step at once, whatever the pacing. `message_for` makes the message for a rank, `take` is called with
/// each message and its sender, after its parts are joined if it was cut.
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
    message_for: impl FnMut(Rank) -> Message,
    take: impl FnMut(Rank, Message),
) -> Result<()> {
    if schedule.ranks != endpoint.size() {
        return Err(Error::Unfit(format!("the schedule is for {} ranks, not {}", schedule.ranks, endpoint.size())));
    }
    let mut outgoing = Outgoing { endpoint, packing, parts: Parts::default(), message_for };
    let mut incoming = Incoming { endpoint, packing, parts: Parts::default(), take };
    if schedule.rule == Rule::ManyToMany {
        for step in schedule.actions.chunk_by(|one, next| one.step == next.step) {
            at_once(&mut outgoing, &mut incoming, step).await?;
        }
        return Ok(());
    }
    if pacing == Pacing::Overlapped {
        let (sent, received) =
            join(outgoing.send_all(&schedule.actions), incoming.receive_all(&schedule.actions)).await;
        return sent.and(received);
    }
    for operation in schedule.operations(pacing) {
        match operation {
            Operation::Confirm { to, from } => confirm(endpoint, to, from).await?,
            Operation::Barrier => dissemination(endpoint).await?,
            Operation::Send(action) => outgoing.send(action).await?,
            Operation::Receive(action) => incoming.receive(action).await?,
            Operation::Sendrecv(send, receive) => {
                let message = outgoing.packed(send).await;
                let part = endpoint.sendrecv(send.partner, message, receive.partner).await?;
                incoming.unpack(receive, part).await;
            }
        }
    }
    Ok(())
}

/// What a rank sends.
struct Outgoing<'a, E, M> {
    endpoint: &'a E,
    packing: Packing,
    parts: Parts,
    message_for: M,
}

impl<E: Endpoint, M: FnMut(Rank) -> Message> Outgoing<'_, E, M> {
    /// The message of an action, packed.
    async fn packed(&mut self, action: &Action) -> Message {
        let message = self.parts.outgoing(action, || (self.message_for)(action.partner));
        pack(self.endpoint, self.packing, &message).await;
        message
    }

    async fn send(&mut self, action: &Action) -> Result<()> {
        let message = self.packed(action).await;
        self.endpoint.send(action.partner, message).await
    }

    async fn send_all(&mut self, actions: &[Action]) -> Result<()> {
        for action in actions.iter().filter(|action| action.sends) {
            self.send(action).await?;
        }
        Ok(())
    }
}

/// What a rank receives.
struct Incoming<'a, E, T> {
    endpoint: &'a E,
    packing: Packing,
    parts: Parts,
    take: T,
}

impl<E: Endpoint, T: FnMut(Rank, Message)> Incoming<'_, E, T> {
    async fn unpack(&mut self, action: &Action, part: Message) {
        pack(self.endpoint, self.packing, &part).await;
        if let Some(message) = self.parts.incoming(action, part) {
            (self.take)(action.partner, message);
        }
    }

    async fn receive(&mut self, action: &Action) -> Result<()> {
        let part = self.endpoint.receive(action.partner).await?;
        self.unpack(action, part).await;
        Ok(())
    }

    async fn receive_all(&mut self, actions: &[Action]) -> Result<()> {
        for action in actions.iter().filter(|action| !action.sends) {
            self.receive(action).await?;
        }
        Ok(())
    }
}

/// Begins all sends and receives of a step, and waits for all of them. What is sent is packed before, what is received
/// is unpacked after.
async fn at_once<E: Endpoint>(
    outgoing: &mut Outgoing<'_, E, impl FnMut(Rank) -> Message>,
    incoming: &mut Incoming<'_, E, impl FnMut(Rank, Message)>,
    step: &[Action],
) -> Result<()> {
    let endpoint = outgoing.endpoint;
    let (sends, receives) = step.iter().partition::<Vec<&Action>, _>(|action| action.sends);
    let mut leaving = Vec::with_capacity(sends.len());
    for action in sends {
        let message = outgoing.packed(action).await;
        leaving.push(endpoint.send(action.partner, message));
    }
    let coming = receives.iter().map(|action| endpoint.receive(action.partner));
    let (received, sent) = join(wait_all(coming), wait_all(leaving)).await;
    for (action, part) in receives.into_iter().zip(received) {
        incoming.unpack(action, part?).await;
    }
    sent.into_iter().collect()
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

/// A whole schedule as a program, with messages that are only a size. Under [`Pacing::Overlapped`], and where
/// everything is begun at once, it is an [`OverlappedSchedule`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scheduled {
    ranks: Vec<RankSchedule>,
    pacing: Pacing,
    packing: Packing,
    /// How long each rank copies what it has for itself, before anything else; empty if nobody does.
    copies: Vec<Duration>,
}

impl Scheduled {
    /// Runs `schedule` under `pacing`; ranks that both send and receive in a step take turns.
    pub fn new(schedule: &Schedule, pacing: Pacing) -> Scheduled {
        Scheduled::in_order(schedule, pacing, SendReceiveOrder::Alternating)
    }

    /// Runs `schedule` under `pacing`; `order` says what a rank does first if it both sends and receives in a step.
    pub fn in_order(schedule: &Schedule, pacing: Pacing, order: SendReceiveOrder) -> Scheduled {
        Scheduled { ranks: schedule.by_rank(order), pacing, packing: Packing::default(), copies: Vec::new() }
    }

    /// The same, where each rank, in their order, first spends so long on copying what it has for itself.
    pub fn copying(self, copies: Vec<Duration>) -> Scheduled {
        Scheduled { copies, ..self }
    }

    /// The same, where a rank spends `packing` on each message before it sends it, and again after receiving it, as
    /// applications do whose data are not contiguous.
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
        if let Some(&copy) = self.copies.get(endpoint.rank().0 as usize).filter(|copy| !copy.is_zero()) {
            endpoint.compute(copy).await;
        }
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

/// A whole schedule whose operations overlap as a program, with messages that are only a size: one under
/// [`Pacing::Overlapped`], or one in which everything is begun at once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OverlappedSchedule(Scheduled);

impl OverlappedSchedule {
    /// Runs `schedule`.
    pub fn new(schedule: &Schedule) -> OverlappedSchedule {
        OverlappedSchedule(Scheduled::new(schedule, Pacing::Overlapped))
    }

    /// The same, where each rank, in their order, first spends so long on copying what it has for itself.
    pub fn copying(self, copies: Vec<Duration>) -> OverlappedSchedule {
        OverlappedSchedule(self.0.copying(copies))
    }
}

impl Program for OverlappedSchedule {
    /// Bytes that this rank received.
    type Output = Bytes;

    const NEEDS: Needs = Needs::OVERLAP;

    async fn run<E: Endpoint>(&self, endpoint: &E) -> Result<Bytes> {
        self.0.run(endpoint).await
    }
}

quantities::written_by_name!(Pacing);

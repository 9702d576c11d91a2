//! One rank's view of the machine it runs on. Everything else in Maquette builds on this trait.
//!
//! A program is an `async fn` over [`Endpoint`]; a [`World`] runs it. Programs never name a world. A program that needs
//! more than messages between named ranks declares so in [`Program::NEEDS`].
//!
//! An operation begins when its future is first polled, and a rank may have several under way at once: [`join!`],
//! [`join_all`], [`wait_all`], [`first_of`]. A rank's processors serve operations in the order in which they began.
//! Dropping a future that has begun leaves its operation under way, and its outcome is lost.

mod combinators;
mod concurrent;
pub mod conformance;
mod deadlock;
mod erased;
mod error;
pub mod executor;
mod handles;
mod message;
mod needs;
mod operation;
mod request;
mod tagged;
pub mod timeline;

pub use combinators::{First, first_of, join, join_all, wait_all};
pub use concurrent::{AnyFuture, Concurrent};
pub use deadlock::{WaitsFor, deadlock, deadlock_of};
pub use erased::Erased;
pub use error::{Error, Result, check_partner};
pub use handles::{Handles, Pending};
pub use message::Message;
pub use needs::Needs;
pub use operation::{Operation, Outcome, Passage, Received, Source, Tag, Tags, Unexpected};
pub use request::{Event, Report, Request, StartStatus};
pub use tagged::Tagged;

use quantities::{Bytes, Duration, Rank, Time};

/// One rank's view of the machine it runs on.
#[allow(async_fn_in_trait)] // a world polls its own futures on one thread: no `Send` bound is needed
pub trait Endpoint {
    /// Which rank this is.
    fn rank(&self) -> Rank;
    /// How many ranks the program has.
    fn size(&self) -> u32;
    /// The time at this rank.
    fn now(&self) -> Time;
    /// Sends `message` to rank `to` with `tag`. The machine decides when this returns: once the message is set up, once
    /// it has left, or once it has been received.
    ///
    /// # Errors
    /// [`Error::NoSuchRank`] and [`Error::ToItself`] when no message can go there.
    async fn send_tagged(&self, to: Rank, tag: Tag, message: Message) -> Result<()>;
    /// Waits for the next message from `from` with one of `tags`, until `deadline` at the latest. A message that has
    /// already arrived is returned whatever the deadline. Messages from one sender with one tag arrive in the order
    /// they were sent.
    ///
    /// # Errors
    /// [`Error::NoSuchRank`] and [`Error::ToItself`] when no message can come from there; [`Error::Deadline`] when none
    /// has arrived by then; [`Error::Undeclared`] for any source, and for a deadline, in a program that does not
    /// declare [`Needs::ANY_SOURCE`].
    async fn receive_matching(&self, from: Source, tags: Tags, deadline: Option<Time>) -> Result<Received>;
    /// Waits until there is a message that [`Endpoint::receive_matching`] would take, as `MPI_Probe` does, and returns it
    /// without its content. The message stays where it is; what a receive under way takes is not found. With a deadline that has passed this only asks, as
    /// `MPI_Iprobe` does. It takes no processor.
    ///
    /// # Errors
    /// As [`Endpoint::receive_matching`]; [`Error::Undeclared`] in a program that does not declare
    /// [`Needs::ANY_SOURCE`].
    async fn probe(&self, from: Source, tags: Tags, deadline: Option<Time>) -> Result<Received>;
    /// [`Endpoint::receive_matching`] with room for `room` bytes, as in MPI: a shorter message fits, a longer one is an
    /// error.
    ///
    /// # Errors
    /// As there; [`Error::Mismatch`] for a message that is longer.
    async fn receive_within(&self, room: Bytes, from: Source, tags: Tags, deadline: Option<Time>) -> Result<Received> {
        self.receive_matching(from, tags, deadline).await?.fitting(self.rank(), room)
    }
    /// Sends `message` to rank `to` with `tag`, and receives the next message from rank `from` with one of `tags`. Both
    /// begin together, the send first, and the call returns when both are done: two ranks that exchange messages need
    /// not agree on who sends first, whatever a send waits for. It counts as one operation, which no program need
    /// declare.
    ///
    /// # Errors
    /// As [`Endpoint::send_tagged`] and [`Endpoint::receive_matching`].
    async fn sendrecv_tagged(&self, to: Rank, tag: Tag, message: Message, from: Rank, tags: Tags) -> Result<Received> {
        let receive = self.receive_matching(Source::Rank(from), tags, None);
        let (sent, received) = join(self.send_tagged(to, tag, message), receive).await;
        sent.and(received)
    }
    /// Computes for as long as `work`.
    async fn compute(&self, work: Duration);
    /// Waits until `time`; returns at once if it has passed. The rank's processor is free meanwhile, unless the machine
    /// can only wait by computing.
    async fn sleep_until(&self, time: Time) {
        self.compute(time.since(self.now())).await;
    }
    /// Sends `message` to all other ranks at once. Broadcasts from one rank arrive in the order they were sent; the
    /// order of a broadcast and a message to one rank is unspecified.
    ///
    /// # Errors
    /// [`Error::Unfit`] where the machine has no hardware for it; [`Error::Undeclared`] in a program that does not
    /// declare [`Needs::MULTICAST`].
    async fn multicast(&self, message: Message) -> Result<()>;
    /// Waits for the next broadcast from rank `from`.
    ///
    /// # Errors
    /// As [`Endpoint::multicast`], and as [`Endpoint::receive`].
    async fn receive_multicast(&self, from: Rank) -> Result<Message>;

    /// Carries out any one operation by calling its method; returns the message that it received or found, if any.
    ///
    /// # Errors
    /// As that method.
    async fn carry_out(&self, operation: Operation) -> Result<Option<Received>> {
        match operation {
            Operation::Send { to, tag, message } => self.send_tagged(to, tag, message).await.map(|()| None),
            Operation::Receive { from, tags, deadline } => self.receive_matching(from, tags, deadline).await.map(Some),
            Operation::Probe { from, tags, deadline } => self.probe(from, tags, deadline).await.map(Some),
            Operation::Compute(work) => {
                self.compute(work).await;
                Ok(None)
            }
            Operation::Sleep(until) => {
                self.sleep_until(until).await;
                Ok(None)
            }
            Operation::Multicast(message) => self.multicast(message).await.map(|()| None),
            Operation::ReceiveMulticast(from) => {
                let message = self.receive_multicast(from).await?;
                Ok(Some(Received { from, tag: Tag::default(), message }))
            }
        }
    }

    /// Begins an operation and returns at once, as `MPI_Isend` and `MPI_Irecv` do; [`Endpoint::wait_any`] reports its
    /// progress. Operations that a rank begins for the same processor and the same time are served in the order in
    /// which they were begun, unless the machine says otherwise.
    ///
    /// # Errors
    /// As for the blocking operation; [`Error::Unfit`] where the world has no requests, the rank has no such processor,
    /// or the machine cannot tell when an operation starts; [`Error::Undeclared`] in a program that does not declare
    /// [`Needs::REQUESTS`].
    fn start(&self, request: Request) -> Result<StartStatus> {
        let _ = request;
        Err(request::no_requests())
    }
    /// Waits for the next event of any of this rank's requests that are under way, as `MPI_Waitany` does.
    ///
    /// # Errors
    /// As [`Endpoint::start`]; [`Error::Unfit`] when no request is under way.
    async fn wait_any(&self) -> Result<Report> {
        Err(request::no_requests())
    }

    /// The rank's operations by handle, where its world supports that.
    fn handles(&self) -> Option<&dyn Handles> {
        None
    }

    /// [`Endpoint::send_tagged`] with tag 0.
    ///
    /// # Errors
    /// As there.
    async fn send(&self, to: Rank, message: Message) -> Result<()> {
        self.send_tagged(to, Tag::default(), message).await
    }
    /// Waits for the next message from rank `from`, whatever its tag.
    ///
    /// # Errors
    /// As [`Endpoint::receive_matching`].
    async fn receive(&self, from: Rank) -> Result<Message> {
        Ok(self.receive_matching(Source::Rank(from), Tags::Any, None).await?.message)
    }
    /// Sends `message` to rank `to` with tag 0 and receives the next message from rank `from`, whatever its tag, as
    /// `MPI_Sendrecv` does: both begin together, and the call returns when both are done.
    ///
    /// # Errors
    /// As [`Endpoint::sendrecv_tagged`].
    async fn sendrecv(&self, to: Rank, message: Message, from: Rank) -> Result<Message> {
        Ok(self.sendrecv_tagged(to, Tag::default(), message, from, Tags::Any).await?.message)
    }
    /// Waits for the next message from anyone, whatever its tag, until `deadline` at the latest.
    ///
    /// # Errors
    /// As [`Endpoint::receive_matching`].
    async fn receive_any(&self, deadline: Option<Time>) -> Result<(Rank, Message)> {
        let Received { from, message, .. } = self.receive_matching(Source::Any, Tags::Any, deadline).await?;
        Ok((from, message))
    }
}

/// A program: what every rank runs.
#[allow(async_fn_in_trait)] // as above
pub trait Program {
    /// A rank's result when it is done.
    type Output;
    /// What it needs besides messages between named ranks. A world runs a program that needs less more quickly.
    const NEEDS: Needs = Needs::NOTHING;
    /// Runs one rank.
    async fn run<E: Endpoint>(&self, endpoint: &E) -> Result<Self::Output>;
    /// Checks that `rank` ended with the right result. Worlds call this after they have taken the rank's time, so the
    /// check costs none.
    ///
    /// # Errors
    /// What is wrong with it.
    fn check(&self, rank: Rank, output: &Self::Output) -> Result<()> {
        let _ = (rank, output);
        Ok(())
    }
    /// The name of `rank` in the report of a deadlock.
    fn name_of(&self, rank: Rank) -> String {
        format!("rank {rank}")
    }
    /// Called by a simulated world when nothing more can happen, with the messages that no receive has taken, in order
    /// of receiver, sender and tag, and whether ranks wait for ever. An error that it returns is reported in place of
    /// the world's own.
    fn ended(&self, unexpected: &[Unexpected], deadlock: bool) -> Option<Error> {
        let _ = (unexpected, deadlock);
        None
    }
}

impl<P: Program> Program for &P {
    type Output = P::Output;
    const NEEDS: Needs = P::NEEDS;

    async fn run<E: Endpoint>(&self, endpoint: &E) -> Result<P::Output> {
        P::run(self, endpoint).await
    }

    fn check(&self, rank: Rank, output: &P::Output) -> Result<()> {
        P::check(self, rank, output)
    }

    fn name_of(&self, rank: Rank) -> String {
        P::name_of(self, rank)
    }

    fn ended(&self, unexpected: &[Unexpected], deadlock: bool) -> Option<Error> {
        P::ended(self, unexpected, deadlock)
    }
}

/// Each rank's result, in order of rank, and the world's report of the run; or the reason why it could not run.
pub type Run<T, A> = Result<(Vec<Result<T>>, A)>;

/// Something that runs programs.
pub trait World {
    /// What it reports of a run besides the ranks' results.
    type Answer;
    /// Runs `program` on `ranks` ranks and returns each rank's result, in order of rank, and what the machine did. A
    /// rank that ends with an error does not stop the others.
    ///
    /// # Errors
    /// Why the world as a whole could not run it: more ranks than nodes, a deadlock.
    fn run<P: Program>(&self, ranks: u32, program: &P) -> Run<P::Output, Self::Answer>;
}

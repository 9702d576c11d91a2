//! One rank's view of the machine it runs on. The whole house stands on this trait.
//!
//! A program is an `async fn` over [`Endpoint`]; a [`World`] runs it. Programs never name a world. One rank is one
//! sequential program: it neither spawns nor selects, and [`AnySource::receive_any`] is its only choice point.

pub mod conformance;
mod deadlock;
mod error;
mod message;

pub use deadlock::{WaitsFor, deadlock};
pub use error::{Error, Result, check_partner};
pub use message::Message;

use quantities::{Duration, Rank, Time};

/// One rank's view of the machine it runs on.
#[allow(async_fn_in_trait)] // a world polls its own futures on one thread: no `Send` bound is wanted
pub trait Endpoint {
    /// Which rank this is.
    fn rank(&self) -> Rank;
    /// How many ranks the program has.
    fn size(&self) -> u32;
    /// The time at this rank.
    fn now(&self) -> Time;
    /// Sends `message` to rank `to`. When it returns is the machine's choice: once the message is set up, once it has
    /// left, or once it was received.
    ///
    /// # Errors
    /// [`Error::NoSuchRank`] and [`Error::ToItself`] when no message can go there.
    async fn send(&self, to: Rank, message: Message) -> Result<()>;
    /// Waits for the next message from rank `from`. Messages of one sender come in the order they were sent.
    ///
    /// # Errors
    /// [`Error::NoSuchRank`] and [`Error::ToItself`] when no message can come from there.
    async fn receive(&self, from: Rank) -> Result<Message>;
    /// Computes for as long as `work`.
    async fn compute(&self, work: Duration);
}

/// An endpoint that can receive from whoever is next.
#[allow(async_fn_in_trait)] // as above
pub trait AnySource: Endpoint {
    /// Waits for the next message from anyone, until `deadline` at the latest. A message that is there already is given
    /// whatever the deadline.
    ///
    /// # Errors
    /// [`Error::Deadline`] when no message has come by then.
    async fn receive_any(&self, deadline: Option<Time>) -> Result<(Rank, Message)>;
}

/// An endpoint on a machine that broadcasts in hardware.
#[allow(async_fn_in_trait)] // as above
pub trait Multicast: Endpoint {
    /// Sends `message` to all other ranks at once. Broadcasts of one rank come in the order they were sent; nothing is
    /// said of the order of a broadcast and a message sent to one rank.
    ///
    /// # Errors
    /// [`Error::Unfit`] where the machine has no hardware for it.
    async fn multicast(&self, message: Message) -> Result<()>;
    /// Waits for the next broadcast of rank `from`.
    ///
    /// # Errors
    /// As [`Multicast::multicast`], and as [`Endpoint::receive`].
    async fn receive_multicast(&self, from: Rank) -> Result<Message>;
}

/// A program: what every rank runs.
#[allow(async_fn_in_trait)] // as above
pub trait Program {
    /// What a rank has when it is done.
    type Output;
    /// Runs one rank.
    async fn run<E: Endpoint>(&self, here: &E) -> Result<Self::Output>;
}

/// A program that receives from anyone.
#[allow(async_fn_in_trait)] // as above
pub trait AnySourceProgram {
    /// What a rank has when it is done.
    type Output;
    /// Runs one rank.
    async fn run<E: AnySource>(&self, here: &E) -> Result<Self::Output>;
}

/// A program that broadcasts in hardware.
#[allow(async_fn_in_trait)] // as above
pub trait MulticastProgram {
    /// What a rank has when it is done.
    type Output;
    /// Runs one rank.
    async fn run<E: Multicast>(&self, here: &E) -> Result<Self::Output>;
}

/// Something that runs programs.
pub trait World {
    /// Runs `program` on `ranks` ranks and gives what each rank ended with, in order of rank. A rank that ends with an
    /// error does not keep the others from going on.
    ///
    /// # Errors
    /// What kept the world as a whole from running it: more ranks than nodes, a deadlock.
    fn run<P: Program>(&self, ranks: u32, program: &P) -> Result<Vec<Result<P::Output>>>;
}

/// A world that runs programs that receive from anyone.
pub trait AnySourceWorld: World {
    /// As [`World::run`].
    ///
    /// # Errors
    /// As [`World::run`].
    fn run_any<P: AnySourceProgram>(&self, ranks: u32, program: &P) -> Result<Vec<Result<P::Output>>>;
}

/// A world that runs programs that broadcast in hardware.
pub trait MulticastWorld: World {
    /// As [`World::run`].
    ///
    /// # Errors
    /// As [`World::run`].
    fn run_multicast<P: MulticastProgram>(&self, ranks: u32, program: &P) -> Result<Vec<Result<P::Output>>>;
}

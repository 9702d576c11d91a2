//! The contention-free world: no network, a clock at every rank, and messages that cost what LogGP says.
//!
//! The behaviour and timing of a program that receives from named ranks only do not depend on the order in which its
//! ranks are run (they are a Kahn network), as they share nothing. So there is no event queue: a rank runs, ahead of
//! all others if need be, until it waits for a message that has not been sent yet; then another one runs. To keep few
//! messages under way at once, a rank also lets others run before it sends to a rank that has many.
//!
//! A sendrecv preserves this: nothing else of its rank begins before both halves are over, and the processor finishes
//! the send, which was begun first, before it takes a message in.
//!
//! What a message of s bytes costs, as in LogGOPSim (Hoefler, Schneider and Lumsdaine, "LogGOPSim: simulating
//! large-scale applications in the LogGOPS model", 2010):
//!
//! ```text
//!   sender    |-- o + (s-1) O --|
//!             |-- g + (s-1) G -------| network interface
//!             |-- o --|---- L ----|
//!   receiver                      |-- o + max((s-1) O, (s-1) G) --|
//!                                 |-- g + (s-1) G -------| network interface
//! ```
//!
//! A send starts when processor and network interface are free; a message is taken when it has arrived, its receiver
//! asks for it, and the receiver's interface is free. A send of S bytes or more completes when its message is taken.
//! The receiver pays o when it receives, not when the message arrives, and gaps between received messages count in the
//! order in which the program receives them: this is where a world without events must differ from one with them.

mod clock_endpoint;
mod costs;
mod free_from;
mod in_order;
mod mailbox;
mod on_arrival;
mod rank_clock;
mod ranks;
mod record;
mod state;

use std::cell::RefCell;

use endpoint::{Error, Program, World, executor};
use machines::model::LogGp;

use crate::answer::{Answer, Run};
use crate::horizon::counted;
use crate::stop::Stop;
use clock_endpoint::ClockEndpoint;
use costs::Costs;
use ranks::Ranks;
use state::SharedState;

/// The contention-free world of one machine.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    model: LogGp,
    on_arrival: bool,
    with_timeline: bool,
    stop: Stop,
}

impl Clock {
    /// A world in which messages cost what `model` says.
    pub const fn new(model: LogGp) -> Clock {
        Clock { model, on_arrival: false, with_timeline: false, stop: Stop::NEVER }
    }

    /// The same world, in which processors take messages in when they arrive, as in LogGOPSim, and not when they are
    /// asked for. Ranks have as many processors and network interfaces as their requests name.
    pub const fn on_arrival(self) -> Clock {
        Clock { on_arrival: true, ..self }
    }

    /// The same world, which also records the timeline of every rank.
    pub const fn with_timeline(self) -> Clock {
        Clock { with_timeline: true, ..self }
    }

    /// The same world, which stops a run when asked to.
    pub const fn with_stop(self, stop: Stop) -> Clock {
        Clock { stop, ..self }
    }

    /// Runs a program that receives from named ranks only: they may run ahead of each other.
    fn run_ahead<P: Program>(&self, ranks: u32, program: &P) -> Run<P::Output> {
        let state = RefCell::new(SharedState::new(Costs::new(&self.model), ranks, self.with_timeline));
        let results = Ranks::new(ranks, self.stop).run(
            &state,
            |rank| program.name_of(rank),
            |rank| {
                let endpoint = ClockEndpoint::new(rank, &state, P::NEEDS);
                async move { program.run(&endpoint).await }
            },
        )?;
        Ok((executor::checked(program, results), counted(state.into_inner().into_answer())?))
    }
}

impl World for Clock {
    type Answer = Answer;

    fn run<P: Program>(&self, ranks: u32, program: &P) -> Run<P::Output> {
        if self.on_arrival {
            self.run_on_arrival(ranks, program)
        } else if P::NEEDS.any_source() || P::NEEDS.overlap() {
            self.run_in_order(ranks, program)
        } else {
            self.run_ahead(ranks, program)
        }
    }
}

/// The error of a program that uses a hardware broadcast.
fn no_hardware() -> Error {
    Error::Unfit("the machine has no network to broadcast on in hardware: it is a LogGP model".to_owned())
}

//! `--engine`: what moves the flits.

use ::machines::model::{Interconnect, Machine};
use clap::ValueEnum;
use virtual_worlds::flit::world::EngineKind;

use super::failure::Failure;

/// Which engine moves the flits. Both give the same times.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Engine {
    /// A number of events that grows with packets and channels.
    Fast,
    /// Every flit.
    Reference,
}

impl Engine {
    /// The one that moves the flits of `machine`, that which was `asked` for or the usual one; none where there are no flits.
    ///
    /// # Errors
    /// That one was asked for where there are none.
    pub(super) fn of(machine: &Machine, asked: Option<Engine>) -> Result<Option<Engine>, Failure> {
        match (&machine.interconnect, asked) {
            (Interconnect::Flits(_), asked) => Ok(Some(asked.unwrap_or(Engine::Fast))),
            (Interconnect::Ethernet(_) | Interconnect::LogGp(_), None) => Ok(None),
            (Interconnect::Ethernet(_) | Interconnect::LogGp(_), Some(engine)) => {
                let allowed = format!("none, as {} has no flits to be moved", machine.name);
                Err(Failure::argument("--engine", engine.name(), allowed))
            }
        }
    }

    /// What it is called.
    pub(super) fn name(self) -> &'static str {
        match self {
            Engine::Fast => "fast",
            Engine::Reference => "reference",
        }
    }

    /// The kind of engine that a world is asked for.
    pub(super) fn kind(self) -> EngineKind {
        match self {
            Engine::Fast => EngineKind::Fast,
            Engine::Reference => EngineKind::Reference,
        }
    }
}

//! `--engine`: what moves the flits.

use clap::ValueEnum;
use virtual_worlds::network_world::EngineKind;

/// Which engine moves the flits. Both give the same times.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Engine {
    /// A number of events that grows with packets and channels.
    Fast,
    /// Every flit.
    Reference,
}

impl Engine {
    /// The kind of engine that a world is asked for.
    pub(super) fn kind(self) -> EngineKind {
        match self {
            Engine::Fast => EngineKind::Fast,
            Engine::Reference => EngineKind::Reference,
        }
    }
}

//! Which of several allowed channels a header takes, and what it waits for.

use schemars::JsonSchema;
use serde::Deserialize;

/// Which of several allowed channels a header takes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Selection {
    /// The one that belongs to the source node.
    #[default]
    Fixed,
    /// Any, at random.
    Random,
    /// An idle one, in turn; when none is idle, the next in turn.
    RoundRobin,
    /// An idle one; when none is idle, the source's own.
    IdleFixed,
    /// An idle one; when none is idle, any at random.
    IdleRandom,
}

impl Selection {
    /// All of them.
    pub const ALL: [Selection; 5] =
        [Selection::Fixed, Selection::Random, Selection::RoundRobin, Selection::IdleFixed, Selection::IdleRandom];

    /// As it is written.
    pub fn name(self) -> &'static str {
        match self {
            Selection::Fixed => "fixed",
            Selection::Random => "random",
            Selection::RoundRobin => "round-robin",
            Selection::IdleFixed => "idle-fixed",
            Selection::IdleRandom => "idle-random",
        }
    }

    /// Whether it depends on the seed of a run.
    pub fn is_random(self) -> bool {
        matches!(self, Selection::Random | Selection::IdleRandom)
    }

    /// Whether a header looks for an idle channel.
    pub fn looks_for_idle(self) -> bool {
        matches!(self, Selection::RoundRobin | Selection::IdleFixed | Selection::IdleRandom)
    }
}

/// What a header that finds none of several allowed channels idle waits for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum WaitsFor {
    /// The one that it chose when it asked.
    #[default]
    Chosen,
    /// Any of them: it has the first that falls free.
    Any,
}

impl WaitsFor {
    /// As it is written.
    pub fn name(self) -> &'static str {
        match self {
            WaitsFor::Chosen => "chosen",
            WaitsFor::Any => "any",
        }
    }
}

/// Which of several allowed channels count as idle.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum IdleWhen {
    /// Those that no packet holds and none has asked for.
    #[default]
    Free,
    /// Of those, only the ones with an empty buffer at their far end.
    Empty,
}

impl IdleWhen {
    /// As it is written.
    pub fn name(self) -> &'static str {
        match self {
            IdleWhen::Free => "free",
            IdleWhen::Empty => "empty",
        }
    }
}

//! Runs that last longer than can be counted: the one limit of all worlds is that of the types, [`Time::NEVER`] and
//! [`Duration::LONGEST`].

use std::fmt::Display;

use endpoint::{Error, Result};
use quantities::{Duration, Rank, Time};

use crate::answer::Answer;

/// The error of a run in which `what` would end later than can be counted.
pub(crate) fn beyond(what: impl Display) -> Error {
    let days = Time::NEVER.days();
    Error::Unfit(format!("{what} would end beyond the {days} days of simulated time that picoseconds can count"))
}

/// The answer, if every time and every sum of times could be counted.
///
/// # Errors
/// Names the rank or router whose time could not be counted.
pub(crate) fn counted(answer: Answer) -> Result<Answer> {
    let ranks = || (0..).map(Rank);
    if let Some((rank, _)) = ranks().zip(&answer.finish).find(|(_, finish)| **finish == Time::NEVER) {
        return Err(beyond(format_args!("rank {rank}")));
    }
    let too_long = |sum: String| {
        let days = Time::NEVER.days();
        Err(Error::Unfit(format!("{sum}, is longer than the {days} days that picoseconds can count")))
    };
    for (rank, statistics) in ranks().zip(&answer.ranks) {
        if statistics.receive_idle == Duration::LONGEST {
            return too_long(format!("the time that rank {rank} waits for messages, summed over its receives"));
        }
        if statistics.send_away == Duration::LONGEST {
            return too_long(format!("the time that packets of rank {rank} need to leave it, summed over them"));
        }
    }
    if let Some(router) = answer.routers.iter().position(|router| router.blocking == Duration::LONGEST) {
        return too_long(format!("the time that headers are blocked at router {router}, summed over them"));
    }
    Ok(answer)
}

//! Broadcast by halving distances.

use endpoint::{Endpoint, Message, Needs, Result};
use quantities::Bytes;

use super::algorithm::{Algorithm, BroadcastAlgorithm};
use crate::Group;
use crate::catalogue::{Cost, Entry, Stretch, halvings};
use crate::postal::Lambda;

/// Recursive broadcast of `message` from the source of `group`: every rank that has it sends it half as far as in the
/// step before. The others' own `message` is overwritten; a rank that is not in the group does nothing.
///
/// ```text
///   step 1     0 -> 4
///   step 2     0 -> 2            4 -> 6
///   step 3     0 -> 1   2 -> 3   4 -> 5   6 -> 7        places in the group, n = 8
/// ```
///
/// The first distance is half of n, the least power of two that is not below the group's size; places that the group
/// does not have are left out, so that any size works. (Where the paper's text has N/2 send to 3N/2 it means 3N/4, as
/// in its figure.)
///
/// P ranks: P - 1 messages, ceil(log2 P) steps. Under LogGP, with g <= o and a message of s bytes whose send takes o:
/// T = ceil(log2 P) (o + (s-1) G + L + o).
///
/// Source: "Scheduling Regular and Irregular Communication Patterns on the CM-5", section 3.6 and figure 9.
///
/// # Errors
/// When the group has ranks outside the program, and the errors of sending and receiving.
pub async fn recursive<E: Endpoint>(endpoint: &E, group: &Group, message: &mut Message) -> Result<()> {
    group.check(endpoint.size())?;
    let Some(me) = group.place_of(endpoint.rank()).map(u64::from) else { return Ok(()) };
    let size = u64::from(group.len());
    let rank_at = |place: u64| group.rank_at(place as u32);

    let mut distance = size.next_power_of_two() / 2;
    while distance > 0 {
        if me.is_multiple_of(distance) {
            if !(me / distance).is_multiple_of(2) {
                *message = endpoint.receive(rank_at(me - distance)).await?;
            } else if me + distance < size {
                endpoint.send(rank_at(me + distance), message.clone()).await?;
            }
        }
        distance /= 2;
    }
    Ok(())
}

/// [`recursive`] in the catalogue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Recursive;

impl BroadcastAlgorithm for Recursive {
    const ENTRIES: &'static [Entry<Algorithm>] = &[Entry {
        name: "recursive",
        about: "Whoever has the message sends it on, half as far in every step",
        formula: "ceil(log2 n) lambda t0",
        parameters: &[],
        needs: Needs::NOTHING,
        make: |_| Ok(Recursive.into()),
    }];

    async fn run<E: Endpoint>(&self, endpoint: &E, group: &Group, _: Bytes, message: &mut Message) -> Result<()> {
        recursive(endpoint, group, message).await
    }

    fn cost(&self, _: Lambda, ranks: u32, bytes: Bytes) -> Cost {
        Cost::of(f64::from(ranks), bytes, vec![Stretch::of(0.0, f64::from(halvings(ranks)), bytes)])
    }

    fn messages(&self, ranks: u32) -> Option<u64> {
        Some(u64::from(ranks) - 1)
    }
}

//! All-gather round a ring.

use endpoint::{Endpoint, Message, Result};

use crate::pieces::Gathered;
use crate::shift::Shift;

/// Brings the `message`s of all ranks, of any sizes, to all of them: each goes once round the ring. Every rank ends with all messages
/// concatenated in order of rank.
///
/// ```text
///   step i     rank p sends the message of p - i + 1 to p + 1        P - 1 steps, modulo P
/// ```
///
/// P (P - 1) messages; every rank receives only what it lacks. Under LogGP with messages of s bytes
/// T = (P - 1) (o + L + o + (s-1) G).
///
/// Source: Thakur, Rabenseifner and Gropp, "Optimization of collective communication operations in MPICH", International Journal of
/// High Performance Computing Applications 19(1), 2005, section 4.1.
///
/// # Errors
/// Those of sending and receiving.
pub async fn ring<E: Endpoint>(endpoint: &E, message: &mut Message) -> Result<()> {
    let size = endpoint.size();
    let mut place = endpoint.rank().0;
    let mut known = Gathered::default();
    let mut passing = std::mem::take(message);
    for _ in 1..size {
        let Shift { to, from } = Shift::new(endpoint.rank(), 1, size);
        known.put(place, passing.clone());
        passing = endpoint.sendrecv(to, passing, from).await?;
        place = place.checked_sub(1).unwrap_or(size - 1);
    }
    known.put(place, passing);
    *message = known.joined();
    Ok(())
}

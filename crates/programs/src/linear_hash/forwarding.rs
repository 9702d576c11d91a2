//! Where a server sends a request on that is not for it.

use super::h;

/// Algorithm A2, of server a of level j: none where the key C is its own, otherwise the server to which it sends the request on.
///
/// ```text
///   a'  = h_j(C)                     the key's bucket, were all on this server's level
///   a'' = h_{j-1}(C)                 and on the one before
///   if a' != a: if a < a'' < a': a' = a''        a' may not be there yet; a'' surely is
/// ```
///
/// A request is sent on twice at most, whatever the image that it was sent by, as long as that is not ahead of the file.
///
/// Source: LH*LH paper, section 3; LH* paper, algorithm A2 and its proposition on the number of forwardings.
pub const fn forward(a: u32, j: u32, c: u64) -> Option<u32> {
    let there = h(j, c);
    if there == a {
        return None;
    }
    let before = h(j.saturating_sub(1), c);
    Some(if a < before && before < there { before } else { there })
}

//! Where a server forwards a request that is not for it.

use super::h;

/// Algorithm A2, for server a of level j: none if the key C is its own, otherwise the server to which it forwards the
/// request.
///
/// ```text
///   a'  = h_j(C)                     the key's bucket if all servers were on this server's level
///   a'' = h_{j-1}(C)                 and on the level before
///   if a' != a: if a < a'' < a': a' = a''        a' may not exist yet; a'' does
/// ```
///
/// A request is forwarded at most twice, whatever the client's image, as long as that is not ahead of the file.
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

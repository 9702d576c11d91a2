//! Where a request goes: a client's image of a table, and where a server forwards a request that is not for it.

use super::{Extent, h};

/// A client's image (i', n') of a table: it begins with one server, and improves whenever a server reports its number
/// and level.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Image(Extent);

impl Image {
    /// The image of a table with this extent.
    pub const fn of(extent: Extent) -> Image {
        Image(extent)
    }

    /// The extent that the client believes the table to have.
    pub const fn extent(self) -> Extent {
        self.0
    }

    /// Algorithm A1: the server to ask for the key C.
    ///
    /// ```text
    ///   a = h_i'(C)
    ///   if a < n': a = h_{i'+1}(C)
    /// ```
    pub const fn address(self, c: u64) -> u32 {
        self.0.index(c)
    }

    /// Algorithm A3, for a table that only grows: server a of level j was asked first, and had to forward the request.
    ///
    /// ```text
    ///   if j > i': i' = j - 1, n' = a + 1
    ///   if n' >= 2^i': n' = 0, i' = i' + 1
    /// ```
    ///
    /// Source: LH*LH paper, section 3; LH* paper, algorithm A3.
    pub const fn grow(&mut self, a: u32, j: u32) {
        if j > self.0.i() {
            let (mut i, mut n) = (j - 1, a + 1);
            if n >= 1 << i {
                n = 0;
                i += 1;
            }
            *self = Image(Extent::of((1 << i) + n));
        }
    }

    /// Learns from server a of level j about the number M of servers, for a table that also shrinks: an image that is
    /// behind is raised to the least possible M, one that is ahead is lowered to the greatest.
    ///
    /// ```text
    ///   a <  2^(j-1): a was split on level j - 1         2^(j-1) + a + 1 <= M <= 2^j + a
    ///   a >= 2^(j-1): a split created it                          a + 1 <= M <= 2^j + a
    /// ```
    ///
    /// From the server that was asked first it learns just as much as with [`Image::grow`].
    pub fn adjust(&mut self, a: u32, j: u32) {
        let before = h(j.saturating_sub(1), u64::MAX); // 2^(j-1) - 1: the last server on the level before
        let least = if j > 0 && a <= before { before + a + 2 } else { a + 1 };
        let most = (1u32 << j) + a;
        *self = Image(Extent::of(self.0.buckets().clamp(least, most.max(least))));
    }

    /// Server a no longer exists: there are at most a servers.
    pub fn gone(&mut self, a: u32) {
        *self = Image(Extent::of(self.0.buckets().min(a)));
    }
}

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

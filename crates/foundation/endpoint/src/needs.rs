//! What a program asks of its world besides sends to, and receives from, named ranks.

use crate::{Error, Result};

/// What a program may do besides sending to, and receiving from, named ranks.
///
/// A world that knows what a program does not do can be quicker: where no rank receives from any source, ranks need not
/// run in the order of time. So a program that does something it has not declared gets an error, in every world.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Needs {
    any_source: bool,
    multicast: bool,
    overlap: bool,
    requests: bool,
}

impl Needs {
    /// Nothing more.
    pub const NOTHING: Needs = Needs { any_source: false, multicast: false, overlap: false, requests: false };
    /// It receives from any source, or until a deadline, or probes.
    pub const ANY_SOURCE: Needs = Needs { any_source: true, ..Needs::NOTHING };
    /// It broadcasts in hardware.
    pub const MULTICAST: Needs = Needs { multicast: true, ..Needs::NOTHING };
    /// Several operations of one rank are under way at once.
    pub const OVERLAP: Needs = Needs { overlap: true, ..Needs::NOTHING };
    /// It begins requests and waits for any of them: several are under way at once, on several processors if it asks
    /// for them.
    pub const REQUESTS: Needs = Needs { requests: true, ..Needs::OVERLAP };
    /// Everything.
    pub const EVERYTHING: Needs = Needs::ANY_SOURCE.and(Needs::MULTICAST).and(Needs::REQUESTS);

    /// The needs of both.
    pub const fn and(self, other: Needs) -> Needs {
        Needs {
            any_source: self.any_source || other.any_source,
            multicast: self.multicast || other.multicast,
            overlap: self.overlap || other.overlap,
            requests: self.requests || other.requests,
        }
    }

    /// Whether it receives from any source, or until a deadline, or probes.
    pub const fn any_source(self) -> bool {
        self.any_source
    }

    /// Whether it broadcasts in hardware.
    pub const fn multicast(self) -> bool {
        self.multicast
    }

    /// Whether several of its operations are under way at once.
    pub const fn overlap(self) -> bool {
        self.overlap
    }

    /// Whether it begins requests.
    pub const fn requests(self) -> bool {
        self.requests
    }

    /// Checks that the program may receive from any source, or until a deadline, or probe: every world calls this
    /// before it does so.
    ///
    /// # Errors
    /// [`Error::Undeclared`].
    pub const fn check_any_source(self) -> Result<()> {
        if self.any_source { Ok(()) } else { Err(Error::Undeclared("ANY_SOURCE")) }
    }

    /// Checks that the program may broadcast in hardware: every world calls this before it does so.
    ///
    /// # Errors
    /// [`Error::Undeclared`].
    pub const fn check_multicast(self) -> Result<()> {
        if self.multicast { Ok(()) } else { Err(Error::Undeclared("MULTICAST")) }
    }

    /// Checks that the program may begin an operation while another is under way: every world calls this before it does
    /// so.
    ///
    /// # Errors
    /// [`Error::Undeclared`].
    pub const fn check_overlap(self) -> Result<()> {
        if self.overlap { Ok(()) } else { Err(Error::Undeclared("OVERLAP")) }
    }

    /// Checks that the program may begin a request: every world calls this before it does so.
    ///
    /// # Errors
    /// [`Error::Undeclared`].
    pub const fn check_requests(self) -> Result<()> {
        if self.requests { Ok(()) } else { Err(Error::Undeclared("REQUESTS")) }
    }
}

//! The calls of an MPI process, as far as a replay follows them.

/// A call. Ranks are those of its communicator.
///
/// What only the program can know is resolved: every start of a persistent request begins a new request; of several
/// requests that were waited for, the completed ones are listed; a test that found nothing is not a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Call {
    /// `MPI_Send` and its kin.
    Send(Message),
    /// `MPI_Recv`.
    Receive(Message),
    /// `MPI_Isend`; the start of a persistent send.
    BeginSend(u32, Message),
    /// `MPI_Irecv`; the start of a persistent receive.
    BeginReceive(u32, Message),
    /// `MPI_Sendrecv`.
    SendReceive(Box<Transfer>),
    /// The source and tag of the message that a wildcard receive has got: its request, the source, the tag. No time
    /// passes.
    Matched(u32, u32, u32),
    /// `MPI_Wait` and its kin, or a successful test: the requests that were completed.
    Wait(Box<[u32]>),
    /// `MPI_Request_free`: nobody waits for the request.
    Free(u32),
    /// A nonblocking receive was cancelled with `MPI_Cancel` before it got a message: its request.
    Cancelled(u32),
    /// `MPI_Probe`, or a successful `MPI_Iprobe`.
    Probe(Message),
    /// A blocking collective.
    Collective(Box<Collective>),
    /// A nonblocking collective, such as `MPI_Iallreduce`.
    BeginCollective(u32, Box<Collective>),
    /// A communicator was created: its number, and the ranks of its members in `MPI_COMM_WORLD`. The number may have
    /// been another's before.
    Communicator(u32, Box<[u32]>),
    /// A call that no replay can follow.
    Unsupported(Box<str>),
    /// `MPI_Finalize`: how long the process ran since `MPI_Init`. [ns]
    Finalize(u64),
}

impl Call {
    /// Its name for people.
    pub fn name(&self) -> &str {
        match self {
            Call::Send(_) => "MPI_Send",
            Call::Receive(_) => "MPI_Recv",
            Call::BeginSend(..) => "MPI_Isend",
            Call::BeginReceive(..) => "MPI_Irecv",
            Call::SendReceive(_) => "MPI_Sendrecv",
            Call::Matched(..) | Call::Wait(_) => "MPI_Wait",
            Call::Free(_) => "MPI_Request_free",
            Call::Cancelled(_) => "MPI_Cancel",
            Call::Probe(_) => "MPI_Probe",
            Call::Collective(it) => it.kind.name(),
            Call::BeginCollective(_, it) => it.kind.name_begun(),
            Call::Communicator(..) => "a new communicator",
            Call::Unsupported(name) => name,
            Call::Finalize(_) => "MPI_Finalize",
        }
    }
}

/// A message that is sent or received.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message {
    /// The destination or source; none for any source.
    pub partner: Option<u32>,
    /// Its tag; none for any tag.
    pub tag: Option<u32>,
    /// Its communicator.
    pub communicator: u32,
    /// Its size; for a receive, the most that it accepts. [B]
    pub bytes: u64,
}

/// A message that is sent, and one that is received meanwhile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transfer {
    /// The one that is sent.
    pub send: Message,
    /// The one that is received.
    pub receive: Message,
}

/// A collective, as one rank has called it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Collective {
    /// Its kind.
    pub kind: CollectiveKind,
    /// Its communicator.
    pub communicator: u32,
    /// The root, if it has one.
    pub root: u32,
    /// What the rank contributes; for a scatter what it receives, for an exchange what each other rank receives from
    /// it. [B]
    pub bytes: u64,
    /// For a collective with individual sizes, that of each rank: at the root of a gather or scatter, and in each call
    /// of the others; for `MPI_Alltoallv` what is sent to each, followed by what is received from each. [B]
    pub counts: Box<[u64]>,
}

macro_rules! kinds {
    ($($(#[$about:meta])* $kind:ident = $code:literal, $name:literal, $begun:literal;)+) => {
        /// The kind of a collective.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        #[repr(u8)]
        pub enum CollectiveKind {
            $($(#[$about])* #[doc = concat!("`", $name, "`")] $kind = $code,)+
        }

        impl CollectiveKind {
            /// All of them.
            pub const ALL: &'static [CollectiveKind] = &[$(CollectiveKind::$kind,)+];

            /// Its name in MPI.
            pub const fn name(self) -> &'static str {
                match self { $(CollectiveKind::$kind => $name,)+ }
            }

            /// The name of its nonblocking variant.
            pub const fn name_begun(self) -> &'static str {
                match self { $(CollectiveKind::$kind => $begun,)+ }
            }

            /// The kind with this code.
            pub fn of_code(code: u8) -> Option<CollectiveKind> {
                match code {
                    $($code => Some(CollectiveKind::$kind),)+
                    _ => None,
                }
            }
        }
    };
}

kinds! {
    Barrier = 0, "MPI_Barrier", "MPI_Ibarrier";
    Broadcast = 1, "MPI_Bcast", "MPI_Ibcast";
    Reduce = 2, "MPI_Reduce", "MPI_Ireduce";
    AllReduce = 3, "MPI_Allreduce", "MPI_Iallreduce";
    Gather = 4, "MPI_Gather", "MPI_Igather";
    Gatherv = 5, "MPI_Gatherv", "MPI_Igatherv";
    Scatter = 6, "MPI_Scatter", "MPI_Iscatter";
    Scatterv = 7, "MPI_Scatterv", "MPI_Iscatterv";
    AllGather = 8, "MPI_Allgather", "MPI_Iallgather";
    AllGatherv = 9, "MPI_Allgatherv", "MPI_Iallgatherv";
    AllToAll = 10, "MPI_Alltoall", "MPI_Ialltoall";
    AllToAllv = 11, "MPI_Alltoallv", "MPI_Ialltoallv";
    ReduceScatter = 12, "MPI_Reduce_scatter", "MPI_Ireduce_scatter";
    ReduceScatterBlock = 13, "MPI_Reduce_scatter_block", "MPI_Ireduce_scatter_block";
    Scan = 14, "MPI_Scan", "MPI_Iscan";
    Exscan = 15, "MPI_Exscan", "MPI_Iexscan";
}

impl CollectiveKind {
    /// Whether one rank has a different part in it than the others.
    pub const fn has_root(self) -> bool {
        use CollectiveKind::{Broadcast, Gather, Gatherv, Reduce, Scatter, Scatterv};
        matches!(self, Broadcast | Gather | Gatherv | Reduce | Scatter | Scatterv)
    }

    /// Whether all ranks give the same number of bytes.
    pub const fn is_of_one_size(self) -> bool {
        use CollectiveKind::{AllGatherv, AllToAllv, Gatherv, Scatterv};
        !matches!(self, Gatherv | Scatterv | AllGatherv | AllToAllv)
    }

    /// How many counts a call of it has among `size` ranks; `is_root` matters if it has a root.
    pub const fn counts(self, size: u32, is_root: bool) -> usize {
        use CollectiveKind::{AllGatherv, AllToAllv, Gatherv, ReduceScatter, Scatterv};
        match self {
            Gatherv | Scatterv if is_root => size as usize,
            AllGatherv | ReduceScatter => size as usize,
            AllToAllv => 2 * size as usize,
            _ => 0,
        }
    }
}

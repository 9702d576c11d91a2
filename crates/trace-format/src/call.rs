//! The calls of an MPI process, as far as a replay follows them.

/// A call. Ranks are those of its communicator.
///
/// What only the program can know is resolved: a persistent request is begun anew by each start; of several requests that were waited
/// for, those that were over are named; a test that found nothing is no call.
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
    /// Which rank's message with which tag a receive has got that was begun for any: its request, the source, the tag. No time passes.
    Matched(u32, u32, u32),
    /// `MPI_Wait` and its kin; a test that found something: the requests that were over.
    Wait(Box<[u32]>),
    /// `MPI_Request_free`: nobody waits for the request.
    Free(u32),
    /// A receive that was begun is over, as `MPI_Cancel` asked, before it got a message: its request.
    Cancelled(u32),
    /// `MPI_Probe`, or an `MPI_Iprobe` that found something.
    Probe(Message),
    /// A collective that is waited for.
    Collective(Box<Collective>),
    /// A collective that is begun, such as `MPI_Iallreduce`.
    BeginCollective(u32, Box<Collective>),
    /// A communicator was made: its number, and the ranks in `MPI_COMM_WORLD` of its members. The number may have been another's before.
    Communicator(u32, Box<[u32]>),
    /// A call that no replay can follow.
    Unsupported(Box<str>),
    /// `MPI_Finalize`: for how long the process ran since `MPI_Init`. [ns]
    Finalize(u64),
}

impl Call {
    /// How people know it.
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
    /// To whom, or from whom; anyone, if nobody is named.
    pub partner: Option<u32>,
    /// Its tag; any, if none is named.
    pub tag: Option<u32>,
    /// In which communicator.
    pub communicator: u32,
    /// Its size; of a receive, the most that it takes. [B]
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
    /// Which.
    pub kind: CollectiveKind,
    /// Of which communicator.
    pub communicator: u32,
    /// The root, where it has one.
    pub root: u32,
    /// What the rank contributes; at a scatter what it gets, at an exchange what each other rank gets of it. [B]
    pub bytes: u64,
    /// Of a collective with sizes of their own, that of each rank: at the root of a gather or scatter, and of each call of the others; of
    /// `MPI_Alltoallv` what is sent to each, and then what is received from each. [B]
    pub counts: Box<[u64]>,
}

macro_rules! kinds {
    ($($(#[$about:meta])* $kind:ident = $code:literal, $name:literal, $begun:literal;)+) => {
        /// Which collective.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        #[repr(u8)]
        pub enum CollectiveKind {
            $($(#[$about])* #[doc = concat!("`", $name, "`")] $kind = $code,)+
        }

        impl CollectiveKind {
            /// All of them.
            pub const ALL: &'static [CollectiveKind] = &[$(CollectiveKind::$kind,)+];

            /// What MPI calls it.
            pub const fn name(self) -> &'static str {
                match self { $(CollectiveKind::$kind => $name,)+ }
            }

            /// What MPI calls the one that is begun and waited for later.
            pub const fn name_begun(self) -> &'static str {
                match self { $(CollectiveKind::$kind => $begun,)+ }
            }

            /// The one of that number.
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
    /// Whether one rank has another part in it than the others.
    pub const fn has_root(self) -> bool {
        use CollectiveKind::{Broadcast, Gather, Gatherv, Reduce, Scatter, Scatterv};
        matches!(self, Broadcast | Gather | Gatherv | Reduce | Scatter | Scatterv)
    }

    /// Whether all ranks name the same number of bytes.
    pub const fn is_of_one_size(self) -> bool {
        use CollectiveKind::{AllGatherv, AllToAllv, Gatherv, Scatterv};
        !matches!(self, Gatherv | Scatterv | AllGatherv | AllToAllv)
    }

    /// How many counts a call of it has among `size` ranks, at the root of those that have one or elsewhere.
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

//! A call of a collective whose time is measured, and its data.

use std::ffi::{c_int, c_void};

use collectives::Collective;
use mpi_abi::*;
use mpi_preload::{Address, Handle};
use plan_format::measured::MeasuredCall;

use crate::calls::{
    MPI_Allgather_c, MPI_Allreduce_c, MPI_Alltoall_c, MPI_Alltoallv_c, MPI_Bcast_c, MPI_Exscan_c, MPI_Gather_c,
    MPI_Reduce_c, MPI_Reduce_scatter_block_c, MPI_Scan_c, MPI_Scatter_c,
};

/// The size of a floating-point number that is summed. [B]
const NUMBER: u64 = size_of::<f32>() as u64;

/// A call with its data.
pub(crate) struct Buffers {
    arguments: Arguments,
    sent: Vec<u8>,
    received: Vec<u8>,
}

/// What is passed to the function besides the data.
enum Arguments {
    /// Calls a function with data sent and received, and with the number of elements of a block and what they are.
    Listed {
        function: Function,
        count: i64,
        elements: MPI_Datatype,
        operator: MPI_Op,
    },
    AllToAllv {
        sent: Blocks,
        received: Blocks,
    },
}

/// A function of a collective: from data sent, data received, and so many elements of a datatype in each block, with an
/// operator.
type Function = unsafe fn(Address, Address, i64, Handle, Handle) -> c_int;

/// How this function of MPI is called among all ranks, with root 0.
fn called(function: &str) -> Option<Function> {
    const WORLD: Handle = MPI_COMM_WORLD.0;
    let known: [(&str, Function); 10] = [
        // SAFETY: guaranteed by who calls it.
        ("MPI_Bcast", |sent, _, count, of, _| unsafe { MPI_Bcast_c(sent, count, of, 0, WORLD) }),
        // SAFETY: guaranteed by who calls it.
        ("MPI_Gather", |sent, received, count, of, _| unsafe {
            MPI_Gather_c(sent, count, of, received, count, of, 0, WORLD)
        }),
        // SAFETY: guaranteed by who calls it.
        ("MPI_Scatter", |sent, received, count, of, _| unsafe {
            MPI_Scatter_c(sent, count, of, received, count, of, 0, WORLD)
        }),
        // SAFETY: guaranteed by who calls it.
        ("MPI_Allgather", |sent, received, count, of, _| unsafe {
            MPI_Allgather_c(sent, count, of, received, count, of, WORLD)
        }),
        // SAFETY: guaranteed by who calls it.
        ("MPI_Reduce", |sent, received, count, of, operator| unsafe {
            MPI_Reduce_c(sent, received, count, of, operator, 0, WORLD)
        }),
        // SAFETY: guaranteed by who calls it.
        ("MPI_Allreduce", |sent, received, count, of, operator| unsafe {
            MPI_Allreduce_c(sent, received, count, of, operator, WORLD)
        }),
        // SAFETY: guaranteed by who calls it.
        ("MPI_Reduce_scatter_block", |sent, received, count, of, operator| unsafe {
            MPI_Reduce_scatter_block_c(sent, received, count, of, operator, WORLD)
        }),
        // SAFETY: guaranteed by who calls it.
        ("MPI_Scan", |sent, received, count, of, operator| unsafe {
            MPI_Scan_c(sent, received, count, of, operator, WORLD)
        }),
        // SAFETY: guaranteed by who calls it.
        ("MPI_Exscan", |sent, received, count, of, operator| unsafe {
            MPI_Exscan_c(sent, received, count, of, operator, WORLD)
        }),
        // SAFETY: guaranteed by who calls it.
        ("MPI_Alltoall", |sent, received, count, of, _| unsafe {
            MPI_Alltoall_c(sent, count, of, received, count, of, WORLD)
        }),
    ];
    known.into_iter().find(|(name, _)| *name == function).map(|(_, function)| function)
}

/// What goes to, or comes from, each rank.
struct Blocks {
    counts: Vec<i64>,
    displacements: Vec<i64>,
}

impl Blocks {
    fn of(counts: Vec<i64>) -> Blocks {
        let ends = counts.iter().scan(0_i64, |end, &count| {
            let start = *end;
            *end = start.saturating_add(count);
            Some(start)
        });
        Blocks { displacements: ends.collect(), counts }
    }

    /// How much it is in all. [B]
    fn bytes(&self) -> u64 {
        self.counts.iter().fold(0, |sum: u64, count| sum.saturating_add(count.unsigned_abs()))
    }
}

impl Buffers {
    /// The data of a rank for a call.
    ///
    /// # Errors
    /// There is not so much memory; the matrix is not one for so many ranks.
    pub(crate) fn new(call: &MeasuredCall, rank: usize, ranks: usize) -> Result<Buffers, String> {
        let (arguments, sent, received) = match call {
            MeasuredCall::Listed(name, bytes) => {
                let unknown = || format!("found the collective {name}, which this library does not know");
                let collective = Collective::named(name).ok_or_else(unknown)?;
                let function = collective.mpi().iter().find_map(|function| called(function)).ok_or_else(unknown)?;
                let are_numbers = collective.shape().reduction.is_some() && bytes % NUMBER == 0;
                let (size, elements, operator) =
                    if are_numbers { (NUMBER, MPI_FLOAT, MPI_SUM) } else { (1, MPI_BYTE, MPI_BOR) };
                let all = bytes.saturating_mul(ranks as u64);
                (Arguments::Listed { function, count: signed(bytes / size)?, elements, operator }, all, all)
            }
            MeasuredCall::AllToAllv(matrix) => {
                if matrix.len() != ranks * ranks {
                    return Err(format!("found a matrix with {} entries; allowed are {ranks} x {ranks}", matrix.len()));
                }
                let block = |from: usize, to: usize| signed(matrix[from * ranks + to]);
                let row = (0..ranks).map(|to| block(rank, to)).collect::<Result<_, _>>()?;
                let column = (0..ranks).map(|from| block(from, rank)).collect::<Result<_, _>>()?;
                let (row, column) = (Blocks::of(row), Blocks::of(column));
                let sizes = (row.bytes(), column.bytes());
                (Arguments::AllToAllv { sent: row, received: column }, sizes.0, sizes.1)
            }
        };
        Ok(Buffers { arguments, sent: memory(sent)?, received: memory(received)? })
    }

    /// Calls the function once, as all ranks do together.
    ///
    /// # Errors
    /// The function's error.
    pub(crate) fn call(&mut self) -> Result<(), String> {
        let (sent, received): (Address, Address) = (address(&mut self.sent), address(&mut self.received));
        let (world, bytes) = (MPI_COMM_WORLD.0, MPI_BYTE.0);
        // SAFETY: MPI has begun; the data are as long as the arguments say, and nothing else uses them.
        let code = unsafe {
            match &self.arguments {
                Arguments::Listed { function, count, elements, operator } => {
                    function(sent, received, *count, elements.0, operator.0)
                }
                Arguments::AllToAllv { sent: row, received: column } => {
                    let numbers = |numbers: &Vec<i64>| numbers.as_ptr();
                    let (to, to_places) = (numbers(&row.counts), numbers(&row.displacements));
                    let (from, from_places) = (numbers(&column.counts), numbers(&column.displacements));
                    MPI_Alltoallv_c(sent, to, to_places, bytes, received, from, from_places, bytes, world)
                }
            }
        };
        if code == MPI_SUCCESS { Ok(()) } else { Err(format!("the collective failed with error {code}")) }
    }
}

fn signed(bytes: u64) -> Result<i64, String> {
    i64::try_from(bytes).map_err(|_| format!("found {bytes} B; allowed is at most {} B", i64::MAX))
}

/// Zeros, and one byte more, so that the address is one in any case.
fn memory(bytes: u64) -> Result<Vec<u8>, String> {
    let size = usize::try_from(bytes.saturating_add(1)).unwrap_or(usize::MAX);
    let mut memory = Vec::new();
    memory.try_reserve_exact(size).map_err(|_| format!("there is no memory for {bytes} B"))?;
    memory.resize(size, 0);
    Ok(memory)
}

fn address(data: &mut [u8]) -> *mut c_void {
    data.as_mut_ptr().cast()
}

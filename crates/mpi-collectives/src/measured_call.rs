//! A call of a collective whose time is measured, and its data.

use std::ffi::c_void;

use mpi_abi::*;
use mpi_preload::Address;
use plan_format::measured::MeasuredCall;

use crate::calls::{MPI_Allreduce_c, MPI_Alltoall_c, MPI_Alltoallv_c, MPI_Bcast_c};

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
    Broadcast { bytes: i64 },
    AllReduce { count: i64, datatype: MPI_Datatype, operator: MPI_Op },
    AllToAll { bytes: i64 },
    AllToAllv { sent: Blocks, received: Blocks },
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
            &MeasuredCall::Broadcast(bytes) => (Arguments::Broadcast { bytes: signed(bytes)? }, bytes, 0),
            &MeasuredCall::AllReduce(bytes) if bytes % NUMBER == 0 => {
                let count = signed(bytes / NUMBER)?;
                (Arguments::AllReduce { count, datatype: MPI_FLOAT, operator: MPI_SUM }, bytes, bytes)
            }
            &MeasuredCall::AllReduce(bytes) => {
                let count = signed(bytes)?;
                (Arguments::AllReduce { count, datatype: MPI_BYTE, operator: MPI_BOR }, bytes, bytes)
            }
            &MeasuredCall::AllToAll(bytes) => {
                let all = bytes.saturating_mul(ranks as u64);
                (Arguments::AllToAll { bytes: signed(bytes)? }, all, all)
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
                Arguments::Broadcast { bytes: count } => MPI_Bcast_c(sent, *count, bytes, 0, world),
                Arguments::AllReduce { count, datatype, operator } => {
                    MPI_Allreduce_c(sent, received, *count, datatype.0, operator.0, world)
                }
                Arguments::AllToAll { bytes: count } => {
                    MPI_Alltoall_c(sent, *count, bytes, received, *count, bytes, world)
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

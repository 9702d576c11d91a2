//! The transform as a program.

use std::sync::Arc;

use endpoint::{Endpoint, Error, Message, Program, Result};
use quantities::{Bytes, Duration, Rank};
use rustfft::num_complex::Complex32;
use rustfft::{Fft, FftPlanner};

use super::blocks::ArrayLayout;
use super::{operations, row};
use crate::applications::cost::Speed;
use crate::applications::packed::Packed;
use collectives::all_to_all::{Complete, CompleteExchange};
use collectives::schedule::Packing;
use collectives::schedule::SendReceiveOrder;

/// The largest array, in numbers per side: its numbers can still be counted.
const LARGEST: u32 = 1 << 16;

/// The Fourier transform of an array of N times N complex numbers in single precision, whose rows are distributed over
/// P ranks:
///
/// ```text
///   1  every rank transforms its rows        rank 0  -----------      | |
///   2  all ranks exchange blocks             rank 1  -----------  ->  | |
///   3  every rank transforms its columns     rank 2  -----------      0 1 ...
/// ```
///
/// Complete exchange of messages of 8 (N / P)^2 bytes if P divides N; otherwise N / P is rounded up. 5 N log2 N
/// floating-point operations for a row or column: T = 2 (N / P) 5 N log2 N speed + that of the exchange, in which every
/// block is packed just before it is sent and unpacked when it arrives.
///
/// Source: CM-5 paper, section 3.5 and table 5.
#[derive(Clone)]
pub struct Fft2d {
    size: u32,
    array: Array,
    plan: Arc<dyn Fft<f32>>,
    /// How blocks are exchanged.
    pub algorithm: Complete,
    /// What a rank does first if it both sends and receives in a step.
    pub order: SendReceiveOrder,
    /// How fast nodes compute.
    pub speed: Speed,
    /// The cost of packing and unpacking blocks: once at the sender and once at the receiver, or in every step if
    /// messages are forwarded.
    pub packing: Packing,
}

/// The array to transform.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Array {
    /// The numbers of [`row`] with a seed.
    Seeded(u64),
    /// No numbers: only times are wanted, and messages are only a size.
    OnlySizes,
}

/// The result of a rank.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Transformed {
    /// The number of its first column.
    pub first: u32,
    /// Its columns of the transform, one after the other; none if only times were wanted.
    pub columns: Vec<Complex32>,
    /// How long it was busy with the exchange. [ps]
    pub communication: Duration,
}

impl Fft2d {
    /// A transform of `size` times `size` numbers.
    ///
    /// # Errors
    /// [`Error::Unfit`] when the array would be empty or too large.
    pub fn new(size: u32, array: Array, algorithm: Complete) -> Result<Fft2d> {
        if size == 0 || size > LARGEST {
            return Err(Error::Unfit(format!("an array to transform has 1 to {LARGEST} numbers a side, not {size}")));
        }
        let plan = FftPlanner::new().plan_fft_forward(size as usize);
        let (order, speed, packing) = (SendReceiveOrder::default(), Speed::default(), Packing::default());
        Ok(Fft2d { size, array, plan, algorithm, order, speed, packing })
    }

    /// The size of the block that two of `ranks` ranks exchange. [B]
    pub fn block(&self, ranks: u32) -> Bytes {
        ArrayLayout { size: self.size, ranks }.block()
    }

    /// The longest message among `ranks` ranks: one block, or those for half of the ranks if blocks are forwarded. [B]
    pub fn longest(&self, ranks: u32) -> Bytes {
        let blocks = if self.algorithm.forwards() { u64::from(ranks.div_ceil(2)) } else { 1 };
        Bytes(self.block(ranks).0.saturating_mul(blocks))
    }

    /// The rank's rows, before they are transformed.
    fn rows(&self, layout: &ArrayLayout, me: Rank) -> Vec<Complex32> {
        match self.array {
            Array::Seeded(seed) => layout.rows(me).flat_map(|number| row(self.size, seed, number)).collect(),
            Array::OnlySizes => Vec::new(),
        }
    }

    fn exchange(&self, layout: &ArrayLayout) -> CompleteExchange {
        let Fft2d { algorithm, order, packing, .. } = *self;
        CompleteExchange::new(algorithm.algorithm(Some(order), packing.per_byte(layout.block())), layout.block())
    }

    /// `endpoint`, on which a message of one block is packed and unpacked. An algorithm that forwards messages accounts
    /// for the blocks of each message itself.
    fn packed<'endpoint, E: Endpoint>(&self, endpoint: &'endpoint E, layout: &ArrayLayout) -> Packed<'endpoint, E> {
        let blocks = u64::from(!self.algorithm.forwards());
        Packed { endpoint, work: self.packing.time(blocks, layout.block()) }
    }

    /// Transforms each of a rank's rows or columns.
    async fn transform<E: Endpoint>(&self, endpoint: &E, layout: &ArrayLayout, lines: &mut [Complex32]) {
        self.plan.process(lines);
        let count = layout.rows(endpoint.rank()).len() as u64;
        endpoint.compute(self.speed.time(count * operations(self.size))).await;
    }
}

impl Program for Fft2d {
    type Output = Transformed;

    async fn run<E: Endpoint>(&self, endpoint: &E) -> Result<Transformed> {
        let (me, layout) = (endpoint.rank(), ArrayLayout { size: self.size, ranks: endpoint.size() });
        let mut rows = self.rows(&layout, me);
        self.transform(endpoint, &layout, &mut rows).await;

        let start = endpoint.now();
        let mut columns = vec![Complex32::default(); rows.len()];
        let mut failed = None;
        let real = self.array != Array::OnlySizes;
        let message_for = |to| if real { layout.message(me, &rows, to) } else { Message::of_size(layout.block()) };
        let take = |from, message| {
            if real && let Err(error) = layout.take(me, &mut columns, from, &message) {
                failed.get_or_insert(error);
            }
        };
        self.exchange(&layout).exchange(&self.packed(endpoint, &layout), message_for, take).await?;
        failed.map_or(Ok(()), Err)?;
        if real {
            layout.keep(me, &rows, &mut columns);
        }
        let communication = endpoint.now().since(start);

        self.transform(endpoint, &layout, &mut columns).await;
        Ok(Transformed { first: layout.rows(me).start, columns, communication })
    }
}

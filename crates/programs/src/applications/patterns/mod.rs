//! Traffic of applications, as patterns that can be scheduled.
//!
//! The CM-5 paper times four schedules on five applications (its Table 12) and gives for each, on 32 processors, the
//! share of a complete exchange's messages that it sends, and their mean size. Its meshes and partitions are not
//! printed. This module has two kinds of patterns in their place:
//!
//! - [`Application::pattern`] comes from a real mesh, cut by a real partitioner. Its density and mean size are close to
//!   the printed ones.
//! - [`Application::synthetic`] is the same pattern, altered to have exactly the printed density and mean size. It is
//!   not that of a real application.
//!
//! Patterns of random messages, as in Table 11, are made by [`Pattern::random`].

mod adjusted;

pub use adjusted::adjusted;

use std::num::NonZeroU16;

use quantities::Rank;

use super::grid::Grid;
use super::halo::Halo;
use super::mesh::{Body, Mesh, MeshError, graded, tetrahedralise};
use super::partition::{Partition, blocks, recursive_coordinate_bisection};
use collectives::schedule::{Pattern, PatternError};

/// The distance from the body at which the spacing of the points begins to grow, in sides of the cube. Over 20 seeds
/// the means for 32 parts are then 41.8% of 100 B for 545 vertices, 41.3% of 225 B for 2,000, 41.6% of 571 B for 3,000
/// and 41.4% of 561 B for 9,000; with points of uniform density they are 38% of 99 B, 39% of 198 B, 40% of 490 B and
/// 40% of 474 B.
const NEAR: f64 = 0.15;

/// An application of the CM-5 paper's Table 12.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Application {
    /// Conjugate gradient with 16K unknowns: the five-point grid of 256 by 64 points in blocks, two across and the
    /// others down, with 8 bytes per point.
    ConjugateGradient,
    /// An Euler solver on a mesh of 545 vertices, 20 bytes each.
    Euler545,
    /// The same on 2,000 vertices.
    Euler2k,
    /// The same on 3,000 vertices, with 40 bytes each: with 20, its messages would be half as long as printed.
    Euler3k,
    /// The same on 9,000 vertices.
    Euler9k,
}

/// The figures that Table 12 prints for an application.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Printed {
    /// Messages, in percent of those of a complete exchange.
    pub percent: u32,
    /// Mean size of a message. [B]
    pub mean_bytes: u32,
}

/// The number of processors in Table 12.
pub const PRINTED_PROCESSORS: NonZeroU16 = NonZeroU16::MIN.saturating_add(31);

impl Application {
    /// All of them, in the order of the table.
    pub const ALL: [Application; 5] = [
        Application::ConjugateGradient,
        Application::Euler545,
        Application::Euler2k,
        Application::Euler3k,
        Application::Euler9k,
    ];

    /// Its name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Application::ConjugateGradient => "conjugate-gradient",
            Application::Euler545 => "euler-545",
            Application::Euler2k => "euler-2k",
            Application::Euler3k => "euler-3k",
            Application::Euler9k => "euler-9k",
        }
    }

    /// The figures that Table 12 prints for it.
    pub const fn printed(self) -> Printed {
        let (percent, mean_bytes) = match self {
            Application::ConjugateGradient => (9, 643),
            Application::Euler545 => (37, 85),
            Application::Euler2k => (44, 226),
            Application::Euler3k => (29, 612),
            Application::Euler9k => (44, 505),
        };
        Printed { percent, mean_bytes }
    }

    /// How many vertices it has.
    pub const fn vertices(self) -> u32 {
        match self {
            Application::ConjugateGradient => 16_384,
            Application::Euler545 => 545,
            Application::Euler2k => 2_000,
            Application::Euler3k => 3_000,
            Application::Euler9k => 9_000,
        }
    }

    /// How many bytes are sent for a vertex. [B]
    pub const fn bytes_a_vertex(self) -> u32 {
        match self {
            Application::ConjugateGradient => 8,
            Application::Euler545 | Application::Euler2k | Application::Euler9k => 20,
            Application::Euler3k => 40,
        }
    }

    /// Its traffic when it is cut into `parts`. The meshes of the Euler solver are made from `seed`: points around a
    /// wing ([`graded`]), cut by [`recursive_coordinate_bisection`]. Conjugate gradient has only one mesh, and an odd
    /// number of parts are stacked one below the other.
    ///
    /// # Errors
    /// A number of parts that a pattern cannot have.
    pub fn pattern(self, parts: NonZeroU16, seed: u64) -> Result<Pattern, ApplicationError> {
        let (partition, edges) = match self {
            Application::ConjugateGradient => (grid_in_blocks(UNKNOWNS, parts), UNKNOWNS.edges()),
            _ => {
                let mesh = mesh(self.vertices(), seed)?;
                (recursive_coordinate_bisection(mesh.points(), parts.into()), mesh.edges())
            }
        };
        Ok(halo_pattern(&Halo::new(&partition, &edges), self.bytes_a_vertex())?)
    }

    /// A synthetic pattern for 32 processors that has exactly the printed density and mean size:
    /// [`Application::pattern`] [`adjusted`] to them.
    ///
    /// # Errors
    /// As [`Application::pattern`].
    pub fn synthetic(self, seed: u64) -> Result<Pattern, ApplicationError> {
        let Printed { percent, mean_bytes } = self.printed();
        Ok(adjusted(&self.pattern(PRINTED_PROCESSORS, seed)?, percent, mean_bytes)?)
    }
}

/// The grid of conjugate gradient.
pub const UNKNOWNS: Grid = Grid { width: 256, height: 64 };

/// The mesh of an Euler solver: points around a wing.
///
/// # Errors
/// Fewer than four vertices, or more than can be numbered.
pub fn mesh(vertices: u32, seed: u64) -> Result<Mesh, MeshError> {
    tetrahedralise(graded(vertices, seed, &Body::WING, NEAR))
}

/// A grid in blocks, two across if their number is even.
pub fn grid_in_blocks(grid: Grid, parts: NonZeroU16) -> Partition {
    let halves = if parts.get().is_multiple_of(2) { NonZeroU16::new(parts.get() / 2) } else { None };
    match halves {
        Some(down) => blocks(grid, NonZeroU16::MIN.saturating_add(1), down),
        None => blocks(grid, NonZeroU16::MIN, parts),
    }
}

/// Why an application has no pattern.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ApplicationError {
    /// It has no mesh.
    #[error(transparent)]
    Mesh(#[from] MeshError),
    /// Its traffic is not a valid pattern.
    #[error(transparent)]
    Pattern(#[from] PatternError),
}

/// The pattern of a halo with `bytes_a_vertex` bytes per vertex.
///
/// # Errors
/// A number of ranks that a pattern cannot have.
pub fn halo_pattern(halo: &Halo, bytes_a_vertex: u32) -> Result<Pattern, PatternError> {
    let ranks = halo.ranks();
    let row = |from| {
        let mut row = vec![0; ranks as usize];
        for (to, vertices) in halo.sent_by(from) {
            row[to.0 as usize] = vertices.len() as u64 * u64::from(bytes_a_vertex);
        }
        row
    };
    Pattern::new(ranks, (0..ranks).map(Rank).flat_map(row).collect())
}

//! The part of the flow that one rank computes.

use super::dual::Dual;
use super::gas::{Area, Fluctuation, GasState, OPERATIONS_AN_EDGE, fluctuation};
use crate::applications::halo::Domain;

/// The share of the longest stable step that each of the three stages of a cycle takes: the Runge-Kutta scheme that
/// needs only the start and one result.
pub(super) const STAGES: [f32; 3] = [1.0 / 3.0, 0.5, 1.0];

/// Floating-point operations of a stage for an own vertex: one step of five variables, with its length.
const OPERATIONS_A_VERTEX: u64 = 5 * 2 + 2;

/// The areas around a rank's cells.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Region {
    /// For each link of the rank's domain, the area between its ends.
    areas: Vec<Area>,
    /// For each own vertex on the hull, its place and its area there.
    hull: Vec<(usize, Area)>,
}

/// The residual of the own cells, for a state of the flow.
pub(super) struct Residual {
    /// The net flux out of each own cell.
    leaving: Vec<GasState>,
    /// The sum of fastest signals times sizes around each own cell.
    fastest: Vec<f32>,
}

impl Region {
    /// The region of the rank that has `domain`.
    pub(super) fn new(dual: &Dual, domain: &Domain) -> Region {
        let single = |area: [f64; 3]| area.map(|component| component as f32);
        let areas = domain.links().iter().map(|link| single(dual.areas[link.edge as usize])).collect();
        let on_hull = |(place, &vertex): (usize, &u32)| (place, single(dual.hull[vertex as usize]));
        let hull = domain.own().iter().enumerate().map(on_hull).filter(|(_, area)| *area != [0.0; 3]).collect();
        Region { areas, hull }
    }

    /// The residual of the own cells of `domain` when the flow is `states`, copies included, and `outside` beyond the
    /// hull.
    pub(super) fn residual(&self, domain: &Domain, states: &[GasState], outside: GasState) -> Residual {
        let own = domain.own().len();
        let mut residual = Residual { leaving: vec![[0.0; 5]; own], fastest: vec![0.0; own] };
        for (link, &area) in domain.links().iter().zip(&self.areas) {
            let [a, b] = link.ends.map(|end| end as usize);
            let Fluctuation { of_a, of_b, fastest } = fluctuation(states[a], states[b], area);
            residual.add(a, of_a, fastest);
            residual.add(b, of_b, fastest);
        }
        for &(place, area) in &self.hull {
            let Fluctuation { of_a, fastest, .. } = fluctuation(states[place], outside, area);
            residual.add(place, of_a, fastest);
        }
        residual
    }

    /// How many floating-point operations a residual and its step take.
    pub(super) fn operations(&self, domain: &Domain) -> u64 {
        let edges = (self.areas.len() + self.hull.len()) as u64;
        edges * OPERATIONS_AN_EDGE + domain.own().len() as u64 * OPERATIONS_A_VERTEX
    }
}

impl Residual {
    /// Adds the flux through one area, if the cell at `place` is an own one.
    fn add(&mut self, place: usize, leaving: GasState, fastest: f32) {
        if let Some(sum) = self.leaving.get_mut(place) {
            (0..5).for_each(|i| sum[i] += leaving[i]);
            self.fastest[place] += fastest;
        }
    }

    /// The square of the net mass flux, summed over the own cells.
    pub(super) fn square(&self) -> f64 {
        self.leaving.iter().map(|leaving| f64::from(leaving[0]) * f64::from(leaving[0])).sum()
    }

    /// Advances every own cell from `start` by `share` of the longest step that is stable there.
    pub(super) fn step(&self, start: &[GasState], share: f32, states: &mut [GasState]) {
        for (place, (leaving, fastest)) in self.leaving.iter().zip(&self.fastest).enumerate() {
            let step = share / fastest;
            states[place] = std::array::from_fn(|i| start[place][i] - step * leaving[i]);
        }
    }
}

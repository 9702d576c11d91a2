//! The Euler solver: it conserves what it should, converges, and does not depend on the number of ranks.

use crate::worlds;
use std::num::NonZeroU32;

use collectives::all_to_all::{Irregular, irregular};
use collectives::schedule::{Pacing, Pattern, Schedule, SendReceiveOrder};
use endpoint::{Error, Result, World};
use machines::model::LogGp;
use maquette_programs::applications::euler::{Bump, Euler, Flow, GasState, free_stream, pressure};
use maquette_programs::applications::halo::{Exchanges, Halo};
use maquette_programs::applications::mesh::{Mesh, tetrahedralise, uniform};
use maquette_programs::applications::partition::{Partition, recursive_coordinate_bisection};
use maquette_programs::applications::patterns::halo_pattern;
use proptest::prelude::*;
use quantities::Duration;
use virtual_worlds::loggp::Clock;

const MACH: f32 = 0.5;

/// A partitioned mesh.
struct Parts {
    mesh: Mesh,
    partition: Partition,
    pattern: Pattern,
}

impl Parts {
    fn new(vertices: u32, parts: u32, seed: u64) -> Parts {
        let mesh = tetrahedralise(uniform(vertices, seed)).unwrap();
        let partition = recursive_coordinate_bisection(mesh.points(), NonZeroU32::new(parts).unwrap());
        let pattern = halo_pattern(&Halo::new(&partition, &mesh.edges()), 20).unwrap();
        Parts { mesh, partition, pattern }
    }

    fn program(&self, schedule: &Schedule, pacing: Pacing, start: Vec<GasState>) -> Result<Euler> {
        let exchanges = Exchanges::new(schedule, SendReceiveOrder::Alternating, pacing);
        Euler::new(&self.mesh, &self.partition, exchanges, start, free_stream(MACH))
    }

    fn disturbed(&self) -> Vec<GasState> {
        Bump::MIDDLE.on(free_stream(MACH), self.mesh.points())
    }
}

fn free() -> Clock {
    let no_time = Duration::ZERO;
    Clock::new(LogGp {
        latency: no_time,
        overhead: no_time,
        gap: no_time,
        gap_per_byte: no_time,
        overhead_per_byte: no_time,
        rendezvous: None,
    })
}

fn ended(world: &impl World, ranks: u32, program: &Euler) -> Vec<Flow> {
    world.run(ranks, program).unwrap().0.into_iter().map(Result::unwrap).collect()
}

/// The states of all vertices in order.
fn whole(flows: &[Flow]) -> Vec<GasState> {
    let mut states: Vec<(u32, GasState)> =
        flows.iter().flat_map(|flow| flow.vertices.iter().copied().zip(flow.states.iter().copied())).collect();
    states.sort_by_key(|(vertex, _)| *vertex);
    states.into_iter().map(|(_, state)| state).collect()
}

fn bits(states: &[GasState]) -> Vec<[u32; 5]> {
    states.iter().map(|state| state.map(f32::to_bits)).collect()
}

/// Runs the solver on one rank.
fn alone(parts: &Parts, change: impl Fn(&mut Euler)) -> Flow {
    let single = Parts {
        mesh: parts.mesh.clone(),
        partition: recursive_coordinate_bisection(parts.mesh.points(), NonZeroU32::MIN),
        pattern: Pattern::new(1, vec![0]).unwrap(),
    };
    let schedule = irregular::greedy(&single.pattern);
    let mut program = single.program(&schedule, Pacing::FreeRunning, single.disturbed()).unwrap();
    change(&mut program);
    ended(&free(), 1, &program).remove(0)
}

#[test]
fn a_uniform_flow_stays_as_it_is_to_the_last_bit() {
    let parts = Parts::new(300, 5, 1);
    let start = vec![free_stream(MACH); 300];
    let schedule = irregular::greedy(&parts.pattern);
    let mut program = parts.program(&schedule, Pacing::FreeRunning, start.clone()).unwrap();
    // With a residual of zero it would be done at once; no residual is below NaN.
    (program.most_cycles, program.tolerance) = (20, f64::NAN);
    let flows = ended(&free(), 5, &program);
    assert_eq!(bits(&whole(&flows)), bits(&start));
    assert_eq!(flows[0].residuals, [0.0; 21]);
}

#[test]
fn a_disturbance_leaves_and_the_flow_is_uniform_again() {
    let parts = Parts::new(1_500, 1, 2);
    let flow = alone(&parts, |program| program.tolerance = 1e-4);
    let cycles = flow.residuals.len() - 1;
    assert!((50..400).contains(&cycles), "{cycles} cycles");
    let farthest = |states: &[GasState]| {
        let outside = free_stream(MACH);
        let off = |state: &GasState| (pressure(*state) - pressure(outside)).abs() / pressure(outside);
        states.iter().map(off).fold(0.0, f32::max)
    };
    assert!(farthest(&parts.disturbed()) > 0.08);
    assert!(farthest(&flow.states) < 1e-4, "{}", farthest(&flow.states));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_number_of_ranks_and_the_schedule_change_no_bit(
        vertices in 10u32..150, parts in 1u32..16, seed in any::<u64>(), pacing in prop::sample::select(Pacing::all().into_iter().filter(|it| it.is_in_step()).collect::<Vec<_>>()),
        algorithm in prop::sample::select(Irregular::all().to_vec()),
    ) {
        let parts = Parts::new(vertices, parts, seed);
        let mut program = parts.program(&algorithm.schedule(&parts.pattern), pacing, parts.disturbed()).unwrap();
        program.most_cycles = 4;
        let alone = alone(&parts, |program| program.most_cycles = 4);
        for (world, flows) in worlds::everywhere(parts.partition.parts(), &program) {
            let flows: Vec<Flow> = flows.unwrap().into_iter().map(Result::unwrap).collect();
            prop_assert_eq!(bits(&whole(&flows)), bits(&alone.states), "{}", world);
            for flow in &flows {
                prop_assert_eq!(&flow.residuals, &flows[0].residuals);
                for (ours, theirs) in flow.residuals.iter().zip(&alone.residuals) {
                    prop_assert!((ours - theirs).abs() <= 1e-12 * theirs);
                }
            }
        }
    }
}

#[test]
fn time_goes_into_computation_and_communication() {
    let parts = Parts::new(400, 8, 3);
    let schedule = irregular::greedy(&parts.pattern);
    let mut program = parts.program(&schedule, Pacing::FreeRunning, parts.disturbed()).unwrap();
    program.most_cycles = 2;
    program.speed.operation = Duration::from_nanoseconds(10);
    let (flows, answer) = Clock::new(worlds::MODEL).run(8, &program).unwrap();
    for flow in flows.into_iter().map(Result::unwrap) {
        assert!(!flow.communication.is_zero());
        assert!(flow.communication.picoseconds() < answer.makespan().picoseconds());
    }
}

#[test]
fn what_does_not_fit_together_is_an_error() {
    let parts = Parts::new(50, 4, 1);
    let schedule = irregular::greedy(&parts.pattern);
    let refused = |result: Result<Euler>| match result {
        Err(Error::Unfit(problem)) => problem,
        other => panic!("{other:?}"),
    };
    assert_eq!(
        refused(parts.program(&schedule, Pacing::FreeRunning, vec![free_stream(MACH); 49])),
        "a mesh of 50 vertices, 49 states, and a partition of 50 vertices"
    );
    let other = irregular::greedy(&Pattern::new(3, vec![0; 9]).unwrap());
    assert_eq!(
        refused(parts.program(&other, Pacing::FreeRunning, parts.disturbed())),
        "a schedule for 3 ranks, and 4 parts"
    );
    let silent = irregular::greedy(&Pattern::new(4, vec![0; 16]).unwrap());
    assert_eq!(
        refused(parts.program(&silent, Pacing::FreeRunning, parts.disturbed())),
        "the schedule does not send the halo of rank 0 to those that need it"
    );
    let program = parts.program(&schedule, Pacing::FreeRunning, parts.disturbed()).unwrap();
    let error = free().run(3, &program).unwrap().0.remove(0).unwrap_err();
    assert_eq!(error.to_string(), "an application in 4 parts runs on 4 ranks, not on 3");
}
